/* SPDX-License-Identifier: BSD-2-Clause */
/* What the packet builder and the parser share. */
#ifndef GENERATOR_PACKET_INTERNAL_H
#define GENERATOR_PACKET_INTERNAL_H

#include "generator/packet/packet.h"

enum {
    PACKET_ETHERTYPE_IPV4 = 0x0800,
    PACKET_ETHERTYPE_ARP = 0x0806,
    PACKET_ETHERTYPE_IPV6 = 0x86dd,
    PACKET_ETHERTYPE_VLAN = 0x8100,
    PACKET_ETHERTYPE_QINQ = 0x88a8,
    PACKET_PROTOCOL_ICMP = 1,
    PACKET_PROTOCOL_TCP = 6,
    PACKET_PROTOCOL_UDP = 17,
    PACKET_PROTOCOL_FRAGMENT = 44, /* IPv6's fragment header (RFC 8200 4.5) */
    PACKET_FRAGMENT_HEADER_OCTETS = 8,
    PACKET_PROTOCOL_ICMPV6 = 58,
    PACKET_OPTION_MSS = 2,
    PACKET_OPTION_SACK_PERMITTED = 4,
    PACKET_OPTION_SACK = 5,
    PACKET_ARP_OCTETS = 28,
    PACKET_ND_OCTETS = 24,       /* solicitation and advertisement up to their options */
    PACKET_ICMP_UNREACHABLE = 3, /* code 4: fragmentation needed (RFC 792, RFC 1191 4) */
    PACKET_ICMP_FRAGMENTATION_NEEDED = 4,
    PACKET_ICMP_TIME_EXCEEDED = 11, /* code 1: of reassembly */
    PACKET_ICMPV6_TOO_BIG = 2,
    PACKET_ICMPV6_TIME_EXCEEDED = 3,
    PACKET_ICMP_REASSEMBLY = 1,
    PACKET_ICMPV6_SOLICITATION = 135,
    PACKET_ICMPV6_ADVERTISEMENT = 136,
    PACKET_ND_SOURCE_ADDRESS = 1,
    PACKET_ND_TARGET_ADDRESS = 2
};

/* One's complement sum of 16-bit words, folded, host order; an odd last octet counts as its word's high half. */
uint32_t packet_sum(const uint8_t *octets, size_t length);

/* Sum of the pseudo-header for packet_checksum(). */
uint32_t packet_pseudo_header(const struct net_address *source, const struct net_address *destination, uint8_t protocol,
                              size_t upper_octets);

#endif
