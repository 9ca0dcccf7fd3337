/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets that TCP holds ahead of a gap (RFC 5044 6 and A.3, RFC 5041 5.3): FPDUs are found among them, checked, and
 * their payload is placed. That is all. TCP keeps the octets and brings them again in order; only then are they counted,
 * judged and delivered, by the code that sees all the others. So nothing here is remembered, however many gaps a peer
 * leaves; an early segment that is wrong is passed over, and its error comes up when its turn comes, after the messages
 * before it; and what was placed early is placed again in order, so that the last octets on a place are those that the
 * peer sent last.
 */
#include <string.h>

#include "reference-stack/mpa/mpa.h"
#include "reference-stack/defects/defect_stream.h"

enum { GAP_MAX = 1 << 30 }; /* the widest TCP window (RFC 7323 2.3) */

/* One ULPDU, and whose message it belongs to. */
struct early {
    struct validation_subject subject;
    struct ddp_segment segment;
    struct rdmap_message message;
};

static bool holds(const struct early *early, enum validation_stage stage)
{
    struct validation_outcome outcome;

    return validation_run(stage, &early->subject, &outcome);
}

static void placed(struct iwarp_stream *stream, uint8_t *place, const struct ddp_segment *segment)
{
    memcpy(place, segment->payload, segment->payload_octets);
    stream->counters.segments_early++;
}

/* A Read Response goes to the sink of some Read that waits for one; which, shows when it comes in order. */
static bool answers(const struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    for (size_t i = 0; i < stream->work_sent; i++) {
        const struct send_work *work = ring_at(&stream->work, i);
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
        !holds(early, VALIDATE_RDMAP) || (early->message.opcode == RDMAP_READ_RESPONSE && !answers(stream, segment)))
        return;
    offset = segment->to - region->base;
    if (offset <= region->length && segment->payload_octets <= region->length - offset)
        placed(stream, region->octets + offset, segment);
    if (stream->defects != NULL && segment->last && early->message.opcode == RDMAP_READ_RESPONSE)
        defect_read_placed(stream, segment);
}

/*
 * A Send or Immediate Data: its MSN says how many receives lie before its own. Other queues are the stream's own memory,
 * which nobody can look into: their messages wait.
 */
static void place_untagged(struct iwarp_stream *stream, struct early *early)
{
    const struct ddp_segment *segment = &early->segment;
    struct receive_work *receive;

    if (segment->qn == DDP_QN_READ_REQUEST && stream->defects != NULL)
        defect_early_read(stream, &early->subject);
    if (segment->qn != DDP_QN_SEND)
        return;
    receive = ring_at(&stream->receives, segment->msn - stream->queues[DDP_QN_SEND].msn_expected);
    if (receive == NULL || segment->mo > receive->octets || segment->payload_octets > receive->octets - segment->mo)
        return;
    early->subject.buffer_octets = receive->octets;
    if (!holds(early, VALIDATE_RDMAP))
        return;
    if (segment->payload_octets != 0)
        placed(stream, receive->buffer + segment->mo, segment);
    if (stream->defects != NULL)
        defect_early_send(stream, &early->subject, receive);
}

static void early_ulpdu(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    struct early early = {.subject = {.stream = stream, .fpdu = fpdu, .buffer_octets = UINT64_MAX}};
    const uint8_t *p = fpdu->ulpdu;

    early.subject.segment = &early.segment;
    early.subject.message = &early.message;
    (void)ddp_parse(&p, fpdu->ulpdu + fpdu->ulpdu_length, &early.segment);
    if (!holds(&early, VALIDATE_SEGMENT) || early.segment.header == NULL)
        return;
    (void)rdmap_parse(&early.segment, &early.message);
    if (early.segment.tagged)
        place_tagged(stream, &early);
    else
        place_untagged(stream, &early);
}

/*
 * The first FPDU that a Marker among the octets points to, SIZE_MAX when there is none (RFC 5044 6, item 2): where it
 * begins, a Marker ahead of its ULPDU_Length included. *marker is told where that Marker stands.
 */
static size_t find_fpdu(const uint8_t *octets, size_t count, uint32_t position, size_t *marker)
{
    for (size_t at = marker_distance(position); at + MARKER_OCTETS <= count; at += MARKER_SPACING) {
        size_t pointer = marker_get_FPDUPTR(octets + at) & 0xFFFC;
        size_t start = at - pointer;

        if (pointer > at)
            continue; /* the FPDU begins in the gap */
        *marker = at;
        if (pointer == 0 || marker_distance(position + (uint32_t)start - MARKER_OCTETS) != 0)
            return start;
        if (start >= MARKER_OCTETS)
            return start - MARKER_OCTETS;
    }
    return SIZE_MAX;
}

/* May a segment be placed before its turn? A responder's first FPDU has to come in order (RFC 5044 7.1.2). */
static bool is_open(const struct iwarp_stream *stream)
{
    if (stream_behaves(stream, DEFECT_EARLY_KEPT))
        return false;
    return stream->established && stream->gate && !stream->rtr_awaited && !stream->dropping && !stream->fin_received;
}

void early_octets(struct iwarp_stream *stream, size_t gap, const uint8_t *octets, size_t count, bool boundary)
{
    uint32_t position = mpa_of(stream)->receive_position + (uint32_t)mpa_of(stream)->receive_count + (uint32_t)gap;
    size_t marker = 0;
    size_t at = 0;

    if (!is_open(stream) || gap == 0 || gap > GAP_MAX || !receive_scratch(stream))
        return;
    if (!boundary && !(stream->defects != NULL && defect_early_boundary(stream->defects))) {
        /* A Marker is to be believed in an FPDU with a good CRC only. */
        if (!mpa_of(stream)->receive_markers || !mpa_of(stream)->crc)
            return;
        at = find_fpdu(octets, count, position, &marker);
    }
    /* From there on the FPDUs follow one another (item 3). */
    while (at < count) {
        struct fpdu_framing framing = {mpa_of(stream)->receive_markers, mpa_of(stream)->crc, position + (uint32_t)at};
        const uint8_t *p = octets + at;
        struct fpdu fpdu;

        if (fpdu_parse(&p, octets + count, &framing, mpa_of(stream)->scratch, &fpdu) != WIRE_OK)
            return;
        at += fpdu.octets;
        if (at <= marker)
            return; /* the Marker does not lie in the FPDU that it points to */
        marker = 0;
        stream_trace(stream, &fpdu, framing.position, true);
        early_ulpdu(stream, &fpdu);
        if (stream_behaves(stream, DEFECT_EARLY_CHAIN) && fpdu.markers != 0) {
            defect_early_chain(stream, octets + at - fpdu.markers * MARKER_OCTETS, octets + count);
            return;
        }
    }
}
