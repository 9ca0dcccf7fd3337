/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections of our TCP endpoint begin and end, and what hostile frames do to them: nothing. */
#include <check.h>
#include <string.h>

#include "generator/link/random.h"
#include "tests/unit/suites.h"
#include "tests/unit/tcp_pair.h"

Suite *tcp_life_suite(void);

START_TEST(orderly_close_from_either_side)
{
    struct tcp_connection *first;
    struct tcp_connection *second;

    tcp_pair_open_clean(4);
    first = _i == 0 ? tcp_pair.ca : tcp_pair.cb;
    second = _i == 0 ? tcp_pair.cb : tcp_pair.ca;
    ck_assert_int_eq(tcp_send(first, (const uint8_t *)"bye", 3), 0);
    ck_assert_int_eq(tcp_shutdown(first), 0);
    ck_assert_int_eq(tcp_shutdown(first), -1);
    ck_assert_int_eq(tcp_send(first, (const uint8_t *)"more", 4), -1);
    tcp_pair_run(SECOND / 10);
    ck_assert_int_eq(tcp_status(first)->state, TCP_STATE_FIN_WAIT_2);
    ck_assert_int_eq(tcp_status(second)->state, TCP_STATE_CLOSE_WAIT);
    ck_assert_int_eq(tcp_status(second)->cause, TCP_CAUSE_PEER_FIN);
    ck_assert_int_eq(tcp_status(first)->cause, TCP_CAUSE_LOCAL_FIN);
    ck_assert(tcp_status(second)->peer_fin && tcp_status(second)->peer_fin_ns != 0);
    ck_assert(!tcp_status(second)->peer_fin_with_data);
    tcp_pair_expect(second, (const uint8_t *)"bye", 3);
    ck_assert_int_eq(tcp_send(second, (const uint8_t *)"half open", 9), 0);
    ck_assert_int_eq(tcp_shutdown(second), 0);
    tcp_pair_run(SECOND / 10);
    tcp_pair_expect(first, (const uint8_t *)"half open", 9);
    ck_assert_int_eq(tcp_status(first)->state, TCP_STATE_TIME_WAIT);
    ck_assert_int_eq(tcp_status(second)->state, TCP_STATE_CLOSED);
    tcp_pair_run(60 * SECOND);
    ck_assert_int_eq(tcp_status(first)->state, TCP_STATE_CLOSED);
    ck_assert_uint_eq(tcp_pair.resets, 0);
    tcp_release(first);
    tcp_release(second);
    tcp_pair_free();
}
END_TEST

START_TEST(fin_with_the_last_octets)
{
    tcp_pair_open_clean(4);
    ck_assert_int_eq(tcp_send_fin(tcp_pair.ca, (const uint8_t *)"last", 4), 0);
    tcp_pair_run(SECOND / 10);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"last", 4);
    ck_assert(tcp_status(tcp_pair.cb)->peer_fin_with_data);
    ck_assert_uint_eq(tcp_pair.seen_count, 1);
    ck_assert_uint_ne(tcp_pair.seen[0].flags & TCP_FLAG_FIN, 0);
    ck_assert(tcp_status(tcp_pair.ca)->local_fin_acknowledged);
    tcp_pair_free();
}
END_TEST

START_TEST(both_close_at_once)
{
    tcp_pair_open_clean(4);
    ck_assert_int_eq(tcp_shutdown(tcp_pair.ca), 0);
    ck_assert_int_eq(tcp_shutdown(tcp_pair.cb), 0);
    tcp_pair_run(SECOND / 10);
    ck_assert_int_eq(tcp_status(tcp_pair.ca)->state, TCP_STATE_TIME_WAIT);
    ck_assert_int_eq(tcp_status(tcp_pair.cb)->state, TCP_STATE_TIME_WAIT);
    tcp_pair_free();
}
END_TEST

