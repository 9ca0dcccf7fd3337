/* SPDX-License-Identifier: BSD-2-Clause */
/* Link and network headers: the same conversation after each of them, and headers that lie. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "conformance/flow/link/flow_link.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *flow_link_suite(void);

struct wrapping {
    const char *name;
    uint32_t link;
    uint8_t header[40];
    size_t octets;

    bool keep_ethernet; /* the header goes between the MAC addresses and the Ethertype */
};

static const struct wrapping wrappings[] = {
    {"Ethernet", FLOW_LINK_ETHERNET, {0}, 0, true},
    {"802.1Q", FLOW_LINK_ETHERNET, {0x81, 0, 0x20, 7}, 4, true},
    {"802.1ad", FLOW_LINK_ETHERNET, {0x88, 0xA8, 0, 5, 0x81, 0, 0, 7}, 8, true},
    {"three tags", FLOW_LINK_ETHERNET, {0x91, 0, 0, 5, 0x88, 0xA8, 0, 5, 0x81, 0, 0, 7}, 12, true},
    {"SLL", FLOW_LINK_LINUX_SLL, {0, 0, 0, 1, 0, 6}, 16, false},
    {"SLL2", FLOW_LINK_LINUX_SLL2, {0}, 20, false},
    {"raw", FLOW_LINK_RAW, {0}, 0, false},
    {"raw 12", FLOW_LINK_RAW_12, {0}, 0, false},
    {"null", FLOW_LINK_NULL, {2, 0, 0, 0}, 4, false},
    {"null, other order", FLOW_LINK_NULL, {0, 0, 0, 30}, 4, false},
    {"loop", FLOW_LINK_LOOP, {0, 0, 0, 2}, 4, false},
};

static void wrap(struct talk *talk, const struct wrapping *wrapping)
{
    size_t keep = wrapping->keep_ethernet ? 12 : 0, drop = wrapping->keep_ethernet ? 12 : 14;
    uint16_t type = octets_get16(talk->frame_octets + 12);

    memmove(talk->frame_octets + keep + wrapping->octets, talk->frame_octets + drop, talk->frame_length - drop);
    memcpy(talk->frame_octets + keep, wrapping->header, wrapping->octets);
    if (wrapping->link == FLOW_LINK_LINUX_SLL)
        octets_put16(talk->frame_octets + 14, type);
    if (wrapping->link == FLOW_LINK_LINUX_SLL2)
        octets_put16(talk->frame_octets, type);
    talk->frame_length = talk->frame_length - drop + keep + wrapping->octets;
    talk->link = wrapping->link;
}

/* Loop: wrapping, times two for IPv6. */
START_TEST(talk_is_decoded_over_every_link)
{
    const struct wrapping *wrapping = &wrappings[_i / 2];
    struct talk *talk = talk_new(NULL);

    talk->ipv6 = _i % 2 != 0;
    talk_start_simple(talk, false, true, true);
    talk_mix(talk, 0, 8);
    talk_mix(talk, 1, 8);
    for (unsigned side = 0; side < 2; side++) {
        talk_build(talk, side, talk->isn[side], 0, side == 0 ? TCP_FLAG_SYN : TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
        wrap(talk, wrapping);
        talk_give(talk);
    }
    for (unsigned side = 0; side < 2; side++) {
        talk_build(talk, side, talk->isn[side] + 1, 0, TCP_FLAG_ACK, talk->stream[side], talk->start[side]);
        wrap(talk, wrapping);
        talk_give(talk);
    }
    for (unsigned side = 0; side < 2; side++) {
        talk_build(talk, side, talk->isn[side] + 1 + (uint32_t)talk->start[side], 0, TCP_FLAG_ACK,
                   talk->stream[side] + talk->start[side], talk->octets[side] - talk->start[side]);
        wrap(talk, wrapping);
        talk_give(talk);
    }
    talk_finish(talk);
    EXPECT(talk->good[0] == 8 && talk->good[1] == 8 && talk->wrong == 0, "%s: %s| %s", wrapping->name, talk->log[0],
           talk->log[1]);
    talk_free(talk);
}
END_TEST

/* A padded frame: what stands after the datagram is no payload. Loop: IPv6. */
START_TEST(ethernet_padding_is_no_payload)
{
    struct talk *talk = talk_new(NULL);

    talk->ipv6 = _i != 0;
    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, 2);
    talk_syn(talk);
    for (size_t at = 0; at < talk->octets[0]; at++) {
        if (at == talk->start[0])
            talk_segment(talk, 1, 0, talk->start[1]);
        talk_build(talk, 0, talk->isn[0] + 1 + (uint32_t)at, 0, TCP_FLAG_ACK, talk->stream[0] + at, 1);
        memset(talk->frame_octets + talk->frame_length, 0xEE, 40);
        talk->frame_length += 40;
        talk_give(talk);
    }
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 2);
    talk_free(talk);
}
END_TEST

