/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nothing hides iWARP from the account: the same MPA Request in one encapsulation after another, beside nothing else, is never
 * foreign. What carries no IP is; and so is a tunnel that can be read and has something else in it.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/octets.h"
#include "wire/sctp.h"

Suite *flow_tunnel_suite(void);

enum { FRAME = 2048, ETHERNET = 14, IPV4 = 20, IPV6 = 40, UDP = 8 };

/* What the encapsulation's last header stands after, and what it is. */
enum outer {
    ETHERTYPE, /* `number` */
    LENGTH,    /* the frame's length, so that an LLC header is next */
    OVER_IPV4, /* the IP protocol `number` */
    OVER_IPV6,
    OVER_UDP, /* from and to `number` */
    OVER_UDP6,
    ERF,          /* record type `number` */
    COOKED,       /* SLL with that protocol */
    IB_UNRELIABLE /* RoCEv1: UD Send Only to a queue pair */
};

enum inner { IP, FRAME_OF_ETHERNET, SEGMENT /* of TCP, without IP */ };

struct encapsulation {
    const char *name;
    enum outer outer;
    unsigned number;
    enum inner inner;
    bool readable; /* what is inside is looked at: another protocol in it is foreign */
    size_t count;  /* of header[] */
    uint8_t header[40];
};

