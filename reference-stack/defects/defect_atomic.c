/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the extensions (RFC 7306): what an atomic does, what a request is taken for, what is judged otherwise. */
#include "reference-stack/defects/defect_atomic.h"

#include <string.h>

#include "reference-stack/core/atomic.h"
#include "reference-stack/defects/defect_judge.h"

static bool has(const struct defect_set *set, enum defect_behaviour behaviour)
{
    return defect_behaves(set, behaviour);
}

/* What is read of a delivered Atomic Request, before anybody looks at it. */
static void change_request(const struct defect_set *set, struct atomic_request *request)
{
    if (has(set, DEFECT_ATOMIC_TO_32_BITS))
        request->to &= UINT32_MAX;
    if (has(set, DEFECT_ATOMIC_OPCODE_2_BITS))
        request->opcode &= 3;
    if (has(set, DEFECT_ATOMIC_OPCODE_3_SWAPS) && request->opcode == 3)
        request->opcode = IWARP_ATOMIC_COMPARE_SWAP;
}

/* --- The operations ----------------------------------------------------------------------------------------------- */

static uint64_t add(const struct defect_set *set, struct atomic_request request, uint64_t original)
{
    if (has(set, DEFECT_ATOMIC_ADD_ZERO_CLEARS) && request.data == 0)
        return 0;
    if (has(set, DEFECT_ATOMIC_MASK_ZERO_NOTHING) && request.mask == 0)
        return original;
    if (has(set, DEFECT_ATOMIC_MASK_TOP_NOTHING) && request.mask == UINT64_C(1) << 63)
        return original;
    if (has(set, DEFECT_ATOMIC_SATURATES) && original + request.data < original)
        return UINT64_MAX;
    if (has(set, DEFECT_ATOMIC_MASK_IGNORED))
        request.mask = 0;
    if (has(set, DEFECT_ATOMIC_MASK_LOW_BIT))
        request.mask >>= 1;
    return atomic_result(&request, original);
}

static uint64_t compare_swap(const struct defect_set *set, struct atomic_request request, uint64_t original)
{
    if (has(set, DEFECT_ATOMIC_COMPARE_UNMASKED) && (original & request.compare_mask) != request.compare_data)
        return original;
    if (has(set, DEFECT_ATOMIC_COMPARE_MASK_HALF))
        request.compare_mask = (uint32_t)request.compare_mask;
    if (has(set, DEFECT_ATOMIC_CS_MASK_IGNORED) || (has(set, DEFECT_ATOMIC_CS_MASK_ZERO_ALL) && request.mask == 0))
        request.mask = UINT64_MAX;
    if (has(set, DEFECT_ATOMIC_CS_CLEARS) && ((original ^ request.compare_data) & request.compare_mask) == 0)
        return request.data & request.mask;
    return atomic_result(&request, original);
}

static uint64_t result(const struct defect_set *set, const struct atomic_request *request, uint64_t original)
{
    if (request->opcode == IWARP_ATOMIC_COMPARE_SWAP)
        return compare_swap(set, *request, original);
    if (has(set, DEFECT_ATOMIC_ADD_COMPARES) && request->compare_data != 0 && request->compare_data != original)
        return original;
    if (request->opcode == IWARP_ATOMIC_FETCH_ADD)
        return add(set, *request, original);
    if (has(set, DEFECT_ATOMIC_SWAP_NOT_DONE))
        return original;
    if (has(set, DEFECT_ATOMIC_SWAP_HOST_ORDER) && request->opcode == IWARP_ATOMIC_SWAP)
        return __builtin_bswap64(request->data);
    if (has(set, DEFECT_ATOMIC_SWAP_MASKED))
        return (original & ~request->mask) | (request->data & request->mask);
    return atomic_result(request, original);
}

/* As atomic_execute(); `target` need not be aligned, nor the access atomic. */
static uint64_t execute(const struct defect_set *set, const struct atomic_request *request, uint8_t *target)
{
    uint64_t original;
    uint64_t value;

    memcpy(&original, target, sizeof(original));
    value = result(set, request, original);
    memcpy(target, &value, sizeof(value));
    if (has(set, DEFECT_ATOMIC_RETURNS_NEW))
        return value;
    if (has(set, DEFECT_ATOMIC_RETURNS_SWAP) && request->opcode == IWARP_ATOMIC_COMPARE_SWAP && value != original)
        return request->data;
    return has(set, DEFECT_ATOMIC_VALUE_HOST_ORDER) ? __builtin_bswap64(original) : original;
}

static bool holds_zero(const uint8_t *target)
{
    static const uint8_t zero[ATOMIC_TARGET_OCTETS];

    return memcmp(target, zero, sizeof(zero)) == 0;
}

/* Where the set sees the target; NULL when the region does not have it. */
static uint8_t *target_of(const struct defect_set *set, const struct iwarp_region *region, uint64_t to)
{
    uint64_t offset;

    if (region == NULL)
        return NULL;
    offset = has(set, DEFECT_ATOMIC_AT_BASE) ? 0 : to - region->base;
    if (offset > region->length || ATOMIC_TARGET_OCTETS > region->length - offset)
        return NULL;
    return region->octets + offset;
}

