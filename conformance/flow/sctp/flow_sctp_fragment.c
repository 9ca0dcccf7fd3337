/* SPDX-License-Identifier: BSD-2-Clause */
/* User messages out of their fragments. */
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/sctp/flow_sctp_internal.h"

void sctp_drop_fragments(struct sctp_decoder *sctp, struct sctp_side *side)
{
    sctp_octets(sctp, FLOW_ROW_MESSAGE_PARTS, side->fragment_octets);
    while (side->fragments != NULL) {
        struct sctp_fragment *fragment = side->fragments;

        side->fragments = fragment->next;
        sctp->common->held -= fragment->count + sizeof(*fragment);
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

static void give_run(struct sctp_association *association, unsigned side, struct sctp_fragment **link,
                     const struct sctp_fragment *end, size_t octets)
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
        association->sctp->common->held -= fragment->count + sizeof(*fragment);
        free(fragment);
        fragment = next;
    }
    *link = fragment;
    if (message == NULL) {
        sctp_octets(association->sctp, FLOW_ROW_MEMORY, octets);
        return;
    }
    message->octets = message->copy;
    sctp_order_receive(association, side, message);
    free(message);
}

void sctp_receive_fragment(struct sctp_association *association, unsigned index, const struct sctp_data *data)
{
    struct sctp_side *side = &association->side[index];
    struct sctp_fragment **link = &side->fragments, *fragment, *end;
    size_t octets;

    if (side->fragment_count >= FRAGMENTS_MAX || side->fragment_octets + data->user_octets > 2 * USER_MESSAGE_MAX ||
        sctp_holds_too_much(association->sctp)) {
        sctp_drop_fragments(association->sctp, side);
        side->lost = true;
        sctp_emit_undecoded(association, index, FLOW_REASON_MESSAGE_LONG);
    }
    fragment = malloc(sizeof(*fragment) + data->user_have);
    if (fragment == NULL) {
        side->lost = true;
        sctp_octets(association->sctp, FLOW_ROW_MEMORY, data->user_have);
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
    for (; *link != NULL && (int32_t)((*link)->tsn - data->tsn) < 0; association->sctp->steps++)
        link = &(*link)->next;
    fragment->next = *link;
    *link = fragment;
    side->fragment_count++;
    side->fragment_octets += fragment->count;
    association->sctp->common->held += fragment->count + sizeof(*fragment);
    for (link = &side->fragments; *link != NULL; link = &(*link)->next) {
        if (!(*link)->first)
            continue;
        end = run_end(*link, &octets);
        if (end == *link)
            continue;
        give_run(association, index, link, end, octets);
        return;
    }
}
