/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP in tunnels: a connection is foreign or judged there as it is without, and unjudged where nobody can open the
 * tunnel.
 */
#include <check.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_encapsulation.h"
#include "tests/unit/suites.h"
#include "base/octets.h"

Suite *flow_inside_suite(void);

static const struct encapsulation ip_in_ip = {"IP in IP", OVER_IPV4, 4, IP, OPENED, 0, {0}};

/* Gives the decoder the segment in the encapsulation. */
static void give_inside(struct talk *talk, const struct encapsulation *with, unsigned side, uint32_t seq, uint32_t ack,
                        uint8_t flags, const void *payload, size_t octets)
{
    const uint8_t *inner;
    struct made made;
    size_t count;

    talk_build(talk, side, seq, ack, flags, payload, octets);
    encapsulation_inner(talk, with->inner, &inner, &count);
    made = encapsulation_make(with, inner, count);
    flow_decoder_frame(talk->decoder, &(struct flow_frame){made.link, ++talk->frame, talk->frame, made.octets,
                                                           made.count, made.count});
}

static void begin_inside(struct talk *talk, const struct encapsulation *with)
{
    give_inside(talk, with, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    give_inside(talk, with, 1, talk->isn[1], talk->isn[0] + 1, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
}

static const char request[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

static void ask_inside(struct talk *talk, const struct encapsulation *with)
{
    begin_inside(talk, with);
    give_inside(talk, with, 0, talk->isn[0] + 1, talk->isn[1] + 1, TCP_FLAG_ACK, request, sizeof(request) - 1);
}

/* Loop: the encapsulation. A connection in a tunnel that can be read is foreign by its start, as any is. */
START_TEST(foreign_connection_in_a_tunnel_is_foreign)
{
    const struct encapsulation *with = &encapsulations[_i];
    struct talk *talk = talk_new(NULL);

    ask_inside(talk, with);
    flow_decoder_finish(talk->decoder);
    ck_assert(flow_totals_balanced(flow_decoder_totals(talk->decoder)));
    if (with->sight != HIDDEN && with->outer != COOKED)
        ck_assert_msg(talk_whole(talk), "%s", with->name);
    talk_free(talk);
}
END_TEST

/*
 * Loop: the encapsulation. A whole iWARP connection in a tunnel that can be opened is judged as any is, and named by
 * it; in another it is never foreign.
 */
START_TEST(iwarp_in_a_tunnel_is_judged_or_unjudged)
{
    const struct encapsulation *with = &encapsulations[_i];
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, true);
    talk_send(talk, 0, 100);
    if (with->outer == ETHERTYPE || with->outer == OVER_IPV4 || with->outer == OVER_UDP) {
        begin_inside(talk, with);
        for (unsigned side = 0; side < 2; side++)
            give_inside(talk, with, side, talk->isn[side] + 1,
                        talk->isn[1 - side] + 1 + (uint32_t)(side * talk->start[0]), TCP_FLAG_ACK, talk->stream[side],
                        talk->start[side]);
        give_inside(talk, with, 0, talk->isn[0] + 1 + (uint32_t)talk->start[0],
                    talk->isn[1] + 1 + (uint32_t)talk->start[1], TCP_FLAG_ACK, talk->stream[0] + talk->start[0],
                    talk->octets[0] - talk->start[0]);
        flow_decoder_finish(talk->decoder);
        ck_assert(flow_totals_balanced(flow_decoder_totals(talk->decoder)));
        ck_assert_msg(talk_whole(talk) == (with->sight == OPENED), "%s", with->name);
        ck_assert_msg(talk->flows == (with->sight == OPENED ? 1 : 0), "%s", with->name);
    }
    talk_free(talk);
}
END_TEST

/*
 * Two connections with the same addresses and ports, one in a tunnel, the other in another or in none: that which is
 * foreign hides nothing of the other. Loop: none; other ends; another network between the same ends.
 */
START_TEST(same_addresses_in_two_networks_stay_apart)
{
    static const struct encapsulation other = {"IP in IPv6", OVER_IPV6, 4, IP, OPENED, 0, {0}};
    struct talk *talk = talk_new(NULL);
    static const struct encapsulation networks[] = {
        {"VXLAN", OVER_UDP, 4789, FRAME_OF_ETHERNET, OPENED, 8, {8, 0, 0, 0, 0, 0, 1, 0}},
        {"VXLAN, other network", OVER_UDP, 4789, FRAME_OF_ETHERNET, OPENED, 8, {8, 0, 0, 0, 0, 0, 2, 0}},
        {"NVGRE", OVER_IPV4, 47, FRAME_OF_ETHERNET, OPENED, 8, {0x20, 0, 0x65, 0x58, 0, 0, 1, 0}},
        {"NVGRE, other network", OVER_IPV4, 47, FRAME_OF_ETHERNET, OPENED, 8, {0x20, 0, 0x65, 0x58, 0, 0, 2, 0}},
    };
    const struct encapsulation *first = _i < 2 ? &ip_in_ip : &networks[2 * (_i - 2)];
    const struct encapsulation *with = _i == 1 ? &other : first + (_i >= 2);
    uint32_t at;

    talk_start_simple(talk, false, false, false);
    talk_send(talk, 0, 100);
    ask_inside(talk, first);
    at = talk->isn[0] + 1; /* in the sequence numbers that the foreign one has used */
    if (_i == 0) {
        talk_build(talk, 0, at, talk->isn[1] + 1, TCP_FLAG_ACK, talk->stream[0] + talk->start[0],
                   talk->octets[0] - talk->start[0]);
        talk_give(talk);
    } else {
        give_inside(talk, with, 0, at, talk->isn[1] + 1, TCP_FLAG_ACK, talk->stream[0] + talk->start[0],
                    talk->octets[0] - talk->start[0]);
    }
    flow_decoder_finish(talk->decoder);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* Two packets in one datagram: what stands behind the first one is looked at by nobody. */
START_TEST(second_packet_of_a_datagram_is_not_read)
{
    static const struct encapsulation in_udp = {"IP in UDP", OVER_UDP, 40000, IP, GUESSED, 0, {0}};
    struct talk *talk = talk_new(NULL);
    const uint8_t *inner;
    uint8_t both[ENCAPSULATED];
    struct made made;
    size_t count, first;

    begin_inside(talk, &in_udp);
    talk_build(talk, 0, talk->isn[0] + 1, talk->isn[1] + 1, TCP_FLAG_ACK, (const uint8_t *)request,
               sizeof(request) - 1);
    encapsulation_inner(talk, IP, &inner, &first);
    memcpy(both, inner, first);
    talk_start_simple(talk, false, false, false);
    talk_send(talk, 0, 100);
    talk_build(talk, 1, 7000, 1, TCP_FLAG_ACK, talk->stream[0] + talk->start[0], talk->octets[0] - talk->start[0]);
    encapsulation_inner(talk, IP, &inner, &count);
    memcpy(both + first, inner, count);
    made = encapsulation_make(&in_udp, both, first + count);
    flow_decoder_frame(talk->decoder, &(struct flow_frame){made.link, ++talk->frame, talk->frame, made.octets,
                                                           made.count, made.count});
    flow_decoder_finish(talk->decoder);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* A tunnel's packet in fragments is put together. */
START_TEST(tunnel_in_fragments)
{
    struct talk *talk = talk_new(NULL);
    const uint8_t *inner;
    struct made made, part;
    size_t count, half = 40;

    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    encapsulation_icmp(talk->frame_octets + ETHERNET);
    encapsulation_inner(talk, IP, &inner, &count);
    made = encapsulation_make(&ip_in_ip, inner, count);
    for (unsigned i = 0; i < 2; i++) {
        size_t octets = i == 0 ? half : count - half;
        uint8_t *ip = part.octets + ETHERNET;

        part = made;
        memmove(ip + IPV4, made.octets + ETHERNET + IPV4 + i * half, octets);
        octets_put16(ip + 2, (uint16_t)(IPV4 + octets));
        octets_put16(ip + 6, i == 0 ? 0x2000 : (uint16_t)(half / 8));
        octets_put16(ip + 10, 0);
        octets_put16(ip + 10, packet_checksum(ip, IPV4, 0));
        part.count = ETHERNET + IPV4 + octets;
        flow_decoder_frame(talk->decoder,
                           &(struct flow_frame){part.link, i + 1, i + 1, part.octets, part.count, part.count});
    }
    flow_decoder_finish(talk->decoder);
    ck_assert(talk_whole(talk));
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_TUNNEL_FOREIGN].frames,
                      count > half ? 2 : 1);
    talk_free(talk);
}
END_TEST

/*
 * IP packets that are longer than their frames, which no receiver takes: of a connection that is foreign, of none, and
 * datagrams. Loop: which.
 */
START_TEST(longer_than_frame)
{
    struct talk *talk = talk_new(NULL);
    uint8_t *ip = talk->frame_octets + ETHERNET;
    bool udp = _i == 2;

    if (_i == 0) {
        talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
        talk_give(talk);
        talk_build(talk, 0, talk->isn[0] + 1, 0, TCP_FLAG_ACK, (const uint8_t *)request, sizeof(request) - 1);
        talk_give(talk);
    }
    talk_build(talk, 0, talk->isn[0] + 1, 0, TCP_FLAG_ACK, (const uint8_t *)request, sizeof(request) - 1);
    octets_put16(ip + 2, 1200);
    if (udp) {
        ip[9] = 17;
        octets_put16(ip + IPV4 + 4, 1180);
    }
    octets_put16(ip + 10, 0);
    octets_put16(ip + 10, packet_checksum(ip, IPV4, 0));
    talk_give(talk);
    flow_decoder_finish(talk->decoder);
    ck_assert(flow_totals_balanced(flow_decoder_totals(talk->decoder)));
    ck_assert(talk_whole(talk) == (_i != 1));
    talk_free(talk);
}
END_TEST

Suite *flow_inside_suite(void)
{
    Suite *suite = suite_create("flow_inside");
    TCase *tests = tcase_create("inside");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, foreign_connection_in_a_tunnel_is_foreign, 0, (int)encapsulation_count);
    tcase_add_loop_test(tests, iwarp_in_a_tunnel_is_judged_or_unjudged, 0, (int)encapsulation_count);
    tcase_add_loop_test(tests, same_addresses_in_two_networks_stay_apart, 0, 4);
    tcase_add_test(tests, second_packet_of_a_datagram_is_not_read);
    tcase_add_test(tests, tunnel_in_fragments);
    tcase_add_loop_test(tests, longer_than_frame, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
