/* SPDX-License-Identifier: BSD-2-Clause */
/* Tunnels in UDP, each known by its port and by the form of its header. */
#include "conformance/flow/link/flow_link_internal.h"

enum { ETHERTYPE_BRIDGED = 0x6558, NETWORK_AT = 4, NETWORK_SHIFT = 8 };

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
        *protocol = flow_layers_none(layers, FLOW_ROW_TUNNEL);
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

/* RFC 8086. */
static bool is_gre(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    *protocol = flow_tunnel_gre(*rest, layers);
    return true;
}

/* RFC 7510. */
static bool is_mpls(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol)
{
    *protocol = flow_tunnel_mpls(*rest, layers);
    return true;
}

/* ---- what has not the form that is read ------------------------------------------------------------------------- */

/* GTP-U (3GPP TS 29.281 5; version 0: TS 09.60 6): what is no G-PDU is between its ends; other versions are none. */
static enum flow_row row_of_gtp(const struct flow_rest *rest)
{
    enum { VERSION_1 = 0x30, VERSION_0 = 0x10, VERSION_BITS = 0xF0, G_PDU = 255 };

    if (rest->captured < 2)
        return FLOW_ROW_TUNNEL;
    if ((rest->octets[0] & VERSION_BITS) == VERSION_1 && rest->octets[1] != G_PDU)
        return FLOW_ROW_TUNNEL_FOREIGN;
    return (rest->octets[0] & VERSION_BITS) == VERSION_1 || (rest->octets[0] & VERSION_BITS) == VERSION_0
               ? FLOW_ROW_TUNNEL
               : FLOW_ROW_UDP;
}

/* RFC 3948 2: IKE after four zeros, a keepalive, or ESP. */
static enum flow_row row_of_esp(const struct flow_rest *rest)
{
    if (rest->captured < 4)
        return rest->length == 1 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
    return octets_get32(rest->octets) == 0 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
}

/* RFC 2661 3.1: a control message has the T bit. */
static enum flow_row row_of_l2tp(const struct flow_rest *rest)
{
    return rest->captured >= 1 && (rest->octets[0] & 0x80) != 0 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
}

/* In TZSP that is a keepalive, or a frame of another link than Ethernet. */
static enum flow_row row_of_tzsp(const struct flow_rest *rest)
{
    (void)rest;
    return FLOW_ROW_UDP;
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

/* What a port says of a datagram; `row`: of one in another form than `read` knows; NULL: nobody can say what it is. */
static const struct udp_tunnel {
    uint16_t port;
    bool (*read)(const struct flow_rest *rest, struct flow_layers *layers, enum flow_protocol *protocol);
    enum flow_row (*row)(const struct flow_rest *rest);
} tunnels[] = {
    {1194, NULL, NULL}, /* OpenVPN */
    {1701, is_l2tp, row_of_l2tp},
    {2152, is_gtp, row_of_gtp},
    {3544, NULL, NULL}, /* Teredo (RFC 4380) */
    {4341, is_lisp, NULL},
    {4500, NULL, row_of_esp},
    {4754, is_gre, NULL},
    {4755, NULL, NULL}, /* the same, encrypted */
    {4789, is_vxlan, NULL},
    {4790, is_vxlan_gpe, NULL},
    {5247, NULL, NULL}, /* CAPWAP data (RFC 5415) */
    {6080, NULL, NULL}, /* GUE */
    {6081, is_geneve, NULL},
    {6635, is_mpls, NULL},
    {6636, NULL, NULL},     /* the same, encrypted */
    {8472, is_vxlan, NULL}, /* in Linux by default */
    {9899, NULL, NULL},     /* SCTP, of which the capture has too little to recognise it */
    {37008, is_tzsp, row_of_tzsp},
};

static const struct udp_tunnel *tunnel_at(unsigned port)
{
    for (size_t i = 0; i < sizeof(tunnels) / sizeof(tunnels[0]); i++)
        if (tunnels[i].port == port)
            return &tunnels[i];
    return NULL;
}

bool flow_udp_tunnel(unsigned port, const struct flow_rest *rest, struct flow_layers *layers,
                     enum flow_protocol *protocol)
{
    const struct udp_tunnel *tunnel = tunnel_at(port);

    return tunnel != NULL && tunnel->read != NULL && tunnel->read(rest, layers, protocol);
}

enum flow_row flow_udp_tunnel_row(unsigned port, const struct flow_rest *rest)
{
    const struct udp_tunnel *tunnel = tunnel_at(port);

    if (tunnel == NULL)
        return FLOW_ROW_UDP;
    return tunnel->row != NULL ? tunnel->row(rest) : FLOW_ROW_TUNNEL;
}