/* clang-format off */
static const struct encapsulation encapsulations[] = {
    {"Ethernet in Ethernet", ETHERTYPE, 0x6558, FRAME_OF_ETHERNET, true, 0, {0}},
    {"MPLS", ETHERTYPE, 0x8847, IP, true, 4, {0, 1, 0x01, 64}},
    {"MPLS, two labels", ETHERTYPE, 0x8847, IP, true, 8, {0, 1, 0x00, 64, 0, 2, 0x01, 64}},
    {"MPLS multicast", ETHERTYPE, 0x8848, IP, true, 4, {0, 1, 0x01, 64}},
    {"MPLS, Ethernet", ETHERTYPE, 0x8847, FRAME_OF_ETHERNET, false, 8, {0, 1, 0x01, 64, 0, 0, 0, 0}},
    {"PPPoE", ETHERTYPE, 0x8864, IP, true, 8, {0x11, 0, 0, 1, 0xFF, 0xFF, 0, 0x21}},
    {"PPPoE, compressed protocol", ETHERTYPE, 0x8864, IP, true, 7, {0x11, 0, 0, 1, 0xFF, 0xFF, 0x21}},
    {"PPP", ETHERTYPE, 0x880B, IP, true, 4, {0xFF, 0x03, 0, 0x21}},
    {"MACsec", ETHERTYPE, 0x88E5, IP, false, 8, {0, 0, 0, 0, 0, 1, 8, 0}},
    {"802.1ah", ETHERTYPE, 0x88E7, FRAME_OF_ETHERNET, true, 4, {0, 0, 0, 1}},
    {"802.1Q as a service tag of others", ETHERTYPE, 0x9200, IP, false, 4, {0, 1, 8, 0}},
    {"TRILL", ETHERTYPE, 0x22F3, FRAME_OF_ETHERNET, false, 6, {0}},
    {"NSH", ETHERTYPE, 0x894F, IP, false, 24, {0x0F, 0xC6, 1, 1}},
    {"802.1BR", ETHERTYPE, 0x893F, IP, false, 8, {0, 0, 0, 0, 0, 0, 8, 0}},
    {"VN-Tag", ETHERTYPE, 0x8926, IP, false, 6, {0, 0, 0, 0, 8, 0}},
    {"Cisco metadata", ETHERTYPE, 0x8909, IP, false, 8, {1, 1, 0, 1, 0, 0, 8, 0}},
    {"HSR", ETHERTYPE, 0x892F, IP, false, 6, {0, 0, 0, 0, 8, 0}},
    {"6LoWPAN", ETHERTYPE, 0xA0ED, IP, false, 1, {0x41}},
    {"batman-adv", ETHERTYPE, 0x4305, FRAME_OF_ETHERNET, false, 10, {0x40, 15}},
    {"local experimental", ETHERTYPE, 0x88B5, IP, false, 0, {0}},
    {"Ethertype of nobody", ETHERTYPE, 0x1234, IP, false, 0, {0}},
    {"IP over LLC", LENGTH, 0, IP, false, 3, {0x06, 0x06, 0x03}},
    {"LLC of nobody", LENGTH, 0, IP, false, 3, {0x2A, 0x2A, 0x03}},
    {"IP over LLC with another control field", LENGTH, 0, IP, false, 3, {0x06, 0x06, 0x13}},
    {"SNAP, RFC 1042", LENGTH, 0, IP, false, 8, {0xAA, 0xAA, 3, 0, 0, 0, 8, 0}},
    {"SNAP, 802.1H", LENGTH, 0, IP, false, 8, {0xAA, 0xAA, 3, 0, 0, 0xF8, 8, 0}},
    {"SNAP, response bit", LENGTH, 0, IP, false, 8, {0xAA, 0xAB, 3, 0, 0, 0, 8, 0}},
    {"SNAP, bridged", LENGTH, 0, FRAME_OF_ETHERNET, false, 10, {0xAA, 0xAA, 3, 0, 0x80, 0xC2, 0, 7, 0, 0}},
    {"SNAP of nobody", LENGTH, 0, IP, false, 8, {0xAA, 0xAA, 3, 0x12, 0x34, 0x56, 8, 0}},
    {"IP in IP", OVER_IPV4, 4, IP, true, 0, {0}},
    {"IP in IPv6", OVER_IPV6, 4, IP, true, 0, {0}},
    {"minimal encapsulation", OVER_IPV4, 55, SEGMENT, false, 8, {6, 0, 0, 0, 192, 0, 2, 1}},
    {"GRE", OVER_IPV4, 47, IP, true, 4, {0, 0, 8, 0}},
    {"GRE over IPv6", OVER_IPV6, 47, IP, true, 4, {0, 0, 8, 0}},
    {"GRE with a key, a number and a checksum", OVER_IPV4, 47, IP, true, 16, {0xB0, 0, 8, 0}},
    {"NVGRE", OVER_IPV4, 47, FRAME_OF_ETHERNET, true, 8, {0x20, 0, 0x65, 0x58, 0, 0, 1, 0}},
    {"ERSPAN", OVER_IPV4, 47, FRAME_OF_ETHERNET, true, 16, {0x10, 0, 0x88, 0xBE}},
    {"PPTP", OVER_IPV4, 47, IP, true, 12, {0x20, 1, 0x88, 0x0B, 0, 0, 0, 1, 0xFF, 3, 0, 0x21}},
    {"ESP", OVER_IPV4, 50, IP, false, 8, {0, 0, 0, 1, 0, 0, 0, 1}},
    {"ESP over IPv6", OVER_IPV6, 50, IP, false, 8, {0, 0, 0, 1, 0, 0, 0, 1}},
    {"IPComp", OVER_IPV4, 108, SEGMENT, false, 4, {6, 0, 0, 2}},
    {"EtherIP", OVER_IPV4, 97, FRAME_OF_ETHERNET, true, 2, {0x30, 0}},
    {"L2TPv3", OVER_IPV4, 115, FRAME_OF_ETHERNET, false, 4, {0, 0, 0, 1}},
    {"MPLS in IP", OVER_IPV4, 137, IP, true, 4, {0, 1, 0x01, 64}},
    {"PIM Register", OVER_IPV4, 103, IP, true, 8, {0x21, 0, 0xDE, 0xFF}},
    {"UDP-Lite", OVER_IPV4, 136, IP, true, 8, {0x30, 0x39, 0x30, 0x3A, 0, 8, 0, 0}},
    {"IP protocol of nobody", OVER_IPV4, 200, SEGMENT, false, 0, {0}},
    {"experimental IP protocol", OVER_IPV4, 253, SEGMENT, false, 0, {0}},
    {"IPv6: Host Identity", OVER_IPV6, 139, SEGMENT, false, 8, {6}},
    {"IPv6: Shim6", OVER_IPV6, 140, SEGMENT, false, 8, {6}},
    {"IPv6: experimental extension", OVER_IPV6, 254, SEGMENT, false, 8, {6}},
    {"VXLAN", OVER_UDP, 4789, FRAME_OF_ETHERNET, true, 8, {8, 0, 0, 0, 0, 0, 1, 0}},
    {"VXLAN over IPv6", OVER_UDP6, 4789, FRAME_OF_ETHERNET, true, 8, {8, 0, 0, 0, 0, 0, 1, 0}},
    {"VXLAN, another port", OVER_UDP, 40000, FRAME_OF_ETHERNET, true, 8, {8, 0, 0, 0, 0, 0, 1, 0}},
    {"Geneve", OVER_UDP, 6081, FRAME_OF_ETHERNET, true, 8, {0, 0, 0x65, 0x58, 0, 0, 1, 0}},
    {"GTP-U", OVER_UDP, 2152, IP, true, 8, {0x30, 0xFF}},
    {"L2TP", OVER_UDP, 1701, IP, true, 8, {0x00, 0x02, 0, 1, 0, 1, 0, 0x21}},
    {"ESP in UDP", OVER_UDP, 4500, IP, false, 8, {0, 0, 0, 1, 0, 0, 0, 1}},
    {"LISP", OVER_UDP, 4341, IP, true, 8, {0x08}},
    {"GUE, without a header", OVER_UDP, 6080, IP, true, 0, {0}},
    {"MPLS in UDP", OVER_UDP, 6635, IP, true, 4, {0, 1, 0x01, 64}},
    {"GRE in UDP", OVER_UDP, 4754, IP, true, 4, {0, 0, 8, 0}},
    {"TZSP", OVER_UDP, 37008, FRAME_OF_ETHERNET, true, 5, {1, 0, 0, 1, 1}},
    {"OpenVPN", OVER_UDP, 1194, IP, false, 9, {0x48, 0, 0, 1}},
    {"WireGuard", OVER_UDP, 41000, IP, false, 16, {4, 0, 0, 0, 1, 2, 3, 4, 1}},
    {"IP in UDP", OVER_UDP, 40000, IP, true, 0, {0}},
    {"IP in UDP, after a header", OVER_UDP6, 40000, IP, true, 39, {1, 2, 3}},
    {"TCP in UDP", OVER_UDP, 40000, SEGMENT, false, 0, {0}},
    {"ERF with IPv4", ERF, 22, IP, false, 0, {0}},
    {"ERF, color Ethernet", ERF, 11, FRAME_OF_ETHERNET, false, 2, {0}},
    {"ERF, color hash Ethernet", ERF, 20, FRAME_OF_ETHERNET, false, 2, {0}},
    {"ERF, ATM", ERF, 3, IP, false, 4, {0}},
    {"ERF, HDLC", ERF, 1, IP, false, 4, {0xFF, 3, 0, 0x21}},
    {"ERF of nobody", ERF, 99, IP, false, 0, {0}},
    {"cooked LLC", COOKED, 4, IP, false, 8, {0xAA, 0xAA, 3, 0, 0, 0, 8, 0}},
    {"cooked protocol of nobody", COOKED, 7, IP, false, 0, {0}},
    {"cooked MPLS", COOKED, 0x8847, IP, true, 4, {0, 1, 0x01, 64}},
    {"IP over InfiniBand", IB_UNRELIABLE, 77, IP, false, 4, {8, 0, 0, 0}},
};
/* clang-format on */

