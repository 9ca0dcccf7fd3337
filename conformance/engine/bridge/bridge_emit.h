/* SPDX-License-Identifier: BSD-2-Clause */
/* How segments go from a bridge: with what is changed in them, in as many frames as the other link needs. */
#ifndef CONFORMANCE_ENGINE_BRIDGE_EMIT_H
#define CONFORMANCE_ENGINE_BRIDGE_EMIT_H

#include "conformance/engine/bridge/bridge_stream.h"

/* Sends the segment that came from `side`, and remembers its header. */
void bridge_emit(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side,
                 const struct bridge_segment *segment);

/* Answers a segment of a connection that the bridge has closed with FIN; after RST nothing is answered. */
void bridge_emit_closed(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side,
                        const struct bridge_segment *segment);

/*
 * Sends the device at `to` a segment in the other one's name, with these flags and without payload, as what comes next; an
 * acknowledgment number of what it had sent before. Nothing without a header of the other one.
 */
void bridge_emit_bare(struct bridge_streams *streams, struct bridge_connection *connection, unsigned to, uint8_t flags,
                      uint32_t acknowledgment);

/* Cuts a frame with a TCP segment that is longer than the MTU there, of a connection of which nothing is kept. */
void bridge_emit_long(struct bridge_streams *streams, unsigned side, const uint8_t *frame, size_t octets,
                      const struct bridge_packet *packet);

#endif
