/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port mapper in the decoder: what is counted as its message, and what is not; and that a connection to a mapped
 * port names the port which that one stands for, and no other connection does.
 */
#include <check.h>
#include <string.h>

#include "base/octets.h"
#include "tests/unit/flow_encapsulation.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/port_mapper.h"

Suite *flow_mapping_suite(void);

enum { WHOLE = UDP + PORT_MAPPER_OCTETS + PORT_MAPPER_MAPPED_OCTETS, SERVICE = 4420, MAPPED = 7174 };

/* From the Initiator's address to the Responder's of tests/unit/flow_talk.c, or back. */
static const uint8_t ends[2][16] = {{10, 77, 0, 2}, {10, 77, 0, 3}};

/* A message in a datagram; returns its octets. */
static size_t message_make(uint8_t datagram[WHOLE], enum port_mapper_type type, unsigned port, uint64_t handle)
{
    uint8_t *octets = datagram + UDP;
    bool asks = type == PORT_MAPPER_REQUEST || type == PORT_MAPPER_ACK;

    memset(datagram, 0, WHOLE);
    octets_put16(datagram, asks ? 51000 : PORT_MAPPER_PORT);
    octets_put16(datagram + 2, asks ? PORT_MAPPER_PORT : 51000);
    octets_put16(datagram + 4, UDP + PORT_MAPPER_OCTETS);
    port_mapper_set_MT(octets, type);
    port_mapper_set_IPVer(octets, 4);
    port_mapper_set_ApPort(octets, port);
    port_mapper_set_CpPort(octets, 40000);
    port_mapper_set_AssocHandle(octets, handle);
    memcpy(octets + 16, ends[0], 4);
    memcpy(octets + 32, ends[1], 4);
    return UDP + PORT_MAPPER_OCTETS;
}

static void give(struct talk *talk, const uint8_t *datagram, size_t count)
{
    bool asks = octets_get16(datagram + 2) == PORT_MAPPER_PORT;
    uint8_t *placed = guard_place(datagram, count);
    struct flow_packet packet = {.time_ns = ++talk->time_ns,
                                 .number = ++talk->frame,
                                 .family = 4,
                                 .source = ends[!asks],
                                 .destination = ends[asks],
                                 .octets = placed,
                                 .captured = count,
                                 .length = count};

    flow_decoder_port_mapper(talk->decoder, &packet);
    guard_free(placed, count);
}

static void say(struct talk *talk, enum port_mapper_type type, unsigned port, uint64_t handle)
{
    uint8_t datagram[WHOLE];

    give(talk, datagram, message_make(datagram, type, port, handle));
}

/* What the port of the Responder, MAPPED, stands for once the connection is seen; 0: nothing. */
static unsigned service_seen(struct talk *talk)
{
    unsigned service;

    talk->segments = true;
    talk_start_simple(talk, false, false, true);
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    ck_assert_ptr_nonnull(talk->returned);
    service = talk->returned->tcp->mapping.service;
    ck_assert_uint_eq(talk->returned->tcp->mapping.mapped, service != 0 ? MAPPED : 0);
    talk_finish(talk);
    talk_free(talk);
    return service;
}

START_TEST(an_accepted_port_is_named)
{
    struct talk *talk = talk_new(NULL);

    say(talk, PORT_MAPPER_REQUEST, SERVICE, 7);
    say(talk, PORT_MAPPER_REQUEST, SERVICE, 7); /* sent again */
    say(talk, PORT_MAPPER_ACCEPT, MAPPED, 7);
    say(talk, PORT_MAPPER_ACCEPT, MAPPED + 1, 7); /* the first one counts */
    say(talk, PORT_MAPPER_ACK, MAPPED, 7);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_PORT_MAPPER].frames, 5);
    ck_assert_uint_eq(service_seen(talk), SERVICE);
}
END_TEST

