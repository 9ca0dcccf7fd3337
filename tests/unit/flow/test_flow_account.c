/* SPDX-License-Identifier: BSD-2-Clause */
/* The account: its table, and what becomes of the octets of TCP connections. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "conformance/flow/event/flow_account.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/suites.h"

Suite *flow_account_suite(void);

/* ---- the table --------------------------------------------------------------------------------------------------- */

START_TEST(rows_of_the_account_are_distinct)
{
    ck_assert_str_eq(flow_account_row(FLOW_ROWS)->name, "unknown");
    ck_assert_int_eq(flow_account_find("no such row"), FLOW_ROW_UNKNOWN);
    for (unsigned i = 0; i < FLOW_ROWS; i++) {
        const struct flow_account_row *row = flow_account_row((enum flow_row)i);

        ck_assert_uint_eq(flow_account_find(row->name), i); /* no name twice */
        ck_assert_uint_gt(strlen(row->text), 0);
        ck_assert_uint_ne((unsigned char)row->text[strlen(row->text) - 1], '.');
        for (unsigned k = 0; k < i; k++)
            ck_assert_str_ne(row->text, flow_account_row((enum flow_row)k)->text);
    }
    ck_assert_str_eq(flow_account_kind_name(FLOW_MISSING), "missing");
    ck_assert_str_eq(flow_account_kind_name(FLOW_ACCOUNT_KINDS), "");
}
END_TEST

START_TEST(accounts_add_up_and_subtract)
{
    struct flow_account a = {0}, b, since;

    ck_assert(flow_account_whole(&a));
    flow_account_count(&a, FLOW_ROW_IWARP, 2, 300);
    flow_account_count(&a, FLOW_ROW_HEADERS, 0, 108);
    flow_account_count(&a, FLOW_ROW_ARP, 1, 60);
    ck_assert(flow_account_whole(&a));
    b = a;
    flow_account_count(&b, FLOW_ROW_GAP, 0, 7);
    ck_assert(!flow_account_whole(&b));
    flow_account_since(&a, &b, &since);
    ck_assert_uint_eq(since.row[FLOW_ROW_GAP].octets, 7);
    ck_assert(flow_account_none(&since, FLOW_ROW_IWARP));
    flow_account_add(&a, &b);
    ck_assert_uint_eq(flow_account_sum(&a, FLOW_JUDGED).octets, 2 * 408);
    ck_assert_uint_eq(flow_account_sum(&a, FLOW_JUDGED).frames, 4);
    ck_assert_uint_eq(flow_account_sum(&a, FLOW_FOREIGN).octets, 2 * 60);
    ck_assert_uint_eq(flow_account_sum(&a, FLOW_MISSING).octets, 7);
    memset(&b, 0, sizeof(b));
    b.row[FLOW_ROW_EVICTED].items = 1;
    ck_assert(!flow_account_whole(&b));
}
END_TEST

/* ---- MPA --------------------------------------------------------------------------------------------------------- */

static struct talk *conversation(const struct flow_config *config, unsigned count)
{
    struct talk *talk = talk_new(config);

    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, count);
    talk_mix(talk, 1, count);
    talk_syn(talk);
    return talk;
}

START_TEST(every_octet_of_a_healthy_talk_is_judged)
{
    struct talk *talk = conversation(NULL, 8);
    size_t octets = talk->octets[0] + talk->octets[1];

    talk_all(talk, 1460);
    talk_finish(talk);
    ck_assert(talk_whole(talk));
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_IWARP), octets);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_IWARP].frames, talk->frame);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_IWARP) + talk_octets(talk, FLOW_ROW_HEADERS),
                      flow_decoder_totals(talk->decoder)->octets);
    talk_free(talk);
}
END_TEST

/* A segment that is not captured: its octets are missing, and what they leave of their FPDUs is not judged. */
START_TEST(octets_of_a_gap_are_missing)
{
    struct talk *talk = conversation(NULL, 8);
    size_t at = talk->boundary[0][4] + 10, end = talk->boundary[0][5] + 20;

    talk_run(talk, 0, 0, talk->start[0], 1460);
    talk_run(talk, 1, 0, talk->octets[1], 1460);
    talk_run(talk, 0, talk->start[0], at, 1460);
    talk_run(talk, 0, end, talk->octets[0], 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_GAP), end - at);
    ck_assert(!talk_whole(talk));
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_IWARP) + talk_octets(talk, FLOW_ROW_PART) +
                          talk_octets(talk, FLOW_ROW_SYNC_LOST),
                      talk->octets[0] + talk->octets[1] - (end - at));
    ck_assert_uint_ge(talk_octets(talk, FLOW_ROW_PART), 10);
    talk_free(talk);
}
END_TEST

