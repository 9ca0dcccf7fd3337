/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields out of frames. Every length is checked where it is read; what is not ours is PACKET_OTHER, not an error. */
#include <string.h>

#include "generator/packet/packet.h"
#include "generator/packet/packet_internal.h"
#include "base/octets.h"
#include "wire/sctp.h"

static int malformed(const char **reason, const char *sentence)
{
    if (reason != NULL)
        *reason = sentence;
    return -1;
}

static void set_address(struct net_address *address, uint8_t family, const uint8_t *octets)
{
    address->family = family;
    memcpy(address->octets, octets, family == 4 ? 4 : 16);
}

static void parse_sacks(struct packet *out, const uint8_t *p, size_t octets)
{
    out->sacks = 0;
    for (size_t at = 2; octets - at >= 8 && out->sacks < PACKET_SACKS_MAX; at += 8)
        out->sack[out->sacks++] = (struct packet_range){octets_get32(p + at), octets_get32(p + at + 4)};
}

/* MSS and SACK among the options; a broken list ends the search (RFC 9293 section 3.2). The first MSS option counts. */
static void parse_options(struct packet *out)
{
    const uint8_t *p = out->options;
    const uint8_t *end = p + out->options_octets;

    while (p < end && *p != 0) {
        if (*p == 1) {
            p++;
            continue;
        }
        if (end - p < 2 || p[1] < 2 || p[1] > end - p)
            return;
        if (p[0] == PACKET_OPTION_MSS && p[1] == 4 && out->mss == 0)
            out->mss = octets_get16(p + 2);
        else if (p[0] == PACKET_OPTION_SACK_PERMITTED && p[1] == 2)
            out->sack_permitted = true;
        else if (p[0] == PACKET_OPTION_SACK)
            parse_sacks(out, p, p[1]);
        p += p[1];
    }
}

static int parse_tcp(struct packet *out, const uint8_t *p, size_t octets, const char **reason)
{
    size_t header;

    if (octets < PACKET_TCP_OCTETS)
        return malformed(reason, "the TCP header breaks off: fewer than 20 octets");
    header = (size_t)(p[12] >> 4) * 4;
    if (header < PACKET_TCP_OCTETS || header > octets)
        return malformed(reason, "the TCP data offset is below 5 or points past the segment");
    out->kind = PACKET_TCP;
    out->source_port = octets_get16(p);
    out->destination_port = octets_get16(p + 2);
    out->sequence = octets_get32(p + 4);
    out->acknowledgment = octets_get32(p + 8);
    out->flags = p[13];
    out->window = octets_get16(p + 14);
    out->urgent = octets_get16(p + 18);
    out->options = p + PACKET_TCP_OCTETS;
    out->options_octets = header - PACKET_TCP_OCTETS;
    parse_options(out);
    out->payload = p + header;
    out->payload_octets = octets - header;
    out->tcp_checksum_ok =
        packet_checksum(p, octets,
                        packet_pseudo_header(&out->source, &out->destination, PACKET_PROTOCOL_TCP, octets)) == 0;
    return 0;
}

static int parse_neighbour(struct packet *out, const uint8_t *p, size_t octets, const char **reason)
{
    const uint8_t *end = p + octets;
    uint8_t wanted;

    if (octets < 4)
        return malformed(reason, "the ICMPv6 header breaks off: fewer than 4 octets");
    if (p[0] == PACKET_ICMPV6_TOO_BIG || (p[0] == PACKET_ICMPV6_TIME_EXCEEDED && p[1] == PACKET_ICMP_REASSEMBLY))
        out->kind = PACKET_UNREACHABLE;
    if ((p[0] != PACKET_ICMPV6_SOLICITATION && p[0] != PACKET_ICMPV6_ADVERTISEMENT) || p[1] != 0)
        return 0;
    if (octets < PACKET_ND_OCTETS)
        return malformed(reason, "the neighbour discovery message breaks off: fewer than 24 octets");
    if (packet_checksum(p, octets,
                        packet_pseudo_header(&out->source, &out->destination, PACKET_PROTOCOL_ICMPV6, octets)) != 0)
        return malformed(reason, "the ICMPv6 checksum is wrong");
    wanted = p[0] == PACKET_ICMPV6_SOLICITATION ? PACKET_ND_SOURCE_ADDRESS : PACKET_ND_TARGET_ADDRESS;
    set_address(&out->target, 6, p + 8);
    out->kind = p[0] == PACKET_ICMPV6_SOLICITATION ? PACKET_SOLICITATION : PACKET_ADVERTISEMENT;
    for (p += PACKET_ND_OCTETS; end - p >= 8; p += (size_t)p[1] * 8) {
        if (p[1] == 0 || (size_t)p[1] * 8 > (size_t)(end - p))
            return malformed(reason, "a neighbour discovery option has length 0 or runs past the message");
        if (p[0] == wanted)
            out->neighbour_mac = p + 2;
    }
    return 0;
}

static int parse_arp(struct packet *out, const uint8_t *p, size_t octets, const char **reason)
{
    if (octets < PACKET_ARP_OCTETS)
        return malformed(reason, "the ARP packet breaks off: fewer than 28 octets");
    if (octets_get16(p) != 1 || octets_get16(p + 2) != PACKET_ETHERTYPE_IPV4 || p[4] != 6 || p[5] != 4)
        return 0;
    out->kind = PACKET_ARP;
    out->arp_operation = octets_get16(p + 6);
    out->neighbour_mac = p + 8;
    set_address(&out->source, 4, p + 14);
    set_address(&out->destination, 4, p + 24);
    return 0;
}

