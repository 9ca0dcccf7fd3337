/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages into DDP Segments (RFC 5041 5.2), one piece at a time. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"

/* The work whose segments are due, or NULL. */
static struct send_work *work_current(const struct iwarp_stream *stream)
{
    return ring_at(&stream->work, stream->work_sent);
}

/*
 * A Read or atomic waits while ORD of them are open (RFC 5040 6.1, RFC 7306 5.2); an RTR Read has the slot that RFC 6581
 * 9.1 gives it.
 */
static bool work_allowed(const struct iwarp_stream *stream, const struct send_work *work)
{
    return (work->kind != IWARP_WORK_READ && work->kind != IWARP_WORK_ATOMIC) || work->internal ||
           stream->counters.reads_outstanding < stream->ord;
}

/* Whose turn it is: a message begun is finished first (RFC 5041 5.3), else Read Responses and own work take turns. */
enum transmit_source transmit_choose(const struct iwarp_stream *stream)
{
    const struct send_work *work = work_current(stream);
    bool own = work != NULL && work_allowed(stream, work);
    bool response = stream->reads.count != 0 && !stream->responses_held;

    SEAM(stream, turn(stream, &own, &response));
    if (stream->source != TRANSMIT_NONE)
        return stream->source;
    if (own && (!response || stream->last_source == TRANSMIT_RESPONSE))
        return TRANSMIT_WORK;
    return response ? TRANSMIT_RESPONSE : TRANSMIT_NONE;
}

bool transmit_pending(const struct iwarp_stream *stream)
{
    if (stream->terminate_due)
        return true;
    if (!stream->segments_allowed || stream->terminate_sent)
        return false;
    /* Work that waits for a Read Response is pending too, unless the peer's FIN says that none will come. */
    if (stream->fin_received && transmit_choose(stream) == TRANSMIT_NONE)
        return false;
    return stream->reads.count != 0 || stream->work.count != 0;
}

/* The largest ULPDU; *begun, if asked for, as in llp.h. */
static size_t ulpdu_max(const struct iwarp_stream *stream, size_t *begun)
{
    if (stream->mulpdu_given != 0)
        return stream->mulpdu_given;
    return (size_t)SEAM_NUMBER(stream, NUMBER_ULPDU_MAX, stream->llp->ulpdu_max(stream, begun));
}

/* Payload that fills what the transport has begun to send, unless the message takes more segments then. */
static size_t room_left(size_t mulpdu, size_t header, size_t room, uint64_t left)
{
    size_t rest = mulpdu > header ? mulpdu - header : 0;

    if (rest == 0 || rest >= room || left <= rest)
        return room;
    return (left - rest + room - 1) / room + 1 == (left + room - 1) / room ? rest : room;
}

/* Payload of the next segment and whether it is the last. */
static uint32_t cut(const struct iwarp_stream *stream, const struct ddp_segment *segment, uint64_t left, bool *last)
{
    size_t header = segment->tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    size_t begun = 0; /* the largest ULPDU that still fits there */
    size_t mulpdu = ulpdu_max(stream, &begun);
    size_t room = mulpdu - header;

    if (begun != 0)
        room = room_left(begun, header, room, left);
    room = (size_t)SEAM_NUMBER(stream, NUMBER_SEGMENT_ROOM, room);
    *last = left <= room;
    return (uint32_t)(*last ? left : room);
}

/* The request that was just made into a piece is outstanding until its response has come. */
void transmit_requested(struct iwarp_stream *stream)
{
    stream->queues[DDP_QN_READ_REQUEST].msn_next++;
    if (++stream->counters.reads_outstanding > stream->counters.reads_outstanding_max)
        stream->counters.reads_outstanding_max = stream->counters.reads_outstanding;
    stream->work_sent++;
}

/* The piece is the last of its work, which completes when the transport has it. */
void transmit_completes(struct iwarp_stream *stream)
{
    stream->piece.completes = true;
    stream->piece.work = stream->work_serial + stream->work_sent;
    stream->work_sent++;
}

static bool send_read_request(struct iwarp_stream *stream, struct outgoing *message)
{
    const struct send_work *work = message->work;
    struct read_request request = {
        .sink_stag = work->sink_stag,
        .sink_to = work->sink_to,
        .octets = (uint32_t)work->count,
        .source_stag = work->stag,
        .source_to = work->to,
    };

    message->segment.qn = DDP_QN_READ_REQUEST;
    message->segment.msn = stream->queues[DDP_QN_READ_REQUEST].msn_next;
    message->segment.last = true;
    read_request_pack(&request, message->header);
    message->header_octets = READ_REQUEST_OCTETS;
    if (piece_segment(stream, message) != 0)
        return false;
    transmit_requested(stream);
    return true;
}

