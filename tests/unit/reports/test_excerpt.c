/* SPDX-License-Identifier: BSD-2-Clause */
/* Excerpts of results: a results.jsonl of its own, with its own counts and its own chain. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reports/results/excerpt.h"
#include "reports/results/report.h"
#include "tests/unit/sample_results.h"

Suite *excerpt_suite(void);

/* Takes it, writes it to FOLDER/excerpt.jsonl and loads that. */
static void take(const char *folder, char **ids, size_t count, struct excerpt *excerpt, struct report *report)
{
    struct place results = place_at(sample_path(folder, "results.jsonl"));
    struct iwarp_sentence error = {""};

    ck_assert_msg(excerpt_make(excerpt, &results, ids, count, &error) == 0, "%s", error.text);
    sample_write(sample_path(folder, "excerpt.jsonl"), excerpt->text, excerpt->size);
    ck_assert_msg(report_load(report, sample_path(folder, "excerpt.jsonl"), NULL, &error) == 0, "%s", error.text);
    ck_assert_str_eq(report->note, "");
}

START_TEST(of_a_run)
{
    char *folder = sample_folder(), *ids[] = {"DDP-7.2-02", "MPA-4.5-0*"};
    struct excerpt excerpt;
    struct report report;

    sample_results(folder, 1);
    take(folder, ids, 2, &excerpt, &report);
    ck_assert_uint_eq(json_array_size(excerpt.results), report.entry_count);
    ck_assert_uint_eq(report.entry_count, 2);
    for (size_t i = 0; i < report.entry_count; i++)
        ck_assert(strcmp(report.entries[i]->id, ids[0]) == 0 || strncmp(report.entries[i]->id, "MPA-4.5-0", 9) == 0);
    ck_assert(report.finished);
    ck_assert_uint_eq(report.summary.fail, 1);
    ck_assert_uint_eq(report.summary.pass, 0);
    ck_assert_str_eq(json_string_value(json_object_get(report.info.conditions, "selection")), "DDP-7.2-02 MPA-4.5-0*");
    report_free(&report);
    excerpt_free(&excerpt);
    sample_remove(folder);
}
END_TEST

START_TEST(of_a_run_that_was_killed)
{
    char *folder = sample_folder(), *ids[] = {"DDP-7.2-02"};
    struct excerpt excerpt;
    struct report report;

    sample_results(folder, 0);
    take(folder, ids, 1, &excerpt, &report);
    ck_assert(!report.finished);
    report_free(&report);
    excerpt_free(&excerpt);
    sample_remove(folder);
}
END_TEST

START_TEST(of_an_audit)
{
    char *folder = sample_folder(), *ids[] = {"*"};
    struct excerpt excerpt;
    struct report report;

    sample_audit(folder, VERDICT_FAIL);
    take(folder, ids, 1, &excerpt, &report);
    ck_assert_uint_eq(report.capture_count, 1); /* of three: the one with a result */
    ck_assert_str_eq(report.captures[0].info.file, "a.pcap");
    report_free(&report);
    excerpt_free(&excerpt);
    sample_remove(folder);
}
END_TEST

START_TEST(excerpt_without_results_is_empty)
{
    char *folder = sample_folder(), *ids[] = {"DDP-9.9-99"};
    struct place results = place_at(sample_path(folder, "results.jsonl"));
    struct iwarp_sentence error = {""};
    struct excerpt excerpt;

    sample_results(folder, 1);
    ck_assert_int_eq(excerpt_make(&excerpt, &results, ids, 1, &error), EXCERPT_EMPTY);
    ck_assert_ptr_nonnull(strstr(error.text, "no result of DDP-9.9-99 is here"));
    excerpt_free(&excerpt);
    sample_write(results.path, "{}\n", 3);
    ck_assert_int_eq(excerpt_make(&excerpt, &results, ids, 1, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "results.jsonl:1: "));
    excerpt_free(&excerpt);
    sample_remove(folder);
}
END_TEST

Suite *excerpt_suite(void)
{
    Suite *suite = suite_create("excerpt");
    TCase *tests = tcase_create("excerpt");

    tcase_add_test(tests, of_a_run);
    tcase_add_test(tests, of_a_run_that_was_killed);
    tcase_add_test(tests, of_an_audit);
    tcase_add_test(tests, excerpt_without_results_is_empty);
    suite_add_tcase(suite, tests);
    return suite;
}