enum { ENCAPSULATIONS = sizeof(encapsulations) / sizeof(encapsulations[0]) };

/* ---- building ---------------------------------------------------------------------------------------------------- */

static void put_ipv4(uint8_t *ip, unsigned protocol, size_t payload)
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

/* The frame with what is inside, after the encapsulation's header. */
struct made {
    uint32_t link;
    uint8_t octets[FRAME];
    size_t count;
};

static void put_ends(uint8_t *frame, unsigned type)
{
    memset(frame, 2, 12);
    octets_put16(frame + 12, (uint16_t)type);
}

static struct made make(const struct encapsulation *with, const uint8_t *inner, size_t octets)
{
    size_t at = 0, rest = with->count + octets;
    struct made made = {0};
    uint8_t *frame = made.octets;

    made.link = with->outer == ERF ? FLOW_LINK_ERF : with->outer == COOKED ? FLOW_LINK_LINUX_SLL : FLOW_LINK_ETHERNET;
    switch (with->outer) {
    case ETHERTYPE: put_ends(frame, with->number), at = ETHERNET; break;
    case LENGTH: put_ends(frame, (unsigned)rest), at = ETHERNET; break;
    case OVER_IPV4:
        put_ends(frame, 0x0800);
        put_ipv4(frame + ETHERNET, with->number, rest);
        at = ETHERNET + IPV4;
        break;
    case OVER_IPV6:
        put_ends(frame, 0x86DD);
        put_ipv6(frame + ETHERNET, with->number, rest);
        at = ETHERNET + IPV6;
        break;
    case OVER_UDP:
    case OVER_UDP6:
        put_ends(frame, with->outer == OVER_UDP ? 0x0800 : 0x86DD);
        if (with->outer == OVER_UDP)
            put_ipv4(frame + ETHERNET, 17, UDP + rest);
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
        put_ends(frame, 0x8915);
        put_ipv6(frame + ETHERNET, 0x1B, 12 + 8 + rest + 4);
        at = ETHERNET + IPV6;
        frame[at] = 0x64;
        frame[at + 7] = (uint8_t)with->number;
        at += 12 + 8;
        break;
    }
    memcpy(frame + at, with->header, with->count);
    memcpy(frame + at + with->count, inner, octets);
    made.count = at + rest;
    return made;
}

