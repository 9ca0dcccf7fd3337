/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ULPDUs that come before their turn (RFC 5041 5.3): they are checked, and their payload is placed. That is all. The
 * layer below brings them again in order; only then are they counted, judged and delivered, by the code that sees all
 * the others. So nothing here is remembered; an early segment that is wrong is passed over, and its error comes up when
 * its turn comes, after the messages before it; and what was placed early is placed again in order, so that the last
 * octets on a place are those that the peer sent last.
 */
#include <string.h>

#include "reference-stack/core/stream_internal.h"

/* One ULPDU, and whose message it belongs to. */
struct early {
    struct validation_subject subject;
    struct ddp_segment segment;
    struct rdmap_message message;
};

static bool holds(const struct early *early, enum validation_stage stage)
{
    struct validation_outcome outcome;

    return stream_judge(stage, &early->subject, &outcome);
}

static void placed(struct iwarp_stream *stream, uint8_t *place, const struct ddp_segment *segment)
{
    if (place != NULL)
        memcpy(place, segment->payload, segment->payload_octets);
    stream->counters.segments_early++;
}

/* Is it the answer to a Read that waits for one? Which Read it answers is decided when it arrives in order. */
static bool answers(const struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    for (size_t i = 0; i < stream->outbound.work_sent; i++) {
        const struct send_work *work = ring_at(&stream->outbound.work, i);
        uint64_t offset = segment->to - work->sink_to;

        if (work->kind == IWARP_WORK_READ && !work->done && work->sink_stag == segment->stag && offset < work->count &&
            segment->payload_octets <= work->count - offset)
            return true;
    }
    return false;
}

static void place_tagged(struct iwarp_stream *stream, struct early *early)
{
    const struct ddp_segment *segment = &early->segment;
    const struct iwarp_region *region = iwarp_region_find(stream->device, segment->stag);
    uint64_t offset;

    early->subject.region = region;
    if (segment->payload_octets == 0 || region == NULL || !holds(early, VALIDATE_TAGGED) ||
        !holds(early, VALIDATE_RDMAP) ||
        (early->message.opcode == IWARP_RDMAP_READ_RESPONSE && !answers(stream, segment)))
        return;
    offset = segment->to - region->base;
    if (offset <= region->length && segment->payload_octets <= region->length - offset)
        placed(stream, region->octets + offset, segment);
    SEAM(stream, early(stream, &early->subject, NULL, true));
}

/*
 * A Send or Immediate Data: its MSN says how many receives lie before its own. Other queues are the stream's own
 * memory, which nobody can look into: their messages wait.
 */
static void place_untagged(struct iwarp_stream *stream, struct early *early)
{
    const struct ddp_segment *segment = &early->segment;
    struct receive_work *receive;

    if (segment->qn != DDP_QN_SEND) {
        SEAM(stream, early(stream, &early->subject, NULL, true));
        return;
    }
    receive = ring_at(&stream->inbound.receives, segment->msn - stream->inbound.queues[DDP_QN_SEND].msn_expected);
    if (receive == NULL || segment->mo > receive->octets || segment->payload_octets > receive->octets - segment->mo)
        return;
    early->subject.buffer_octets = receive->octets;
    if (!holds(early, VALIDATE_RDMAP))
        return;
    if (receive->list != NULL)
        span_list_write(receive->list, segment->mo, segment->payload, segment->payload_octets);
    if (segment->payload_octets != 0)
        placed(stream, receive->list != NULL ? NULL : receive->buffer + segment->mo, segment);
    SEAM(stream, early(stream, &early->subject, receive, true));
}

void early_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    struct early early = {.subject = stream_subject(stream)};
    const uint8_t *p = octets;

    early.subject.segment_octets = count;
    early.subject.segment = &early.segment;
    early.subject.message = &early.message;
    (void)ddp_parse(&p, octets + count, &early.segment);
    if (!holds(&early, VALIDATE_SEGMENT))
        return;
    (void)rdmap_parse(&early.segment, &early.message);
    if (SEAM_IF(stream, early(stream, &early.subject, NULL, false)))
        return;
    if (early.segment.tagged)
        place_tagged(stream, &early);
    else
        place_untagged(stream, &early);
}
