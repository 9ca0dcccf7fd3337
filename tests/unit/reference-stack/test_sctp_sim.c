/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two stacks over libusrsctp on a bad wire; STACK_SIM_SEEDS says how many of them (200), STACK_SIM_FIRST with which
 * seed to begin (1). Skipped where the build has no libusrsctp.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/sctp_sim.h"

Suite *sctp_sim_suite(void);

enum { SHARES = 10 };

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

START_TEST(sctp_simulation_delivers_exactly_in_order)
{
    uint64_t seeds = number("STACK_SIM_SEEDS", 200);
    uint64_t first = number("STACK_SIM_FIRST", 1);
    struct sctp_sim_counts counts = {0};
    uint64_t runs = 0;

    for (uint64_t seed = first + (uint64_t)_i; seed < first + seeds; seed += SHARES, runs++) {
        struct iwarp_sentence sentence = {""};

        ck_assert_msg(sctp_sim_run(seed, &counts, &sentence) == 0, "seed %llu: %s", (unsigned long long)seed,
                      sentence.text);
    }
    /* The wires were bad indeed. */
    if (runs >= SHARES)
        ck_assert(counts.lost > runs && counts.doubled > runs && counts.late > runs && counts.packets > 100 * runs);
}
END_TEST

Suite *sctp_sim_suite(void)
{
    Suite *suite = suite_create("sctp_sim");
    TCase *tcase = tcase_create("bad wire");

    suite_add_tcase(suite, tcase);
    if (!sctp_sim_there()) {
        fprintf(stderr, "SKIP sctp_sim: this build has no libusrsctp\n");
        return suite;
    }
    tcase_set_timeout(tcase, getenv("STACK_SIM_SEEDS") == NULL ? 120 : 3600);
    tcase_add_loop_test(tcase, sctp_simulation_delivers_exactly_in_order, 0, SHARES);
    return suite;
}
