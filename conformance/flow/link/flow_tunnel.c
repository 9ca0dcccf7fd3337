/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunnels. What is in one is decoded as if it stood alone, and has the tunnel in its key: connections in two tunnels
 * may have the same addresses and ports. A tunnel whose packet is certainly foreign is foreign itself; one that cannot
 * be read is unjudged: it is encrypted, compressed, in a form that stands not here, or the capture cut it.
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
    PPP_MPLS = 0x0281,
    GRE_ERSPAN = 0x88BE,
    GRE_ERSPAN_3 = 0x22EB,
    PPP_CONTROL = 0x8000, /* control protocols of the network and link layers (RFC 1661 2) */
};

/* ---- what is inside ---------------------------------------------------------------------------------------------- */

static uint32_t hash_octets(const uint8_t *octets, size_t count)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ octets[i]) * 16777619u;
    return hash;
}

/* Between which addresses the tunnel is, the same for both directions; 0: it has none. */
static uint32_t ends_of(const struct flow_datagram *outer)
{
    size_t octets = outer->family == 4 ? 4 : 16;

    if (outer->source == NULL || outer->destination == NULL)
        return 0;
    return hash_octets(outer->source, octets) + hash_octets(outer->destination, octets);
}

/* What follows is in a tunnel. False: in too many. */
static bool enter(enum flow_tunnel_kind kind, struct flow_layers *layers)
{
    if (layers->depth >= DEPTH_MAX)
        return false;
    layers->depth++;
    layers->tunnel.kind = (uint8_t)kind;
    layers->tunnel.ends += ends_of(&layers->datagram);
    layers->datagram = (struct flow_datagram){0};
    return true;
}

void flow_tunnel_network(struct flow_layers *layers, uint32_t network)
{
    layers->tunnel.network = network;
    layers->tunnel.ends += network * 2654435761u;
}

static enum flow_protocol not_read(struct flow_layers *layers)
{
    return flow_layers_none(layers, FLOW_ROW_TUNNEL);
}

/* The row of a tunnel by that of what is in it. */
static enum flow_protocol leave(enum flow_protocol protocol, struct flow_layers *layers)
{
    if (protocol == FLOW_PROTOCOL_NONE)
        layers->row = flow_account_row(layers->row)->kind == FLOW_FOREIGN ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
    return protocol;
}

enum flow_protocol flow_tunnel_packet(enum flow_tunnel_kind kind, unsigned type, const struct flow_rest *rest,
                                      struct flow_layers *layers)
{
    struct flow_rest inner = *rest;

    return enter(kind, layers) ? leave(flow_by_ethertype(type, &inner, layers), layers) : not_read(layers);
}

enum flow_protocol flow_tunnel_ethernet(enum flow_tunnel_kind kind, const struct flow_rest *rest,
                                        struct flow_layers *layers)
{
    struct flow_rest inner = *rest;

    return enter(kind, layers) ? leave(flow_by_ethernet(&inner, layers), layers) : not_read(layers);
}

enum flow_protocol flow_tunnel_ip(enum flow_tunnel_kind kind, const struct flow_rest *rest, struct flow_layers *layers)
{
    if (rest->captured == 0)
        return not_read(layers);
    switch (rest->octets[0] >> 4) {
    case 4: return flow_tunnel_packet(kind, ETHERTYPE_IPV4, rest, layers);
    case 6: return flow_tunnel_packet(kind, ETHERTYPE_IPV6, rest, layers);
    default: return not_read(layers);
    }
}

/*
 * From the PPP protocol on (RFC 1661 2), which one octet says when it is compressed; *protocol is 0 where nothing is
 * left.
 */
static void step_ppp(struct flow_rest *rest, unsigned *protocol)
{
    unsigned octets;

    *protocol = 0;
    if (rest->captured >= 2 && rest->octets[0] == 0xFF && rest->octets[1] == 0x03) /* address and control (RFC 1662) */
        flow_rest_skip(rest, 2);
    if (rest->captured < 2)
        return;
    octets = (rest->octets[0] & 1) != 0 ? 1 : 2;
    *protocol = octets == 1 ? rest->octets[0] : octets_get16(rest->octets);
    flow_rest_skip(rest, octets);
}

