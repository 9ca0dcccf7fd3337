/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames out of fields. libnet builds packets too, but for every packet it keeps a list of heap blocks under a
 * context that opens a socket; in simulation, where a run lasts 100 microseconds, that would be most of the time. The
 * unit test compares our octets with libnet's.
 */
#include "generator/packet/packet.h"

#include <arpa/inet.h>
#include <string.h>

#include "generator/packet/packet_internal.h"
#include "base/octets.h"

#define DEFAULT_HOP_LIMIT 64

int net_address_parse(struct net_address *out, const char *text)
{
    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, text, out->octets) == 1) {
        out->family = 4;
        return 0;
    }
    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET6, text, out->octets) == 1) {
        out->family = 6;
        return 0;
    }
    return -1;
}

const char *net_address_format(const struct net_address *address, char *text, size_t octets)
{
    if (octets == 0)
        return "";
    if (address->family == 0 ||
        inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->octets, text, (socklen_t)octets) == NULL)
        text[0] = '\0';
    return text;
}

bool net_address_equal(const struct net_address *a, const struct net_address *b)
{
    return a->family == b->family && memcmp(a->octets, b->octets, a->family == 4 ? 4 : sizeof(a->octets)) == 0;
}

static uint8_t *write_ethernet(uint8_t *p, const uint8_t destination[6], const uint8_t source[6], uint16_t ethertype)
{
    memcpy(p, destination, 6);
    memcpy(p + 6, source, 6);
    octets_put16(p + 12, ethertype);
    return p + PACKET_ETHERNET_OCTETS;
}

static uint8_t *write_ipv4(uint8_t *p, const struct packet_tcp *f, size_t upper_octets)
{
    size_t length = PACKET_IPV4_OCTETS + upper_octets;

    p[0] = (uint8_t)(((f->overrides & PACKET_SET_IP_VERSION) != 0 ? f->ip_version << 4 : 0x40) | 5);
    p[1] = f->traffic_class;
    octets_put16(p + 2, (f->overrides & PACKET_SET_IP_LENGTH) != 0 ? f->ip_length : (uint16_t)length);
    octets_put16(p + 4, f->identification);
    octets_put16(p + 6, f->fragmentable ? 0 : 0x4000); /* DF */
    p[8] = f->hop_limit != 0 ? f->hop_limit : DEFAULT_HOP_LIMIT;
    p[9] = PACKET_PROTOCOL_TCP;
    octets_put16(p + 10, 0);
    memcpy(p + 12, f->source.octets, 4);
    memcpy(p + 16, f->destination.octets, 4);
    octets_put16(p + 10, (f->overrides & PACKET_SET_IP_CHECKSUM) != 0 ? f->ip_checksum
                                                                      : packet_checksum(p, PACKET_IPV4_OCTETS, 0));
    return p + PACKET_IPV4_OCTETS;
}

static uint8_t *write_ipv6_header(uint8_t *p, uint32_t first_word, uint16_t length, uint8_t next, uint8_t hop_limit,
                                  const uint8_t source[16], const uint8_t destination[16])
{
    octets_put32(p, first_word);
    octets_put16(p + 4, length);
    p[6] = next;
    p[7] = hop_limit;
    memcpy(p + 8, source, 16);
    memcpy(p + 24, destination, 16);
    return p + PACKET_IPV6_OCTETS;
}

static uint8_t *write_ipv6(uint8_t *p, const struct packet_tcp *f, size_t upper_octets)
{
    uint32_t version = (f->overrides & PACKET_SET_IP_VERSION) != 0 ? f->ip_version & 0xf : 6;

    return write_ipv6_header(p, version << 28 | (uint32_t)f->traffic_class << 20 | (f->flow_label & 0xfffff),
                             (f->overrides & PACKET_SET_IP_LENGTH) != 0 ? f->ip_length : (uint16_t)upper_octets,
                             PACKET_PROTOCOL_TCP, f->hop_limit != 0 ? f->hop_limit : DEFAULT_HOP_LIMIT,
                             f->source.octets, f->destination.octets);
}