/* Loop: the Accept has the address 0, a service that listens on all; or another one. */
START_TEST(the_address_that_is_accepted_counts)
{
    struct talk *talk = talk_new(NULL);
    uint8_t datagram[WHOLE];
    size_t count;

    say(talk, PORT_MAPPER_REQUEST, SERVICE, 7);
    count = message_make(datagram, PORT_MAPPER_ACCEPT, MAPPED, 7);
    memset(datagram + UDP + 32, _i, 4);
    memset(datagram + UDP + 36, 0xEE, 12); /* which iwpmd sends, and which is no part of the address */
    give(talk, datagram, count);
    ck_assert_uint_eq(service_seen(talk), _i == 0 ? SERVICE : 0);
}
END_TEST

/* Loop: what was said in place of a Request and its Accept. */
START_TEST(nothing_else_names_a_port)
{
    struct talk *talk = talk_new(NULL);
    uint8_t datagram[WHOLE];
    size_t count;

    switch (_i) {
    case 0: say(talk, PORT_MAPPER_ACCEPT, MAPPED, 7); break;
    case 1: say(talk, PORT_MAPPER_REQUEST, MAPPED, 7); break;
    case 2:
        say(talk, PORT_MAPPER_REQUEST, SERVICE, 7);
        say(talk, PORT_MAPPER_REJECT, MAPPED, 7);
        break;
    case 3:
        say(talk, PORT_MAPPER_REQUEST, SERVICE, 7);
        say(talk, PORT_MAPPER_ACCEPT, MAPPED, 8);
        break;
    case 4:
        say(talk, PORT_MAPPER_REQUEST, SERVICE, 7);
        say(talk, PORT_MAPPER_ACCEPT, MAPPED + 1, 7);
        break;
    default:
        say(talk, PORT_MAPPER_REQUEST, SERVICE, 7);
        count = message_make(datagram, PORT_MAPPER_ACCEPT, MAPPED, 7);
        datagram[UDP + 7]++; /* another CpPort */
        give(talk, datagram, count);
        break;
    }
    ck_assert_uint_eq(service_seen(talk), 0);
}
END_TEST

/* Requests without end take the room of those before them, and no more; the last one that was accepted counts. */
START_TEST(a_flood_is_bounded)
{
    struct talk *talk = talk_new(NULL);

    say(talk, PORT_MAPPER_REQUEST, 1, 7);
    say(talk, PORT_MAPPER_ACCEPT, MAPPED, 7);
    for (uint64_t handle = 100; handle < 100 + 4 * FLOW_MAPPINGS_MAX; handle++)
        say(talk, PORT_MAPPER_REQUEST, 2, handle);
    say(talk, PORT_MAPPER_ACCEPT, MAPPED, 7); /* its Request is gone */
    say(talk, PORT_MAPPER_REQUEST, SERVICE, 7);
    say(talk, PORT_MAPPER_ACCEPT, MAPPED, 7);
    ck_assert_uint_eq(service_seen(talk), SERVICE);
}
END_TEST

/* Every length of what is said to be a message: counted once, whatever it is. */
START_TEST(hostile_lengths_are_counted)
{
    uint8_t datagram[WHOLE];

    for (size_t count = 1; count <= WHOLE; count++) {
        struct talk *talk = talk_new(NULL);
        const struct flow_account *account = &flow_decoder_totals(talk->decoder)->account;
        bool fits = count == UDP + PORT_MAPPER_OCTETS || count == WHOLE;

        (void)message_make(datagram, PORT_MAPPER_REQUEST, SERVICE, 7);
        give(talk, datagram, count);
        EXPECT(account->row[fits ? FLOW_ROW_PORT_MAPPER : FLOW_ROW_UDP].frames == 1, "%zu octets", count);
        talk_finish(talk);
        talk_free(talk);
    }
}
END_TEST

/* ---- in frames --------------------------------------------------------------------------------------------------- */

enum { NOT_FOREIGN, FOREIGN_AS_UDP, FOREIGN_AS_MAPPER };

