/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User messages in the order in which they were sent. Of one sender that is the order of TSNs: a message waits until
 * all TSNs before its own were captured, or will not come. Of two senders only the sessions show it: a message of the
 * next session waits until the other side's part of the present one has come (sctp_stream_waits()). What is reported
 * before its time all the same makes the sessions unsure.
 */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAITING_BEHIND_ACK = 8, /* after a TSN that was acknowledged and not captured */
    WAITING_BEHIND_LOSS = 128,
    WAITING_FOR_OTHERS = 64,
};

/* ---- sessions of the two sides ----------------------------------------------------------------------------------- */

bool sctp_is_quiet(const struct sctp_stream *stream, unsigned side, const struct sctp_message *initiate)
{
    return stream->association->side[1 - side].waiting == NULL && !initiate->overtaken &&
           (int64_t)(initiate->time_ns - stream->last_ns) > PATIENCE_NS;
}

void sctp_streams_unsure(struct sctp_association *association)
{
    association->unsure_count++;
    association->unsure_ns = association->sctp->common->now_ns;
}

/* There may be thousands of streams, and as many reasons: each learns of the last one when it is looked at. */
void sctp_stream_refresh(struct sctp_stream *stream)
{
    const struct sctp_association *association = stream->association;

    if (stream->unsure_seen == association->unsure_count)
        return;
    stream->unsure_seen = association->unsure_count;
    stream->unsure = true;
    stream->last_ns = association->unsure_ns;
    if (stream->flow != NULL)
        stream->flow->unordered = stream->flow->gap = true;
}

/*
 * The sessions on a SID follow each other, for both sides: who has ended its part of one, or begins another one without
 * that, waits for the other side until that one's part has come, too. An answer is after the Initiate that it answers.
 */
