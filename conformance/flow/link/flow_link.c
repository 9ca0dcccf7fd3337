/* SPDX-License-Identifier: BSD-2-Clause */
/* Link layers: from a frame's first octet to the IP, InfiniBand or RoCE packet in it, or to the row it is counted in. */
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
    ETHERTYPE_MPLS = 0x8847,
    ETHERTYPE_MPLS_MULTICAST = 0x8848,
    ETHERTYPE_PPPOE = 0x8864,
    ETHERTYPE_MACSEC = 0x88E5,
    ETHERNET_OCTETS = 14,
    VLAN_OCTETS = 4,
    SNAP_OCTETS = 8, /* LLC and SNAP headers */
    SLL_OCTETS = 16,
    SLL2_OCTETS = 20,
    FAMILY_OCTETS = 4,
};

bool flow_link_known(uint32_t link)
{
    switch (link) {
    case FLOW_LINK_NULL:
    case FLOW_LINK_ETHERNET:
    case FLOW_LINK_RAW_12:
    case FLOW_LINK_RAW_14:
    case FLOW_LINK_RAW:
    case FLOW_LINK_LOOP:
    case FLOW_LINK_LINUX_SLL:
    case FLOW_LINK_IPV4:
    case FLOW_LINK_IPV6:
    case FLOW_LINK_ERF:
    case FLOW_LINK_INFINIBAND:
    case FLOW_LINK_LINUX_SLL2: return true;
    default: return false;
    }
}

/* Where the link header has the EtherType, and how many octets it has; 0: it has none, an IP header comes first. */
static size_t type_place(uint32_t link, size_t *header)
{
    switch (link) {
    case FLOW_LINK_ETHERNET: *header = ETHERNET_OCTETS; return 12;
    case FLOW_LINK_LINUX_SLL: *header = SLL_OCTETS; return 14;
    case FLOW_LINK_LINUX_SLL2: *header = SLL2_OCTETS; return 0;
    default: *header = link == FLOW_LINK_NULL || link == FLOW_LINK_LOOP ? FAMILY_OCTETS : 0; return SIZE_MAX;
    }
}

/* Steps over tags, and over an LLC header of the kind that has an EtherType after it (RFC 1042). False: cut. */
static bool step_tags(struct flow_rest *rest, unsigned *type)
{
    static const uint8_t snap[] = {0xAA, 0xAA, 0x03, 0, 0, 0};

    while (*type == ETHERTYPE_VLAN || *type == ETHERTYPE_QINQ || *type == ETHERTYPE_QINQ_OLD) {
        if (rest->captured < VLAN_OCTETS)
            return false;
        *type = octets_get16(rest->octets + 2);
        flow_rest_skip(rest, VLAN_OCTETS);
    }
    if (*type < ETHERTYPE_LEAST && rest->captured >= SNAP_OCTETS && memcmp(rest->octets, snap, sizeof(snap)) == 0) {
        *type = octets_get16(rest->octets + 6);
        flow_rest_skip(rest, SNAP_OCTETS);
    }
    return true;
}

/* The row of frames with an EtherType that is not decoded. */
static enum flow_row row_of_type(unsigned type)
{
    switch (type) {
    case ETHERTYPE_ARP: return FLOW_ROW_ARP;
    case ETHERTYPE_MPLS:
    case ETHERTYPE_MPLS_MULTICAST:
    case ETHERTYPE_PPPOE:
    case ETHERTYPE_MACSEC: return FLOW_ROW_TUNNEL;
    default: return type < ETHERTYPE_LEAST ? FLOW_ROW_LLC : FLOW_ROW_ETHERTYPE;
    }
}

static enum flow_protocol by_version(uint32_t link, struct flow_rest *rest, struct flow_layers *layers)
{
    unsigned version = rest->captured > 0 ? rest->octets[0] >> 4 : 0;

    if (rest->captured == 0)
        return flow_layers_short(layers, rest, 1, FLOW_ROW_LINK_HEADER);
    if (version == 4)
        return flow_ipv4(rest, layers);
    if (version == 6)
        return flow_ipv6(rest, layers);
    /* The family's number differs from system to system: what has no IP version is of another family. */
    return flow_layers_none(layers,
                            link == FLOW_LINK_NULL || link == FLOW_LINK_LOOP ? FLOW_ROW_ETHERTYPE : FLOW_ROW_IP_HEADER);
}

static enum flow_protocol by_type(uint32_t link, struct flow_rest *rest, struct flow_layers *layers)
{
    size_t header, place = type_place(link, &header);
    unsigned type;

    if (rest->captured < header)
        return flow_layers_short(layers, rest, header, FLOW_ROW_LINK_HEADER);
    if (place == SIZE_MAX) {
        flow_rest_skip(rest, header);
        return by_version(link, rest, layers);
    }
    type = octets_get16(rest->octets + place);
    flow_rest_skip(rest, header);
    if (!step_tags(rest, &type))
        return flow_layers_short(layers, rest, VLAN_OCTETS, FLOW_ROW_LINK_HEADER);
    switch (type) {
    case ETHERTYPE_IPV4: return flow_ipv4(rest, layers);
    case ETHERTYPE_IPV6: return flow_ipv6(rest, layers);
    case ETHERTYPE_ROCE:
        return flow_layers_datagram(layers, FLOW_PROTOCOL_GRH, rest->octets, rest->captured, rest->length);
    default: return flow_layers_none(layers, row_of_type(type));
    }
}

enum {
    ERF_OCTETS = 16,
    ERF_TYPE = 8,
    ERF_MORE_HEADERS = 0x80,
    ERF_ETHERNET = 2,
    ERF_INFINIBAND = 21,
    ERF_ETHERNET_PAD = 2,
    ERF_EXTENSION_OCTETS = 8,
};

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
    return *type != ERF_ETHERNET || flow_rest_skip(rest, ERF_ETHERNET_PAD);
}

enum flow_protocol flow_link_frame(const struct flow_frame *frame, struct flow_layers *layers)
{
    struct flow_rest rest = {frame->octets, frame->captured, frame->length};
    uint32_t link = frame->link;
    unsigned erf = 0;

    memset(&layers->datagram, 0, sizeof(layers->datagram));
    layers->bad_checksum = false;
    if (rest.length < rest.captured)
        rest.length = rest.captured;
    if (link == FLOW_LINK_ERF) {
        if (!erf_header(&rest, &erf))
            return flow_layers_short(layers, &rest, ERF_OCTETS, FLOW_ROW_LINK_HEADER);
        if (erf != ERF_INFINIBAND && erf != ERF_ETHERNET)
            return flow_layers_none(layers, FLOW_ROW_ERF);
        link = erf == ERF_INFINIBAND ? FLOW_LINK_INFINIBAND : FLOW_LINK_ETHERNET;
    }
    if (link == FLOW_LINK_INFINIBAND)
        return flow_layers_datagram(layers, FLOW_PROTOCOL_INFINIBAND, rest.octets, rest.captured, rest.length);
    if (!flow_link_known(link))
        return flow_layers_none(layers, frame->link == FLOW_LINK_NONE ? FLOW_ROW_NO_INTERFACE : FLOW_ROW_LINK_TYPE);
    return by_type(link, &rest, layers);
}
