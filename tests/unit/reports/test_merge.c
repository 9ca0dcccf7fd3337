/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging results: commutative, associative, the same twice once; and nothing that results say is trusted. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/requirements/catalogue.h"
#include "reports/merge/merge.h"
#include "reports/results/results_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *merge_suite(void);

static struct catalogue *catalogue;

static void set_up(void)
{
    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
}

static void tear_down(void)
{
    catalogue_free(catalogue);
}

/* Merges `count` of a folder's files into a file there, or a sentence that says why not. */
static int merge_files(const char *folder, const char *const *names, size_t count, const char *to,
                       struct merge_outcome *outcome, struct iwarp_sentence *error)
{
    struct merge *merge = merge_new(catalogue);
    int rc = 0;

    ck_assert_ptr_nonnull(merge);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = merge_add(merge, sample_path(folder, names[i]), folder, error);
    if (rc == 0) {
        struct folder_config config = {.path = folder, .use = FOLDER_AGAIN};
        struct folder *output;

        ck_assert_int_eq(folder_claim(&output, &config, error), 0);
        rc = merge_write(merge, output, outcome, error);
        folder_leave(output);
    }
    merge_free(merge);
    if (rc == 0)
        ck_assert_int_eq(rename(sample_path(folder, "results.jsonl"), sample_path(folder, to)), 0);
    return rc;
}

static void merged(const char *folder, const char *a, const char *b, const char *to)
{
    const char *names[] = {a, b};
    struct merge_outcome outcome = {0};
    struct iwarp_sentence error = {{0}};

    ck_assert_msg(merge_files(folder, names, b ? 2 : 1, to, &outcome, &error) == 0, "%s", error.text);
}

static void same_file(const char *folder, const char *a, const char *b)
{
    char *left = sample_read(sample_path(folder, a), NULL), *right = sample_read(sample_path(folder, b), NULL);

    ck_assert_str_eq(left, right);
    free(left);
    free(right);
}

/* One part with random verdicts of a few checks and rules; now and then without its end. */
static void random_part(const char *folder, const char *name, const char *shard, const char *started, bool audit)
{
    static const char *const ids[] = {"DDP-7.2-01", "DDP-4.1-01", "MPA-4.1-01", "MPA-7.1.2-05", "X-1"};
    struct run_info info = sample_info;
    struct run_summary summary = {.frames = (uint64_t)rand() % 100, .not_exercised = (uint64_t)rand() % 9};
    struct results_log *log;

    info.started = started;
    info.command = audit ? "audit" : "run";
    info.shard = shard;
    info.plan = shard ? "0123456789abcdef" : NULL;
    info.selected = (uint64_t)rand() % 2 * 20;
    log = results_log_create(PLACE(sample_path(folder, name)), &info, NULL, NULL);
    ck_assert_ptr_nonnull(log);
    for (int i = 0; i < 12; i++) {
        bool rule = audit || rand() % 2;
        char actual[24];
        struct result result = {.id = ids[rand() % 5],
                                .verdict = (enum verdict)(rand() % VERDICT_COUNT),
                                .by = rule ? "rule" : "check",
                                .script = rule ? "some_rule" : "a.lua:7",
                                .role = rand() % 2 ? "initiator" : "responder",
                                .flow = rand() % 2 ? "a>b" : "b>a",
                                .file = audit ? "one.pcap" : NULL,
                                .actual = actual,
                                .count = (uint64_t)rand() % 5};

        snprintf(actual, sizeof(actual), "%d", rand() % 3);
        if (rule && !audit && rand() % 4 == 0 && result.verdict == VERDICT_PASS)
            result.unexpected = "unexpected pass: it is known";
        if (!rule && rand() % 4 == 0)
            result.finding = "a finding";
        ck_assert_int_eq(results_log_append(log, &result, NULL), 0);
    }
    summary_add_messages(&summary, rand() % 2 ? "Send" : "RDMA Write", (uint64_t)rand() % 50 + 1);
    if (rand() % 4)
        ck_assert_int_eq(results_log_finish(log, &summary, NULL), 0);
    ck_assert_int_eq(results_log_close(log, NULL), 0);
}

