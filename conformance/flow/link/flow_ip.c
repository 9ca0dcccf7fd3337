/* SPDX-License-Identifier: BSD-2-Clause */
/* IP headers and TCP's: from the IP packet to the TCP segment or datagram in it, or to the row it is counted in. */
#include <string.h>

#include "conformance/flow/link/flow_link_internal.h"

enum {
    PROTOCOL_HOP_BY_HOP = 0,
    PROTOCOL_IPV4 = 4,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_IPV6 = 41,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_GRE = 47,
    PROTOCOL_AUTHENTICATION = 51,
    PROTOCOL_DESTINATION = 60,
    PROTOCOL_SCTP = 132,
    PROTOCOL_MOBILITY = 135,
    PROTOCOL_UDP_LITE = 136,
    PROTOCOL_HOST_IDENTITY = 139,
    PROTOCOL_SHIM6 = 140,
    IPV4_OCTETS = 20,
    IPV6_OCTETS = 40,
    TCP_OCTETS = 20,
    EXTENSION_OCTETS = 8, /* least length of an IPv6 extension header */
    MORE_FRAGMENTS = 0x2000,
    FRAGMENT_OFFSET = 0x1FFF,
};

/* Tunnels too: what is in them a fragment does not say. */
static bool is_carried(unsigned protocol)
{
    return protocol == PROTOCOL_TCP || protocol == PROTOCOL_UDP || protocol == PROTOCOL_SCTP ||
           protocol == PROTOCOL_UDP_LITE || protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6 ||
           protocol == PROTOCOL_GRE;
}

/* ---- extension headers ------------------------------------------------------------------------------------------- */

/* How long an extension header is; 0: the number is not that of one. */
static size_t extension_octets(unsigned number, const uint8_t *header)
{
    switch (number) {
    case PROTOCOL_FRAGMENT: return EXTENSION_OCTETS;
    case PROTOCOL_AUTHENTICATION: return ((size_t)header[1] + 2) * 4;
    case PROTOCOL_HOP_BY_HOP:
    case PROTOCOL_ROUTING:
    case PROTOCOL_DESTINATION:
    case PROTOCOL_MOBILITY:
    case PROTOCOL_HOST_IDENTITY:
    case PROTOCOL_SHIM6: return ((size_t)header[1] + 1) * 8;
    default: return 0;
    }
}

static bool is_extension(unsigned number)
{
    static const uint8_t any[EXTENSION_OCTETS];

    return extension_octets(number, any) != 0;
}

/* IP packets of other protocols. A second Fragment header makes no sense. */
static enum flow_protocol by_other(unsigned number, const struct flow_rest *rest, struct flow_layers *layers)
{
    enum flow_protocol protocol;

    if (number == PROTOCOL_FRAGMENT)
        return flow_layers_none(layers, FLOW_ROW_IP_HEADER);
    protocol = flow_tunnel_ip_protocol(number, rest, layers);
    if (protocol == FLOW_PROTOCOL_NONE && layers->row == FLOW_ROW_IP_PROTOCOL_UNKNOWN && rest->length <= TCP_OCTETS &&
        rest->octets != NULL) /* no octet of a stream has room in it */
        layers->row = FLOW_ROW_IP_PROTOCOL;
    return protocol;
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

/* A fragment is kept only when its packet can have something to decode. */
static enum flow_protocol fragment_of(const struct flow_rest *rest, unsigned protocol, uint32_t id, unsigned offset,
                                      bool more, struct flow_layers *layers)
{
    static const struct flow_rest unknown; /* a fragment of a tunnel says nothing of what is in it */

    if (!is_carried(protocol) && !is_extension(protocol))
        return by_other(protocol, &unknown, layers);
    layers->fragment = (struct flow_fragment){
        .id = id,
        .protocol = (uint8_t)protocol,
        .offset = offset,
        .more = more,
        .octets = rest->octets,
        .captured = rest->captured,
        .length = rest->length,
    };
    return FLOW_PROTOCOL_FRAGMENT;
}

/* ---- ends of a connection -------------------------------------------------------------------------------------- */

static void set_key(struct flow_layers *layers, uint16_t source_port, uint16_t destination_port)
{
    const struct flow_datagram *datagram = &layers->datagram;
    size_t octets = datagram->family == 4 ? 4 : 16;
    int order = memcmp(datagram->source, datagram->destination, octets);
    struct flow_segment *segment = &layers->segment;
    unsigned from;

    if (order == 0)
        order = source_port < destination_port ? -1 : 1;
    from = order < 0 ? 0 : 1;
    memset(&segment->key, 0, sizeof(segment->key));
    memcpy(segment->key.address[from], datagram->source, octets);
    memcpy(segment->key.address[1 - from], datagram->destination, octets);
    segment->key.port[from] = source_port;
    segment->key.port[1 - from] = destination_port;
    segment->key.family = datagram->family;
    segment->key.tunnel = layers->tunnel;
    segment->side = from;
}

/*
 * The packet is longer than its frame, so that no receiver takes it. It is counted by what is there: a datagram of UDP
 * by its octets, a segment of TCP by the connection whose addresses and ports it has.
 */
static enum flow_protocol too_long(unsigned protocol, struct flow_rest inner, struct flow_layers *layers)
{
    if (protocol == PROTOCOL_UDP)
        return flow_layers_none(layers, flow_udp_broken(&inner) == FLOW_ROW_UDP ? FLOW_ROW_UDP : FLOW_ROW_IP_LENGTH);
    if (protocol != PROTOCOL_TCP || inner.captured < TCP_OCTETS)
        return flow_layers_none(layers, FLOW_ROW_IP_LENGTH);
    layers->segment = (struct flow_segment){.payload = inner.octets, .broken = true};
    set_key(layers, octets_get16(inner.octets), octets_get16(inner.octets + 2));
    return FLOW_PROTOCOL_TCP;
}

/* ---- IPv4 -------------------------------------------------------------------------------------------------------- */

/*
 * The one's complement sum of a header is 0xFFFF, whatever the machine's order of octets (RFC 1071 2). A checksum of 0:
 * the sender left it to its hardware.
 */
static bool checksum_is_wrong(const uint8_t *header, size_t octets)
{
    uint64_t sum = 0;
    uint32_t word;

    for (size_t i = 0; i < octets; i += sizeof(word)) {
        memcpy(&word, header + i, sizeof(word));
        sum += word;
    }
    sum = (sum & UINT32_MAX) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16 & 0xFFFF) + (sum >> 32);
    return sum % 0xFFFF != 0 && octets_get16(header + 10) != 0;
}

