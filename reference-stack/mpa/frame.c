/* SPDX-License-Identifier: BSD-2-Clause */
/* ULPDUs and start-up frames into the octets that TCP sends. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/mpa/mpa.h"
#include "wire/crc32c.h"
#include "wire/marker.h"

_Static_assert((int)FPDU_LENGTH_OCTETS == (int)LLP_PREFIX_OCTETS, "ULPDU_Length stands right before the headers");

static int reserve_ulpdu(struct mpa *mpa, size_t octets)
{
    uint8_t *bigger;

    if (mpa->ulpdu_room >= octets)
        return 0;
    bigger = realloc(mpa->ulpdu_buffer, octets);
    if (bigger == NULL)
        return -1;
    mpa->ulpdu_buffer = bigger;
    mpa->ulpdu_room = octets;
    return 0;
}

int frame_start(struct iwarp_stream *stream, const struct iwarp_mpa_start *start, struct iwarp_sentence *sentence)
{
    size_t octets;

    if (piece_reserve(stream, MPA_START_MAX) != 0)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    octets = mpa_start_pack(start, stream->outbound.buffer, MPA_START_MAX);
    if (octets == 0)
        return iwarp_sentence_set(sentence, "stream: the start-up frame does not hold %u octets of Private Data",
                                  start->private_octets);
    octets = MPA_SEAM_VALUE(stream, octets, start_frame(stream, start, octets));
    piece_set(stream, octets, false);
    return 0;
}

/*
 * The usual case, without copying the payload: length and headers | payload | pad and CRC.
 */
static void frame_spans(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu)
{
    struct mpa *mpa = mpa_of(stream);
    struct transmit_piece *piece = &stream->outbound.piece;
    size_t length = ulpdu->header_octets + ulpdu->payload_octets;
    size_t pad = fpdu_pad(length);
    uint32_t crc = CRC32C_START;

    memset(piece, 0, sizeof(*piece));
    octets_put16(stream->outbound.headers, (uint16_t)length);
    piece->spans[piece->span_count++] =
        (struct iwarp_span){stream->outbound.headers, FPDU_LENGTH_OCTETS + ulpdu->header_octets};
    if (ulpdu->payload_octets != 0)
        piece->spans[piece->span_count++] = (struct iwarp_span){ulpdu->payload, ulpdu->payload_octets};
    memset(mpa->trailer, 0, sizeof(mpa->trailer));
    if (mpa->crc) {
        for (size_t i = 0; i < piece->span_count; i++)
            crc = crc32c_update(crc, piece->spans[i].octets, piece->spans[i].count);
        crc = crc32c_update(crc, mpa->trailer, pad);
        octets_put32_little(mpa->trailer + pad, crc32c_value(crc));
    }
    piece->spans[piece->span_count++] = (struct iwarp_span){mpa->trailer, pad + FPDU_CRC_OCTETS};
    piece->octets = FPDU_LENGTH_OCTETS + length + pad + FPDU_CRC_OCTETS;
    piece->segment = true;
}

/* With Markers, or where the payload is to be copied: the ULPDU in one run, then the FPDU in one run. */
static int frame_packed(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu)
{
    struct mpa *mpa = mpa_of(stream);
    struct fpdu_framing framing = {mpa->send_markers, mpa->crc, mpa->transmit_position};
    size_t length = ulpdu->header_octets + ulpdu->payload_octets;
    size_t octets;

    if (reserve_ulpdu(mpa, length) != 0 || piece_reserve(stream, fpdu_octets(length, true, 0)) != 0)
        return -1;
    if (ulpdu->header_octets != 0) /* a ULPDU of no octets may be posted before there is a buffer */
        memcpy(mpa->ulpdu_buffer, stream->outbound.headers + LLP_PREFIX_OCTETS, ulpdu->header_octets);
    if (ulpdu->payload_octets != 0)
        memcpy(mpa->ulpdu_buffer + ulpdu->header_octets, ulpdu->payload, ulpdu->payload_octets);
    octets = MPA_SEAM_VALUE(
        stream, fpdu_pack(mpa->ulpdu_buffer, length, &framing, stream->outbound.buffer, stream->outbound.room),
        fpdu_layout(stream, mpa->ulpdu_buffer, length, &framing));
    if (octets == 0)
        return -1;
    piece_set(stream, octets, true);
    return 0;
}

int frame_ulpdu(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu)
{
    struct mpa *mpa = mpa_of(stream);

    if (!mpa->send_markers && !ulpdu->copy)
        frame_spans(stream, ulpdu);
    else if (frame_packed(stream, ulpdu) != 0)
        return -1;
    mpa->transmit_position += (uint32_t)stream->outbound.piece.octets;
    stream->counters.fpdus_sent++;
    return 0;
}
