/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link layers: from a frame's first octet to the IP, InfiniBand or RoCE packet in it, or to the row it is counted in.
 * What is in no table of flow_known.c and is not decoded may carry IP: it is unknown.
 */
#include <string.h>

#include "conformance/flow/link/flow_link_internal.h"

enum {
    ETHERTYPE_LEAST = 0x0600, /* below it is a length: IEEE 802.3 */
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_ARP = 0x0806,
    ETHERTYPE_IPV6 = 0x86DD,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_QINQ = 0x88A8,
    ETHERTYPE_QINQ_OLD = 0x9100,
    ETHERTYPE_ROCE = 0x8915,
    ETHERTYPE_APPLETALK = 0x809B,
    ETHERNET_OCTETS = 14,
    VLAN_OCTETS = 4,
    LLC_OCTETS = 3,
    SNAP_OCTETS = 8, /* LLC and SNAP headers */
    SAP_IP = 0x06,
    SAP_SNAP = 0xAA,
    UNNUMBERED = 0x03,
    DDP_TYPE_AT = 12, /* in AppleTalk's long header */
    DDP_TYPE_IP = 22,
    SLL_NOVELL = 1, /* protocol numbers of Linux cooked captures that are no EtherTypes */
    SLL_LLC = 4,
    SLL_CAN = 0x000C,
    SLL_CAN_FD = 0x000D,
    ARPHRD_NETLINK = 824,
    SLL_OCTETS = 16,
    SLL2_OCTETS = 20,
    FAMILY_OCTETS = 4,
    CISCO_HDLC_OCTETS = 4,
};

bool flow_link_known(uint32_t link)
{
    switch (link) {
#define KNOWN(name, number) case FLOW_LINK_##name:
        FLOW_LINKS(KNOWN)
#undef KNOWN
        return true;
    default: return false;
    }
}

/* Where the link header has the EtherType, and how many octets it has; 0: it has none, an IP header comes first. */
static size_t type_place(uint32_t link, size_t *header)
{
    switch (link) {
    case FLOW_LINK_ETHERNET: *header = ETHERNET_OCTETS; return 12;
    case FLOW_LINK_LINUX_SLL: *header = SLL_OCTETS; return 14;
    case FLOW_LINK_CISCO_HDLC: *header = CISCO_HDLC_OCTETS; return 2;
    case FLOW_LINK_LINUX_SLL2: *header = SLL2_OCTETS; return 0;
    default: *header = link == FLOW_LINK_NULL || link == FLOW_LINK_LOOP ? FAMILY_OCTETS : 0; return SIZE_MAX;
    }
}

/* Steps over tags. False: cut. */
static bool step_tags(struct flow_rest *rest, unsigned *type)
{
    while (*type == ETHERTYPE_VLAN || *type == ETHERTYPE_QINQ || *type == ETHERTYPE_QINQ_OLD) {
        if (rest->captured < VLAN_OCTETS)
            return false;
        *type = octets_get16(rest->octets + 2);
        flow_rest_skip(rest, VLAN_OCTETS);
    }
    return true;
}

/*
 * A SNAP header: an EtherType follows (RFC 1042, IEEE 802.1H), a frame (RFC 2684 5.3), or a manufacturer's own
 * protocol.
 */
static enum flow_protocol by_snap(struct flow_rest *rest, struct flow_layers *layers)
{
    enum { ENCAPSULATED = 0x000000, BRIDGE_TUNNEL = 0x0000F8 };
    unsigned organization, protocol;

    if (rest->captured < SNAP_OCTETS)
        return flow_layers_short(layers, rest, SNAP_OCTETS, FLOW_ROW_LINK_HEADER);
    organization = octets_get32(rest->octets + 2) & 0xFFFFFF;
    protocol = octets_get16(rest->octets + 6);
    flow_rest_skip(rest, SNAP_OCTETS);
    if (organization == ENCAPSULATED || organization == BRIDGE_TUNNEL)
        return flow_by_ethertype(protocol, rest, layers);
    return flow_layers_none(layers, flow_known_snap(organization, protocol));
}

/* IEEE 802.2, after a length or in a Linux cooked capture. */
static enum flow_protocol by_llc(struct flow_rest *rest, struct flow_layers *layers)
{
    const uint8_t *header = rest->octets;

    if (rest->captured < LLC_OCTETS)
        return flow_layers_short(layers, rest, LLC_OCTETS, FLOW_ROW_LINK_HEADER);
    if ((header[0] | 1) == (SAP_SNAP | 1) && (header[1] | 1) == (SAP_SNAP | 1) && header[2] == UNNUMBERED)
        return by_snap(rest, layers);
    if (header[0] == SAP_IP && header[1] == SAP_IP && header[2] == UNNUMBERED) {
        flow_rest_skip(rest, LLC_OCTETS);
        return flow_ipv4(rest, layers);
    }
    return flow_layers_none(layers, flow_known_llc(header[0], header[1]));
}

