/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order messages are reported: those of one sender by TSNs, and what answers them after them. */
#include <check.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "tests/unit/sctp_log.h"
#include "tests/unit/suites.h"

Suite *flow_sctp_order_suite(void);

/* What of the association's second side was reported while its stream was in doubt. */
static size_t doubted;

static void note(void *ctx, const struct flow_event *event)
{
    for (const struct flow_event *one = event; one != NULL; one = one->next)
        if (one->kind == FLOW_ULPDU && one->direction == 1)
            doubted += one->flow->unordered;
    sctp_log_note(ctx, event);
}

/* The frames kept, in this order (NULL: as they were kept), a millisecond apart; the log is that of before the end. */
static void decode(const size_t *order, size_t count)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, note, NULL);
    static char before[LOG];

    sctp_log.log[0] = '\0';
    doubted = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = order != NULL ? order[i] : i;

        flow_decoder_frame(decoder, &(struct flow_frame){FLOW_LINK_RAW, i * 1000000, i + 1, sctp_log.octets[n],
                                                         sctp_log.count[n], sctp_log.count[n]});
    }
    memcpy(before, sctp_log.log, sizeof(before));
    flow_decoder_destroy(decoder);
    memcpy(sctp_log.log, before, sizeof(before));
}

static void open_two(struct sctp_talk *talk)
{
    sctp_log_begin(talk, false);
    sctp_talk_open(talk, 1, 1);
    for (uint16_t sid = 1; sid <= 2; sid++) {
        sctp_talk_control(talk, 0, sid, DDP_SCTP_INITIATE, "");
        sctp_talk_control(talk, 1, sid, DDP_SCTP_ACCEPT, "");
    }
}

/*
 * A chunk of SID 2 is captured late, and with it the TSN before that of a message of SID 1: the receiver had no need to
 * wait with its answer there (RFC 5043 10).
 */
START_TEST(an_answer_comes_after_what_it_answers)
{
    static const size_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11};
    struct sctp_talk talk;

    open_two(&talk);
    sctp_talk_send(&talk, 0, 2, 5);  /* frame 8 */
    sctp_talk_send(&talk, 0, 1, 20); /* 9 */
    sctp_talk_send(&talk, 1, 1, 30); /* 10 */
    sctp_talk_sack(&talk, 1);
    ck_assert_uint_eq(sctp_log.frames, sizeof(order) / sizeof(order[0]));
    decode(order, sctp_log.frames);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 " SEND(1, 5) "0 " SEND(1, 20) "1 " SEND(1, 30)));
    ck_assert_uint_eq(doubted, 0);
}
END_TEST

/* The other stream has nothing to wait for. */
START_TEST(a_stream_does_not_wait_for_another_ones_chunk)
{
    static const size_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10};
    struct sctp_talk talk;

    open_two(&talk);
    sctp_talk_send(&talk, 0, 2, 5);
    sctp_talk_send(&talk, 0, 2, 20);
    sctp_talk_send(&talk, 1, 1, 30);
    decode(order, sizeof(order) / sizeof(order[0]));
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "1 " SEND(1, 30)));
    ck_assert_ptr_null(strstr(sctp_log.log, SEND(2, 20)));
}
END_TEST

/* A second Initiate begins another session, or is one too many: nobody knows, and what the other side says is no breach. */
START_TEST(after_a_second_initiate_an_answer_is_in_doubt)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    sctp_talk_send(&talk, 0, 1, 20);
    sctp_talk_send(&talk, 1, 1, 30);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
    decode(NULL, sctp_log.frames);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "1 " SEND(1, 30)));
    ck_assert_uint_eq(doubted, 1);
}
END_TEST

/* Behind a chunk that nobody acknowledged 128 may wait, and no more: then it is lost. */
START_TEST(behind_a_loss_128_messages_wait)
{
    enum { WAITING = 128, BEFORE = 6 };
    size_t order[BEFORE + WAITING];
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    for (int i = 0; i <= WAITING; i++)
        sctp_talk_send(&talk, 0, 1, 9);
    for (size_t i = 0; i < BEFORE + WAITING; i++)
        order[i] = i < BEFORE ? i : i + 1; /* without the first Send */
    decode(order, BEFORE + WAITING - 1);
    ck_assert_ptr_null(strstr(sctp_log.log, "Send"));
    decode(order, BEFORE + WAITING);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 DDP-SSN 1 missing\n0 " SEND(2, 9)));
    ck_assert_ptr_nonnull(strstr(sctp_log.log, SEND(129, 9)));
}
END_TEST

Suite *flow_sctp_order_suite(void)
{
    Suite *suite = suite_create("flow_sctp_order");
    TCase *tcase = tcase_create("order");

    tcase_add_test(tcase, an_answer_comes_after_what_it_answers);
    tcase_add_test(tcase, a_stream_does_not_wait_for_another_ones_chunk);
    tcase_add_test(tcase, after_a_second_initiate_an_answer_is_in_doubt);
    tcase_add_test(tcase, behind_a_loss_128_messages_wait);
    suite_add_tcase(suite, tcase);
    return suite;
}
