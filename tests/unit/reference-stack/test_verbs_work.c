/* SPDX-License-Identifier: BSD-2-Clause */
/* The API for programs (iwarp/verbs.h): work of every kind, completions, notification, shared receives. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/verbs_talk.h"
#include "wire/rdmap.h"

Suite *verbs_work_suite(void);

enum { REGION = 4096, LARGE = 8 << 20 };

static struct verbs_talk talk;
static uint64_t memory[2][REGION / 8]; /* aligned, as atomics ask */
static uint32_t stag[2];

static uint8_t *octets_of(int side)
{
    return (uint8_t *)memory[side];
}

static uint64_t address_of(int side)
{
    return (uint64_t)(uintptr_t)memory[side];
}

static void opened(void)
{
    verbs_talk_begin(&talk);
    for (int i = 0; i < 2; i++) {
        memset(memory[i], 0, REGION);
        ck_assert_int_eq(iwarp_register(talk.context, memory[i], REGION, 31, &stag[i], &talk.why), 0);
    }
    verbs_talk_open(&talk);
}

/* As the responder may not send before it has received an FPDU (RFC 5044 7.1.2). */
static void unfenced(void)
{
    ck_assert_int_eq(
        iwarp_post_write(talk.qp[1], &(struct iwarp_write){.id = 9999, .stag = stag[0], .to = address_of(0)}, NULL), 0);
    while (talk.completion_count == 0 || iwarp_stream_state(iwarp_qp_stream(talk.qp[0])) != IWARP_STATE_OPERATION)
        verbs_talk_turn(&talk, 100);
    talk.completion_count = 0;
}

/* RFC 5040 5.1, 5.2: the four Sends tell the receiver what they are. */
START_TEST(four_sends_report_their_kind)
{
    static const struct {
        bool solicited, invalidate;
        uint8_t opcode;
    } kinds[] = {{false, false, IWARP_RDMAP_SEND},
                 {true, false, IWARP_RDMAP_SEND_SE},
                 {false, true, IWARP_RDMAP_SEND_INVALIDATE},
                 {true, true, IWARP_RDMAP_SEND_SE_INVALIDATE}};
    uint8_t in[4][8];

    opened();
    for (uint64_t i = 0; i < 4; i++) {
        struct iwarp_region own = {.length = 8, .access = IWARP_REMOTE_READ};
        struct iwarp_send send = {.id = 100 + i, .octets = (const uint8_t *)&"abcdefgh"[i], .count = 5};

        own.stream = iwarp_stream_number(iwarp_qp_stream(talk.qp[0]));
        ck_assert_int_eq(iwarp_region_register(iwarp_context_device(talk.context), &own, &talk.why), 0);
        send.solicited = kinds[i].solicited;
        send.invalidate = kinds[i].invalidate;
        send.stag = own.stag;
        ck_assert_int_eq(iwarp_post_receive(talk.qp[0], i, in[i], 8, NULL), 0);
        ck_assert_int_eq(iwarp_post_send(talk.qp[1], &send, NULL), 0);
    }
    verbs_talk_completions(&talk, 8);
    for (uint64_t i = 0; i < 4; i++) {
        const struct iwarp_completion *received = verbs_talk_completion(&talk, i);
        const struct iwarp_completion *sent = verbs_talk_completion(&talk, 100 + i);

        ck_assert_int_eq(received->status, IWARP_STATUS_OK);
        ck_assert_int_eq(received->work, IWARP_WORK_RECEIVE);
        ck_assert_ptr_eq(received->qp, talk.qp[0]);
        ck_assert_ptr_eq(received->buffer, in[i]);
        ck_assert_uint_eq(received->octets, 5);
        ck_assert_mem_eq(in[i], &"abcdefgh"[i], 5);
        ck_assert_uint_eq(received->opcode, kinds[i].opcode);
        ck_assert_int_eq(received->solicited, kinds[i].solicited);
        ck_assert_int_eq(received->invalidated, kinds[i].invalidate);
        if (kinds[i].invalidate)
            ck_assert(!iwarp_region_find(iwarp_context_device(talk.context), received->stag)->valid);
        ck_assert_int_eq(sent->work, IWARP_WORK_SEND);
        ck_assert_int_eq(sent->status, IWARP_STATUS_OK);
        ck_assert_ptr_eq(sent->qp, talk.qp[1]);
    }
    verbs_talk_end(&talk);
}
END_TEST

