/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP streams over SCTP: user messages in the order of their DDP-SSNs, sessions (RFC 5043 6), the draft's Stream Reset.
 *
 * All chunks are unordered for SCTP, so TSN order says nothing of a stream's order. A message waits until those before
 * it have come, or until it is clear that they will not: then a FLOW_GAP says so, and whether the capture or the sender
 * left them out.
 */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static void free_message(struct sctp_decoder *sctp, struct sctp_message *message)
{
    sctp->common->held -= message->have + sizeof(*message);
    free(message);
}

static void drop_held(struct sctp_decoder *sctp, struct sctp_stream_half *own_half)
{
    while (own_half->held_from < own_half->held_end)
        free_message(sctp, own_half->held[own_half->held_from++]);
    free(own_half->held);
    own_half->held = NULL;
    own_half->held_from = own_half->held_end = own_half->held_room = 0;
}

/* Puts the stream into the association's list of those with messages that wait, or takes it out, as it is now. */
static void list_holder(struct sctp_stream *stream)
{
    bool holds = sctp_held_count(&stream->halves[0]) + sctp_held_count(&stream->halves[1]) != 0;

    if (holds && !stream->holds)
        DL_APPEND2(stream->association->holders, stream, holds_prev, holds_next);
    else if (!holds && stream->holds)
        DL_DELETE2(stream->association->holders, stream, holds_prev, holds_next);
    stream->holds = holds;
}

static uint16_t first_ssn(const struct sctp_stream *stream)
{
    return sctp_is_draft(stream) ? DDP_SCTP_DRAFT_FIRST_SSN : DDP_SCTP_FIRST_SSN;
}

static void halves_begin(struct sctp_stream *stream)
{
    for (unsigned i = 0; i < 2; i++) {
        struct sctp_stream_half *own_half = &stream->halves[i];

        own_half->known = stream->association->side[i].begun || stream->sessions != 0;
        own_half->expected = first_ssn(stream);
        own_half->reported = own_half->closed = false;
    }
}

static void end_stream(struct sctp_stream *stream, bool tell, enum flow_reason reason);

static struct sctp_stream *stream_of(struct sctp_association *association, uint16_t sid)
{
    struct sctp_decoder *sctp = association->sctp;
    struct sctp_stream *stream;