enum flow_protocol flow_tunnel_ppp(enum flow_tunnel_kind kind, struct flow_rest rest, struct flow_layers *layers)
{
    unsigned protocol;

    step_ppp(&rest, &protocol);
    if (protocol == PPP_IPV4 || protocol == PPP_IPV6)
        return flow_tunnel_ip(kind, &rest, layers);
    return flow_layers_none(layers, (protocol & PPP_CONTROL) != 0 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL);
}

enum flow_protocol flow_by_ppp(struct flow_rest *rest, struct flow_layers *layers)
{
    unsigned protocol;

    step_ppp(rest, &protocol);
    switch (protocol) {
    case 0: return flow_layers_short(layers, rest, 2, FLOW_ROW_LINK_HEADER);
    case PPP_IPV4: return flow_ipv4(rest, layers);
    case PPP_IPV6: return flow_ipv6(rest, layers);
    case PPP_MPLS: return flow_tunnel_mpls(*rest, layers);
    default: return flow_layers_none(layers, (protocol & PPP_CONTROL) != 0 ? FLOW_ROW_LLC : FLOW_ROW_LLC_UNKNOWN);
    }
}

/*
 * Label stack entries (RFC 3032 2.1). What follows says by its version alone that it is IP: anything else is not known.
 */
enum flow_protocol flow_tunnel_mpls(struct flow_rest rest, struct flow_layers *layers)
{
    enum { ENTRY_OCTETS = 4, BOTTOM = 1, BOTTOM_AT = 2 };

    for (unsigned i = 0; i < LABELS_MAX && rest.captured >= ENTRY_OCTETS; i++) {
        bool bottom = (rest.octets[BOTTOM_AT] & BOTTOM) != 0;

        flow_rest_skip(&rest, ENTRY_OCTETS);
        if (bottom)
            return flow_tunnel_ip(FLOW_IN_MPLS, &rest, layers);
    }
    return not_read(layers);
}

/* RFC 2516 4: version, code, session, length. */
enum flow_protocol flow_tunnel_pppoe(struct flow_rest rest, struct flow_layers *layers)
{
    enum { HEADER_OCTETS = 6, SESSION_AT = 2, LENGTH_AT = 4 };
    unsigned session;
    size_t length;

    if (rest.captured < HEADER_OCTETS)
        return not_read(layers);
    session = octets_get16(rest.octets + SESSION_AT);
    length = octets_get16(rest.octets + LENGTH_AT);
    flow_rest_skip(&rest, HEADER_OCTETS);
    if (length <= rest.length)
        flow_rest_limit(&rest, length);
    flow_tunnel_network(layers, session);
    return flow_tunnel_ppp(FLOW_IN_PPPOE, rest, layers);
}

/* Virtual interfaces of a port extender, then an EtherType. */
static enum flow_protocol by_vn_tag(struct flow_rest rest, struct flow_layers *layers)
{
    enum { HEADER_OCTETS = 6, TYPE_AT = 4 };
    unsigned type;

    if (rest.captured < HEADER_OCTETS)
        return not_read(layers);
    type = octets_get16(rest.octets + TYPE_AT);
    flow_rest_skip(&rest, HEADER_OCTETS);
    return flow_tunnel_packet(FLOW_IN_VN_TAG, type, &rest, layers);
}

/* IEEE 802.1ah: flags and the number of the service (I-SID), then a frame. */
static enum flow_protocol by_i_tag(struct flow_rest rest, struct flow_layers *layers)
{
    enum { HEADER_OCTETS = 4, SERVICE = 0xFFFFFF };

    if (rest.captured < HEADER_OCTETS)
        return not_read(layers);
    flow_tunnel_network(layers, octets_get32(rest.octets) & SERVICE);
    flow_rest_skip(&rest, HEADER_OCTETS);
    return flow_tunnel_ethernet(FLOW_IN_PBB, &rest, layers);
}

enum flow_protocol flow_tunnel_ethertype(unsigned type, const struct flow_rest *rest, struct flow_layers *layers)
{
    struct flow_rest inner = *rest;

