/* SPDX-License-Identifier: BSD-2-Clause */
/* What Atomic Operations and Immediate Data must not be. */
#include "reference-stack/validation/validation_predicates.h"

/* --- Atomic Operations and Immediate Data (RFC 7306 5.2.1, 6.3, 8.2) --------------------------------------------- */

bool holds_atomic_length(const struct validation_subject *subject)
{
    return subject->count == ATOMIC_REQUEST_OCTETS;
}

bool holds_atomic_opcode_known(const struct validation_subject *subject)
{
    return subject->atomic->opcode <= IWARP_ATOMIC_COMPARE_SWAP;
}

/* RFC 7306 has no Swap: it reserves the code. */
bool holds_atomic_swap_supported(const struct validation_subject *subject)
{
    return subject->atomic->opcode != IWARP_ATOMIC_SWAP ||
           subject->terms->config->extensions == IWARP_EXTENSIONS_DRAFT03;
}

bool holds_atomic_allowed(const struct validation_subject *subject)
{
    return subject->region == NULL || (subject->region->access & IWARP_REMOTE_ATOMIC) != 0;
}

bool holds_atomic_unwrapped(const struct validation_subject *subject)
{
    return !ddp_to_wraps(subject->atomic->to, ATOMIC_TARGET_OCTETS);
}

bool holds_atomic_inside(const struct validation_subject *subject)
{
    return begins_inside(subject->region, subject->atomic->to);
}

bool holds_atomic_end_inside(const struct validation_subject *subject)
{
    return ends_inside(subject->region, subject->atomic->to, ATOMIC_TARGET_OCTETS);
}

/* It is the address that has to be aligned, not the TO (RFC 7306 5.2.1: "a 64-bit aligned ULP Buffer address"). */
static bool atomic_aligned(const struct validation_subject *subject, enum iwarp_atomic_opcode operation)
{
    const struct iwarp_region *region = subject->region;
    uint64_t to = subject->atomic->to;

    if (subject->atomic->opcode != operation)
        return true;
    return ((region == NULL ? to : (uintptr_t)region->octets + (to - region->base)) & (ATOMIC_TARGET_OCTETS - 1)) == 0;
}

bool holds_fetch_add_aligned(const struct validation_subject *subject)
{
    return atomic_aligned(subject, IWARP_ATOMIC_FETCH_ADD);
}

bool holds_swap_aligned(const struct validation_subject *subject)
{
    return atomic_aligned(subject, IWARP_ATOMIC_SWAP);
}

bool holds_compare_swap_aligned(const struct validation_subject *subject)
{
    return atomic_aligned(subject, IWARP_ATOMIC_COMPARE_SWAP);
}

bool holds_atomic_response_length(const struct validation_subject *subject)
{
    return subject->count == ATOMIC_RESPONSE_OCTETS;
}

/* DDP has seen to it that this is the response with the MSN of the oldest open atomic; the identifier cross-checks. */
bool holds_atomic_response_id(const struct validation_subject *subject)
{
    return subject->open_atomic == NULL || subject->response->id == subject->open_atomic->id;
}

bool holds_immediate_length(const struct validation_subject *subject)
{
    return subject->count == IWARP_IMMEDIATE_OCTETS;
}
