/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets that TCP holds after a gap (RFC 5044 6 and A.3): FPDUs are found among them and checked, and core/early.c
 * places their payload. TCP keeps the octets and brings them again in order, so nothing here is remembered, however
 * many gaps a peer leaves.
 */
#include "reference-stack/mpa/mpa.h"

enum { GAP_MAX = 1 << 30 }; /* the widest TCP window (RFC 7323 2.3) */

/*
 * Finds the first FPDU that a Marker among the octets points to (RFC 5044 6, item 2). Returns where it begins,
 * including a Marker before its ULPDU_Length; SIZE_MAX: there is none. *marker is the position of the Marker that
 * points to it.
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
    return stream->established && stream->outbound.segments_allowed && !stream->agreed.rtr_awaited &&
           !stream->end.dropping && !stream->end.fin_received;
}

static void early_octets(struct iwarp_stream *stream, size_t gap, const uint8_t *octets, size_t count, bool boundary)
{
    const struct mpa *mpa = mpa_of(stream);
    uint32_t position = mpa->receive_position + (uint32_t)mpa->receive_count + (uint32_t)gap;
    size_t marker = 0;
    size_t at = 0;

    if (!is_open(stream) || gap == 0 || gap > GAP_MAX || !MPA_DECIDE(stream, MPA_EARLY, true) ||
        !receive_scratch(stream))
        return;
    if (!MPA_DECIDE(stream, MPA_EARLY_BEGIN, boundary)) {
        /* Without CRCs, any octets may look like a Marker that points to an FPDU. */
        if (!mpa->receive_markers || !mpa->crc)
            return;
        at = find_fpdu(octets, count, position, &marker);
    }
    /* From there on the FPDUs follow one another (item 3). */
    while (at < count) {
        struct fpdu_framing framing = {mpa->receive_markers, mpa->crc, position + (uint32_t)at};
        const uint8_t *p = octets + at;
        struct fpdu fpdu;

        if (fpdu_parse(&p, octets + count, &framing, mpa->scratch, &fpdu) != WIRE_OK)
            return;
        if (at + fpdu.octets <= marker)
            return; /* the Marker does not lie in the FPDU that it points to */
        marker = 0;
        mpa_trace(stream, &fpdu, framing.position, true);
        early_ulpdu(stream, fpdu.ulpdu, fpdu.ulpdu_length);
        if (MPA_SEAM_VALUE(stream, 0, fpdu_received(stream, FPDU_EARLY, &fpdu, count - at)) != 0)
            return;
        at += fpdu.octets;
    }
}

void iwarp_stream_input_early(struct iwarp_stream *stream, size_t gap, const uint8_t *octets, size_t count,
                              bool boundary, uint64_t now)
{
    if (stream == NULL || octets == NULL || stream->llp != &mpa_llp)
        return;
    stream->now = now;
    early_octets(stream, gap, octets, count, boundary);
    stream_progress(stream);
}
