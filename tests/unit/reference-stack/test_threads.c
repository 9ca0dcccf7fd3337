/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A context for each thread (iwarp/verbs.h), all at once. They share nothing but what atomics are for: memory that each
 * has registered, on which the operations of all streams of the process are atomic (RFC 7306 5). Runs under
 * ThreadSanitizer as well.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/verbs_talk.h"

Suite *threads_suite(void);

enum { THREADS = 4, ADDS = 100, SWAP_ROUNDS = 50 };

static uint64_t shared[2]; /* a counter, and a lock in its lowest bit */
static uint64_t guarded;   /* plain memory, changed by who holds the lock */

struct worker {
    pthread_t thread;
    uint64_t number;
    uint64_t seen[ADDS];
    uint64_t lost;
};

static uint64_t ask(struct verbs_talk *talk, struct iwarp_atomic *atomic)
{
    ck_assert_int_eq(iwarp_post_atomic(talk->qp[1], atomic, NULL), 0);
    verbs_talk_completions(talk, 1);
    ck_assert_int_eq(talk->completions[0].status, IWARP_STATUS_OK);
    talk->completion_count = talk->event_count = 0;
    return talk->completions[0].value;
}

/* Takes the lock by CmpSwap, changes what it guards, gives it back. */
static void guarded_rounds(struct verbs_talk *talk, uint32_t stag, struct worker *worker)
{
    struct iwarp_atomic take = {
        .operation = IWARP_ATOMIC_COMPARE_SWAP, .stag = stag, .data = 1, .mask = 1, .compare_mask = 1};
    struct iwarp_atomic give = {
        .operation = IWARP_ATOMIC_COMPARE_SWAP, .stag = stag, .mask = 1, .compare = 1, .compare_mask = 1};

    take.to = give.to = (uint64_t)(uintptr_t)&shared[1];
    for (int i = 0; i < SWAP_ROUNDS; i++) {
        uint64_t before;

        while (ask(talk, &take) & 1)
            worker->lost++;
        before = guarded;
        guarded = before + 1;
        ck_assert_uint_eq(ask(talk, &give) & 1, 1);
    }
}

static void *work(void *of)
{
    struct worker *worker = of;
    struct verbs_talk *talk = malloc(sizeof(*talk));
    struct iwarp_atomic add = {.operation = IWARP_ATOMIC_FETCH_ADD, .data = 1};
    uint8_t in[64], out[64];
    uint32_t stag;

    ck_assert_ptr_nonnull(talk);
    verbs_talk_begin(talk);
    ck_assert_int_eq(iwarp_register(talk->context, shared, sizeof(shared), IWARP_REMOTE_ATOMIC, &stag, NULL), 0);
    verbs_talk_open(talk);
    add.stag = stag;
    add.to = (uint64_t)(uintptr_t)shared;
    for (int i = 0; i < ADDS; i++)
        worker->seen[i] = ask(talk, &add);
    guarded_rounds(talk, stag, worker);
    for (uint8_t i = 0; i < 20; i++) {
        memset(out, (int)worker->number + i, sizeof(out));
        ck_assert_int_eq(iwarp_post_receive(talk->qp[0], 1, in, sizeof(in), NULL), 0);
        ck_assert_int_eq(
            iwarp_post_send(talk->qp[1], &(struct iwarp_send){.id = 2, .octets = out, .count = sizeof(out)}, NULL), 0);
        verbs_talk_completions(talk, 2);
        talk->completion_count = talk->event_count = 0;
        ck_assert_mem_eq(in, out, sizeof(in));
    }
    verbs_talk_end(talk);
    free(talk);
    return NULL;
}

START_TEST(contexts_at_once)
{
    static struct worker workers[THREADS];
    static uint8_t taken[THREADS * ADDS];

    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i].number = 10 * i;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    ck_assert_uint_eq(shared[0], THREADS * ADDS);
    ck_assert_uint_eq(shared[1], 0);
    ck_assert_uint_eq(guarded, THREADS * SWAP_ROUNDS);
    for (int i = 0; i < THREADS; i++) {
        for (int n = 0; n < ADDS; n++) {
            ck_assert_uint_lt(workers[i].seen[n], THREADS * ADDS);
            ck_assert_msg(taken[workers[i].seen[n]]++ == 0, "two adds found %llu",
                          (unsigned long long)workers[i].seen[n]);
        }
    }
}
END_TEST

Suite *threads_suite(void)
{
    Suite *suite = suite_create("threads");
    TCase *tcase = tcase_create("contexts of several threads");

    tcase_add_test(tcase, contexts_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
