/* SPDX-License-Identifier: BSD-2-Clause */
/* What a sender's TSNs say: which chunks came, which are missing; and user messages out of their fragments. */
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/sctp/flow_sctp_internal.h"

/* ---- TSNs -------------------------------------------------------------------------------------------------------- */

/* TSNs between those that came. */
static uint64_t count_holes(const struct sctp_side *side)
{
    uint64_t holes = 0;

    for (uint32_t tsn = side->next_tsn; (int32_t)(side->highest_tsn - tsn) >= 0; tsn++)
        holes += (side->seen[tsn % TSN_WINDOW / 8] & 1u << tsn % 8) == 0;
    return holes;
}

uint64_t sctp_count_missing(const struct sctp_side *side)
{
    bool acked = side->tsn_known && side->acked_known && (int32_t)(side->acked - side->highest_tsn) > 0;

    return side->missing + (side->tsn_known ? count_holes(side) : 0) + (acked ? side->acked - side->highest_tsn : 0);
}

bool sctp_side_complete(const struct sctp_side *side)
{
    return side->tsn_known && !side->lost && side->next_tsn == side->highest_tsn + 1;
}

static void tsn_step(struct sctp_side *side)
{
    while (side->seen[side->next_tsn % TSN_WINDOW / 8] & 1u << side->next_tsn % 8) {
        side->seen[side->next_tsn % TSN_WINDOW / 8] &= (uint8_t) ~(1u << side->next_tsn % 8);
        side->next_tsn++;
    }
}

void sctp_tsns_give_up(const struct flow_decoder *decoder, struct sctp_association *association, unsigned index,
                       uint32_t tsn)
{
    struct sctp_side *side = &association->side[index];

    for (; (int32_t)(tsn - side->next_tsn) > 0; side->next_tsn++) {
        uint8_t bit = (uint8_t)(1u << side->next_tsn % 8);

        side->missing += (side->seen[side->next_tsn % TSN_WINDOW / 8] & bit) == 0;
        side->seen[side->next_tsn % TSN_WINDOW / 8] &= (uint8_t)~bit;
    }
    side->lost = true;
    tsn_step(side);
    sctp_streams_unsure(decoder, association);
}

void sctp_learn_first_tsn(struct sctp_side *side, uint32_t first, bool waited)
{
    uint32_t before = side->first_tsn - first;

    if (!side->tsn_known) {
        side->tsn_known = side->begun = true;
        side->next_tsn = first;
        side->highest_tsn = first - 1;
    } else if (waited && !side->reported && before < TSN_WINDOW / 2 && side->next_tsn - first < TSN_WINDOW / 2) {
        for (uint32_t tsn = side->first_tsn; tsn != side->next_tsn; tsn++)
            side->seen[tsn % TSN_WINDOW / 8] |= (uint8_t)(1u << tsn % 8);
        side->next_tsn = first;
        side->begun = true;
        tsn_step(side);
    }
}