START_TEST(abort_resets_the_peer)
{
    tcp_pair_open_clean(_i == 0 ? 4 : 6);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, (const uint8_t *)"x", 1), 0);
    tcp_abort(tcp_pair.ca);
    ck_assert_int_eq(tcp_status(tcp_pair.ca)->state, TCP_STATE_CLOSED);
    ck_assert_int_eq(tcp_status(tcp_pair.ca)->cause, TCP_CAUSE_LOCAL_ABORT);
    tcp_pair_run(SECOND);
    ck_assert_int_eq(tcp_status(tcp_pair.cb)->state, TCP_STATE_CLOSED);
    ck_assert_int_eq(tcp_status(tcp_pair.cb)->cause, TCP_CAUSE_PEER_RESET);
    ck_assert_uint_ne(tcp_status(tcp_pair.cb)->peer_reset_ns, 0);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"x", 1);
    tcp_pair_free();
}
END_TEST

START_TEST(reset_beside_the_mark_is_challenged)
{
    tcp_pair_open_clean(4);
    ck_assert_int_eq(
        tcp_send_raw_segment(tcp_pair.ca,
                             &(struct tcp_segment_spec){.sequence = 5, .set_flags = true, .flags = TCP_FLAG_RST}),
        0);
    tcp_pair_run(SECOND);
    ck_assert_int_eq(tcp_status(tcp_pair.cb)->state, TCP_STATE_ESTABLISHED); /* RFC 5961 section 3.2 */
    ck_assert_int_eq(
        tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.set_flags = true, .flags = TCP_FLAG_RST}), 0);
    tcp_pair_run(SECOND);
    ck_assert_int_eq(tcp_status(tcp_pair.cb)->cause, TCP_CAUSE_PEER_RESET);
    tcp_pair_free();
}
END_TEST

static bool is_closed(void *context)
{
    (void)context;
    return tcp_status(tcp_pair.ca)->state == TCP_STATE_CLOSED;
}

START_TEST(refused_and_unreachable_and_unanswered)
{
    struct sim_config config = {.seed = 4};
    struct net_address peer;
    struct iwarp_sentence error;

    tcp_pair_new(&config, 4);
    tcp_pair_address(&peer, _i == 1 ? 6 : 4, 'b');
    if (_i >= 1)
        peer.octets[_i == 1 ? 15 : 3] = 99; /* nobody has that address */
    if (_i == 3)                            /* somebody has, but never answers TCP */
        ck_assert_int_eq(tcp_stack_add_neighbour(tcp_pair.a, &peer, (const uint8_t[6]){2, 9, 9, 9, 9, 9}), 0);
    tcp_pair.ca = tcp_connect(tcp_pair.a, &peer, PORT, NULL, &error);
    ck_assert_ptr_nonnull(tcp_pair.ca);
    ck_assert_int_eq(sim_run_until(tcp_pair.sim, sim_now(tcp_pair.sim) + 1000 * SECOND, is_closed, NULL), 1);
    ck_assert_int_eq(tcp_status(tcp_pair.ca)->cause, _i == 0   ? TCP_CAUSE_REFUSED
                                                     : _i == 3 ? TCP_CAUSE_TIMEOUT
                                                               : TCP_CAUSE_UNREACHABLE);
    tcp_release(tcp_pair.ca);
    tcp_pair_free();
}
END_TEST

START_TEST(peer_that_vanishes_times_out)
{
    struct sim_impairment cut = {.loss = 1.0};

    tcp_pair_open_clean(4);
    sim_impair(tcp_pair.sim, &cut, &cut);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, (const uint8_t *)"anyone?", 7), 0);
    ck_assert_int_eq(sim_run_until(tcp_pair.sim, sim_now(tcp_pair.sim) + 1000 * SECOND, is_closed, NULL), 1);
    ck_assert_int_eq(tcp_status(tcp_pair.ca)->cause, TCP_CAUSE_TIMEOUT);
    tcp_pair_free();
}
END_TEST