/* A Write, a Read of it, three atomics and Immediate Data: completed in the order of posting, each with its effect. */
START_TEST(one_sided_work_completes_in_order)
{
    static const enum iwarp_work order[] = {IWARP_WORK_WRITE,  IWARP_WORK_READ,   IWARP_WORK_ATOMIC,
                                            IWARP_WORK_ATOMIC, IWARP_WORK_ATOMIC, IWARP_WORK_IMMEDIATE};
    const struct iwarp_write write = {.id = 0, .octets = (const uint8_t *)"written", .count = 8, .stag = 0, .to = 0};
    struct iwarp_write placed = write;
    uint8_t in[8];
    size_t next = 0;

    opened();
    placed.stag = stag[0];
    placed.to = address_of(0) + 64;
    memory[0][0] = 40;
    ck_assert_int_eq(iwarp_post_receive(talk.qp[0], 50, in, 8, NULL), 0);
    ck_assert_int_eq(iwarp_post_write(talk.qp[1], &placed, NULL), 0);
    ck_assert_int_eq(iwarp_post_read(talk.qp[1],
                                     &(struct iwarp_read){.id = 1,
                                                          .sink_stag = stag[1],
                                                          .sink_to = address_of(1),
                                                          .source_stag = stag[0],
                                                          .source_to = address_of(0) + 64,
                                                          .count = 8},
                                     NULL),
                     0);
    for (uint64_t i = 0; i < 3; i++) {
        struct iwarp_atomic atomic = {.id = 2 + i, .operation = IWARP_ATOMIC_FETCH_ADD, .stag = stag[0], .data = 2};

        atomic.to = address_of(0);
        if (i == 2) {
            atomic.operation = IWARP_ATOMIC_COMPARE_SWAP;
            atomic.compare = 44;
            atomic.data = 7;
            atomic.mask = atomic.compare_mask = UINT64_MAX;
        }
        ck_assert_int_eq(iwarp_post_atomic(talk.qp[1], &atomic, NULL), 0);
    }
    ck_assert_int_eq(iwarp_post_immediate(
                         talk.qp[1], &(struct iwarp_immediate){.id = 5, .octets = "octets!", .solicited = true}, NULL),
                     0);
    verbs_talk_completions(&talk, 7);
    for (size_t i = 0; i < talk.completion_count; i++) {
        if (talk.completions[i].qp != talk.qp[1])
            continue;
        ck_assert_uint_eq(talk.completions[i].id, next);
        ck_assert_int_eq(talk.completions[i].work, order[next++]);
    }
    ck_assert_uint_eq(next, 6);
    ck_assert_str_eq((const char *)octets_of(0) + 64, "written");
    ck_assert_str_eq((const char *)octets_of(1), "written");
    for (uint64_t i = 0; i < 3; i++)
        ck_assert_uint_eq(verbs_talk_completion(&talk, 2 + i)->value, 40 + 2 * i);
    ck_assert_uint_eq(memory[0][0], 7);
    ck_assert_uint_eq(verbs_talk_completion(&talk, 50)->opcode, IWARP_RDMAP_IMMEDIATE_SE);
    ck_assert_str_eq((const char *)in, "octets!");
    verbs_talk_end(&talk);
}
END_TEST

