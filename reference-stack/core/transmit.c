/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages into DDP Segments (RFC 5041 5.2), one piece at a time. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"

/* The work whose segments are due, or NULL. */
static struct send_work *work_current(const struct iwarp_stream *stream)
{
    return ring_at(&stream->outbound.work, stream->outbound.work_sent);
}

/*
 * A Read or atomic waits while ORD of them are open (RFC 5040 6.1, RFC 7306 5.2); an RTR Read has the slot that RFC
 * 6581 9.1 gives it. What is fenced waits while any is open (RFC 5040 5.5, rule 12).
 */
static bool work_allowed(const struct iwarp_stream *stream, const struct send_work *work)
{
    if (work->fence && stream->counters.reads_outstanding != 0)
        return false;
    return (work->kind != IWARP_WORK_READ && work->kind != IWARP_WORK_ATOMIC) || work->internal ||
           stream->counters.reads_outstanding < stream->agreed.ord;
}

/* Whose turn it is: a message begun is finished first (RFC 5041 5.3), else Read Responses and own work take turns. */
enum transmit_source transmit_choose(const struct iwarp_stream *stream)
{
    const struct send_work *work = work_current(stream);
    bool own = work != NULL && work_allowed(stream, work);
    bool response = stream->inbound.requests.count != 0 && !stream->instruments.responses_held;

    SEAM(stream, turn(stream, &own, &response));
    if (stream->outbound.source != TRANSMIT_NONE)
        return stream->outbound.source;
    if (own && (!response || stream->outbound.last_source == TRANSMIT_RESPONSE))
        return TRANSMIT_WORK;
    return response ? TRANSMIT_RESPONSE : TRANSMIT_NONE;
}

bool transmit_pending(const struct iwarp_stream *stream)
{
    if (stream->end.terminate_due)
        return true;
    if (!stream->outbound.segments_allowed || stream->end.terminate_sent)
        return false;
    /* Work that waits for a Read Response is pending too, unless the peer's FIN says that none will come. */
    if (stream->end.fin_received && transmit_choose(stream) == TRANSMIT_NONE)
        return false;
    return stream->inbound.requests.count != 0 || stream->outbound.work.count != 0;
}

/* The largest ULPDU; *begun, if asked for, as in llp.h. */
static size_t ulpdu_max(const struct iwarp_stream *stream, size_t *begun)
{
    if (stream->instruments.mulpdu_given != 0)
        return stream->instruments.mulpdu_given;
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
    stream->inbound.queues[DDP_QN_READ_REQUEST].msn_next++;
    if (++stream->counters.reads_outstanding > stream->counters.reads_outstanding_max)
        stream->counters.reads_outstanding_max = stream->counters.reads_outstanding;
    stream->outbound.work_sent++;
}

/* The piece is the last of its work, which completes when the transport has it. */
void transmit_completes(struct iwarp_stream *stream)
{
    stream->outbound.piece.completes = true;
    stream->outbound.piece.work = stream->outbound.work_serial + stream->outbound.work_sent;
    stream->outbound.work_sent++;
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
    message->segment.msn = stream->inbound.queues[DDP_QN_READ_REQUEST].msn_next;
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
    uint64_t offset = stream->outbound.work_offset;
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
        segment->msn = stream->inbound.queues[DDP_QN_SEND].msn_next;
        segment->mo = (uint32_t)offset;
    }
    if (piece_segment(stream, message) != 0)
        return false;
    stream->outbound.piece.ulp_memory = stream->outbound.piece.span_count > TRANSMIT_PAYLOAD && octets != 0 && !own;
    stream->outbound.work_offset += octets;
    stream->outbound.source = TRANSMIT_WORK;
    if (!last)
        return true;
    if (!segment->tagged)
        stream->inbound.queues[DDP_QN_SEND].msn_next++;
    transmit_completes(stream);
    stream->outbound.work_offset = 0;
    stream->outbound.source = TRANSMIT_NONE;
    return true;
}

