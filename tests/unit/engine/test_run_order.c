/* SPDX-License-Identifier: BSD-2-Clause */
/* The order in which checks that run side by side begin: long ones first, each check once. */
#include <check.h>

#include "conformance/engine/run/run_order.h"
#include "tests/unit/suites.h"

Suite *run_order_suite(void);

enum { ITEMS_MOST = 8 };

/* Compares the order of checks that last so long with what is expected. */
static void expect_order(const double *lasts, size_t count, const size_t *places, size_t early)
{
    struct check checks[ITEMS_MOST] = {0};
    struct plan_item items[ITEMS_MOST] = {0};
    struct plan plan = {.items = items, .count = count};
    struct run_order order;

    for (size_t i = 0; i < count; i++) {
        checks[i].lasts = lasts[i];
        items[i].check = &checks[i];
    }
    ck_assert_int_eq(run_order_make(&order, &plan), 0);
    ck_assert_uint_eq(order.count, count);
    ck_assert_uint_eq(order.early, early);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(order.places[i] == places[i], "%zu: %zu, expected %zu", i, order.places[i], places[i]);
    run_order_free(&order);
    ck_assert_ptr_null(order.places);
}

START_TEST(long_ones_begin_first)
{
    expect_order((const double[]){0, 3, 0, 12, 3.5, 0, 12, 0}, 8, (const size_t[]){3, 6, 4, 1, 0, 2, 5, 7}, 4);
    expect_order((const double[]){60, 30, 4}, 3, (const size_t[]){0, 1, 2}, 3);
}
END_TEST

/* They are the last of the plan, and none begins before the others have ended. */
START_TEST(hazards_begin_last_however_long_they_are)
{
    struct check checks[3] = {{.lasts = 0}, {.lasts = 3}, {.lasts = 60}};
    struct plan_item items[3] = {{.check = &checks[0]}, {.check = &checks[1]}, {.check = &checks[2], .hazard = true}};
    struct plan plan = {.items = items, .count = 3};
    struct run_order order;

    ck_assert_int_eq(run_order_make(&order, &plan), 0);
    ck_assert_uint_eq(order.early, 1);
    ck_assert(order.places[0] == 1 && order.places[1] == 0 && order.places[2] == 2);
    run_order_free(&order);
}
END_TEST

START_TEST(the_others_keep_the_order_of_the_plan)
{
    expect_order((const double[]){0, 0, 0}, 3, (const size_t[]){0, 1, 2}, 0);
    expect_order(NULL, 0, NULL, 0);
}
END_TEST

Suite *run_order_suite(void)
{
    Suite *suite = suite_create("run_order");
    TCase *tcase = tcase_create("order");

    tcase_add_test(tcase, long_ones_begin_first);
    tcase_add_test(tcase, hazards_begin_last_however_long_they_are);
    tcase_add_test(tcase, the_others_keep_the_order_of_the_plan);
    suite_add_tcase(suite, tcase);
    return suite;
}