/* IPv4 options, IPv6 extension headers. */
START_TEST(headers_in_between)
{
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        struct talk *talk = talk_new(NULL);
        size_t network = 14, header = ipv6 != 0 ? 40 : 20, more = ipv6 != 0 ? 24 : 8;

        talk->ipv6 = ipv6 != 0;
        talk_start_simple(talk, false, false, true);
        talk_mix(talk, 0, 4);
        talk_syn(talk);
        for (unsigned part = 0; part < 3; part++) {
            unsigned side = part == 1;
            size_t from = part == 2 ? talk->start[0] : 0, to = part == 2 ? talk->octets[0] : talk->start[side];
            uint8_t *ip = talk->frame_octets + network;

            talk_build(talk, side, talk->isn[side] + 1 + (uint32_t)from, 0, TCP_FLAG_ACK, talk->stream[side] + from,
                       to - from);
            memmove(ip + header + more, ip + header, talk->frame_length - network - header);
            memset(ip + header, 1, more); /* IPv4: no-operation options */
            talk->frame_length += more;
            if (ipv6 != 0) { /* hop-by-hop of 8, destination options of 16 */
                octets_put16(ip + 4, (uint16_t)(octets_get16(ip + 4) + more));
                ip[6] = 0;
                ip[40] = 60;
                ip[41] = 0;
                ip[48] = 6;
                ip[49] = 1;
            } else {
                ip[0] = 0x47;
                octets_put16(ip + 2, (uint16_t)(octets_get16(ip + 2) + more));
            }
            talk_give(talk);
        }
        talk_finish(talk);
        EXPECT(talk->good[0] == 4, "IPv%u: %s| %s", ipv6 != 0 ? 6 : 4, talk->log[0], talk->log[1]);
        talk_free(talk);
    }
}
END_TEST