START_TEST(merge_is_commutative_and_associative)
{
    char *folder = sample_folder();
    bool audit = _i % 3 == 0;

    srand((unsigned)_i);
    random_part(folder, "a", _i % 2 ? "1/3" : NULL, "2026-01-01T00:00:00Z", audit);
    random_part(folder, "b", _i % 2 ? "2/3" : NULL, "2026-01-02T00:00:00Z", audit);
    random_part(folder, "c", _i % 2 ? "3/3" : NULL, _i % 4 ? "2026-01-03T00:00:00Z" : "2026-01-02T00:00:00Z", audit);
    merged(folder, "a", "b", "ab");
    merged(folder, "b", "a", "ba");
    same_file(folder, "ab", "ba");
    merged(folder, "b", "c", "bc");
    merged(folder, "c", "a", "ca");
    merged(folder, "ab", "c", "ab-c");
    merged(folder, "a", "bc", "a-bc");
    merged(folder, "b", "ca", "b-ca");
    same_file(folder, "ab-c", "a-bc");
    same_file(folder, "ab-c", "b-ca");
    merged(folder, "ab", "bc", "ab-bc");
    same_file(folder, "ab-c", "ab-bc");
    merged(folder, "ab-c", "ab-c", "twice");
    same_file(folder, "ab-c", "twice");
    merged(folder, "a", NULL, "alone");
    merged(folder, "a", "a", "aa");
    same_file(folder, "alone", "aa");
    sample_remove(folder);
}
END_TEST

static void write_part(const char *folder, const char *name, const char *run, const char *rest)
{
    char text[4096];

    snprintf(text, sizeof(text),
             "{\"type\":\"run\",\"tool\":\"t\",\"version\":1,\"catalogue\":\"c\",\"target\":\"d\",\"seed\":1%s}\n%s",
             run, rest);
    sample_write(sample_path(folder, name), text, strlen(text));
}

START_TEST(evidence_stays_inside)
{
    static const char *const names[] = {"a"};
    static const char *const paths[] = {
        "../secret",   "/etc/passwd", "evidence/../../secret", "evidence/.hidden",   "evidence/",     "evidence/a/b",
        "evidence/..", "evidence",    "evidence//x",           "evidence/x/../../y", "http://host/x", ""};
    char *folder = sample_folder();
    struct merge_outcome outcome = {0};
    struct stat status;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char rest[512];

        snprintf(
            rest, sizeof(rest),
            "{\"type\":\"result\",\"id\":\"DDP-7.2-01\",\"verdict\":\"FAIL\",\"by\":\"check\",\"evidence\":\"%s\"}\n"
            "{\"type\":\"summary\",\"fail\":1}\n",
            paths[i]);
        write_part(folder, "a", "", rest);
        ck_assert_int_eq(merge_files(folder, names, 1, "to", &outcome, NULL), 0);
        ck_assert_uint_eq(outcome.evidence_missing, 0); /* not even looked for */
        ck_assert_int_ne(stat(sample_path(folder, "evidence"), &status), 0);
        ck_assert_int_eq((int)merge_exit_status(&outcome), EXIT_FAILS);
    }
    sample_remove(folder);
}
END_TEST

START_TEST(hostile_members_are_merged_safely)
{
    static const char *const names[] = {"a", "b"};
    char *folder = sample_folder();
    struct merge_outcome outcome = {0};
    struct iwarp_sentence error;

    write_part(
        folder, "a", ",\"parts\":{\"1/4000000000\":7,\"2/2\":{\"finished\":true,\"summary\":[]},\"\":null}",
        "{\"type\":\"result\",\"id\":\"DDP-7.2-01\",\"verdict\":\"PASS\",\"by\":\"rule\",\"shares\":{\"x\":[1,\"y\"],"
        "\"y\":[\"FAIL\",-3],\"z\":5}}\n"
        "{\"type\":\"beside\",\"id\":\"DDP-4.1-01\",\"verdict\":\"FAIL\",\"by\":\"rule\",\"shares\":{}}\n"
        "{\"type\":\"console\",\"text\":\"panic\"}\n");
    write_part(folder, "b", ",\"shard\":\"7/3\"", "{\"type\":\"summary\",\"messages\":{\"Send\":-1}}\n");
    ck_assert_int_eq(merge_files(folder, names, 2, "to", &outcome, &error), 0);
    ck_assert_int_ne((int)merge_exit_status(&outcome), EXIT_CONFORMS);
    write_part(folder, "b", ",\"seed\":2", "");
    ck_assert_int_eq(merge_files(folder, names, 2, "to", &outcome, &error), -1); /* a member twice */
    write_part(folder, "a", ",\"shard\":\"1/2\",\"plan\":\"x\"", "");
    write_part(folder, "b", ",\"shard\":\"2/2\",\"plan\":\"y\"", "");
    ck_assert_int_eq(merge_files(folder, names, 2, "to", &outcome, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "division"));
    write_part(folder, "b", ",\"shard\":\"2/3\",\"plan\":\"x\"", "");
    ck_assert_int_eq(merge_files(folder, names, 2, "to", &outcome, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "number of shards is '3', not '2'"));
    sample_remove(folder);
}
END_TEST

