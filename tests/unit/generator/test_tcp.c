/* SPDX-License-Identifier: BSD-2-Clause */
/* Our TCP endpoint against itself in the simulated world: contents, boundaries, order, windows. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/link/random.h"
#include "tests/unit/suites.h"
#include "tests/unit/tcp_pair.h"

Suite *tcp_suite(void);

#define SECOND       UINT64_C(1000000000)
#define PORT         4000
#define SEGMENTS_MAX 4096

/* Both directions at once over a wire that loses, doubles and reorders; readers that consume now and then. */
struct transfer {
    uint8_t *octets[2];
    size_t total;
    size_t got[2];
    struct random random;
};

static void read_some(struct transfer *t, struct tcp_connection *c, int from)
{
    bool is_last = tcp_status(c)->peer_fin;

    const uint8_t *octets;
    size_t count;

    if (tcp_received(c, &octets, &count) == 0)
        return;
    ck_assert_uint_le(t->got[from] + count, t->total);
    ck_assert_msg(memcmp(octets, t->octets[from] + t->got[from], count) == 0, "contents differ near octet %zu",
                  t->got[from]);
    if (!is_last && random_chance(&t->random, 0.3))
        return; /* a slow reader, as long as more events come */
    t->got[from] += count;
    tcp_consume(c, count);
}

static struct transfer transfer;

static bool is_transferred(void *context)
{
    struct transfer *t = context;

    read_some(t, tcp_pair.cb, 0);
    read_some(t, tcp_pair.ca, 1);
    return t->got[0] == t->total && t->got[1] == t->total && tcp_status(tcp_pair.ca)->peer_fin &&
           tcp_status(tcp_pair.cb)->peer_fin;
}

START_TEST(contents_survive_a_bad_wire)
{
    struct random random = {(uint64_t)_i * 31 + 1};
    struct sim_config config = {.seed = (uint64_t)_i + 1};
    struct sim_impairment bad = {
        .loss = 0.01 * (double)random_below(&random, 15),
        .duplicate = 0.01 * (double)random_below(&random, 20),
        .reorder = 0.01 * (double)random_below(&random, 40),
    };
    /* A third of the runs wraps around 2^32 in the middle of the transfer. */
    struct tcp_options options = {
        .choose_iss = _i % 3 == 0, .iss = UINT32_MAX - 50000, .mss = (uint16_t)(400 + _i * 5), .attempts = 30};

    config.a_to_b = config.b_to_a = bad;
    tcp_pair_new(&config, _i % 2 == 0 ? 4 : 6);
    tcp_pair_open(&options, &options);
    transfer = (struct transfer){.total = 20000 + 1000 * (size_t)_i, .random = random};
    for (int i = 0; i < 2; i++) {
        transfer.octets[i] = malloc(transfer.total);
        tcp_pair_fill(transfer.octets[i], transfer.total, random_next(&random));
    }
    for (size_t at = 0; at < transfer.total;) {
        size_t take = 1 + random_below(&random, 9000);

        take = take < transfer.total - at ? take : transfer.total - at;
        ck_assert_int_eq(tcp_send(tcp_pair.ca, transfer.octets[0] + at, take), 0);
        ck_assert_int_eq(tcp_send(tcp_pair.cb, transfer.octets[1] + at, take), 0);
        at += take;
    }
    ck_assert_int_eq(tcp_shutdown(tcp_pair.ca), 0);
    ck_assert_int_eq(tcp_shutdown(tcp_pair.cb), 0);
    ck_assert_msg(sim_run_until(tcp_pair.sim, sim_now(tcp_pair.sim) + 3600 * SECOND, is_transferred, &transfer) == 1,
                  "seed %d: %zu and %zu of %zu octets arrived, a is %s, b is %s", _i, transfer.got[0], transfer.got[1],
                  transfer.total, tcp_cause_name(tcp_status(tcp_pair.ca)->cause),
                  tcp_cause_name(tcp_status(tcp_pair.cb)->cause));
    tcp_pair_run(1000 * SECOND);
    for (int i = 0; i < 2; i++) {
        const struct tcp_status *status = tcp_status(i == 0 ? tcp_pair.ca : tcp_pair.cb);

        ck_assert_msg(status->state == TCP_STATE_CLOSED && status->cause <= TCP_CAUSE_LOCAL_FIN, "seed %d: %s, %s", _i,
                      tcp_state_name(status->state), tcp_cause_name(status->cause));
    }
    free(transfer.octets[0]);
    free(transfer.octets[1]);
    tcp_pair_free();
}
END_TEST

