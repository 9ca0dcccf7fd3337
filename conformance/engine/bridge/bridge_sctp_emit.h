/* SPDX-License-Identifier: BSD-2-Clause */
/* How packets of SCTP go from a bridge: with what is changed in them, in as many packets as the other link needs. */
#ifndef CONFORMANCE_ENGINE_BRIDGE_SCTP_EMIT_H
#define CONFORMANCE_ENGINE_BRIDGE_SCTP_EMIT_H

#include "conformance/engine/bridge/bridge_sctp.h"

/* Where the chunks of a frame begin and end that has `packet`. */
struct bridge_chunks {
    const uint8_t *at, *end;
};

static inline struct bridge_chunks bridge_chunks_of(const uint8_t *frame, const struct bridge_packet *packet)
{
    return (struct bridge_chunks){frame + packet->payload, frame + packet->end};
}

/* The TSN of a DATA or I-DATA chunk; false: it is none. */
bool bridge_chunk_tsn(const struct sctp_chunk *chunk, uint32_t *tsn);

/* What a packet from `side` says of TSNs, windows and tags. */
void bridge_sctp_learn(struct bridge_association *association, unsigned side, const uint8_t *frame,
                       const struct bridge_packet *packet);

/* Sends what the packet from `side` becomes. */
void bridge_sctp_emit(struct bridge_sctp *sctp, struct bridge_association *association, unsigned side,
                      const uint8_t *frame, size_t octets, const struct bridge_packet *packet);

/* Sends the device at `to` one chunk in the other one's name; nothing without a header of the other one. */
void bridge_sctp_bare(struct bridge_sctp *sctp, const struct bridge_association *association, unsigned to,
                      const uint8_t *chunk, size_t octets);

/* Answers a packet of an association that the bridge has closed by SHUTDOWN. */
void bridge_sctp_answer(struct bridge_sctp *sctp, struct bridge_association *association, unsigned side,
                        const uint8_t *frame, const struct bridge_packet *packet);

#endif
