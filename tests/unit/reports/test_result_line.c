/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of results.jsonl that are written without jansson are the octets that jansson would write. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reports/results/result_line.h"
#include "reports/results/results_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *result_line_suite(void);

static const char *const texts[] = {
    NULL,
    "",
    "plain",
    "a \"quote\" and a \\",
    "tab\tnewline\nreturn\r",
    "\x1b[31m\x01\x7f",
    "gr\xc3\xbc\xc3\x9f",
    "/\xe2\x80\xa8",
    "\xff\xfe",
};

static void same(const struct result *result)
{
    struct result_lines lines = {0};
    json_t *object = result_to_json(result);
    char *expected = json_dumps(object, RESULT_LINE_FLAGS);

    ck_assert_ptr_nonnull(expected);
    ck_assert_int_eq(result_line_append(&lines, result), 0);
    ck_assert_uint_eq(lines.count, strlen(expected) + 1);
    ck_assert_int_eq(lines.octets[lines.count - 1], '\n');
    ck_assert_mem_eq(lines.octets, expected, strlen(expected));
    free(lines.octets);
    free(expected);
    json_decref(object);
}

START_TEST(every_text_survives_a_result_line)
{
    struct result result = {.id = "DDP-7.2-02", .verdict = VERDICT_FAIL};
    const char **members[] = {&result.by,       &result.script, &result.role,    &result.file,     &result.flow,
                              &result.expected, &result.actual, &result.message, &result.evidence, &result.purpose,
                              &result.reading,  &result.pics,   &result.replay,  &result.deviation};

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++) {
            *members[i] = texts[j];
            same(&result);
        }
    result.message = sample_hostile;
    result.id = sample_hostile;
    same(&result);
}
END_TEST

START_TEST(every_number_survives_a_result_line)
{
    static const uint64_t numbers[] = {0, 1, 9, 10, 4294967296, INT64_MAX, UINT64_MAX};
    struct result result = {.id = "A", .verdict = VERDICT_PASS, .by = "rule"};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        result.frame = result.count = result.duration_ns = result.offset = result.octets = numbers[i];
        same(&result);
    }
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
        result.verdict = (enum verdict)verdict;
        same(&result);
    }
}
END_TEST

START_TEST(every_ladder_survives_a_result_line)
{
    struct result result = {.id = "A", .verdict = VERDICT_FAIL, .steps = json_array()};

    same(&result);
    json_decref(result.steps);
    result.steps = sample_steps(40, 17, sample_hostile);
    same(&result);
    json_decref(result.steps);
}
END_TEST

START_TEST(lines_follow_each_other)
{
    struct result_lines lines = {0};
    struct result good = {.id = "A", .verdict = VERDICT_PASS}, none = {.verdict = VERDICT_PASS};

    ck_assert_int_eq(result_line_append(&lines, &good), 0);
    size_t one = lines.count;
    ck_assert_int_ne(result_line_append(&lines, &none), 0);
    ck_assert_uint_eq(lines.count, one);
    for (int i = 1; i < 1000; i++)
        ck_assert_int_eq(result_line_append(&lines, &good), 0);
    ck_assert_uint_eq(lines.count, 1000 * one);
    ck_assert_mem_eq(lines.octets, lines.octets + 999 * one, one);
    free(lines.octets);
}
END_TEST

/* What is held is not in the file, what is released is, and closing loses nothing. */
START_TEST(held_lines_are_written_on_release)
{
    char *folder = sample_folder(), *text;
    const char *path = sample_path(folder, "results.jsonl");
    struct result result = {.id = "A-1-01", .verdict = VERDICT_PASS};
    struct iwarp_sentence error;
    struct results_log *log = results_log_create(PLACE(path), &sample_info, NULL, &error);
    size_t head, held;

    free(sample_read(path, &head));
    results_log_hold(log);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    free(sample_read(path, &held));
    ck_assert_uint_eq(held, head);
    ck_assert_int_eq(results_log_release(log, &error), 0);
    free(sample_read(path, &held));
    ck_assert_uint_gt(held, head);
    results_log_hold(log);
    ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    ck_assert_uint_eq(results_log_summary(log)->pass, 11);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    text = sample_read(path, &held);
    ck_assert_uint_eq((held - head) % 11, 0);
    free(text);
    sample_remove(folder);
}
END_TEST

Suite *result_line_suite(void)
{
    Suite *suite = suite_create("result_line");
    TCase *lines = tcase_create("lines");

    tcase_add_test(lines, every_text_survives_a_result_line);
    tcase_add_test(lines, every_number_survives_a_result_line);
    tcase_add_test(lines, every_ladder_survives_a_result_line);
    tcase_add_test(lines, lines_follow_each_other);
    tcase_add_test(lines, held_lines_are_written_on_release);
    suite_add_tcase(suite, lines);
    return suite;
}