/* RFC 791 3.1. A total length of 0 is what captures of segmentation offload show: the frame's length counts then. */
enum flow_protocol flow_ipv4(struct flow_rest *rest, struct flow_layers *layers)
{
    const uint8_t *header = rest->octets;
    struct flow_datagram *datagram = &layers->datagram;
    size_t header_octets, total;
    unsigned fragment;

    if (rest->captured < IPV4_OCTETS)
        return flow_layers_short(layers, rest, IPV4_OCTETS, FLOW_ROW_IP_HEADER);
    header_octets = (size_t)(header[0] & 0xF) * 4;
    total = octets_get16(header + 2);
    if (total == 0)
        total = rest->length;
    if (header[0] >> 4 != 4 || header_octets < IPV4_OCTETS)
        return flow_layers_none(layers, FLOW_ROW_IP_HEADER);
    if (total < header_octets || (total > rest->length && rest->captured < header_octets))
        return flow_layers_none(layers, FLOW_ROW_IP_LENGTH);
    if (rest->captured < header_octets)
        return flow_layers_none(layers, FLOW_ROW_CUT_HEADERS);
    layers->bad_checksum |= checksum_is_wrong(header, header_octets);
    datagram->family = 4;
    datagram->source = header + 12;
    datagram->destination = header + 16;
    datagram->ip = header_octets == IPV4_OCTETS ? header : NULL;
    datagram->ip_octets = total;
    fragment = (unsigned)octets_get16(header + 6);
    if (total > rest->length) {
        flow_rest_skip(rest, header_octets);
        return (fragment & (MORE_FRAGMENTS | FRAGMENT_OFFSET)) != 0 ? flow_layers_none(layers, FLOW_ROW_IP_LENGTH)
                                                                    : too_long(header[9], *rest, layers);
    }
    flow_rest_limit(rest, total);
    flow_rest_skip(rest, header_octets);
    if ((fragment & (MORE_FRAGMENTS | FRAGMENT_OFFSET)) != 0)
        return fragment_of(rest, header[9], (uint32_t)octets_get16(header + 4), (fragment & FRAGMENT_OFFSET) * 8,
                           (fragment & MORE_FRAGMENTS) != 0, layers);
    return flow_ip_payload(rest, header[9], layers);
}

/* ---- IPv6 -------------------------------------------------------------------------------------------------------- */

/* RFC 8200 4: steps over extension headers to what the packet carries. An AH stands in IPv4 packets, too (RFC 4302). */
static enum flow_protocol extensions(struct flow_rest *rest, unsigned next, struct flow_layers *layers)
{
    while (is_extension(next)) {
        const uint8_t *header = rest->octets;
        size_t octets;

        if (rest->captured < EXTENSION_OCTETS)
            return flow_layers_short(layers, rest, EXTENSION_OCTETS, FLOW_ROW_IP_HEADER);
        octets = extension_octets(next, header);
        if (octets > rest->length)
            return flow_layers_none(layers, FLOW_ROW_IP_LENGTH);
        if (!flow_rest_skip(rest, octets))
            return flow_layers_none(layers, FLOW_ROW_CUT_HEADERS);
        if (next == PROTOCOL_FRAGMENT) {
            unsigned place = (unsigned)octets_get16(header + 2);

            if ((place & 0xFFF9) != 0) /* else the packet is in one piece all the same (RFC 6946) */
                return fragment_of(rest, header[0], octets_get32(header + 4), place & 0xFFF8, (place & 1) != 0, layers);
        }
        next = header[0];
    }
    return flow_ip_payload(rest, next, layers);
}

