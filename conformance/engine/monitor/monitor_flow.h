/* SPDX-License-Identifier: BSD-2-Clause */
/* Which frames are of a flow: by addresses, ports and tunnel, as the decoder reads them. */
#ifndef CONFORMANCE_ENGINE_MONITOR_FLOW_H
#define CONFORMANCE_ENGINE_MONITOR_FLOW_H

#include <stdbool.h>

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_frame.h"

/* What a frame of the flow has. */
struct monitor_flow {
    enum flow_kind kind;
    struct flow_address address[FLOW_DIRECTIONS];
    struct flow_tunnel tunnel;
};

struct monitor_flow monitor_flow_of(const struct flow *flow);

/*
 * Whether the frame is of it, in either direction. Of SCTP the ports alone are compared, as an association has several
 * addresses; of fragments of IP packets the addresses.
 */
bool monitor_flow_has(const struct monitor_flow *flow, const struct flow_frame *frame);

#endif
