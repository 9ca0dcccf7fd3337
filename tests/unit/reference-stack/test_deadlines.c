/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdbool.h>

#include "reference-stack/base/deadlines.h"

enum { MEMBERS = 300, STEPS = 20000 };

static uint64_t least(const struct deadline *members, const bool *joined)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < MEMBERS; i++)
        if (joined[i] && members[i].place != 0 && members[i].when < first)
            first = members[i].when;
    return first;
}

/* Against a walk over all, after each of many changes. */
START_TEST(first_is_first)
{
    struct deadlines deadlines = {0};
    struct deadline members[MEMBERS] = {{0}};
    bool joined[MEMBERS] = {false};
    uint64_t state = (uint64_t)_i + 1;

    for (size_t step = 0; step < STEPS; step++) {
        size_t which;
        uint64_t when;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        which = (state >> 33) % MEMBERS;
        when = (state >> 20) % 1000;
        if (!joined[which]) {
            members[which] = (struct deadline){0};
            ck_assert_int_eq(deadlines_join(&deadlines), 0);
            joined[which] = true;
        } else if (when < 100) {
            deadlines_leave(&deadlines, &members[which]);
            joined[which] = false;
            ck_assert_uint_eq(members[which].place, 0);
        } else {
            deadlines_set(&deadlines, &members[which], when > 900 ? UINT64_MAX : when);
            ck_assert_int_eq(members[which].place == 0, when > 900);
        }
        ck_assert_uint_eq(least(members, joined),
                          deadlines_first(&deadlines) == NULL ? UINT64_MAX : deadlines_first(&deadlines)->when);
    }
    deadlines_free(&deadlines);
}
END_TEST

Suite *deadlines_suite(void);

Suite *deadlines_suite(void)
{
    Suite *suite = suite_create("deadlines");
    TCase *tcase = tcase_create("heap");

    tcase_add_loop_test(tcase, first_is_first, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}
