/* SPDX-License-Identifier: BSD-2-Clause */
/* DDP Segments: checked, placed, delivered (RFC 5041 5 and 7.1), and acted on (RFC 5040 5). */
#include <string.h>

#include "reference-stack/core/srq.h"
#include "reference-stack/core/stream_internal.h"

/* All that is known of the segment in hand. */
struct delivery {
    struct validation_subject subject;
    struct ddp_segment segment;
    struct rdmap_message message;
};

bool stream_judge(enum validation_stage stage, const struct validation_subject *subject,
                  struct validation_outcome *outcome)
{
    const struct iwarp_faults *faults = subject->session != NULL ? subject->session->faults : subject->stream->faults;

    return faults == NULL ? validation_run(stage, subject, outcome)
                          : faults->ops->judge(faults, stage, subject, outcome);
}

bool deliver_holds(struct iwarp_stream *stream, enum validation_stage stage, const struct validation_subject *subject,
                   const char *text)
{
    struct validation_outcome outcome;

    if (stream_judge(stage, subject, &outcome))
        return true;
    stream_fail(stream, &outcome, subject, text);
    return false;
}

static bool holds(struct iwarp_stream *stream, enum validation_stage stage, struct delivery *delivery, const char *text)
{
    return deliver_holds(stream, stage, &delivery->subject, text);
}

/* --- Placement -------------------------------------------------------------------------------------------------- */

void placement_write(const struct placement *place, const uint8_t *payload)
{
    if (place->count == 0)
        return;
    if (place->octets != NULL)
        memcpy(place->octets, payload, place->count);
    else if (place->pieces != NULL)
        span_list_write(place->pieces, place->offset, payload, place->count);
}

/*
 * A tagged segment goes into its region; an untagged one into the posted receive, or, on the other queues, into the
 * stream's own memory.
 */
struct placement deliver_place(const struct iwarp_stream *stream, const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    struct placement place = {.count = segment->payload_octets};
    const struct receive_work *receive;

    if (segment->tagged) {
        place.octets = subject->region->octets + (segment->to - subject->region->base);
        return place;
    }
    place.offset = segment->mo;
    if (segment->qn != DDP_QN_SEND) {
        place.octets = (uint8_t *)(uintptr_t)stream->inbound.queues[segment->qn].buffer + segment->mo;
        return place;
    }
    receive = ring_at(&stream->inbound.receives, 0);
    if (receive != NULL && receive->list != NULL)
        place.pieces = receive->list;
    else if (receive != NULL && receive->buffer != NULL) /* else a receive, or a Send that is an RTR, without octets */
        place.octets = receive->buffer + segment->mo;
    return place;
}

static size_t place_payload(struct iwarp_stream *stream, const struct delivery *delivery)
{
    const struct validation_subject *subject = &delivery->subject;
    struct placement place = SEAM_VALUE(stream, deliver_place(stream, subject), place(stream, subject));

    placement_write(&place, delivery->segment.payload);
    if (stream->instruments.traced)
        instrument_record(stream, IWARP_TRACE_PLACED, &delivery->segment, place.count);
    stream->counters.segments_placed++;
    stream->counters.octets_placed += place.count;
    return place.offset + place.count;
}

/* --- Tagged: RDMA Write and Read Response --------------------------------------------------------------------- */

struct send_work *deliver_open_read(const struct iwarp_stream *stream)
{
    for (size_t i = 0; i < stream->outbound.work_sent; i++) {
        struct send_work *work = ring_at(&stream->outbound.work, i);

        if (work->kind == IWARP_WORK_READ && !work->done)
            return work;
    }
    return NULL;
}

static void read_response(struct iwarp_stream *stream, struct send_work *read, const struct delivery *delivery)
{
    read->received += delivery->segment.payload_octets;
    if (!SEAM_DECIDE(stream, DECIDE_READ_COMPLETE, delivery->segment.last))
        return;
    read->done = true;
    stream->counters.reads_outstanding--;
    stream_complete(stream);
}