/* TCP, SCTP, or SCTP in UDP. */
static bool carries_ddp(uint8_t protocol)
{
    return protocol == PACKET_PROTOCOL_TCP || protocol == PACKET_PROTOCOL_UDP || protocol == SCTP_PROTOCOL;
}

/* A fragment's octets; what is in them is known when the packet is put together. */
static int parse_fragment(struct packet *out, const uint8_t *p, size_t octets, uint32_t identification,
                          uint8_t protocol)
{
    out->kind = PACKET_FRAGMENT;
    out->fragment_identification = identification;
    out->fragment_protocol = protocol;
    out->payload = p;
    out->payload_octets = octets;
    return 0;
}

static int parse_ipv4(struct packet *out, const uint8_t *p, size_t octets, const char **reason)
{
    size_t header;
    size_t length;

    if (octets < PACKET_IPV4_OCTETS)
        return malformed(reason, "the IPv4 header breaks off: fewer than 20 octets");
    header = (size_t)(p[0] & 0xf) * 4;
    length = octets_get16(p + 2);
    if (p[0] >> 4 != 4 || header < PACKET_IPV4_OCTETS || header > length || length > octets)
        return malformed(reason, "the IPv4 version, header length or total length does not fit the frame");
    set_address(&out->source, 4, p + 12);
    set_address(&out->destination, 4, p + 16);
    out->hop_limit = p[8];
    out->ip_checksum_ok = packet_checksum(p, header, 0) == 0;
    out->fragmentable = (octets_get16(p + 6) & 0x4000) == 0;
    if (p[9] == PACKET_PROTOCOL_ICMP && length - header >= 2) {
        p += header;
        if ((p[0] == PACKET_ICMP_UNREACHABLE && p[1] == PACKET_ICMP_FRAGMENTATION_NEEDED) ||
            (p[0] == PACKET_ICMP_TIME_EXCEEDED && p[1] == PACKET_ICMP_REASSEMBLY))
            out->kind = PACKET_UNREACHABLE;
        return 0;
    }
    if ((octets_get16(p + 6) & 0x3fff) != 0 && carries_ddp(p[9])) { /* MF, or an offset */
        out->fragment_offset = (size_t)(octets_get16(p + 6) & 0x1fff) * 8;
        out->fragment_more = (p[6] & 0x20) != 0;
        return parse_fragment(out, p + header, length - header, octets_get16(p + 4), p[9]);
    }
    if (p[9] != PACKET_PROTOCOL_TCP)
        return 0;
    return parse_tcp(out, p + header, length - header, reason);
}

static int parse_ipv6(struct packet *out, const uint8_t *p, size_t octets, const char **reason)
{
    size_t length;

    if (octets < PACKET_IPV6_OCTETS)
        return malformed(reason, "the IPv6 header breaks off: fewer than 40 octets");
    length = octets_get16(p + 4);
    if (p[0] >> 4 != 6 || length > octets - PACKET_IPV6_OCTETS)
        return malformed(reason, "the IPv6 version or payload length does not fit the frame");
    set_address(&out->source, 6, p + 8);
    set_address(&out->destination, 6, p + 24);
    out->hop_limit = p[7];
    out->ip_checksum_ok = true;
    if (p[6] == PACKET_PROTOCOL_TCP)
        return parse_tcp(out, p + PACKET_IPV6_OCTETS, length, reason);
    if (p[6] == PACKET_PROTOCOL_FRAGMENT && length >= PACKET_FRAGMENT_HEADER_OCTETS &&
        carries_ddp(p[PACKET_IPV6_OCTETS])) {
        const uint8_t *fragment = p + PACKET_IPV6_OCTETS;

        out->fragment_offset = octets_get16(fragment + 2) & 0xfff8U;
        out->fragment_more = (fragment[3] & 1) != 0;
        return parse_fragment(out, fragment + PACKET_FRAGMENT_HEADER_OCTETS, length - PACKET_FRAGMENT_HEADER_OCTETS,
                              octets_get32(fragment + 4), fragment[0]);
    }
    if (p[6] == PACKET_PROTOCOL_ICMPV6)
        return parse_neighbour(out, p + PACKET_IPV6_OCTETS, length, reason);
    return 0;
}

int packet_parse(struct packet *out, const uint8_t *frame, size_t octets, const char **reason)
{
    const uint8_t *p = frame;
    const uint8_t *end = frame + octets;
    uint16_t type;

    memset(out, 0, sizeof(*out));
    if (octets < PACKET_ETHERNET_OCTETS)
        return malformed(reason, "the Ethernet header breaks off: fewer than 14 octets");
    out->ethernet_destination = p;
    out->ethernet_source = p + 6;
    type = octets_get16(p + 12);
    p += PACKET_ETHERNET_OCTETS;
    while (type == PACKET_ETHERTYPE_VLAN || type == PACKET_ETHERTYPE_QINQ) {
        if (end - p < 4)
            return malformed(reason, "the VLAN tag breaks off");
        type = octets_get16(p + 2);
        p += 4;
    }
    out->ethertype = type;
    if (type == PACKET_ETHERTYPE_IPV4)
        return parse_ipv4(out, p, (size_t)(end - p), reason);
    if (type == PACKET_ETHERTYPE_IPV6)
        return parse_ipv6(out, p, (size_t)(end - p), reason);
    if (type == PACKET_ETHERTYPE_ARP)
        return parse_arp(out, p, (size_t)(end - p), reason);
    return 0;
}