static bool send_work(struct iwarp_stream *stream)
{
    struct send_work *work = work_current(stream);
    struct outgoing message = {.segment = {.control = rdmap_control(work->opcode)}, .work = work};

    stream->outbound.last_source = TRANSMIT_WORK;
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
static void response_failed(struct iwarp_stream *stream, const struct inbound_request *request,
                            const struct validation_outcome *outcome, struct validation_subject *subject)
{
    struct read_request rest = request->read;
    struct ddp_segment segment;
    uint8_t ulpdu[DDP_UNTAGGED_OCTETS + READ_REQUEST_OCTETS];
    const uint8_t *p = ulpdu;

    rest.sink_to += request->sent;
    rest.source_to += request->sent;
    rest.octets -= (uint32_t)request->sent;
    memcpy(ulpdu, request->header, DDP_UNTAGGED_OCTETS);
    read_request_pack(&rest, ulpdu + DDP_UNTAGGED_OCTETS);
    (void)ddp_parse(&p, ulpdu + sizeof(ulpdu), &segment);
    subject->segment = &segment;
    subject->segment_octets = request->segment_octets;
    stream_fail(stream, outcome, subject, "the source of a Read went away");
}

/*
 * The source is looked up again for each segment: it may have been invalidated meanwhile. `from`: the region it lies
 * in.
 */
static const uint8_t *response_source(struct iwarp_stream *stream, const struct inbound_request *request,
                                      struct region_entry **from)
{
    static const uint8_t nothing[1];
    struct read_request rest = request->read;
    struct validation_subject subject = stream_subject(stream);
    struct validation_outcome outcome;

    rest.source_to += request->sent;
    rest.octets -= (uint32_t)request->sent;
    if (request->read.octets == 0)
        return nothing;
    subject.read = &rest;
    subject.count = READ_REQUEST_OCTETS;
    subject.region = iwarp_region_find(stream->device, rest.source_stag);
    if (!stream_judge(VALIDATE_READ_REQUEST, &subject, &outcome)) {
        response_failed(stream, request, &outcome, &subject);
        return NULL;
    }
    *from = (struct region_entry *)(uintptr_t)subject.region; /* its first member */
    return SEAM_VALUE(stream, subject.region->octets + (rest.source_to - subject.region->base),
                      source(stream, request, subject.region));
}

/*
 * The Atomic Response, or one segment of the Read Response, that is due: in the order of the requests (RFC 5040 5.2.2).
 */
static bool send_response(struct iwarp_stream *stream)
{
    struct inbound_request *request = ring_at(&stream->inbound.requests, 0);
    struct outgoing message = {.segment = {.tagged = true, .control = rdmap_control(IWARP_RDMAP_READ_RESPONSE)},
                               .request = request};
    struct ddp_segment *segment = &message.segment;
    struct region_entry *from = NULL;
    const uint8_t *source;
    bool last;

    if (request->is_atomic) {
        if (!atomic_send_response(stream, request))
            return stream->end.error_seen && transmit_next(stream);
        stream->outbound.last_source = TRANSMIT_RESPONSE;
        stream->outbound.piece.response = stream->outbound.piece.ends_response = true;
        return true;
    }
    source = response_source(stream, request, &from);
    if (source == NULL)
        return transmit_next(stream);
    segment->stag = request->read.sink_stag;
    segment->to = request->read.sink_to + request->sent;
    segment->payload_octets = cut(stream, segment, request->read.octets - request->sent, &last);
    segment->payload = source;
    segment->last = last;
    if (piece_segment(stream, &message) != 0)
        return false;
    stream->outbound.piece.ulp_memory =
        stream->outbound.piece.span_count > TRANSMIT_PAYLOAD && segment->payload_octets != 0;
    if (stream->outbound.piece.ulp_memory && from != NULL) {
        stream->outbound.piece.lent = from;
        from->lent++;
    }
    stream->outbound.last_source = TRANSMIT_RESPONSE;
    request->sent += segment->payload_octets;
    stream->outbound.source = last ? TRANSMIT_NONE : TRANSMIT_RESPONSE;
    stream->outbound.piece.response = true;
    stream->outbound.piece.ends_response = last;
    return true;
}

static bool send_terminate(struct iwarp_stream *stream)
{
    struct outgoing message = {
        .segment = {.last = true,
                    .control = rdmap_control(IWARP_RDMAP_TERMINATE),
                    .qn = DDP_QN_TERMINATE,
                    .msn = stream->inbound.queues[DDP_QN_TERMINATE].msn_next++,
                    .payload = stream->end.terminate,
                    .payload_octets = stream->end.terminate_octets},
    };

    stream->end.terminate_due = false;
    if (piece_segment(stream, &message) != 0)
        return false;
    stream->outbound.piece.terminate = true;
    return true;
}

/* Makes the next piece; false when there is nothing to send now. */
bool transmit_next(struct iwarp_stream *stream)
{
    bool made = false;

    if (stream->outbound.piece.octets != 0)
        return true;
    if (stream->end.terminate_due && SEAM_DECIDE(stream, DECIDE_TERMINATE_NOW, true))
        made = send_terminate(stream);
    else if (stream->outbound.segments_allowed && !stream->end.terminate_sent) {
        switch (transmit_choose(stream)) {
        case TRANSMIT_WORK: made = send_work(stream); break;
        case TRANSMIT_RESPONSE: made = send_response(stream); break;
        case TRANSMIT_NONE:
        default: return false;
        }
    } else {
        return false;
    }
    if (!made && !stream->end.abort_wanted && stream->outbound.piece.octets == 0) {
        stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_CLOSE, "out of memory for a DDP Segment");
        stream->end.abort_wanted = true;
    }
    return made;
}