/* AppleTalk can carry IP (MacIP): its long header says so. */
static enum flow_row row_of_appletalk(const struct flow_rest *rest)
{
    if (rest->captured <= DDP_TYPE_AT)
        return rest->captured < rest->length ? FLOW_ROW_CUT_HEADERS : FLOW_ROW_ETHERTYPE;
    return rest->octets[DDP_TYPE_AT] == DDP_TYPE_IP ? FLOW_ROW_TUNNEL : FLOW_ROW_ETHERTYPE;
}

/* Of a type that nobody knows, and no octet of a stream has room after it: foreign. */
static enum flow_protocol by_type_of_others(unsigned type, const struct flow_rest *rest, struct flow_layers *layers)
{
    enum { NO_ROOM = 40 }; /* the headers of IP and TCP */
    enum flow_protocol protocol = flow_tunnel_ethertype(type, rest, layers);

    if (protocol == FLOW_PROTOCOL_NONE && layers->row == FLOW_ROW_ETHERTYPE_UNKNOWN && rest->length <= NO_ROOM)
        layers->row = FLOW_ROW_ETHERTYPE;
    return protocol;
}

enum flow_protocol flow_by_ethertype(unsigned type, struct flow_rest *rest, struct flow_layers *layers)
{
    if (!step_tags(rest, &type))
        return flow_layers_short(layers, rest, VLAN_OCTETS, FLOW_ROW_LINK_HEADER);
    switch (type) {
    case ETHERTYPE_IPV4: return flow_ipv4(rest, layers);
    case ETHERTYPE_IPV6: return flow_ipv6(rest, layers);
    case ETHERTYPE_ROCE:
        return flow_layers_datagram(layers, FLOW_PROTOCOL_GRH, rest->octets, rest->captured, rest->length);
    case ETHERTYPE_APPLETALK: return flow_layers_none(layers, row_of_appletalk(rest));
    default: break;
    }
    if (type >= ETHERTYPE_LEAST)
        return by_type_of_others(type, rest, layers);
    if (type <= rest->length) /* a length; after it stands padding */
        flow_rest_limit(rest, type);
    return by_llc(rest, layers);
}

static enum flow_protocol by_version(uint32_t link, uint32_t family, struct flow_rest *rest, struct flow_layers *layers)
{
    unsigned version = rest->captured > 0 ? rest->octets[0] >> 4 : 0;

    if (rest->captured == 0)
        return flow_layers_short(layers, rest, 1, FLOW_ROW_LINK_HEADER);
    if (version == 4)
        return flow_ipv4(rest, layers);
    if (version == 6)
        return flow_ipv6(rest, layers);
    if (link != FLOW_LINK_NULL && link != FLOW_LINK_LOOP)
        return flow_layers_none(layers, FLOW_ROW_IP_HEADER);
    return flow_layers_none(layers, flow_known_family(family) ? FLOW_ROW_ETHERTYPE : FLOW_ROW_ETHERTYPE_UNKNOWN);
}

/* The family of a loopback frame, whose order of octets is that of the machine: families are small numbers. */
static uint32_t family_of(const uint8_t *header)
{
    uint32_t family = octets_get32(header);

    return family > UINT16_MAX ? __builtin_bswap32(family) : family;
}

/* Linux cooked captures have numbers of their own where others have an EtherType, and other links than Ethernet's. */
static enum flow_protocol by_cooked(unsigned type, unsigned hardware, struct flow_rest *rest,
                                    struct flow_layers *layers)
{
    if (hardware == ARPHRD_NETLINK || type == SLL_NOVELL || type == SLL_CAN || type == SLL_CAN_FD)
        return flow_layers_none(layers, FLOW_ROW_LLC);
    if (type == SLL_LLC)
        return by_llc(rest, layers);
    if (type < ETHERTYPE_LEAST)
        return flow_layers_none(layers, FLOW_ROW_LLC_UNKNOWN);
    return flow_by_ethertype(type, rest, layers);
}

static enum flow_protocol by_type(uint32_t link, struct flow_rest *rest, struct flow_layers *layers)
{
    size_t header, place = type_place(link, &header);
    const uint8_t *start = rest->octets;
    unsigned type;

    if (rest->captured < header)
        return flow_layers_short(layers, rest, header, FLOW_ROW_LINK_HEADER);
    flow_rest_skip(rest, header);
    if (place == SIZE_MAX)
        return by_version(link, header != 0 ? family_of(start) : 0, rest, layers);
    type = octets_get16(start + place);
    if (link == FLOW_LINK_LINUX_SLL)
        return by_cooked(type, octets_get16(start + 2), rest, layers);
    if (link == FLOW_LINK_LINUX_SLL2)
        return by_cooked(type, octets_get16(start + 8), rest, layers);
    return flow_by_ethertype(type, rest, layers);
}

