/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/flow_internal.h"

#include <string.h>

enum {
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_IPV6 = 0x86DD,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_QINQ = 0x88A8,
    ETHERTYPE_QINQ_OLD = 0x9100,
    ETHERTYPE_ROCE = 0x8915,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_SCTP = 132,
    PROTOCOL_HOP_BY_HOP = 0,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_AUTHENTICATION = 51,
    PROTOCOL_DESTINATION = 60,
    PROTOCOL_MOBILITY = 135,
    ETHERNET_OCTETS = 14,
    VLAN_OCTETS = 4,
    SLL_OCTETS = 16,
    SLL2_OCTETS = 20,
    FAMILY_OCTETS = 4,
    IPV4_OCTETS = 20,
    IPV6_OCTETS = 40,
    TCP_OCTETS = 20,
};

/* What is left of a frame: octets captured, and octets that the wire had. */
struct rest {
    const uint8_t *octets;
    size_t captured;
    size_t length;
};

static bool rest_skip(struct rest *rest, size_t count)
{
    if (rest->captured < count)
        return false;
    rest->octets += count;
    rest->captured -= count;
    rest->length -= count;
    return true;
}

/* Padding and what else stands behind the datagram is no part of it. */
static void rest_limit(struct rest *rest, size_t length)
{
    rest->length = length;
    if (rest->captured > length)
        rest->captured = length;
}

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

/* Steps over the link header. Gives the Ethertype, or that of the IP version in the first octet. 0: not IP, or cut. */
static unsigned link_header(uint32_t link, struct rest *rest)
{
    unsigned type = 0;

    switch (link) {
    case FLOW_LINK_ETHERNET:
        if (rest->captured < ETHERNET_OCTETS)
            return 0;
        type = octets_get16(rest->octets + 12);
        rest_skip(rest, ETHERNET_OCTETS);
        break;
    case FLOW_LINK_LINUX_SLL:
        if (rest->captured < SLL_OCTETS)
            return 0;
        type = octets_get16(rest->octets + 14);
        rest_skip(rest, SLL_OCTETS);
        break;
    case FLOW_LINK_LINUX_SLL2:
        if (rest->captured < SLL2_OCTETS)
            return 0;
        type = octets_get16(rest->octets);
        rest_skip(rest, SLL2_OCTETS);
        break;
    case FLOW_LINK_NULL:
    case FLOW_LINK_LOOP:
        /* The family's number for IPv6 differs from system to system: the version in the IP header decides. */
        if (!rest_skip(rest, FAMILY_OCTETS))
            return 0;
        break;
    default: break;
    }
    while (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ || type == ETHERTYPE_QINQ_OLD) {
        if (rest->captured < VLAN_OCTETS)
            return 0;
        type = octets_get16(rest->octets + 2);
        rest_skip(rest, VLAN_OCTETS);
    }
    if (type == 0 && rest->captured > 0 && link != FLOW_LINK_ETHERNET && link != FLOW_LINK_LINUX_SLL &&
        link != FLOW_LINK_LINUX_SLL2)
        type = rest->octets[0] >> 4 == 4 ? ETHERTYPE_IPV4 : rest->octets[0] >> 4 == 6 ? ETHERTYPE_IPV6 : 0;
    return type;
}

enum network { NETWORK_TCP, NETWORK_OTHER, NETWORK_MALFORMED, NETWORK_FRAGMENT, NETWORK_CUT, NETWORK_DATAGRAM };

static enum network network_of(unsigned protocol)
{
    return protocol == PROTOCOL_TCP                                ? NETWORK_TCP
           : protocol == PROTOCOL_UDP || protocol == PROTOCOL_SCTP ? NETWORK_DATAGRAM
                                                                   : NETWORK_OTHER;
}

/* RFC 791 3.1. A total length of 0 is what captures of segmentation offload show: the frame's length counts then. */
static enum network ipv4_header(struct rest *rest, struct flow_datagram *datagram)
{
    const uint8_t *header = rest->octets;
    size_t header_octets, total;

    if (rest->captured < IPV4_OCTETS)
        return NETWORK_CUT;
    header_octets = (size_t)(header[0] & 0xF) * 4;
    total = octets_get16(header + 2);
    if (total == 0)
        total = rest->length;
    if (header[0] >> 4 != 4 || header_octets < IPV4_OCTETS || total < header_octets || total > rest->length)
        return NETWORK_MALFORMED;
    if ((octets_get16(header + 6) & 0x3FFF) != 0)
        return NETWORK_FRAGMENT;
    datagram->protocol = header[9];
    if (network_of(datagram->protocol) == NETWORK_OTHER)
        return NETWORK_OTHER;
    datagram->source = header + 12;
    datagram->destination = header + 16;
    datagram->ip = header_octets == IPV4_OCTETS ? header : NULL;
    datagram->ip_octets = total;
    rest_limit(rest, total);
    return rest_skip(rest, header_octets) ? network_of(datagram->protocol) : NETWORK_CUT;
}

