/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/cm/roce_frame.h"

#include <string.h>

#include "generator/sctp/sctp.h"

enum {
    ETHERNET_OCTETS = 14,
    IPV4_OCTETS = 20,
    IPV6_OCTETS = 40,
    UDP_OCTETS = 8,
    UDP_PROTOCOL = 17,
    DATAGRAM_OCTETS = UDP_OCTETS + UD_MAD_OCTETS,
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_IPV6 = 0x86DD,
    FRAGMENT_BITS = 0x3FFF, /* More Fragments, and the offset */
};

size_t roce_frame_build(uint8_t *frame, size_t room, const struct roce_ends *ends, const uint8_t mad[MAD_OCTETS])
{
    struct packet_ip ip = {.source = ends->source, .destination = ends->destination, .protocol = UDP_PROTOCOL};
    uint8_t udp[DATAGRAM_OCTETS] = {0};
    uint32_t icrc;
    uint8_t *at;
    size_t count;

    memcpy(ip.ethernet_source, ends->source_mac, 6);
    memcpy(ip.ethernet_destination, ends->destination_mac, 6);
    octets_put16(udp, ROCE_V2_PORT);
    octets_put16(udp + 2, ROCE_V2_PORT);
    octets_put16(udp + 4, sizeof(udp));
    ud_mad_pack(udp + UDP_OCTETS, &(struct ud_header){.psn = ends->psn & 0xFFFFFF, .migrated = true}, mad);
    count = packet_build_ip(frame, room, &ip, udp, sizeof(udp));
    if (count == 0)
        return 0;
    at = frame + count - sizeof(udp);
    /* The ICRC covers the IP header as it was built, and no UDP checksum. */
    icrc = icrc_roce_v2(frame + ETHERNET_OCTETS, ends->source.family, at, sizeof(udp) - ICRC_OCTETS);
    octets_put32_little(frame + count - ICRC_OCTETS, icrc ^ ends->icrc_flip);
    octets_put16(at + 6, packet_udp_checksum(&ends->source, &ends->destination, at, DATAGRAM_OCTETS));
    return count;
}

/* The IP header's octets, and the addresses; 0: no such header, or one with another payload than UDP. */
static size_t read_ip(struct roce_frame *out, const uint8_t *ip, size_t octets, unsigned ethertype)
{
    size_t length;

    if (ethertype == ETHERTYPE_IPV4 && octets >= IPV4_OCTETS && ip[0] == 0x45 && ip[9] == UDP_PROTOCOL &&
        (octets_get16(ip + 6) & FRAGMENT_BITS) == 0) {
        length = octets_get16(ip + 2);
        out->source.family = out->destination.family = 4;
        memcpy(out->source.octets, ip + 12, 4);
        memcpy(out->destination.octets, ip + 16, 4);
        return length == IPV4_OCTETS + DATAGRAM_OCTETS && length <= octets ? IPV4_OCTETS : 0;
    }
    if (ethertype == ETHERTYPE_IPV6 && octets >= IPV6_OCTETS && ip[0] >> 4 == 6 && ip[6] == UDP_PROTOCOL) {
        length = octets_get16(ip + 4);
        out->source.family = out->destination.family = 6;
        memcpy(out->source.octets, ip + 8, 16);
        memcpy(out->destination.octets, ip + 24, 16);
        return length == DATAGRAM_OCTETS && length + IPV6_OCTETS <= octets ? IPV6_OCTETS : 0;
    }
    return 0;
}

bool roce_frame_parse(struct roce_frame *out, const uint8_t *frame, size_t octets)
{
    const uint8_t *ip = frame + ETHERNET_OCTETS, *udp;
    size_t header;

    memset(out, 0, sizeof(*out));
    if (octets < ETHERNET_OCTETS)
        return false;
    header = read_ip(out, ip, octets - ETHERNET_OCTETS, octets_get16(frame + 12));
    if (header == 0)
        return false;
    udp = ip + header;
    if (octets_get16(udp + 2) != ROCE_V2_PORT || octets_get16(udp + 4) != DATAGRAM_OCTETS)
        return false;
    out->mad = ud_mad_parse(udp + UDP_OCTETS, UD_MAD_OCTETS);
    out->source_mac = frame + 6;
    out->icrc_good = icrc_roce_v2(ip, out->source.family, udp, DATAGRAM_OCTETS - ICRC_OCTETS) ==
                     octets_get32_little(udp + DATAGRAM_OCTETS - ICRC_OCTETS);
    return out->mad != NULL;
}