/*
 * The last segments are missing, and nothing comes after them but their acknowledgment. A FIN is no octet. Loop:
 * octets.
 */
START_TEST(gap_at_the_end)
{
    struct talk *talk = conversation(NULL, 8);
    size_t end = talk->boundary[0][7], rest = (size_t)_i;

    talk_run(talk, 0, 0, talk->start[0], 1460);
    talk_run(talk, 1, 0, talk->octets[1], 1460);
    talk_run(talk, 0, talk->start[0], end, 1460);
    talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, end + rest);
    talk_finish(talk);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_GAP), rest > 1 ? rest - 1 : 0);
    ck_assert(talk_whole(talk) == (rest < 2));
    talk_free(talk);
}
END_TEST

/* One direction alone: what the other one has sent is known by its acknowledgments. */
START_TEST(one_direction_leaves_the_other_missing)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, 8);
    for (size_t at = 0; at < talk->octets[0]; at += 100)
        talk_segment_with(talk, 0, at, talk->octets[0] - at < 100 ? talk->octets[0] : at + 100, TCP_FLAG_ACK, 3 * at);
    talk_finish(talk);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_GAP), talk->octets[0]);
    ck_assert_uint_gt(talk->good[0], 0);
    talk_free(talk);
}
END_TEST

START_TEST(cut_frames_leave_parts_unjudged)
{
    struct talk *talk = conversation(NULL, 12);

    talk->snap = 14 + 20 + 20 + 100;
    talk_all(talk, 1460);
    talk_finish(talk);
    ck_assert(!talk_whole(talk));
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_SNAPPED), 0);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_PART), 0);
    talk_free(talk);
}
END_TEST

/*
 * The capture ends in the middle of an FPDU, or the connection does: nobody knows what it would have become. Loop:
 * closes.
 */
START_TEST(unfinished_fpdu_is_unjudged)
{
    static const uint8_t closes[] = {0, TCP_FLAG_FIN, TCP_FLAG_RST};
    struct talk *talk = conversation(NULL, 6);

    talk_run(talk, 0, 0, talk->start[0], 1460);
    talk_run(talk, 1, 0, talk->start[1], 1460);
    talk_run(talk, 0, talk->start[0], talk->octets[0] - 5, 1460);
    if (closes[_i] != 0)
        talk_segment_with(talk, 0, talk->octets[0] - 5, talk->octets[0] - 5, closes[_i] | TCP_FLAG_ACK, 0);
    talk_finish(talk);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_UNFINISHED), talk->octets[0] - 5 - talk->boundary[0][5]);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* A start-up frame that is malformed: it was judged, what follows it in its segment was not. */
START_TEST(octets_after_a_malformed_start_are_unjudged)
{
    struct talk *talk = conversation(NULL, 4);

    talk->stream[1][4] ^= 0x20;
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->octets[1]);
    talk_finish(talk);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_IWARP) + talk_octets(talk, FLOW_ROW_START_MALFORMED),
                      talk->start[0] + talk->octets[1]);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_START_MALFORMED), 0);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

START_TEST(octets_after_a_rejection_are_the_ulps)
{
    struct talk *talk = talk_new(NULL);
    struct iwarp_mpa_start request = {.crc = true, .revision = 1}, reply = {.rejected = true, .revision = 1};

    talk_start(talk, request, reply);
    memset(talk->stream[0] + talk->octets[0], 'u', 300);
    talk->octets[0] += 300;
    talk_syn(talk);
    talk_all(talk, 1460);
    talk_finish(talk);
    ck_assert(talk_whole(talk));
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_ULP), talk->octets[0] - talk->start[0]);
    talk_free(talk);
}
END_TEST

