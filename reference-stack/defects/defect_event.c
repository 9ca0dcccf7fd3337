/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults in what the ULP is told: events that are wrong, missing or in the wrong order, and what instruments show. */
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
    struct mpa_start *start = &event->start;

    if (stream_behaves(stream, DEFECT_EVENT_REVISION_0))
        start->revision = 0;
    if (stream_behaves(stream, DEFECT_PRIVATE_256) && start->private_octets > 256)
        start->private_octets = 256;
    if (stream_behaves(stream, DEFECT_PRIVATE_STRING) && start->private_octets != 0)
        start->private_octets = (uint16_t)strnlen((const char *)start->private_data, start->private_octets);
    if (stream_behaves(stream, DEFECT_EVENT_OWN_DEPTHS)) {
        start->ird = stream->ird;
        start->ord = stream->ord;
    }
    if (stream_behaves(stream, DEFECT_EVENT_VERSION_1))
        event->version = DDP_VERSION;
}

void hook_event(struct iwarp_stream *stream, struct iwarp_event *event)
{
    if (untold(stream, event->kind)) {
        event_drop(stream);
        return;
    }
    switch (event->kind) {
    case IWARP_EVENT_ERROR:
        if (stream_behaves(stream, DEFECT_ERROR_WITHOUT_NUMBERS))
            event->triple = WIRE_OK;
        break;
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
    case IWARP_EVENT_CONNECT_REQUEST:
    case IWARP_EVENT_ESTABLISHED:
    case IWARP_EVENT_REJECTED:
    case IWARP_EVENT_REJECT_SENT: start_event(stream, event); break;
    default: break;
    }
}

bool hook_event_held(const struct iwarp_stream *stream, const struct iwarp_event *oldest)
{
    return oldest->kind == IWARP_EVENT_RECEIVE && stream->events.count == 1 &&
           stream_behaves(stream, DEFECT_DELIVERY_HELD);
}

bool hook_receive_event(struct iwarp_stream *stream, const struct validation_subject *subject,
                        struct iwarp_event *event)
{
    uint8_t opcode = subject->message->opcode;
    bool kept = !rdmap_is_send(opcode) && stream_behaves(stream, DEFECT_IMMEDIATE_UNBUFFERED);

    if (kept) {
        /* The octets go up in memory of the stream's own, and the receive stays where it is. */
        struct untagged_queue *queue = &stream->queues[DDP_QN_SEND];

        memcpy(queue->buffer, event->buffer,
               event->octets < sizeof(queue->buffer) ? event->octets : sizeof(queue->buffer));
        event->id = 0;
        event->buffer = queue->buffer;
    }
    if (stream_behaves(stream, DEFECT_MESSAGE_LENGTH_LAST))
        event->octets = subject->segment->payload_octets;
    if (stream_behaves(stream, DEFECT_IMMEDIATE_SOLICITED) && !rdmap_is_send(opcode))
        event->solicited = opcode == RDMAP_IMMEDIATE;
    if (!rdmap_is_send(opcode) && stream->config.extensions == IWARP_EXTENSIONS_RFC7306 &&
        stream_behaves(stream, DEFECT_IMMEDIATE_EVENTS_ALL))
        event->solicited = true;
    if (stream_behaves(stream, DEFECT_INVALIDATED_UNTOLD))
        event->invalidated = false;
    if (opcode == RDMAP_SEND_SE_INVALIDATE && stream_behaves(stream, DEFECT_SE_INVALIDATE_UNSOLICITED))
        event->solicited = false;
    if ((event->octets == 0 && stream_behaves(stream, DEFECT_SE_EMPTY_UNSOLICITED)) ||
        (subject->segment->mo != 0 && stream_behaves(stream, DEFECT_SE_LONG_UNSOLICITED)))
        event->solicited = false;
    if (stream_behaves(stream, DEFECT_SOLICITED_ALWAYS))
        event->solicited = true;
    if (stream_behaves(stream, DEFECT_DELIVERIES_SWAPPED))
        events_swap(stream, IWARP_EVENT_RECEIVE);
    if (!rdmap_is_send(opcode) && stream_behaves(stream, DEFECT_IMMEDIATE_OVERTAKES))
        events_swap(stream, IWARP_EVENT_RECEIVE);
    return kept;
}

/* --- Instruments ------------------------------------------------------------------------------------------------- */

void hook_ddp_state(const struct iwarp_stream *stream, struct iwarp_ddp_state *state)
{
    bool graceful = stream->fin_received || stream->close_wanted;

    if (stream_behaves(stream, DEFECT_ERROR_UNLABELLED))
        state->llp = graceful ? IWARP_LLP_GRACEFUL : IWARP_LLP_OK;
    if (stream_behaves(stream, DEFECT_FAULT_UNCOUNTED))
        state->system_faults = 0;
}

void hook_trace(const struct iwarp_stream *stream, struct iwarp_trace *record)
{
    if (record->tagged && record->kind == IWARP_TRACE_DELIVERED && stream_behaves(stream, DEFECT_STAG_UNTOLD))
        record->stag = 0;
}