/* RFC 8200 3 and 4. */
static enum network ipv6_header(struct rest *rest, struct flow_datagram *datagram)
{
    const uint8_t *header = rest->octets;
    unsigned next;
    size_t payload;

    if (rest->captured < IPV6_OCTETS)
        return NETWORK_CUT;
    if (header[0] >> 4 != 6)
        return NETWORK_MALFORMED;
    payload = octets_get16(header + 4);
    next = header[6];
    datagram->source = header + 8;
    datagram->destination = header + 24;
    datagram->ip = network_of(next) != NETWORK_OTHER ? header : NULL;
    datagram->ip_octets = payload != 0 ? IPV6_OCTETS + payload : rest->length;
    rest_skip(rest, IPV6_OCTETS);
    if (payload > rest->length)
        return NETWORK_MALFORMED;
    if (payload != 0)
        rest_limit(rest, payload);
    while (network_of(next) == NETWORK_OTHER) {
        size_t octets;

        if (rest->captured < 8)
            return rest->length < 8 ? NETWORK_OTHER : NETWORK_CUT;
        if (next == PROTOCOL_FRAGMENT) {
            if ((octets_get16(rest->octets + 2) & 0xFFF9) != 0)
                return NETWORK_FRAGMENT;
            octets = 8;
        } else if (next == PROTOCOL_AUTHENTICATION) {
            octets = ((size_t)rest->octets[1] + 2) * 4;
        } else if (next == PROTOCOL_HOP_BY_HOP || next == PROTOCOL_ROUTING || next == PROTOCOL_DESTINATION ||
                   next == PROTOCOL_MOBILITY) {
            octets = ((size_t)rest->octets[1] + 1) * 8;
        } else {
            return NETWORK_OTHER;
        }
        next = rest->octets[0];
        if (octets > rest->length)
            return NETWORK_MALFORMED;
        if (!rest_skip(rest, octets))
            return NETWORK_CUT;
    }
    datagram->protocol = next;
    return network_of(next);
}

/* RFC 9293 3.1 and 3.2: only the options that flows are interested in. */
static void tcp_options(const uint8_t *at, const uint8_t *end, struct flow_segment *segment)
{
    while (at < end && *at != 0) {
        size_t octets;

        if (*at == 1) {
            at++;
            continue;
        }
        if (end - at < 2 || at[1] < 2 || at[1] > end - at)
            return;
        octets = at[1];
        if (at[0] == 2 && octets == 4)
            segment->mss = octets_get16(at + 2);
        if (at[0] == 3 && octets == 3) {
            segment->has_scale = true;
            segment->scale = at[2];
        }
        at += octets;
    }
}

static void set_key(struct flow_segment *segment, unsigned family, const uint8_t *source, const uint8_t *destination,
                    uint16_t source_port, uint16_t destination_port)
{
    size_t octets = family == 4 ? 4 : 16;
    int order = memcmp(source, destination, octets);
    unsigned from;

    if (order == 0)
        order = source_port < destination_port ? -1 : 1;
    from = order < 0 ? 0 : 1;
    memset(&segment->key, 0, sizeof(segment->key));
    memcpy(segment->key.address[from], source, octets);
    memcpy(segment->key.address[1 - from], destination, octets);
    segment->key.port[from] = source_port;
    segment->key.port[1 - from] = destination_port;
    segment->key.family = (uint8_t)family;
    segment->side = from;
}

static enum network tcp_header(struct rest *rest, struct flow_segment *segment)
{
    const uint8_t *header = rest->octets;
    size_t header_octets;

    if (rest->captured < TCP_OCTETS)
        return rest->length < TCP_OCTETS ? NETWORK_MALFORMED : NETWORK_CUT;
    header_octets = (size_t)(header[12] >> 4) * 4;
    if (header_octets < TCP_OCTETS || header_octets > rest->length)
        return NETWORK_MALFORMED;
    segment->seq = octets_get32(header + 4);
    segment->ack = octets_get32(header + 8);
    segment->flags = header[13];
    segment->window = octets_get16(header + 14);
    segment->mss = 0;
    segment->has_scale = false;
    if ((segment->flags & TCP_BIT_SYN) != 0)
        tcp_options(header + TCP_OCTETS, header + (header_octets < rest->captured ? header_octets : rest->captured),
                    segment);
    /* Options cut off: the payload's octets are all missing, but it is known how many they are. */
    if (rest->captured < header_octets) {
        rest->octets += rest->captured;
        rest->captured = 0;
        rest->length -= header_octets;
    } else {
        rest_skip(rest, header_octets);
    }
    segment->payload = rest->octets;
    segment->captured = rest->captured;
    segment->length = rest->length;
    return NETWORK_TCP;
}

