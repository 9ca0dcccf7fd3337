/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UDP: RoCEv2 on its port, SCTP between any ports (RFC 6951 leaves them open), and tunnels. A datagram is foreign when
 * neither an IP packet nor a TCP segment nor an MPA start-up frame nor an SCTP packet stands in its first octets, and
 * it is none of the encrypted tunnels that are known.
 */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "conformance/flow/link/flow_link_internal.h"
#include "wire/ddp_sctp.h"
#include "wire/infiniband.h"
#include "wire/mpa.h"
#include "wire/port_mapper.h"
#include "wire/sctp.h"

enum {
    UDP_OCTETS = 8,
    IPV4_OCTETS = 20,
    IPV6_OCTETS = 40,
    TCP_OCTETS = 20,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_ICMPV6 = 58,
    PROTOCOL_SCTP = 132,
    RESERVED_PORTS = 1024,
    LOOKED_AT = 128, /* octets in which a header may begin: those of known tunnels are shorter */
};

/* The ends of a packet, for the checksums of what may be in it. */
struct ends {
    const uint8_t *source, *destination;
    size_t octets; /* of each */
};

static struct ends ends_of(const struct flow_datagram *datagram)
{
    return (struct ends){datagram->source, datagram->destination, datagram->family == 4 ? 4 : 16};
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

static uint64_t sum_words(uint64_t sum, const uint8_t *octets, size_t count)
{
    size_t i = 0;

    for (; i + 2 <= count; i += 2)
        sum += octets_get16(octets + i);
    return i < count ? sum + ((uint64_t)octets[i] << 8) : sum;
}

static bool sum_is_right(uint64_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return sum == 0xFFFF;
}

/* That of TCP, UDP and ICMPv6, with their pseudo-header. */
static bool payload_sum_is_right(const struct ends *ends, unsigned protocol, const uint8_t *payload, size_t count)
{
    uint64_t sum = sum_words(protocol + count, ends->source, ends->octets);

    sum = sum_words(sum, ends->destination, ends->octets);
    return sum_is_right(sum_words(sum, payload, count));
}

/* ---- SCTP -------------------------------------------------------------------------------------------------------- */

/*
 * Chunks of known types fill the datagram. Where the capture cut it, the first one has to be of those that an
 * association with DDP begins with.
 */
static bool looks_like_chunks(const struct flow_rest *rest)
{
    const uint8_t *p = rest->octets + SCTP_COMMON_OCTETS, *end = rest->octets + rest->captured;
    struct sctp_chunk chunk;
    struct sctp_data data;

    if (rest->captured < rest->length) {
        if (rest->captured < SCTP_COMMON_OCTETS + SCTP_CHUNK_OCTETS || octets_get16(p + 2) > rest->length)
            return false;
        (void)sctp_chunk_parse(&p, end, &chunk);
        return chunk.start != NULL && (((chunk.type == SCTP_INIT || chunk.type == SCTP_INIT_ACK) && chunk.flags == 0 &&
                                        chunk.length >= SCTP_INIT_OCTETS) ||
                                       (chunk.type == SCTP_DATA && sctp_data_parse(&chunk, &data) == WIRE_OK &&
                                        (data.ppid == DDP_SCTP_PPID_SEGMENT || data.ppid == DDP_SCTP_PPID_CONTROL)));
    }
    if (rest->length % 4 != 0)
        return false;
    while (p < end)
        if (sctp_chunk_parse(&p, end, &chunk) != WIRE_OK || wire_name_of(sctp_chunk_names, chunk.type) == NULL)
            return false;
    return true;
}

/* A packet of SCTP, be its checksum right or not; chunks of other types follow a right one. */
static bool looks_like_sctp(const struct flow_rest *rest)
{
    if (rest->length < SCTP_COMMON_OCTETS + SCTP_CHUNK_OCTETS ||
        rest->captured < SCTP_COMMON_OCTETS + SCTP_CHUNK_OCTETS || sctp_common_get_SourcePort(rest->octets) == 0 ||
        sctp_common_get_DestinationPort(rest->octets) == 0)
        return false;
    if (looks_like_chunks(rest))
        return true;
    return rest->captured == rest->length && octets_get16(rest->octets + SCTP_COMMON_OCTETS + 2) >= SCTP_CHUNK_OCTETS &&
           octets_get16(rest->octets + SCTP_COMMON_OCTETS + 2) <= rest->length - SCTP_COMMON_OCTETS &&
           sctp_common_get_Checksum(rest->octets) == sctp_checksum(rest->octets, rest->length);
}

/* ---- TCP --------------------------------------------------------------------------------------------------------- */

/* Its checksum is right, between the datagram's own addresses. */
static bool looks_like_tcp(const struct flow_rest *rest, const struct ends *ends)
{
    enum { SYN = 0x02, FIN = 0x01, RESERVED = 0x0E };
    const uint8_t *header = rest->octets;

    return rest->captured >= TCP_OCTETS && rest->captured == rest->length && header[12] >> 4 >= TCP_OCTETS / 4 &&
           (size_t)(header[12] >> 4) * 4 <= rest->length && (header[12] & RESERVED) == 0 &&
           (header[13] & (SYN | FIN)) != (SYN | FIN) && payload_sum_is_right(ends, PROTOCOL_TCP, header, rest->length);
}

/* The first octets of the Keys of RFC 5044 7.1 are the same. */
static bool has_key(const struct flow_rest *rest)
{
    enum { SAME = 8 };
    size_t last = rest->captured < LOOKED_AT + SAME ? rest->captured : LOOKED_AT + SAME;

    return memmem(rest->octets, last, MPA_KEY_REQUEST, SAME) != NULL;
}

/* ---- IP ---------------------------------------------------------------------------------------------------------- */

/* Its checksum is right; where there is none it fills what is left. */
static bool is_ipv4(const uint8_t *header, size_t captured, size_t length)
{
    size_t octets = (size_t)(header[0] & 0xF) * 4, total;

    if (header[0] >> 4 != 4 || octets < IPV4_OCTETS || captured < octets)
        return false;
    total = octets_get16(header + 2);
    if (total < octets || total > length)
        return false;
    return octets_get16(header + 10) == 0 ? total == length : sum_is_right(sum_words(0, header, octets));
}

/* Global, unique local, link-local or site-local, translated (RFC 6052), or with eight zeros before it. */
static bool is_address(const uint8_t *address)
{
    static const uint8_t zeros[8];

    return (address[0] & 0xE0) == 0x20 || (address[0] & 0xFE) == 0xFC ||
           (address[0] == 0xFE && (address[1] & 0x80) == 0x80) || octets_get32(address) == 0x0064FF9B ||
           memcmp(address, zeros, sizeof(zeros)) == 0;
}

/*
 * What an IPv6 packet may carry: extension headers, tunnels, ICMPv6, and what else stands above IP; and its least
 * octets.
 */
static bool is_next(unsigned number, size_t payload)
{
    static const struct {
        uint8_t number, least;
    } known[] = {{0, 8},  {4, 20}, {6, 20}, {17, 8},  {41, 40}, {43, 8},  {44, 8},   {47, 4},  {50, 8}, {51, 12},
                 {58, 4}, {59, 0}, {60, 8}, {89, 16}, {97, 16}, {103, 4}, {132, 12}, {135, 8}, {137, 4}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].number == number)
            return payload >= known[i].least;
    return false;
}

