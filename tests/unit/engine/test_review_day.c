/* SPDX-License-Identifier: BSD-2-Clause */
/* Days: which texts are days, and how far a day is, on any machine's time_t. */
#include "conformance/engine/option/review_day.h"

#include <check.h>

#include "tests/unit/suites.h"

Suite *review_day_suite(void);

static const struct {
    const char *text;
    int is;
} days[] = {
    {"2027-06-30", 0},   {"2999-12-31", 0},  {"1969-12-31", 0},  {"2028-02-29", 0},  {"2000-02-29", 0},
    {"2027-02-29", -1},  {"2100-02-29", -1}, {"2027-06-31", -1}, {"2027-00-01", -1}, {"2027-13-01", -1},
    {"2027-1-001", -1},  {"2027-01-00", -1}, {"20-7-06-30", -1}, {"2027-06--1", -1}, {"2027/06/30", -1},
    {"2027-06-30 ", -1}, {"", -1},
};

START_TEST(a_text_is_a_day_of_the_calendar_or_is_none)
{
    ck_assert_msg(day_check(days[_i].text) == days[_i].is, "'%s'", days[_i].text);
}
END_TEST

static const struct {
    const char *from;
    long days;
    const char *to;
} distances[] = {
    {"2027-06-30", 0, "2027-06-30"},   {"2027-06-30", 1, "2027-07-01"},    {"2026-12-31", 1, "2027-01-01"},
    {"2027-01-01", -1, "2026-12-31"},  {"2028-02-28", 1, "2028-02-29"},    {"2028-03-01", -1, "2028-02-29"},
    {"2027-02-28", 1, "2027-03-01"},   {"2038-01-18", 30, "2038-02-17"},   {"2027-01-01", 365, "2028-01-01"},
    {"2028-01-01", 366, "2029-01-01"}, {"2029-01-01", -366, "2028-01-01"}, {"2970-01-01", -364, "2969-01-02"},
};

START_TEST(a_day_so_many_days_later_or_earlier)
{
    char text[DAY_TEXT_OCTETS];

    ck_assert_str_eq(day_after(distances[_i].from, distances[_i].days, text), distances[_i].to);
}
END_TEST

START_TEST(a_leap_day_is_the_28th_in_years_without_one)
{
    char text[DAY_TEXT_OCTETS];

    ck_assert_str_eq(day_later("2028-02-29", 1, text), "2029-02-28");
    ck_assert_str_eq(day_later("2028-02-29", 4, text), "2032-02-29");
    ck_assert_str_eq(day_later("2027-06-30", 2, text), "2029-06-30");
}
END_TEST

Suite *review_day_suite(void)
{
    Suite *suite = suite_create("review_day");
    TCase *tests = tcase_create("days");

    tcase_add_loop_test(tests, a_text_is_a_day_of_the_calendar_or_is_none, 0, (int)(sizeof(days) / sizeof(days[0])));
    tcase_add_loop_test(tests, a_day_so_many_days_later_or_earlier, 0, (int)(sizeof(distances) / sizeof(distances[0])));
    tcase_add_test(tests, a_leap_day_is_the_28th_in_years_without_one);
    suite_add_tcase(suite, tests);
    return suite;
}