    HASH_FIND(hh, association->streams, &sid, sizeof(sid), stream);
    if (stream != NULL) {
        DL_DELETE2(sctp->oldest_stream, stream, older, newer);
        DL_APPEND2(sctp->oldest_stream, stream, older, newer);
        sctp_stream_refresh(stream);
        return stream;
    }
    if (sctp->stream_count >= sctp->common->config.flows_max) {
        sctp_stream_removed(sctp->oldest_stream);
        end_stream(sctp->oldest_stream, true, FLOW_REASON_EVICTED);
    }
    sctp_stream_returns(association, sid);
    stream = calloc(1, sizeof(*stream));
    if (stream == NULL)
        return NULL;
    stream->sid = sid;
    stream->association = association;
    stream->sctp = sctp;
    stream->unsure = association->unsure_count != 0 || !association->side[0].begun || !association->side[1].begun;
    stream->unsure_seen = association->unsure_count;
    stream->last_ns = association->unsure_count != 0 ? association->unsure_ns : association->first_ns;
    halves_begin(stream);
    HASH_ADD(hh, association->streams, sid, sizeof(stream->sid), stream);
    if (hash_lost(stream)) {
        free(stream);
        return NULL;
    }
    DL_APPEND2(sctp->oldest_stream, stream, older, newer);
    sctp->stream_count++;
    return stream;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Where a message with this DDP-SSN belongs among those that wait: after all that are not behind it. */
static uint16_t place_of(const struct sctp_stream_half *own_half, uint16_t ssn)
{
    unsigned from = own_half->held_from, count = sctp_held_count(own_half);

    while (count > 0) {
        unsigned half = count / 2;

        if ((int16_t)(own_half->held[from + half]->ssn - ssn) <= 0) {
            from += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return (uint16_t)from;
}

/* Room for one more at the end. False: without memory. */
static bool reserve(struct sctp_stream_half *own_half)
{
    unsigned count = sctp_held_count(own_half);
    size_t room = own_half->held_room == 0 ? 4 : 2 * (size_t)own_half->held_room;
    struct sctp_message **grown;

    if (own_half->held_end < own_half->held_room)
        return true;
    if (own_half->held_from != 0) {
        memmove(own_half->held, own_half->held + own_half->held_from, count * sizeof(own_half->held[0]));
        own_half->held_from = 0;
        own_half->held_end = (uint16_t)count;
        return true;
    }
    grown = realloc(own_half->held, room * sizeof(own_half->held[0]));
    if (grown == NULL)
        return false;
    own_half->held = grown;
    own_half->held_room = (uint16_t)room;
    return true;
}

static void hold(struct sctp_stream *stream, struct sctp_stream_half *own_half, const struct sctp_message *message)
{
    struct sctp_message *copy;
    uint16_t place;

    if (sctp_holds_too_much(stream->sctp) || sctp_held_count(own_half) > MESSAGES_HELD_MAX) {
        sctp_octets(stream->sctp, FLOW_ROW_HELD_TOO_MUCH, message->have);
        return;
    }
    copy = malloc(sizeof(*copy) + message->have);
    if (copy == NULL || !reserve(own_half)) {
        free(copy);
        sctp_octets(stream->sctp, FLOW_ROW_MEMORY, message->have);
        return;
    }
    *copy = *message;
    memcpy(copy->copy, message->octets, message->have);
    copy->octets = copy->copy;
    place = place_of(own_half, message->ssn);
    memmove(own_half->held + place + 1, own_half->held + place,
            (size_t)(own_half->held_end - place) * sizeof(own_half->held[0]));
    own_half->held[place] = copy;
    own_half->held_end++;
    stream->sctp->common->held += copy->have + sizeof(*copy);
    list_holder(stream);
}

/* Whether what is missing in front of the held ones will not come any more. */
static bool hole_is_final(const struct sctp_stream *stream, unsigned side, bool flush)
{
    const struct sctp_stream_half *own_half = &stream->halves[side];
    const struct sctp_side *sender = &stream->association->side[side];

    if (flush || sctp_held_count(own_half) >= MESSAGES_HELD_MAX || sctp_holds_too_much(stream->sctp))
        return true;
    if (sctp_side_complete(sender))
        return sctp_held_count(own_half) >= MESSAGES_BEHIND_HOLE;
    if (sender->lost) /* it is among what was given up */
        return true;
    if (sender->acked_known && (int32_t)(sender->acked - sender->next_tsn) >= 0 &&
        (sctp_held_count(own_half) >= MESSAGES_BEHIND_ACK ||
         stream->sctp->common->now_ns - sctp_held_first(own_half)->time_ns > ACK_NS))
        return true;
    return sctp_held_count(own_half) >= MESSAGES_BEHIND_LOSS;
}

/* A DDP-SSN that was used already, and a TSN is missing: that may be a Stream Reset's, which begins them anew. */
static bool reset_may_come(const struct sctp_stream *stream, unsigned side)
{
    return sctp_is_draft(stream) && !sctp_side_complete(&stream->association->side[side]);
}

/*
 * A DDP-SSN that was used already, or something after a session's end, and a TSN was given up, or the other side's
 * messages did not come in time: an Initiate that is not known of began another session.
 */
static bool initiate_may_be_lost(const struct sctp_stream *stream, unsigned side)
{
    return !sctp_is_draft(stream) && (stream->association->side[side].lost || stream->unsure);
}

/* A session whose Initiate was not captured follows the present one. */
static void begin_lost(struct sctp_stream *stream)
{
    sctp_session_end(stream, true, FLOW_REASON_COUNT);
    stream->lost = true;
    for (unsigned i = 0; i < 2; i++) {
        struct sctp_stream_half *own_half = &stream->halves[i];

        own_half->reported = own_half->closed = false;
        own_half->known = sctp_held_count(own_half) != 0;
        own_half->expected = own_half->known ? sctp_held_first(own_half)->ssn : 0;
    }
}

/* Where the Stream Reset or the Initiate that it is after was not captured: what is known of the stream ends here. */
static void lose(struct sctp_stream *stream, unsigned side, const struct sctp_message *message)
{
    if (stream->flow == NULL) {
        sctp_octets(stream->sctp, FLOW_ROW_SSN_AGAIN, message->have);
        return;
    }
    if (sctp_is_draft(stream))
        sctp_report_gap(stream, side, message);
    else
        begin_lost(stream);
    sctp_report_message(stream, side, message);
}

static void drain(struct sctp_stream *stream, unsigned side, bool flush)
{
    struct sctp_stream_half *own_half = &stream->halves[side];
    struct sctp_message *message;

    while ((message = sctp_held_first(own_half)) != NULL) {
        int16_t ahead;

        if (own_half->closed && !flush && initiate_may_be_lost(stream, side))
            begin_lost(stream);
        ahead = (int16_t)(message->ssn - own_half->expected);
        if (own_half->closed && !flush) /* of a session whose Initiate has not come */
            break;
        if (ahead < 0 && !flush && reset_may_come(stream, side))
            break;
        if (ahead > 0 && !hole_is_final(stream, side, flush))
            break;
        own_half->held_from++;
        if (ahead > 0 && stream->flow != NULL && own_half->known)
            sctp_report_gap(stream, side, message);
        if (ahead < 0 && own_half->known && (reset_may_come(stream, side) || initiate_may_be_lost(stream, side)))
            lose(stream, side, message);
        else if (ahead < 0 && own_half->known)
            sctp_report_reason(stream, side, message, FLOW_REASON_SSN_AGAIN);
        else
            sctp_report_message(stream, side, message);
        free_message(stream->sctp, message);
    }
    if (own_half->held_from == own_half->held_end)
        own_half->held_from = own_half->held_end = 0;
    list_holder(stream);
}

/* Messages wait after the end of a session, and the capture has not everything: the next one's Initiate is missing. */
static bool next_is_lost(const struct sctp_stream *stream)
{
    const struct sctp_side *sides = stream->association->side;
    bool waiting = (stream->halves[0].closed && sctp_held_first(&stream->halves[0]) != NULL) ||
                   (stream->halves[1].closed && sctp_held_first(&stream->halves[1]) != NULL);

    return waiting && (stream->unsure || !sctp_side_complete(&sides[0]) || !sctp_side_complete(&sides[1]));
}

static void flush_stream(struct sctp_stream *stream)
{
    unsigned first = stream->flow != NULL ? stream->swap : stream->association->swap;

    if (next_is_lost(stream)) {
        for (unsigned i = 0; i < 2; i++)
            if (!stream->halves[i].closed)
                drain(stream, i, true);
        begin_lost(stream);
    }
    drain(stream, first, true);
    drain(stream, 1 - first, true);
}

/* Does this Initiate begin another session than the present one? */
static bool begins_another(const struct sctp_stream *stream, unsigned side, uint16_t ssn,
                           const struct sctp_message *message)
{
    const struct sctp_stream_half *own_half = &stream->halves[side];

    if (stream->flow == NULL)
        return true;
    if (own_half->closed || stream->halves[1 - side].closed || (stream->unsure && sctp_is_quiet(stream, side, message)))
        return true;
    return own_half->reported && ssn == DDP_SCTP_FIRST_SSN && own_half->expected != DDP_SCTP_FIRST_SSN;
}

static void receive_initiate(struct sctp_stream *stream, unsigned side, uint16_t ssn,
                             const struct sctp_message *message)
{
    if (!begins_another(stream, side, ssn, message)) {
        if (!stream->halves[side].reported)
            stream->halves[side].expected = ssn;
        return;
    }
    if (stream->flow != NULL && !stream->halves[side].closed)
        drain(stream, side, true);
    if (stream->flow != NULL && !stream->halves[1 - side].closed)
        drain(stream, 1 - side, true);
    if (stream->flow != NULL) {
        stream->flow->sctp->left_by[side ^ stream->swap] = true;
        stream->superseded = true;
    }
    sctp_session_end(stream, true, FLOW_REASON_COUNT);
    stream->lost = false;
    stream->unsure = stream->unsure && !sctp_is_quiet(stream, side, message);
    if (!sctp_session_begin(stream, side, true, true, message))
        return;
    halves_begin(stream);
    stream->halves[side].known = true;
    stream->halves[side].expected = ssn;
    stream->flow->sctp->next_ssn[FLOW_FROM_INITIATOR] = stream->flow->sctp->next_ssn[FLOW_FROM_RESPONDER] =
        DDP_SCTP_FIRST_SSN;
}

/*
 * Puts those that wait and were sent before the TSN in front of the others, in their order; returns how many. Without
 * memory all count as sent before.
 */
static unsigned part_by_tsn(struct sctp_stream_half *own_half, uint32_t tsn)
{
    unsigned count = sctp_held_count(own_half), before = 0, after = 0;
    struct sctp_message **held, **later;

    if (count == 0)
        return 0;
    held = own_half->held + own_half->held_from;
    later = malloc(count * sizeof(*later));
    if (later == NULL) {
        out_of_memory_note();
        return count;
    }
    for (unsigned i = 0; i < count; i++)
        if ((int32_t)(held[i]->tsn - tsn) > 0)
            later[after++] = held[i];
        else
            held[before++] = held[i];
    if (after != 0)
        memcpy(held + before, later, after * sizeof(*later));
    free(later);
    return before;
}

/* A Stream Reset has no DDP-SSN: by the TSNs it is known which of those that wait were sent after it. */
static void receive_reset(struct sctp_stream *stream, unsigned side, const struct sctp_message *message)
{
    struct sctp_stream_half *own_half = &stream->halves[side];
    unsigned later = sctp_held_count(own_half) - part_by_tsn(own_half, message->tsn);
    uint16_t from = (uint16_t)(own_half->held_end - later), end = own_half->held_end;

    own_half->held_end = from;
    drain(stream, side, true);
    sctp_report_message(stream, side, message);
    own_half->expected = DDP_SCTP_DRAFT_FIRST_SSN;
    own_half->held_from = from;
    own_half->held_end = end;
    list_holder(stream);
}

/*
 * DDP-SSNs begin anew, and no Stream Reset of this side says so: by one reading the other side's Reset, which had come,
 * opened both directions (SCTP-7.2-13).
 */
static bool begins_anew(const struct sctp_stream *stream, unsigned side, const struct ddp_sctp_message *parsed,
                        const struct sctp_message *message)
{
    const struct sctp_stream_half *own_half = &stream->halves[side];

    return sctp_is_draft(stream) && own_half->reopened && parsed->ssn == DDP_SCTP_DRAFT_FIRST_SSN &&
           own_half->expected != DDP_SCTP_DRAFT_FIRST_SSN && stream->flow != NULL &&
           (!message->acked_known || (int32_t)(message->acked - own_half->reset_tsn) >= 0);
}

void sctp_stream_receive(struct sctp_association *association, unsigned side, struct sctp_message *message)
{
    struct sctp_stream *stream = stream_of(association, message->sid);
    struct ddp_sctp_message parsed;
    struct sctp_stream_half *own_half;
    int16_t ahead;

    if (stream == NULL) {
        sctp_octets(association->sctp, FLOW_ROW_MEMORY, message->have);
        return;
    }
    own_half = &stream->halves[side];
    (void)ddp_sctp_parse(message->ppid, message->octets, message->have, &parsed);
    if (parsed.kind == DDP_SCTP_DRAFT_CONTROL) {
        receive_reset(stream, side, message);
        return;
    }
    if (!parsed.has_ssn || message->count > USER_MESSAGE_MAX) {
        sctp_report_reason(stream, side, message,
                           parsed.has_ssn ? FLOW_REASON_MESSAGE_LONG : FLOW_REASON_MESSAGE_SHORT);
        return;
    }
    message->ssn = parsed.ssn;
    if (sctp_is_initiate(&parsed))
        receive_initiate(stream, side, parsed.ssn, message);
    else if (sctp_is_answer(&parsed) && stream->flow != NULL && !own_half->reported)
        own_half->expected = parsed.ssn;
    if (!own_half->known) {
        own_half->known = true;
        own_half->expected = parsed.ssn;
    }
    if (begins_anew(stream, side, &parsed, message)) {
        drain(stream, side, true);
        sctp_session_reset(stream, side);
        own_half->expected = parsed.ssn;
        own_half->reopened = false;
    }
    /* It may have waited since before what made the stream unsure. */
    if ((int64_t)(message->time_ns - stream->last_ns) > 0)
        stream->last_ns = message->time_ns;
    ahead = (int16_t)(parsed.ssn - own_half->expected);
    if (ahead < 0 && !own_half->reported && !own_half->closed &&
        sctp_held_first(own_half) == NULL) { /* a sender that counts from elsewhere */
        own_half->expected = parsed.ssn;
        ahead = 0;
    }
    if (ahead == 0 && sctp_held_first(own_half) == NULL && !own_half->closed)
        sctp_report_message(stream, side, message);
    else if (ahead < 0 && !own_half->closed && !reset_may_come(stream, side) && !initiate_may_be_lost(stream, side))
        sctp_report_reason(stream, side, message, FLOW_REASON_SSN_AGAIN);
    else {
        hold(stream, own_half, message);
        drain(stream, side, false);
    }
}

/* So many in turn, whatever their number is: a packet costs the same on one stream and on 65,536. */
void sctp_streams_drain(struct sctp_association *association)
{
    for (unsigned i = 0; i < STREAMS_VISITED && association->holders != NULL; i++) {
        struct sctp_stream *stream = association->holders;

        association->sctp->steps++;
        DL_DELETE2(association->holders, stream, holds_prev, holds_next);
        DL_APPEND2(association->holders, stream, holds_prev, holds_next);
        sctp_stream_refresh(stream);
        for (unsigned side = 0; side < 2; side++)
            drain(stream, side, false);
    }
}

static void end_stream(struct sctp_stream *stream, bool tell_of_it, enum flow_reason reason)
{
    sctp_stream_refresh(stream);
    if (tell_of_it)
        flush_stream(stream);
    sctp_session_end(stream, tell_of_it, reason);
    for (unsigned i = 0; i < 2; i++)
        drop_held(stream->sctp, &stream->halves[i]);
    list_holder(stream);
    HASH_DEL(stream->association->streams, stream);
    DL_DELETE2(stream->sctp->oldest_stream, stream, older, newer);
    stream->sctp->stream_count--;
    free(stream);
}

void sctp_streams_end(struct sctp_association *association, bool tell_of_it, enum flow_reason reason)
{
    while (association->streams != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): end_stream() takes it out of the table */
        end_stream(association->streams, tell_of_it, reason);
}