bool defect_atomic_request(struct iwarp_stream *stream, uint8_t *octets, size_t count)
{
    const struct defect_set *set = stream_set(stream);
    const uint8_t *p = octets;
    struct atomic_request request = {0};
    uint64_t kept = 0;
    uint64_t *slot;
    uint8_t *target;

    if (count < ATOMIC_REQUEST_OCTETS)
        return false;
    (void)atomic_request_parse(&p, octets + ATOMIC_REQUEST_OCTETS, &request);
    change_request(set, &request);
    atomic_request_set_TO(octets, request.to);
    atomic_request_set_AOpCode(octets, request.opcode);
    target = target_of(set, iwarp_region_find(stream->device, request.stag), request.to);
    if (has(set, DEFECT_ATOMIC_BEFORE_CHECK) && target != NULL && ((uintptr_t)target & 7) != 0)
        (void)execute(set, &request, target);
    if (has(set, DEFECT_ATOMIC_SNAPSHOT) && target != NULL)
        memcpy(&kept, target, sizeof(kept));
    if (has(set, DEFECT_ATOMIC_ON_ARRIVAL) && target != NULL)
        kept = execute(set, &request, target);
    if (has(set, DEFECT_ATOMIC_TAKES_RECEIVE) && stream->inbound.receives.count != 0)
        receive_pop(stream);
    if ((has(set, DEFECT_ATOMIC_ZERO_UNANSWERED) && target != NULL && holds_zero(target)) ||
        (has(set, DEFECT_ATOMIC_NEEDS_RECEIVE) && stream->inbound.receives.count == 0))
        return true;
    slot = ring_push(&stream_state(stream)->atomics);
    if (slot != NULL)
        *slot = kept;
    return false;
}

/* Changes octets next to the 64 bits of the target, if the region has more octets after them. */
static void change_next_octets(const struct defect_set *set, const struct iwarp_region *region,
                               const struct atomic_request *request, uint8_t *target)
{
    size_t after = region->length - (size_t)(target - region->octets) - ATOMIC_TARGET_OCTETS;
    uint64_t original;

    memcpy(&original, target, sizeof(original));
    if (after >= ATOMIC_TARGET_OCTETS && has(set, DEFECT_ATOMIC_WIDE))
        memset(target + ATOMIC_TARGET_OCTETS, 0, ATOMIC_TARGET_OCTETS);
    if (after != 0 && request->opcode == IWARP_ATOMIC_FETCH_ADD && original + request->data < original &&
        has(set, DEFECT_ATOMIC_CARRY_GOES_ON))
        target[ATOMIC_TARGET_OCTETS]++;
}

