/* SPDX-License-Identifier: BSD-2-Clause */
/* results.jsonl: what is written comes back, whatever happens to the disk, the run or the file. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reports/results/report.h"
#include "reports/results/results_log.h"
#include "reports/writers/terminal.h"
#include "reports/file/text.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *results_log_suite(void);

#define SAMPLE "tests/data/reports/run-v1.jsonl"

/* Counts what a reading delivers. */
struct tally {
    int runs, results, journals, summaries, notes;
    struct run_summary summary;
    char note[600];
};

static int tally_run(void *user, const struct run_info *info, json_t *object)
{
    (void)object;
    ck_assert_ptr_nonnull(info->target);
    ((struct tally *)user)->runs++;
    return 0;
}

static int tally_result(void *user, const struct result *result, json_t *object)
{
    struct tally *tally = user;
    (void)object;
    ck_assert_ptr_nonnull(result->id);
    summary_count(&tally->summary, result->verdict);
    tally->results++;
    return 0;
}

static int tally_journal(void *user, const struct journal *journal, json_t *object)
{
    (void)journal;
    (void)object;
    ((struct tally *)user)->journals++;
    return 0;
}

static int tally_summary(void *user, const struct run_summary *summary, json_t *object)
{
    (void)summary;
    (void)object;
    ((struct tally *)user)->summaries++;
    return 0;
}

static void tally_note(void *user, const char *note)
{
    struct tally *tally = user;
    snprintf(tally->note, sizeof(tally->note), "%s", note);
    tally->notes++;
}

static int tally_read(struct tally *tally, const char *path, struct iwarp_sentence *error)
{
    *tally = (struct tally){0};
    struct results_reader reader = {.on_run = tally_run,
                                    .on_result = tally_result,
                                    .on_journal = tally_journal,
                                    .on_summary = tally_summary,
                                    .on_note = tally_note,
                                    .user = tally};
    return results_read(path, &reader, error);
}

/* The committed file of version 1: what older tools wrote must be read for good. */
START_TEST(version_1_sample)
{
    struct tally tally;
    struct iwarp_sentence error;

    ck_assert_msg(tally_read(&tally, SAMPLE, &error) == 0, "%s", error.text);
    ck_assert_int_eq(tally.runs, 1);
    ck_assert_int_eq(tally.summaries, 1);
    ck_assert_int_eq(tally.notes, 0);
    ck_assert_uint_eq(tally.summary.fail, 6);
    ck_assert_uint_eq(tally.summary.skip, 1);
    ck_assert_uint_eq(tally.summary.ambiguous, 1);
}
END_TEST

START_TEST(log_round_trip)
{
    char *folder = sample_folder(), *text;
    struct tally tally;
    struct iwarp_sentence error;

    sample_results(folder, 1);
    ck_assert_msg(tally_read(&tally, sample_path(folder, "results.jsonl"), &error) == 0, "%s", error.text);
    ck_assert_int_eq(tally.results, 8);
    ck_assert_uint_eq(tally.summary.pass, 2);
    ck_assert_uint_eq(tally.summary.known, 1);
    ck_assert_int_eq(tally.summaries, 1);
    text = sample_read(sample_path(folder, "results.jsonl"), NULL);
    ck_assert_int_eq(strncmp(text, "{\"type\":\"run\",\"tool\":", 20), 0);
    ck_assert_ptr_nonnull(strstr(text, "\n{\"type\":\"result\",\"id\":\"MPA-7.1.2-05\",\"verdict\":\"PASS\""));
    ck_assert_ptr_nonnull(strstr(text, "\n{\"type\":\"summary\",\"pass\":2,\"fail\":1,\"known\":1,\"known_findings\":1,"
                                       "\"warn\":1,\"inconclusive\":1,"));
    free(text);
    sample_remove(folder);
}
END_TEST

/* Killed at any octet: everything up to the last whole line is there, and no error. */
START_TEST(torn_log_keeps_its_whole_lines)
{
    char *folder = sample_folder(), *text;
    const char *path = sample_path(folder, "torn.jsonl");
    size_t size, first, lines = 0;
    struct tally tally;
    struct iwarp_sentence error;

    sample_results(folder, 1);
    text = sample_read(sample_path(folder, "results.jsonl"), &size);
    first = strcspn(text, "\n");
    for (size_t cut = 0; cut <= size; cut += cut > first + 40 && cut + 400 < size ? 97 : 1) {
        size_t whole = 0;
        sample_write(path, text, cut);
        for (size_t i = 0; i < cut; i++)
            whole += text[i] == '\n' || (i + 1 == cut && text[cut] == '\n');
        int rc = tally_read(&tally, path, &error);
        ck_assert_msg(rc == (cut < first ? -1 : 0), "cut at %zu: %s", cut, rc ? error.text : "read");
        if (rc == 0)
            ck_assert_uint_eq((size_t)(tally.runs + tally.results + tally.journals + tally.summaries), whole);
        lines = whole;
    }
    ck_assert_uint_eq(lines, 15);
    free(text);
    unlink(path);
    unlink(sample_path(folder, "results.jsonl"));
    sample_remove(folder);
}
END_TEST

