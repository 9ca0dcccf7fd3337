/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What MPA asks of TCP and IP (RFC 5044 A.3, A.5.1): SACK, IP fragments, octets that come again; and the faults of
 * each.
 */
#include <check.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/tcp_pair.h"

Suite *tcp_below_mpa_suite(void);

static const uint8_t text[] = "abcdefghijklmnopqrstuvwxyz";

static void open_with(const struct tcp_options *a, const struct tcp_options *b)
{
    struct sim_config config = {.seed = 1};

    tcp_pair_new(&config, 4);
    tcp_pair_open(a, b);
}

static void send_at(uint32_t offset, size_t count)
{
    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.sequence = offset,
                                                                                  .payload = text + offset,
                                                                                  .payload_octets = count}),
                     0);
    tcp_pair_run(SECOND / 100);
}

/* Blocks stand as the newest first (RFC 2018 4). */
START_TEST(gaps_are_reported)
{
    struct tcp_options sack = {.sack = true};
    const struct tcp_status *status;

    open_with(&sack, &sack);
    status = tcp_status(tcp_pair.ca);
    ck_assert(status->peer_sack);
    ck_assert(tcp_status(tcp_pair.cb)->peer_sack);
    send_at(4, 2);
    ck_assert_uint_eq(status->sacks, 1);
    send_at(8, 3);
    ck_assert_uint_eq(status->sacks, 2);
    ck_assert_uint_eq(status->sack[0].from - status->snd_una, 8);
    ck_assert_uint_eq(status->sack[0].to - status->snd_una, 11);
    ck_assert_uint_eq(status->sack[1].from - status->snd_una, 4);
    ck_assert_uint_eq(status->sack[1].to - status->snd_una, 6);
    send_at(6, 2); /* joins them */
    ck_assert_uint_eq(status->sacks, 1);
    ck_assert_uint_eq(status->sack[0].from - status->snd_una, 4);
    ck_assert_uint_eq(status->sack[0].to - status->snd_una, 11);
    ck_assert_uint_eq(status->sack_count, 3);
    ck_assert_int_eq(tcp_skip(tcp_pair.ca, text, 11), 0);
    tcp_pair_run(10 * SECOND);
    tcp_pair_expect(tcp_pair.cb, text, 11);
    ck_assert_uint_eq(status->sack_count, 3);
    tcp_pair_free();
}
END_TEST

START_TEST(sack_needs_both_sides)
{
    static const struct {
        struct tcp_options a, b;
        uint64_t reports;
    } table[] = {
        {{0}, {.sack = true}, 0},
        {{.sack = true}, {0}, 0},
        {{.sack = true}, {.sack = true, .sack_silent = true}, 0},
        {{.sack = true, .omit_mss = true}, {.sack = true}, 1},
    };

    open_with(&table[_i].a, &table[_i].b);
    ck_assert(tcp_status(tcp_pair.cb)->peer_sack == table[_i].a.sack);
    ck_assert(tcp_status(tcp_pair.ca)->peer_sack == (table[_i].a.sack && table[_i].b.sack));
    send_at(4, 2);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->sack_count, table[_i].reports);
    tcp_pair_free();
}
END_TEST

START_TEST(shifted_blocks_are_a_fault)
{
    struct tcp_options sack = {.sack = true}, shifted = {.sack = true, .sack_shifted = true};

    open_with(&sack, &shifted);
    send_at(4, 2);
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->sack[0].from - tcp_status(tcp_pair.ca)->snd_una, 8);
    tcp_pair_free();
}
END_TEST

START_TEST(fragments_are_put_together)
{
    struct sim_config config = {.seed = 1};
    static uint8_t octets[1000];

    tcp_pair_new(&config, _i < 2 ? 4 : 6);
    tcp_pair_open(NULL, NULL);
    tcp_pair_fill(octets, sizeof(octets), 9);
    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.payload = octets,
                                                                                  .payload_octets = sizeof(octets),
                                                                                  .advance = true,
                                                                                  .fragment_octets = 264,
                                                                                  .last_fragment_first = _i % 2 != 0}),
                     0);
    tcp_pair_run(SECOND / 100);
    tcp_pair_expect(tcp_pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_status(tcp_pair.ca)->retransmissions, 0);
    ck_assert_int_eq(
        tcp_send_raw_segment(
            tcp_pair.ca, &(struct tcp_segment_spec){.payload = octets, .payload_octets = 100, .fragment_octets = 12}),
        -1);
    tcp_pair_free();
}
END_TEST

START_TEST(repeats_are_taken_by_a_fault_alone)
{
    struct tcp_options plain = {0}, faulty = {.take_repeats = true};

    open_with(&plain, _i == 0 ? &plain : &faulty);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, text, 10), 0);
    tcp_pair_run(SECOND / 100);
    ck_assert_int_eq(tcp_send_raw_segment(tcp_pair.ca, &(struct tcp_segment_spec){.sequence = (uint32_t)-10,
                                                                                  .payload = text + 10,
                                                                                  .payload_octets = 10}),
                     0);
    tcp_pair_run(SECOND / 100);
    tcp_pair_expect(tcp_pair.cb, text, _i == 0 ? 10 : 20);
    ck_assert_uint_eq(tcp_status(tcp_pair.cb)->octets_received, 10);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, text + 20, 6), 0);
    tcp_pair_run(SECOND / 100);
    ck_assert_uint_eq(tcp_status(tcp_pair.cb)->octets_received, 16);
    ck_assert_uint_eq(tcp_unacknowledged(tcp_pair.ca), 0);
    tcp_pair_free();
}
END_TEST

START_TEST(octets_after_the_fin_are_counted)
{
    struct tcp_options plain = {0}, faulty = {.octets_after_fin = _i != 0};

    open_with(&faulty, &plain);
    ck_assert_int_eq(tcp_send(tcp_pair.ca, text, 10), 0);
    ck_assert_int_eq(tcp_shutdown(tcp_pair.ca), 0);
    tcp_pair_run(SECOND / 100);
    tcp_pair_expect(tcp_pair.cb, text, 10);
    ck_assert(tcp_status(tcp_pair.cb)->peer_fin);
    ck_assert_uint_eq(tcp_status(tcp_pair.cb)->after_fin, _i);
    tcp_pair_free();
}
END_TEST

Suite *tcp_below_mpa_suite(void)
{
    Suite *suite = suite_create("tcp_below_mpa");
    TCase *tests = tcase_create("what MPA asks of TCP");

    tcase_add_test(tests, gaps_are_reported);
    tcase_add_loop_test(tests, sack_needs_both_sides, 0, 4);
    tcase_add_test(tests, shifted_blocks_are_a_fault);
    tcase_add_loop_test(tests, fragments_are_put_together, 0, 4);
    tcase_add_loop_test(tests, octets_after_the_fin_are_counted, 0, 2);
    tcase_add_loop_test(tests, repeats_are_taken_by_a_fault_alone, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
