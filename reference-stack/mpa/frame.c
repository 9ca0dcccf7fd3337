/* SPDX-License-Identifier: BSD-2-Clause */
/* From headers and payload to the octets of one start-up frame or FPDU. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/mpa/mpa.h"
#include "reference-stack/defects/defect_stream.h"
#include "wire/crc32c.h"
#include "wire/marker.h"

static int reserve(uint8_t **buffer, size_t *room, size_t octets)
{
    uint8_t *bigger;

    if (*room >= octets)
        return 0;
    bigger = realloc(*buffer, octets);
    if (bigger == NULL)
        return -1;
    *buffer = bigger;
    *room = octets;
    return 0;
}

static void piece_of(struct iwarp_stream *stream, size_t octets, bool fpdu)
{
    struct transmit_piece *piece = &stream->piece;

    memset(piece, 0, sizeof(*piece));
    piece->spans[0] = (struct iwarp_span){stream->transmit_buffer, octets};
    piece->span_count = 1;
    piece->octets = octets;
    piece->fpdu = fpdu;
}

/*
 * What is flushed is the ULP's again, who may do away with it: of a piece that TCP has begun to take, the payload is
 * copied. Without memory for that it cannot be finished.
 */
void frame_keep(struct iwarp_stream *stream)
{
    struct transmit_piece *piece = &stream->piece;
    struct iwarp_span *payload = &piece->spans[TRANSMIT_PAYLOAD];

    if (!piece->ulp_memory || piece->response || piece->octets == 0)
        return;
    if (reserve(&stream->transmit_buffer, &stream->transmit_room, payload->count) != 0) {
        stream_piece_drop(stream);
        stream->abort_wanted = true;
        return;
    }
    memcpy(stream->transmit_buffer, payload->octets, payload->count);
    payload->octets = stream->transmit_buffer;
    piece->ulp_memory = false;
}

int frame_start(struct iwarp_stream *stream, const struct mpa_start *start, struct sentence *sentence)
{
    size_t octets;

    if (reserve(&stream->transmit_buffer, &stream->transmit_room, MPA_START_MAX + HOOK_ROOM) != 0)
        return sentence_set(sentence, "stream: out of memory");
    octets = mpa_start_pack(start, stream->transmit_buffer, MPA_START_MAX);
    if (octets == 0)
        return sentence_set(sentence, "stream: the start-up frame does not hold %u octets of Private Data",
                            start->private_octets);
    if (stream->defects != NULL)
        octets = defect_start_frame(stream->defects, &stream->defect_state, start, stream->transmit_buffer, octets);
    if (stream_behaves(stream, DEFECT_START_STRAY_OCTET))
        stream->transmit_buffer[octets++] = 0;
    if (stream_behaves(stream, DEFECT_MARKER_WITH_REPLY) && start->kind == MPA_REPLY && mpa_of(stream)->peer.markers) {
        memset(stream->transmit_buffer + octets, 0, MARKER_OCTETS);
        octets += MARKER_OCTETS;
        mpa_of(stream)->transmit_position = MARKER_OCTETS;
    }
    piece_of(stream, octets, false);
    return 0;
}

/* The beginning of an FPDU, whose rest never comes: only as a defect. */
void frame_fragment(struct iwarp_stream *stream)
{
    static const uint8_t fragment[] = {0, 20, 0x41, 0x43, 0, 0};

    if (stream->piece.octets != 0 ||
        reserve(&stream->transmit_buffer, &stream->transmit_room, MPA_START_MAX + HOOK_ROOM) != 0)
        return;
    memcpy(stream->transmit_buffer, fragment, sizeof(fragment));
    piece_of(stream, sizeof(fragment), false);
}

/*
 * The usual case, without copying the payload: length and headers | payload | pad and CRC.
 */
