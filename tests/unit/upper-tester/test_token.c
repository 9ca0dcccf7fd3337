/* SPDX-License-Identifier: BSD-2-Clause */
/* The token that an upper tester demands: where it is read, shown and compared. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "upper-tester/token.h"

Suite *token_suite(void);

#define TOKEN "0123456789abcdef"

static char path[sizeof("/tmp/warpcheck-token-XXXXXX")];

static void setup(void)
{
    int descriptor;

    memcpy(path, "/tmp/warpcheck-token-XXXXXX", sizeof(path)); /* mkstemp() writes into it */
    descriptor = mkstemp(path);

    ck_assert_int_ge(descriptor, 0);
    close(descriptor);
}

static void teardown(void)
{
    unlink(path);
}

static int read_text(struct upper_token *token, const char *text, size_t octets, struct iwarp_sentence *sentence)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, octets, file), octets);
    ck_assert_int_eq(fclose(file), 0);
    memset(token, 0xA5, sizeof(*token)); /* as a stack may have it */
    return upper_token_read(token, path, sentence);
}

static const char *const good_files[] = {TOKEN, TOKEN "\n", TOKEN "\r\n", TOKEN "\nwhat follows is no part of it\n"};

START_TEST(the_first_line_is_the_token)
{
    const char *text = good_files[_i];
    struct upper_token token;
    struct iwarp_sentence sentence;
    char *line, *answer;
    bool shown = false;

    ck_assert_msg(read_text(&token, text, strlen(text), &sentence) == 0, "%s", sentence.text);
    ck_assert_str_eq(token.text, TOKEN);
    line = upper_token_command(&token);
    answer = upper_token_answer(&token, line, strlen(line), &shown);
    ck_assert_msg(shown, "what was read is what is shown");
    free(answer);
    free(line);
}
END_TEST

static const char *const bad_files[] = {"",           "\n" TOKEN,   "0123456789abcde\n", "0123456789 abcdef\n",
                                        TOKEN "\"\n", TOKEN "\\\n", TOKEN "\t\n",        TOKEN "\xC3\xA4\n"};

START_TEST(what_is_no_token_is_said_in_one_line)
{
    const char *text = bad_files[_i];
    struct upper_token token;
    struct iwarp_sentence sentence;

    ck_assert_int_eq(read_text(&token, text, strlen(text), &sentence), -1);
    ck_assert_str_eq(token.text, "");
    ck_assert(strncmp(sentence.text, path, strlen(path)) == 0);
    ck_assert_ptr_nonnull(
        strstr(sentence.text, "a token was expected as the first line: 16 to 256 printable characters"));
    ck_assert_ptr_null(strchr(sentence.text, '\n'));
}
END_TEST

START_TEST(a_token_has_a_length)
{
    char text[UPPER_TOKEN_MOST + 2];
    struct upper_token token;
    struct iwarp_sentence sentence;

    memset(text, 'x', sizeof(text));
    ck_assert_int_eq(read_text(&token, text, UPPER_TOKEN_LEAST - 1, &sentence), -1);
    ck_assert_int_eq(read_text(&token, text, UPPER_TOKEN_LEAST, &sentence), 0);
    ck_assert_int_eq(read_text(&token, text, UPPER_TOKEN_MOST, &sentence), 0);
    ck_assert_uint_eq(strlen(token.text), UPPER_TOKEN_MOST);
    ck_assert_int_eq(read_text(&token, text, UPPER_TOKEN_MOST + 1, &sentence), -1);
    /* What follows a zero octet is not seen. */
    ck_assert_int_eq(read_text(&token, "0123456\0" TOKEN, 8 + sizeof(TOKEN) - 1, &sentence), -1);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named)
{
    struct upper_token token;
    struct iwarp_sentence sentence;

    ck_assert_int_eq(upper_token_read(&token, "/nowhere/token", &sentence), -1);
    ck_assert_str_eq(sentence.text, "/nowhere/token: No such file or directory");
}
END_TEST

START_TEST(what_is_shown_is_taken)
{
    static const struct upper_token token = {TOKEN}, other = {"0123456789abcdeg"}, longer = {TOKEN "0"};
    char *line = upper_token_command(&token), *answer;
    bool shown = false;

    ck_assert_str_eq(line, "{\"verb\":\"token\",\"token\":\"" TOKEN "\"}");
    answer = upper_token_answer(&token, line, strlen(line), &shown);
    ck_assert(shown);
    ck_assert_str_eq(answer, "{\"ok\":true}");
    free(answer);
    answer = upper_token_answer(&other, line, strlen(line), &shown);
    ck_assert(!shown);
    ck_assert_str_eq(answer, "{\"ok\":false,\"error\":\"this is not the token\"}");
    free(answer);
    answer = upper_token_answer(&longer, line, strlen(line), &shown);
    ck_assert(!shown);
    free(answer);
    free(line);
}
END_TEST

static const char *const bad_lines[] = {
    "",
    "{",
    "[]",
    "7",
    "{}",
    "{\"verb\":\"capabilities\"}",
    "{\"verb\":\"token\"}",
    "{\"verb\":\"token\",\"token\":7}",
    "{\"verb\":\"token\",\"token\":\"\"}",
    "{\"verb\":\"token\",\"token\":\"0123456789abcde\"}",
    "{\"verb\":\"token\",\"token\":\"0123456789abcdef0\"}",
    "{\"verb\":\"token\",\"token\":\"0123456789ABCDEF\"}",
    "{\"verb\":\"token\",\"token\":\"0123456789abcdef\\u0000\"}",
    "{\"verb\":\"poll\",\"token\":\"0123456789abcdef\"}",
    "{\"verb\":\"token\",\"token\":\"x\",\"token\":\"0123456789abcdef\"}",
    "{\"verb\":\"token\",\"token\":\"0123456789abcdef\"} {}",
};

START_TEST(another_line_shows_nothing)
{
    static const struct upper_token token = {TOKEN};
    bool shown = true;
    char *answer = upper_token_answer(&token, bad_lines[_i], strlen(bad_lines[_i]), &shown);

    ck_assert_msg(!shown, "%s", bad_lines[_i]);
    ck_assert_ptr_nonnull(strstr(answer, "{\"ok\":false,\"error\":\""));
    ck_assert_ptr_nonnull(strstr(answer, "token"));
    ck_assert_ptr_null(strstr(answer, TOKEN)); /* it is shown to nobody */
    free(answer);
}
END_TEST

Suite *token_suite(void)
{
    Suite *suite = suite_create("token");
    TCase *tcase = tcase_create("token");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, the_first_line_is_the_token, 0, (int)(sizeof(good_files) / sizeof(good_files[0])));
    tcase_add_loop_test(tcase, what_is_no_token_is_said_in_one_line, 0,
                        (int)(sizeof(bad_files) / sizeof(bad_files[0])));
    tcase_add_test(tcase, a_token_has_a_length);
    tcase_add_test(tcase, a_file_that_is_not_there_is_named);
    tcase_add_test(tcase, what_is_shown_is_taken);
    tcase_add_loop_test(tcase, another_line_shows_nothing, 0, (int)(sizeof(bad_lines) / sizeof(bad_lines[0])));
    suite_add_tcase(suite, tcase);
    return suite;
}
