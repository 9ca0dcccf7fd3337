/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_flow.h"

#include <string.h>

#include "base/octets.h"
#include "conformance/flow/link/flow_link.h"

struct monitor_flow monitor_flow_of(const struct flow *flow)
{
    struct monitor_flow what = {.kind = flow->kind, .tunnel = flow->tunnel};

    memcpy(what.address, flow->address, sizeof(what.address));
    return what;
}

/* The two addresses in either order; *swapped: the first one is the flow's second. */
static bool has_addresses(const struct monitor_flow *flow, unsigned family, const uint8_t *one, const uint8_t *other)
{
    size_t octets = family == 4 ? 4 : 16;

    if (flow->address[0].family != family || one == NULL || other == NULL)
        return false;
    return (memcmp(flow->address[0].octets, one, octets) == 0 && memcmp(flow->address[1].octets, other, octets) == 0) ||
           (memcmp(flow->address[0].octets, other, octets) == 0 && memcmp(flow->address[1].octets, one, octets) == 0);
}

static bool has_ports(const struct monitor_flow *flow, unsigned one, unsigned other)
{
    return (flow->address[0].port == one && flow->address[1].port == other) ||
           (flow->address[0].port == other && flow->address[1].port == one);
}

bool monitor_flow_has(const struct monitor_flow *flow, const struct flow_frame *frame)
{
    struct flow_layers layers;
    const struct flow_datagram *datagram = &layers.datagram;
    enum flow_protocol protocol;

    memset(&layers, 0, sizeof(layers));
    protocol = flow_link_frame(frame, &layers);
    switch (protocol) {
    case FLOW_PROTOCOL_NONE:
    case FLOW_PROTOCOL_PORT_MAPPER: return false;
    case FLOW_PROTOCOL_TCP: {
        const struct flow_key *key = &layers.segment.key;

        return flow->kind == FLOW_CONNECTION && memcmp(&key->tunnel, &flow->tunnel, sizeof(key->tunnel)) == 0 &&
               has_ports(flow, key->port[0], key->port[1]) &&
               has_addresses(flow, key->family, key->address[0], key->address[1]);
    }
    case FLOW_PROTOCOL_SCTP:
        return (flow->kind == FLOW_ASSOCIATION || flow->kind == FLOW_STREAM) && datagram->captured >= 4 &&
               has_ports(flow, octets_get16(datagram->octets), octets_get16(datagram->octets + 2));
    case FLOW_PROTOCOL_FRAGMENT: return has_addresses(flow, datagram->family, datagram->source, datagram->destination);
    default:
        return flow->kind == FLOW_CM_EXCHANGE &&
               has_addresses(flow, datagram->family, datagram->source, datagram->destination);
    }
}
