/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects of order: messages that go up while earlier octets are still missing (RFC 5041 4.1, 5.4). */
#include "reference-stack/defects/defect_stream.h"

/* A sink with one of these takes the beginning of a TCP segment for that of an FPDU, and so needs no Markers. */
bool defect_early_boundary(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_EARLY_DELIVERED) || defect_behaves(set, DEFECT_EARLY_UNTAGGED_ORDER) ||
           defect_behaves(set, DEFECT_EARLY_QUEUE_ORDER) || defect_behaves(set, DEFECT_EARLY_READ_DONE);
}

/* `receive` has got a segment ahead of its turn: the message goes up, and comes not again. */
void defect_early_send(struct iwarp_stream *stream, const struct validation_subject *subject,
                       struct receive_work *receive)
{
    const struct ddp_segment *segment = subject->segment;
    bool due = segment->msn == stream->queues[DDP_QN_SEND].msn_expected;
    struct iwarp_event *event;

    receive->placed += segment->payload_octets;
    if (!segment->last || receive->delivered || receive->placed != segment->mo + segment->payload_octets ||
        !(stream_behaves(stream, DEFECT_EARLY_DELIVERED) ||
          (due && stream_behaves(stream, DEFECT_EARLY_UNTAGGED_ORDER))))
        return;
    event = stream_event(stream, IWARP_EVENT_RECEIVE);
    if (event == NULL)
        return;
    receive->delivered = true;
    event->id = receive->id;
    event->buffer = receive->buffer;
    event->octets = receive->placed;
    event->opcode = subject->message->opcode;
}

/* Where the next FPDU ahead of a gap would begin, were there no Markers in the one before: what is no FPDU is an error. */
void defect_early_chain(struct iwarp_stream *stream, const uint8_t *octets, const uint8_t *end)
{
    struct fpdu_framing framing = {false, true, 0};
    const uint8_t *p = octets;
    struct fpdu fpdu;

    if (fpdu_parse(&p, end, &framing, NULL, &fpdu) != WIRE_OK)
        stream_fail_with(stream, "MPA-6-05", TERM_MPA_CRC, VALIDATION_TERMINATE, "an FPDU ahead of a gap is not valid");
}

/* A Read Request whose MSN is due on its own queue is served, whatever other queues wait for; and not again. */
void defect_early_read(struct iwarp_stream *stream, const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    const uint8_t *p = segment->payload;
    struct served_read served = {0};

    if (!stream_behaves(stream, DEFECT_EARLY_QUEUE_ORDER) || stream->defect_state.early_read != 0 ||
        segment->msn != stream->queues[DDP_QN_READ_REQUEST].msn_expected ||
        segment->payload_octets != READ_REQUEST_OCTETS || subject->message->opcode != RDMAP_READ_REQUEST)
        return;
    (void)read_request_parse(&p, p + READ_REQUEST_OCTETS, &served.request);
    if (served.request.octets != 0)
        return; /* a Read of size 0 is enough to show it */
    stream->defect_state.early_read = segment->msn;
    deliver_served(stream, &served, subject);
}

void defect_read_placed(struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    for (size_t i = 0; i < stream->work_sent && stream_behaves(stream, DEFECT_EARLY_READ_DONE); i++) {
        struct send_work *work = ring_at(&stream->work, i);

        if (work->kind == IWARP_WORK_READ && work->sink_stag == segment->stag &&
            segment->to - work->sink_to < work->count)
            stream_completed(stream, work); /* and not again, when it comes in order */
    }
}
