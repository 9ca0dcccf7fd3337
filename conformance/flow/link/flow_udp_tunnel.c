/* SPDX-License-Identifier: BSD-2-Clause */
/* Tunnels in UDP, each known by its port and by the form of its header. */
#include "conformance/flow/link/flow_link_internal.h"

enum { ETHERTYPE_BRIDGED = 0x6558, NETWORK_AT = 4, NETWORK_SHIFT = 8 };

static enum flow_protocol cut(struct flow_layers *layers)
{
    return flow_layers_none(layers, FLOW_ROW_TUNNEL);
}

/* RFC 7348 5: flags, of which one says that the network's number is there, that number, then a frame. */
static bool is_vxlan(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    enum { HEADER_OCTETS = 8, HAS_NETWORK = 0x08 };
    struct flow_rest inner = *rest;

    if (rest->captured < HEADER_OCTETS || (rest->octets[0] & HAS_NETWORK) == 0)
        return false;
    flow_tunnel_network(layers, octets_get32(rest->octets + NETWORK_AT) >> NETWORK_SHIFT);
    flow_rest_skip(&inner, HEADER_OCTETS);
    *protocol = flow_tunnel_ethernet(FLOW_IN_VXLAN, &inner, layers);
    return true;
}

/* draft-ietf-nvo3-vxlan-gpe 3: the same, and the last octet before the number says what follows. */
static bool is_vxlan_gpe(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    enum { HEADER_OCTETS = 8, HAS_PROTOCOL = 0x04, PROTOCOL_AT = 3, IPV4 = 1, IPV6 = 2, ETHERNET = 3 };
    struct flow_rest inner = *rest;

    if (rest->captured < HEADER_OCTETS || (rest->octets[0] & HAS_PROTOCOL) == 0)
        return false;
    flow_tunnel_network(layers, octets_get32(rest->octets + NETWORK_AT) >> NETWORK_SHIFT);
    flow_rest_skip(&inner, HEADER_OCTETS);
    switch (rest->octets[PROTOCOL_AT]) {
    case IPV4:
    case IPV6: *protocol = flow_tunnel_ip(FLOW_IN_VXLAN, &inner, layers); return true;
    case ETHERNET: *protocol = flow_tunnel_ethernet(FLOW_IN_VXLAN, &inner, layers); return true;
    default: return false;
    }
}

/* RFC 8926 3.4. */
static bool is_geneve(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    enum { HEADER_OCTETS = 8, VERSION = 0xC0, OPTIONS = 0x3F, CONTROL_AT = 1, CONTROL = 0x80, TYPE_AT = 2 };
    struct flow_rest inner = *rest;
    unsigned type;

    if (rest->captured < HEADER_OCTETS || (rest->octets[0] & VERSION) != 0)
        return false;
    type = octets_get16(rest->octets + TYPE_AT);
    flow_tunnel_network(layers, octets_get32(rest->octets + NETWORK_AT) >> NETWORK_SHIFT);
    if ((rest->octets[CONTROL_AT] & CONTROL) != 0 ||
        !flow_rest_skip(&inner, HEADER_OCTETS + (size_t)(rest->octets[0] & OPTIONS) * 4))
        *protocol = cut(layers);
    else if (type == ETHERTYPE_BRIDGED)
        *protocol = flow_tunnel_ethernet(FLOW_IN_GENEVE, &inner, layers);
    else
        *protocol = flow_tunnel_packet(FLOW_IN_GENEVE, type, &inner, layers);
    return true;
}

/* Steps over extension headers (3GPP TS 29.281 5.2): length in units of 4 octets, content, the type of the next one. */
static bool step_extensions(struct flow_rest *rest, unsigned next)
{
    while (next != 0) {
        size_t octets = rest->captured > 0 ? (size_t)rest->octets[0] * 4 : 0;

        if (octets == 0 || rest->captured < octets)
            return false;
        next = rest->octets[octets - 1];
        flow_rest_skip(rest, octets);
    }
    return true;
}