static void frame_spans(struct iwarp_stream *stream, size_t header_octets, const struct ddp_segment *segment)
{
    struct transmit_piece *piece = &stream->piece;
    size_t ulpdu = header_octets + segment->payload_octets;
    size_t pad = fpdu_pad(ulpdu);
    uint32_t crc = CRC32C_START;

    memset(piece, 0, sizeof(*piece));
    octets_put16(stream->headers, (uint16_t)ulpdu);
    piece->spans[piece->span_count++] = (struct iwarp_span){stream->headers, FPDU_LENGTH_OCTETS + header_octets};
    if (segment->payload_octets != 0)
        piece->spans[piece->span_count++] = (struct iwarp_span){segment->payload, segment->payload_octets};
    memset(mpa_of(stream)->trailer, 0, sizeof(mpa_of(stream)->trailer));
    if (mpa_of(stream)->crc) {
        for (size_t i = 0; i < piece->span_count; i++)
            crc = crc32c_update(crc, piece->spans[i].octets, piece->spans[i].count);
        crc = crc32c_update(crc, mpa_of(stream)->trailer, pad);
        octets_put32_little(mpa_of(stream)->trailer + pad, crc32c_value(crc));
    }
    piece->spans[piece->span_count++] = (struct iwarp_span){mpa_of(stream)->trailer, pad + FPDU_CRC_OCTETS};
    piece->octets = FPDU_LENGTH_OCTETS + ulpdu + pad + FPDU_CRC_OCTETS;
}

/* With Markers, or with defects: the ULPDU in one run, then the FPDU in one run. */
static int frame_packed(struct iwarp_stream *stream, size_t header_octets, const struct ddp_segment *segment)
{
    struct fpdu_framing framing = {mpa_of(stream)->send_markers, mpa_of(stream)->crc,
                                   mpa_of(stream)->transmit_position};
    size_t ulpdu = header_octets + segment->payload_octets;
    size_t octets;

    if (reserve(&mpa_of(stream)->ulpdu_buffer, &mpa_of(stream)->ulpdu_room, ulpdu + HOOK_ROOM) != 0 ||
        reserve(&stream->transmit_buffer, &stream->transmit_room,
                fpdu_octets(ulpdu + HOOK_ROOM, true, 0) + HOOK_ROOM) != 0)
        return -1;
    memcpy(mpa_of(stream)->ulpdu_buffer, stream->headers + FPDU_LENGTH_OCTETS, header_octets);
    if (segment->payload_octets != 0)
        memcpy(mpa_of(stream)->ulpdu_buffer + header_octets, segment->payload, segment->payload_octets);
    if (stream->defects != NULL)
        octets = defect_fpdu(stream->defects, &stream->defect_state, mpa_of(stream)->ulpdu_buffer, ulpdu, &framing,
                             stream->transmit_buffer, stream->transmit_room);
    else
        octets =
            fpdu_pack(mpa_of(stream)->ulpdu_buffer, ulpdu, &framing, stream->transmit_buffer, stream->transmit_room);
    if (octets == 0)
        return -1;
    piece_of(stream, octets, true);
    return 0;
}

/* A ULPDU as it stands. */
int frame_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    size_t header_octets = count < DDP_TAGGED_OCTETS ? count : DDP_TAGGED_OCTETS;
    struct ddp_segment rest = {.payload = octets + header_octets, .payload_octets = (uint32_t)(count - header_octets)};

    memcpy(stream->headers + FPDU_LENGTH_OCTETS, octets, header_octets);
    if (frame_packed(stream, header_octets, &rest) != 0)
        return -1;
    mpa_of(stream)->transmit_position += (uint32_t)stream->piece.octets;
    stream->counters.fpdus_sent++;
    return 0;
}

int frame_segment(struct iwarp_stream *stream, struct ddp_segment *segment, const uint8_t *rdmap_header,
                  size_t rdmap_octets)
{
    size_t header_octets;

    segment->version = stream->version;
    if (segment->version == 0)
        segment->control &= 0x0F; /* RV, and the opcode stays */
    header_octets = ddp_pack_header(segment, stream->headers + FPDU_LENGTH_OCTETS);
    if (rdmap_octets != 0)
        memcpy(stream->headers + FPDU_LENGTH_OCTETS + header_octets, rdmap_header, rdmap_octets);
    header_octets += rdmap_octets;
    if (!mpa_of(stream)->send_markers && stream->defects == NULL)
        frame_spans(stream, header_octets, segment);
    else if (frame_packed(stream, header_octets, segment) != 0)
        return -1;
    stream->piece.fpdu = true;
    mpa_of(stream)->transmit_position += (uint32_t)stream->piece.octets;
    stream->counters.fpdus_sent++;
    return 0;
}