/* The same packet as ICMP, which is foreign wherever it is. */
static void make_icmp(uint8_t *ip)
{
    ip[9] = 1;
    octets_put16(ip + 10, 0);
    octets_put16(ip + 10, packet_checksum(ip, IPV4, 0));
}

static struct flow_account decode(const struct made *made, size_t captured)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, NULL, NULL);
    uint8_t *placed = guard_place(made->octets, captured);
    struct flow_account account;

    ck_assert_ptr_nonnull(decoder);
    flow_decoder_frame(decoder, &(struct flow_frame){made->link, 1, 1, placed, captured, made->count});
    flow_decoder_finish(decoder);
    ck_assert(flow_totals_balanced(flow_decoder_totals(decoder)));
    account = flow_decoder_totals(decoder)->account;
    flow_decoder_destroy(decoder);
    guard_free(placed, captured);
    return account;
}

static bool is_foreign(const struct flow_account *account)
{
    return flow_account_sum(account, FLOW_FOREIGN).frames == 1;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* An MPA Request in a whole Ethernet frame: inner packet and segment are parts of it. */
static struct talk *request_frame(void)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, true);
    talk_build(talk, 0, talk->isn[0] + 1, 0, TCP_FLAG_ACK, talk->stream[0], talk->start[0]);
    return talk;
}

static void inner_of(struct talk *talk, enum inner inner, const uint8_t **octets, size_t *count)
{
    size_t skip = inner == IP ? ETHERNET : inner == SEGMENT ? ETHERNET + IPV4 : 0;

    *octets = talk->frame_octets + skip;
    *count = talk->frame_length - skip;
}