/* 3GPP TS 29.281 5.1: a G-PDU of version 1. The number of the tunnel is another one in each direction. */
static bool is_gtp(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    enum { HEADER_OCTETS = 8, VERSION_1 = 0x30, VERSION = 0xF0, OPTIONAL = 0x07, OPTIONAL_OCTETS = 4, EXTENDED = 0x04 };
    enum { G_PDU = 255 };
    struct flow_rest inner = *rest;
    unsigned next;

    if (rest->captured < HEADER_OCTETS || (rest->octets[0] & VERSION) != VERSION_1 || rest->octets[1] != G_PDU)
        return false;
    flow_rest_skip(&inner, HEADER_OCTETS);
    if ((rest->octets[0] & OPTIONAL) != 0) {
        if (inner.captured < OPTIONAL_OCTETS)
            return false;
        next = (rest->octets[0] & EXTENDED) != 0 ? inner.octets[OPTIONAL_OCTETS - 1] : 0;
        flow_rest_skip(&inner, OPTIONAL_OCTETS);
        if (!step_extensions(&inner, next))
            return false;
    }
    *protocol = flow_tunnel_ip(FLOW_IN_GTP, &inner, layers);
    return true;
}

/* RFC 2661 3.1: a data message, whose optional fields its first octets name, then PPP. */
static bool is_l2tp(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    enum { CONTROL = 0x8000, LENGTH = 0x4000, SEQUENCE = 0x0800, OFFSET = 0x0200, VERSION = 0x000F, VERSION_2 = 2 };
    enum { FIXED_OCTETS = 6 };
    struct flow_rest inner = *rest;
    size_t octets = FIXED_OCTETS;
    unsigned flags;

    if (rest->captured < FIXED_OCTETS)
        return false;
    flags = octets_get16(rest->octets);
    if ((flags & VERSION) != VERSION_2 || (flags & CONTROL) != 0)
        return false;
    octets += ((flags & LENGTH) != 0 ? 2u : 0u) + ((flags & SEQUENCE) != 0 ? 4u : 0u);
    if ((flags & OFFSET) != 0) {
        if (rest->captured < octets + 2)
            return false;
        octets += 2u + octets_get16(rest->octets + octets);
    }
    if (!flow_rest_skip(&inner, octets))
        return false;
    *protocol = flow_tunnel_ppp(FLOW_IN_L2TP, inner, layers);
    return true;
}

/* RFC 9300 5.1: the header, then an IP packet. */
static bool is_lisp(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    enum { HEADER_OCTETS = 8 };
    struct flow_rest inner = *rest;

    if (!flow_rest_skip(&inner, HEADER_OCTETS))
        return false;
    *protocol = flow_tunnel_ip(FLOW_IN_LISP, &inner, layers);
    return true;
}

/*
 * TaZmen Sniffer Protocol, in which switches mirror frames: version, type, what is in it, tagged fields up to one that
 * ends them.
 */
static bool is_tzsp(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    enum { HEADER_OCTETS = 4, VERSION = 1, RECEIVED = 0, SENT = 1, ETHERNET = 1, PADDING = 0, END = 1 };
    struct flow_rest inner = *rest;
    size_t octets;
    uint8_t tag;

    if (rest->captured < HEADER_OCTETS || rest->octets[0] != VERSION || rest->octets[1] > SENT ||
        octets_get16(rest->octets + 2) != ETHERNET)
        return false;
    flow_rest_skip(&inner, HEADER_OCTETS);
    do {
        if (inner.captured == 0)
            return false;
        tag = inner.octets[0];
        octets = tag == PADDING || tag == END ? 1 : inner.captured < 2 ? SIZE_MAX : 2 + (size_t)inner.octets[1];
        if (!flow_rest_skip(&inner, octets))
            return false;
    } while (tag != END);
    *protocol = flow_tunnel_ethernet(FLOW_IN_TZSP, &inner, layers);
    return true;
}

bool flow_udp_tunnel(unsigned port, const struct flow_rest *rest, struct flow_layers *layers,
                     enum flow_protocol *protocol)
{
    switch (port) {
    case 4789:
    case 8472: /* in Linux by default */ return is_vxlan(rest, layers, protocol);
    case 4790: return is_vxlan_gpe(rest, layers, protocol);
    case 6081: return is_geneve(rest, layers, protocol);
    case 2152: return is_gtp(rest, layers, protocol);
    case 1701: return is_l2tp(rest, layers, protocol);
    case 4341: return is_lisp(rest, layers, protocol);
    case 37008: return is_tzsp(rest, layers, protocol);
    case 4754: /* RFC 8086 */ *protocol = flow_tunnel_gre(*rest, layers); return true;
    case 6635: /* RFC 7510 */ *protocol = flow_tunnel_mpls(*rest, layers); return true;
    default: return false;
    }
}
