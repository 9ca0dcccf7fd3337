/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long associations, and wide ones: what a packet costs does not grow with what came before it, and copies are compared
 * all the same.
 */
#include <check.h>
#include <stdlib.h>

#include "conformance/flow/decoder.h"
#include "conformance/flow/decoder_rooms.h"
#include "conformance/flow/sctp/flow_sctp_internal.h"
#include "tests/unit/sctp_talk.h"
#include "tests/unit/suites.h"

Suite *flow_sctp_many_suite(void);

static struct flow_decoder *feed_decoder;
static uint64_t feed_frames;

static void feed(void *ctx, const uint8_t *octets, size_t count)
{
    (void)ctx;
    feed_frames++;
    flow_decoder_frame(feed_decoder,
                       &(struct flow_frame){FLOW_LINK_RAW, feed_frames, feed_frames, octets, count, count});
}

static void feed_begin(struct sctp_talk *talk)
{
    feed_decoder = flow_decoder_create(NULL, NULL, NULL);
    ck_assert_ptr_nonnull(feed_decoder);
    feed_frames = 0;
    sctp_talk_begin(talk, false, feed, NULL);
    sctp_talk_open(talk, 1, 1);
}

static const struct flow_totals *feed_end(void)
{
    flow_decoder_finish(feed_decoder);
    ck_assert(flow_totals_balanced(flow_decoder_totals(feed_decoder)));
    return flow_decoder_totals(feed_decoder);
}

/* Thousands of chunks later: a copy of the first one with other contents. Loop: 0 nothing is acknowledged, 1 all is. */
START_TEST(old_copy_with_other_contents_is_reported)
{
    struct sctp_talk talk;
    uint32_t first;

    feed_begin(&talk);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    first = talk.tsn[0];
    for (unsigned i = 0; i < 5000; i++) {
        sctp_talk_send(&talk, 0, 1, 4);
        if (_i == 1 && i % 100 == 99)
            sctp_talk_sack(&talk, 1);
    }
    talk.tsn[0] = first;
    sctp_talk_send(&talk, 0, 1, 5);
    (void)feed_end();
    ck_assert_uint_eq(flow_decoder_totals(feed_decoder)->account.row[FLOW_ROW_CONFLICT].octets != 0, _i == 0);
    ck_assert_uint_eq(flow_decoder_totals(feed_decoder)->account.row[FLOW_ROW_AGAIN].octets != 0, _i == 1);
    flow_decoder_destroy(feed_decoder);
}
END_TEST

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Messages wait on many streams, for DDP-SSNs that do not come: a packet costs no more than on one stream. */
START_TEST(packet_costs_no_more_on_many_streams)
{
    enum { STREAMS = 16000, PACKETS = 40000, STEPS_A_PACKET = 64 };
    static const uint8_t segment[24] = {0, 5, 0x41, 0x43};
    struct sctp_talk talk;

    feed_begin(&talk);
    for (unsigned sid = 0; sid < STREAMS; sid++)
        sctp_talk_user(&talk, 0, (uint16_t)sid, DDP_SCTP_PPID_SEGMENT, segment, sizeof(segment));
    talk.tsn[0]++; /* a hole, so that nothing that waits is given up */
    for (unsigned i = 0; i < PACKETS - STREAMS; i++)
        sctp_talk_user(&talk, 0, (uint16_t)(i % STREAMS), DDP_SCTP_PPID_SEGMENT, segment, sizeof(segment));
    ck_assert_uint_lt(feed_decoder->sctp->steps, (uint64_t)PACKETS * STEPS_A_PACKET);
    (void)feed_end();
    flow_decoder_destroy(feed_decoder);
}
END_TEST

/* Holes that are given up again and again, with as many streams. */
START_TEST(holes_given_up_cost_no_more_on_many_streams)
{
    enum { STREAMS = 4000, PACKETS = 20000, STEPS_A_PACKET = 64 };
    static const uint8_t segment[24] = {0, 5, 0x41, 0x43};
    struct sctp_talk talk;

    feed_begin(&talk);
    for (unsigned i = 0; i < PACKETS; i++) {
        sctp_talk_user(&talk, 0, (uint16_t)(i % STREAMS), DDP_SCTP_PPID_SEGMENT, segment, sizeof(segment));
        talk.tsn[0]++;
        if (i % 8 == 7)
            sctp_talk_sack(&talk, 1);
    }
    ck_assert_uint_lt(feed_decoder->sctp->steps, (uint64_t)PACKETS * STEPS_A_PACKET);
    (void)feed_end();
    flow_decoder_destroy(feed_decoder);
}
END_TEST

/* One packet with thousands of chunks in the worst order. */
START_TEST(chunks_in_the_worst_order_stay_cheap)
{
    enum { CHUNKS = 150, PACKETS = 100, STEPS_A_CHUNK = 300 };
    static const uint8_t segment[4] = {0, 5, 0x41, 0x43};
    struct sctp_talk talk;
    uint32_t first;

    feed_begin(&talk);
    first = talk.tsn[0] + 1;
    talk.bundling = true;
    for (unsigned i = 0; i < PACKETS; i++) {
        for (unsigned n = 0; n < CHUNKS; n++) {
            talk.tsn[0] = first + i * CHUNKS + n * 7919 % CHUNKS;
            sctp_talk_user(&talk, 0, 1, DDP_SCTP_PPID_SEGMENT, segment, sizeof(segment));
        }
        sctp_talk_flush(&talk);
    }
    ck_assert_uint_lt(feed_decoder->sctp->steps, (uint64_t)PACKETS * CHUNKS * STEPS_A_CHUNK);
    (void)feed_end();
    flow_decoder_destroy(feed_decoder);
}
END_TEST

Suite *flow_sctp_many_suite(void)
{
    Suite *suite = suite_create("flow_sctp_many");
    TCase *tests = tcase_create("many");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, old_copy_with_other_contents_is_reported, 0, 2);
    tcase_add_test(tests, packet_costs_no_more_on_many_streams);
    tcase_add_test(tests, holes_given_up_cost_no_more_on_many_streams);
    tcase_add_test(tests, chunks_in_the_worst_order_stay_cheap);
    suite_add_tcase(suite, tests);
    return suite;
}
