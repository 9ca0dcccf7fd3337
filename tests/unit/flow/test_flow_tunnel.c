/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nothing hides iWARP from the account: the same MPA Request in one encapsulation after another, alone,
 * is never foreign. What carries no IP is; and so is a tunnel that can be read and has something else in it.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_encapsulation.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "base/octets.h"
#include "wire/sctp.h"

Suite *flow_tunnel_suite(void);

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

/* Loop: the encapsulation. Whole, and cut at every octet: never foreign. */
START_TEST(packets_of_a_tunnel_are_never_foreign)
{
    const struct encapsulation *with = &encapsulations[_i];
    struct talk *talk = request_frame();
    struct flow_account account;
    const uint8_t *inner;
    struct made made;
    size_t count;

    encapsulation_inner(talk, with->inner, &inner, &count);
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
    made = encapsulation_make(with, inner, count);
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

    encapsulation_icmp(talk->frame_octets + ETHERNET);
    memset(talk->frame_octets + ETHERNET + IPV4, 'x', talk->frame_length - ETHERNET - IPV4);
    encapsulation_inner(talk, with->inner, &inner, &count);
    made = encapsulation_make(with, inner, count);
    account = decode(&made, made.count);
    if (with->sight != HIDDEN)
        ck_assert_msg(is_foreign(&account), "%s", with->name);
    for (size_t cut = 0; cut < made.count; cut++)
        (void)decode(&made, cut); /* sanitizers, and a page that cannot be read, watch */
    talk_free(talk);
}
END_TEST

