/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two stacks on a bad wire; STACK_SIM_SEEDS says how many of them (200), STACK_SIM_FIRST with which seed to begin (1).
 */
#include <check.h>
#include <stdlib.h>

#include "tests/unit/stack_sim.h"

Suite *stack_sim_suite(void);

enum { SHARES = 10 };

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

START_TEST(stack_simulation_delivers_exactly_in_order)
{
    uint64_t seeds = number("STACK_SIM_SEEDS", 200);
    uint64_t first = number("STACK_SIM_FIRST", 1);

    for (uint64_t seed = first + (uint64_t)_i; seed < first + seeds; seed += SHARES) {
        struct iwarp_sentence sentence = {""};

        ck_assert_msg(stack_sim_run(seed, NULL, &sentence) == 0, "seed %llu: %s", (unsigned long long)seed,
                      sentence.text);
    }
}
END_TEST

/* Some world has Markers, CRCs, a TCP that hands octets early, and a gap at the right place. */
START_TEST(some_are_placed_early)
{
    struct iwarp_sentence sentence = {""};
    uint64_t early = 0;

    for (uint64_t seed = 1; seed < 100 && early == 0; seed++)
        ck_assert_msg(stack_sim_run(seed, &early, &sentence) == 0, "%s", sentence.text);
    ck_assert_uint_ne(early, 0);
}
END_TEST

Suite *stack_sim_suite(void)
{
    Suite *suite = suite_create("stack_sim");
    TCase *tcase = tcase_create("bad wire");

    tcase_set_timeout(tcase, getenv("STACK_SIM_SEEDS") == NULL ? 60 : 3600);
    tcase_add_loop_test(tcase, stack_simulation_delivers_exactly_in_order, 0, SHARES);
    tcase_add_test(tcase, some_are_placed_early);
    suite_add_tcase(suite, tcase);
    return suite;
}