enum flow_protocol flow_by_ethernet(struct flow_rest *rest, struct flow_layers *layers)
{
    return by_type(FLOW_LINK_ETHERNET, rest, layers);
}

enum {
    ERF_OCTETS = 16,
    ERF_TYPE = 8,
    ERF_MORE_HEADERS = 0x80,
    ERF_ETHERNET = 2,
    ERF_COLOR_ETHERNET = 11,
    ERF_DSM_COLOR_ETHERNET = 16,
    ERF_COLOR_HASH_ETHERNET = 20,
    ERF_INFINIBAND = 21,
    ERF_IPV4 = 22,
    ERF_IPV6 = 23,
    ERF_INFINIBAND_LINK = 25,
    ERF_META = 27,
    ERF_PAD = 48,
    ERF_ETHERNET_PAD = 2,
    ERF_EXTENSION_OCTETS = 8,
};

static bool erf_is_ethernet(unsigned type)
{
    return type == ERF_ETHERNET || type == ERF_COLOR_ETHERNET || type == ERF_DSM_COLOR_ETHERNET ||
           type == ERF_COLOR_HASH_ETHERNET;
}

/* The header of an ERF record, with its extensions; *type is its type without flags. False: cut. */
static bool erf_header(struct flow_rest *rest, unsigned *type)
{
    bool more;

    if (rest->captured < ERF_OCTETS)
        return false;
    *type = rest->octets[ERF_TYPE] & 0x7F;
    more = (rest->octets[ERF_TYPE] & ERF_MORE_HEADERS) != 0;
    flow_rest_skip(rest, ERF_OCTETS);
    while (more) {
        if (rest->captured < ERF_EXTENSION_OCTETS)
            return false;
        more = (rest->octets[0] & ERF_MORE_HEADERS) != 0;
        flow_rest_skip(rest, ERF_EXTENSION_OCTETS);
    }
    return !erf_is_ethernet(*type) || flow_rest_skip(rest, ERF_ETHERNET_PAD);
}

static enum flow_protocol by_erf(struct flow_rest *rest, struct flow_layers *layers)
{
    unsigned type = 0;

    if (!erf_header(rest, &type))
        return flow_layers_short(layers, rest, ERF_OCTETS, FLOW_ROW_LINK_HEADER);
    if (erf_is_ethernet(type))
        return flow_by_ethernet(rest, layers);
    switch (type) {
    case ERF_INFINIBAND:
        return flow_layers_datagram(layers, FLOW_PROTOCOL_INFINIBAND, rest->octets, rest->captured, rest->length);
    case ERF_IPV4: return flow_ipv4(rest, layers);
    case ERF_IPV6: return flow_ipv6(rest, layers);
    case ERF_INFINIBAND_LINK: /* flow control */
    case ERF_META:            /* of the capture card */
    case ERF_PAD: return flow_layers_none(layers, FLOW_ROW_ERF);
    default: return flow_layers_none(layers, FLOW_ROW_ERF_UNKNOWN);
    }
}

enum flow_protocol flow_link_frame(const struct flow_frame *frame, struct flow_layers *layers)
{
    struct flow_rest rest = {frame->octets, frame->captured, frame->length};

    memset(&layers->datagram, 0, sizeof(layers->datagram));
    layers->bad_checksum = false;
    layers->depth = 0;
    layers->tunnel = (struct flow_tunnel){0};
    if (rest.length < rest.captured)
        rest.length = rest.captured;
    switch (frame->link) {
    case FLOW_LINK_ERF: return by_erf(&rest, layers);
    case FLOW_LINK_INFINIBAND:
        return flow_layers_datagram(layers, FLOW_PROTOCOL_INFINIBAND, rest.octets, rest.captured, rest.length);
    case FLOW_LINK_PPP_DIRECTED:
        return flow_rest_skip(&rest, 1) ? flow_by_ppp(&rest, layers)
                                        : flow_layers_short(layers, &rest, 1, FLOW_ROW_LINK_HEADER);
    case FLOW_LINK_PPP:
    case FLOW_LINK_PPP_HDLC: return flow_by_ppp(&rest, layers);
    case FLOW_LINK_PPPOE: return flow_tunnel_pppoe(rest, layers);
    case FLOW_LINK_MPLS: return flow_tunnel_mpls(rest, layers);
    default: break;
    }
    if (!flow_link_known(frame->link))
        return flow_layers_none(layers, frame->link == FLOW_LINK_NONE ? FLOW_ROW_NO_INTERFACE : FLOW_ROW_LINK_TYPE);
    return by_type(frame->link, &rest, layers);
}