static void write_tcp(uint8_t *p, const struct packet_tcp *f, size_t options_octets)
{
    size_t header = PACKET_TCP_OCTETS + options_octets;
    size_t length = header + f->payload_octets;
    uint8_t data_offset = (f->overrides & PACKET_SET_DATA_OFFSET) != 0 ? f->data_offset : (uint8_t)(header / 4);
    uint16_t checksum = f->tcp_checksum;

    octets_put16(p, f->source_port);
    octets_put16(p + 2, f->destination_port);
    octets_put32(p + 4, f->sequence);
    octets_put32(p + 8, f->acknowledgment);
    p[12] = (uint8_t)(data_offset << 4);
    p[13] = f->flags;
    octets_put16(p + 14, f->window);
    octets_put16(p + 16, 0);
    octets_put16(p + 18, f->urgent);
    memset(p + PACKET_TCP_OCTETS, 0, options_octets);
    if (f->options_octets > 0)
        memcpy(p + PACKET_TCP_OCTETS, f->options, f->options_octets);
    if (f->payload_octets > 0)
        memcpy(p + header, f->payload, f->payload_octets);
    if ((f->overrides & PACKET_SET_TCP_CHECKSUM) == 0)
        checksum =
            packet_checksum(p, length, packet_pseudo_header(&f->source, &f->destination, PACKET_PROTOCOL_TCP, length));
    octets_put16(p + 16, f->spoil_checksum ? checksum ^ 1 : checksum);
}

size_t packet_build_tcp(uint8_t *frame, size_t capacity, const struct packet_tcp *fields)
{
    size_t options = (fields->options_octets + 3) & ~(size_t)3;
    size_t ip_header = fields->source.family == 4 ? PACKET_IPV4_OCTETS : PACKET_IPV6_OCTETS;
    size_t upper;
    uint8_t *p;

    if (fields->source.family != fields->destination.family ||
        (fields->source.family != 4 && fields->source.family != 6) ||
        fields->options_octets > PACKET_TCP_OPTIONS_CAPACITY || fields->payload_octets > UINT16_MAX)
        return 0;
    upper = PACKET_TCP_OCTETS + options + fields->payload_octets;
    if (upper + ip_header > UINT16_MAX || PACKET_ETHERNET_OCTETS + ip_header + upper > capacity)
        return 0;
    p = write_ethernet(frame, fields->ethernet_destination, fields->ethernet_source,
                       fields->source.family == 4 ? PACKET_ETHERTYPE_IPV4 : PACKET_ETHERTYPE_IPV6);
    p = fields->source.family == 4 ? write_ipv4(p, fields, upper) : write_ipv6(p, fields, upper);
    write_tcp(p, fields, options);
    return PACKET_ETHERNET_OCTETS + ip_header + upper;
}

size_t packet_mss_option(uint8_t option[4], uint16_t mss)
{
    option[0] = PACKET_OPTION_MSS;
    option[1] = 4;
    octets_put16(option + 2, mss);
    return 4;
}

size_t packet_sack_permitted_option(uint8_t option[2])
{
    option[0] = PACKET_OPTION_SACK_PERMITTED;
    option[1] = 2;
    return 2;
}

size_t packet_sack_option(uint8_t option[2 + 8 * PACKET_SACKS_MAX], const struct packet_range *blocks, unsigned count)
{
    option[0] = PACKET_OPTION_SACK;
    option[1] = (uint8_t)(2 + 8 * count);
    for (unsigned i = 0; i < count; i++) {
        octets_put32(option + 2 + 8 * (size_t)i, blocks[i].from);
        octets_put32(option + 6 + 8 * (size_t)i, blocks[i].to);
    }
    return 2 + 8 * (size_t)count;
}