#define RUN    "{\"type\":\"run\",\"tool\":\"w\",\"version\":1,\"catalogue\":\"c\",\"target\":\"t\",\"seed\":1}\n"
#define PASSED "{\"type\":\"result\",\"id\":\"A\",\"verdict\":\"PASS\"}\n"

static const struct {
    const char *text, *error; /* error NULL: read, with `results` results */
    int results;
} files[] = {
    {RUN PASSED PASSED, NULL, 2},
    {RUN PASSED "{\"type\":\"news\"}\n" PASSED, NULL, 2},
    {RUN "\r\n\n" PASSED, NULL, 1},
    {RUN PASSED "{\"type\":\"resu", NULL, 1},
    {RUN PASSED "garbage\n" PASSED, ":3: ", 1},
    {RUN "[1]\n", ":2: ", 0},
    {RUN "{\"type\":\"result\",\"id\":\"A\",\"verdict\":\"MAYBE\"}\n", ":2: ", 0},
    {RUN RUN, ":2: ", 0},
    {PASSED, ":1: ", 0},
    {"", "empty", 0},
    {"\n\n", "empty", 0},
    {"{", ":1: ", 0},
    {"\xd4\xc3\xb2\xa1\x02\n\x01", ":1: ", 0}, /* a capture */
    {"{\"type\":\"run\",\"tool\":\"w\",\"version\":2,\"catalogue\":\"c\",\"target\":\"t\",\"seed\":1}\n" PASSED, NULL,
     1},
    {"{\"type\":\"run\",\"tool\":\"w\",\"version\":3,\"catalogue\":\"c\",\"target\":\"t\",\"seed\":1}\n", "version 1",
     0},
};

START_TEST(foreign_file_is_counted_or_refused)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "foreign.jsonl");
    struct tally tally;
    struct iwarp_sentence error = {""};

    sample_write(path, files[_i].text, strlen(files[_i].text));
    int rc = tally_read(&tally, path, &error);
    ck_assert_msg(rc == (files[_i].error ? -1 : 0), "%s", error.text);
    ck_assert_int_eq(tally.results, files[_i].results);
    if (files[_i].error) {
        ck_assert_msg(strstr(error.text, files[_i].error) != NULL, "%s", error.text);
        ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "%s", error.text);
    }
    sample_remove(folder);
}
END_TEST

START_TEST(deep_and_long_lines)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "deep.jsonl");
    size_t size = strlen(RUN), room = (17u << 20) + size;
    char *text = malloc(room);
    struct tally tally;
    struct iwarp_sentence error = {""};

    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): octets, no string */
    memcpy(text, RUN, size);
    memset(text + size, '[', room - size);
    sample_write(path, text, size + 100000); /* nested 100,000 deep, and torn */
    ck_assert_int_eq(tally_read(&tally, path, &error), 0);
    ck_assert_int_eq(tally.notes, 1);
    sample_write(path, text, room);
    ck_assert_int_eq(tally_read(&tally, path, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, ":2: a line longer than 16 MiB"));
    ck_assert_int_eq(tally_read(&tally, sample_path(folder, "missing"), &error), -1);
    ck_assert_int_eq(tally_read(&tally, folder, &error), -1);
    free(text);
    sample_remove(folder);
}
END_TEST