/* A datagram in a frame from 192.0.2.1 to 192.0.2.2, of which so much is captured. */
static unsigned row_of(const uint8_t *datagram, size_t count, size_t lacking)
{
    uint8_t frame[ETHERNET + IPV4 + 256];
    struct flow_decoder *decoder = flow_decoder_create(NULL, NULL, NULL);
    const struct flow_account *account = &flow_decoder_totals(decoder)->account;
    size_t octets = ETHERNET + IPV4 + count;
    uint8_t *placed;
    unsigned row;

    encapsulation_ends(frame, 0x0800);
    encapsulation_ipv4(frame + ETHERNET, 17, count);
    memcpy(frame + ETHERNET + IPV4, datagram, count);
    placed = guard_place(frame, octets - lacking);
    flow_decoder_frame(decoder, &(struct flow_frame){FLOW_LINK_ETHERNET, 1, 1, placed, octets - lacking, octets});
    flow_decoder_finish(decoder);
    ck_assert(flow_totals_balanced(flow_decoder_totals(decoder)));
    row = account->row[FLOW_ROW_PORT_MAPPER].frames == 1 ? FOREIGN_AS_MAPPER
          : account->row[FLOW_ROW_UDP].frames == 1       ? FOREIGN_AS_UDP
                                                         : NOT_FOREIGN;
    flow_decoder_destroy(decoder);
    guard_free(placed, octets - lacking);
    return row;
}

/* Loop: whether the Accepting Peer is the frame's receiver, anybody, or none of its ends: then it is WireGuard's form. */
START_TEST(a_request_is_no_tunnel)
{
    static const uint8_t peers[3][4] = {{192, 0, 2, 2}, {0}, {192, 0, 2, 3}};
    uint8_t datagram[WHOLE];
    size_t count = message_make(datagram, PORT_MAPPER_REQUEST, SERVICE, 7);

    memcpy(datagram + UDP + 32, peers[_i], 4);
    ck_assert_uint_eq(row_of(datagram, count, 0), _i == 2 ? NOT_FOREIGN : FOREIGN_AS_MAPPER);
    for (size_t lacking = 1; lacking < count; lacking++) /* the octets that are not there may be anything */
        EXPECT(row_of(datagram, count, lacking) != FOREIGN_AS_MAPPER, "%zu octets less", lacking);
    octets_put16(datagram + 2, PORT_MAPPER_PORT + 1);
    ck_assert_uint_eq(row_of(datagram, count, 0), NOT_FOREIGN);
}
END_TEST

/* A packet of IP where the addresses are: it may be a tunnel, whatever its port says. */
START_TEST(a_header_within_a_message_is_not_foreign)
{
    uint8_t datagram[WHOLE];
    size_t count = message_make(datagram, PORT_MAPPER_ACCEPT, MAPPED, 7);

    memcpy(datagram + UDP + 32, (const uint8_t[]){192, 0, 2, 1}, 4);
    ck_assert_uint_eq(row_of(datagram, count, 0), FOREIGN_AS_MAPPER);
    encapsulation_ipv4(datagram + UDP + 8, 6, 20);
    ck_assert_uint_eq(row_of(datagram, count, 0), NOT_FOREIGN);
}
END_TEST

Suite *flow_mapping_suite(void)
{
    Suite *suite = suite_create("flow_mapping");
    TCase *tests = tcase_create("mappings");

    tcase_add_test(tests, an_accepted_port_is_named);
    tcase_add_loop_test(tests, the_address_that_is_accepted_counts, 0, 2);
    tcase_add_loop_test(tests, nothing_else_names_a_port, 0, 6);
    tcase_add_test(tests, a_flood_is_bounded);
    tcase_add_test(tests, hostile_lengths_are_counted);
    tcase_add_loop_test(tests, a_request_is_no_tunnel, 0, 3);
    tcase_add_test(tests, a_header_within_a_message_is_not_foreign);
    suite_add_tcase(suite, tests);
    return suite;
}