/* More than any socket takes at once, both ways at once, with Markers and without: every octet is in its place. */
START_TEST(large_transfers_are_exact_both_ways)
{
    uint8_t *out = malloc(LARGE), *in[2];
    uint32_t sink[2];

    ck_assert_ptr_nonnull(out);
    for (size_t i = 0; i < LARGE; i++)
        out[i] = (uint8_t)(i * 31 + (i >> 11));
    verbs_talk_begin(&talk);
    for (int i = 0; i < 2; i++) {
        talk.options[i].stream.markers = _i != 0;
        in[i] = calloc(1, LARGE);
        ck_assert_ptr_nonnull(in[i]);
        ck_assert_int_eq(iwarp_register(talk.context, in[i], LARGE, IWARP_REMOTE_WRITE, &sink[i], &talk.why), 0);
    }
    verbs_talk_open(&talk);
    for (int i = 0; i < 2; i++) {
        struct iwarp_write write = {.id = (uint64_t)i, .octets = out, .count = LARGE, .stag = sink[1 - i]};

        write.to = (uint64_t)(uintptr_t)in[1 - i];
        ck_assert_int_eq(iwarp_post_receive(talk.qp[i], 10, NULL, 0, NULL), 0);
        ck_assert_int_eq(iwarp_post_write(talk.qp[i], &write, NULL), 0);
        ck_assert_int_eq(iwarp_post_send(talk.qp[i], &(struct iwarp_send){.id = 20}, NULL), 0);
    }
    verbs_talk_completions(&talk, 6);
    for (int i = 0; i < 2; i++) {
        ck_assert(memcmp(in[i], out, LARGE) == 0);
        free(in[i]);
    }
    free(out);
    verbs_talk_end(&talk);
}
END_TEST

/* iwarp_poll_cq() gives no more than asked for; a completion goes to the queue of its way. */
START_TEST(queues_of_each_way)
{
    struct iwarp_completion taken[3];
    struct iwarp_cq *receives;

    verbs_talk_begin(&talk);
    receives = iwarp_cq_new(talk.context);
    talk.options[0].receive_cq = receives;
    verbs_talk_open(&talk);
    for (uint64_t i = 0; i < 3; i++) {
        ck_assert_int_eq(iwarp_post_receive(talk.qp[0], i, NULL, 0, NULL), 0);
        ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = 10 + i}, NULL), 0);
    }
    verbs_talk_completions(&talk, 3);
    while (iwarp_stream_counters(iwarp_qp_stream(talk.qp[0]))->fpdus_received != 3)
        verbs_talk_turn(&talk, 0);
    ck_assert_int_eq(iwarp_context_run(talk.context, -1, NULL), 1);
    ck_assert_uint_eq(iwarp_poll_cq(receives, taken, 2), 2);
    ck_assert_uint_eq(taken[0].id, 0);
    ck_assert_uint_eq(taken[1].id, 1);
    ck_assert_uint_eq(iwarp_poll_cq(receives, taken, 3), 1);
    ck_assert_uint_eq(taken[0].id, 2);
    ck_assert_uint_eq(iwarp_poll_cq(receives, taken, 3), 0);
    verbs_talk_end(&talk);
}
END_TEST

static size_t notices(const struct iwarp_cq *cq)
{
    size_t count = 0;

    for (size_t i = 0; i < talk.event_count; i++)
        count += talk.events[i].kind == IWARP_QP_COMPLETION && talk.events[i].cq == cq;
    return count;
}

static void send_one(uint64_t id, bool solicited)
{
    ck_assert_int_eq(iwarp_post_receive(talk.qp[0], id, NULL, 0, NULL), 0);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = id + 1, .solicited = solicited}, NULL), 0);
    verbs_talk_completions(&talk, talk.completion_count + 2);
}

/* RFC 5040 5.3, 8.2: one notice for each arming; by Solicited Events alone where that was asked. */
START_TEST(armed_queue_gives_one_notice)
{
    struct iwarp_cq *cq;

    verbs_talk_begin(&talk);
    cq = talk.cq;
    verbs_talk_open(&talk);
    send_one(10, true);
    ck_assert_uint_eq(notices(cq), 0);
    iwarp_cq_arm(cq, false);
    send_one(20, false);
    ck_assert_uint_eq(notices(cq), 1);
    iwarp_cq_arm(cq, true);
    send_one(30, false);
    ck_assert_uint_eq(notices(cq), 1);
    send_one(40, true);
    ck_assert_uint_eq(notices(cq), 2);
    send_one(50, true);
    ck_assert_uint_eq(notices(cq), 2);
    iwarp_cq_arm(cq, false);
    iwarp_cq_arm(cq, true); /* the stronger request stays */
    send_one(60, false);
    ck_assert_uint_eq(notices(cq), 3);
    iwarp_cq_arm(cq, true);
    ck_assert_int_eq(iwarp_post_receive(talk.qp[0], 70, NULL, 0, NULL), 0);
    iwarp_disconnect(talk.qp[1]);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    ck_assert_int_eq(verbs_talk_completion(&talk, 70)->status, IWARP_STATUS_FLUSHED);
    ck_assert_uint_eq(notices(cq), 4);
    verbs_talk_end(&talk);
}
END_TEST