START_TEST(repeated_octets_are_counted_apart)
{
    struct talk *talk = conversation(NULL, 6);

    talk_all(talk, 1460);
    talk_run(talk, 0, 0, talk->start[0], 1460);
    talk_run(talk, 0, talk->start[0], talk->octets[0], 1000);
    talk_finish(talk);
    ck_assert(talk_whole(talk));
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_AGAIN), talk->octets[0]);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_IWARP), talk->octets[0] + talk->octets[1]);
    talk_free(talk);
}
END_TEST

/* A flow that has to go because there are too many: it counts when it goes on. */
START_TEST(evicted_flow_counts_when_it_goes_on)
{
    struct flow_config config = {.flows_max = 4};
    struct talk *talk = talk_new(&config);
    const struct flow_count *row = &flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_EVICTED];

    talk_start_simple(talk, false, false, true);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_uint_eq(row->items, 0);
        talk->port = (uint16_t)(1000 + i);
        talk_syn(talk);
        talk_all(talk, 1460);
    }
    ck_assert_uint_eq(row->items, 0);
    talk->port = 1000;
    talk_segment(talk, 0, 0, talk->start[0]);
    ck_assert_uint_eq(row->items, 1);
    talk_finish(talk);
    ck_assert_uint_eq(row->items, 1);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* Closed and foreign connections go first, and nothing is lost by it. */
START_TEST(closed_and_foreign_go_first)
{
    struct flow_config config = {.connections_max = 8};
    struct talk *talk = talk_new(&config);

    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, 4);
    talk_syn(talk);
    talk_run(talk, 0, 0, talk->start[0], 1460);
    talk_run(talk, 1, 0, talk->start[1], 1460);
    for (unsigned i = 0; i < 100; i++) {
        uint8_t first = talk->stream[0][0];

        talk->port = (uint16_t)(1000 + i);
        talk_syn(talk);
        talk->stream[0][0] = i % 2 != 0 ? 'X' : first;
        talk_run(talk, 0, 0, talk->start[0], 1460);
        talk->stream[0][0] = first;
        if (i % 2 == 0) {
            talk_segment(talk, 1, 0, talk->start[1]);
            talk_segment_with(talk, 0, talk->start[0], talk->start[0], TCP_FLAG_RST, 0);
        }
    }
    talk->port = 7174;
    talk_run(talk, 0, talk->start[0], talk->octets[0], 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 4);
    ck_assert(talk_whole(talk));
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_TCP].items, 50);
    talk_free(talk);
}
END_TEST

/* ---- connections that are no flows ------------------------------------------------------------------------------- */

static void say(struct talk *talk, unsigned side, const void *octets, size_t count, uint8_t flags, size_t acked)
{
    memcpy(talk->stream[side] + talk->octets[side], octets, count);
    talk_segment_with(talk, side, talk->octets[side], talk->octets[side] + count, (uint8_t)(flags | TCP_FLAG_ACK),
                      acked);
    talk->octets[side] += count;
}

static const char request[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/* So many requests and answers. */
static void talk_http(struct talk *talk, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        say(talk, 0, request, sizeof(request) - 1, TCP_FLAG_PSH, talk->octets[1]);
        say(talk, 1, answer, sizeof(answer) - 1, TCP_FLAG_PSH, talk->octets[0]);
    }
}

START_TEST(foreign_from_its_start)
{
    struct talk *talk = talk_new(NULL);

    talk_syn(talk);
    talk_http(talk, 1);
    talk_finish(talk);
    ck_assert(talk_whole(talk));
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_TCP), talk->octets[0] + talk->octets[1]);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_TCP].frames, talk->frame);
    talk_free(talk);
}
END_TEST

/*
 * A Key in the middle of a segment may be the start of MPA, which begins after the ULP's own octets, or a text on it.
 */
START_TEST(key_in_the_middle)
{
    static const char text[] = "the key is MPA ID Req Frame, says the text";
    struct talk *talk = talk_new(NULL);

    talk_syn(talk);
    talk_http(talk, 1);
    say(talk, 0, text, sizeof(text), 0, 0);
    talk_finish(talk);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_UNRECOGNISED), talk->octets[0] + talk->octets[1]);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* What senders begin decides, when it was seen three times. Loop: turns that were captured, of an unknown protocol. */