/*
 * It fills what is left, or what it carries has a checksum that is right; where the rest is not there, its addresses
 * decide.
 */
static bool is_ipv6(const uint8_t *header, size_t captured, size_t length)
{
    enum { NOTHING = 59 }; /* follows: hop limits of 0 are seen */
    struct ends ends = {header + 8, header + 24, 16};
    size_t payload;

    if (header[0] >> 4 != 6 || captured < IPV6_OCTETS || (header[7] == 0 && header[6] != NOTHING))
        return false;
    payload = octets_get16(header + 4);
    if (IPV6_OCTETS + payload > length || !is_next(header[6], payload) || !is_address(ends.source))
        return false;
    if (IPV6_OCTETS + payload == length)
        return true;
    if (IPV6_OCTETS + payload > captured || header[6] == NOTHING)
        return is_address(ends.destination);
    if (header[6] == PROTOCOL_SCTP)
        return payload >= SCTP_COMMON_OCTETS &&
               sctp_common_get_Checksum(header + IPV6_OCTETS) == sctp_checksum(header + IPV6_OCTETS, payload);
    return (header[6] == PROTOCOL_TCP || header[6] == PROTOCOL_UDP || header[6] == PROTOCOL_ICMPV6) &&
           payload_sum_is_right(&ends, header[6], header + IPV6_OCTETS, payload);
}

/* Where an IP packet stands in the octets; false: nowhere. */
static bool find_ip(const struct flow_rest *rest, struct flow_rest *packet)
{
    for (size_t at = 0; at < LOOKED_AT && at + IPV4_OCTETS <= rest->captured; at++) {
        const uint8_t *header = rest->octets + at;
        size_t captured = rest->captured - at, length = rest->length - at;

        if (!is_ipv4(header, captured, length) && !is_ipv6(header, captured, length))
            continue;
        *packet = *rest;
        return flow_rest_skip(packet, at);
    }
    return false;
}