size_t packet_build_arp(uint8_t *frame, size_t capacity, uint16_t operation, const uint8_t sender_mac[6],
                        const uint8_t sender_ipv4[4], const uint8_t target_mac[6], const uint8_t target_ipv4[4])
{
    static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t *p;

    if (capacity < PACKET_ETHERNET_OCTETS + PACKET_ARP_OCTETS)
        return 0;
    p = write_ethernet(frame, operation == PACKET_ARP_REQUEST ? broadcast : target_mac, sender_mac,
                       PACKET_ETHERTYPE_ARP);
    octets_put16(p, 1); /* Ethernet */
    octets_put16(p + 2, PACKET_ETHERTYPE_IPV4);
    p[4] = 6;
    p[5] = 4;
    octets_put16(p + 6, operation);
    memcpy(p + 8, sender_mac, 6);
    memcpy(p + 14, sender_ipv4, 4);
    if (operation == PACKET_ARP_REQUEST)
        memset(p + 18, 0, 6);
    else
        memcpy(p + 18, target_mac, 6);
    memcpy(p + 24, target_ipv4, 4);
    return PACKET_ETHERNET_OCTETS + PACKET_ARP_OCTETS;
}

/* Both neighbour discovery messages: ICMPv6 with one link-layer address option, hop limit 255 (RFC 4861 section 4). */
static size_t build_neighbour(uint8_t *frame, size_t capacity, uint8_t type, uint32_t flags, uint8_t option,
                              const uint8_t own_mac[6], const uint8_t to_mac[6], const uint8_t own_ipv6[16],
                              const uint8_t to_ipv6[16], const uint8_t target[16])
{
    size_t length = PACKET_ND_OCTETS + 8;
    struct net_address source = {.family = 6};
    struct net_address destination = {.family = 6};
    uint8_t *p;

    if (capacity < PACKET_ETHERNET_OCTETS + PACKET_IPV6_OCTETS + length)
        return 0;
    memcpy(source.octets, own_ipv6, 16);
    memcpy(destination.octets, to_ipv6, 16);
    p = write_ethernet(frame, to_mac, own_mac, PACKET_ETHERTYPE_IPV6);
    p = write_ipv6_header(p, UINT32_C(6) << 28, (uint16_t)length, PACKET_PROTOCOL_ICMPV6, 255, own_ipv6, to_ipv6);
    p[0] = type;
    p[1] = 0;
    octets_put16(p + 2, 0);
    octets_put32(p + 4, flags);
    memcpy(p + 8, target, 16);
    p[24] = option;
    p[25] = 1; /* in units of eight octets */
    memcpy(p + 26, own_mac, 6);
    octets_put16(
        p + 2, packet_checksum(p, length, packet_pseudo_header(&source, &destination, PACKET_PROTOCOL_ICMPV6, length)));
    return PACKET_ETHERNET_OCTETS + PACKET_IPV6_OCTETS + length;
}

size_t packet_build_neighbour_solicitation(uint8_t *frame, size_t capacity, const uint8_t own_mac[6],
                                           const uint8_t own_ipv6[16], const uint8_t target[16])
{
    /* The solicited-node group, RFC 4291 section 2.7.1, and its MAC, RFC 2464 section 7. */
    uint8_t group[16] = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
    uint8_t group_mac[6] = {0x33, 0x33, 0xff};

    memcpy(group + 13, target + 13, 3);
    memcpy(group_mac + 3, target + 13, 3);
    return build_neighbour(frame, capacity, PACKET_ICMPV6_SOLICITATION, 0, PACKET_ND_SOURCE_ADDRESS, own_mac, group_mac,
                           own_ipv6, group, target);
}

size_t packet_build_neighbour_advertisement(uint8_t *frame, size_t capacity, const uint8_t own_mac[6],
                                            const uint8_t own_ipv6[16], const uint8_t to_mac[6],
                                            const uint8_t to_ipv6[16])
{
    return build_neighbour(frame, capacity, PACKET_ICMPV6_ADVERTISEMENT, UINT32_C(0x60000000) /* solicited, override */,
                           PACKET_ND_TARGET_ADDRESS, own_mac, to_mac, own_ipv6, to_ipv6, own_ipv6);
}