START_TEST(a_known_deviation_that_another_shard_met)
{
    static const char *const names[] = {"a", "b"};
    static const char line[] =
        "{\"type\":\"result\",\"id\":\"MPA-4.1-01\",\"verdict\":\"PASS\",\"by\":\"rule\",\"count\":3,"
        "\"unexpected\":\"unexpected pass: known\"}\n{\"type\":\"summary\",\"pass\":1}\n";
    char *folder = sample_folder();
    struct merge_outcome outcome = {0};

    write_part(folder, "a", ",\"shard\":\"1/2\"", line);
    write_part(
        folder, "b", ",\"shard\":\"2/2\"",
        "{\"type\":\"result\",\"id\":\"MPA-4.1-01\",\"verdict\":\"KNOWN\",\"by\":\"rule\",\"count\":1,\"finding\":"
        "\"x\"}\n{\"type\":\"summary\",\"known\":1}\n");
    ck_assert_int_eq(merge_files(folder, names, 2, "ab", &outcome, NULL), 0);
    ck_assert_int_eq((int)merge_exit_status(&outcome), EXIT_KNOWN);
    ck_assert_uint_eq(outcome.summary.known, 1);
    ck_assert_uint_eq(outcome.summary.known_findings, 1);
    ck_assert_uint_eq(outcome.summary.pass, 0);

    write_part(folder, "b", ",\"shard\":\"2/2\"", line); /* nobody met it */
    ck_assert_int_eq(merge_files(folder, names, 1, "a-", &outcome, NULL), 0);
    ck_assert_int_eq((int)merge_exit_status(&outcome), EXIT_INCONCLUSIVE);
    ck_assert_str_eq(outcome.incomplete, "shard 2/2 is missing");
    ck_assert_int_eq(merge_files(folder, names, 2, "ab", &outcome, NULL), 0);
    ck_assert_int_eq((int)merge_exit_status(&outcome), EXIT_FAILS);
    merged(folder, "a-", "b", "ab-");
    same_file(folder, "ab", "ab-");
    merged(folder, "ab", NULL, "ab-");
    same_file(folder, "ab", "ab-");
    sample_remove(folder);
}
END_TEST

/* Two runs of one second are of one name: whichever comes first, of each of their counters the larger counts. */
START_TEST(parts_of_one_name)
{
    char *folder = sample_folder();

    write_part(folder, "a", ",\"started\":\"2026-01-01T00:00:00Z\"",
               "{\"type\":\"summary\",\"pass\":12,\"ambiguous\":1,\"known\":1,\"known_findings\":1,\"frames\":4,"
               "\"messages\":{\"Send\":2}}\n");
    write_part(folder, "b", ",\"started\":\"2026-01-01T00:00:00Z\"",
               "{\"type\":\"summary\",\"pass\":6,\"warn\":3,\"frames\":9,\"messages\":{\"Terminate\":0}}\n");
    merged(folder, "a", "b", "ab");
    merged(folder, "b", "a", "ba");
    same_file(folder, "ab", "ba");
    merged(folder, "ab", "b", "ab-b");
    same_file(folder, "ab", "ab-b");
    sample_remove(folder);
}
END_TEST