/* Loop: the encapsulation. Whole, and cut at every octet: never foreign. */
START_TEST(never_foreign)
{
    const struct encapsulation *with = &encapsulations[_i];
    struct talk *talk = request_frame();
    struct flow_account account;
    const uint8_t *inner;
    struct made made;
    size_t count;

    inner_of(talk, with->inner, &inner, &count);
    if (with->inner == SEGMENT && with->outer == OVER_UDP) { /* its checksum counts the addresses of the outer packet */
        uint8_t *segment = talk->frame_octets + ETHERNET + IPV4;
        static const uint8_t ends[] = {192, 0, 2, 1, 192, 0, 2, 2};
        uint32_t sum = 6 + (uint32_t)count;

        for (unsigned i = 0; i < sizeof(ends); i += 2)
            sum += octets_get16(ends + i);
        octets_put16(segment + 16, 0);
        octets_put16(segment + 16, packet_checksum(segment, count, sum));
        memset(segment + 20, 'x', count - 20); /* no Key by which it would be known */
        octets_put16(segment + 16, 0);
        octets_put16(segment + 16, packet_checksum(segment, count, sum));
    }
    made = make(with, inner, count);
    account = decode(&made, made.count);
    ck_assert_msg(!is_foreign(&account), "%s", with->name);
    talk_free(talk);
}
END_TEST

/* Loop: the encapsulation. What can be read, and has ICMP in it, is foreign; nothing else is. */
START_TEST(others_are_foreign)
{
    const struct encapsulation *with = &encapsulations[_i];
    struct talk *talk = request_frame();
    struct flow_account account;
    const uint8_t *inner;
    struct made made;
    size_t count;

    make_icmp(talk->frame_octets + ETHERNET);
    memset(talk->frame_octets + ETHERNET + IPV4, 'x', talk->frame_length - ETHERNET - IPV4);
    inner_of(talk, with->inner, &inner, &count);
    made = make(with, inner, count);
    account = decode(&made, made.count);
    if (with->readable)
        ck_assert_msg(is_foreign(&account), "%s", with->name);
    for (size_t cut = 0; cut < made.count; cut++)
        (void)decode(&made, cut); /* sanitizers, and a page that cannot be read, watch */
    talk_free(talk);
}
END_TEST

/* Tunnels in tunnels are read as deep as a limit; deeper ones are unknown. */
START_TEST(depth)
{
    static const struct encapsulation in_ip = {"IP in IP", OVER_IPV4, 4, IP, true, 0, {0}};
    struct talk *talk = request_frame();
    struct made made, outer;
    struct flow_account account;
    unsigned read = 0;

    make_icmp(talk->frame_octets + ETHERNET);
    made = make(&in_ip, talk->frame_octets + ETHERNET, talk->frame_length - ETHERNET);
    for (unsigned i = 0; i < 12; i++) {
        account = decode(&made, made.count);
        if (!is_foreign(&account))
            break;
        read++;
        outer = make(&in_ip, made.octets + ETHERNET, made.count - ETHERNET);
        made = outer;
    }
    ck_assert_uint_ge(read, 2);
    ck_assert_uint_lt(read, 12);
    ck_assert_uint_eq(account.row[FLOW_ROW_TUNNEL].frames, 1);
    talk_free(talk);
}
END_TEST

/* A frame of this EtherType, with zeros. */
static enum flow_account_kind kind_of(enum outer outer, unsigned number, const uint8_t *header, size_t count)
{
    struct encapsulation with = {"", outer, number, IP, false, count, {0}};
    static const uint8_t zeros[46];
    struct flow_account account;
    struct made made;

    if (count != 0)
        memcpy(with.header, header, count);
    made = make(&with, zeros, sizeof(zeros));
    account = decode(&made, made.count);
    for (unsigned kind = 0; kind < FLOW_ACCOUNT_KINDS; kind++)
        if (flow_account_sum(&account, (enum flow_account_kind)kind).frames != 0)
            return (enum flow_account_kind)kind;
    ck_abort_msg("a frame is in no row");
}

/* What is known to carry no IP, by its number; of all others nobody knows. */
START_TEST(known_by_number)
{
    static const uint16_t types[] = {0x0806, 0x88CC, 0x8809, 0x888E, 0x88F7, 0x8906, 0x8863, 0x8035, 0x9000, 0x8892};
    static const uint8_t protocols[] = {1, 2, 46, 58, 59, 88, 89, 112};
    unsigned foreign = 0;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        ck_assert_msg(kind_of(ETHERTYPE, types[i], NULL, 0) == FLOW_FOREIGN, "0x%04x", types[i]);
    for (size_t i = 0; i < sizeof(protocols); i++)
        ck_assert_msg(kind_of(OVER_IPV4, protocols[i], NULL, 0) == FLOW_FOREIGN, "%u", protocols[i]);
    for (unsigned type = 0x0600; type < 0x10000; type += type < 0x8000 || type > 0x9100 ? 0x101 : 1)
        foreign += kind_of(ETHERTYPE, type, NULL, 0) == FLOW_FOREIGN;
    ck_assert_uint_lt(foreign, 80); /* a table of what is known is short */
}
END_TEST