START_TEST(chosen_iss_wraps)
{
    struct tcp_options options = {.choose_iss = true, .iss = UINT32_MAX - (uint32_t)_i};
    struct sim_config config = {.seed = 3, .a_to_b = {.loss = 0.1, .reorder = 0.2}};
    uint8_t octets[20];

    tcp_pair_new(&config, 4);
    tcp_pair_open(&options, NULL);
    tcp_pair_fill(octets, sizeof(octets), 8);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->iss, options.iss);
    ck_assert_uint_eq(tcp_status(tcp_pair.cb)->irs, options.iss);
    for (size_t i = 0; i < sizeof(octets); i++)
        ck_assert_int_eq(tcp_send_segments(tcp_pair.ca, octets + i, 1, (const size_t[]){1}, 1), 0);
    tcp_pair_run(100 * SECOND);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->snd_una, options.iss + 21);
    tcp_pair_free();
}
END_TEST

START_TEST(both_open_at_once)
{
    struct sim_config config = {.seed = 4};
    struct tcp_options options = {.source_port = PORT};
    struct net_address address;
    struct iwarp_sentence error;

    tcp_pair_new(&config, 4);
    tcp_pair_address(&address, 4, 'b');
    tcp_pair.ca = tcp_connect(tcp_pair.a, &address, PORT, &options, &error);
    tcp_pair_address(&address, 4, 'a');
    tcp_pair.cb = tcp_connect(tcp_pair.b, &address, PORT, &options, &error);
    ck_assert(tcp_pair.ca != NULL && tcp_pair.cb != NULL);
    tcp_pair_run(10 * SECOND);
    ck_assert_int_eq(tcp_status(tcp_pair.ca)->state, TCP_STATE_ESTABLISHED);
    ck_assert_int_eq(tcp_status(tcp_pair.cb)->state, TCP_STATE_ESTABLISHED);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, (const uint8_t *)"hi", 2), 0);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"hi", 2);
    tcp_pair_free();
}
END_TEST

/* Several connections, released while open: they end in order by themselves, and their ports may be used again. */
START_TEST(released_connections_end_by_themselves)
{
    struct tcp_connection *c[8];
    struct net_address peer;
    struct iwarp_sentence error;

    tcp_pair_open_clean(4);
    tcp_pair_address(&peer, 4, 'b');
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 8; i++) {
            struct tcp_options options = {.source_port = (uint16_t)(5000 + i)};

            c[i] = tcp_connect(tcp_pair.a, &peer, PORT, &options, &error);
            ck_assert_msg(c[i] != NULL, "%s", error.text);
            ck_assert_int_eq(tcp_send(c[i], (const uint8_t *)"queued before it is open", 24), 0);
        }
        tcp_pair_run(SECOND);
        for (int i = 0; i < 8; i++)
            tcp_release(c[i]);
        for (int i = 0; i < 8; i++) {
            struct tcp_connection *other = tcp_accept(tcp_pair.b, PORT);

            ck_assert_ptr_nonnull(other);
            tcp_pair_expect(other, (const uint8_t *)"queued before it is open", 24);
            tcp_release(other);
        }
        ck_assert_ptr_null(tcp_accept(tcp_pair.b, PORT));
        tcp_pair_run(60 * SECOND);
    }
    ck_assert_uint_eq(tcp_pair.resets, 0);
    ck_assert_uint_eq(tcp_stack_deadline(tcp_pair.a), UINT64_MAX);
    ck_assert_uint_eq(tcp_stack_deadline(tcp_pair.b), UINT64_MAX);
    tcp_pair_free();
}
END_TEST

/* The peer sends a segment at this distance from the first expected octet. */
static void say(uint32_t sequence, const char *octets, uint8_t flags)
{
    const struct tcp_segment_spec spec = {.sequence = sequence,
                                          .set_flags = true,
                                          .flags = TCP_FLAG_ACK | flags,
                                          .payload = (const uint8_t *)octets,
                                          .payload_octets = strlen(octets)};

    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &spec), 0);
    tcp_pair_run(SECOND / 100);
}