/* False: it came before. */
bool sctp_tsn_is_new(struct sctp_side *side, uint32_t tsn)
{
    int32_t ahead;

    if (!side->tsn_known) {
        side->tsn_known = true;
        side->next_tsn = side->first_tsn = tsn;
        side->highest_tsn = tsn - 1;
    }
    ahead = (int32_t)(tsn - side->next_tsn);
    if (ahead < 0)
        return false;
    if (ahead >= TSN_WINDOW) { /* what is missing will not come any more */
        side->missing += (uint64_t)(tsn - 1 - side->highest_tsn) + count_holes(side);
        memset(side->seen, 0, sizeof(side->seen));
        side->next_tsn = tsn;
        side->lost = true;
    }
    if (side->seen[tsn % TSN_WINDOW / 8] & 1u << tsn % 8)
        return false;
    side->seen[tsn % TSN_WINDOW / 8] |= (uint8_t)(1u << tsn % 8);
    if ((int32_t)(tsn - side->highest_tsn) > 0)
        side->highest_tsn = tsn;
    tsn_step(side);
    return true;
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

void sctp_drop_fragments(struct flow_decoder *decoder, struct sctp_side *side)
{
    sctp_octets(decoder, FLOW_ROW_MESSAGE_PARTS, side->fragment_octets);
    while (side->fragments != NULL) {
        struct sctp_fragment *fragment = side->fragments;

        side->fragments = fragment->next;
        decoder->held -= fragment->count + sizeof(*fragment);
        free(fragment);
    }
    side->fragment_count = side->fragment_octets = 0;
}

/* From a B fragment on, TSN by TSN, up to an E fragment: the one after it, or `first` when it is not whole. */
static struct sctp_fragment *run_end(struct sctp_fragment *first, size_t *octets)
{
    struct sctp_fragment *at = first;

    *octets = 0;
    while (true) {
        *octets += at->count;
        if (at->last)
            return at->next;
        if (at->next == NULL || at->next->tsn != at->tsn + 1 || at->next->first || at->next->sid != first->sid)
            return first;
        at = at->next;
    }
}

static void give_run(struct flow_decoder *decoder, struct sctp_association *association, unsigned side,
                     struct sctp_fragment **link, const struct sctp_fragment *end, size_t octets)
{
    struct sctp_message *message = malloc(sizeof(*message) + octets);
    struct sctp_fragment *fragment = *link;
    size_t at = 0;

    if (message != NULL)
        *message = (struct sctp_message){.tsn = fragment->tsn,
                                         .ppid = fragment->ppid,
                                         .sid = fragment->sid,
                                         .first_frame = fragment->frame,
                                         .frame = fragment->frame,
                                         .time_ns = association->time_ns,
                                         .count = octets,
                                         .have = octets};
    while (fragment != end) {
        struct sctp_fragment *next = fragment->next;

        if (message != NULL) {
            memcpy(message->copy + at, fragment->octets, fragment->count);
            if (fragment->frame > message->frame)
                message->frame = fragment->frame;
            if (fragment->frame < message->first_frame)
                message->first_frame = fragment->frame;
        }
        at += fragment->count;
        association->side[side].fragment_count--;
        association->side[side].fragment_octets -= fragment->count;
        decoder->held -= fragment->count + sizeof(*fragment);
        free(fragment);
        fragment = next;
    }
    *link = fragment;
    if (message == NULL) {
        sctp_octets(decoder, FLOW_ROW_MEMORY, octets);
        return;
    }
    message->octets = message->copy;
    sctp_order_take(decoder, association, side, message);
    free(message);
}

void sctp_take_fragment(struct flow_decoder *decoder, struct sctp_association *association, unsigned index,
                        const struct sctp_data *data)
{
    struct sctp_side *side = &association->side[index];
    struct sctp_fragment **link = &side->fragments, *fragment, *end;
    size_t octets;

    if (side->fragment_count >= FRAGMENTS_MAX || side->fragment_octets + data->user_octets > 2 * USER_MESSAGE_MAX ||
        decoder->held > decoder->config.buffer_max) {
        sctp_drop_fragments(decoder, side);
        side->lost = true;
        sctp_emit_undecoded(decoder, association, index, FLOW_REASON_MESSAGE_LONG);
    }
    fragment = malloc(sizeof(*fragment) + data->user_have);
    if (fragment == NULL) {
        side->lost = true;
        sctp_octets(decoder, FLOW_ROW_MEMORY, data->user_have);
        return;
    }
    *fragment = (struct sctp_fragment){.tsn = data->tsn,
                                       .first = data->first,
                                       .last = data->last,
                                       .sid = data->sid,
                                       .ppid = data->ppid,
                                       .frame = association->frame,
                                       .count = data->user_have};
    memcpy(fragment->octets, data->user, data->user_have);
    while (*link != NULL && (int32_t)((*link)->tsn - data->tsn) < 0)
        link = &(*link)->next;
    fragment->next = *link;
    *link = fragment;
    side->fragment_count++;
    side->fragment_octets += fragment->count;
    decoder->held += fragment->count + sizeof(*fragment);
    for (link = &side->fragments; *link != NULL; link = &(*link)->next) {
        if (!(*link)->first)
            continue;
        end = run_end(*link, &octets);
        if (end == *link)
            continue;
        give_run(decoder, association, index, link, end, octets);
        return;
    }
}