START_TEST(known_llc)
{
    static const uint8_t foreign[][8] = {
        {0x42, 0x42, 0x03},                         /* spanning tree */
        {0xE0, 0xE0, 0x03},                         /* Novell */
        {0xF0, 0xF0, 0x03},                         /* NetBIOS */
        {0xFE, 0xFE, 0x03},                         /* IS-IS */
        {0xFF, 0xFF, 0x00},                         /* Novell without LLC */
        {0xAA, 0xAA, 0x03, 0, 0, 0x0C, 0x20, 0x00}, /* CDP */
        {0xAA, 0xAA, 0x03, 0, 0, 0, 0x88, 0xCC},    /* LLDP */
    };
    static const uint8_t unknown[][8] = {
        {0x42, 0x06, 0x03}, {0xAA, 0x42, 0x03}, {0xAA, 0xAA, 0x03, 0, 0, 0x0C, 0x77, 0x77}, {0xAA, 0xAA, 0x13}};

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        ck_assert_msg(kind_of(LENGTH, 0, foreign[i], sizeof(foreign[i])) == FLOW_FOREIGN, "%zu", i);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_msg(kind_of(LENGTH, 0, unknown[i], sizeof(unknown[i])) == FLOW_UNJUDGED, "%zu", i);
}
END_TEST

/* UDP of others stays foreign: DNS, and a client whose port is by chance that of a tunnel; keepalives and control of tunnels. */
START_TEST(plain_udp)
{
    static const struct {
        uint16_t from, to;
        size_t count;
        uint8_t octets[24];
        bool foreign;
    } cases[] = {
        {53, 41000, 16, {0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 3, 'w', 'w', 'w'}, true},
        {53, 4500, 16, {0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 3, 'w', 'w', 'w'}, true},
        {4500, 4500, 1, {0xFF}, true},
        {4500, 4500, 16, {0, 0, 0, 0, 1, 2, 3}, true},
        {4500, 4500, 16, {0, 0, 0, 9, 1, 2, 3}, false},
        {2152, 2152, 12, {0x32, 1}, true},
        {1701, 1701, 12, {0xC8, 2}, true},
        {40000, 40001, 24, {1, 2, 3, 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q'}, false},
    };
    struct made made = {.link = FLOW_LINK_ETHERNET};
    uint8_t *udp = made.octets + ETHERNET + IPV4;
    struct flow_account account;

    put_ends(made.octets, 0x0800);
    put_ipv4(made.octets + ETHERNET, 17, UDP + cases[_i].count);
    octets_put16(udp, cases[_i].from);
    octets_put16(udp + 2, cases[_i].to);
    octets_put16(udp + 4, (uint16_t)(UDP + cases[_i].count));
    memcpy(udp + UDP, cases[_i].octets, cases[_i].count);
    made.count = ETHERNET + IPV4 + UDP + cases[_i].count;
    account = decode(&made, made.count);
    ck_assert_int_eq(is_foreign(&account), cases[_i].foreign);
}
END_TEST

Suite *flow_tunnel_suite(void)
{
    Suite *suite = suite_create("flow_tunnel");
    TCase *tests = tcase_create("tunnels");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, never_foreign, 0, ENCAPSULATIONS);
    tcase_add_loop_test(tests, others_are_foreign, 0, ENCAPSULATIONS);
    tcase_add_test(tests, depth);
    tcase_add_test(tests, known_by_number);
    tcase_add_test(tests, known_llc);
    tcase_add_loop_test(tests, plain_udp, 0, 8);
    suite_add_tcase(suite, tests);
    return suite;
}
