/* SPDX-License-Identifier: BSD-2-Clause */
/* What a start-up frame must not be, and an enhanced Reply must not offer. */
#include <string.h>

#include "reference-stack/validation/validation_predicates.h"

/* --- Start-up frames (RFC 5044 7.1, RFC 6581 6) ---------------------------------------------------------------- */

/* As many octets of the Key as are there. */
static bool key_is(const struct validation_subject *subject, const char *key)
{
    size_t count = subject->count < MPA_KEY_OCTETS ? subject->count : MPA_KEY_OCTETS;

    return memcmp(subject->octets, key, count) == 0;
}

bool holds_request_key(const struct validation_subject *subject)
{
    return key_is(subject, MPA_KEY_REQUEST);
}

bool holds_reply_key(const struct validation_subject *subject)
{
    return key_is(subject, MPA_KEY_REPLY);
}

static bool fixed_part(const struct validation_subject *subject)
{
    return subject->count >= MPA_START_OCTETS;
}

bool holds_request_revision(const struct validation_subject *subject)
{
    unsigned revision = subject->start->revision;

    return !fixed_part(subject) || (revision == MPA_REV_RDMAC && subject->terms->config->rdmac) ||
           revision == MPA_REV_1 || (revision == MPA_REV_2 && subject->terms->config->revision >= MPA_REV_2);
}

/* A side that sent Rev 1 understands nothing above it; one that sent Rev 2 takes a plain Reply of Rev 1. */
bool holds_reply_revision(const struct validation_subject *subject)
{
    unsigned revision = subject->start->revision;

    return !fixed_part(subject) || revision == MPA_REV_1 ||
           (revision == MPA_REV_RDMAC && subject->terms->config->rdmac) ||
           (revision == MPA_REV_2 && subject->terms->config->revision >= MPA_REV_2);
}

bool holds_private_length(const struct validation_subject *subject)
{
    return !fixed_part(subject) || mpa_start_get_PD_Length(subject->octets) <= IWARP_MPA_PRIVATE_DATA_MAX;
}

/* What the ULP has no room for makes a bad frame too (RFC 5044 7.1.2 rule 9). */
bool holds_private_room(const struct validation_subject *subject)
{
    const struct iwarp_mpa_start *start = subject->start;
    size_t word = iwarp_mpa_start_has_word(start) ? MPA_ENHANCED_OCTETS : 0;

    return !fixed_part(subject) || start->private_octets <= subject->terms->config->private_room + word;
}

bool holds_word_fits(const struct validation_subject *subject)
{
    const struct iwarp_mpa_start *start = subject->start;

    return !fixed_part(subject) || !start->enhanced || start->revision < MPA_REV_2 ||
           start->private_octets >= MPA_ENHANCED_OCTETS;
}

bool holds_enhanced_supported(const struct validation_subject *subject)
{
    const struct iwarp_mpa_start *start = subject->start;

    return !fixed_part(subject) || !start->enhanced || start->revision < MPA_REV_2 || subject->terms->config->enhanced;
}

/* Neither side may send anything after its frame before the answer: what is there must be Private Data too many. */
bool holds_nothing_after(const struct validation_subject *subject)
{
    return subject->excess == 0;
}

bool holds_reply_enhanced(const struct validation_subject *subject)
{
    const struct iwarp_mpa_start *start = subject->start;
    const struct iwarp_stream_config *config = subject->terms->config;

    return !fixed_part(subject) || start->rejected || !config->enhanced || config->revision < MPA_REV_2 ||
           iwarp_mpa_start_has_word(start);
}

bool holds_reply_plain(const struct validation_subject *subject)
{
    const struct iwarp_stream_config *config = subject->terms->config;

    return !fixed_part(subject) || (config->enhanced && config->revision >= MPA_REV_2) || !subject->start->enhanced ||
           subject->start->revision < MPA_REV_2;
}

/* --- Negotiation (RFC 6581 9) ------------------------------------------------------------------------------------ */

bool holds_ird_available(const struct validation_subject *subject)
{
    return subject->offer->ord == DEPTH_NOT_NEGOTIATED || subject->offer->ord <= subject->terms->ird_max;
}

/* Any local failure that has no code of its own (RFC 6581 9.3). */
bool holds_depths_settable(const struct validation_subject *subject)
{
    return !subject->terms->config->modify_fails;
}

bool holds_rtr_in_common(const struct validation_subject *subject)
{
    return !subject->terms->config->peer_to_peer || !subject->offer->peer_to_peer || subject->terms->rtr != 0;
}