/* RFC 5040 5.5, RFC 5041 6.2.1: when the stream ends, each posted work is completed once, in order, as flushed. */
START_TEST(posted_work_is_flushed_once_in_order)
{
    static const enum iwarp_work kinds[] = {IWARP_WORK_SEND, IWARP_WORK_READ, IWARP_WORK_ATOMIC, IWARP_WORK_IMMEDIATE,
                                            IWARP_WORK_WRITE};
    size_t next = 0;

    opened();
    ck_assert_int_eq(iwarp_post_send(talk.qp[0], &(struct iwarp_send){.id = 0}, NULL), 0);
    ck_assert_int_eq(iwarp_post_read(talk.qp[0], &(struct iwarp_read){.id = 1, .source_stag = stag[1]}, NULL), 0);
    ck_assert_int_eq(
        iwarp_post_atomic(talk.qp[0], &(struct iwarp_atomic){.id = 2, .operation = IWARP_ATOMIC_FETCH_ADD}, NULL), 0);
    ck_assert_int_eq(iwarp_post_immediate(talk.qp[0], &(struct iwarp_immediate){.id = 3}, NULL), 0);
    ck_assert_int_eq(iwarp_post_write(talk.qp[0], &(struct iwarp_write){.id = 4}, NULL), 0);
    ck_assert_int_eq(iwarp_post_receive(talk.qp[0], 100, NULL, 0, NULL), 0);
    verbs_talk_turn(&talk, 20); /* fenced: nothing goes out */
    ck_assert_uint_eq(talk.completion_count, 0);
    iwarp_qp_free(talk.qp[1]);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    verbs_talk_completions(&talk, 6);
    for (size_t i = 0; i < talk.completion_count; i++) {
        ck_assert_int_eq(talk.completions[i].status, IWARP_STATUS_FLUSHED);
        if (talk.completions[i].id == 100)
            continue;
        ck_assert_uint_eq(talk.completions[i].id, next);
        ck_assert_int_eq(talk.completions[i].work, kinds[next++]);
    }
    ck_assert_uint_eq(next, 5);
    verbs_talk_end(&talk);
}
END_TEST

/* Two connections take their receives from one queue; it stays usable until the last of them is gone. */
START_TEST(shared_receives_serve_two_connections)
{
    struct iwarp_qp *clients[2];
    struct iwarp_srq *srq;
    uint8_t in[4][8];

    verbs_talk_begin(&talk);
    srq = talk.options[0].srq = iwarp_srq_new(talk.context);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_int_eq(iwarp_srq_post(srq, i, in[i], 8, &talk.why), 0);
    ck_assert_uint_eq(iwarp_srq_count(srq), 4);
    for (size_t i = 0; i < 2; i++) {
        verbs_talk_open(&talk);
        clients[i] = talk.qp[1];
    }
    for (uint64_t i = 0; i < 2; i++) {
        ck_assert_int_eq(
            iwarp_post_send(clients[i],
                            &(struct iwarp_send){.id = 10 + i, .octets = (const uint8_t *)&"AB"[i], .count = 1}, NULL),
            0);
        verbs_talk_completions(&talk, 2 * (i + 1));
        ck_assert_uint_eq(in[i][0], "AB"[i]);
        ck_assert_int_eq(verbs_talk_completion(&talk, i)->work, IWARP_WORK_RECEIVE);
        ck_assert_ptr_eq(verbs_talk_completion(&talk, i)->buffer, in[i]);
    }
    ck_assert_ptr_ne(verbs_talk_completion(&talk, 0)->qp, verbs_talk_completion(&talk, 1)->qp);
    ck_assert_uint_eq(iwarp_srq_count(srq), 2);
    iwarp_srq_free(srq); /* in use: those that use it find nothing in it */
    ck_assert_int_eq(iwarp_post_send(clients[0], &(struct iwarp_send){.id = 20}, NULL), 0);
    (void)verbs_talk_await(&talk, clients[0], IWARP_QP_TERMINATED);
    ck_assert_int_eq(iwarp_stream_state(iwarp_qp_stream(clients[1])), IWARP_STATE_OPERATION);
    verbs_talk_end(&talk);
}
END_TEST