/* Nothing but padding follows the segment: another packet may stand behind it. */
static bool ends_with(const struct flow_rest *rest, const struct flow_segment *segment)
{
    size_t end = (size_t)(segment->payload - rest->octets) + segment->length;

    if (end >= rest->length || rest->length - end < IPV4_OCTETS)
        return true;
    for (size_t at = end; at < rest->captured; at++)
        if (rest->octets[at] != 0)
            return false;
    return true;
}

/* ---- tunnels ----------------------------------------------------------------------------------------------------- */

/* WireGuard, between any ports: transport data, in blocks of 16 octets. */
static bool is_wireguard(const struct flow_rest *rest)
{
    enum { TRANSPORT = 4, LEAST = 32 };

    return rest->captured >= LEAST && octets_get32_little(rest->octets) == TRANSPORT && rest->length % 16 == 0;
}

/*
 * An IP packet stands somewhere in the octets, and nothing else says that they are a tunnel: a segment of TCP is that
 * of a guessed one. FLOW_ROW_UDP: there is none.
 */
static enum flow_protocol by_guess(const struct flow_rest *rest, struct flow_layers *layers)
{
    struct flow_layers inner = *layers;
    struct flow_rest packet;
    enum flow_protocol protocol;

    if (!find_ip(rest, &packet))
        return flow_layers_none(layers, FLOW_ROW_UDP);
    inner.tunnel.guessed = 1;
    protocol = flow_tunnel_ip(FLOW_IN_UDP, &packet, &inner);
    if (protocol == FLOW_PROTOCOL_NONE)
        return flow_layers_none(layers, inner.row);
    if (protocol != FLOW_PROTOCOL_TCP || !ends_with(rest, &inner.segment))
        return flow_layers_none(layers, FLOW_ROW_TUNNEL);
    layers->segment = inner.segment;
    return protocol;
}

/* What the headers and Keys in a datagram say. FLOW_ROW_UDP: there are none. */
static enum flow_protocol by_headers(const struct flow_rest *rest, const struct ends *ends, struct flow_layers *layers)
{
    if (by_guess(rest, layers) == FLOW_PROTOCOL_TCP)
        return FLOW_PROTOCOL_TCP;
    if (layers->row != FLOW_ROW_TUNNEL && (has_key(rest) || (ends != NULL && looks_like_tcp(rest, ends))))
        return flow_layers_none(layers, FLOW_ROW_TUNNEL);
    return FLOW_PROTOCOL_NONE;
}

/*
 * What the octets of a datagram without SCTP say, whatever its ports are: FLOW_PROTOCOL_TCP of a guessed tunnel, or the
 * row. FLOW_ROW_UDP: nothing.
 */
static enum flow_protocol by_octets(const struct flow_rest *rest, const struct ends *ends, struct flow_layers *layers)
{
    enum flow_protocol protocol = by_headers(rest, ends, layers);

    if (protocol == FLOW_PROTOCOL_NONE && layers->row == FLOW_ROW_UDP && is_wireguard(rest))
        return flow_layers_none(layers, FLOW_ROW_TUNNEL);
    return protocol;
}

/* The same, and what the ports say. */
static enum flow_protocol by_content(unsigned from, unsigned to, const struct flow_rest *rest, const struct ends *ends,
                                     struct flow_layers *layers)
{
    enum flow_protocol protocol = by_octets(rest, ends, layers);
    enum flow_row row;

    /* With a port of a server the other one is a client's, whatever it is. */
    if (protocol != FLOW_PROTOCOL_NONE || layers->row != FLOW_ROW_UDP || from < RESERVED_PORTS || to < RESERVED_PORTS)
        return protocol;
    row = flow_udp_tunnel_row(to, rest);
    return flow_layers_none(layers, row == FLOW_ROW_UDP ? flow_udp_tunnel_row(from, rest) : row);
}

/* ---- datagrams --------------------------------------------------------------------------------------------------- */

enum flow_row flow_udp_row(const uint8_t *header, size_t captured, size_t length)
{
    struct flow_rest rest = {header, captured, length};
    struct flow_layers layers = {0};

    if (octets_get16(header + 2) == ROCE_V2_PORT || !flow_rest_skip(&rest, UDP_OCTETS) || looks_like_sctp(&rest))
        return FLOW_ROW_IWARP;
    return by_content(octets_get16(header), octets_get16(header + 2), &rest, NULL, &layers) == FLOW_PROTOCOL_NONE
               ? layers.row
               : FLOW_ROW_TUNNEL;
}

