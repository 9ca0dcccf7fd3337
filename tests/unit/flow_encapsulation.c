/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/flow_encapsulation.h"

#include <string.h>

#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"
#include "base/octets.h"

/* clang-format off */
const struct encapsulation encapsulations[] = {
    {"Ethernet in Ethernet", ETHERTYPE, 0x6558, FRAME_OF_ETHERNET, OPENED, 0, {0}},
    {"MPLS", ETHERTYPE, 0x8847, IP, OPENED, 4, {0, 1, 0x01, 64}},
    {"MPLS, two labels", ETHERTYPE, 0x8847, IP, OPENED, 8, {0, 1, 0x00, 64, 0, 2, 0x01, 64}},
    {"MPLS multicast", ETHERTYPE, 0x8848, IP, OPENED, 4, {0, 1, 0x01, 64}},
    {"MPLS, Ethernet", ETHERTYPE, 0x8847, FRAME_OF_ETHERNET, HIDDEN, 8, {0, 1, 0x01, 64, 0, 0, 0, 0}},
    {"PPPoE", ETHERTYPE, 0x8864, IP, OPENED, 8, {0x11, 0, 0, 1, 0xFF, 0xFF, 0, 0x21}},
    {"PPPoE, compressed protocol", ETHERTYPE, 0x8864, IP, OPENED, 7, {0x11, 0, 0, 1, 0xFF, 0xFF, 0x21}},
    {"PPP", ETHERTYPE, 0x880B, IP, OPENED, 4, {0xFF, 0x03, 0, 0x21}},
    {"MACsec", ETHERTYPE, 0x88E5, IP, HIDDEN, 8, {0, 0, 0, 0, 0, 1, 8, 0}},
    {"802.1ah", ETHERTYPE, 0x88E7, FRAME_OF_ETHERNET, OPENED, 4, {0, 0, 0, 1}},
    {"802.1Q as a service tag of others", ETHERTYPE, 0x9200, IP, HIDDEN, 4, {0, 1, 8, 0}},
    {"TRILL", ETHERTYPE, 0x22F3, FRAME_OF_ETHERNET, HIDDEN, 6, {0}},
    {"NSH", ETHERTYPE, 0x894F, IP, HIDDEN, 24, {0x0F, 0xC6, 1, 1}},
    {"802.1BR", ETHERTYPE, 0x893F, IP, HIDDEN, 8, {0, 0, 0, 0, 0, 0, 8, 0}},
    {"VN-Tag", ETHERTYPE, 0x8926, IP, OPENED, 6, {0, 0, 0, 0, 8, 0}},
    {"FabricPath", ETHERTYPE, 0x8903, FRAME_OF_ETHERNET, OPENED, 2, {0x40, 0x20}},
    {"Cisco metadata", ETHERTYPE, 0x8909, IP, HIDDEN, 8, {1, 1, 0, 1, 0, 0, 8, 0}},
    {"HSR", ETHERTYPE, 0x892F, IP, HIDDEN, 6, {0, 0, 0, 0, 8, 0}},
    {"6LoWPAN", ETHERTYPE, 0xA0ED, IP, HIDDEN, 1, {0x41}},
    {"batman-adv", ETHERTYPE, 0x4305, FRAME_OF_ETHERNET, HIDDEN, 10, {0x40, 15}},
    {"local experimental", ETHERTYPE, 0x88B5, IP, HIDDEN, 0, {0}},
    {"Ethertype of nobody", ETHERTYPE, 0x1234, IP, HIDDEN, 0, {0}},
    {"IP over LLC", LENGTH, 0, IP, HIDDEN, 3, {0x06, 0x06, 0x03}},
    {"LLC of nobody", LENGTH, 0, IP, HIDDEN, 3, {0x2A, 0x2A, 0x03}},
    {"IP over LLC with another control field", LENGTH, 0, IP, HIDDEN, 3, {0x06, 0x06, 0x13}},
    {"SNAP, RFC 1042", LENGTH, 0, IP, HIDDEN, 8, {0xAA, 0xAA, 3, 0, 0, 0, 8, 0}},
    {"SNAP, 802.1H", LENGTH, 0, IP, HIDDEN, 8, {0xAA, 0xAA, 3, 0, 0, 0xF8, 8, 0}},
    {"SNAP, response bit", LENGTH, 0, IP, HIDDEN, 8, {0xAA, 0xAB, 3, 0, 0, 0, 8, 0}},
    {"SNAP, bridged", LENGTH, 0, FRAME_OF_ETHERNET, HIDDEN, 10, {0xAA, 0xAA, 3, 0, 0x80, 0xC2, 0, 7, 0, 0}},
    {"SNAP of nobody", LENGTH, 0, IP, HIDDEN, 8, {0xAA, 0xAA, 3, 0x12, 0x34, 0x56, 8, 0}},
    {"IP in IP", OVER_IPV4, 4, IP, OPENED, 0, {0}},
    {"IP in IPv6", OVER_IPV6, 4, IP, OPENED, 0, {0}},
    {"minimal encapsulation", OVER_IPV4, 55, SEGMENT, HIDDEN, 8, {6, 0, 0, 0, 192, 0, 2, 1}},
    {"GRE", OVER_IPV4, 47, IP, OPENED, 4, {0, 0, 8, 0}},
    {"GRE over IPv6", OVER_IPV6, 47, IP, OPENED, 4, {0, 0, 8, 0}},
    {"GRE with a key, a number and a checksum", OVER_IPV4, 47, IP, OPENED, 16, {0xB0, 0, 8, 0}},
    {"NVGRE", OVER_IPV4, 47, FRAME_OF_ETHERNET, OPENED, 8, {0x20, 0, 0x65, 0x58, 0, 0, 1, 0}},
    {"ERSPAN", OVER_IPV4, 47, FRAME_OF_ETHERNET, OPENED, 16, {0x10, 0, 0x88, 0xBE}},
    {"ERSPAN III", OVER_IPV4, 47, FRAME_OF_ETHERNET, OPENED, 20, {0x10, 0, 0x22, 0xEB, 0, 0, 0, 1, 0x20}},
    {"ERSPAN III, more header", OVER_IPV4, 47, FRAME_OF_ETHERNET, OPENED, 28, {0x10, 0, 0x22, 0xEB, 0, 0, 0, 1, 0x20, [19] = 1}},
    {"802.11 in GRE", OVER_IPV4, 47, IP, OPENED, 36, {0, 0, 0x82, 0, 0x08, 0x02, [28] = 0xAA, 0xAA, 3, 0, 0, 0, 8, 0}},
    {"802.11 in GRE, encrypted", OVER_IPV4, 47, IP, HIDDEN, 36, {0, 0, 0x82, 0, 0x08, 0x42, [28] = 0xAA, 0xAA, 3, 0, 0, 0, 8, 0}},
    {"PPTP", OVER_IPV4, 47, IP, OPENED, 12, {0x20, 1, 0x88, 0x0B, 0, 0, 0, 1, 0xFF, 3, 0, 0x21}},
    {"ESP", OVER_IPV4, 50, IP, HIDDEN, 8, {0, 0, 0, 1, 0, 0, 0, 1}},
    {"ESP over IPv6", OVER_IPV6, 50, IP, HIDDEN, 8, {0, 0, 0, 1, 0, 0, 0, 1}},
    {"IPComp", OVER_IPV4, 108, SEGMENT, HIDDEN, 4, {6, 0, 0, 2}},
    {"EtherIP", OVER_IPV4, 97, FRAME_OF_ETHERNET, OPENED, 2, {0x30, 0}},
    {"L2TPv3", OVER_IPV4, 115, FRAME_OF_ETHERNET, HIDDEN, 4, {0, 0, 0, 1}},
    {"MPLS in IP", OVER_IPV4, 137, IP, OPENED, 4, {0, 1, 0x01, 64}},
    {"PIM Register", OVER_IPV4, 103, IP, OPENED, 8, {0x21, 0, 0xDE, 0xFF}},
    {"UDP-Lite", OVER_IPV4, 136, IP, GUESSED, 8, {0x30, 0x39, 0x30, 0x3A, 0, 8, 0, 0}},
    {"IP protocol of nobody", OVER_IPV4, 200, SEGMENT, HIDDEN, 0, {0}},
    {"experimental IP protocol", OVER_IPV4, 253, SEGMENT, HIDDEN, 0, {0}},
    {"IPv6: Host Identity", OVER_IPV6, 139, SEGMENT, HIDDEN, 8, {6}},
    {"IPv6: Shim6", OVER_IPV6, 140, SEGMENT, HIDDEN, 8, {6}},
    {"IPv6: experimental extension", OVER_IPV6, 254, SEGMENT, HIDDEN, 8, {6}},
    {"VXLAN", OVER_UDP, 4789, FRAME_OF_ETHERNET, OPENED, 8, {8, 0, 0, 0, 0, 0, 1, 0}},
    {"VXLAN over IPv6", OVER_UDP6, 4789, FRAME_OF_ETHERNET, OPENED, 8, {8, 0, 0, 0, 0, 0, 1, 0}},
    {"VXLAN, another port", OVER_UDP, 40000, FRAME_OF_ETHERNET, GUESSED, 8, {8, 0, 0, 0, 0, 0, 1, 0}},
    {"Geneve", OVER_UDP, 6081, FRAME_OF_ETHERNET, OPENED, 8, {0, 0, 0x65, 0x58, 0, 0, 1, 0}},
    {"Geneve, IP", OVER_UDP, 6081, IP, OPENED, 8, {0, 0, 8, 0, 0, 0, 1, 0}},
    {"GTP-U", OVER_UDP, 2152, IP, OPENED, 8, {0x30, 0xFF}},
    {"L2TP", OVER_UDP, 1701, IP, OPENED, 8, {0x00, 0x02, 0, 1, 0, 1, 0, 0x21}},
    {"ESP in UDP", OVER_UDP, 4500, IP, HIDDEN, 8, {0, 0, 0, 1, 0, 0, 0, 1}},
    {"LISP", OVER_UDP, 4341, IP, OPENED, 8, {0x08}},
    {"GUE, without a header", OVER_UDP, 6080, IP, GUESSED, 0, {0}},
    {"MPLS in UDP", OVER_UDP, 6635, IP, OPENED, 4, {0, 1, 0x01, 64}},
    {"GRE in UDP", OVER_UDP, 4754, IP, OPENED, 4, {0, 0, 8, 0}},
    {"TZSP", OVER_UDP, 37008, FRAME_OF_ETHERNET, OPENED, 5, {1, 0, 0, 1, 1}},
    {"OpenVPN", OVER_UDP, 1194, IP, HIDDEN, 9, {0x48, 0, 0, 1}},
    {"WireGuard", OVER_UDP, 41000, IP, HIDDEN, 16, {4, 0, 0, 0, 1, 2, 3, 4, 1}},
    {"IP in UDP", OVER_UDP, 40000, IP, GUESSED, 0, {0}},
    {"IP in UDP, after a header", OVER_UDP6, 40000, IP, GUESSED, 39, {1, 2, 3}},
    {"TCP in UDP", OVER_UDP, 40000, SEGMENT, HIDDEN, 0, {0}},
    {"ERF with IPv4", ERF, 22, IP, HIDDEN, 0, {0}},
    {"ERF, color Ethernet", ERF, 11, FRAME_OF_ETHERNET, HIDDEN, 2, {0}},
    {"ERF, color hash Ethernet", ERF, 20, FRAME_OF_ETHERNET, HIDDEN, 2, {0}},
    {"ERF, ATM", ERF, 3, IP, HIDDEN, 4, {0}},
    {"ERF, HDLC", ERF, 1, IP, HIDDEN, 4, {0xFF, 3, 0, 0x21}},
    {"ERF of nobody", ERF, 99, IP, HIDDEN, 0, {0}},
    {"cooked LLC", COOKED, 4, IP, HIDDEN, 8, {0xAA, 0xAA, 3, 0, 0, 0, 8, 0}},
    {"cooked protocol of nobody", COOKED, 7, IP, HIDDEN, 0, {0}},
    {"cooked MPLS", COOKED, 0x8847, IP, OPENED, 4, {0, 1, 0x01, 64}},
    {"IP over InfiniBand", IB_UNRELIABLE, 77, IP, HIDDEN, 4, {8, 0, 0, 0}},
};
/* clang-format on */

