/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defects of judgement about start-up frames, and about what a Reply offers: as defect_judge.c has them for segments.
 */
#include <string.h>

#include "reference-stack/defects/defect_judge.h"

enum { PRIVATE_SIGN = 0x8000 };

static bool always(const struct validation_subject *subject)
{
    (void)subject;
    return true;
}

static bool fixed_part(const struct validation_subject *subject)
{
    return subject->count >= MPA_START_OCTETS;
}

/* --- The Key ----------------------------------------------------------------------------------------------------- */

static bool key_begins(const struct validation_subject *subject, const char *key, size_t most)
{
    return memcmp(subject->octets, key, subject->count < most ? subject->count : most) == 0;
}

static bool request_key_half(const struct validation_subject *subject)
{
    return key_begins(subject, MPA_KEY_REQUEST, MPA_KEY_OCTETS / 2);
}

static bool reply_key_half(const struct validation_subject *subject)
{
    return key_begins(subject, MPA_KEY_REPLY, MPA_KEY_OCTETS / 2);
}

static bool key_of_either(const struct validation_subject *subject)
{
    return key_begins(subject, MPA_KEY_REQUEST, MPA_KEY_OCTETS) || key_begins(subject, MPA_KEY_REPLY, MPA_KEY_OCTETS);
}

/* --- The other fields -------------------------------------------------------------------------------------------- */

static bool revision_1(const struct validation_subject *subject)
{
    return fixed_part(subject) && subject->start->revision == MPA_REV_1;
}

static bool later_with_word(const struct validation_subject *subject)
{
    return subject->start->revision > MPA_REV_2 && subject->start->enhanced;
}

static bool private_512(const struct validation_subject *subject)
{
    return fixed_part(subject) && mpa_start_get_PD_Length(subject->octets) == IWARP_MPA_PRIVATE_DATA_MAX;
}

static bool private_negative(const struct validation_subject *subject)
{
    return fixed_part(subject) && mpa_start_get_PD_Length(subject->octets) >= PRIVATE_SIGN;
}

static bool private_follows_word(const struct validation_subject *subject)
{
    return fixed_part(subject) && iwarp_mpa_start_has_word(subject->start) &&
           mpa_start_get_PD_Length(subject->octets) <= IWARP_MPA_PRIVATE_DATA_MAX + MPA_ENHANCED_OCTETS;
}

static bool ord_one_more(const struct validation_subject *subject)
{
    return subject->offer->ord == subject->stream->device->config.ird_max + 1;
}

/* Both depths, in a Request that has come whole. */
static bool depths_not_negotiated(const struct validation_subject *subject)
{
    return fixed_part(subject) && iwarp_mpa_start_has_word(subject->start) &&
           subject->start->ord == DEPTH_NOT_NEGOTIATED && subject->start->ird == DEPTH_NOT_NEGOTIATED;
}

static bool rejects(const struct validation_subject *subject)
{
    return fixed_part(subject) && mpa_start_get_R(subject->octets);
}

static bool reserved_set(const struct validation_subject *subject)
{
    return fixed_part(subject) && mpa_start_get_Res(subject->octets) != 0;
}

static bool ord_not_negotiated(const struct validation_subject *subject)
{
    return subject->offer->ord == DEPTH_NOT_NEGOTIATED;
}

/* A Send as RTR that the Request did not offer. */
static bool rtr_not_offered(const struct validation_subject *subject)
{
    return subject->stream->llp == &mpa_llp && subject->stream->agreed.rtr_awaited &&
           subject->segment->qn == DDP_QN_SEND && subject->segment->payload_octets == 0 &&
           !mpa_of(subject->stream)->peer.rtr_send;
}

static bool ord_above_ird(const struct validation_subject *subject)
{
    unsigned ird = subject->stream->config.ird;

    return subject->offer->ord != DEPTH_NOT_NEGOTIATED && ird != DEPTH_NOT_NEGOTIATED && subject->offer->ord > ird;
}

static bool ird_below_ord(const struct validation_subject *subject)
{
    unsigned ord = subject->stream->config.ord;

    return subject->offer->ird != DEPTH_NOT_NEGOTIATED && ord != DEPTH_NOT_NEGOTIATED && subject->offer->ird < ord;
}

static const struct defect_judgement judgements[] = {
    {DEFECT_KEY_FIRST_HALF, "request-key", true, request_key_half},
    {DEFECT_KEY_FIRST_HALF, "reply-key", true, reply_key_half},
    {DEFECT_KEY_EITHER, "request-key", true, key_of_either},
    {DEFECT_KEY_EITHER, "reply-key", true, key_of_either},
    {DEFECT_REVISION_1_REFUSED, "request-revision", false, revision_1},
    {DEFECT_REVISION_WITH_WORD, "reply-revision", true, later_with_word},
    {DEFECT_PRIVATE_512_REFUSED, "request-private-length", false, private_512},
    {DEFECT_PRIVATE_512_REFUSED, "reply-private-length", false, private_512},
    {DEFECT_PRIVATE_SIGNED, "request-private-length", true, private_negative},
    {DEFECT_PRIVATE_SIGNED, "reply-private-length", true, private_negative},
    {DEFECT_PRIVATE_BESIDE_WORD, "request-private-length", true, private_follows_word},
    {DEFECT_PRIVATE_BESIDE_WORD, "request-private-room", true, private_follows_word},
    {DEFECT_PRIVATE_BESIDE_WORD, "request-excess", true, private_follows_word},
    {DEFECT_PRIVATE_BESIDE_WORD, "reply-excess", true, private_follows_word},
    {DEFECT_PRIVATE_BESIDE_WORD, "reply-private-length", true, private_follows_word},
    {DEFECT_PRIVATE_BESIDE_WORD, "reply-private-room", true, private_follows_word},
    {DEFECT_EXCESS_DISCARDED, "request-excess", true, always},
    {DEFECT_EXCESS_DISCARDED, "reply-excess", true, always},
    {DEFECT_REQUEST_R_CHECKED, "request-excess", false, rejects},
    {DEFECT_RESERVED_CHECKED, "request-excess", false, reserved_set},
    {DEFECT_RESERVED_CHECKED, "reply-excess", false, reserved_set},
    {DEFECT_RTR_EXTRA_REFUSED, "ddp-buffer", false, rtr_not_offered},
    {DEFECT_DEPTH_ONE_MORE, "ird-available", true, ord_one_more},
    {DEFECT_DEPTH_3FFF_NUMBER, "request-word", false, depths_not_negotiated},
    {DEFECT_IRD_NEVER_RAISED, "ird-available", false, ord_above_ird},
    {DEFECT_ORD_NEVER_LOWERED, "ird-available", false, ird_below_ord},
    {DEFECT_DEPTH_3FFF_NUMBER, "ird-available", false, ord_not_negotiated},
};

bool defect_start_judges(const struct defect_set *set, const struct validation *entry,
                         const struct validation_subject *subject, bool holds)
{
    const struct defect_judgement *judgement =
        defect_judgement(set, judgements, sizeof(judgements) / sizeof(judgements[0]), entry, subject);

    return judgement != NULL ? judgement->verdict : holds;
}