    switch (type) {
    case ETHERTYPE_MPLS:
    case ETHERTYPE_MPLS_MULTICAST: return flow_tunnel_mpls(*rest, layers);
    case ETHERTYPE_PPPOE: return flow_tunnel_pppoe(*rest, layers);
    case ETHERTYPE_PPP: return flow_tunnel_ppp(FLOW_IN_PPP, *rest, layers);
    case ETHERTYPE_BRIDGED: return flow_tunnel_ethernet(FLOW_IN_BRIDGED, rest, layers);
    case ETHERTYPE_FABRIC_PATH: /* a forwarding tag, then a frame */
        return flow_rest_skip(&inner, 2) ? flow_tunnel_ethernet(FLOW_IN_FABRIC_PATH, &inner, layers) : not_read(layers);
    case ETHERTYPE_VN_TAG: return by_vn_tag(*rest, layers);
    case ETHERTYPE_I_TAG: return by_i_tag(*rest, layers);
    default: return flow_layers_none(layers, flow_known_ethertype(type));
    }
}

/* ---- above IP ---------------------------------------------------------------------------------------------------- */

/* A frame of IEEE 802.11 (9.2.4): data that is neither encrypted nor aggregated has an LLC header after its own. */
static enum flow_protocol by_wireless(struct flow_rest rest, struct flow_layers *layers)
{
    enum { HEADER_OCTETS = 24, FOURTH_ADDRESS = 6, QOS_OCTETS = 2, AGGREGATED = 0x80, LENGTH_MOST = 0x5FF };
    enum { TYPE = 0x0C, DATA = 0x08, NO_DATA = 0x40, QOS = 0x80, BOTH_WAYS = 0x03, ENCRYPTED = 0x40, ORDER = 0x80 };
    size_t octets = HEADER_OCTETS;
    unsigned control, flags;

    if (rest.captured < HEADER_OCTETS)
        return not_read(layers);
    control = rest.octets[0];
    flags = rest.octets[1];
    if ((control & TYPE) == 0 ||
        ((control & TYPE) == DATA && (control & NO_DATA) != 0)) /* management; data of 0 octets */
        return flow_layers_none(layers, FLOW_ROW_TUNNEL_FOREIGN);
    if ((control & TYPE) != DATA || (flags & (ENCRYPTED | ORDER)) != 0)
        return not_read(layers);
    octets += (flags & BOTH_WAYS) == BOTH_WAYS ? FOURTH_ADDRESS : 0;
    if ((control & QOS) != 0) {
        if (rest.captured < octets + QOS_OCTETS || (rest.octets[octets] & AGGREGATED) != 0)
            return not_read(layers);
        octets += QOS_OCTETS;
    }
    if (!flow_rest_skip(&rest, octets) || rest.length > LENGTH_MOST)
        return not_read(layers);
    return flow_tunnel_packet(FLOW_IN_WIRELESS, (unsigned)rest.length, &rest, layers);
}

/*
 * How many octets a header of ERSPAN has after that of GRE (draft-foschiano-erspan); type I has none, and no sequence
 * number.
 */
static size_t erspan_octets(const struct flow_rest *rest, unsigned type, bool has_sequence)
{
    enum { ERSPAN_2 = 8, ERSPAN_3 = 12, MORE = 1, MORE_OCTETS = 8 };

    if (type == GRE_ERSPAN)
        return has_sequence ? ERSPAN_2 : 0;
    return rest->captured >= ERSPAN_3 && (rest->octets[ERSPAN_3 - 1] & MORE) != 0 ? ERSPAN_3 + MORE_OCTETS : ERSPAN_3;
}

/* What follows the header of GRE, by its type. */
static enum flow_protocol by_gre_type(unsigned type, bool has_sequence, struct flow_rest rest,
                                      struct flow_layers *layers)
{
    enum { WIRELESS = 0x8200, WIRELESS_LAST = 0x82FF };

    if (type == GRE_ERSPAN || type == GRE_ERSPAN_3)
        return flow_rest_skip(&rest, erspan_octets(&rest, type, has_sequence))
                   ? flow_tunnel_ethernet(FLOW_IN_ERSPAN, &rest, layers)
                   : not_read(layers);
    if (type >= WIRELESS && type <= WIRELESS_LAST) /* of Aruba's access points */
        return by_wireless(rest, layers);
    return flow_tunnel_packet(FLOW_IN_GRE, type, &rest, layers);
}