/* A peer that contradicts itself: octets came early, and its FIN stands before or among them. */
START_TEST(stream_ends_at_the_fin)
{
    const uint8_t *octets;
    size_t gap, count;

    tcp_pair_open_clean(4);
    say(10, "BEHIND", 0);
    say(2, "cdef", 0);
    say(4, "", TCP_FLAG_FIN);
    ck_assert_uint_eq(tcp_early(tcp_pair.cb, 0, &gap, &octets, &count), 2);
    ck_assert_uint_eq(gap, 2);
    ck_assert_mem_eq(octets, "cd", 2);
    ck_assert_uint_eq(tcp_early(tcp_pair.cb, 1, &gap, &octets, &count), 0);
    say(6, "BEHIND", 0);
    say(0, "ab", 0);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"abcd", 4);
    ck_assert(tcp_status(tcp_pair.cb)->peer_fin);
    ck_assert_int_eq((int)tcp_status(tcp_pair.cb)->state, TCP_STATE_CLOSE_WAIT);
    ck_assert_uint_eq(tcp_status(tcp_pair.cb)->octets_received, 4);
    ck_assert_uint_eq(tcp_early(tcp_pair.cb, 0, &gap, &octets, &count), 0);
    tcp_pair_free();

    tcp_pair_open_clean(4);
    say(10, "BEHIND", 0);
    say(0, "", TCP_FLAG_FIN);
    ck_assert(tcp_status(tcp_pair.cb)->peer_fin);
    ck_assert_uint_eq(tcp_early(tcp_pair.cb, 0, &gap, &octets, &count), 0);
    tcp_pair_free();
}
END_TEST

/* Noise and cut frames: nothing may break, and nothing may be believed. */
START_TEST(hostile_frames_change_nothing)
{
    struct random random = {77};
    uint8_t good[200];
    uint8_t frame[200];
    struct packet_tcp fields = {.ethernet_source = {2, 0, 0, 0, 0, 'a'},
                                .ethernet_destination = {2, 0, 0, 0, 0, 'b'},
                                .destination_port = PORT,
                                .flags = TCP_FLAG_ACK,
                                .payload = (const uint8_t *)"payload",
                                .payload_octets = 7};

    tcp_pair_open_clean(4);
    for (int round = 0; round < 20000; round++) {
        size_t octets;

        tcp_pair_address(&fields.source, round % 2 ? 4 : 6, 'a');
        tcp_pair_address(&fields.destination, round % 2 ? 4 : 6, 'b');
        fields.source_port = tcp_status(tcp_pair.ca)->local_port;
        fields.sequence = (uint32_t)random_next(&random);
        octets = packet_build_tcp(good, sizeof(good), &fields);
        memcpy(frame, good, octets);
        for (uint64_t i = random_below(&random, 4) + 1; i > 0; i--)
            frame[12 + random_below(&random, octets - 12)] ^= (uint8_t)(1 + random_below(&random, 255));
        tcp_stack_input(tcp_pair.b, frame, random_below(&random, octets + 1), sim_now(tcp_pair.sim));
    }
    ck_assert_int_eq(tcp_status(tcp_pair.cb)->state, TCP_STATE_ESTABLISHED);
    tcp_pair_expect(tcp_pair.cb, NULL, 0);
    tcp_pair_free();
}
END_TEST

Suite *tcp_life_suite(void)
{
    Suite *suite = suite_create("tcp_life");
    TCase *tests = tcase_create("tcp_life");

    tcase_add_loop_test(tests, orderly_close_from_either_side, 0, 2);
    tcase_add_test(tests, fin_with_the_last_octets);
    tcase_add_test(tests, both_close_at_once);
    tcase_add_loop_test(tests, abort_resets_the_peer, 0, 2);
    tcase_add_test(tests, reset_beside_the_mark_is_challenged);
    tcase_add_loop_test(tests, refused_and_unreachable_and_unanswered, 0, 4);
    tcase_add_test(tests, peer_that_vanishes_times_out);
    tcase_add_loop_test(tests, chosen_iss_wraps, 0, 23);
    tcase_add_test(tests, both_open_at_once);
    tcase_add_test(tests, released_connections_end_by_themselves);
    tcase_add_test(tests, stream_ends_at_the_fin);
    tcase_add_test(tests, hostile_frames_change_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