/*
 * Counters and offsets go back to what they were before these octets; false: the piece is no part of a longer message.
 */
static bool roll_back(struct iwarp_stream *stream, size_t over)
{
    struct transmit_piece *piece = &stream->outbound.piece;
    struct inbound_request *request = ring_at(&stream->inbound.requests, 0);
    struct send_work *work;

    if (piece->response) {
        if (request == NULL || request->is_atomic)
            return false;
        request->sent -= over;
        piece->ends_response = false;
        stream->outbound.source = TRANSMIT_RESPONSE;
        return true;
    }
    work = ring_at(&stream->outbound.work, stream->outbound.work_sent - piece->completes);
    if (work == NULL || (work->kind != IWARP_WORK_SEND && work->kind != IWARP_WORK_WRITE))
        return false;
    if (piece->completes) {
        stream->outbound.work_sent--;
        stream->outbound.work_offset = work->count;
        if (work->kind == IWARP_WORK_SEND)
            stream->inbound.queues[DDP_QN_SEND].msn_next--;
        piece->completes = false;
    }
    stream->outbound.work_offset -= over;
    stream->outbound.source = TRANSMIT_WORK;
    return true;
}

void transmit_shorten(struct iwarp_stream *stream, size_t over)
{
    struct transmit_piece *piece = &stream->outbound.piece;
    struct iwarp_span *payload = piece->span_count == 0 ? NULL : &piece->spans[piece->span_count - 1];

    if (payload == NULL || !piece->segment || piece->terminate || piece->done != 0 || payload->count <= over ||
        !roll_back(stream, over))
        return;
    payload->count -= over;
    piece->octets -= over;
    /* The headers are the stream's own: in `headers`, or in front of the copy. */
    ddp_tagged_set_L((uint8_t *)(uintptr_t)piece->spans[0].octets + LLP_PREFIX_OCTETS, 0);
}

size_t transmit_ulpdu_max(const struct iwarp_stream *stream)
{
    return ulpdu_max(stream, NULL);
}

size_t iwarp_stream_mulpdu(const struct iwarp_stream *stream)
{
    if (stream == NULL)
        return 0;
    return (size_t)SEAM_NUMBER(stream, NUMBER_ULPDU_REPORTED, ulpdu_max(stream, NULL));
}

