/* SPDX-License-Identifier: BSD-2-Clause */
/* The command as it was typed: what a reader of results copies into a shell. */
#include "conformance/engine/option/command_line.h"

#include <check.h>
#include <string.h>

#include "tests/unit/suites.h"

Suite *command_line_suite(void);

START_TEST(words_of_a_command_are_one_line_for_a_shell)
{
    char run[] = "run", dut[] = "--dut", profile[] = "my rnic.json", glob[] = "MPA-7.*", seed[] = "--seed=1";
    char *words[] = {run, dut, profile, glob, seed};
    char text[COMMAND_LINE_OCTETS];

    ck_assert_str_eq(command_line_text(5, words, text), "warpcheck run --dut 'my rnic.json' 'MPA-7.*' --seed=1");
    ck_assert_str_eq(command_line_text(0, words, text), "warpcheck");
}
END_TEST

START_TEST(a_line_that_does_not_fit_ends_after_a_whole_word)
{
    static char name[1001];
    char audit[] = "audit", *words[] = {audit, name, name, name, name, name, name};
    char text[COMMAND_LINE_OCTETS];
    size_t size;

    memset(name, 'a', sizeof(name) - 1);
    (void)command_line_text(7, words, text);
    size = strlen(text);
    ck_assert_uint_eq(size, strlen("warpcheck audit") + 4 * sizeof(name) + strlen(" ..."));
    ck_assert_str_eq(text + size - 6, "aa ...");
}
END_TEST

Suite *command_line_suite(void)
{
    Suite *suite = suite_create("command_line");
    TCase *tests = tcase_create("command_line");

    tcase_add_test(tests, words_of_a_command_are_one_line_for_a_shell);
    tcase_add_test(tests, a_line_that_does_not_fit_ends_after_a_whole_word);
    suite_add_tcase(suite, tests);
    return suite;
}
