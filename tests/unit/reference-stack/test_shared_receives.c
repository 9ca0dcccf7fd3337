/* SPDX-License-Identifier: BSD-2-Clause */
/* A shared receive queue below the verbs: which message takes a receive, and where one goes when the stream ends. */
#include <check.h>
#include <string.h>

#include "iwarp/verbs.h"
#include "reference-stack/core/srq.h"
#include "tests/unit/stream_pair.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"

Suite *shared_receives_suite(void);

enum { SHARED = 3, ROOM = 64 };

static struct iwarp_srq srq;
static uint8_t buffers[SHARED][ROOM];

static struct pair *opened(void)
{
    struct pair *pair = pair_new();
    struct iwarp_write nothing = {.id = 99};

    memset(&srq, 0, sizeof(srq));
    ring_init(&srq.receives, sizeof(struct srq_receive));
    pair->side[0].config.srq = &srq;
    pair_open(pair);
    for (uint64_t i = 0; i < SHARED; i++)
        ck_assert_int_eq(iwarp_srq_post(&srq, i, buffers[i], ROOM, NULL), 0);
    pair_run(pair);
    ck_assert_int_eq(iwarp_stream_post_write(pair->side[1].stream, &nothing, NULL), 0);
    pair_run(pair);
    return pair;
}

static void closed(struct pair *pair)
{
    pair_free(pair);
    ring_free(&srq.receives);
}

/* A segment of a Send of eight octets. */
static void feed(struct pair *pair, uint32_t msn, uint32_t mo, bool last)
{
    struct ddp_segment segment = {
        .last = last, .version = DDP_VERSION, .control = rdmap_control(IWARP_RDMAP_SEND), .msn = msn, .mo = mo};
    uint8_t ulpdu[DDP_UNTAGGED_OCTETS + 4] = {0};
    size_t header = ddp_pack_header(&segment, ulpdu);

    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): octets, no string */
    memcpy(ulpdu + header, "data", 4);
    pair_feed_ulpdu(pair, 0, ulpdu, header + 4);
}

/* A receive is taken when a message begins, once; own receives go first. */
START_TEST(taken_by_messages)
{
    struct pair *pair = opened();
    uint8_t own[ROOM];

    ck_assert_int_eq(iwarp_stream_post_receive(pair->side[0].stream, 77, own, ROOM, NULL), 0);
    feed(pair, 1, 0, true);
    ck_assert_uint_eq(iwarp_srq_count(&srq), SHARED);
    ck_assert_uint_eq(pair_event(pair, 0, IWARP_EVENT_RECEIVE, 0)->id, 77);
    feed(pair, 2, 0, false);
    ck_assert_uint_eq(iwarp_srq_count(&srq), SHARED - 1);
    feed(pair, 2, 4, true);
    ck_assert_uint_eq(iwarp_srq_count(&srq), SHARED - 1);
    ck_assert_uint_eq(pair_event(pair, 0, IWARP_EVENT_RECEIVE, 1)->id, 0);
    ck_assert_uint_eq(pair_event(pair, 0, IWARP_EVENT_RECEIVE, 1)->octets, 8);
    ck_assert_int_eq(memcmp(buffers[0], "datadata", 8), 0);
    closed(pair);
}
END_TEST

/* A message that is not due takes none: it ends its own stream, and the receives are there for the others. */
START_TEST(not_taken_out_of_turn)
{
    struct pair *pair = opened();

    feed(pair, 5, 0, true);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_ERROR), 1);
    ck_assert_uint_eq(pair_event(pair, 0, IWARP_EVENT_ERROR, 0)->triple, TERM_DDP_MSN_RANGE);
    ck_assert_uint_eq(iwarp_srq_count(&srq), SHARED);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_FLUSHED), 0);
    closed(pair);
}
END_TEST

/* What a message has taken and not filled is flushed with its stream, once; the rest stays. */
START_TEST(flushed_with_the_stream)
{
    struct pair *pair = opened();

    feed(pair, 1, 0, false);
    iwarp_stream_input_reset(pair->side[0].stream, 1);
    pair_gather(pair, 0);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_FLUSHED), 1);
    ck_assert_uint_eq(pair_event(pair, 0, IWARP_EVENT_FLUSHED, 0)->id, 0);
    ck_assert_int_eq(pair_event(pair, 0, IWARP_EVENT_FLUSHED, 0)->flushed, IWARP_WORK_RECEIVE);
    ck_assert_uint_eq(iwarp_srq_count(&srq), SHARED - 1);
    closed(pair);
}
END_TEST

/* Early octets do not take any: which message gets which receive shows in order (RFC 5041 8.3.2). */
START_TEST(not_taken_early)
{
    struct pair *pair = opened();
    struct iwarp_send send = {.octets = (const uint8_t *)"early", .count = 5};
    struct iwarp_output output;
    uint8_t octets[256];
    size_t count = 0;

    ck_assert_int_eq(iwarp_stream_post_send(pair->side[1].stream, &send, NULL), 0);
    (void)iwarp_stream_output(pair->side[1].stream, &output);
    for (size_t i = 0; i < output.span_count; count += output.spans[i++].count)
        memcpy(octets + count, output.spans[i].octets, output.spans[i].count);
    iwarp_stream_input_early(pair->side[0].stream, 40, octets, count, true, 1);
    ck_assert_uint_eq(iwarp_srq_count(&srq), SHARED);
    ck_assert_uint_eq(iwarp_stream_counters(pair->side[0].stream)->segments_early, 0);
    pair_feed(pair, 0, octets, count);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_RECEIVE), 1);
    closed(pair);
}
END_TEST

START_TEST(bad_shared_receive_is_refused)
{
    struct pair *pair = opened();
    struct iwarp_sentence sentence = {""};

    ck_assert_int_eq(iwarp_srq_post(&srq, 1, NULL, 8, &sentence), -1);
    ck_assert_ptr_nonnull(strstr(sentence.text, "without a buffer"));
    ck_assert_uint_eq(iwarp_srq_count(&srq), SHARED);
    ck_assert_int_eq(iwarp_srq_post(&srq, 1, NULL, 0, &sentence), 0);
    closed(pair);
}
END_TEST

Suite *shared_receives_suite(void)
{
    Suite *suite = suite_create("shared_receives");
    TCase *tcase = tcase_create("streams");

    tcase_add_test(tcase, taken_by_messages);
    tcase_add_test(tcase, not_taken_out_of_turn);
    tcase_add_test(tcase, flushed_with_the_stream);
    tcase_add_test(tcase, not_taken_early);
    tcase_add_test(tcase, bad_shared_receive_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
