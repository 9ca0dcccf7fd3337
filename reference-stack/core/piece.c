/* SPDX-License-Identifier: BSD-2-Clause */
/* From headers and payload to the piece that the transport is given next. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/core/llp.h"
#include "reference-stack/core/stream_internal.h"

int piece_reserve(struct iwarp_stream *stream, size_t octets)
{
    uint8_t *bigger;

    if (stream->outbound.room >= octets)
        return 0;
    bigger = realloc(stream->outbound.buffer, octets);
    if (bigger == NULL)
        return -1;
    stream->outbound.buffer = bigger;
    stream->outbound.room = octets;
    return 0;
}

void piece_set(struct iwarp_stream *stream, size_t octets, bool segment)
{
    struct transmit_piece *piece = &stream->outbound.piece;

    memset(piece, 0, sizeof(*piece));
    piece->spans[0] = (struct iwarp_span){stream->outbound.buffer, octets};
    piece->span_count = 1;
    piece->octets = octets;
    piece->segment = segment;
}

/*
 * What is flushed is the ULP's again, who may do away with it: of a piece that the transport has begun to take, the
 * payload is copied. Without memory for that it cannot be finished.
 */
void piece_keep(struct iwarp_stream *stream)
{
    struct transmit_piece *piece = &stream->outbound.piece;
    struct iwarp_span *payload = &piece->spans[TRANSMIT_PAYLOAD];

    if (!piece->ulp_memory || piece->response || piece->octets == 0)
        return;
    if (piece_reserve(stream, payload->count) != 0) {
        stream_piece_drop(stream);
        stream->end.abort_wanted = true;
        return;
    }
    memcpy(stream->outbound.buffer, payload->octets, payload->count);
    payload->octets = stream->outbound.buffer;
    piece->ulp_memory = false;
}

static int frame(struct iwarp_stream *stream, struct llp_ulpdu *ulpdu)
{
    if (FAULTED(stream) && stream->faults->ops->ulpdu(stream, ulpdu) != 0)
        return -1;
    return stream->llp->frame(stream, ulpdu);
}

int piece_segment(struct iwarp_stream *stream, struct outgoing *outgoing)
{
    struct ddp_segment *segment = &outgoing->segment;
    uint8_t *headers = stream->outbound.headers + LLP_PREFIX_OCTETS;
    struct llp_ulpdu ulpdu;

    SEAM(stream, header(stream, outgoing));
    segment->version = stream->agreed.terms.version;
    if (segment->version == 0)
        segment->control &= 0x0F; /* RV, and the opcode stays */
    if (stream->agreed.ddp_alone)
        segment->control = 0; /* RDMAP's bits are for its own messages */
    ulpdu = (struct llp_ulpdu){.header_octets = ddp_pack_header(segment, headers),
                               .payload = segment->payload,
                               .payload_octets = segment->payload_octets};
    if (outgoing->header_octets != 0)
        memcpy(headers + ulpdu.header_octets, outgoing->header, outgoing->header_octets);
    ulpdu.header_octets += outgoing->header_octets;
    return frame(stream, &ulpdu);
}

int piece_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    size_t header_octets = count < DDP_TAGGED_OCTETS ? count : DDP_TAGGED_OCTETS;
    struct llp_ulpdu ulpdu = {
        .header_octets = header_octets,
        .payload = octets + header_octets,
        .payload_octets = count - header_octets,
        .copy = true,
    };

    memcpy(stream->outbound.headers + LLP_PREFIX_OCTETS, octets, header_octets);
    return frame(stream, &ulpdu);
}
