/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ULPDUs into user messages: the DDP-SSN, then the DDP Segment (RFC 5043 5.2.2, draft 6), and how long they may be (9,
 * draft 5).
 */
#include <string.h>

#include "reference-stack/sctp/sctp.h"
#include "wire/sctp.h"

_Static_assert((int)DDP_SCTP_SSN_OCTETS == (int)LLP_PREFIX_OCTETS, "the DDP-SSN stands right before the headers");

/*
 * The largest segment that fits into one packet with a SACK, so that neither IP nor SCTP fragments it. It is at least
 * 516 octets, so that a control message with the longest Private Data also fits.
 */
size_t iwarp_association_segment_max(const struct iwarp_association *association)
{
    size_t taken;

    if (association == NULL)
        return 0;
    taken = association->config.network_octets + SCTP_COMMON_OCTETS + SCTP_SACK_OCTETS + SCTP_DATA_OCTETS +
            DDP_SCTP_SSN_OCTETS;
    if (association->config.mtu < taken + SEGMENT_LEAST)
        return SEGMENT_LEAST;
    return (association->config.mtu - taken) & ~(size_t)1;
}

size_t segment_max(const struct iwarp_stream *stream, size_t *left)
{
    const struct sctp_session *session = lower_of(stream)->session;

    if (left != NULL)
        *left = 0;
    if (session == NULL)
        return SEGMENT_LEAST;
    return iwarp_association_segment_max(session->association);
}

size_t segment_room(const struct iwarp_stream *stream)
{
    return DDP_SCTP_SSN_OCTETS + transmit_ulpdu_max(stream);
}

int segment_frame(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu)
{
    struct sctp_session *session = lower_of(stream)->session;
    struct transmit_piece *piece = &stream->outbound.piece;
    size_t before = DDP_SCTP_SSN_OCTETS + ulpdu->header_octets;

    if (session == NULL)
        return -1;
    lower_of(stream)->code = 0;
    ddp_sctp_segment_set_SSN(stream->outbound.headers, session->ssn);
    if (ulpdu->copy) {
        if (piece_reserve(stream, before + ulpdu->payload_octets) != 0)
            return -1;
        memcpy(stream->outbound.buffer, stream->outbound.headers, before);
        if (ulpdu->payload_octets != 0)
            memcpy(stream->outbound.buffer + before, ulpdu->payload, ulpdu->payload_octets);
        piece_set(stream, before + ulpdu->payload_octets, true);
        return 0;
    }
    memset(piece, 0, sizeof(*piece));
    piece->spans[piece->span_count++] = (struct iwarp_span){stream->outbound.headers, before};
    if (ulpdu->payload_octets != 0)
        piece->spans[piece->span_count++] = (struct iwarp_span){ulpdu->payload, ulpdu->payload_octets};
    piece->octets = before + ulpdu->payload_octets;
    piece->segment = true;
    return 0;
}