START_TEST(large_transfer_on_a_clean_wire)
{
    size_t count = 3u << 20;
    uint8_t *octets = malloc(count);

    tcp_pair_open_clean(_i == 0 ? 4 : 6);
    tcp_pair_fill(octets, count, 3);
    transfer = (struct transfer){.octets = {octets, octets}, .total = count, .random = {1}};
    ck_assert_int_eq(tcp_send(tcp_pair.ca, octets, count), 0);
    ck_assert_int_eq(tcp_send(tcp_pair.cb, octets, count), 0);
    ck_assert_int_eq(tcp_shutdown(tcp_pair.ca), 0);
    ck_assert_int_eq(tcp_shutdown(tcp_pair.cb), 0);
    ck_assert_int_eq(sim_run_until(tcp_pair.sim, sim_now(tcp_pair.sim) + 600 * SECOND, is_transferred, &transfer), 1);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->retransmissions, 0);
    ck_assert_uint_eq(tcp_pair.resets, 0);
    free(octets);
    tcp_pair_free();
}
END_TEST

START_TEST(stream_is_cut_at_the_mss)
{
    struct tcp_options options = {.mss = 500};
    struct sim_config config = {.seed = 3};
    uint8_t octets[1700];

    tcp_pair_new(&config, 4);
    tcp_pair_open(NULL, &options);
    tcp_pair_fill(octets, sizeof(octets), 1);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->mss, 500);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, octets, sizeof(octets)), 0);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_pair.seen_count, 4);
    ck_assert_uint_eq(tcp_pair.seen[2].payload_octets, 500);
    ck_assert_uint_eq(tcp_pair.seen[2].flags & TCP_FLAG_PSH, 0);
    ck_assert_uint_eq(tcp_pair.seen[3].payload_octets, 200);
    ck_assert_uint_ne(tcp_pair.seen[3].flags & TCP_FLAG_PSH, 0);
    tcp_pair_free();
}
END_TEST

static const size_t cuts[] = {1, 20, 1460, 7, 512, 1};
#define CUTS     (sizeof(cuts) / sizeof(cuts[0]))
#define CUTS_SUM 2001

START_TEST(exact_boundaries_are_seen)
{
    struct sim_config config = {.seed = 3, .a_to_b = {.loss = _i * 0.05}};
    uint8_t octets[CUTS_SUM];
    uint32_t at;

    tcp_pair_new(&config, 4);
    tcp_pair_open(NULL, NULL);
    tcp_pair_fill(octets, sizeof(octets), 2);
    at = tcp_status(tcp_pair.ca)->snd_nxt;
    ck_assert_int_eq(tcp_send_segments(tcp_pair.ca, octets, sizeof(octets), cuts, CUTS), 0);
    tcp_pair_run(100 * SECOND);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    /* Each copy of a segment began and ended where it was asked to. */
    for (unsigned i = 0; i < tcp_pair.seen_count; i++) {
        uint32_t begin = at;
        size_t which = 0;

        while (which < CUTS && begin != tcp_pair.seen[i].sequence)
            begin += (uint32_t)cuts[which++];
        ck_assert_uint_lt(which, CUTS);
        ck_assert_uint_eq(tcp_pair.seen[i].payload_octets, cuts[which]);
    }
    ck_assert_uint_ge(tcp_pair.seen_count, CUTS);
    tcp_pair_free();
}
END_TEST

START_TEST(boundaries_that_cannot_be_are_refused)
{
    static const size_t zero[] = {5, 0, 5};
    static const size_t wrong_sum[] = {5, 6};
    static const size_t too_long[] = {1461};
    uint8_t octets[1461] = {0};

    tcp_pair_open_clean(4);
    ck_assert_int_eq(tcp_send_segments(tcp_pair.ca, octets, 10, zero, 3), -1);
    ck_assert_int_eq(tcp_send_segments(tcp_pair.ca, octets, 10, wrong_sum, 2), -1);
    ck_assert_int_eq(tcp_send_segments(tcp_pair.ca, octets, 1461, too_long, 1), -1);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, octets, 0);
    tcp_pair_free();
}
END_TEST

