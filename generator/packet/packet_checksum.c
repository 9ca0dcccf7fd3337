/* SPDX-License-Identifier: BSD-2-Clause */
/* The Internet checksum (RFC 1071) and the pseudo-headers that TCP and ICMPv6 put under it. */
#include <endian.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "generator/packet/packet_internal.h"

/* The one's complement sum does not care for byte order (RFC 1071 section 2.B): add as the machine likes, swap once. */
uint32_t packet_sum(const uint8_t *octets, size_t length)
{
    uint64_t total = 0;
    uint16_t last = 0;

    for (; length >= 8; octets += 8, length -= 8) {
        uint32_t words[2];

        memcpy(words, octets, sizeof(words));
        total += (uint64_t)words[0] + words[1];
    }
    for (; length >= 2; octets += 2, length -= 2) {
        uint16_t word;

        memcpy(&word, octets, sizeof(word));
        total += word;
    }
    if (length == 1) {
        memcpy(&last, octets, 1);
        total += last;
    }
    while (total >> 16 != 0)
        total = (total & 0xffff) + (total >> 16);
    return be16toh((uint16_t)total);
}

uint16_t packet_checksum(const uint8_t *octets, size_t length, uint32_t sum)
{
    uint64_t total = (uint64_t)sum + packet_sum(octets, length);

    while (total >> 16 != 0)
        total = (total & 0xffff) + (total >> 16);
    return (uint16_t)~total;
}

/* RFC 9293 section 3.1 for IPv4, RFC 8200 section 8.1 for IPv6: addresses, protocol, upper-layer length. */
uint32_t packet_pseudo_header(const struct net_address *source, const struct net_address *destination, uint8_t protocol,
                              size_t upper_octets)
{
    size_t address_octets = source->family == 4 ? 4 : 16;

    return packet_sum(source->octets, address_octets) + packet_sum(destination->octets, address_octets) + protocol +
           (uint32_t)(upper_octets & 0xffff) + (uint32_t)(upper_octets >> 16);
}

uint16_t packet_udp_checksum(const struct net_address *source, const struct net_address *destination,
                             const uint8_t *datagram, size_t octets)
{
    uint16_t sum =
        packet_checksum(datagram, octets, packet_pseudo_header(source, destination, PACKET_PROTOCOL_UDP, octets));

    return sum != 0 ? sum : UINT16_MAX;
}
