/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunnels. What is in one is looked at, and not judged: connections in two tunnels may have the same addresses and
 * ports. A tunnel whose packet is certainly foreign is foreign itself; one with TCP, SCTP or a CM message in it is
 * unjudged, and so is one that cannot be read: it is encrypted, compressed, in a form that stands not here, or the
 * capture cut it.
 */
#include <string.h>

#include "conformance/flow/link/flow_link_internal.h"

enum {
    DEPTH_MAX = 4, /* tunnels in tunnels that are looked into */
    LABELS_MAX = 16,
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_IPV6 = 0x86DD,
    ETHERTYPE_BRIDGED = 0x6558,
    ETHERTYPE_MPLS = 0x8847,
    ETHERTYPE_MPLS_MULTICAST = 0x8848,
    ETHERTYPE_PPPOE = 0x8864,
    ETHERTYPE_PPP = 0x880B,
    ETHERTYPE_I_TAG = 0x88E7, /* IEEE 802.1ah */
    ETHERTYPE_FABRIC_PATH = 0x8903,
    ETHERTYPE_VN_TAG = 0x8926,
    PPP_IPV4 = 0x0021,
    PPP_IPV6 = 0x0057,
    PPP_CONTROL = 0x8000, /* control protocols of the network and link layers (RFC 1661 2) */
};

/* ---- what is inside ---------------------------------------------------------------------------------------------- */

static uint16_t hash_address(const uint8_t *address, size_t octets)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < octets; i++)
        hash = (hash ^ address[i]) * 16777619u;
    return (uint16_t)(hash ^ hash >> 16);
}

/* Between which addresses the tunnel is, the same for both directions; 0: it has none. */
static uint16_t ends_of(const struct flow_datagram *outer)
{
    size_t octets = outer->family == 4 ? 4 : 16;

    if (outer->source == NULL || outer->destination == NULL)
        return 0;
    return (uint16_t)(hash_address(outer->source, octets) + hash_address(outer->destination, octets));
}

/* The row of the tunnel by what the layers in it have found. A segment of TCP is given to the layers around it. */
static enum flow_row row_of_inner(enum flow_protocol protocol, const struct flow_layers *inner,
                                  struct flow_layers *layers)
{
    if (protocol == FLOW_PROTOCOL_NONE && flow_account_row(inner->row)->kind == FLOW_FOREIGN)
        return FLOW_ROW_TUNNEL_FOREIGN;
    if (protocol == FLOW_PROTOCOL_TCP) {
        layers->segment = inner->segment;
        layers->segment.key.tunnelled = 1;
        layers->segment.key.tunnel = (uint16_t)(layers->segment.key.tunnel + ends_of(&layers->datagram));
        layers->tunnelled = true;
    }
    return FLOW_ROW_TUNNEL;
}

/* A packet after its EtherType. */
static enum flow_row row_of_packet(unsigned type, struct flow_rest rest, struct flow_layers *layers)
{
    struct flow_layers inner = {.depth = (uint8_t)(layers->depth + 1)};

    if (layers->depth >= DEPTH_MAX)
        return FLOW_ROW_TUNNEL;
    return row_of_inner(flow_by_ethertype(type, &rest, &inner), &inner, layers);
}

enum flow_row flow_tunnel_packet(unsigned type, const struct flow_rest *rest, struct flow_layers *layers)
{
    return row_of_packet(type, *rest, layers);
}

enum flow_row flow_tunnel_ethernet(const struct flow_rest *rest, struct flow_layers *layers)
{
    struct flow_layers inner = {.depth = (uint8_t)(layers->depth + 1)};
    struct flow_rest frame = *rest;

    if (layers->depth >= DEPTH_MAX)
        return FLOW_ROW_TUNNEL;
    return row_of_inner(flow_by_ethernet(&frame, &inner), &inner, layers);
}

enum flow_row flow_tunnel_ip(const struct flow_rest *rest, struct flow_layers *layers)
{
    if (rest->captured == 0)
        return FLOW_ROW_TUNNEL;
    switch (rest->octets[0] >> 4) {
    case 4: return row_of_packet(ETHERTYPE_IPV4, *rest, layers);
    case 6: return row_of_packet(ETHERTYPE_IPV6, *rest, layers);
    default: return FLOW_ROW_TUNNEL;
    }
}

/* From the PPP protocol on (RFC 1661 2), which one octet says when it is compressed. */
static enum flow_row row_of_ppp(struct flow_rest rest, struct flow_layers *layers)
{
    unsigned protocol, octets;

    if (rest.captured >= 2 && rest.octets[0] == 0xFF && rest.octets[1] == 0x03) /* address and control (RFC 1662) */
        flow_rest_skip(&rest, 2);
    if (rest.captured < 2)
        return FLOW_ROW_TUNNEL;
    octets = (rest.octets[0] & 1) != 0 ? 1 : 2;
    protocol = octets == 1 ? rest.octets[0] : octets_get16(rest.octets);
    flow_rest_skip(&rest, octets);
    if (protocol == PPP_IPV4 || protocol == PPP_IPV6)
        return flow_tunnel_ip(&rest, layers);
    return (protocol & PPP_CONTROL) != 0 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
}