/* One segment of a Send or Write. */
static bool send_data(struct iwarp_stream *stream, struct outgoing *message)
{
    struct ddp_segment *segment = &message->segment;
    const struct send_work *work = message->work;
    uint64_t offset = stream->work_offset;
    uint32_t octets;
    bool last, own;

    segment->tagged = work->kind == IWARP_WORK_WRITE;
    octets = cut(stream, segment, work->count - offset, &last);
    segment->payload_octets = octets;
    segment->last = last;
    if (!work_payload(stream, work, offset, octets, &segment->payload, &own))
        return false;
    if (segment->tagged) {
        segment->stag = work->stag;
        segment->to = work->to + offset;
    } else {
        segment->ulp_word = work->stag;
        segment->qn = DDP_QN_SEND;
        segment->msn = stream->queues[DDP_QN_SEND].msn_next;
        segment->mo = (uint32_t)offset;
    }
    if (piece_segment(stream, message) != 0)
        return false;
    stream->piece.ulp_memory = stream->piece.span_count > TRANSMIT_PAYLOAD && octets != 0 && !own;
    stream->work_offset += octets;
    stream->source = TRANSMIT_WORK;
    if (!last)
        return true;
    if (!segment->tagged)
        stream->queues[DDP_QN_SEND].msn_next++;
    transmit_completes(stream);
    stream->work_offset = 0;
    stream->source = TRANSMIT_NONE;
    return true;
}

static bool send_work(struct iwarp_stream *stream)
{
    struct send_work *work = work_current(stream);
    struct outgoing message = {.segment = {.control = rdmap_control(work->opcode)}, .work = work};

    stream->last_source = TRANSMIT_WORK;
    switch (work->kind) {
    case IWARP_WORK_READ: return send_read_request(stream, &message);
    case IWARP_WORK_ATOMIC: return atomic_send_request(stream, &message);
    case IWARP_WORK_IMMEDIATE: return atomic_send_immediate(stream, &message);
    case IWARP_WORK_RECEIVE:
    case IWARP_WORK_SEND:
    case IWARP_WORK_WRITE:
    default: return send_data(stream, &message);
    }
}

/* The header to quote when a Read fails midway: what is left of it (RFC 5040 4.8). */
static void response_failed(struct iwarp_stream *stream, const struct served_read *served,
                            const struct validation_outcome *outcome, struct validation_subject *subject)
{
    struct read_request rest = served->request;
    struct ddp_segment segment;
    uint8_t ulpdu[DDP_UNTAGGED_OCTETS + READ_REQUEST_OCTETS];
    const uint8_t *p = ulpdu;

    rest.sink_to += served->sent;
    rest.source_to += served->sent;
    rest.octets -= (uint32_t)served->sent;
    memcpy(ulpdu, served->header, DDP_UNTAGGED_OCTETS);
    read_request_pack(&rest, ulpdu + DDP_UNTAGGED_OCTETS);
    (void)ddp_parse(&p, ulpdu + sizeof(ulpdu), &segment);
    subject->segment = &segment;
    subject->segment_octets = served->segment_octets;
    stream_fail(stream, outcome, subject, "the source of a Read went away");
}

/* The source is looked up again for each segment: it may have been invalidated meanwhile. `from`: the region it lies in. */
static const uint8_t *response_source(struct iwarp_stream *stream, const struct served_read *served,
                                      struct region_entry **from)
{
    static const uint8_t nothing[1];
    struct read_request rest = served->request;
    struct validation_subject subject = stream_subject(stream);
    struct validation_outcome outcome;

    rest.source_to += served->sent;
    rest.octets -= (uint32_t)served->sent;
    if (served->request.octets == 0)
        return nothing;
    subject.read = &rest;
    subject.count = READ_REQUEST_OCTETS;
    subject.region = iwarp_region_find(stream->device, rest.source_stag);
    if (!stream_judge(VALIDATE_READ_REQUEST, &subject, &outcome)) {
        response_failed(stream, served, &outcome, &subject);
        return NULL;
    }
    *from = (struct region_entry *)(uintptr_t)subject.region; /* its first member */
    return SEAM_VALUE(stream, subject.region->octets + (rest.source_to - subject.region->base),
                      source(stream, served, subject.region));
}

