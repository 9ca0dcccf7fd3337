/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between two runs: the kind of each difference, and what is none. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/diff.h"
#include "reports/diff/diff_trend.h"
#include "reports/results/results_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *diff_suite(void);

/* A run with these results, loaded; `folder` is where its file is. */
static void run_of(struct report *report, const struct result *results, size_t count, const char *command)
{
    struct run_info info = sample_info;
    char *folder = sample_folder();
    struct iwarp_sentence error;
    struct results_log *log;

    info.command = command;
    log = results_log_create(PLACE(sample_path(folder, "results.jsonl")), &info, NULL, &error);
    ck_assert_ptr_nonnull(log);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(results_log_append(log, &results[i], &error), 0);
    ck_assert_int_eq(results_log_finish(log, results_log_summary(log), &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    ck_assert_msg(report_load(report, sample_path(folder, "results.jsonl"), NULL, &error) == 0, "%s", error.text);
    sample_remove(folder);
}

static struct result of(const char *id, enum verdict verdict, const char *actual)
{
    return (struct result){.id = id,
                           .verdict = verdict,
                           .by = "check",
                           .role = "responder",
                           .message = "m",
                           .expected = "e",
                           .actual = actual,
                           .reading = verdict == VERDICT_AMBIGUOUS ? actual : NULL};
}

static const struct {
    const char *id;
    int before; /* a verdict, or -1: no result */
    const char *before_actual;
    int after;
    const char *after_actual;
    int kind; /* -1: none */
} rows[] = {
    {"DDP-1", VERDICT_PASS, NULL, VERDICT_FAIL, "x", DIFF_NEW},
    {"DDP-2", VERDICT_AMBIGUOUS, "A", VERDICT_WARN, "x", DIFF_NEW},
    {"DDP-3", -1, NULL, VERDICT_KNOWN, "x", DIFF_NEW},
    {"DDP-4", VERDICT_SKIP, NULL, VERDICT_INCONCLUSIVE, "x", DIFF_NEW},
    {"DDP-5", VERDICT_FAIL, "x", VERDICT_KNOWN, "x", DIFF_CHANGED},
    {"DDP-J", VERDICT_KNOWN, "x", VERDICT_FAIL, "x", DIFF_NEW},
    {"DDP-K", VERDICT_INCONCLUSIVE, "x", VERDICT_FAIL, "y", DIFF_NEW},
    {"DDP-L", VERDICT_WARN, "x", VERDICT_INCONCLUSIVE, "y", DIFF_CHANGED},
    {"DDP-6", VERDICT_FAIL, "0x1201", VERDICT_FAIL, "0x1203", DIFF_CHANGED},
    {"DDP-7", VERDICT_FAIL, "STag 0x5bad57a6", VERDICT_FAIL, "STag 0x00112233", -1},
    {"DDP-8", VERDICT_AMBIGUOUS, "A", VERDICT_AMBIGUOUS, "B", DIFF_CHANGED},
    {"DDP-9", VERDICT_AMBIGUOUS, "A", VERDICT_AMBIGUOUS, "A", -1},
    {"DDP-A", VERDICT_PASS, NULL, VERDICT_AMBIGUOUS, "A", DIFF_CHANGED},
    {"DDP-B", VERDICT_FAIL, "x", VERDICT_PASS, NULL, DIFF_FIXED},
    {"DDP-C", VERDICT_INCONCLUSIVE, "x", VERDICT_AMBIGUOUS, "A", DIFF_ADDED},
    {"DDP-D", VERDICT_PASS, NULL, VERDICT_SKIP, NULL, DIFF_VANISHED},
    {"DDP-E", VERDICT_FAIL, "x", -1, NULL, DIFF_VANISHED},
    {"DDP-F", -1, NULL, VERDICT_PASS, NULL, DIFF_ADDED},
    {"DDP-G", VERDICT_SKIP, NULL, VERDICT_AMBIGUOUS, "A", DIFF_ADDED},
    {"DDP-H", VERDICT_SKIP, NULL, -1, NULL, -1},
    {"DDP-I", VERDICT_PASS, NULL, VERDICT_PASS, NULL, -1},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static int kind_in(const struct diff *diff, const char *id)
{
    for (size_t i = 0; i < diff->count; i++)
        if (strcmp(diff->entries[i].id, id) == 0)
            return (int)diff->entries[i].kind;
    return -1;
}

START_TEST(each_kind_of_change_is_found)
{
    struct result before[ROWS], after[ROWS];
    size_t before_count = 0, after_count = 0, kinds[DIFF_KINDS] = {0};
    struct report old, new;
    struct iwarp_sentence error;
    struct diff diff;

    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].before >= 0)
            before[before_count++] = of(rows[i].id, (enum verdict)rows[i].before, rows[i].before_actual);
        if (rows[i].after >= 0)
            after[after_count++] = of(rows[i].id, (enum verdict)rows[i].after, rows[i].after_actual);
    }
    run_of(&old, before, before_count, "run");
    run_of(&new, after, after_count, "run");
    ck_assert_int_eq(diff_make(&diff, &old, &new, &error), 0);
    for (size_t i = 0; i < ROWS; i++) {
        ck_assert_msg(kind_in(&diff, rows[i].id) == rows[i].kind, "%s is of kind %d", rows[i].id,
                      kind_in(&diff, rows[i].id));
        if (rows[i].kind >= 0)
            kinds[rows[i].kind]++;
    }
    for (size_t k = 0; k < DIFF_KINDS; k++)
        ck_assert_uint_eq(diff.kinds[k], kinds[k]);
    ck_assert_uint_eq(diff.same, 3); /* DDP-7, DDP-9, DDP-I */
    diff_free(&diff);
    report_free(&old);
    report_free(&new);
}
END_TEST