static void deliver_tagged(struct iwarp_stream *stream, struct delivery *delivery)
{
    const struct ddp_segment *segment = &delivery->segment;
    bool empty = segment->payload_octets == 0; /* STag and TO are not used then (RFC 5041 5.2) */
    bool response = delivery->message.opcode == IWARP_RDMAP_READ_RESPONSE;
    struct send_work *read = response ? deliver_open_read(stream) : NULL;
    struct validation_read open;

    if (read != NULL) {
        open = (struct validation_read){read->sink_stag, read->sink_to, read->count, read->received};
        delivery->subject.open_read = &open;
    }
    if (!empty)
        delivery->subject.region = iwarp_region_find(stream->device, segment->stag);
    if (SEAM_IF(stream, buffer(stream, &delivery->subject)))
        return;
    if (!empty && !holds(stream, VALIDATE_TAGGED, delivery, "a tagged segment cannot be placed"))
        return;
    if (!holds(stream, VALIDATE_RDMAP, delivery, "an RDMA Message is not acceptable"))
        return;
    if (response &&
        !holds(stream, VALIDATE_READ_RESPONSE, delivery, "a Read Response does not answer the open Read Request"))
        return;
    if (!empty)
        (void)place_payload(stream, delivery);
    if (stream->instruments.traced && segment->last)
        instrument_record(stream, IWARP_TRACE_DELIVERED, segment, segment->payload_octets);
    if (response)
        read_response(stream, read, delivery);
    SEAM(stream, delivered(stream, &delivery->subject));
}

/* --- Untagged: the Sends, Read Request, Terminate, and those of RFC 7306 ------------------------------------------ */

/* Size of the buffer that the queue's next message has; UINT64_MAX when it has none. */
static uint64_t buffer_of(const struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    const struct receive_work *receive;

    switch (segment->qn) {
    case DDP_QN_SEND:
        receive = ring_at(&stream->inbound.receives, 0);
        if (receive != NULL)
            return receive->octets;
        /* The Send that is an RTR needs no receive: the ULP did not ask for it (RFC 6581 4.4.2). */
        return stream->agreed.rtr_awaited && segment->msn == DDP_FIRST_MSN && segment->payload_octets == 0 ? 0
                                                                                                           : UINT64_MAX;
    case DDP_QN_READ_REQUEST:
        if (stream->inbound.requests.count < stream->agreed.ird ||
            (stream->agreed.rtr_awaited && segment->msn == DDP_FIRST_MSN))
            return stream->config.extensions == IWARP_EXTENSIONS_OFF ? READ_REQUEST_OCTETS : ATOMIC_REQUEST_OCTETS;
        return UINT64_MAX;
    case DDP_QN_TERMINATE: return STREAM_TERMINATE_ROOM;
    case DDP_QN_ATOMIC_RESPONSE: return atomic_open(stream) != NULL ? ATOMIC_RESPONSE_OCTETS : UINT64_MAX;
    default: return UINT64_MAX;
    }
}

/* The STag of a Send with Invalidate: checked and invalidated on delivery (RFC 5040 5.3). False: the stream failed. */
static bool invalidate(struct iwarp_stream *stream, struct delivery *delivery)
{
    uint32_t stag = delivery->message.invalidate_stag;
    bool good;

    delivery->subject.region = iwarp_region_find(stream->device, stag);
    good = holds(stream, VALIDATE_INVALIDATE, delivery, "an STag cannot be invalidated");
    if (SEAM_DECIDE(stream, DECIDE_INVALIDATED, good))
        (void)iwarp_region_invalidate(stream->device, stag, NULL);
    return good;
}

