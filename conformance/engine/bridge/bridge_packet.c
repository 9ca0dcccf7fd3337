/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_packet.h"

#include <string.h>

#include "base/octets.h"
#include "generator/packet/packet.h"
#include "wire/crc32c.h"
#include "wire/sctp.h"

enum {
    ETHERTYPE_AT = 12,
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_IPV6 = 0x86DD,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_QINQ = 0x88A8,
    PROTOCOL_UDP = 17,
    TAGS_MOST = 4,
    TCP_OCTETS = 20,
    TCP_CHECKSUM_AT = 16,
    UDP_LENGTH_AT = 4,
    UDP_CHECKSUM_AT = 6,
    OPTION_END = 0,
    OPTION_NOP = 1,
    OPTION_MSS = 2,
    OPTION_SCALE = 3,
    OPTION_SACK = 5,
    SCALE_MOST = 14, /* RFC 7323 2.3 */
    SACK_BLOCK = 8,
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool parse_ipv4(const uint8_t *frame, size_t octets, struct bridge_packet *packet)
{
    const uint8_t *ip = frame + packet->ip;
    size_t have = octets - packet->ip, header, total;

    if (have < PACKET_IPV4_OCTETS || ip[0] >> 4 != 4)
        return false;
    header = (size_t)(ip[0] & 15) * 4;
    total = octets_get16(ip + 2);
    if (header < PACKET_IPV4_OCTETS || total < header || total > have || (octets_get16(ip + 6) & 0x3FFF) != 0)
        return false; /* also a fragment */
    packet->family = 4;
    packet->protocol = ip[9];
    packet->source = ip + 12;
    packet->destination = ip + 16;
    packet->transport = packet->ip + header;
    packet->end = packet->ip + total;
    return true;
}

static bool parse_ipv6(const uint8_t *frame, size_t octets, struct bridge_packet *packet)
{
    const uint8_t *ip = frame + packet->ip;
    size_t have = octets - packet->ip, total;

    if (have < PACKET_IPV6_OCTETS || ip[0] >> 4 != 6)
        return false;
    total = PACKET_IPV6_OCTETS + (size_t)octets_get16(ip + 4);
    if (total > have)
        return false;
    packet->family = 6;
    packet->protocol = ip[6];
    packet->source = ip + 8;
    packet->destination = ip + 24;
    packet->transport = packet->ip + PACKET_IPV6_OCTETS;
    packet->end = packet->ip + total;
    return true;
}

/* The next option of `have` octets; 0: there is none, or it is malformed. */
static size_t option_at(const uint8_t *option, size_t have)
{
    if (have == 0 || option[0] == OPTION_END)
        return 0;
    if (option[0] == OPTION_NOP)
        return 1;
    return have >= 2 && option[1] >= 2 && option[1] <= have ? option[1] : 0;
}

static void parse_options(const uint8_t *options, size_t have, struct bridge_packet *packet)
{
    size_t taken;

    for (; (taken = option_at(options, have)) != 0; options += taken, have -= taken) {
        if (options[0] == OPTION_MSS && taken == 4)
            packet->mss = octets_get16(options + 2);
        if (options[0] == OPTION_SCALE && taken == 3) {
            packet->scaled = true;
            packet->scale = options[2] < SCALE_MOST ? options[2] : SCALE_MOST;
        }
    }
}

static bool parse_tcp(const uint8_t *frame, struct bridge_packet *packet)
{
    const uint8_t *tcp = frame + packet->transport;
    size_t have = packet->end - packet->transport, header;

    if (have < TCP_OCTETS)
        return false;
    header = (size_t)(tcp[12] >> 4) * 4;
    if (header < TCP_OCTETS || header > have)
        return false;
    packet->sequence = octets_get32(tcp + 4);
    packet->acknowledgment = octets_get32(tcp + 8);
    packet->flags = tcp[13];
    packet->window = octets_get16(tcp + 14);
    packet->payload = packet->transport + header;
    if ((packet->flags & TCP_FLAG_SYN) != 0)
        parse_options(tcp + TCP_OCTETS, header - TCP_OCTETS, packet);
    return true;
}

/* IP alone. */
static bool parse_network(const uint8_t *frame, size_t octets, struct bridge_packet *packet)
{
    size_t at = ETHERTYPE_AT;
    unsigned type;

    *packet = (struct bridge_packet){0};
    if (octets < PACKET_ETHERNET_OCTETS)
        return false;
    for (unsigned tags = 0; (type = octets_get16(frame + at)) == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ; tags++) {
        at += 4;
        if (tags == TAGS_MOST || at + 2 > octets)
            return false;
    }
    packet->ip = at + 2;
    return type == ETHERTYPE_IPV4   ? parse_ipv4(frame, octets, packet)
           : type == ETHERTYPE_IPV6 ? parse_ipv6(frame, octets, packet)
                                    : false;
}

/* A UDP datagram whose contents are an SCTP packet. */
static bool parse_encapsulated(const uint8_t *frame, struct bridge_packet *packet)
{
    size_t have = packet->end - packet->transport;
    const uint8_t *udp = frame + packet->transport, *sctp = udp + BRIDGE_UDP_OCTETS;

    if (have < BRIDGE_UDP_OCTETS + SCTP_COMMON_OCTETS + SCTP_CHUNK_OCTETS ||
        octets_get16(udp + UDP_LENGTH_AT) != have ||
        sctp_common_get_Checksum(sctp) != sctp_checksum(sctp, have - BRIDGE_UDP_OCTETS))
        return false;
    packet->udp = packet->transport;
    packet->transport += BRIDGE_UDP_OCTETS;
    packet->protocol = BRIDGE_PROTOCOL_SCTP;
    return true;
}

bool bridge_packet_parse(const uint8_t *frame, size_t octets, struct bridge_packet *packet)
{
    bool whole = parse_network(frame, octets, packet);

    if (whole && packet->protocol == PROTOCOL_UDP)
        whole = parse_encapsulated(frame, packet);

    if (whole && packet->protocol == BRIDGE_PROTOCOL_TCP)
        whole = parse_tcp(frame, packet);
    else if (whole && packet->protocol == BRIDGE_PROTOCOL_SCTP)
        whole = packet->end - packet->transport >= SCTP_COMMON_OCTETS;
    else
        return false;
    if (!whole)
        return false;
    packet->source_port = octets_get16(frame + packet->transport);
    packet->destination_port = octets_get16(frame + packet->transport + 2);
    if (packet->protocol == BRIDGE_PROTOCOL_SCTP)
        packet->payload = packet->transport + SCTP_COMMON_OCTETS;
    return true;
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* The sum of the pseudo-header, folded. */
static uint32_t pseudo_header(const struct bridge_packet *packet)
{
    size_t address = packet->family == 4 ? 4 : 16;
    uint32_t sum = (uint32_t)(packet->end - packet->transport) + packet->protocol;

    for (size_t i = 0; i < address; i += 2)
        sum += (uint32_t)octets_get16(packet->source + i) + octets_get16(packet->destination + i);
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return sum;
}

static void mend_sctp(uint8_t *frame, const struct bridge_packet *packet)
{
    uint8_t *sctp = frame + packet->transport;
    uint32_t crc;

    memset(sctp + SCTP_CHECKSUM_AT, 0, 4);
    crc = crc32c(sctp, packet->end - packet->transport);
    for (unsigned i = 0; i < 4; i++) /* RFC 9260 appendix A: the least significant octet first */
        sctp[SCTP_CHECKSUM_AT + i] = (uint8_t)(crc >> 8 * i);
}

static void mend_transport(uint8_t *frame, const struct bridge_packet *packet, size_t at)
{
    uint8_t *transport = frame + packet->transport;
    unsigned sum;

    memset(transport + at, 0, 2);
    sum = packet_checksum(transport, packet->end - packet->transport, pseudo_header(packet));
    octets_put16(transport + at, packet->protocol == PROTOCOL_UDP && sum == 0 ? 0xFFFF : sum);
}

void bridge_packet_mend_udp(uint8_t *frame, const struct bridge_packet *packet)
{
    struct bridge_packet udp = *packet;

    if (packet->udp == 0)
        return;
    udp.transport = packet->udp;
    udp.protocol = PROTOCOL_UDP;
    octets_put16(frame + packet->udp + UDP_LENGTH_AT, (unsigned)(packet->end - packet->udp));
    if (octets_get16(frame + packet->udp + UDP_CHECKSUM_AT) != 0) /* else it has none (RFC 768) */
        mend_transport(frame, &udp, UDP_CHECKSUM_AT);
}

bool bridge_packet_complete(uint8_t *frame, size_t octets)
{
    struct bridge_packet packet;
    size_t have, at;

    if (!parse_network(frame, octets, &packet))
        return false;
    have = packet.end - packet.transport;
    if (packet.protocol == BRIDGE_PROTOCOL_SCTP && have >= SCTP_COMMON_OCTETS) {
        if (octets_get32(frame + packet.transport + SCTP_CHECKSUM_AT) != 0)
            return false;
        mend_sctp(frame, &packet);
        return true;
    }
    at = packet.protocol == BRIDGE_PROTOCOL_TCP ? TCP_CHECKSUM_AT
         : packet.protocol == PROTOCOL_UDP      ? UDP_CHECKSUM_AT
                                                : 0;
    if (at == 0 || have < at + 2 || octets_get16(frame + packet.transport + at) != pseudo_header(&packet))
        return false;
    mend_transport(frame, &packet, at);
    return true;
}

void bridge_packet_mend(uint8_t *frame, const struct bridge_packet *packet)
{
    uint8_t *ip = frame + packet->ip;
    size_t total = packet->end - packet->ip;

    if (packet->family == 4) {
        octets_put16(ip + 2, (unsigned)total);
        octets_put16(ip + 10, 0);
        octets_put16(ip + 10,
                     packet_checksum(ip, (packet->udp != 0 ? packet->udp : packet->transport) - packet->ip, 0));
    } else {
        octets_put16(ip + 4, (unsigned)(total - PACKET_IPV6_OCTETS));
    }
    if (packet->protocol == BRIDGE_PROTOCOL_SCTP) {
        mend_sctp(frame, packet);
        bridge_packet_mend_udp(frame, packet);
    } else {
        mend_transport(frame, packet, TCP_CHECKSUM_AT);
    }
}

/* ---- acknowledgments --------------------------------------------------------------------------------------------- */

/* Blocks of which nothing is left become empty options. */
static bool translate_sack(uint8_t *option, size_t octets, const struct bridge_map *map)
{
    size_t used = 2;
    bool changed = false;

    for (size_t at = 2; at + SACK_BLOCK <= octets; at += SACK_BLOCK) {
        uint32_t left = octets_get32(option + at), right = octets_get32(option + at + 4);
        uint32_t from = bridge_map_in_from(map, left), to = bridge_map_in(map, right);

        changed |= from != left || to != right;
        if (!bridge_before(from, to))
            continue;
        octets_put32(option + used, from);
        octets_put32(option + used + 4, to);
        used += SACK_BLOCK;
    }
    if (!changed)
        return false;
    option[1] = (uint8_t)used;
    memset(option + used, OPTION_NOP, octets - used);
    if (used == 2)
        memset(option, OPTION_NOP, 2);
    return true;
}

/* The right edge of the window, in the sender's numbers: never beyond what the receiver has offered. */
static uint16_t translate_window(const struct bridge_packet *packet, const struct bridge_map *map, uint8_t scale,
                                 uint32_t acknowledged)
{
    uint32_t edge = packet->acknowledgment + ((uint32_t)packet->window << scale);
    uint32_t in = bridge_map_in(map, edge);
    uint32_t room = bridge_before(acknowledged, in) ? (in - acknowledged) >> scale : 0;

    return room > packet->window ? packet->window : (uint16_t)room;
}

bool bridge_packet_acknowledge(uint8_t *frame, const struct bridge_packet *packet, const struct bridge_map *map,
                               uint8_t scale)
{
    uint8_t *tcp = frame + packet->transport, *options = tcp + TCP_OCTETS;
    size_t have = packet->payload - packet->transport - TCP_OCTETS, taken;
    uint32_t acknowledged = bridge_map_in(map, packet->acknowledgment);
    uint16_t window = translate_window(packet, map, scale, acknowledged);
    bool changed = acknowledged != packet->acknowledgment || window != packet->window;

    if ((packet->flags & TCP_FLAG_ACK) == 0)
        return false;
    octets_put32(tcp + 8, acknowledged);
    octets_put16(tcp + 14, window);
    for (; (taken = option_at(options, have)) != 0; options += taken, have -= taken)
        if (options[0] == OPTION_SACK)
            changed |= translate_sack(options, taken, map);
    return changed;
}
