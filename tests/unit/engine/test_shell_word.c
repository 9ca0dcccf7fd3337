/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <string.h>

#include "reference-stack/program/shell_word.h"

Suite *shell_word_suite(void);

static const struct {
    const char *word, *text;
} words[] = {
    {"some/where.lua", "x --script some/where.lua"},
    {"", "x --script ''"},
    {"a b", "x --script 'a b'"},
    {"$(reboot)", "x --script '$(reboot)'"},
    {"a'; reboot; '", "x --script 'a'\\''; reboot; '\\'''"},
    {"~", "x --script '~'"},
    {"a\nb", "x --script 'a\nb'"},
};

START_TEST(word_stays_a_word)
{
    char text[64] = "x";

    ck_assert_uint_eq(shell_append(text, sizeof(text), 1, "--script", words[_i].word), strlen(words[_i].text));
    ck_assert_str_eq(text, words[_i].text);
}
END_TEST

/* Half a word would be another one. */
START_TEST(word_without_room_is_left_out)
{
    static char long_word[5000];
    char text[32] = "x";

    for (size_t room = 2; room < 18; room++) {
        ck_assert_uint_eq(shell_append(text, room, 1, "--script", "a 'b'"), 1);
        ck_assert_str_eq(text, "x");
    }
    memset(long_word, '\'', sizeof(long_word) - 1);
    ck_assert_uint_eq(shell_append(text, sizeof(text), 1, "--script", long_word), 1);
    ck_assert_uint_eq(shell_append(text, 1, 1, "--script", "a"), 1);
}
END_TEST

static const struct {
    const char *given, *text;
} several[] = {
    {"linux-siw", "x --dut linux-siw"},
    {"linux-siw --ipv6", "x --dut linux-siw --ipv6"},
    {"  a   b ", "x --dut a b"},
    {"a $(id) b", "x --dut a '$(id)' b"},
    {"a; b", "x --dut 'a;' b"},
    {"", "x"},
    {"   ", "x"},
};

START_TEST(words_are_quoted_one_by_one)
{
    char text[64] = "x";

    ck_assert_uint_eq(shell_append_words(text, sizeof(text), 1, "--dut", several[_i].given), strlen(several[_i].text));
    ck_assert_str_eq(text, several[_i].text);
}
END_TEST

START_TEST(words_without_room_are_left_out)
{
    char text[32] = "x";

    for (size_t room = 2; room < 15; room++) { /* "x --dut a 'b;'" and the end */
        ck_assert_uint_eq(shell_append_words(text, room, 1, "--dut", "a b;"), 1);
        ck_assert_str_eq(text, "x");
    }
    ck_assert_uint_eq(shell_append_words(text, 15, 1, "--dut", "a b;"), 14);
    ck_assert_str_eq(text, "x --dut a 'b;'");
}
END_TEST

START_TEST(words_are_read_again)
{
    char text[4200], word[4096];
    const char *rest = text;

    (void)shell_append(text, sizeof(text), 0, "--dut", words[_i].word);
    ck_assert_int_eq(shell_next(&rest, word, sizeof(word)), 1);
    ck_assert_str_eq(word, "--dut");
    ck_assert_int_eq(shell_next(&rest, word, sizeof(word)), 1);
    ck_assert_str_eq(word, words[_i].word);
    ck_assert_int_eq(shell_next(&rest, word, sizeof(word)), 0);
}
END_TEST

static const char *const no_words[] = {"a;b",   "$(id)", "`id`", "a>b", "a\nb", "'open",
                                       "\"a\"", "a\\b",  "~",    "a&b", "*",    "123456789"};

START_TEST(what_a_shell_acts_on_is_no_word)
{
    char word[9];
    const char *rest = no_words[_i];

    ck_assert_int_eq(shell_next(&rest, word, sizeof(word)), -1);
}
END_TEST

Suite *shell_word_suite(void)
{
    Suite *suite = suite_create("shell_word");
    TCase *tests = tcase_create("shell_word");

    tcase_add_loop_test(tests, word_stays_a_word, 0, (int)(sizeof(words) / sizeof(words[0])));
    tcase_add_test(tests, word_without_room_is_left_out);
    tcase_add_loop_test(tests, words_are_quoted_one_by_one, 0, (int)(sizeof(several) / sizeof(several[0])));
    tcase_add_test(tests, words_without_room_are_left_out);
    tcase_add_loop_test(tests, words_are_read_again, 0, (int)(sizeof(words) / sizeof(words[0])));
    tcase_add_loop_test(tests, what_a_shell_acts_on_is_no_word, 0, (int)(sizeof(no_words) / sizeof(no_words[0])));
    suite_add_tcase(suite, tests);
    return suite;
}