/* A completion queue that goes before its queue pair takes what was in it along, and breaks nothing. */
START_TEST(completion_queue_may_go_first)
{
    struct iwarp_cq *receives;

    verbs_talk_begin(&talk);
    receives = iwarp_cq_new(talk.context);
    talk.options[0].receive_cq = receives;
    verbs_talk_open(&talk);
    iwarp_cq_arm(receives, false);
    for (uint64_t i = 0; i < 2; i++)
        ck_assert_int_eq(iwarp_post_receive(talk.qp[0], i, NULL, 0, NULL), 0);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = 10}, NULL), 0);
    while (iwarp_stream_counters(iwarp_qp_stream(talk.qp[0]))->fpdus_received != 1)
        ck_assert_int_ge(iwarp_context_run(talk.context, 0, NULL), 0);
    iwarp_cq_free(receives);
    verbs_talk_completions(&talk, 1);
    ck_assert_uint_eq(notices(receives), 0);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = 11}, NULL), 0);
    verbs_talk_completions(&talk, 2);
    iwarp_listener_free(talk.listener);
    iwarp_qp_free(talk.qp[0]);
    (void)verbs_talk_await(&talk, talk.qp[1], IWARP_QP_CLOSED);
    verbs_talk_end(&talk);
}
END_TEST

/* A queue pair that goes takes its completions and events along; those of others stay, in order. */
START_TEST(queue_pair_gone)
{
    struct iwarp_qp *first[2];
    struct iwarp_completion completion;
    struct iwarp_qp_event event;

    opened();
    memcpy(first, talk.qp, sizeof(first));
    verbs_talk_open(&talk);
    for (int i = 0; i < 2; i++) {
        struct iwarp_qp *qp = i == 0 ? first[1] : talk.qp[1];

        for (uint64_t n = 0; n < 3; n++)
            ck_assert_int_eq(
                iwarp_post_write(
                    qp, &(struct iwarp_write){.id = (uint64_t)(10 * i) + n, .stag = stag[0], .to = address_of(0)},
                    NULL),
                0);
    }
    ck_assert_int_eq(iwarp_context_run(talk.context, 0, NULL), 1);
    iwarp_disconnect(first[1]);
    iwarp_qp_free(first[1]);
    for (uint64_t n = 0; n < 3; n++) {
        ck_assert_uint_eq(iwarp_poll_cq(talk.cq, &completion, 1), 1);
        ck_assert_ptr_eq(completion.qp, talk.qp[1]);
        ck_assert_uint_eq(completion.id, 10 + n);
    }
    ck_assert_uint_eq(iwarp_poll_cq(talk.cq, &completion, 1), 0);
    (void)verbs_talk_await(&talk, first[0], IWARP_QP_CLOSED);
    /* Events that nobody took go with their queue pair too. */
    iwarp_disconnect(talk.qp[1]);
    for (int turns = 0; turns < 2000 && iwarp_qp_stream(talk.qp[0]) != NULL; turns++)
        ck_assert_int_ge(iwarp_context_run(talk.context, 1, NULL), 0);
    ck_assert_ptr_null(iwarp_qp_stream(talk.qp[0]));
    iwarp_qp_free(talk.qp[0]);
    while (iwarp_next_event(talk.context, &event))
        ck_assert_ptr_eq(event.qp, talk.qp[1]);
    verbs_talk_end(&talk);
}
END_TEST

