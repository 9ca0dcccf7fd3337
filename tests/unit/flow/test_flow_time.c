/* SPDX-License-Identifier: BSD-2-Clause */
/* A live capture: time goes on without frames, and the capture mechanism drops some. */
#include <check.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "tests/support/many.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/suites.h"

Suite *flow_time_suite(void);

#define SECOND UINT64_C(1000000000)

static struct talk *talk_of(uint64_t idle_ns)
{
    struct flow_config config = {.idle_ns = idle_ns};
    struct talk *talk = talk_new(&config);

    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, 6);
    talk_syn(talk);
    return talk;
}

START_TEST(idle_flow_ends_by_time_alone)
{
    struct talk *talk = talk_of(10 * SECOND);

    talk_all(talk, 1460);
    flow_decoder_time(talk->decoder, talk->time_ns + 9 * SECOND);
    ck_assert_uint_eq(talk->ends, 0);
    flow_decoder_time(talk->decoder, talk->time_ns + 11 * SECOND);
    ck_assert_uint_eq(talk->ends, 1);
    ck_assert(talk_whole(talk));
    talk_segment(talk, 0, talk->octets[0] - 1, talk->octets[0]); /* it was not over */
    ck_assert_uint_eq(talk_items(talk, FLOW_ROW_EVICTED), 1);
    talk_finish(talk);
    talk_free(talk);
}
END_TEST

START_TEST(time_ends_no_open_flow_without_a_limit)
{
    struct talk *talk = talk_of(0);

    talk_all(talk, 1460);
    flow_decoder_time(talk->decoder, talk->time_ns + 1000000 * SECOND);
    ck_assert_uint_eq(talk->ends, 0);
    talk_finish(talk);
    ck_assert_uint_eq(talk->ends, 1);
    talk_free(talk);
}
END_TEST

START_TEST(closed_flow_ends_when_its_segments_come_no_more)
{
    struct talk *talk = talk_of(0);

    talk_all(talk, 1460);
    talk_segment_with(talk, 0, talk->octets[0], talk->octets[0], 0x14 /* RST, ACK */, talk->octets[1]);
    flow_decoder_time(talk->decoder, talk->time_ns + (FLOW_CLOSED_SECONDS - 1) * SECOND);
    ck_assert_uint_eq(talk->ends, 0);
    flow_decoder_time(talk->decoder, talk->time_ns + (FLOW_CLOSED_SECONDS + 1) * SECOND);
    ck_assert_uint_eq(talk->ends, 1);
    talk_finish(talk);
    ck_assert(talk_whole(talk));
    talk_free(talk);
}
END_TEST

START_TEST(time_that_goes_back_ends_nothing)
{
    struct talk *talk = talk_of(SECOND);

    talk_all(talk, 1460);
    flow_decoder_time(talk->decoder, 1);
    ck_assert_uint_eq(talk->ends, 0);
    talk_finish(talk);
    talk_free(talk);
}
END_TEST

START_TEST(units_after_a_hole_come_by_time_alone)
{
    struct talk *talk = talk_of(0);
    size_t from, to;

    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    from = talk->boundary[0][1];
    to = talk->boundary[0][2];
    talk_segment(talk, 0, from, to); /* the first FPDU is missing, and the other side has it */
    talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], 0x10, to);
    ck_assert_uint_eq(talk->gaps, 0);
    flow_decoder_time(talk->decoder, talk->time_ns + SECOND);
    ck_assert_uint_eq(talk->gaps, 1);
    ck_assert_uint_eq(talk->good[0], 1);
    talk_finish(talk);
    talk_free(talk);
}
END_TEST

START_TEST(dropped_frames_are_reported_to_each_open_flow)
{
    struct talk *talk = talk_of(0);

    talk_all(talk, 1460);
    ck_assert(talk_whole(talk));
    flow_decoder_dropped(talk->decoder, 7);
    ck_assert_uint_eq(talk->undecoded, 2); /* both directions */
    ck_assert_uint_eq(talk_items(talk, FLOW_ROW_DROPPED), 7);
    ck_assert(!talk_whole(talk));
    talk_finish(talk);
    talk_free(talk);
}
END_TEST

static struct {
    unsigned ends, idle, dropped;
} seen;

static void follow(void *ctx, const struct flow_event *event)
{
    (void)ctx;
    seen.ends += event->kind == FLOW_END;
    seen.idle += event->kind == FLOW_END && event->reason == FLOW_REASON_IDLE;
    seen.dropped += event->kind == FLOW_UNDECODED && event->reason == FLOW_REASON_DROPPED;
}

/* Loop: each layer. */
START_TEST(each_kind_of_flow_learns_of_losses_and_ends_idle)
{
    struct flow_config config = {.idle_ns = SECOND};
    struct flow_decoder *decoder = flow_decoder_create(&config, follow, NULL);
    uint8_t octets[MANY_FRAME_MAX];
    uint64_t flows;

    memset(&seen, 0, sizeof(seen));
    for (unsigned step = 0; step < many_steps_open((enum many_layer)_i); step++) {
        size_t count = many_frame((enum many_layer)_i, 1, step, octets);

        flow_decoder_frame(decoder, &(struct flow_frame){FLOW_LINK_ETHERNET, SECOND, step + 1, octets, count, count});
    }
    flows = flow_decoder_totals(decoder)->flows;
    ck_assert_uint_ge(flows, 1);
    flow_decoder_dropped(decoder, 1);
    ck_assert_uint_eq(seen.dropped, 2 * flows);
    flow_decoder_time(decoder, 3 * SECOND);
    ck_assert_uint_eq(seen.ends, flows);
    ck_assert_uint_eq(seen.idle, flows);
    flow_decoder_finish(decoder);
    ck_assert_uint_eq(seen.ends, flows);
    flow_decoder_destroy(decoder);
}
END_TEST

Suite *flow_time_suite(void)
{
    Suite *suite = suite_create("flow_time");
    TCase *cases = tcase_create("flow_time");

    tcase_add_test(cases, idle_flow_ends_by_time_alone);
    tcase_add_test(cases, time_ends_no_open_flow_without_a_limit);
    tcase_add_test(cases, closed_flow_ends_when_its_segments_come_no_more);
    tcase_add_test(cases, time_that_goes_back_ends_nothing);
    tcase_add_test(cases, units_after_a_hole_come_by_time_alone);
    tcase_add_test(cases, dropped_frames_are_reported_to_each_open_flow);
    tcase_add_loop_test(cases, each_kind_of_flow_learns_of_losses_and_ends_idle, 0, MANY_LAYERS);
    suite_add_tcase(suite, cases);
    return suite;
}