START_TEST(chosen_order_with_duplicates_and_a_gap)
{
    static const size_t order[] = {3, 1, 1, 5, 0, 4}; /* 2 is missing: it comes after the RTO */
    uint8_t octets[CUTS_SUM];

    tcp_pair_open_clean(6);
    tcp_pair_fill(octets, sizeof(octets), 2);
    ck_assert_int_eq(tcp_send_ordered(tcp_pair.ca, octets, sizeof(octets) - 60, cuts, CUTS, order, 6),
                     -1);                                      /* the sum */
    static const size_t fitting[] = {1, 20, 1440, 27, 512, 1}; /* an IPv6 segment carries 1440 octets */
    ck_assert_int_eq(tcp_send_ordered(tcp_pair.ca, octets, sizeof(octets), fitting, CUTS, order, 6), 0);
    tcp_pair_run(SECOND / 10);
    ck_assert_uint_eq(tcp_pair.seen_count >= 6 ? 6 : tcp_pair.seen_count, 6);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(tcp_pair.seen[i].payload_octets, fitting[order[i]]);
    tcp_pair_run(10 * SECOND);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_unacknowledged(tcp_pair.ca), 0);
    ck_assert_uint_ge(tcp_status(tcp_pair.ca)->retransmissions, 1);
    ck_assert_uint_ge(tcp_status(tcp_pair.cb)->out_of_order, 2);
    tcp_pair_free();
}
END_TEST

START_TEST(first_of_overlapping_segments_wins)
{
    tcp_pair_open_clean(4);
    /* 10..19 first, then 5..24 with other content, then 0..9 with yet other. */
    ck_assert_int_eq(
        tcp_send_raw_segment(
            tcp_pair.ca,
            &(struct tcp_segment_spec){.sequence = 10, .payload = (const uint8_t *)"AAAAAAAAAA", .payload_octets = 10}),
        0);
    ck_assert_int_eq(
        tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.sequence = 5,
                                                                     .payload = (const uint8_t *)"BBBBBBBBBBBBBBBBBBBB",
                                                                     .payload_octets = 20}),
        0);
    ck_assert_int_eq(
        tcp_send_raw_segment(
            tcp_pair.ca, &(struct tcp_segment_spec){.payload = (const uint8_t *)"CCCCCCCCCC", .payload_octets = 10}),
        0);
    ck_assert_int_eq(tcp_skip(tcp_pair.ca, (const uint8_t *)"CCCCCBBBBBAAAAAAAAAABBBBB", 25), 0);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"CCCCCBBBBBAAAAAAAAAABBBBB", 25);
    ck_assert_uint_eq(tcp_unacknowledged(tcp_pair.ca), 0);
    /* A duplicate from below, with other content, brings nothing and is answered. */
    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.sequence = (uint32_t)-5,
                                                                                  .payload = (const uint8_t *)"DDDDDE",
                                                                                  .payload_octets = 6}),
                     0);
    ck_assert_int_eq(tcp_skip(tcp_pair.ca, (const uint8_t *)"E", 1), 0);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"CCCCCBBBBBAAAAAAAAAABBBBBE", 26);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->retransmissions, 0);
    tcp_pair_free();
}
END_TEST

START_TEST(early_ack_of_raw_segments_is_kept)
{
    tcp_pair_open_clean(4);
    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.payload = (const uint8_t *)"hello",
                                                                                  .payload_octets = 5}),
                     0);
    tcp_pair_run(SECOND); /* the ACK comes before the tester says that these octets count */
    ck_assert_int_eq(tcp_skip(tcp_pair.ca, (const uint8_t *)"hello", 5), 0);
    ck_assert_uint_eq(tcp_unacknowledged(tcp_pair.ca), 0);
    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.payload = (const uint8_t *)" you",
                                                                                  .payload_octets = 4,
                                                                                  .advance = true}),
                     0);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, (const uint8_t *)"!", 1), 0);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"hello you!", 10);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->retransmissions, 0);
    tcp_pair_free();
}
END_TEST