/* Shares that are none, in what a merge gave: the line counts for itself, at whatever step it is read. */
START_TEST(shares_that_say_nothing)
{
    char *folder = sample_folder();

    write_part(folder, "a", ",\"started\":\"2026-01-01T00:00:00Z\",\"parts\":{\"1/2\":{\"finished\":true}}",
               "{\"type\":\"result\",\"id\":\"MPA-4.1-01\",\"verdict\":\"PASS\",\"by\":\"rule\",\"count\":4,"
               "\"shares\":{\"1/2\":-15}}\n");
    write_part(folder, "b", ",\"shard\":\"1/2\"",
               "{\"type\":\"result\",\"id\":\"MPA-4.1-01\",\"verdict\":\"PASS\",\"by\":\"rule\",\"count\":4}\n");
    merged(folder, "a", "b", "ab");
    merged(folder, "a", NULL, "a-");
    merged(folder, "a-", "b", "a-b");
    same_file(folder, "ab", "a-b");
    sample_remove(folder);
}
END_TEST

START_TEST(what_is_missing_fits)
{
    enum { SHARDS = 40 };
    const char *names[SHARDS];
    char text[SHARDS][4], label[32];
    char *folder = sample_folder();
    struct merge_outcome outcome = {0};

    for (int i = 0; i < SHARDS; i++) {
        snprintf(text[i], sizeof(text[i]), "%d", i);
        snprintf(label, sizeof(label), ",\"shard\":\"%d/4000\"", 3900 + i);
        names[i] = text[i];
        write_part(folder, text[i], label, "");
    }
    ck_assert_int_eq(merge_files(folder, names, SHARDS, "to", &outcome, NULL), 0);
    ck_assert_uint_lt(strlen(outcome.incomplete), sizeof(outcome.incomplete));
    ck_assert_ptr_nonnull(strstr(outcome.incomplete, "shard 1/4000, 2/4000, "));
    ck_assert_ptr_nonnull(strstr(outcome.incomplete, " and 3984 more are missing"));

    for (int i = 0; i < SHARDS; i++) { /* all are there, and none came to its end */
        snprintf(label, sizeof(label), ",\"shard\":\"%d/%d\"", i + 1, SHARDS);
        write_part(folder, text[i], label, "");
    }
    ck_assert_int_eq(merge_files(folder, names, SHARDS, "to", &outcome, NULL), 0);
    ck_assert_uint_lt(strlen(outcome.incomplete), sizeof(outcome.incomplete));
    ck_assert_ptr_nonnull(strstr(outcome.incomplete, "16/40 (stopped before its end) and 24 more are missing"));
    sample_remove(folder);
}
END_TEST

START_TEST(counts_that_are_too_large)
{
    static const char *const names[] = {"a"};
    char *folder = sample_folder(), *text;
    struct merge_outcome outcome = {0};

    write_part(folder, "a", ",\"parts\":{\"1/1\":{\"finished\":true}}",
               "{\"type\":\"result\",\"id\":\"MPA-4.1-01\",\"verdict\":\"FAIL\",\"by\":\"rule\",\"shares\":"
               "{\"x\":[\"FAIL\",9223372036854775807],\"y\":[\"FAIL\",5]}}\n");
    ck_assert_int_eq(merge_files(folder, names, 1, "to", &outcome, NULL), 0);
    text = sample_read(sample_path(folder, "to"), NULL);
    ck_assert_ptr_nonnull(strstr(text, "\"count\":9223372036854775807"));
    free(text);
    sample_remove(folder);
}
END_TEST

Suite *merge_suite(void)
{
    Suite *suite = suite_create("merge");
    TCase *tcase = tcase_create("merge");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, merge_is_commutative_and_associative, 0, 40);
    tcase_add_test(tcase, evidence_stays_inside);
    tcase_add_test(tcase, hostile_members_are_merged_safely);
    tcase_add_test(tcase, a_known_deviation_that_another_shard_met);
    tcase_add_test(tcase, parts_of_one_name);
    tcase_add_test(tcase, shares_that_say_nothing);
    tcase_add_test(tcase, what_is_missing_fits);
    tcase_add_test(tcase, counts_that_are_too_large);
    suite_add_tcase(suite, tcase);
    return suite;
}