const size_t encapsulation_count = sizeof(encapsulations) / sizeof(encapsulations[0]);

/* ---- building ---------------------------------------------------------------------------------------------------- */

void encapsulation_ipv4(uint8_t *ip, unsigned protocol, size_t payload)
{
    static const uint8_t ends[] = {192, 0, 2, 1, 192, 0, 2, 2};

    memset(ip, 0, IPV4);
    ip[0] = 0x45;
    octets_put16(ip + 2, (uint16_t)(IPV4 + payload));
    ip[8] = 64;
    ip[9] = (uint8_t)protocol;
    memcpy(ip + 12, ends, sizeof(ends));
    octets_put16(ip + 10, packet_checksum(ip, IPV4, 0));
}

static void put_ipv6(uint8_t *ip, unsigned protocol, size_t payload)
{
    memset(ip, 0, IPV6);
    ip[0] = 0x60;
    octets_put16(ip + 4, (uint16_t)payload);
    ip[6] = (uint8_t)protocol;
    ip[7] = 64;
    ip[8] = ip[24] = 0xFD;
    ip[23] = 1;
    ip[39] = 2;
}

void encapsulation_ends(uint8_t *frame, unsigned type)
{
    memset(frame, 2, 12);
    octets_put16(frame + 12, (uint16_t)type);
}