/* A frame with one thing changed, and the row that it is counted in. Loop: the changes. */
START_TEST(rows_say_why)
{
    static const struct {
        size_t at;
        unsigned value; /* 16 bits */
        enum flow_row row;
    } changes[] = {
        {12, 0x0806, FLOW_ROW_ARP},
        {12, 0x88CC, FLOW_ROW_ETHERTYPE},
        {12, 0x0026, FLOW_ROW_LLC_UNKNOWN},
        {12, 0x88B5, FLOW_ROW_ETHERTYPE_UNKNOWN},
        {12, 0x8847, FLOW_ROW_TUNNEL},
        {12, 0x8864, FLOW_ROW_TUNNEL},
        {14, 0x4200, FLOW_ROW_IP_HEADER},            /* a header of 8 octets */
        {14, 0x5500, FLOW_ROW_IP_HEADER},            /* version 5 */
        {16, 2000, FLOW_ROW_IP_LENGTH},              /* longer than the frame */
        {16, 19, FLOW_ROW_IP_LENGTH},                /* shorter than its header */
        {16, 39, FLOW_ROW_TCP_HEADER},               /* no room for TCP's header */
        {14 + 20 + 12, 0x4010, FLOW_ROW_TCP_HEADER}, /* data offset 16 */
        {14 + 20 + 12, 0x6010, FLOW_ROW_IWARP},      /* 24: a part of the payload are options */
        {14 + 8, 0x4001, FLOW_ROW_ICMP},
        {14 + 8, 0x4002, FLOW_ROW_IGMP},
        {14 + 8, 0x4059, FLOW_ROW_IP_PROTOCOL}, /* OSPF */
        {14 + 8, 0x4032, FLOW_ROW_TUNNEL},      /* ESP */
        {14 + 8, 0x40FD, FLOW_ROW_IP_PROTOCOL_UNKNOWN},
        {14 + 8, 0x4011, FLOW_ROW_UDP_LENGTH},
        {14 + 8, 0x4084, FLOW_ROW_SCTP_CHUNK},
    };
    struct talk *talk = talk_new(NULL);
    const struct flow_totals *totals = flow_decoder_totals(talk->decoder);
    size_t frame_octets;

    talk_start_simple(talk, false, false, true);
    talk_build(talk, 0, talk->isn[0] + 1, 0, TCP_FLAG_ACK, talk->stream[0], talk->start[0]);
    octets_put16(talk->frame_octets + changes[_i].at, (uint16_t)changes[_i].value);
    frame_octets = talk->frame_length;
    talk_give(talk);
    flow_decoder_finish(talk->decoder);
    ck_assert(flow_totals_balanced(totals));
    ck_assert_uint_eq(totals->octets, frame_octets);
    if (changes[_i].row == FLOW_ROW_IWARP) {
        ck_assert_uint_eq(totals->tcp_segments, 1);
    } else {
        ck_assert_uint_eq(totals->account.row[changes[_i].row].frames, 1);
        ck_assert_uint_eq(totals->account.row[changes[_i].row].octets, frame_octets);
        ck_assert_uint_eq(totals->tcp_segments, 0);
    }
    talk_free(talk);
}
END_TEST

/* A frame that the capture cut, at each octet: its headers are not there, or its payload is not whole. */
START_TEST(frame_cut_at_each_octet_is_counted)
{
    for (size_t snap = 0; snap < 14 + 20 + 20 + 36; snap++) {
        struct talk *talk = talk_new(NULL);
        const struct flow_totals *totals = flow_decoder_totals(talk->decoder);

        talk_start_simple(talk, false, false, true);
        talk_build(talk, 0, talk->isn[0] + 1, 0, TCP_FLAG_ACK, talk->stream[0], 36);
        ck_assert_uint_eq(talk->frame_length, 14 + 20 + 20 + 36);
        talk->snap = snap;
        flow_decoder_frame(talk->decoder,
                           &(struct flow_frame){talk->link, 1, 1, talk->frame_octets, snap, talk->frame_length});
        flow_decoder_finish(talk->decoder);
        ck_assert(flow_totals_balanced(totals));
        ck_assert_uint_eq(totals->cut_frames, 1);
        ck_assert_uint_eq(totals->account.row[FLOW_ROW_CUT_HEADERS].frames, snap < 14 + 20 + 20);
        ck_assert(!flow_account_whole(&totals->account));
        talk_free(talk);
    }
}
END_TEST

/* A wrong checksum in the IPv4 header is counted; 0 is what hardware fills in. */
START_TEST(wrong_ip_checksum_is_counted)
{
    struct talk *talk = talk_new(NULL);
    const struct flow_totals *totals = flow_decoder_totals(talk->decoder);

    talk_start_simple(talk, false, false, true);
    for (unsigned i = 0; i < 3; i++) {
        talk_build(talk, 0, 1, 0, TCP_FLAG_ACK, talk->stream[0], 30);
        if (i == 1)
            octets_put16(talk->frame_octets + 14 + 10, 0);
        if (i == 2)
            talk->frame_octets[14 + 8] ^= 1;
        talk_give(talk);
        ck_assert_uint_eq(totals->account.row[FLOW_ROW_IP_CHECKSUM].items, i == 2);
    }
    ck_assert_uint_eq(totals->tcp_segments, 3);
    talk_free(talk);
}
END_TEST