START_TEST(wrong_checksum_is_dropped)
{
    tcp_pair_open_clean(4);
    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.payload = (const uint8_t *)"spoilt",
                                                                                  .payload_octets = 6,
                                                                                  .bad_checksum = true}),
                     0);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, NULL, 0);
    ck_assert_uint_eq(tcp_stack_bad_frames(tcp_pair.b), 1);
    ck_assert(!tcp_pair.seen[0].tcp_checksum_ok);
    tcp_pair_free();
}
END_TEST

START_TEST(acks_at_once_delayed_and_withheld)
{
    uint8_t octets[100] = {1};
    unsigned acks;

    tcp_pair_open_clean(4);
    tcp_pair_run(SECOND);
    acks = tcp_pair.acks_to_a;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tcp_send(tcp_pair.ca, octets, sizeof(octets)), 0);
    tcp_pair_run(SECOND);
    ck_assert_uint_eq(tcp_pair.acks_to_a - acks, 4);

    tcp_set_ack_policy(tcp_pair.cb, TCP_ACK_DELAYED, 0);
    acks = tcp_pair.acks_to_a;
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(tcp_send(tcp_pair.ca, octets, sizeof(octets)), 0);
    tcp_pair_run(SECOND / 100);
    ck_assert_uint_eq(tcp_pair.acks_to_a - acks, 2);
    tcp_pair_run(SECOND / 10);
    ck_assert_uint_eq(tcp_pair.acks_to_a - acks, 3);

    tcp_set_ack_policy(tcp_pair.cb, TCP_ACK_WITHHELD, 0);
    acks = tcp_pair.acks_to_a;
    ck_assert_int_eq(tcp_send(tcp_pair.ca, octets, sizeof(octets)), 0);
    tcp_pair_run(SECOND);
    ck_assert_uint_eq(tcp_pair.acks_to_a, acks);
    ck_assert_uint_eq(tcp_unacknowledged(tcp_pair.ca), sizeof(octets));
    ck_assert_uint_ge(tcp_status(tcp_pair.ca)->retransmissions, 2);
    ck_assert_int_eq(tcp_send(tcp_pair.cb, octets, 1), 0); /* octets travel, the acknowledgment stands still */
    tcp_pair_run(SECOND / 10);
    ck_assert_uint_eq(tcp_unacknowledged(tcp_pair.ca), sizeof(octets));
    tcp_ack_now(tcp_pair.cb);
    tcp_pair_run(SECOND / 10);
    ck_assert_uint_eq(tcp_unacknowledged(tcp_pair.ca), 0);
    tcp_pair_free();
}
END_TEST

START_TEST(shut_window_stops_and_opens_again)
{
    uint8_t octets[5000];
    size_t lengths[] = {1000, 1000, 1000, 1000, 1000};

    tcp_pair_open_clean(4);
    tcp_pair_fill(octets, sizeof(octets), 4);
    tcp_set_window(tcp_pair.cb, 0);
    tcp_pair_run(SECOND / 10);
    ck_assert_int_eq(tcp_send_segments(tcp_pair.ca, octets, sizeof(octets), lengths, 5), 0);
    tcp_pair_run(20 * SECOND);
    tcp_pair_expect(tcp_pair.cb, NULL, 0);
    ck_assert_uint_eq(tcp_pair.seen_count, 0);
    ck_assert_int_eq(tcp_status(tcp_pair.ca)->state, TCP_STATE_ESTABLISHED);
    tcp_set_window(tcp_pair.cb, 2500);
    tcp_pair_run(SECOND / 100);
    ck_assert_uint_ge(tcp_pair.seen_count, 2);
    tcp_set_window_auto(tcp_pair.cb);
    tcp_pair_run(SECOND);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    for (unsigned i = 0; i < tcp_pair.seen_count; i++)
        ck_assert_uint_eq(tcp_pair.seen[i].payload_octets, 1000);
    tcp_pair_free();
}
END_TEST