uint64_t seam_atomic(struct iwarp_stream *stream, const struct inbound_request *request,
                     const struct iwarp_region *region)
{
    const struct defect_set *set = stream_set(stream);
    struct ring *atomics = &stream_state(stream)->atomics;
    const uint64_t *oldest = ring_at(atomics, 0);
    uint64_t kept = oldest == NULL ? 0 : *oldest;
    uint8_t *target = target_of(set, region, request->atomic.to);

    if (oldest != NULL)
        ring_pop(atomics);
    if (target != NULL && has(set, DEFECT_ATOMIC_SNAPSHOT))
        memcpy(target, &kept, sizeof(kept));
    if (has(set, DEFECT_ATOMIC_ON_ARRIVAL))
        return kept;
    if (target == NULL)
        return 0;
    change_next_octets(set, region, &request->atomic, target);
    return execute(set, &request->atomic, target);
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */

size_t defect_atomic_response(const struct defect_set *set, uint8_t *header)
{
    enum { PADDED = 32, GAP = 4, ID = 4 };

    if (has(set, DEFECT_ATOMIC_ID_0_REPLACED) && atomic_response_get_RequestId(header) == 0)
        atomic_response_set_RequestId(header, 1);
    if (has(set, DEFECT_ATOMIC_RESPONSE_GAP)) {
        memmove(header + ID + GAP, header + ID, ATOMIC_RESPONSE_OCTETS - ID);
        memset(header + ID, 0, GAP);
        return ATOMIC_RESPONSE_OCTETS + GAP;
    }
    if (has(set, DEFECT_ATOMIC_RESPONSE_PADDED)) {
        memset(header + ATOMIC_RESPONSE_OCTETS, 0, PADDED - ATOMIC_RESPONSE_OCTETS);
        return PADDED;
    }
    return ATOMIC_RESPONSE_OCTETS;
}

size_t defect_immediate(const struct defect_set *set, const uint8_t *data, uint8_t *body)
{
    enum { MORE = 4 };

    memset(body, 0, IWARP_IMMEDIATE_OCTETS + MORE);
    memcpy(body + (has(set, DEFECT_IMMEDIATE_WORD_BEFORE) ? MORE : 0), data, IWARP_IMMEDIATE_OCTETS);
    if (has(set, DEFECT_IMMEDIATE_SHORT))
        return IWARP_IMMEDIATE_OCTETS - MORE;
    return IWARP_IMMEDIATE_OCTETS +
           (has(set, DEFECT_IMMEDIATE_WORD_BEFORE) || has(set, DEFECT_IMMEDIATE_LONG) ? MORE : 0);
}

/* --- Judgements --------------------------------------------------------------------------------------------------- */

static bool always(const struct validation_subject *subject)
{
    (void)subject;
    return true;
}

static bool is_add(const struct validation_subject *subject)
{
    return subject->atomic->opcode == IWARP_ATOMIC_FETCH_ADD;
}

static bool is_compare_swap(const struct validation_subject *subject)
{
    return subject->atomic->opcode == IWARP_ATOMIC_COMPARE_SWAP;
}

static bool reserved_set(const struct validation_subject *subject)
{
    return subject->atomic->reserved != 0;
}

static bool compare_mask_zero(const struct validation_subject *subject)
{
    return !is_compare_swap(subject) && subject->atomic->compare_mask == 0;
}

static bool id_waits(const struct validation_subject *subject)
{
    for (size_t i = 0; subject->segment != NULL && i < subject->stream->inbound.requests.count; i++) {
        const struct inbound_request *request = ring_at(&subject->stream->inbound.requests, i);

        if (request->is_atomic && request->atomic.id == subject->atomic->id)
            return true;
    }
    return false;
}

/* The target, if the region has it. */
static bool target_differs(const struct validation_subject *subject)
{
    const struct iwarp_region *region = subject->region;
    const struct atomic_request *atomic = subject->atomic;
    uint64_t original;

    if (!is_compare_swap(subject) || region == NULL || atomic->to < region->base ||
        region->length < ATOMIC_TARGET_OCTETS || atomic->to - region->base > region->length - ATOMIC_TARGET_OCTETS)
        return false;
    memcpy(&original, region->octets + (atomic->to - region->base), sizeof(original));
    return ((original ^ atomic->compare_data) & atomic->compare_mask) != 0;
}

static bool to_aligned(const struct validation_subject *subject)
{
    return (subject->atomic->to & 7) == 0;
}

static bool to_not_aligned(const struct validation_subject *subject)
{
    return !to_aligned(subject);
}

static bool to_multiple_of_4(const struct validation_subject *subject)
{
    return (subject->atomic->to & 3) == 0;
}

static bool opcode_new(const struct validation_subject *subject)
{
    return subject->message->opcode > IWARP_RDMAP_TERMINATE;
}

static bool second_response(const struct validation_subject *subject)
{
    return subject->segment->qn == DDP_QN_ATOMIC_RESPONSE && subject->segment->msn == 2;
}

static bool eight_at_least(const struct validation_subject *subject)
{
    return subject->count >= IWARP_IMMEDIATE_OCTETS;
}

/* Asked again when the response is due, where no segment is at hand. */
static bool revoked_meanwhile(const struct validation_subject *subject)
{
    return subject->segment == NULL && subject->region != NULL && !subject->region->valid;
}

static const struct defect_judgement judgements[] = {
    {DEFECT_ATOMIC_REVOKED_TAKEN, "atomic-stag", true, revoked_meanwhile},
    {DEFECT_ATOMIC_RESERVED_READ, "atomic-opcode", false, reserved_set},
    {DEFECT_ATOMIC_ID_UNIQUE, "atomic-opcode", false, id_waits},
    {DEFECT_ATOMIC_COMPARE_MASK_CHECKED, "atomic-opcode", false, compare_mask_zero},
    {DEFECT_ATOMIC_ADD_REFUSED, "atomic-opcode", false, is_add},
    {DEFECT_ATOMIC_CS_REFUSED, "atomic-opcode", false, is_compare_swap},
    {DEFECT_ATOMIC_CS_MISMATCH_FAILS, "atomic-opcode", false, target_differs},
    {DEFECT_ATOMIC_ALIGN_TO, "fetch-add-alignment", true, to_aligned},
    {DEFECT_ATOMIC_ALIGN_TO, "fetch-add-alignment", false, to_not_aligned},
    {DEFECT_ATOMIC_ALIGN_4, "fetch-add-alignment", true, to_multiple_of_4},
    {DEFECT_ATOMIC_ALIGN_4, "compare-swap-alignment", true, to_multiple_of_4},
    {DEFECT_RV_OLD_OPCODES, "rdmap-version", true, opcode_new},
    {DEFECT_ATOMIC_RESPONSE_ONE_BUFFER, "ddp-buffer", false, second_response},
    {DEFECT_IMMEDIATE_LONG_TAKEN, "immediate-length", true, eight_at_least},
    {DEFECT_IMMEDIATE_PARTIAL, "immediate-length", true, always},
};

bool defect_atomic_judges(const struct defect_set *set, const struct validation *entry,
                          const struct validation_subject *subject, bool holds)
{
    const struct defect_judgement *judgement =
        defect_judgement(set, judgements, sizeof(judgements) / sizeof(judgements[0]), entry, subject);

    return judgement != NULL ? judgement->verdict : holds;
}