START_TEST(unknown_link_types_are_counted)
{
    struct talk *talk = talk_new(NULL);
    const struct flow_totals *totals = flow_decoder_totals(talk->decoder);
    static const uint32_t links[] = {147, FLOW_LINK_NONE};
    static const enum flow_row rows[] = {FLOW_ROW_LINK_TYPE, FLOW_ROW_NO_INTERFACE};

    for (unsigned i = 0; i < 2; i++) {
        ck_assert(!flow_link_known(links[i]));
        flow_decoder_frame(talk->decoder, &(struct flow_frame){links[i], 1, 1, talk->frame_octets, 60, 60});
        ck_assert_uint_eq(totals->account.row[rows[i]].frames, 1);
        ck_assert_uint_eq(totals->account.row[rows[i]].octets, 60);
    }
    ck_assert(flow_link_known(1));
    talk_free(talk);
}
END_TEST

/* Each cut of a frame, after an inaccessible page. */
START_TEST(no_octet_after_the_cut_is_read)
{
    for (size_t i = 0; i < sizeof(wrappings) / sizeof(wrappings[0]); i++)
        for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
            struct talk *talk = talk_new(NULL);

            talk->ipv6 = ipv6 != 0;
            talk_start_simple(talk, false, false, true);
            talk_build(talk, 0, 1, 0, TCP_FLAG_SYN, talk->stream[0], talk->start[0]);
            wrap(talk, &wrappings[i]);
            for (size_t cut = 0; cut <= talk->frame_length; cut++) {
                uint8_t *octets = guard_place(talk->frame_octets, cut);
                struct flow_frame frame = {talk->link, 1, 1, octets, cut, cut % 2 != 0 ? cut : talk->frame_length};

                flow_decoder_frame(talk->decoder, &frame);
                guard_free(octets, cut);
            }
            flow_decoder_finish(talk->decoder);
            ck_assert(flow_totals_balanced(flow_decoder_totals(talk->decoder)));
            talk_free(talk);
        }
}
END_TEST

/* Segments without their headers give the same events, and the flow with the sender's direction. Loop: IPv4, IPv6. */
START_TEST(segments_without_headers_give_the_same_events)
{
    struct talk *talks[2];

    for (unsigned i = 0; i < 2; i++) {
        struct talk *talk = talks[i] = talk_new(NULL);

        talk->ipv6 = _i != 0;
        talk->segments = i != 0;
        talk->snap = 200;
        talk_start_simple(talk, true, false, true);
        talk_mix(talk, 0, 8);
        talk_mix(talk, 1, 8);
        talk_syn(talk);
        ck_assert_ptr_null(talk->returned);
        talk_run(talk, 0, 0, talk->start[0], 7);
        ck_assert(i == 0 || (talk->returned != NULL && talk->returned_direction == FLOW_FROM_INITIATOR));
        talk_run(talk, 1, 0, talk->start[1], 9);
        ck_assert(i == 0 || (talk->returned != NULL && talk->returned_direction == FLOW_FROM_RESPONDER));
        talk_run(talk, 0, talk->start[0], talk->octets[0], 700);
        talk_run(talk, 1, talk->start[1], talk->octets[1], 500);
        talk_finish(talk);
    }
    EXPECT(strcmp(talks[0]->log[0], talks[1]->log[0]) == 0 && strcmp(talks[0]->log[1], talks[1]->log[1]) == 0 &&
               talks[0]->headers[0] != 0 && talks[0]->wrong + talks[1]->wrong == 0,
           "%s| %s| instead of %s| %s", talks[1]->log[0], talks[1]->log[1], talks[0]->log[0], talks[0]->log[1]);
    for (unsigned i = 0; i < 2; i++)
        talk_free(talks[i]);
}
END_TEST

