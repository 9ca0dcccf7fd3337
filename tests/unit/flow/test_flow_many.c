/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More connections, associations and exchanges than the decoder follows at once: what is over is released, what was
 * judged whole stays judged, and what comes back after it had to make room is counted, once.
 */
#include <check.h>
#include <stdlib.h>

#include "conformance/flow/decoder.h"
#include "tests/support/many.h"
#include "tests/unit/suites.h"

Suite *flow_many_suite(void);

enum { MOST = 64, COUNT = 3000, KEPT = 4096 };

static struct {
    struct flow_decoder *decoder;
    uint64_t frames, open, most_open;
} many;

static void follow(void *ctx, const struct flow_event *event)
{
    (void)ctx;
    if (event->kind == FLOW_END)
        many.open--;
}

static void begin(const struct flow_config *config)
{
    many.decoder = flow_decoder_create(config, follow, NULL);
    ck_assert_ptr_nonnull(many.decoder);
    many.frames = many.open = many.most_open = 0;
}

static void give(enum many_layer layer, uint32_t number, unsigned step)
{
    uint8_t octets[MANY_FRAME_MAX];
    size_t count = many_frame(layer, number, step, octets);
    uint64_t flows = flow_decoder_totals(many.decoder)->flows;

    many.frames++;
    flow_decoder_frame(many.decoder,
                       &(struct flow_frame){FLOW_LINK_ETHERNET, many.frames * 2000, many.frames, octets, count, count});
    many.open += flow_decoder_totals(many.decoder)->flows - flows;
    if (many.open > many.most_open)
        many.most_open = many.open;
}

static uint64_t removed(void)
{
    return flow_decoder_totals(many.decoder)->account.row[FLOW_ROW_EVICTED].items;
}

static bool is_whole(void)
{
    return flow_account_whole(&flow_decoder_totals(many.decoder)->account);
}

static void end(void)
{
    flow_decoder_finish(many.decoder);
    ck_assert(flow_totals_balanced(flow_decoder_totals(many.decoder)));
}

/* Loop: each layer. One after another, each up to its end, with the default limits and with few. */
START_TEST(in_a_row)
{
    struct flow_config few = {.flows_max = MOST, .connections_max = MOST};

    for (unsigned limited = 0; limited < 2; limited++) {
        begin(limited ? &few : NULL);
        for (uint32_t number = 0; number < COUNT * 2; number++)
            for (unsigned step = 0; step < many_steps((enum many_layer)_i); step++)
                give((enum many_layer)_i, number, step);
        ck_assert_uint_eq(flow_decoder_totals(many.decoder)->flows >= COUNT * 2, 1);
        ck_assert_uint_le(many.most_open, limited ? MOST * 3 : KEPT);
        end();
        ck_assert_uint_eq(removed(), 0);
        ck_assert(is_whole());
        flow_decoder_destroy(many.decoder);
    }
}
END_TEST

/* Loop: each layer. All are open at once, and each goes on: that many are counted, each once. */
START_TEST(concurrent_flows_are_counted_in_each_layer)
{
    struct flow_config few = {.flows_max = MOST, .connections_max = MOST * 4};

    begin(&few);
    for (unsigned step = 0; step < many_steps((enum many_layer)_i); step++)
        for (uint32_t number = 0; number < COUNT; number++)
            give((enum many_layer)_i, number, step);
    end();
    ck_assert_uint_eq(removed(), COUNT);
    ck_assert(!is_whole());
    flow_decoder_destroy(many.decoder);
}
END_TEST

/* Loop: each layer. None goes on after it has made room: all of each was judged. Then one does, twice. */
START_TEST(flow_counts_as_unjudged_only_if_it_goes_on)
{
    struct flow_config few = {.flows_max = MOST, .connections_max = MOST};
    enum many_layer layer = (enum many_layer)_i;
    unsigned open = many_steps_open(layer);

    begin(&few);
    for (uint32_t number = 0; number < COUNT; number++)
        for (unsigned step = 0; step < open; step++)
            give(layer, number, step);
    ck_assert_uint_eq(removed(), 0);
    ck_assert(is_whole());
    for (unsigned step = 0; step < open; step++) /* another one on its addresses and ports */
        give(layer, 2, step);
    ck_assert_uint_eq(removed(), 0);
    for (unsigned times = 0; times < 2; times++) {
        give(layer, 1, open - 1);
        ck_assert_uint_eq(removed(), 1);
        for (uint32_t number = COUNT; number < COUNT + MOST * 2; number++)
            for (unsigned step = 0; step < open; step++)
                give(layer, number, step);
    }
    end();
    ck_assert_uint_eq(removed(), 1);
    ck_assert(!is_whole());
    flow_decoder_destroy(many.decoder);
}
END_TEST

/* Loop: each layer. The limits come from the memory that is given. */
START_TEST(limits_follow_from_the_memory_given)
{
    enum many_layer layer = (enum many_layer)_i;

    for (unsigned enough = 0; enough < 2; enough++) {
        struct flow_config config = {.memory = (size_t)FLOW_FLOW_OCTETS * (enough ? COUNT * 2 : MOST)};

        begin(&config);
        for (unsigned step = 0; step < many_steps(layer); step++)
            for (uint32_t number = 0; number < COUNT; number++)
                give(layer, number, step);
        end();
        ck_assert_uint_eq(removed() == 0, enough);
        ck_assert_int_eq(is_whole(), enough);
        flow_decoder_destroy(many.decoder);
    }
}
END_TEST

Suite *flow_many_suite(void)
{
    Suite *suite = suite_create("flow_many");
    TCase *tcase = tcase_create("many");

    tcase_add_loop_test(tcase, in_a_row, 0, MANY_LAYERS);
    tcase_add_loop_test(tcase, concurrent_flows_are_counted_in_each_layer, 0, MANY_LAYERS);
    tcase_add_loop_test(tcase, flow_counts_as_unjudged_only_if_it_goes_on, 0, MANY_LAYERS);
    tcase_add_loop_test(tcase, limits_follow_from_the_memory_given, 0, MANY_LAYERS);
    suite_add_tcase(suite, tcase);
    return suite;
}
