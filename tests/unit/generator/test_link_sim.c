/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulated world: the same seed gives the same run, impairments do what they say, time jumps. */
#include <check.h>
#include <string.h>

#include "generator/link/link_sim.h"
#include "tests/unit/suites.h"

Suite *link_sim_suite(void);

#define MILLISECOND UINT64_C(1000000)

/* A node that sends every frame back, and one of its own every millisecond until it has sent `own` of them. */
struct echo {
    struct sim *sim;
    unsigned frames;
    unsigned own;
    uint64_t next;
    uint64_t last_ns;
};

static void echo_frame(void *node, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct echo *echo = node;

    echo->frames++;
    echo->last_ns = now;
    ck_assert_int_eq(sim_send_from_node(echo->sim, frame, octets), 0);
}

static uint64_t echo_deadline(void *node)
{
    const struct echo *echo = node;

    return echo->own > 0 ? echo->next : LINK_NEVER;
}

static void echo_tick(void *node, uint64_t now)
{
    struct echo *echo = node;

    ck_assert_uint_eq(now, echo->next);
    echo->own--;
    echo->next = now + MILLISECOND;
    ck_assert_int_eq(sim_send_from_node(echo->sim, (const uint8_t *)"tick", 4), 0);
}

static const struct sim_node_ops echo_ops = {echo_frame, echo_deadline, echo_tick};

/* Sends `count` numbered frames of assorted lengths, collects what comes back, and returns the trace. */
static uint64_t run(const struct sim_config *config, unsigned count, unsigned *back)
{
    struct sim *sim = sim_new(config);
    struct echo echo = {.sim = sim};
    struct link_frame frame;
    uint8_t octets[3000] = {0};
    uint64_t trace;

    ck_assert_ptr_nonnull(sim);
    sim_attach(sim, SIM_END_B, &echo_ops, &echo);
    for (unsigned i = 0; i < count; i++) {
        octets[0] = (uint8_t)i;
        ck_assert_int_eq(link_send(sim_link(sim), octets, 60 + (i * 97) % 2900), 0);
    }
    *back = 0;
    while (link_receive(sim_link(sim), &frame, LINK_NEVER) == 1)
        (*back)++;
    trace = sim_trace(sim);
    sim_free(sim);
    return trace;
}

START_TEST(same_seed_same_trace)
{
    struct sim_config config = {
        .seed = (uint64_t)_i + 1,
        .a_to_b = {.loss = 0.1, .duplicate = 0.1, .reorder = 0.3},
        .b_to_a = {.loss = 0.2, .duplicate = 0.05, .reorder = 0.1, .reorder_delay_ns = 777},
    };
    unsigned back[3];
    uint64_t first = run(&config, 300, &back[0]);

    ck_assert_uint_eq(run(&config, 300, &back[1]), first);
    ck_assert_uint_eq(back[0], back[1]);
    config.seed += 1000;
    ck_assert_uint_ne(run(&config, 300, &back[2]), first);
}
END_TEST

START_TEST(clean_wire_keeps_order_and_latency)
{
    struct sim_config config = {.start_ns = 1000, .latency_ns = 70};
    struct sim *sim = sim_new(&config);
    struct echo echo = {.sim = sim};
    struct link_frame frame;

    sim_attach(sim, SIM_END_B, &echo_ops, &echo);
    for (uint8_t i = 0; i < 200; i++)
        ck_assert_int_eq(link_send(sim_link(sim), &i, 1), 0);
    for (uint8_t i = 0; i < 200; i++) {
        ck_assert_int_eq(link_receive(sim_link(sim), &frame, LINK_NEVER), 1);
        ck_assert_uint_eq(frame.length, 1);
        ck_assert_uint_eq(frame.octets[0], i);
        ck_assert_uint_eq(frame.time_ns, 1000 + 2 * 70);
    }
    ck_assert_uint_eq(echo.frames, 200);
    ck_assert_uint_eq(echo.last_ns, 1070);
    ck_assert_int_eq(link_receive(sim_link(sim), &frame, 5000), 0);
    ck_assert_uint_eq(link_now(sim_link(sim)), 5000);
    sim_free(sim);
}
END_TEST

