/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP stream sessions (RFC 5043 6; the draft has one for each stream): their flows, and the events of their messages.
 */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * What its sender sent last in this session was captured: up to its Terminate, or as much as the other side had
 * received when it sent its last message, which a SACK says that comes with or after that.
 */
static bool tail_is_known(const struct sctp_stream *stream, unsigned side)
{
    const struct sctp_side *sender = &stream->association->side[side];

    if (stream->halves[side].closed)
        return true;
    if (!sctp_side_complete(sender) || !sender->acked_known || sender->acked_frame < stream->halves[1 - side].frame)
        return false;
    return sender->acked == sender->highest_tsn ||
           (stream->superseded && (int32_t)(sender->acked - stream->halves[side].last_tsn) >= 0);
}

void sctp_session_end(struct sctp_stream *stream, bool tell, enum flow_reason reason)
{
    if (stream->flow == NULL)
        return;
    sctp_early_forget(stream);
    if (stream->association->shut_down)
        stream->flow->sctp->left_by[stream->association->shut_down_by ^ stream->swap] = true;
    if (tell) {
        struct flow_event event =
            sctp_event(stream->flow, FLOW_FROM_INITIATOR, FLOW_END, stream->flow->last_frame, stream->flow->last_ns);

        event.reason = reason;
        for (unsigned i = 0; i < 2; i++)
            stream->flow->half[i ^ stream->swap].tail_unknown = !tail_is_known(stream, i);
        flow_event_send(stream->sctp->common, &event);
    }
    flow_free(stream->flow);
    stream->flow = NULL;
    stream->superseded = false;
}

/* Nothing of a stream's first sessions is missing. */
static bool is_known(const struct sctp_association *association, uint32_t sessions)
{
    const struct sctp_side *sides = association->side;

    return !sides[0].lost && !sides[1].lost && (sessions != 0 || (sides[0].begun && sides[1].begun));
}

