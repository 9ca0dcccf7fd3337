/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CM agents whose memory runs out: each allocation of a conversation fails in turn, alone or with all after it. Nothing
 * leaks, the agents stop sending, and what is reported is true. The sanitised runner has an allocator of its own: there
 * this is left out.
 */
#include <check.h>
#include <string.h>

#include "reference-stack/cm/cm_agent.h"
#include "tests/unit/short_memory.h"
#include "tests/unit/suites.h"

Suite *cm_memory_suite(void);

#if OWN_ALLOCATOR

enum { CONNECTIONS = 20, PORT = 7, STEPS = 4000 };

struct reported {
    unsigned established[2], ended;
    bool finished;
};

static const struct cm_place places[2] = {{.family = 4, .address = {10, 0, 0, 1}},
                                          {.family = 4, .address = {10, 0, 0, 2}}};

/* Gives each side what the other one sends, until neither sends more. No assertion here: Check allocates. */
static void talk(struct cm_agent *agent[2], struct reported *reported)
{
    uint64_t now = 1;

    for (unsigned step = 0; step < STEPS; step++) {
        struct cm_output output;
        struct cm_event event;
        bool moved = false;

        for (unsigned i = 0; i < 2; i++) {
            while (cm_agent_output(agent[i], &output)) {
                cm_agent_input(agent[1 - i], &places[i], output.mad, MAD_OCTETS, now);
                moved = true;
            }
            while (cm_agent_poll(agent[i], &event)) {
                moved = true;
                reported->established[i] += event.kind == CM_EVENT_ESTABLISHED;
                reported->ended += event.kind == CM_EVENT_TIMEOUT || event.kind == CM_EVENT_REJECTED;
                if (i == 0 && event.kind == CM_EVENT_REQUEST)
                    (void)cm_agent_accept(agent[0], event.id, NULL, 0, now, NULL);
                if (i == 1 && event.kind == CM_EVENT_ESTABLISHED)
                    (void)cm_agent_disconnect(agent[1], event.id, now, NULL);
            }
        }
        if (moved)
            continue;
        now = cm_agent_deadline(agent[0]) < cm_agent_deadline(agent[1]) ? cm_agent_deadline(agent[0])
                                                                        : cm_agent_deadline(agent[1]);
        if (now == UINT64_MAX) {
            reported->finished = true;
            return;
        }
        cm_agent_tick(agent[0], now);
        cm_agent_tick(agent[1], now);
    }
}

/* Returns how many connections were begun; -1: the agents were not even there. */
static int converse(struct reported *reported)
{
    struct cm_listener listener = {.protocol = 6, .port = PORT, .answer = CM_ANSWER_ASK};
    struct cm_agent_config config;
    struct cm_agent *agent[2];
    int begun = -1;

    memset(reported, 0, sizeof(*reported));
    cm_agent_config_default(&config);
    config.check_destination = false;
    agent[0] = cm_agent_new(&config, NULL);
    config.seed++;
    agent[1] = cm_agent_new(&config, NULL);
    if (agent[0] != NULL && agent[1] != NULL && cm_agent_listen(agent[0], &listener, NULL) == 0) {
        struct cm_connect connect = {
            .to = places[0],
            .from = {.family = 4},
            .tuple = {.protocol = 6, .source = {.family = 4}, .destination = {.family = 4}, .destination_port = PORT}};
        uint32_t id;

        begun = 0;
        for (unsigned i = 0; i < CONNECTIONS; i++)
            begun += cm_agent_connect(agent[1], &connect, 1, &id, NULL) == 0;
        talk(agent, reported);
    }
    cm_agent_free(agent[0]);
    cm_agent_free(agent[1]);
    return begun;
}

/* Loop: one allocation fails, or it and all after it. */
START_TEST(each_allocation_fails)
{
    unsigned failures = 0;

    for (long n = 1;; n++) {
        struct reported reported;
        long before = short_live;
        int begun;

        short_failed = false;
        short_more = _i == 0 ? 0 : 1000000;
        short_left = n;
        begun = converse(&reported);
        short_left = short_more = 0;
        ck_assert_msg(short_live == before, "allocation %ld: %ld are not freed", n, short_live - before);
        ck_assert_msg(begun < 0 || reported.finished, "allocation %ld: no rest", n);
        /* No connection that nobody has begun, and none twice. */
        ck_assert(begun < 0 ||
                  (reported.established[0] <= (unsigned)begun && reported.established[1] <= (unsigned)begun));
        if (!short_failed) {
            ck_assert_uint_eq(reported.established[0], CONNECTIONS);
            ck_assert_uint_eq(reported.established[1], CONNECTIONS);
            break;
        }
        failures++;
    }
    ck_assert_uint_gt(failures, 2 * CONNECTIONS);
}
END_TEST

#endif

Suite *cm_memory_suite(void)
{
    Suite *suite = suite_create("cm_memory");
    TCase *tcase = tcase_create("short");

#if OWN_ALLOCATOR
    tcase_add_loop_test(tcase, each_allocation_fails, 0, 2);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
