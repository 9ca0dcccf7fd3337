/* SPDX-License-Identifier: BSD-2-Clause */
/* Contents that two ends of a bridge compare: each octet counts, and so does where it stands. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_pattern.h"
#include "tests/unit/suites.h"

Suite *bridge_pattern_suite(void);

enum { SEED = 55, OCTETS = 1000 };

START_TEST(pattern_is_itself_from_each_octet_on)
{
    char *text = bridge_pattern(SEED, OCTETS), *other = bridge_pattern(SEED + 1, OCTETS);

    ck_assert_uint_eq(strlen(text), 2 * OCTETS);
    ck_assert(bridge_pattern_is(text, 0, OCTETS, SEED, false));
    ck_assert(bridge_pattern_is(text, 999, 1, SEED, false));
    ck_assert(!bridge_pattern_is(other, 0, OCTETS, SEED, true));
    ck_assert_str_ne(text, other);
    /* Octets that are somewhere else are others: the period is longer than an octet's 256 values. */
    ck_assert(!bridge_pattern_is(text + 2 * 256, 0, OCTETS - 256, SEED, false));
    free(text);
    free(other);
}
END_TEST

START_TEST(octet_that_differs_is_seen_and_zero_is_partly_right)
{
    char *text = bridge_pattern(SEED, OCTETS);

    memset(text + 2 * 500, '0', 2);
    ck_assert(!bridge_pattern_is(text, 0, OCTETS, SEED, false));
    ck_assert(bridge_pattern_is(text, 0, OCTETS, SEED, true));
    ck_assert(bridge_pattern_is(text, 501, OCTETS - 501, SEED, false));
    text[2 * 500 + 1] = text[2 * 501] == '1' ? '2' : '1';
    ck_assert(!bridge_pattern_is(text, 500, 1, SEED, true));
    free(text);
}
END_TEST

START_TEST(octets_behind_a_write_are_zero_or_not)
{
    char text[] = "0100000002";

    ck_assert(bridge_pattern_zero(text, 1, 3));
    ck_assert(!bridge_pattern_zero(text, 0, 1));
    ck_assert(!bridge_pattern_zero(text, 1, 4));
    ck_assert(bridge_pattern_zero(text, 5, 0));
}
END_TEST

Suite *bridge_pattern_suite(void)
{
    Suite *suite = suite_create("bridge_pattern");
    TCase *tests = tcase_create("contents");

    tcase_add_test(tests, pattern_is_itself_from_each_octet_on);
    tcase_add_test(tests, octet_that_differs_is_seen_and_zero_is_partly_right);
    tcase_add_test(tests, octets_behind_a_write_are_zero_or_not);
    suite_add_tcase(suite, tests);
    return suite;
}