/* In one capture a requirement fails as before, in another one it fails now: the second is new. */
/* Where expected and actual are the same, the messages tell what changed, and nowhere else. */
START_TEST(a_change_is_seen)
{
    struct result before[] = {of("DDP-1", VERDICT_FAIL, "x"), of("DDP-2", VERDICT_FAIL, "x")};
    struct result after[] = {of("DDP-1", VERDICT_FAIL, "x"), of("DDP-2", VERDICT_FAIL, "y")};
    static const char *const texts[][2] = {{"FAIL: expected e; got x; m", "FAIL: expected e; got x; another"},
                                           {"FAIL: expected e; got x", "FAIL: expected e; got y"}};
    struct report old, new;
    struct iwarp_sentence error;
    struct diff diff;

    after[0].message = "another";
    run_of(&old, before, 2, "run");
    run_of(&new, after, 2, "run");
    ck_assert_int_eq(diff_make(&diff, &old, &new, &error), 0);
    ck_assert_uint_eq(diff.kinds[DIFF_CHANGED], 2);
    for (size_t i = 0; i < 2; i++) {
        char *sides[2] = {diff_side_text(&diff.entries[i].before), diff_side_text(&diff.entries[i].after)};

        for (size_t side = 0; side < 2; side++) {
            ck_assert_str_eq(sides[side], texts[i][side]);
            free(sides[side]);
        }
    }
    diff_free(&diff);
    report_free(&old);
    report_free(&new);
}
END_TEST