/* Its length contradicts the packet: foreign all the same where nothing of IP, TCP or SCTP is in its octets. */
enum flow_row flow_udp_broken(const struct flow_rest *rest)
{
    return rest->captured >= UDP_OCTETS && flow_udp_row(rest->octets, rest->captured, rest->length) == FLOW_ROW_UDP
               ? FLOW_ROW_UDP
               : FLOW_ROW_UDP_LENGTH;
}

enum flow_protocol flow_udp_lite(struct flow_rest *rest, struct flow_layers *layers)
{
    const uint8_t *header = rest->octets;

    if (!flow_rest_skip(rest, UDP_OCTETS))
        return flow_layers_short(layers, rest, UDP_OCTETS, FLOW_ROW_UDP_LENGTH);
    return by_content(octets_get16(header), octets_get16(header + 2), rest, NULL, layers);
}

/*
 * What is in a tunnel by its port and form is decoded. Where that is foreign, the octets must have nothing else in
 * them: a receiver may know no tunnel there.
 */
static enum flow_protocol by_ports(unsigned from, unsigned to, const struct flow_rest *rest, struct flow_layers *layers)
{
    struct ends ends = ends_of(&layers->datagram);
    struct flow_layers inner = *layers;
    enum flow_protocol protocol;

    if (!flow_udp_tunnel(to, rest, &inner, &protocol))
        return by_content(from, to, rest, &ends, layers);
    if (protocol == FLOW_PROTOCOL_NONE) {
        if (inner.row != FLOW_ROW_TUNNEL_FOREIGN)
            return flow_layers_none(layers, inner.row);
        protocol = by_octets(rest, &ends, layers);
        return protocol == FLOW_PROTOCOL_NONE && layers->row != FLOW_ROW_TUNNEL ? flow_layers_none(layers, inner.row)
                                                                                : protocol;
    }
    *layers = inner;
    return protocol;
}

/*
 * The port mapper: its port, the form of its messages, an end of the datagram as the Accepting Peer (or 0: any address),
 * and no other header in the octets. A Request whose PmTime is 0 begins like transport data of WireGuard, which in so
 * few octets has no TCP segment.
 */
static bool is_port_mapper(unsigned from, unsigned to, const struct flow_rest *rest, const struct flow_layers *layers)
{
    static const uint8_t any[PORT_MAPPER_ADDRESS_OCTETS];
    struct ends ends = ends_of(&layers->datagram);
    struct port_mapper_message message;
    struct flow_layers inner = *layers;

    if ((from != PORT_MAPPER_PORT && to != PORT_MAPPER_PORT) || rest->captured != rest->length ||
        !port_mapper_read(rest->octets, rest->captured, &message) || message.ip_version != layers->datagram.family)
        return false;
    if (memcmp(message.accepting_address, ends.source, ends.octets) != 0 &&
        memcmp(message.accepting_address, ends.destination, ends.octets) != 0 &&
        memcmp(message.accepting_address, any, ends.octets) != 0)
        return false;
    return by_headers(rest, &ends, &inner) == FLOW_PROTOCOL_NONE && inner.row == FLOW_ROW_UDP;
}

enum flow_protocol flow_udp(struct flow_rest *rest, struct flow_layers *layers)
{
    const uint8_t *header = rest->octets;
    struct flow_rest inner = *rest;
    unsigned from, to;
    size_t length;

    if (rest->captured < UDP_OCTETS)
        return flow_layers_short(layers, rest, UDP_OCTETS, FLOW_ROW_UDP_LENGTH);
    length = octets_get16(header + 4);
    if (octets_get16(header + 2) == ROCE_V2_PORT)
        return flow_layers_datagram(layers, FLOW_PROTOCOL_UDP, rest->octets, rest->captured, rest->length);
    if (length < UDP_OCTETS || length > rest->length)
        return flow_layers_none(layers, flow_udp_broken(rest));
    flow_rest_limit(&inner, length);
    (void)flow_rest_skip(&inner, UDP_OCTETS);
    if (looks_like_sctp(&inner))
        return flow_layers_datagram(layers, FLOW_PROTOCOL_SCTP, inner.octets, inner.captured, inner.length);
    from = octets_get16(header);
    to = octets_get16(header + 2);
    if (is_port_mapper(from, to, &inner, layers))
        return flow_layers_datagram(layers, FLOW_PROTOCOL_PORT_MAPPER, header, length, length);
    return by_ports(from, to, &inner, layers);
}