/* The Atomic Response, or one segment of the Read Response, that is due: in the order of the requests (RFC 5040 5.2.2). */
static bool send_response(struct iwarp_stream *stream)
{
    struct served_read *served = ring_at(&stream->reads, 0);
    struct outgoing message = {.segment = {.tagged = true, .control = rdmap_control(RDMAP_READ_RESPONSE)},
                               .served = served};
    struct ddp_segment *segment = &message.segment;
    struct region_entry *from = NULL;
    const uint8_t *source;
    bool last;

    if (served->is_atomic) {
        if (!atomic_send_response(stream, served))
            return stream->error_seen && transmit_next(stream);
        stream->last_source = TRANSMIT_RESPONSE;
        stream->piece.response = stream->piece.ends_response = true;
        return true;
    }
    source = response_source(stream, served, &from);
    if (source == NULL)
        return transmit_next(stream);
    segment->stag = served->request.sink_stag;
    segment->to = served->request.sink_to + served->sent;
    segment->payload_octets = cut(stream, segment, served->request.octets - served->sent, &last);
    segment->payload = source;
    segment->last = last;
    if (piece_segment(stream, &message) != 0)
        return false;
    stream->piece.ulp_memory = stream->piece.span_count > TRANSMIT_PAYLOAD && segment->payload_octets != 0;
    if (stream->piece.ulp_memory && from != NULL) {
        stream->piece.lent = from;
        from->lent++;
    }
    stream->last_source = TRANSMIT_RESPONSE;
    served->sent += segment->payload_octets;
    stream->source = last ? TRANSMIT_NONE : TRANSMIT_RESPONSE;
    stream->piece.response = true;
    stream->piece.ends_response = last;
    return true;
}

static bool send_terminate(struct iwarp_stream *stream)
{
    struct outgoing message = {
        .segment = {.last = true,
                    .control = rdmap_control(RDMAP_TERMINATE),
                    .qn = DDP_QN_TERMINATE,
                    .msn = stream->queues[DDP_QN_TERMINATE].msn_next++,
                    .payload = stream->terminate,
                    .payload_octets = stream->terminate_octets},
    };

    stream->terminate_due = false;
    if (piece_segment(stream, &message) != 0)
        return false;
    stream->piece.terminate = true;
    return true;
}

/* Makes the next piece; false when there is nothing to send now. */
bool transmit_next(struct iwarp_stream *stream)
{
    bool made = false;

    if (stream->piece.octets != 0)
        return true;
    if (stream->terminate_due && SEAM_DECIDE(stream, DECIDE_TERMINATE_NOW, true))
        made = send_terminate(stream);
    else if (stream->segments_allowed && !stream->terminate_sent) {
        switch (transmit_choose(stream)) {
        case TRANSMIT_WORK: made = send_work(stream); break;
        case TRANSMIT_RESPONSE: made = send_response(stream); break;
        case TRANSMIT_NONE:
        default: return false;
        }
    } else {
        return false;
    }
    if (!made && !stream->abort_wanted && stream->piece.octets == 0) {
        stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_CLOSE, "out of memory for a DDP Segment");
        stream->abort_wanted = true;
    }
    return made;
}

/* Counters and offsets go back to what they were before these octets; false: the piece is no part of a longer message. */
static bool take_back(struct iwarp_stream *stream, size_t over)
{
    struct transmit_piece *piece = &stream->piece;
    struct served_read *served = ring_at(&stream->reads, 0);
    struct send_work *work;

    if (piece->response) {
        if (served == NULL || served->is_atomic)
            return false;
        served->sent -= over;
        piece->ends_response = false;
        stream->source = TRANSMIT_RESPONSE;
        return true;
    }
    work = ring_at(&stream->work, stream->work_sent - piece->completes);
    if (work == NULL || (work->kind != IWARP_WORK_SEND && work->kind != IWARP_WORK_WRITE))
        return false;
    if (piece->completes) {
        stream->work_sent--;
        stream->work_offset = work->count;
        if (work->kind == IWARP_WORK_SEND)
            stream->queues[DDP_QN_SEND].msn_next--;
        piece->completes = false;
    }
    stream->work_offset -= over;
    stream->source = TRANSMIT_WORK;
    return true;
}