uint32_t encapsulation_link(const struct encapsulation *with)
{
    return with->outer == ERF ? FLOW_LINK_ERF : with->outer == COOKED ? FLOW_LINK_LINUX_SLL : FLOW_LINK_ETHERNET;
}

size_t encapsulation_put(const struct encapsulation *with, size_t octets, uint8_t *frame)
{
    size_t at = 0, rest = with->count + octets;

    switch (with->outer) {
    case ETHERTYPE: encapsulation_ends(frame, with->number), at = ETHERNET; break;
    case LENGTH: encapsulation_ends(frame, (unsigned)rest), at = ETHERNET; break;
    case OVER_IPV4:
        encapsulation_ends(frame, 0x0800);
        encapsulation_ipv4(frame + ETHERNET, with->number, rest);
        at = ETHERNET + IPV4;
        break;
    case OVER_IPV6:
        encapsulation_ends(frame, 0x86DD);
        put_ipv6(frame + ETHERNET, with->number, rest);
        at = ETHERNET + IPV6;
        break;
    case OVER_UDP:
    case OVER_UDP6:
        encapsulation_ends(frame, with->outer == OVER_UDP ? 0x0800 : 0x86DD);
        if (with->outer == OVER_UDP)
            encapsulation_ipv4(frame + ETHERNET, 17, UDP + rest);
        else
            put_ipv6(frame + ETHERNET, 17, UDP + rest);
        at = ETHERNET + (with->outer == OVER_UDP ? IPV4 : IPV6);
        octets_put16(frame + at, (uint16_t)with->number);
        octets_put16(frame + at + 2, (uint16_t)with->number);
        octets_put16(frame + at + 4, (uint16_t)(UDP + rest));
        at += UDP;
        break;
    case ERF:
        frame[8] = (uint8_t)with->number;
        octets_put16(frame + 10, (uint16_t)(16 + rest));
        octets_put16(frame + 14, (uint16_t)rest);
        at = 16;
        break;
    case COOKED:
        frame[3] = 1;
        octets_put16(frame + 14, (uint16_t)with->number);
        at = 16;
        break;
    case IB_UNRELIABLE:
        encapsulation_ends(frame, 0x8915);
        put_ipv6(frame + ETHERNET, 0x1B, 12 + 8 + rest + 4);
        at = ETHERNET + IPV6;
        frame[at] = 0x64;
        frame[at + 7] = (uint8_t)with->number;
        at += 12 + 8;
        break;
    }
    memcpy(frame + at, with->header, with->count);
    return at + with->count;
}

struct made encapsulation_make(const struct encapsulation *with, const uint8_t *inner, size_t octets)
{
    struct made made = {.link = encapsulation_link(with)};
    size_t at = encapsulation_put(with, octets, made.octets);

    memcpy(made.octets + at, inner, octets);
    made.count = at + octets;
    return made;
}

void encapsulation_icmp(uint8_t *ip)
{
    ip[9] = 1;
    octets_put16(ip + 10, 0);
    octets_put16(ip + 10, packet_checksum(ip, IPV4, 0));
}

void encapsulation_inner(struct talk *talk, enum inner inner, const uint8_t **octets, size_t *count)
{
    size_t skip = inner == IP ? ETHERNET : inner == SEGMENT ? ETHERNET + IPV4 : 0;

    *octets = talk->frame_octets + skip;
    *count = talk->frame_length - skip;
}
