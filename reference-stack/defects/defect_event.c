/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of reports to the ULP: events that are wrong, missing or in the wrong order, and values of instruments. */
#include <string.h>

#include "iwarp/instrument.h"
#include "reference-stack/defects/defect_stream.h"

static bool untold(const struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    static const struct {
        enum iwarp_event_kind kind;
        enum defect_behaviour behaviour;
    } rows[] = {
        {IWARP_EVENT_ERROR, DEFECT_ERROR_UNTOLD},
        {IWARP_EVENT_CLOSED, DEFECT_CLOSED_UNTOLD},
        {IWARP_EVENT_TERMINATE_RECEIVED, DEFECT_TERMINATE_UNTOLD},
        {IWARP_EVENT_WRITE_DONE, DEFECT_WRITE_DONE_UNTOLD},
        {IWARP_EVENT_IMMEDIATE_DONE, DEFECT_IMMEDIATE_DONE_UNTOLD},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].kind == kind && stream_behaves(stream, rows[i].behaviour))
            return true;
    return !stream->established && (kind == IWARP_EVENT_ERROR || kind == IWARP_EVENT_CLOSED) &&
           stream_behaves(stream, DEFECT_EVENT_END_UNTOLD);
}

/* An event that has the peer's start-up frame, and what was agreed. */
static void start_event(const struct iwarp_stream *stream, struct iwarp_event *event)
{
    struct iwarp_mpa_start *start = &event->start;

    state_sctp_reported(stream, start);
    state_stream_reported(stream, start);
    if (stream_behaves(stream, DEFECT_EVENT_REVISION_0))
        start->revision = 0;
    if (stream_behaves(stream, DEFECT_PRIVATE_256) && start->private_octets > 256)
        start->private_octets = 256;
    if (stream_behaves(stream, DEFECT_PRIVATE_STRING) && start->private_octets != 0)
        start->private_octets = (uint16_t)strnlen((const char *)start->private_data, start->private_octets);
    if (stream_behaves(stream, DEFECT_EVENT_OWN_DEPTHS)) {
        start->ird = stream->agreed.ird;
        start->ord = stream->agreed.ord;
    }
    if (stream_behaves(stream, DEFECT_EVENT_VERSION_1))
        event->version = DDP_VERSION;
}

/* A Send or Immediate Data: `segment` is its last one. */
static void receive_event(struct iwarp_stream *stream, struct iwarp_event *event)
{
    const struct ddp_segment *segment = &stream_state(stream)->segment;
    bool immediate = !rdmap_is_send(event->opcode);

    if (immediate && event->buffer != NULL && stream_behaves(stream, DEFECT_IMMEDIATE_UNBUFFERED)) {
        /* The octets go up in memory of the stream's own, and the receive stays where it is. */
        struct untagged_queue *queue = &stream->inbound.queues[DDP_QN_SEND];

        memcpy(queue->buffer, event->buffer,
               event->octets < sizeof(queue->buffer) ? event->octets : sizeof(queue->buffer));
        event->id = 0;
        event->buffer = queue->buffer;
    }
    if (stream_behaves(stream, DEFECT_MESSAGE_LENGTH_LAST))
        event->octets = segment->payload_octets;
    if (immediate && stream_behaves(stream, DEFECT_IMMEDIATE_SOLICITED))
        event->solicited = event->opcode == IWARP_RDMAP_IMMEDIATE;
    if (immediate && stream->config.extensions == IWARP_EXTENSIONS_RFC7306 &&
        stream_behaves(stream, DEFECT_IMMEDIATE_EVENTS_ALL))
        event->solicited = true;
    if (stream_behaves(stream, DEFECT_INVALIDATED_UNTOLD))
        event->invalidated = false;
    if (event->opcode == IWARP_RDMAP_SEND_SE_INVALIDATE && stream_behaves(stream, DEFECT_SE_INVALIDATE_UNSOLICITED))
        event->solicited = false;
    if ((event->octets == 0 && stream_behaves(stream, DEFECT_SE_EMPTY_UNSOLICITED)) ||
        (segment->mo != 0 && stream_behaves(stream, DEFECT_SE_LONG_UNSOLICITED)))
        event->solicited = false;
    if (stream_behaves(stream, DEFECT_SOLICITED_ALWAYS))
        event->solicited = true;
    if (stream_behaves(stream, DEFECT_DELIVERIES_SWAPPED))
        events_swap(stream, IWARP_EVENT_RECEIVE);
    if (immediate && stream_behaves(stream, DEFECT_IMMEDIATE_OVERTAKES))
        events_swap(stream, IWARP_EVENT_RECEIVE);
}

bool defect_receive_used(const struct iwarp_stream *stream)
{
    return rdmap_is_send(stream_state(stream)->segment.control & 0xF) ||
           !stream_behaves(stream, DEFECT_IMMEDIATE_UNBUFFERED);
}

void seam_event(struct iwarp_stream *stream, struct iwarp_event *event)
{
    bool kept = !untold(stream, event->kind);

    switch (event->kind) {
    case IWARP_EVENT_ERROR:
        if (stream_behaves(stream, DEFECT_ERROR_WITHOUT_NUMBERS))
            event->triple = WIRE_OK;
        break;
    case IWARP_EVENT_RECEIVE: receive_event(stream, event); break;
    case IWARP_EVENT_READ_DONE:
        if (stream_behaves(stream, DEFECT_READS_DONE_SWAPPED))
            events_swap(stream, IWARP_EVENT_READ_DONE);
        break;
    case IWARP_EVENT_ATOMIC_DONE:
        if (stream_behaves(stream, DEFECT_ATOMIC_VALUE_LOST))
            event->value = 0;
        break;
    case IWARP_EVENT_ULPDU:
        if (stream_behaves(stream, DEFECT_ORDER_ARRIVAL))
            event->value = stream_state(stream)->arrivals++;
        break;
    case IWARP_EVENT_TERMINATE_RECEIVED:
        if (stream_behaves(stream, DEFECT_TERMINATED_ABORTS))
            stream->end.abort_wanted = true;
        break;
    case IWARP_EVENT_REJECTED:
    case IWARP_EVENT_REJECT_SENT:
        defect_rejected(stream);
        start_event(stream, event);
        break;
    case IWARP_EVENT_ESTABLISHED:
        state_stream_established(stream);
        start_event(stream, event);
        break;
    case IWARP_EVENT_CONNECT_REQUEST:
        start_event(stream, event);
        state_stream_asked(stream, &event->start);
        break;
    default: break;
    }
    state_message_event(stream, event);
    if (!kept)
        event_drop(stream);
}

bool defect_event_now(const struct iwarp_stream *stream)
{
    const struct iwarp_event *oldest = ring_at(&stream->events, 0);

    return oldest->kind != IWARP_EVENT_RECEIVE || stream->events.count != 1 ||
           !stream_behaves(stream, DEFECT_DELIVERY_HELD);
}
