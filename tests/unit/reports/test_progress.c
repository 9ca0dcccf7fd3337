/* SPDX-License-Identifier: BSD-2-Clause */
/* The time left: silent where nothing can be said, and in proportion to what is done. */
#include "reports/writers/progress.h"

#include <check.h>

#include "tests/unit/suites.h"

Suite *progress_suite(void);

static const uint64_t second = UINT64_C(1000000000);

static const struct {
    size_t first, done, total;
    uint64_t seconds;
    const char *text;
} cases[] = {
    {0, 0, 100, 10, ""},                  /* nothing is done */
    {0, 2, 100, 10, ""},                  /* too little is */
    {0, 50, 100, 1, ""},                  /* too fast to tell */
    {0, 100, 100, 10, ""},                /* all is done */
    {0, 25, 100, 10, "about 30 s left"},  /* */
    {0, 5, 105, 10, "about 3 min left"},  /* 200 seconds */
    {40, 50, 100, 10, "about 50 s left"}, /* 40 of them are an earlier run's */
    {40, 41, 100, 10, ""},                /* so that one alone was seen */
    {0, 90, 100, 9, "about 1 s left"},    /* */
    {0, 10, 100, 10, "about 90 s left"},  /* the last that is shown in seconds */
    {0, 10, 101, 10, "about 2 min left"}, /* */
    {7, 3, 100, 10, ""},                  /* fewer than before */
};

START_TEST(time_left_is_in_proportion)
{
    struct progress progress = {0};
    char text[PROGRESS_LEFT_OCTETS];

    ck_assert_str_eq(progress_left(&progress, cases[_i].first, cases[_i].total, 77 * second, text), "");
    ck_assert_str_eq(progress_left(&progress, cases[_i].done, cases[_i].total, (77 + cases[_i].seconds) * second, text),
                     cases[_i].text);
}
END_TEST

START_TEST(clock_that_goes_back)
{
    struct progress progress = {0};
    char text[PROGRESS_LEFT_OCTETS];

    ck_assert_str_eq(progress_left(&progress, 0, 100, 77 * second, text), "");
    ck_assert_str_eq(progress_left(&progress, 50, 100, 7 * second, text), "");
}
END_TEST

Suite *progress_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *tcase = tcase_create("left");

    tcase_add_loop_test(tcase, time_left_is_in_proportion, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tcase, clock_that_goes_back);
    suite_add_tcase(suite, tcase);
    return suite;
}