START_TEST(log_reports_a_full_disk)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "results.jsonl");
    struct rlimit before, limit;
    struct result result = {
        .id = "DDP-7.2-02", .verdict = VERDICT_PASS, .message = "0123456789012345678901234567890123456789"};
    struct iwarp_sentence error = {""};
    struct tally tally;
    int written = 0;

    ck_assert_ptr_null(results_log_create(PLACE("/dev/full"), &sample_info, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "/dev/full: cannot write"));
    signal(SIGXFSZ, SIG_IGN); /* a file size limit stands in for a disk that fills */
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){3000, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct results_log *log = results_log_create(PLACE(path), &sample_info, NULL, &error);
    ck_assert_ptr_nonnull(log);
    while (written < 100 && results_log_append(log, &result, &error) == 0)
        written++;
    ck_assert_int_gt(written, 5);
    ck_assert_int_lt(written, 100);
    ck_assert_msg(strstr(error.text, "results.jsonl: cannot write") != NULL, "%s", error.text);
    ck_assert_uint_eq(results_log_summary(log)->pass, (unsigned)written);
    ck_assert_int_eq(results_log_append(log, &result, &error), -1); /* and again, still whole */
    ck_assert_int_eq(results_log_close(log, &error), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    ck_assert_int_eq(tally_read(&tally, path, &error), 0);
    ck_assert_int_eq(tally.results, written);
    ck_assert_int_eq(tally.notes, 0);
    sample_remove(folder);
}
END_TEST

START_TEST(echo_is_the_file)
{
    char *folder = sample_folder(), *echoed = NULL, *text;
    const char *path = sample_path(folder, "results.jsonl");
    size_t size = 0;
    FILE *echo = open_memstream(&echoed, &size);
    struct result result = {.id = "A-1-01", .verdict = VERDICT_FAIL, .message = sample_hostile};
    struct iwarp_sentence error;

    for (int to_file = 0; to_file < 2; to_file++) {
        struct results_log *log = results_log_create(to_file ? PLACE(path) : NULL, &sample_info, echo, &error);
        ck_assert_ptr_nonnull(log);
        ck_assert_int_eq(results_log_append(log, &result, &error), 0);
        ck_assert_int_eq(results_log_close(log, &error), 0);
    }
    fclose(echo);
    text = sample_read(path, NULL);
    ck_assert_uint_eq(size, 2 * strlen(text));
    ck_assert_str_eq(echoed + strlen(text), text);
    free(echoed);
    free(text);
    sample_remove(folder);
}
END_TEST

START_TEST(resume_goes_on)
{
    char *folder = sample_folder(), *text;
    const char *path = sample_path(folder, "results.jsonl");
    struct results_done *done = NULL;
    struct result result = {.id = "MPA-7.1-02", .verdict = VERDICT_PASS, .role = "initiator"};
    struct iwarp_sentence error = {""};
    struct tally tally;
    size_t size;

    sample_results(folder, 1);
    text = sample_read(path, &size);
    sample_write(path, text, size - 30); /* the summary line torn */
    struct results_log *log = results_log_resume(PLACE(path), &sample_info, NULL, &done, &error);
    ck_assert_msg(log != NULL, "%s", error.text);
    ck_assert_uint_eq(results_done_count(done), 4);
    ck_assert(results_done_has(done, "MPA-7.1.2-05", "responder"));
    ck_assert(!results_done_has(done, "MPA-4.5-05", sample_hostile)); /* a rule's: made again of the journals */
    ck_assert(!results_done_has(done, "MPA-7.1.2-05", NULL));
    ck_assert(results_done_has(done, "MPA-4.3-03", NULL));
    ck_assert(!results_done_has(done, "MPA-7.1-02", "initiator")); /* was INCONCLUSIVE */
    ck_assert_uint_eq(results_log_summary(log)->inconclusive, 0);
    ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    ck_assert_int_eq(results_log_finish(log, results_log_summary(log), &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    ck_assert_msg(tally_read(&tally, path, &error) == 0, "%s", error.text);
    ck_assert_int_eq(tally.results, 5);
    ck_assert_uint_eq(tally.summary.pass, 2);
    ck_assert_int_eq(tally.summaries, 1);
    ck_assert_int_eq(tally.notes, 0);
    results_done_free(done);
    free(text);
    sample_remove(folder);
}
END_TEST

START_TEST(resume_of_nothing_starts)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "results.jsonl");
    struct results_done *done = NULL;
    struct iwarp_sentence error = {""};
    struct tally tally;

    struct results_log *log = results_log_resume(PLACE(path), &sample_info, NULL, &done, &error);
    ck_assert_ptr_nonnull(log);
    ck_assert_uint_eq(results_done_count(done), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    ck_assert_int_eq(tally_read(&tally, path, &error), 0);
    ck_assert_int_eq(tally.runs, 1);
    results_done_free(done);
    sample_remove(folder);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof(table[0]))

Suite *results_log_suite(void)
{
    Suite *suite = suite_create("results_log");
    TCase *log = tcase_create("log");

    tcase_add_test(log, version_1_sample);
    tcase_add_test(log, log_round_trip);
    tcase_add_test(log, torn_log_keeps_its_whole_lines);
    tcase_add_loop_test(log, foreign_file_is_counted_or_refused, 0, ROWS(files));
    tcase_add_test(log, deep_and_long_lines);
    tcase_add_test(log, log_reports_a_full_disk);
    tcase_add_test(log, echo_is_the_file);
    tcase_add_test(log, resume_goes_on);
    tcase_add_test(log, resume_of_nothing_starts);
    suite_add_tcase(suite, log);
    return suite;
}