bool sctp_stream_waits(const struct sctp_association *association, unsigned side, const struct sctp_message *message)
{
    const struct sctp_stream_half *own_half, *other;
    struct ddp_sctp_message parsed;
    struct sctp_stream *stream;

    (void)ddp_sctp_parse(message->ppid, message->octets, message->have, &parsed);
    if (!parsed.has_ssn || association->flow->sctp->profile == IWARP_SCTP_DRAFT02)
        return false;
    HASH_FIND(hh, association->streams, &message->sid, sizeof(message->sid), stream);
    if (stream == NULL || stream->flow == NULL)
        return sctp_is_answer(&parsed) && association->started;
    sctp_stream_refresh(stream);
    own_half = &stream->halves[side];
    other = &stream->halves[1 - side];
    if (sctp_is_initiate(&parsed))
        return !other->closed && !(stream->unsure && sctp_is_quiet(stream, side, message)) &&
               (own_half->closed || (own_half->reported && parsed.ssn == DDP_SCTP_FIRST_SSN));
    if (own_half->closed) /* what goes on counting is no other session's */
        return parsed.ssn != own_half->expected || association->side[side].lost;
    return sctp_is_answer(&parsed) && own_half->reported && parsed.ssn == DDP_SCTP_FIRST_SSN;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static bool is_older(struct sctp_decoder *sctp, uint64_t since_ns, int64_t limit_ns)
{
    return (int64_t)(sctp->common->now_ns - since_ns) > limit_ns;
}

static void free_first(struct sctp_decoder *sctp, struct sctp_side *side)
{
    struct sctp_message *message = side->waiting;

    side->waiting = message->next;
    if (side->waiting == NULL)
        side->waiting_last = NULL;
    side->waiting_count--;
    side->waiting_ns = sctp->common->now_ns;
    sctp->common->held -= message->have + sizeof(*message);
    free(message);
}

static void keep(struct sctp_decoder *sctp, struct sctp_side *side, const struct sctp_message *message)
{
    struct sctp_message **link = &side->waiting;
    struct sctp_message *copy = malloc(sizeof(*copy) + message->have);

    if (copy == NULL) {
        side->lost = true;
        sctp_octets(sctp, FLOW_ROW_MEMORY, message->have);
        return;
    }
    *copy = *message;
    memcpy(copy->copy, message->octets, message->have);
    copy->octets = copy->copy;
    if (side->waiting_last != NULL && (int32_t)(side->waiting_last->tsn - message->tsn) < 0)
        link = &side->waiting_last->next;
    for (; *link != NULL && (int32_t)((*link)->tsn - message->tsn) < 0; sctp->steps++)
        link = &(*link)->next;
    if (side->waiting == NULL)
        side->waiting_ns = sctp->common->now_ns;
    copy->next = *link;
    *link = copy;
    if (copy->next == NULL)
        side->waiting_last = copy;
    side->waiting_count++;
    sctp->common->held += copy->have + sizeof(*copy);
}

/* All TSNs before it were captured, or given up (a TSN further ahead than the window moved it). */
static bool is_next(const struct sctp_side *side, const struct sctp_message *message)
{
    return message->tsn - side->next_tsn >= TSN_WINDOW;
}

/*
 * Has the other side sent something on this SID before it that waits behind a TSN? Its receiver had no need to wait: DDP's
 * chunks are unordered (RFC 5043 10), and what it says now may be the answer.
 */
static bool may_answer(const struct sctp_association *association, unsigned index, const struct sctp_message *message)
{
    const struct sctp_side *other = &association->side[1 - index];

    for (const struct sctp_message *waiting = other->waiting; waiting != NULL;
         waiting = waiting->next, association->sctp->steps++)
        if (waiting->sid == message->sid && waiting->frame < message->frame && !is_next(other, waiting))
            return true;
    return false;
}

/* Has the side ended its part of the present session on the SID? True also where there is none. */
static bool is_closed(const struct sctp_association *association, unsigned index, uint16_t sid)
{
    struct sctp_stream *stream;

    HASH_FIND(hh, association->streams, &sid, sizeof(sid), stream);
    return stream == NULL || stream->halves[index].closed;
}

/*
 * The same of what waits for the next session, which the other side has asked for without an end of the present one. Had
 * the present one ended, this side would have nothing to say in it any more: one of the two is not what it seems to be.
 */
static bool is_in_doubt(const struct sctp_association *association, unsigned index, const struct sctp_message *message)
{
    const struct sctp_message *waiting = association->side[1 - index].waiting;

    for (; waiting != NULL; waiting = waiting->next, association->sctp->steps++)
        if (waiting->sid == message->sid && waiting->frame < message->frame && !message->overtaken)
            return !is_closed(association, 1 - index, message->sid) && !is_closed(association, index, message->sid);
    return false;
}

static void report(struct sctp_association *association, unsigned index, struct sctp_message *message)
{
    association->side[index].reported = true;
    if (is_in_doubt(association, index, message))
        sctp_streams_unsure(association);
    sctp_stream_receive(association, index, message);
}

void sctp_order_receive(struct sctp_association *association, unsigned index, struct sctp_message *message)
{
    struct sctp_side *side = &association->side[index];

    if (side->waiting != NULL || !is_next(side, message) || sctp_start_may_come(association) ||
        sctp_stream_waits(association, index, message) || may_answer(association, index, message)) {
        keep(association->sctp, side, message);
        if (side->waiting_count >= 2 * WAITING_BEHIND_LOSS) /* one packet has that many */
            sctp_order_drain(association);
        return;
    }
    report(association, index, message);
}

/* TSNs before the first one that waits will not come. */
static bool tsns_are_lost(struct sctp_decoder *sctp, const struct sctp_side *side)
{
    if (side->waiting_count >= WAITING_BEHIND_LOSS || sctp_holds_too_much(sctp))
        return true;
    return side->acked_known && (int32_t)(side->acked - side->next_tsn) >= 0 &&
           (side->waiting_count >= WAITING_BEHIND_ACK || is_older(sctp, side->waiting_ns, ACK_NS));
}

static bool waited(struct sctp_decoder *sctp, const struct sctp_side *side)
{
    return side->waiting_count >= WAITING_FOR_OTHERS || sctp_holds_too_much(sctp) ||
           is_older(sctp, side->waiting_ns, PATIENCE_NS);
}

static void emit_first(struct sctp_association *association, unsigned index)
{
    struct sctp_side *side = &association->side[index];

    report(association, index, side->waiting);
    free_first(association->sctp, side);
}

/* True: a message was reported. */
static bool drain_one(struct sctp_association *association, unsigned index)
{
    struct sctp_side *side = &association->side[index];

    if (side->waiting == NULL)
        return false;
    if (sctp_start_may_come(association)) {
        if (!waited(association->sctp, side))
            return false;
        association->start_lost = true;
    }
    if (!is_next(side, side->waiting)) {
        if (!tsns_are_lost(association->sctp, side))
            return false;
        sctp_tsns_give_up(association, index, side->waiting->tsn + 1);
    }
    if (sctp_stream_waits(association, index, side->waiting) || may_answer(association, index, side->waiting)) {
        if (!waited(association->sctp, side))
            return false;
        sctp_streams_unsure(association);
    }
    emit_first(association, index);
    return true;
}

void sctp_order_drain(struct sctp_association *association)
{
    while (drain_one(association, association->swap) || drain_one(association, 1 - association->swap))
        continue;
}

/*
 * What the side's first message waits for was never sent: all that either side sent was captured, up to the other
 * side's acknowledgment of that message.
 */
static bool waits_for_nothing(const struct sctp_association *association, unsigned index)
{
    const struct sctp_side *side = &association->side[index];

    return sctp_side_complete(side) && sctp_side_complete(&association->side[1 - index]) && side->acked_known &&
           (int32_t)(side->acked - side->waiting->tsn) >= 0;
}

/* At the end: an INIT or a hole first, then a message that waits for a session. */
static bool force_one(struct sctp_association *association)
{
    if (sctp_start_may_come(association)) {
        association->start_lost = true;
        return true;
    }
    for (unsigned i = 0; i < 2; i++) {
        struct sctp_side *side = &association->side[i ^ association->swap];

        if (side->waiting == NULL || is_next(side, side->waiting))
            continue;
        sctp_tsns_give_up(association, i ^ association->swap, side->waiting->tsn + 1);
        return true;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (association->side[i ^ association->swap].waiting == NULL)
            continue;
        if (!waits_for_nothing(association, i ^ association->swap))
            sctp_streams_unsure(association);
        emit_first(association, i ^ association->swap);
        return true;
    }
    return false;
}

void sctp_order_end(struct sctp_association *association, bool tell)
{
    if (tell && association->flow != NULL)
        do
            sctp_order_drain(association);
        while (force_one(association));
    for (unsigned i = 0; i < 2; i++)
        while (association->side[i].waiting != NULL)
            free_first(association->sctp, &association->side[i]);
}