START_TEST(captures_are_apart)
{
    struct result results[2] = {of("DDP-1", VERDICT_FAIL, "x"), of("DDP-1", VERDICT_FAIL, "x")};
    struct report old, new;
    struct iwarp_sentence error;
    struct diff diff;

    results[0].file = "a.pcap";
    results[1].file = "b.pcap";
    run_of(&old, results, 1, "audit");
    run_of(&new, results, 2, "audit");
    ck_assert_int_eq(diff_make(&diff, &old, &new, &error), 0);
    ck_assert_uint_eq(diff.count, 1);
    ck_assert_int_eq(diff.entries[0].kind, DIFF_NEW);
    ck_assert_str_eq(diff.entries[0].file, "b.pcap");
    diff_free(&diff);
    report_free(&old);
    run_of(&old, results, 1, "run");
    ck_assert_int_eq(diff_make(&diff, &old, &new, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot be compared"));
    report_free(&old);
    report_free(&new);
}
END_TEST

enum { RUNS = 4, NONE = -1 };

/* What each run says, and whether that belongs to the trend. */
static const struct {
    const char *id;
    int verdicts[RUNS];
    bool differs;
} sequences[] = {
    {"T-1", {VERDICT_PASS, VERDICT_FAIL, VERDICT_FAIL, VERDICT_PASS}, true},
    {"T-2", {VERDICT_PASS, VERDICT_PASS, VERDICT_PASS, VERDICT_PASS}, false},
    {"T-3", {NONE, NONE, VERDICT_FAIL, VERDICT_FAIL}, true},
    {"T-4", {VERDICT_PASS, NONE, NONE, VERDICT_KNOWN}, true},
    {"T-5", {VERDICT_FAIL, VERDICT_PASS, VERDICT_PASS, VERDICT_PASS}, true},
    {"T-6", {NONE, NONE, NONE, VERDICT_SKIP}, false}, /* never decided */
};
enum { SEQUENCES = sizeof(sequences) / sizeof(sequences[0]) };

static const struct diff_trend_row *row_of(const struct diff_trend *trend, const char *id)
{
    for (size_t i = 0; i < trend->count; i++)
        if (strcmp(trend->rows[i].entry->id, id) == 0)
            return &trend->rows[i];
    return NULL;
}

START_TEST(a_trend_has_the_verdict_of_each_run)
{
    struct report runs[RUNS];
    struct diff steps[RUNS - 1];
    struct diff_trend trend;
    struct iwarp_sentence error;
    enum verdict verdicts[VERDICT_COUNT];

    for (int run = 0; run < RUNS; run++) {
        struct result results[SEQUENCES];
        size_t count = 0;

        for (size_t i = 0; i < SEQUENCES; i++)
            if (sequences[i].verdicts[run] != NONE)
                results[count++] = of(sequences[i].id, (enum verdict)sequences[i].verdicts[run], "x");
        run_of(&runs[run], results, count, "run");
    }
    for (int step = 0; step + 1 < RUNS; step++)
        ck_assert_int_eq(diff_make(&steps[step], &runs[step], &runs[step + 1], &error), 0);
    ck_assert_int_eq(diff_trend_make(&trend, steps, RUNS - 1), 0);
    ck_assert_uint_eq(trend.runs, RUNS);
    for (size_t i = 0; i < SEQUENCES; i++) {
        const struct diff_trend_row *row = row_of(&trend, sequences[i].id);

        ck_assert_msg((row != NULL) == sequences[i].differs, "%s", sequences[i].id);
        for (int run = 0; row != NULL && run < RUNS; run++) {
            const char *wanted = sequences[i].verdicts[run] == NONE
                                     ? "no result"
                                     : verdict_name((enum verdict)sequences[i].verdicts[run]);

            ck_assert_msg(strcmp(diff_trend_word(&row->sides[run]), wanted) == 0, "%s in run %d: %s", sequences[i].id,
                          run, diff_trend_word(&row->sides[run]));
        }
    }
    ck_assert_uint_eq(diff_trend_verdicts(steps, RUNS - 1, verdicts), 4); /* PASS, FAIL, KNOWN, SKIP */
    diff_trend_free(&trend);
    for (int run = 0; run < RUNS; run++)
        report_free(&runs[run]);
    for (int step = 0; step + 1 < RUNS; step++)
        diff_free(&steps[step]);
}
END_TEST

START_TEST(kinds_have_names)
{
    for (int kind = 0; kind < DIFF_KINDS; kind++)
        ck_assert_int_eq(
            diff_kind_find(diff_kind_name((enum diff_kind)kind), strlen(diff_kind_name((enum diff_kind)kind))), kind);
    ck_assert_int_eq(diff_kind_find("newer", 5), -1);
    ck_assert_int_eq(diff_kind_find("new,", 3), DIFF_NEW);
    ck_assert_int_eq(diff_kind_find("", 0), -1);
}
END_TEST

Suite *diff_suite(void)
{
    Suite *suite = suite_create("diff");
    TCase *tcase = tcase_create("diff");

    tcase_add_test(tcase, each_kind_of_change_is_found);
    tcase_add_test(tcase, a_change_is_seen);
    tcase_add_test(tcase, captures_are_apart);
    tcase_add_test(tcase, a_trend_has_the_verdict_of_each_run);
    tcase_add_test(tcase, kinds_have_names);
    suite_add_tcase(suite, tcase);
    return suite;
}
