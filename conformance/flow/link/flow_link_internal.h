/* SPDX-License-Identifier: BSD-2-Clause */
/* What the layers below TCP, SCTP and MADs share: flow_link.c, flow_ip.c, flow_fragment.c. */
#ifndef FLOW_FLOW_LINK_INTERNAL_H
#define FLOW_FLOW_LINK_INTERNAL_H

#include "conformance/flow/flow_internal.h"

/* What is left of a frame: octets captured, and octets that the wire had. */
struct flow_rest {
    const uint8_t *octets;
    size_t captured;
    size_t length;
};

static inline bool flow_rest_skip(struct flow_rest *rest, size_t count)
{
    if (rest->captured < count)
        return false;
    rest->octets += count;
    rest->captured -= count;
    rest->length -= count;
    return true;
}

/* The frame has nothing to decode: it is counted in `row`. */
static inline enum flow_protocol flow_layers_none(struct flow_layers *layers, enum flow_row row)
{
    layers->row = row;
    return FLOW_PROTOCOL_NONE;
}

static inline enum flow_protocol flow_layers_datagram(struct flow_layers *layers, enum flow_protocol protocol,
                                                      const uint8_t *octets, size_t captured, size_t length)
{
    layers->datagram.protocol = protocol;
    layers->datagram.octets = octets;
    layers->datagram.captured = captured;
    layers->datagram.length = length;
    return protocol;
}

/* The octets that are too few: the capture cut them, or they were never there, which `malformed` names. */
static inline enum flow_protocol flow_layers_short(struct flow_layers *layers, const struct flow_rest *rest,
                                                   size_t needed, enum flow_row malformed)
{
    return flow_layers_none(layers, rest->length < needed ? malformed : FLOW_ROW_CUT_HEADERS);
}

/* flow_ip.c: from the IP header on. */
enum flow_protocol flow_ipv4(struct flow_rest *rest, struct flow_layers *layers);
enum flow_protocol flow_ipv6(struct flow_rest *rest, struct flow_layers *layers);

/* From after the IP headers on: `rest` is what the IP packet carries, `number` is that of its protocol. */
enum flow_protocol flow_ip_payload(struct flow_rest *rest, unsigned number, struct flow_layers *layers);

#endif