/*
 * Label stack entries (RFC 3032 2.1). What follows says by its version alone that it is IP: anything else is not known.
 */
static enum flow_row row_of_mpls(struct flow_rest rest, struct flow_layers *layers)
{
    enum { ENTRY_OCTETS = 4, BOTTOM = 1, BOTTOM_AT = 2 };

    for (unsigned i = 0; i < LABELS_MAX && rest.captured >= ENTRY_OCTETS; i++) {
        bool bottom = (rest.octets[BOTTOM_AT] & BOTTOM) != 0;

        flow_rest_skip(&rest, ENTRY_OCTETS);
        if (bottom)
            return flow_tunnel_ip(&rest, layers);
    }
    return FLOW_ROW_TUNNEL;
}

/* RFC 2516 4: version, code, session, length. */
static enum flow_row row_of_pppoe(struct flow_rest rest, struct flow_layers *layers)
{
    enum { HEADER_OCTETS = 6, LENGTH_AT = 4 };
    size_t length;

    if (rest.captured < HEADER_OCTETS)
        return FLOW_ROW_TUNNEL;
    length = octets_get16(rest.octets + LENGTH_AT);
    flow_rest_skip(&rest, HEADER_OCTETS);
    if (length <= rest.length)
        flow_rest_limit(&rest, length);
    return row_of_ppp(rest, layers);
}

/* Virtual interfaces of a port extender, then an EtherType. */
static enum flow_row row_of_vn_tag(struct flow_rest rest, struct flow_layers *layers)
{
    enum { HEADER_OCTETS = 6, TYPE_AT = 4 };
    unsigned type;

    if (rest.captured < HEADER_OCTETS)
        return FLOW_ROW_TUNNEL;
    type = octets_get16(rest.octets + TYPE_AT);
    flow_rest_skip(&rest, HEADER_OCTETS);
    return row_of_packet(type, rest, layers);
}

enum flow_row flow_tunnel_ethertype(unsigned type, const struct flow_rest *rest, struct flow_layers *layers)
{
    struct flow_rest inner = *rest;

    switch (type) {
    case ETHERTYPE_MPLS:
    case ETHERTYPE_MPLS_MULTICAST: return row_of_mpls(*rest, layers);
    case ETHERTYPE_PPPOE: return row_of_pppoe(*rest, layers);
    case ETHERTYPE_PPP: return row_of_ppp(*rest, layers);
    case ETHERTYPE_BRIDGED: return flow_tunnel_ethernet(rest, layers);
    case ETHERTYPE_FABRIC_PATH: /* a forwarding tag, then a frame */
        return flow_rest_skip(&inner, 2) ? flow_tunnel_ethernet(&inner, layers) : FLOW_ROW_TUNNEL;
    case ETHERTYPE_VN_TAG: return row_of_vn_tag(*rest, layers);
    case ETHERTYPE_I_TAG: return flow_rest_skip(&inner, 4) ? flow_tunnel_ethernet(&inner, layers) : FLOW_ROW_TUNNEL;
    default: return flow_known_ethertype(type);
    }
}

/* ---- above IP ---------------------------------------------------------------------------------------------------- */

/* A frame of IEEE 802.11 (9.2.4): data that is neither encrypted nor aggregated has an LLC header after its own. */
static enum flow_row row_of_wireless(struct flow_rest rest, struct flow_layers *layers)
{
    enum { HEADER_OCTETS = 24, FOURTH_ADDRESS = 6, QOS_OCTETS = 2, AGGREGATED = 0x80, LENGTH_MOST = 0x5FF };
    enum { TYPE = 0x0C, DATA = 0x08, NO_DATA = 0x40, QOS = 0x80, BOTH_WAYS = 0x03, ENCRYPTED = 0x40, ORDER = 0x80 };
    size_t octets = HEADER_OCTETS;
    unsigned control, flags;

    if (rest.captured < HEADER_OCTETS)
        return FLOW_ROW_TUNNEL;
    control = rest.octets[0];
    flags = rest.octets[1];
    if ((control & TYPE) == 0 ||
        ((control & TYPE) == DATA && (control & NO_DATA) != 0)) /* management; data of 0 octets */
        return FLOW_ROW_TUNNEL_FOREIGN;
    if ((control & TYPE) != DATA || (flags & (ENCRYPTED | ORDER)) != 0)
        return FLOW_ROW_TUNNEL;
    octets += (flags & BOTH_WAYS) == BOTH_WAYS ? FOURTH_ADDRESS : 0;
    if ((control & QOS) != 0) {
        if (rest.captured < octets + QOS_OCTETS || (rest.octets[octets] & AGGREGATED) != 0)
            return FLOW_ROW_TUNNEL;
        octets += QOS_OCTETS;
    }
    if (!flow_rest_skip(&rest, octets) || rest.length > LENGTH_MOST)
        return FLOW_ROW_TUNNEL;
    return row_of_packet((unsigned)rest.length, rest, layers);
}