/* Three ACKs of the same octet bring the missing segment long before the RTO would. */
START_TEST(lost_segment_comes_fast)
{
    static const size_t lengths[] = {100, 100, 100, 100, 100};
    static const size_t order[] = {1, 2, 3, 4};
    uint8_t octets[500];

    tcp_pair_open_clean(4);
    tcp_pair_fill(octets, sizeof(octets), 6);
    ck_assert_int_eq(tcp_send_ordered(tcp_pair.ca, octets, sizeof(octets), lengths, 5, order, 4), 0);
    tcp_pair_run(TCP_RTO_MIN_NS / 10);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->retransmissions, 1);
    tcp_pair_free();
}
END_TEST

/* RFC 9293 section 3.8.6: what was once offered is not taken back. */
START_TEST(window_edge_is_not_drawn_back)
{
    uint8_t octets[1000] = {0};

    tcp_pair_open_clean(4);
    tcp_set_window(tcp_pair.cb, 65535);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, octets, sizeof(octets)), 0);
    tcp_pair_run(SECOND / 10);
    tcp_set_window_auto(tcp_pair.cb);
    tcp_pair_run(SECOND / 10);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->peer_window, 65535);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, octets, sizeof(octets)), 0);
    tcp_pair_run(SECOND / 10);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->peer_window, 64535);
    tcp_pair_free();
}
END_TEST

/* A window too small for a segment does not cut it until the persist timer says that there will be no larger one. */
START_TEST(small_window_cuts_late)
{
    uint8_t octets[1000];
    size_t length = sizeof(octets);

    tcp_pair_open_clean(4);
    tcp_pair_fill(octets, sizeof(octets), 6);
    tcp_set_window(tcp_pair.cb, 600);
    tcp_pair_run(SECOND / 100);
    ck_assert_int_eq(tcp_send_segments(tcp_pair.ca, octets, sizeof(octets), &length, 1), 0);
    tcp_pair_run(TCP_RTO_MIN_NS / 2);
    ck_assert_uint_eq(tcp_pair.seen_count, 0);
    tcp_pair_run(10 * SECOND);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_pair.seen_count, 2);
    ck_assert_uint_eq(tcp_pair.seen[0].payload_octets, 600);
    tcp_pair_free();
}
END_TEST

START_TEST(reopened_window_is_found_by_probing)
{
    struct sim_impairment clean = {0};
    struct sim_impairment cut = {.loss = 1.0};

    tcp_pair_open_clean(4);
    tcp_set_window(tcp_pair.cb, 0);
    tcp_pair_run(SECOND / 10);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, (const uint8_t *)"hello", 5), 0);
    sim_impair(tcp_pair.sim, &clean, &cut); /* the window update is lost */
    tcp_set_window(tcp_pair.cb, 1000);
    sim_impair(tcp_pair.sim, &clean, &clean);
    tcp_pair_run(20 * SECOND);
    tcp_pair_expect(tcp_pair.cb, (const uint8_t *)"hello", 5);
    tcp_pair_free();
}
END_TEST

static TCase *sending(void)
{
    TCase *tests = tcase_create("sending");

    tcase_add_test(tests, stream_is_cut_at_the_mss);
    tcase_add_loop_test(tests, exact_boundaries_are_seen, 0, 6);
    tcase_add_test(tests, boundaries_that_cannot_be_are_refused);
    tcase_add_test(tests, chosen_order_with_duplicates_and_a_gap);
    tcase_add_test(tests, first_of_overlapping_segments_wins);
    tcase_add_test(tests, early_ack_of_raw_segments_is_kept);
    tcase_add_test(tests, wrong_checksum_is_dropped);
    tcase_add_test(tests, acks_at_once_delayed_and_withheld);
    tcase_add_test(tests, shut_window_stops_and_opens_again);
    tcase_add_test(tests, reopened_window_is_found_by_probing);
    tcase_add_test(tests, lost_segment_comes_fast);
    tcase_add_test(tests, window_edge_is_not_drawn_back);
    tcase_add_test(tests, small_window_cuts_late);
    return tests;
}

Suite *tcp_suite(void)
{
    Suite *suite = suite_create("tcp");
    TCase *bulk = tcase_create("bulk");

    tcase_add_loop_test(bulk, contents_survive_a_bad_wire, 0, 200);
    tcase_add_loop_test(bulk, large_transfer_on_a_clean_wire, 0, 2);
    suite_add_tcase(suite, bulk);
    suite_add_tcase(suite, sending());
    return suite;
}