START_TEST(impairments_match_their_rates)
{
    struct sim_config config = {.seed = 5, .a_to_b = {.loss = 0.25}};
    unsigned back;

    (void)run(&config, 2000, &back);
    ck_assert_uint_gt(back, 1400);
    ck_assert_uint_lt(back, 1600);
    config.a_to_b = (struct sim_impairment){.duplicate = 0.25};
    (void)run(&config, 2000, &back);
    ck_assert_uint_gt(back, 2400);
    ck_assert_uint_lt(back, 2600);
    config.a_to_b = (struct sim_impairment){.loss = 1.0};
    (void)run(&config, 100, &back);
    ck_assert_uint_eq(back, 0);
}
END_TEST

START_TEST(reordered_frames_overtake_others)
{
    struct sim_config config = {.seed = 9, .a_to_b = {.reorder = 0.2}};
    struct sim *sim = sim_new(&config);
    struct echo echo = {.sim = sim};
    struct link_frame frame;
    unsigned overtaken = 0;
    unsigned count = 0;
    int last = -1;

    sim_attach(sim, SIM_END_B, &echo_ops, &echo);
    for (uint8_t i = 0; i < 200; i++)
        ck_assert_int_eq(link_send(sim_link(sim), &i, 1), 0);
    for (; link_receive(sim_link(sim), &frame, LINK_NEVER) == 1; last = frame.octets[0], count++)
        if (frame.octets[0] < last)
            overtaken++;
    ck_assert_uint_eq(count, 200);
    ck_assert_uint_gt(overtaken, 10);
    sim_free(sim);
}
END_TEST

static bool has_ticked_out(void *context)
{
    return ((const struct echo *)context)->own == 0;
}

START_TEST(timers_fire_and_reset_forgets)
{
    struct sim_config config = {.start_ns = 10};
    struct sim *sim = sim_new(&config);

    for (int round = 0; round < 3; round++) {
        struct echo echo = {.sim = sim, .own = 5, .next = 100};

        sim_attach(sim, SIM_END_B, &echo_ops, &echo);
        ck_assert_int_eq(sim_run_until(sim, LINK_NEVER, has_ticked_out, &echo), 1);
        ck_assert_uint_eq(sim_now(sim), 100 + 4 * MILLISECOND);
        ck_assert_int_eq(sim_run_until(sim, 200 * MILLISECOND, NULL, NULL), 0);
        ck_assert_uint_eq(sim_now(sim), 200 * MILLISECOND);
        sim_reset(sim, &config);
        ck_assert_uint_eq(sim_now(sim), 10);
        ck_assert_uint_eq(sim_trace(sim), 0);
    }
    sim_free(sim);
}
END_TEST

static uint64_t always_now(void *node)
{
    return sim_now(node);
}

static void do_nothing(void *node, uint64_t now)
{
    (void)node;
    (void)now;
}

START_TEST(spinning_node_is_an_error_not_a_hang)
{
    static const struct sim_node_ops spinning = {echo_frame, always_now, do_nothing};
    struct sim_config config = {.seed = 1};
    struct sim *sim = sim_new(&config);
    struct link_frame frame;

    sim_attach(sim, SIM_END_B, &spinning, sim);
    ck_assert_int_eq(link_receive(sim_link(sim), &frame, LINK_NEVER), -1);
    ck_assert_ptr_nonnull(strstr(sim_link(sim)->error.text, "timer"));
    sim_free(sim);
}
END_TEST

START_TEST(oversized_frame_is_refused)
{
    static uint8_t octets[LINK_FRAME_CAPACITY + 1];
    struct sim_config config = {.seed = 1};
    struct sim *sim = sim_new(&config);

    ck_assert_int_eq(link_send(sim_link(sim), octets, LINK_FRAME_CAPACITY), 0);
    ck_assert_int_eq(link_send(sim_link(sim), octets, sizeof(octets)), -1);
    ck_assert_ptr_nonnull(strstr(sim_link(sim)->error.text, "65550"));
    sim_free(sim);
}
END_TEST

Suite *link_sim_suite(void)
{
    Suite *suite = suite_create("link_sim");
    TCase *tests = tcase_create("link_sim");

    tcase_add_loop_test(tests, same_seed_same_trace, 0, 20);
    tcase_add_test(tests, clean_wire_keeps_order_and_latency);
    tcase_add_test(tests, impairments_match_their_rates);
    tcase_add_test(tests, reordered_frames_overtake_others);
    tcase_add_test(tests, timers_fire_and_reset_forgets);
    tcase_add_test(tests, spinning_node_is_an_error_not_a_hang);
    tcase_add_test(tests, oversized_frame_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
