/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP: segments -> octets in stream order. What the decoder calls; flow_tcp_internal.h has the rest of the room. */
#ifndef FLOW_FLOW_TCP_H
#define FLOW_FLOW_TCP_H

#include "conformance/flow/mpa/flow_connection.h"

struct tcp_connections; /* what the room keeps of a decoder */

/* The connections of a decoder, none yet. NULL without memory. */
struct tcp_connections *flow_connections_new(struct flow_common *common);
/* One segment, to the connection that it belongs to, which is returned as it is now; NULL when there is none. */
struct flow_connection *flow_connection_segment(struct tcp_connections *tcp, const struct flow_segment *segment,
                                                const struct flow_carrier_frames *carrier);
/* Time has gone on to common->now_ns: ends what is over or idle, and delivers what has waited long enough. */
void flow_connections_time(struct tcp_connections *tcp);
/* The capture lost frames: of any connection that is open. */
void flow_connections_dropped(struct tcp_connections *tcp);
/* Ends every connection, with events. */
void flow_connections_finish(struct tcp_connections *tcp);
/* Frees, without events. `tcp` may be NULL. */
void flow_connections_free(struct tcp_connections *tcp);

#endif