static void deliver_send(struct iwarp_stream *stream, struct untagged_queue *queue, struct delivery *delivery)
{
    const struct receive_work *receive = ring_at(&stream->inbound.receives, 0);
    uint8_t opcode = delivery->message.opcode;
    bool rtr = stream->agreed.rtr_awaited && delivery->segment.msn == DDP_FIRST_MSN && queue->length == 0 &&
               (stream->agreed.terms.rtr & IWARP_RTR_SEND) != 0;
    bool invalidates = delivery->message.row->invalidates;
    struct iwarp_event *event;

    if (!rdmap_is_send(opcode) && !holds(stream, VALIDATE_IMMEDIATE, delivery, "Immediate Data is not acceptable"))
        return;
    if (invalidates && !invalidate(stream, delivery))
        return;
    if (rtr && !invalidates)
        return; /* start-up's own message: neither a receive nor an event for the ULP */
    if (receive == NULL || !SEAM_DECIDE(stream, DECIDE_SEND_DELIVERED, true))
        return;
    event = stream_event(stream, IWARP_EVENT_RECEIVE);
    if (event == NULL)
        return;
    event->id = receive->id;
    event->buffer = receive->buffer;
    event->octets = queue->length;
    event->opcode = opcode;
    event->solicited =
        opcode == IWARP_RDMAP_SEND_SE || opcode == IWARP_RDMAP_SEND_SE_INVALIDATE || opcode == IWARP_RDMAP_IMMEDIATE_SE;
    event->invalidated = invalidates;
    event->stag = invalidates ? delivery->message.invalidate_stag : 0;
    stream_event_done(stream, event);
    if (SEAM_DECIDE(stream, DECIDE_RECEIVE_USED, true))
        receive_pop(stream);
}

static void deliver_read_request(struct iwarp_stream *stream, struct untagged_queue *queue, struct delivery *delivery)
{
    const uint8_t *p = queue->buffer;
    struct read_request request = {0};

    delivery->subject.count = queue->length;
    delivery->subject.read = &request;
    (void)read_request_parse(&p, queue->buffer + READ_REQUEST_OCTETS, &request);
    /* With size 0, SrcSTag and SrcTO are not looked at (RFC 5040 5.2.1). */
    if (request.octets != 0)
        delivery->subject.region = iwarp_region_find(stream->device, request.source_stag);
    if (holds(stream, VALIDATE_READ_REQUEST, delivery, "a Read Request cannot be served"))
        deliver_queue_request(stream, &(struct inbound_request){.read = request}, &delivery->subject);
}

/* A good request takes its place after those that wait for their responses (RFC 5040 5.2.2, RFC 7306 5.2.2). */
void deliver_queue_request(struct iwarp_stream *stream, const struct inbound_request *request,
                           const struct validation_subject *subject)
{
    struct inbound_request *entry;

    if (SEAM_IF(stream, serve(stream, request, subject)))
        return;
    entry = ring_push(&stream->inbound.requests);
    if (entry == NULL) {
        stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC_STREAM, VALIDATION_TERMINATE,
                         "out of memory for a Read or Atomic Request");
        return;
    }
    *entry = *request;
    memcpy(entry->header, subject->segment->header, DDP_UNTAGGED_OCTETS);
    entry->segment_octets = (uint16_t)subject->segment_octets;
    stream->counters.requests_queued = (unsigned)stream->inbound.requests.count;
    if (stream->counters.requests_queued > stream->counters.requests_queued_max)
        stream->counters.requests_queued_max = stream->counters.requests_queued;
}

/*
 * The peer ends the stream: the ULP gets an event, nothing more is sent, and TCP closes in order (RFC 5040 5.4, 6.2.1).
 */
static void deliver_terminate(struct iwarp_stream *stream, const struct untagged_queue *queue)
{
    struct iwarp_event *event = stream_event(stream, IWARP_EVENT_TERMINATE_RECEIVED);

    stream->end.terminate_received = true;
    stream->end.error_seen = true;
    if (event != NULL) {
        event->header_octets = queue->length < sizeof(event->headers) ? queue->length : sizeof(event->headers);
        memcpy(event->headers, queue->buffer, event->header_octets);
        if (event->header_octets >= TERMINATE_OCTETS)
            event->triple = WIRE_ERROR_BIT | octets_get16(queue->buffer);
    }
    stream_event_done(stream, event);
    stream->end.dropping = SEAM_DECIDE(stream, DECIDE_TERMINATE_OBEYED, true);
    stream_flush(stream);
    stream->state = IWARP_STATE_TERMINATING;
    stream->end.close_wanted = true;
    stream->outbound.segments_allowed = false;
}

/* The message that begins takes its receive: one of the stream itself, else one that is shared. */
static void fetch_shared(struct iwarp_stream *stream)
{
    struct ring *shared = &stream->config.srq->receives;
    const struct srq_receive *oldest = ring_at(shared, 0);
    struct receive_work *receive;

    if (oldest == NULL || stream->inbound.receives.count != 0)
        return;
    receive = ring_push(&stream->inbound.receives);
    if (receive == NULL)
        return; /* as if there were none */
    *receive = (struct receive_work){.id = oldest->id, .buffer = oldest->buffer, .octets = oldest->octets};
    ring_pop(shared);
}