/* Segments that are none: too short for a header, or of no known family. */
START_TEST(malformed_segments_are_refused)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, true);
    talk_build(talk, 0, 1, 0, TCP_FLAG_SYN, talk->stream[0], talk->start[0]);
    for (size_t cut = 0; cut <= talk->frame_length - 34; cut++) {
        uint8_t *octets = guard_place(talk->frame_octets + 34, cut);
        struct flow_packet packet = {.time_ns = 1,
                                     .number = 1,
                                     .family = cut % 3 == 0 ? 5 : 4,
                                     .source = talk->frame_octets + 26,
                                     .destination = talk->frame_octets + 30,
                                     .octets = octets,
                                     .captured = cut,
                                     .length = cut % 2 != 0 ? cut : talk->frame_length - 34};

        flow_decoder_segment(talk->decoder, &packet, NULL);
        guard_free(octets, cut);
    }
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->frames, talk->frame_length - 34 + 1);
    ck_assert_uint_ne(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_TCP_HEADER].frames, 0);
    ck_assert_uint_ne(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_CUT_HEADERS].frames, 0);
    ck_assert_uint_ne(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_IP_PROTOCOL].frames, 0);
    flow_decoder_finish(talk->decoder);
    ck_assert(flow_totals_balanced(flow_decoder_totals(talk->decoder)));
    talk_free(talk);
}
END_TEST

START_TEST(flow_is_named_by_its_addresses)
{
    struct flow flow = {.roles_known = true};
    char text[FLOW_NAME_MAX];
    static const uint8_t a[16] = {10, 77, 0, 2}, b[16] = {0xfd, 0x77, [15] = 3};

    flow.address[0] = (struct flow_address){.family = 4, .port = 9999};
    flow.address[1] = (struct flow_address){.family = 4, .port = 46279};
    memcpy(flow.address[0].octets, a, 16);
    memcpy(flow.address[1].octets, a, 16);
    flow.address[1].octets[3] = 3;
    ck_assert_str_eq(flow_name(&flow, 0, text, sizeof(text)), "10.77.0.2:9999>10.77.0.3:46279");
    ck_assert_str_eq(flow_name(&flow, 1, text, sizeof(text)), "10.77.0.3:46279>10.77.0.2:9999");
    flow.address[0].family = flow.address[1].family = 6;
    memcpy(flow.address[0].octets, b, 16);
    memcpy(flow.address[1].octets, b, 16);
    ck_assert_str_eq(flow_name(&flow, 0, text, sizeof(text)), "[fd77::3]:9999>[fd77::3]:46279");
    ck_assert_str_eq(flow_role(&flow, 0), "initiator");
    ck_assert_str_eq(flow_role(&flow, 1), "responder");
    flow.roles_known = false;
    ck_assert_ptr_null(flow_role(&flow, 0));
    for (int i = 0; i < FLOW_REASON_COUNT; i++)
        ck_assert_str_ne(flow_reason_text((enum flow_reason)i), "");
}
END_TEST

Suite *flow_link_suite(void)
{
    Suite *suite = suite_create("flow_link");
    TCase *tests = tcase_create("link");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, talk_is_decoded_over_every_link, 0, 2 * (int)(sizeof(wrappings) / sizeof(wrappings[0])));
    tcase_add_loop_test(tests, ethernet_padding_is_no_payload, 0, 2);
    tcase_add_test(tests, headers_in_between);
    tcase_add_loop_test(tests, rows_say_why, 0, 20);
    tcase_add_test(tests, frame_cut_at_each_octet_is_counted);
    tcase_add_test(tests, wrong_ip_checksum_is_counted);
    tcase_add_test(tests, unknown_link_types_are_counted);
    tcase_add_test(tests, no_octet_after_the_cut_is_read);
    tcase_add_loop_test(tests, segments_without_headers_give_the_same_events, 0, 2);
    tcase_add_test(tests, malformed_segments_are_refused);
    tcase_add_test(tests, flow_is_named_by_its_addresses);
    suite_add_tcase(suite, tests);
    return suite;
}
