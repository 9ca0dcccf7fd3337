/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects of order: messages that go up while earlier octets are still missing (RFC 5041 4.1, 5.4). */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"

struct defect_early *defect_early_of(const struct iwarp_stream *stream, uint32_t msn)
{
    struct defect_early *early = &stream_state(stream)->early[msn % DEFECT_EARLY_MAX];

    return early->msn == msn && msn != 0 ? early : NULL;
}

/* `receive` has got a segment before its turn: the message goes up, and comes not again. */
static void early_send(struct iwarp_stream *stream, const struct validation_subject *subject,
                       const struct receive_work *receive)
{
    const struct ddp_segment *segment = subject->segment;
    struct defect_early *early = &stream_state(stream)->early[segment->msn % DEFECT_EARLY_MAX];
    bool due = segment->msn == stream->inbound.queues[DDP_QN_SEND].msn_expected;
    struct iwarp_event *event;

    if (early->msn != segment->msn)
        *early = (struct defect_early){.msn = segment->msn};
    early->placed += segment->payload_octets;
    if (!segment->last || early->delivered || early->placed != segment->mo + segment->payload_octets ||
        !(stream_behaves(stream, DEFECT_EARLY_DELIVERED) ||
          (due && stream_behaves(stream, DEFECT_EARLY_UNTAGGED_ORDER))))
        return;
    event = stream_event(stream, IWARP_EVENT_RECEIVE);
    if (event == NULL)
        return;
    early->delivered = true;
    event->id = receive->id;
    event->buffer = receive->buffer;
    event->octets = early->placed;
    event->opcode = subject->message->opcode;
}

/* Serves a Read Request if its MSN is due on its own queue, even if other queues have a gap. It is served once. */
static void early_read(struct iwarp_stream *stream, const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    const uint8_t *p = segment->payload;
    struct inbound_request request = {0};

    if (!stream_behaves(stream, DEFECT_EARLY_QUEUE_ORDER) || stream_state(stream)->early_read != 0 ||
        segment->msn != stream->inbound.queues[DDP_QN_READ_REQUEST].msn_expected ||
        segment->payload_octets != READ_REQUEST_OCTETS || subject->message->opcode != IWARP_RDMAP_READ_REQUEST)
        return;
    (void)read_request_parse(&p, p + READ_REQUEST_OCTETS, &request.read);
    if (request.read.octets != 0)
        return; /* a Read of size 0 is enough to show it */
    stream_state(stream)->early_read = segment->msn;
    deliver_queue_request(stream, &request, subject);
}

/* The end of a Read Response was placed: its Read completes. */
static void early_response(struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    for (size_t i = 0; i < stream->outbound.work_sent && stream_behaves(stream, DEFECT_EARLY_READ_DONE); i++) {
        struct send_work *work = ring_at(&stream->outbound.work, i);

        if (work->kind == IWARP_WORK_READ && work->sink_stag == segment->stag &&
            segment->to - work->sink_to < work->count)
            stream_completed(stream, work); /* and not again, when it comes in order */
    }
}

/*
 * A Send longer than its receive is placed up to the first octet beyond: the peer's receives have guard octets there.
 */
static bool early_beyond(struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    const struct receive_work *receive =
        ring_at(&stream->inbound.receives, segment->msn - stream->inbound.queues[DDP_QN_SEND].msn_expected);

    if (receive == NULL || receive->buffer == NULL || segment->mo > receive->octets ||
        segment->payload_octets <= receive->octets - segment->mo)
        return false;
    memcpy(receive->buffer + segment->mo, segment->payload, receive->octets - segment->mo + 1);
    return true;
}

static bool early_unchecked(const struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    const struct iwarp_region *region = iwarp_region_find(stream->device, segment->stag);
    uint64_t offset;

    if (region == NULL)
        return false;
    offset = segment->to - region->base;
    if (offset > region->length || segment->payload_octets > region->length - offset)
        return false;
    memcpy(region->octets + offset, segment->payload, segment->payload_octets);
    return true;
}

/* Before it is judged. */
static bool early_found(struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    if (stream_behaves(stream, DEFECT_SCTP_EARLY_KEPT))
        return true;
    if (segment->tagged)
        return stream_behaves(stream, DEFECT_EARLY_UNCHECKED) && early_unchecked(stream, segment);
    return segment->qn == DDP_QN_SEND && stream_behaves(stream, DEFECT_EARLY_BEYOND) && early_beyond(stream, segment);
}

bool seam_early(struct iwarp_stream *stream, const struct validation_subject *subject, struct receive_work *receive,
                bool placed)
{
    const struct ddp_segment *segment = subject->segment;

    if (!placed)
        return early_found(stream, segment);
    /* The peer's receives have guard octets in front (peer_work_new()). */
    if (receive != NULL && receive->buffer != NULL && segment->mo == 0 && segment->payload_octets != 0 &&
        stream_behaves(stream, DEFECT_EARLY_IN_FRONT))
        receive->buffer[-1] = segment->payload[0];
    if (receive != NULL)
        early_send(stream, subject, receive);
    else if (segment->tagged && segment->last && subject->message->opcode == IWARP_RDMAP_READ_RESPONSE)
        early_response(stream, segment);
    else if (!segment->tagged && segment->qn == DDP_QN_READ_REQUEST)
        early_read(stream, subject);
    return false;
}
