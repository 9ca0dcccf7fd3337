/* SPDX-License-Identifier: BSD-2-Clause */
/* Causes that are observations: which names are, and what they have in common. */
#include <check.h>

#include "tests/unit/suites.h"
#include "wire/hint.h"
#include "wire/hint_seen.h"

Suite *hint_seen_suite(void);

START_TEST(observation_is_known_by_its_whole_name)
{
    ck_assert_int_eq(hint_seen_of("octets-missing"), HINT_SEEN_OTHER);
    ck_assert_int_eq(hint_seen_of("octets"), HINT_SEEN_NOTHING);
    ck_assert_int_eq(hint_seen_of("octets-missing-more"), HINT_SEEN_NOTHING);
    ck_assert_int_eq(hint_seen_of("send-msn"), HINT_SEEN_NOTHING);
    ck_assert_int_eq(hint_seen_of("terminate-0x1203"), HINT_SEEN_NOTHING);
    ck_assert_int_eq(hint_seen_of(""), HINT_SEEN_NOTHING);
    ck_assert_int_eq(hint_seen_of("version-wrong"), HINT_SEEN_OTHER);
    ck_assert_int_eq(hint_seen_of(hint_name(HINT_CRC_OTHER)), HINT_SEEN_OTHER);
}
END_TEST

START_TEST(observation_may_end_with_the_error_that_it_is_about)
{
    ck_assert_int_eq(hint_seen_of("error-unnoticed"), HINT_SEEN_UNNOTICED);
    ck_assert_int_eq(hint_seen_of("error-unnoticed-0x1100"), HINT_SEEN_UNNOTICED);
    ck_assert_int_eq(hint_seen_of("error-unnoticed-"), HINT_SEEN_NOTHING);
}
END_TEST

START_TEST(what_came_in_place_of_what_is_an_observation)
{
    ck_assert_int_eq(hint_seen_of("silence-for-send"), HINT_SEEN_SILENT);
    ck_assert_int_eq(hint_seen_of("silence-for-terminate-0x1100"), HINT_SEEN_SILENT);
    ck_assert_int_eq(hint_seen_of("silence-after-startup"), HINT_SEEN_SILENT);
    ck_assert_int_eq(hint_seen_of("terminate-0x1203-for-message"), HINT_SEEN_OTHER);
}
END_TEST

START_TEST(words_of_an_observation_are_those_of_its_row)
{
    ck_assert_str_eq(hint_seen_words("atomic-value"), "an atomic finds or leaves another value");
    ck_assert_ptr_null(hint_seen_words("error-unnoticed-0x1100"));
    ck_assert_ptr_null(hint_seen_words("send-msn"));
    ck_assert_str_eq(hint_seen_words(hint_name(HINT_VERSION)), hint_gist(HINT_VERSION));
    ck_assert_str_eq(hint_seen_words(hint_name(HINT_CRC_OTHER)), hint_gist(HINT_CRC_OTHER));
}
END_TEST

Suite *hint_seen_suite(void)
{
    Suite *suite = suite_create("hint_seen");
    TCase *tcase = tcase_create("hint_seen");

    tcase_add_test(tcase, observation_is_known_by_its_whole_name);
    tcase_add_test(tcase, observation_may_end_with_the_error_that_it_is_about);
    tcase_add_test(tcase, what_came_in_place_of_what_is_an_observation);
    tcase_add_test(tcase, words_of_an_observation_are_those_of_its_row);
    suite_add_tcase(suite, tcase);
    return suite;
}