/* Ping-pong: answers that are there before the loop is asked, and two contexts that take turns. */
START_TEST(answers_arrive_between_two_contexts)
{
    struct verbs_talk *far = &(struct verbs_talk){0};
    struct iwarp_completion completion;
    uint64_t rounds = 0;

    verbs_talk_begin(&talk);
    verbs_talk_begin(far);
    talk.options[1].user = &rounds;
    far->listener = iwarp_listen(far->context, "127.0.0.1", 0, &far->options[0], &far->why);
    ck_assert_ptr_nonnull(far->listener);
    talk.qp[1] = iwarp_connect(talk.context, "127.0.0.1", iwarp_listener_port(far->listener), &talk.options[1], NULL);
    while (verbs_talk_event(&talk, talk.qp[1], IWARP_QP_ESTABLISHED) == NULL) {
        verbs_talk_turn(&talk, 1);
        verbs_talk_turn(far, 1);
    }
    verbs_talk_turn(far, 1);
    ck_assert_ptr_nonnull(far->qp[0]);
    for (uint64_t i = 0; i < 200; i++) {
        struct verbs_talk *sides[2] = {far, &talk};
        struct iwarp_qp *qps[2] = {far->qp[0], talk.qp[1]};

        for (int from = 1; from >= 0; from--) {
            struct verbs_talk *to = sides[1 - from];
            bool received = false;

            ck_assert_int_eq(iwarp_post_receive(qps[1 - from], i, NULL, 0, NULL), 0);
            ck_assert_int_eq(iwarp_post_send(qps[from], &(struct iwarp_send){.id = i}, NULL), 0);
            while (!received) {
                ck_assert_int_ge(iwarp_context_run(sides[from]->context, 0, NULL), 0);
                ck_assert_int_ge(iwarp_context_run(to->context, 10, NULL), 0);
                while (iwarp_poll_cq(to->cq, &completion, 1) != 0)
                    received |= completion.work == IWARP_WORK_RECEIVE && completion.id == i;
                while (iwarp_poll_cq(sides[from]->cq, &completion, 1) != 0)
                    ck_assert_int_eq(completion.work, IWARP_WORK_SEND);
            }
            rounds++;
        }
    }
    ck_assert_uint_eq(rounds, 400);
    verbs_talk_end(far);
    verbs_talk_end(&talk);
}
END_TEST

/* The responder's turn: what it sends once it may. */
START_TEST(responder_sends_once_it_may)
{
    uint8_t in[8];

    opened();
    unfenced();
    ck_assert_int_eq(iwarp_post_receive(talk.qp[1], 1, in, 8, NULL), 0);
    ck_assert_int_eq(
        iwarp_post_send(talk.qp[0], &(struct iwarp_send){.id = 2, .octets = (const uint8_t *)"hi", .count = 3}, NULL),
        0);
    verbs_talk_completions(&talk, 2);
    ck_assert_str_eq((const char *)in, "hi");
    verbs_talk_end(&talk);
}
END_TEST

Suite *verbs_work_suite(void)
{
    Suite *suite = suite_create("verbs_work");
    TCase *tcase = tcase_create("work and completions");

    tcase_add_test(tcase, four_sends_report_their_kind);
    tcase_add_test(tcase, one_sided_work_completes_in_order);
    tcase_add_loop_test(tcase, large_transfers_are_exact_both_ways, 0, 2);
    tcase_add_test(tcase, queues_of_each_way);
    tcase_add_test(tcase, armed_queue_gives_one_notice);
    tcase_add_test(tcase, posted_work_is_flushed_once_in_order);
    tcase_add_test(tcase, shared_receives_serve_two_connections);
    tcase_add_test(tcase, completion_queue_may_go_first);
    tcase_add_test(tcase, queue_pair_gone);
    tcase_add_test(tcase, answers_arrive_between_two_contexts);
    tcase_add_test(tcase, responder_sends_once_it_may);
    suite_add_tcase(suite, tcase);
    return suite;
}