START_TEST(three_turns_of_senders_prove_a_foreign_protocol)
{
    static const uint8_t turn[] = {0xE9, 0x00, 0xF1, 0x77, 0x5C, 0x00, 0x21, 0xB5, 0x90, 0xFE, 0x3D};
    struct talk *talk = talk_new(NULL);

    talk->octets[0] = talk->octets[1] = 1000;
    for (int i = 0; i < _i; i++)
        for (unsigned side = 0; side < 2; side++)
            say(talk, side, turn, sizeof(turn), TCP_FLAG_PSH, talk->octets[1 - side]);
    talk_finish(talk);
    /* The first of each direction follows something unknown. */
    ck_assert(talk_whole(talk) == (2 * (_i - 1) >= 3));
    ck_assert_uint_eq(talk_octets(talk, 2 * (_i - 1) >= 3 ? FLOW_ROW_TCP : FLOW_ROW_UNRECOGNISED),
                      talk->octets[0] + talk->octets[1] - 2000);
    talk_free(talk);
}
END_TEST

/* FPDUs with a wrong CRC each: nothing to lock on, and yet it is no foreign connection. */
START_TEST(late_damaged_fpdus)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, true);
    for (unsigned i = 0; i < 40; i++)
        talk_send(talk, i % 2, 100);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < talk->fpdus[side]; i++)
            talk->stream[side][talk->boundary[side][i] + 40] ^= 0xFF;
    for (unsigned i = 0; i < 20; i++)
        for (unsigned side = 0; side < 2; side++)
            talk_segment_with(talk, side, talk->boundary[side][i], talk->boundary[side][i + 1],
                              TCP_FLAG_ACK | TCP_FLAG_PSH, talk->boundary[1 - side][side == 0 ? i : i + 1]);
    talk_finish(talk);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->flows, 0);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_UNRECOGNISED), 0);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* FPDUs that lie across segments in mid-stream: the pairs that they make are places to lock on. Loop: Markers, IPv6. */
START_TEST(unaligned_fpdus_are_locked_on_mid_stream)
{
    struct talk *talk = talk_new(NULL);
    size_t from;

    talk->ipv6 = _i >= 2;
    talk_start_simple(talk, false, _i % 2 != 0, true);
    for (unsigned i = 0; i < 30; i++)
        talk_send(talk, 0, 3001);
    from = talk->boundary[0][3] + 100;
    for (size_t at = from; at < talk->octets[0]; at += 1449)
        talk_segment(talk, 0, at, at + 1449 < talk->octets[0] ? at + 1449 : talk->octets[0]);
    talk_finish(talk);
    ck_assert_uint_gt(talk->good[0], _i % 2 != 0 ? 1 : 20);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_LATE), 0);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_UNRECOGNISED), 0);
    talk_free(talk);
}
END_TEST

Suite *flow_account_suite(void)
{
    Suite *suite = suite_create("flow_account");
    TCase *tests = tcase_create("account");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, rows_of_the_account_are_distinct);
    tcase_add_test(tests, accounts_add_up_and_subtract);
    tcase_add_test(tests, every_octet_of_a_healthy_talk_is_judged);
    tcase_add_test(tests, octets_of_a_gap_are_missing);
    tcase_add_loop_test(tests, gap_at_the_end, 0, 4);
    tcase_add_test(tests, one_direction_leaves_the_other_missing);
    tcase_add_test(tests, cut_frames_leave_parts_unjudged);
    tcase_add_loop_test(tests, unfinished_fpdu_is_unjudged, 0, 3);
    tcase_add_test(tests, octets_after_a_malformed_start_are_unjudged);
    tcase_add_test(tests, octets_after_a_rejection_are_the_ulps);
    tcase_add_test(tests, repeated_octets_are_counted_apart);
    tcase_add_test(tests, evicted_flow_counts_when_it_goes_on);
    tcase_add_test(tests, closed_and_foreign_go_first);
    tcase_add_test(tests, foreign_from_its_start);
    tcase_add_test(tests, key_in_the_middle);
    tcase_add_loop_test(tests, three_turns_of_senders_prove_a_foreign_protocol, 1, 5);
    tcase_add_test(tests, late_damaged_fpdus);
    tcase_add_loop_test(tests, unaligned_fpdus_are_locked_on_mid_stream, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