int iwarp_stream_post_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count,
                            struct iwarp_sentence *sentence)
{
    size_t mulpdu = iwarp_stream_mulpdu(stream);

    if (stream == NULL || octets == NULL)
        return misuse_null(sentence, "post_ulpdu", "a stream and octets");
    if (!stream->outbound.segments_allowed || stream->state >= IWARP_STATE_TERMINATING || stream->end.terminate_sent ||
        stream->end.close_wanted || stream->end.abort_wanted || stream->outbound.piece.octets != 0 ||
        transmit_pending(stream))
        return iwarp_sentence_set(sentence, "post_ulpdu: no ULPDU may be sent now");
    count = (size_t)SEAM_NUMBER(stream, NUMBER_POSTED_ULPDU, count);
    mulpdu = (size_t)SEAM_NUMBER(stream, NUMBER_POSTED_MAX, mulpdu);
    if (count > mulpdu)
        return iwarp_sentence_set(sentence, "post_ulpdu: %zu octets, MULPDU is %zu", count, mulpdu);
    stream_ready(stream);
    return piece_ulpdu(stream, octets, count) == 0 ? 0 : iwarp_sentence_set(sentence, "post_ulpdu: out of memory");
}

/* The piece is with the transport in whole. */
void transmit_done(struct iwarp_stream *stream)
{
    struct transmit_piece piece = stream->outbound.piece;

    stream_piece_drop(stream);
    memset(&stream->outbound.piece, 0, sizeof(stream->outbound.piece));
    if (!piece.segment) {
        /* What the layer says for itself is often the last thing that needs this. */
        free(stream->outbound.buffer);
        stream->outbound.buffer = NULL;
        stream->outbound.room = 0;
    }
    SEAM(stream, sent(stream, &piece));
    if (piece.completes && piece.work >= stream->outbound.work_serial) {
        struct send_work *work = ring_at(&stream->outbound.work, (size_t)(piece.work - stream->outbound.work_serial));

        if (work != NULL)
            work->done = true;
        stream_complete(stream);
    }
    if (piece.ends_response && stream->inbound.requests.count != 0) {
        ring_pop(&stream->inbound.requests);
        stream->counters.requests_queued = (unsigned)stream->inbound.requests.count;
    }
    if (piece.terminate && !stream->end.terminate_due) {
        struct iwarp_event *event = stream_event(stream, IWARP_EVENT_TERMINATE_SENT);

        stream->end.terminate_sent = true;
        if (event != NULL) {
            event->triple = WIRE_ERROR_BIT | octets_get16(stream->end.terminate);
            memcpy(event->headers, stream->end.terminate, stream->end.terminate_octets);
            event->header_octets = stream->end.terminate_octets;
        }
        stream_event_done(stream, event);
    }
}

/* The RTR message goes before all work that the ULP has posted (RFC 6581 9.2). */
int transmit_rtr(struct iwarp_stream *stream, enum iwarp_rtr kind)
{
    struct send_work rtr = {.internal = true};
    struct send_work *slot;

    switch (kind) {
    case IWARP_RTR_SEND:
        rtr.kind = IWARP_WORK_SEND;
        rtr.opcode = IWARP_RDMAP_SEND;
        break;
    case IWARP_RTR_READ:
        rtr.kind = IWARP_WORK_READ;
        rtr.opcode = IWARP_RDMAP_READ_REQUEST;
        break;
    case IWARP_RTR_WRITE:
    case IWARP_RTR_ALL:
    default:
        rtr.kind = IWARP_WORK_WRITE;
        rtr.opcode = IWARP_RDMAP_WRITE;
        break;
    }
    if (ring_push(&stream->outbound.work) == NULL) {
        stream->end.abort_wanted = true;
        return -1;
    }
    for (size_t i = stream->outbound.work.count - 1; i > 0; i--) {
        slot = ring_at(&stream->outbound.work, i);
        *slot = *(struct send_work *)ring_at(&stream->outbound.work, i - 1);
    }
    slot = ring_at(&stream->outbound.work, 0);
    *slot = rtr;
    return 0;
}