bool sctp_session_begin(struct sctp_stream *stream, unsigned active, bool roles_known, bool from_start,
                        const struct sctp_message *message)
{
    struct sctp_association *association = stream->association;
    struct flow *flow = flow_make(stream->sctp->common, FLOW_STREAM, message->first_frame, message->time_ns);

    if (flow == NULL)
        return false;
    stream->flow = flow;
    stream->swap = active;
    flow->tunnel = association->key.tunnel;
    flow->roles_known = roles_known;
    flow->opener_known = association->flow->opener_known;
    flow->opener = (enum flow_direction)(association->swap ^ active);
    flow->late = stream->unsure || (!from_start && (stream->lost || !is_known(association, stream->sessions)));
    flow->unordered = stream->unsure;
    flow->gap = flow->late;
    flow->full_operation = true;
    flow->sctp->profile = association->flow->sctp->profile;
    flow->sctp->association = association->flow->number;
    flow->sctp->sid = stream->sid;
    flow->sctp->session = ++stream->sessions;
    for (unsigned i = 0; i < 2; i++) {
        unsigned direction = i ^ active;

        flow->address[direction] = association->flow->address[i ^ association->swap];
        flow->half[direction].start_known = !flow->late;
        flow->sctp->next_ssn[direction] = stream->halves[i].expected;
    }
    return true;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static struct flow_event event_of(const struct sctp_stream *stream, unsigned side, enum flow_event_kind kind,
                                  const struct sctp_message *message)
{
    struct flow_event event = sctp_event(stream->flow, side ^ stream->swap, kind, message->frame, message->time_ns);

    event.first_frame = message->first_frame;
    return event;
}

void sctp_session_reset(const struct sctp_stream *stream, unsigned side)
{
    struct flow *flow = stream->flow;
    unsigned direction = side ^ stream->swap;
    struct flow_half *half = &flow->half[direction];

    memset(half->queue, 0, sizeof(half->queue));
    for (unsigned queue = 0; queue < FLOW_QUEUES; queue++)
        half->queue[queue].next_msn = DDP_FIRST_MSN;
    half->write.open = half->read_response.open = false;
    half->terminated = false;
    half->request_first = half->request_count = 0;
    flow->sctp->resets[direction]++;
    flow->sctp->next_ssn[direction] = DDP_SCTP_DRAFT_FIRST_SSN;
    flow->sctp->segments[direction] = 0;
}

static void report_control(struct sctp_stream *stream, unsigned side, const struct sctp_message *message,
                           const struct flow_session *session)
{
    struct flow_event event = event_of(stream, side, FLOW_SESSION, message);
    struct flow_sctp_state *state = stream->flow->sctp;
    unsigned direction = side ^ stream->swap;
    bool reject;

    event.session = session;
    flow_event_send(stream->sctp->common, &event);
    if (session->message.kind == DDP_SCTP_DRAFT_CONTROL) {
        if (session->message.code == DDP_SCTP_STREAM_RESET) {
            sctp_session_reset(stream, side);
            stream->halves[side].reopened = false;
            stream->halves[1 - side].reopened = true;
            stream->halves[1 - side].reset_tsn = message->tsn;
        }
        return;
    }
    reject = session->message.code == DDP_SCTP_REJECT || session->message.code == DDP_SCTP_ENHANCED_REJECT;
    if (state->chunks[direction]++ == 0) {
        state->opening[direction] = session->message.code;
        state->opening_tsn[direction] = message->tsn;
        if (direction == FLOW_FROM_INITIATOR)
            stream->initiate_frame = message->frame;
    }
    state->next_ssn[direction] = (uint16_t)(session->message.ssn + 1);
    if (session->message.code == DDP_SCTP_TERMINATE || reject) {
        if (state->ended[direction] == 0)
            state->ended[direction] = message->frame;
        stream->halves[side].closed = true;
        stream->flow->rejected = stream->flow->rejected || reject;
    }
}

/* Rules on DDP and RDMAP see what they see over MPA. */
static void report_segment(struct sctp_stream *stream, unsigned side, const struct sctp_message *message,
                           const struct flow_session *session)
{
    struct flow_event event = event_of(stream, side, FLOW_ULPDU, message);
    const struct ddp_sctp_message *parsed = &session->message;
    struct flow_sctp_state *state = stream->flow->sctp;
    unsigned direction = side ^ stream->swap;
    struct flow_half *half = &stream->flow->half[direction];
    struct flow_ulpdu ulpdu = {
        .octets = parsed->segment,
        .have = parsed->segment_octets,
        .length = (uint16_t)(message->count - DDP_SCTP_SSN_OCTETS),
        .cut = message->have < message->count,
        .result = message->have < message->count ? WIRE_MORE : WIRE_OK,
        .index = half->fpdus,
        .message = session,
    };

    event.ulpdu = &ulpdu;
    event.position = half->position;
    if (sctp_is_draft(stream) && state->segments[direction] == 0 && parsed->segment_octets != 0 &&
        ddp_tagged_get_DV(parsed->segment) == 0)
        stream->flow->revision = MPA_REV_RDMAC; /* that family of drafts had version 0 (RFC 5044 Appendix C) */
    if (!sctp_is_draft(stream))
        sctp_early_watch(stream, side, message);
    stream->sctp->common->totals.fpdus++;
    half->fpdus++;
    half->segments++;
    flow_rdmap_ulpdu(stream->sctp->common, stream->flow, &event);
    half->position += message->count;
    state->chunks[direction]++;
    state->segments[direction]++;
    state->next_ssn[direction] = (uint16_t)(parsed->ssn + 1);
}

void sctp_report_reason(const struct sctp_stream *stream, unsigned side, const struct sctp_message *message,
                        enum flow_reason reason)
{
    const struct sctp_association *association = stream->association;
    const struct flow *flow = stream->flow != NULL ? stream->flow : association->flow;
    struct flow_event event = sctp_event(flow, side ^ (stream->flow != NULL ? stream->swap : association->swap),
                                         FLOW_UNDECODED, message->frame, message->time_ns);

    event.reason = reason;
    event.position = message->ssn;
    flow_event_send(stream->sctp->common, &event);
    sctp_octets(stream->sctp,
                reason == FLOW_REASON_SSN_AGAIN       ? FLOW_ROW_SSN_AGAIN
                : reason == FLOW_REASON_MESSAGE_SHORT ? FLOW_ROW_MESSAGE_SHORT
                                                      : FLOW_ROW_MESSAGE_PARTS,
                message->have);
}

void sctp_report_gap(struct sctp_stream *stream, unsigned side, const struct sctp_message *message)
{
    struct sctp_stream_half *own_half = &stream->halves[side];
    struct flow_event event = event_of(stream, side, FLOW_GAP, message);
    struct flow_gap gap = {
        .in_sync = true,
        .messages = (uint16_t)(message->ssn - own_half->expected),
        .first = own_half->expected,
        .not_sent = sctp_side_complete(&stream->association->side[side]) && own_half->known && !stream->flow->late &&
                    !stream->flow->unordered,
    };

    event.gap = &gap;
    event.first_frame = event.frame;
    stream->sctp->common->totals.gaps++;
    flow_event_send(stream->sctp->common, &event);
    own_half->expected = message->ssn;
    stream->flow->sctp->next_ssn[side ^ stream->swap] = message->ssn;
    if (gap.not_sent)
        return;
    stream->flow->gap = true;
    stream->flow->half[side ^ stream->swap].gaps++;
    flow_rdmap_gap(stream->flow, (enum flow_direction)(side ^ stream->swap));
}

void sctp_report_message(struct sctp_stream *stream, unsigned side, const struct sctp_message *message)
{
    struct sctp_association *association = stream->association;
    struct flow_session session = {.octets = message->octets,
                                   .count = message->count,
                                   .have = message->have,
                                   .ppid = message->ppid,
                                   .tsn = message->tsn,
                                   .acked_known = message->acked_known,
                                   .acked = message->acked};
    bool answer, terminate;
    unsigned active;

    session.result = ddp_sctp_parse(message->ppid, message->octets, message->have, &session.message);
    if (stream->flow == NULL) {
        answer = session.message.kind == DDP_SCTP_CONTROL && session.message.row->active == 0;
        terminate = session.message.kind == DDP_SCTP_CONTROL && session.message.code == DDP_SCTP_TERMINATE;
        active = sctp_is_draft(stream) ? association->swap : answer || terminate ? 1 - side : side;
        if (!sctp_session_begin(stream, active, answer || (sctp_is_draft(stream) && association->started), false,
                                message)) {
            sctp_octets(stream->sctp, FLOW_ROW_MEMORY, message->have);
            return;
        }
    }
    sctp_octets(stream->sctp, message->have < message->count ? FLOW_ROW_PART : FLOW_ROW_IWARP, message->have);
    stream->flow->last_frame = association->frame;
    stream->flow->last_ns = association->time_ns;
    stream->halves[side].reported = stream->halves[side].known = true;
    stream->halves[side].frame = message->frame;
    stream->halves[side].last_tsn = message->tsn;
    if (session.message.kind == DDP_SCTP_SEGMENT)
        report_segment(stream, side, message, &session);
    else
        report_control(stream, side, message, &session);
    if (session.message.has_ssn)
        stream->halves[side].expected = (uint16_t)(session.message.ssn + 1);
}