/* RFC 2784 2, RFC 2890 2, RFC 2637 4.1. */
static enum flow_row row_of_gre(struct flow_rest rest, struct flow_layers *layers)
{
    enum { CHECKSUM = 0x8000, ROUTING = 0x4000, KEY = 0x2000, SEQUENCE = 0x1000, ACK = 0x0080, VERSION = 0x0007 };
    enum { HEADER_OCTETS = 4, ERSPAN = 0x88BE, ERSPAN_OCTETS = 8, ERSPAN_3 = 0x22EB, ERSPAN_3_OCTETS = 12 };
    enum { ERSPAN_3_MORE = 1, ERSPAN_3_MORE_OCTETS = 8, WIRELESS = 0x8200, WIRELESS_LAST = 0x82FF };
    const uint8_t *header = rest.octets;
    size_t octets = HEADER_OCTETS;
    unsigned flags, type;
    enum flow_row row;

    if (rest.captured < HEADER_OCTETS)
        return FLOW_ROW_TUNNEL;
    flags = octets_get16(rest.octets);
    type = octets_get16(rest.octets + 2);
    if ((flags & ROUTING) != 0 || (flags & VERSION) > 1)
        return FLOW_ROW_TUNNEL;
    octets +=
        ((flags & CHECKSUM) != 0 ? 4u : 0u) + ((flags & KEY) != 0 ? 4u : 0u) + ((flags & SEQUENCE) != 0 ? 4u : 0u);
    octets += (flags & VERSION) == 1 && (flags & ACK) != 0 ? 4u : 0u;
    octets += type == ERSPAN && (flags & SEQUENCE) != 0 ? ERSPAN_OCTETS : type == ERSPAN_3 ? ERSPAN_3_OCTETS : 0u;
    if (type == ERSPAN_3 && rest.captured >= octets && (rest.octets[octets - 1] & ERSPAN_3_MORE) != 0)
        octets += ERSPAN_3_MORE_OCTETS;
    if (!flow_rest_skip(&rest, octets))
        return FLOW_ROW_TUNNEL;
    if ((flags & VERSION) == 1 && rest.length == 0) /* an acknowledgment alone */
        return FLOW_ROW_TUNNEL_FOREIGN;
    if (type == ERSPAN || type == ERSPAN_3)
        row = flow_tunnel_ethernet(&rest, layers);
    else if (type >= WIRELESS && type <= WIRELESS_LAST) /* of Aruba's access points */
        row = row_of_wireless(rest, layers);
    else
        row = row_of_packet(type, rest, layers);
    if ((flags & (KEY | VERSION)) == KEY)
        flow_tunnel_network(layers, octets_get32(header + HEADER_OCTETS + ((flags & CHECKSUM) != 0 ? 4u : 0u)));
    return row;
}

/* RFC 3378: two octets, then a frame. */
static enum flow_row row_of_etherip(struct flow_rest rest, struct flow_layers *layers)
{
    return flow_rest_skip(&rest, 2) ? flow_tunnel_ethernet(&rest, layers) : FLOW_ROW_TUNNEL;
}

/* RFC 3931 4.1: a control message has the session 0. */
static enum flow_row row_of_l2tpv3(const struct flow_rest *rest)
{
    return rest->captured >= 4 && octets_get32(rest->octets) == 0 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
}

/* RFC 7761 4.9: a Register message has a packet in it, which is none but multicast. */
static enum flow_row row_of_pim(struct flow_rest rest, struct flow_layers *layers)
{
    enum { REGISTER = 1, REGISTER_OCTETS = 8 };

    if (rest.captured == 0)
        return FLOW_ROW_TUNNEL;
    if ((rest.octets[0] & 0xF) != REGISTER)
        return FLOW_ROW_IP_PROTOCOL;
    if (!flow_rest_skip(&rest, REGISTER_OCTETS))
        return FLOW_ROW_TUNNEL;
    return flow_tunnel_ip(&rest, layers);
}

enum flow_row flow_tunnel_ip_protocol(unsigned protocol, const struct flow_rest *rest, struct flow_layers *layers)
{
    switch (protocol) {
    case 4: /* IPv4 (RFC 2003) */
    case 41: /* IPv6 (RFC 2473) */ return flow_tunnel_ip(rest, layers);
    case 47: return row_of_gre(*rest, layers);
    case 50: /* ESP: encrypted */
    case 55: /* Mobile IP's minimal encapsulation, which has no second header (RFC 2004) */
    case 94: /* IP within IP of older systems */
    case 108: /* IPComp: compressed */ return FLOW_ROW_TUNNEL;
    case 97: return row_of_etherip(*rest, layers);
    case 103: return row_of_pim(*rest, layers);
    case 115: return row_of_l2tpv3(rest);
    case 137: return row_of_mpls(*rest, layers);
    default: return flow_known_ip_protocol(protocol);
    }
}