/* Tunnels in tunnels are read as deep as a limit; deeper ones are unknown. */
START_TEST(tunnels_are_read_to_a_limited_depth)
{
    static const struct encapsulation in_ip = {"IP in IP", OVER_IPV4, 4, IP, OPENED, 0, {0}};
    struct talk *talk = request_frame();
    struct made made, outer;
    struct flow_account account;
    unsigned read = 0;

    encapsulation_icmp(talk->frame_octets + ETHERNET);
    made = encapsulation_make(&in_ip, talk->frame_octets + ETHERNET, talk->frame_length - ETHERNET);
    for (unsigned i = 0; i < 12; i++) {
        account = decode(&made, made.count);
        if (!is_foreign(&account))
            break;
        read++;
        outer = encapsulation_make(&in_ip, made.octets + ETHERNET, made.count - ETHERNET);
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
    struct encapsulation with = {"", outer, number, IP, HIDDEN, count, {0}};
    static const uint8_t zeros[46];
    struct flow_account account;
    struct made made;

    if (count != 0)
        memcpy(with.header, header, count);
    made = encapsulation_make(&with, zeros, sizeof(zeros));
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

START_TEST(known_llc_frames_are_foreign)
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

/* After a SNAP header an organisation numbers its own protocols: those that are known, and none of their neighbours. */
START_TEST(protocols_of_an_organisation_are_known_by_both_numbers)
{
    static const struct {
        uint32_t organisation;
        uint16_t protocol;
    } known[] = {{0x00000C, 0x0104}, {0x00000C, 0x010B}, {0x00000C, 0x010C}, {0x00000C, 0x0111}, {0x00000C, 0x0115},
                 {0x00000C, 0x2000}, {0x00000C, 0x2001}, {0x00000C, 0x2003}, {0x00000C, 0x2004}, {0x00000C, 0x200A},
                 {0x000081, 0x01A1}, {0x000081, 0x01A2}, {0x0080C2, 0x000E}, {0x0080C2, 0x000F}, {0x00E02B, 0x00BB},
                 {0x00E052, 0x2000}, {0x080007, 0x809B}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint8_t header[] = {0xAA, 0xAA, 0x03, 0, 0, 0, 0, 0};

        octets_put32(header + 2, 0x03000000 | known[i].organisation);
        octets_put16(header + 6, known[i].protocol);
        ck_assert_msg(kind_of(LENGTH, 0, header, sizeof(header)) == FLOW_FOREIGN, "%zu", i);
        octets_put32(header + 2, 0x03000000 | (known[i].organisation ^ 0x100000));
        ck_assert_msg(kind_of(LENGTH, 0, header, sizeof(header)) == FLOW_UNJUDGED, "%zu, of another", i);
        octets_put32(header + 2, 0x03000000 | known[i].organisation);
        octets_put16(header + 6, known[i].protocol ^ 0x1000);
        ck_assert_msg(kind_of(LENGTH, 0, header, sizeof(header)) == FLOW_UNJUDGED, "%zu, another of it", i);
    }
}
END_TEST

/*
 * UDP of others stays foreign: DNS, and a client whose port is by chance that of a tunnel; keepalives and control of
 * tunnels.
 */
static const struct {
    uint16_t from, to;
    size_t count;
    uint8_t octets[80];
    bool foreign;
} udp_cases[] = {
    {53, 41000, 16, {0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 3, 'w', 'w', 'w'}, true},
    {53, 4500, 16, {0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 3, 'w', 'w', 'w'}, true},
    {4500, 4500, 1, {0xFF}, true},
    {4500, 4500, 16, {0, 0, 0, 0, 1, 2, 3}, true},
    {4500, 4500, 16, {0, 0, 0, 9, 1, 2, 3}, false},
    {2152, 2152, 12, {0x32, 1}, true},
    {2152, 2152, 24, {0x1E, 255}, false}, /* version 0 of GTP has packets in another form */
    {2152, 2152, 24, {0x5E, 255}, true},  /* there is no version 2 of GTP-U */
    /* what looks like a header of IPv6, and has neither its length nor the checksum of what would be in it */
    {40000,
     40001,
     80,
     {0x60, 0, 0, 0, 0, 20, 6, 64, 0x20, 1, 0xD, 0xB8, [23] = 1, 0x20, 1, 0xD, 0xB8, [39] = 2, 9},
     true},
    {1701, 1701, 12, {0xC8, 2}, true},
    /* ARP in VXLAN and in Geneve, with and without a frame of Ethernet; and a packet of IP there that is cut short */
    {40000,
     4789,
     50,
     {8,    0,    0, 0, 0, 0, 100, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0,
      0x30, 0x88, 1, 0, 2, 8, 6,   0, 1,    8,    0,    6,    4,    0,    1},
     true},
    {40000, 6081, 36, {0, 0, 8, 6, 0, 0, 1, 0, 0, 1, 8, 0, 6, 4, 0, 1, 0xAA, 0xBB}, true},
    {40000,
     6081,
     36,
     {0, 0, 0x65, 0x58, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0x30, 0x88, 1, 0, 2, 8, 6, 0, 1},
     true},
    {40000, 6081, 16, {0, 0, 8, 0, 0, 0, 1, 0, 0x45, 0, 0, 80, 0, 1}, false},
    {40000, 6081, 52, {0, 0, 0x88, 0xE5, 0, 0, 1, 0, 0x45, 0, 0, 80, 0, 1}, false},
    {40000, 40001, 24, {1, 2, 3, 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q'}, false},
};
enum { UDP_CASES = sizeof(udp_cases) / sizeof(udp_cases[0]) };

START_TEST(udp_of_other_protocols_is_foreign)
{
    struct made made = {.link = FLOW_LINK_ETHERNET};
    uint8_t *udp = made.octets + ETHERNET + IPV4;
    struct flow_account account;

    encapsulation_ends(made.octets, 0x0800);
    encapsulation_ipv4(made.octets + ETHERNET, 17, UDP + udp_cases[_i].count);
    octets_put16(udp, udp_cases[_i].from);
    octets_put16(udp + 2, udp_cases[_i].to);
    octets_put16(udp + 4, (uint16_t)(UDP + udp_cases[_i].count));
    memcpy(udp + UDP, udp_cases[_i].octets, udp_cases[_i].count);
    made.count = ETHERNET + IPV4 + UDP + udp_cases[_i].count;
    account = decode(&made, made.count);
    ck_assert_int_eq(is_foreign(&account), udp_cases[_i].foreign);
}
END_TEST

Suite *flow_tunnel_suite(void)
{
    Suite *suite = suite_create("flow_tunnel");
    TCase *tests = tcase_create("tunnels");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, packets_of_a_tunnel_are_never_foreign, 0, (int)encapsulation_count);
    tcase_add_loop_test(tests, others_are_foreign, 0, (int)encapsulation_count);
    tcase_add_test(tests, tunnels_are_read_to_a_limited_depth);
    tcase_add_test(tests, known_by_number);
    tcase_add_test(tests, known_llc_frames_are_foreign);
    tcase_add_test(tests, protocols_of_an_organisation_are_known_by_both_numbers);
    tcase_add_loop_test(tests, udp_of_other_protocols_is_foreign, 0, UDP_CASES);
    suite_add_tcase(suite, tests);
    return suite;
}