void transmit_shorten(struct iwarp_stream *stream, size_t over)
{
    struct transmit_piece *piece = &stream->piece;
    struct iwarp_span *payload = piece->span_count == 0 ? NULL : &piece->spans[piece->span_count - 1];

    if (payload == NULL || !piece->segment || piece->terminate || piece->done != 0 || payload->count <= over ||
        !take_back(stream, over))
        return;
    payload->count -= over;
    piece->octets -= over;
    /* The headers are the stream's own: in `headers`, or in front of the copy. */
    ddp_tagged_set_L((uint8_t *)(uintptr_t)piece->spans[0].octets + LLP_PREFIX_OCTETS, 0);
}

size_t iwarp_stream_mulpdu(const struct iwarp_stream *stream)
{
    if (stream == NULL)
        return 0;
    return ulpdu_max(stream, NULL);
}

int iwarp_stream_post_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count, struct sentence *sentence)
{
    size_t mulpdu = iwarp_stream_mulpdu(stream);

    if (stream == NULL || octets == NULL)
        return misuse_null(sentence, "post_ulpdu", "a stream and octets");
    if (!stream->segments_allowed || stream->state >= IWARP_STATE_TERMINATING || stream->terminate_sent ||
        stream->close_wanted || stream->abort_wanted || stream->piece.octets != 0 || transmit_pending(stream))
        return sentence_set(sentence, "post_ulpdu: no ULPDU may be sent now");
    count = (size_t)SEAM_NUMBER(stream, NUMBER_POSTED_ULPDU, count);
    mulpdu = (size_t)SEAM_NUMBER(stream, NUMBER_POSTED_MAX, mulpdu);
    if (count > mulpdu)
        return sentence_set(sentence, "post_ulpdu: %zu octets, MULPDU is %zu", count, mulpdu);
    stream_ready(stream);
    return piece_ulpdu(stream, octets, count) == 0 ? 0 : sentence_set(sentence, "post_ulpdu: out of memory");
}

/* The piece is with the transport in whole. */
void transmit_done(struct iwarp_stream *stream)
{
    struct transmit_piece piece = stream->piece;

    stream_piece_drop(stream);
    memset(&stream->piece, 0, sizeof(stream->piece));
    if (!piece.segment) {
        /* What the layer says for itself is often the last thing that needs this. */
        free(stream->transmit_buffer);
        stream->transmit_buffer = NULL;
        stream->transmit_room = 0;
    }
    SEAM(stream, sent(stream, &piece));
    if (piece.completes && piece.work >= stream->work_serial) {
        struct send_work *work = ring_at(&stream->work, (size_t)(piece.work - stream->work_serial));

        if (work != NULL)
            work->done = true;
        stream_complete(stream);
    }
    if (piece.ends_response && stream->reads.count != 0) {
        ring_pop(&stream->reads);
        stream->counters.reads_served = (unsigned)stream->reads.count;
    }
    if (piece.terminate && !stream->terminate_due) {
        struct iwarp_event *event = stream_event(stream, IWARP_EVENT_TERMINATE_SENT);

        stream->terminate_sent = true;
        if (event != NULL) {
            event->triple = WIRE_ERROR_BIT | octets_get16(stream->terminate);
            memcpy(event->headers, stream->terminate, stream->terminate_octets);
            event->header_octets = stream->terminate_octets;
        }
        stream_event_done(stream, event);
    }
}

/* The RTR message goes in front of whatever the ULP has posted (RFC 6581 9.2). */
int transmit_rtr(struct iwarp_stream *stream, enum iwarp_rtr kind)
{
    struct send_work rtr = {.internal = true};
    struct send_work *slot;

    switch (kind) {
    case IWARP_RTR_SEND:
        rtr.kind = IWARP_WORK_SEND;
        rtr.opcode = RDMAP_SEND;
        break;
    case IWARP_RTR_READ:
        rtr.kind = IWARP_WORK_READ;
        rtr.opcode = RDMAP_READ_REQUEST;
        break;
    case IWARP_RTR_WRITE:
    case IWARP_RTR_ALL:
    default:
        rtr.kind = IWARP_WORK_WRITE;
        rtr.opcode = RDMAP_WRITE;
        break;
    }
    if (ring_push(&stream->work) == NULL) {
        stream->abort_wanted = true;
        return -1;
    }
    for (size_t i = stream->work.count - 1; i > 0; i--) {
        slot = ring_at(&stream->work, i);
        *slot = *(struct send_work *)ring_at(&stream->work, i - 1);
    }
    slot = ring_at(&stream->work, 0);
    *slot = rtr;
    return 0;
}