/* What is left is TCP when `network` says so: reads its header and counts what became of the frame. */
static bool segment_of(enum network network, struct rest *rest, unsigned family, const uint8_t *source,
                       const uint8_t *destination, struct flow_segment *segment, struct flow_totals *totals)
{
    if (network == NETWORK_TCP) {
        const uint8_t *header = rest->octets;

        network = tcp_header(rest, segment);
        if (network == NETWORK_TCP)
            set_key(segment, family, source, destination, octets_get16(header), octets_get16(header + 2));
    }
    switch (network) {
    case NETWORK_TCP: totals->tcp_segments++; return true;
    case NETWORK_FRAGMENT: totals->fragments++; return false;
    case NETWORK_MALFORMED: totals->malformed++; return false;
    case NETWORK_CUT:
        if (rest->length == rest->captured) /* else counted above */
            totals->malformed++;
        return false;
    case NETWORK_DATAGRAM:
    case NETWORK_OTHER: break;
    }
    totals->not_tcp++;
    return false;
}

static enum flow_protocol datagram_of(const struct rest *rest, enum flow_protocol protocol,
                                      struct flow_datagram *datagram)
{
    datagram->octets = rest->octets;
    datagram->captured = rest->captured;
    datagram->length = rest->length;
    datagram->protocol = protocol;
    return protocol;
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
static bool erf_header(struct rest *rest, unsigned *type)
{
    bool more;

    if (rest->captured < ERF_OCTETS)
        return false;
    *type = rest->octets[ERF_TYPE] & 0x7F;
    more = (rest->octets[ERF_TYPE] & ERF_MORE_HEADERS) != 0;
    rest_skip(rest, ERF_OCTETS);
    while (more) {
        if (rest->captured < ERF_EXTENSION_OCTETS)
            return false;
        more = (rest->octets[0] & ERF_MORE_HEADERS) != 0;
        rest_skip(rest, ERF_EXTENSION_OCTETS);
    }
    return *type != ERF_ETHERNET || rest_skip(rest, ERF_ETHERNET_PAD);
}

enum flow_protocol flow_link_frame(const struct flow_frame *frame, struct flow_segment *segment,
                                   struct flow_datagram *datagram, struct flow_totals *totals)
{
    struct rest rest = {frame->octets, frame->captured, frame->length};
    enum network network = NETWORK_OTHER;
    unsigned type = 0, erf = 0;
    uint32_t link = frame->link;

    memset(datagram, 0, sizeof(*datagram));
    if (rest.length < rest.captured)
        rest.length = rest.captured;
    if (rest.length > rest.captured)
        totals->cut_frames++;
    if (link == FLOW_LINK_ERF && erf_header(&rest, &erf))
        link = erf == ERF_INFINIBAND ? FLOW_LINK_INFINIBAND : erf == ERF_ETHERNET ? FLOW_LINK_ETHERNET : link;
    if (link == FLOW_LINK_INFINIBAND)
        return datagram_of(&rest, FLOW_PROTOCOL_INFINIBAND, datagram);
    if (flow_link_known(link) && link != FLOW_LINK_ERF)
        type = link_header(link, &rest);
    if (type == ETHERTYPE_ROCE)
        return datagram_of(&rest, FLOW_PROTOCOL_GRH, datagram);
    if (type == ETHERTYPE_IPV4) {
        datagram->family = 4;
        network = ipv4_header(&rest, datagram);
    } else if (type == ETHERTYPE_IPV6) {
        datagram->family = 6;
        network = ipv6_header(&rest, datagram);
    }
    if (network == NETWORK_DATAGRAM)
        return datagram_of(&rest, datagram->protocol == PROTOCOL_SCTP ? FLOW_PROTOCOL_SCTP : FLOW_PROTOCOL_UDP,
                           datagram);
    return segment_of(network, &rest, datagram->family, datagram->source, datagram->destination, segment, totals)
               ? FLOW_PROTOCOL_TCP
               : FLOW_PROTOCOL_NONE;
}

bool flow_link_packet(const struct flow_packet *packet, struct flow_segment *segment, struct flow_totals *totals)
{
    struct rest rest = {packet->octets, packet->captured, packet->length};

    if (rest.length < rest.captured)
        rest.length = rest.captured;
    if (rest.length > rest.captured)
        totals->cut_frames++;
    return segment_of(packet->family == 4 || packet->family == 6 ? NETWORK_TCP : NETWORK_OTHER, &rest, packet->family,
                      packet->source, packet->destination, segment, totals);
}