/* RFC 2784 2, RFC 2890 2, RFC 2637 4.1. NVGRE's key has the number of a flow in its last octet (RFC 7637 3.2). */
enum flow_protocol flow_tunnel_gre(struct flow_rest rest, struct flow_layers *layers)
{
    enum { CHECKSUM = 0x8000, ROUTING = 0x4000, KEY = 0x2000, SEQUENCE = 0x1000, ACK = 0x0080, VERSION = 0x0007 };
    enum { HEADER_OCTETS = 4, FLOW_BITS = 8 };
    size_t octets = HEADER_OCTETS;
    unsigned flags, type;
    uint32_t key = 0;

    if (rest.captured < HEADER_OCTETS)
        return not_read(layers);
    flags = octets_get16(rest.octets);
    type = octets_get16(rest.octets + 2);
    if ((flags & ROUTING) != 0 || (flags & VERSION) > 1)
        return not_read(layers);
    octets += (flags & CHECKSUM) != 0 ? 4u : 0u;
    if ((flags & KEY) != 0) {
        if (rest.captured < octets + 4)
            return not_read(layers);
        key = octets_get32(rest.octets + octets) >> (type == ETHERTYPE_BRIDGED ? FLOW_BITS : 0);
        octets += 4;
    }
    octets += (flags & SEQUENCE) != 0 ? 4u : 0u;
    octets += (flags & VERSION) == 1 && (flags & ACK) != 0 ? 4u : 0u;
    if (!flow_rest_skip(&rest, octets))
        return not_read(layers);
    if ((flags & VERSION) == 1 && rest.length == 0) /* an acknowledgment alone */
        return flow_layers_none(layers, FLOW_ROW_TUNNEL_FOREIGN);
    if ((flags & VERSION) == 0) /* in PPTP it is that of a call, another one in each direction */
        flow_tunnel_network(layers, key);
    return by_gre_type(type, (flags & SEQUENCE) != 0, rest, layers);
}

/* RFC 3378: two octets, then a frame. */
static enum flow_protocol by_etherip(struct flow_rest rest, struct flow_layers *layers)
{
    return flow_rest_skip(&rest, 2) ? flow_tunnel_ethernet(FLOW_IN_ETHERIP, &rest, layers) : not_read(layers);
}

/* RFC 3931 4.1: a control message has the session 0. */
static enum flow_row row_of_l2tpv3(const struct flow_rest *rest)
{
    return rest->captured >= 4 && octets_get32(rest->octets) == 0 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
}

/* RFC 7761 4.9: a Register message has a packet in it, which is none but multicast. */
static enum flow_protocol by_pim(struct flow_rest rest, struct flow_layers *layers)
{
    enum { REGISTER = 1, REGISTER_OCTETS = 8 };

    if (rest.captured == 0)
        return not_read(layers);
    if ((rest.octets[0] & 0xF) != REGISTER)
        return flow_layers_none(layers, FLOW_ROW_IP_PROTOCOL);
    if (!flow_rest_skip(&rest, REGISTER_OCTETS))
        return not_read(layers);
    return flow_tunnel_ip(FLOW_IN_PIM, &rest, layers);
}

enum flow_protocol flow_tunnel_ip_protocol(unsigned protocol, const struct flow_rest *rest, struct flow_layers *layers)
{
    switch (protocol) {
    case 4: /* IPv4 (RFC 2003) */
    case 41: /* IPv6 (RFC 2473) */ return flow_tunnel_ip(FLOW_IN_IP, rest, layers);
    case 47: return flow_tunnel_gre(*rest, layers);
    case 50: /* ESP: encrypted */
    case 55: /* Mobile IP's minimal encapsulation, which has no second header (RFC 2004) */
    case 94: /* IP within IP of older systems */
    case 108: /* IPComp: compressed */ return not_read(layers);
    case 97: return by_etherip(*rest, layers);
    case 103: return by_pim(*rest, layers);
    case 115: return flow_layers_none(layers, row_of_l2tpv3(rest));
    case 137: return flow_tunnel_mpls(*rest, layers);
    default: return flow_layers_none(layers, flow_known_ip_protocol(protocol));
    }
}
