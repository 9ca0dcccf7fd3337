/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of DATA chunks, by their TSNs; bridge_sctp_change() makes them. */
#ifndef CONFORMANCE_ENGINE_BRIDGE_SCTP_CHANGE_H
#define CONFORMANCE_ENGINE_BRIDGE_SCTP_CHANGE_H

#include <stdint.h>

struct bridge_sctp_direction;
struct bridge_chunk_change;

/* That of the chunk with this TSN; NULL: none. */
const struct bridge_chunk_change *bridge_chunk_change_of(const struct bridge_sctp_direction *direction, uint32_t tsn);

enum { BRIDGE_KEPT_CHUNKS = 1 << 12 }; /* what is acknowledged, and may be repeated all the same */

/*
 * The receiver has what comes before this TSN. Changes of it stay for BRIDGE_KEPT_CHUNKS more, or until there is no room: a
 * retransmission that has crossed the SACK is the same chunk.
 */
void bridge_chunk_changes_acknowledge(struct bridge_sctp_direction *direction, uint32_t before);

/* The chunk with this TSN has gone: what was for one packet alone is over. */
void bridge_chunk_change_done(struct bridge_sctp_direction *direction, uint32_t tsn);

#endif
