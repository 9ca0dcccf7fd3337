/* SPDX-License-Identifier: BSD-2-Clause */
/* The nearest spelling: found where it is near, and silent where it is not. */
#include "base/nearest.h"

#include <check.h>
#include <string.h>

#include "tests/unit/suites.h"

Suite *nearest_suite(void);

static const char *const names[] = {"requirement", "role",   "review_by", "--simulate",  "--seed",
                                    NULL,          "report", "ird",       "MPA-7.1.1-07"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static const char *name_at(const void *user, size_t index)
{
    return ((const char *const *)user)[index];
}

static const struct {
    const char *word, *nearest;
} words[] = {
    {"requirment", "requirement"},
    {"reqiurement", "requirement"},
    {"Requirement", "requirement"},
    {"rol", "role"},
    {"rloe", "role"},
    {"reviewby", "review_by"},
    {"--simlate", "--simulate"},
    {"--sed", "--seed"},
    {"repotr", "report"},
    {"IRD", "ird"},
    {"MPA-7.1.1-7", "MPA-7.1.1-07"},
    {"--simu", "--simulate"}, /* its beginning */
    {"requ", "requirement"},
    {"REVI", "review_by"},
    {"--s", NULL},
    {"x", NULL},
    {"", NULL},
    {"telepathy", NULL},
    {"zzz", NULL},
    {"a word of so many letters that nobody could have meant any of those names with it", NULL},
};

START_TEST(nearest_name_is_found_or_none)
{
    const char *found = nearest_name(words[_i].word, name_at, names, NAMES);

    if (words[_i].nearest == NULL)
        ck_assert_msg(found == NULL, "%s: %s", words[_i].word, found);
    else
        ck_assert_msg(found != NULL && strcmp(found, words[_i].nearest) == 0, "%s: %s", words[_i].word,
                      found != NULL ? found : "none");
}
END_TEST

START_TEST(distance_counts_edited_letters)
{
    char long_word[200];

    ck_assert_uint_eq(nearest_distance("", ""), 0);
    ck_assert_uint_eq(nearest_distance("abc", ""), 3);
    ck_assert_uint_eq(nearest_distance("", "abc"), 3);
    ck_assert_uint_eq(nearest_distance("abc", "ABC"), 0);
    ck_assert_uint_eq(nearest_distance("abc", "acb"), 1);
    ck_assert_uint_eq(nearest_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(nearest_distance("ca", "abc"), 3); /* each letter is edited once */
    memset(long_word, 'a', sizeof(long_word));
    long_word[sizeof(long_word) - 1] = '\0';
    ck_assert_uint_eq(nearest_distance(long_word, ""), NEAREST_WORD_MAX);
    ck_assert_uint_eq(nearest_distance(long_word, long_word), 0);
}
END_TEST

START_TEST(hint_offers_the_nearest_name)
{
    static const char *const two[] = {"check", "rule"};
    char hint[NEAREST_HINT_OCTETS], long_word[200];

    ck_assert_str_eq(nearest_hint(nearest_of("chekc", two, 2), hint), ", did you mean \"check\"?");
    ck_assert_str_eq(nearest_hint(NULL, hint), "");
    memset(long_word, 'a', sizeof(long_word));
    long_word[sizeof(long_word) - 1] = '\0';
    ck_assert_uint_lt(strlen(nearest_hint(long_word, hint)), NEAREST_HINT_OCTETS);
}
END_TEST

Suite *nearest_suite(void)
{
    Suite *suite = suite_create("nearest");
    TCase *tests = tcase_create("nearest");

    tcase_add_loop_test(tests, nearest_name_is_found_or_none, 0, (int)(sizeof(words) / sizeof(words[0])));
    tcase_add_test(tests, distance_counts_edited_letters);
    tcase_add_test(tests, hint_offers_the_nearest_name);
    suite_add_tcase(suite, tests);
    return suite;
}
