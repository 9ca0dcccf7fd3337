/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP: segments -> octets in stream order. What the decoder calls; flow_tcp_internal.h has the rest of the room. */
#ifndef FLOW_FLOW_TCP_H
#define FLOW_FLOW_TCP_H

#include "conformance/flow/mpa/flow_connection.h"

/* The connections of a decoder, none yet; false without memory. */
bool flow_connections_create(struct flow_decoder *decoder);
/* One segment, to the connection that it belongs to, which is returned as it is now; NULL when there is none. */
struct flow_connection *flow_connection_segment(struct flow_decoder *decoder, const struct flow_segment *segment,
                                                const struct flow_carrier_frames *carrier);
/* Ends every connection (with events), or frees them (without). */
void flow_connections_finish(struct flow_decoder *decoder);
void flow_connections_free(struct flow_decoder *decoder);

#endif