/* RFC 8200 3. */
enum flow_protocol flow_ipv6(struct flow_rest *rest, struct flow_layers *layers)
{
    const uint8_t *header = rest->octets;
    struct flow_datagram *datagram = &layers->datagram;
    size_t payload;

    if (rest->captured < IPV6_OCTETS)
        return flow_layers_short(layers, rest, IPV6_OCTETS, FLOW_ROW_IP_HEADER);
    if (header[0] >> 4 != 6)
        return flow_layers_none(layers, FLOW_ROW_IP_HEADER);
    payload = octets_get16(header + 4);
    datagram->family = 6;
    datagram->source = header + 8;
    datagram->destination = header + 24;
    datagram->ip = is_carried(header[6]) ? header : NULL;
    datagram->ip_octets = payload != 0 ? IPV6_OCTETS + payload : rest->length;
    flow_rest_skip(rest, IPV6_OCTETS);
    if (payload > rest->length)
        return too_long(header[6], *rest, layers);
    if (payload != 0)
        flow_rest_limit(rest, payload);
    return is_carried(header[6]) ? flow_ip_payload(rest, header[6], layers) : extensions(rest, header[6], layers);
}

/* ---- TCP --------------------------------------------------------------------------------------------------------- */

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

static enum flow_protocol tcp_header(struct flow_rest *rest, struct flow_layers *layers)
{
    const uint8_t *header = rest->octets;
    struct flow_segment *segment = &layers->segment;
    size_t header_octets;

    if (rest->captured < TCP_OCTETS)
        return flow_layers_short(layers, rest, TCP_OCTETS, FLOW_ROW_TCP_HEADER);
    header_octets = (size_t)(header[12] >> 4) * 4;
    if (header_octets < TCP_OCTETS || header_octets > rest->length)
        return flow_layers_none(layers, FLOW_ROW_TCP_HEADER);
    segment->seq = octets_get32(header + 4);
    segment->ack = octets_get32(header + 8);
    segment->flags = header[13];
    segment->window = octets_get16(header + 14);
    segment->header = header;
    segment->mss = 0;
    segment->broken = false;
    segment->has_scale = false;
    if ((segment->flags & TCP_BIT_SYN) != 0)
        tcp_options(header + TCP_OCTETS, header + (header_octets < rest->captured ? header_octets : rest->captured),
                    segment);
    segment->options_cut = rest->captured < header_octets;
    /* Options cut off: the payload's octets are all missing, but it is known how many they are. */
    if (rest->captured < header_octets) {
        rest->octets += rest->captured;
        rest->captured = 0;
        rest->length -= header_octets;
    } else {
        flow_rest_skip(rest, header_octets);
    }
    segment->payload = rest->octets;
    segment->captured = rest->captured;
    segment->length = rest->length;
    set_key(layers, octets_get16(header), octets_get16(header + 2));
    return FLOW_PROTOCOL_TCP;
}

/* ---- what an IP packet carries ----------------------------------------------------------------------------------- */

enum flow_protocol flow_ip_payload(struct flow_rest *rest, unsigned number, struct flow_layers *layers)
{
    switch (number) {
    case PROTOCOL_TCP: return tcp_header(rest, layers);
    case PROTOCOL_UDP: return flow_udp(rest, layers);
    case PROTOCOL_UDP_LITE: return flow_udp_lite(rest, layers);
    case PROTOCOL_SCTP:
        return flow_layers_datagram(layers, FLOW_PROTOCOL_SCTP, rest->octets, rest->captured, rest->length);
    default: break;
    }
    if (is_extension(number) &&
        (layers->datagram.family == 6 || number == PROTOCOL_AUTHENTICATION || number == PROTOCOL_HOST_IDENTITY))
        return extensions(rest, number, layers);
    return by_other(number, rest, layers);
}

enum flow_protocol flow_link_packet(const struct flow_packet *packet, struct flow_layers *layers)
{
    struct flow_rest rest = {packet->octets, packet->captured, packet->length};

    memset(&layers->datagram, 0, sizeof(layers->datagram));
    layers->bad_checksum = false;
    layers->depth = 0;
    layers->tunnel = (struct flow_tunnel){0};
    if (rest.length < rest.captured)
        rest.length = rest.captured;
    if (packet->family != 4 && packet->family != 6)
        return flow_layers_none(layers, FLOW_ROW_IP_PROTOCOL);
    layers->datagram.family = packet->family;
    layers->datagram.source = packet->source;
    layers->datagram.destination = packet->destination;
    return tcp_header(&rest, layers);
}
