/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options that are an amount with a unit. */
#include "reference-stack/program/amount.h"

#include <check.h>
#include <string.h>

Suite *amount_suite(void);

static struct iwarp_sentence error;
static uint64_t value;

static int octets(const char *text, uint64_t least, uint64_t most)
{
    return amount_octets("--x", text, least, most, "64K", &value, &error);
}

static int seconds(const char *text)
{
    return amount_seconds("--x", text, 1, 86400, &value, &error);
}

START_TEST(sizes_have_units_of_1024)
{
    ck_assert_int_eq(octets("4K", 1, 1 << 20), 0);
    ck_assert_uint_eq(value, 4096);
    ck_assert_int_eq(octets("1M", 1, 1 << 20), 0);
    ck_assert_uint_eq(value, 1 << 20);
    ck_assert_int_eq(octets("77", 1, 1 << 20), 0);
    ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(a_size_outside_of_its_limits_is_refused_with_them)
{
    ck_assert_int_eq(octets("2M", 4096, 1 << 20), -1);
    ck_assert_str_eq(error.text, "--x \"2M\": octets from 4K to 1M were expected, such as 64K");
    ck_assert_int_eq(octets("3", 4096, 1 << 20), -1);
    ck_assert_int_eq(octets("99999999999999999999G", 1, UINT64_MAX), -1);
    ck_assert_int_eq(octets("18014398509481985K", 1, UINT64_MAX), -1); /* 2^64 and 1024 octets */
    ck_assert_int_eq(octets("1T", 1, UINT64_MAX), -1);
    ck_assert_int_eq(octets("1KB", 1, UINT64_MAX), -1);
    ck_assert_int_eq(octets("", 1, UINT64_MAX), -1);
}
END_TEST

static const char *const texts[] = {"0", "1", "1023", "1K", "1025", "4K", "2047M", "1G", "1024G", "16777215G"};

START_TEST(a_size_is_shown_as_it_is_read)
{
    char text[AMOUNT_TEXT_OCTETS];

    ck_assert_int_eq(octets(texts[_i], 0, UINT64_MAX), 0);
    ck_assert_str_eq(amount_octets_text(value, text), texts[_i]);
}
END_TEST

static const char *const times[] = {"0s", "1s", "59s", "90s", "1m", "90m", "24h", "25h", "7d", "3650d"};

START_TEST(a_time_is_shown_as_it_is_read)
{
    char text[AMOUNT_TEXT_OCTETS];
    const char *shown = strcmp(times[_i], "24h") == 0 ? "1d" : times[_i];

    ck_assert_int_eq(amount_seconds("--x", times[_i], 0, UINT64_MAX, &value, &error), 0);
    ck_assert_str_eq(amount_seconds_text(value, text), shown);
}
END_TEST

START_TEST(limits_of_a_time_are_said_in_its_units)
{
    ck_assert_int_eq(amount_seconds("--hold", "2h", 1, 3600, &value, &error), -1);
    ck_assert_str_eq(error.text, "--hold \"2h\": a time from 1s to 1h was expected, such as 90s, 30m, 24h or 7d");
}
END_TEST

START_TEST(times_have_units)
{
    ck_assert_int_eq(seconds("30m"), 0);
    ck_assert_uint_eq(value, 1800);
    ck_assert_int_eq(seconds("7"), 0);
    ck_assert_uint_eq(value, 7);
    ck_assert_int_eq(seconds("24h"), 0);
    ck_assert_uint_eq(value, 86400);
    ck_assert_int_eq(seconds("1w"), -1);
    ck_assert_str_eq(error.text, "--x \"1w\": a time from 1s to 1d was expected, such as 90s, 30m, 24h or 7d");
    ck_assert_int_eq(seconds("2d"), -1);
    ck_assert_int_eq(seconds("-1"), -1);
    ck_assert_int_eq(seconds(""), -1);
}
END_TEST

Suite *amount_suite(void)
{
    Suite *suite = suite_create("amount");
    TCase *cases = tcase_create("amount");

    tcase_add_test(cases, sizes_have_units_of_1024);
    tcase_add_test(cases, a_size_outside_of_its_limits_is_refused_with_them);
    tcase_add_loop_test(cases, a_size_is_shown_as_it_is_read, 0, sizeof(texts) / sizeof(texts[0]));
    tcase_add_test(cases, times_have_units);
    tcase_add_loop_test(cases, a_time_is_shown_as_it_is_read, 0, sizeof(times) / sizeof(times[0]));
    tcase_add_test(cases, limits_of_a_time_are_said_in_its_units);
    suite_add_tcase(suite, cases);
    return suite;
}