/* The message that the segment ends is complete. */
static void deliver_message(struct iwarp_stream *stream, struct untagged_queue *queue, struct delivery *delivery)
{
    switch (delivery->message.opcode) {
    case IWARP_RDMAP_READ_REQUEST: deliver_read_request(stream, queue, delivery); break;
    case IWARP_RDMAP_TERMINATE: deliver_terminate(stream, queue); break;
    case IWARP_RDMAP_ATOMIC_REQUEST: atomic_deliver_request(stream, queue->buffer, &delivery->subject); break;
    case IWARP_RDMAP_ATOMIC_RESPONSE: atomic_deliver_response(stream, queue->buffer, &delivery->subject); break;
    case IWARP_RDMAP_IMMEDIATE:
    case IWARP_RDMAP_IMMEDIATE_SE: deliver_send(stream, queue, delivery); break;
    default:
        if (rdmap_is_send(delivery->message.opcode))
            deliver_send(stream, queue, delivery);
        break;
    }
}

static void deliver_untagged(struct iwarp_stream *stream, struct delivery *delivery)
{
    const struct ddp_segment *segment = &delivery->segment;
    struct untagged_queue *queue;
    size_t end;

    if (segment->qn == DDP_QN_SEND && stream->config.srq != NULL &&
        segment->msn == stream->inbound.queues[DDP_QN_SEND].msn_expected)
        fetch_shared(stream);
    delivery->subject.buffer_octets = buffer_of(stream, segment);
    delivery->subject.msn_expected = segment->qn < DDP_QUEUES ? stream->inbound.queues[segment->qn].msn_expected : 0;
    if (SEAM_IF(stream, buffer(stream, &delivery->subject)))
        return;
    if (!holds(stream, VALIDATE_UNTAGGED, delivery, "an untagged segment cannot be placed") ||
        !holds(stream, VALIDATE_RDMAP, delivery, "an RDMA Message is not acceptable"))
        return;
    queue = &stream->inbound.queues[segment->qn];
    if (!queue->begun)
        queue->length = 0;
    queue->begun = true;
    end = place_payload(stream, delivery);
    if (end > queue->length)
        queue->length = end;
    if (!SEAM_DECIDE(stream, DECIDE_MESSAGE_ENDS, segment->last))
        return;
    delivery->subject.count = queue->length;
    if (stream->instruments.traced)
        instrument_record(stream, IWARP_TRACE_DELIVERED, segment, queue->length);
    if (!SEAM_IF(stream, message(stream, &delivery->subject, &delivery->message, queue)))
        deliver_message(stream, queue, delivery);
    queue->begun = false;
    queue->length = 0;
    queue->msn_expected = (uint32_t)SEAM_NUMBER(stream, NUMBER_MSN_EXPECTED, queue->msn_expected + 1);
}

void deliver_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    struct delivery delivery = {.subject = stream_subject(stream)};
    const uint8_t *p = octets;

    delivery.subject.segment_octets = count;
    delivery.subject.segment = &delivery.segment;
    delivery.subject.message = &delivery.message;
    (void)ddp_parse(&p, octets + count, &delivery.segment);
    SEAM(stream, segment(stream, &delivery.segment, octets, count));
    if (!holds(stream, VALIDATE_SEGMENT, &delivery, "a DDP Segment is not valid"))
        return;
    if (stream->agreed.ddp_alone) /* what the ULP's bits mean is the ULP's affair */
        delivery.segment.control = (uint8_t)(stream->agreed.terms.version << RDMAP_VERSION_SHIFT |
                                             (delivery.segment.tagged ? IWARP_RDMAP_WRITE : IWARP_RDMAP_SEND));
    (void)rdmap_parse(&delivery.segment, &delivery.message);
    if (delivery.segment.tagged)
        deliver_tagged(stream, &delivery);
    else
        deliver_untagged(stream, &delivery);
    stream->agreed.rtr_awaited = false;
}
