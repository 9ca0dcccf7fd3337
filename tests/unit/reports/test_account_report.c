/* SPDX-License-Identifier: BSD-2-Clause */
/* The account in results.jsonl and in every report, and what it does to the exit status. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/writers/account_text.h"
#include "reports/writers/format.h"
#include "reports/merge/merge.h"
#include "reports/results/report.h"
#include "reports/results/results_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *account_report_suite(void);

/* Something in each row, every number another. */
static struct flow_account full_account(void)
{
    struct flow_account account = {0};

    for (unsigned i = 0; i < FLOW_ROWS; i++)
        account.row[i] = (struct flow_count){i + 1, 100 + i, 1000 + i};
    return account;
}

START_TEST(account_survives_json)
{
    struct flow_account account = full_account(), back;
    json_t *object = account_to_json(&account);
    struct flow_count judged = flow_account_sum(&account, FLOW_JUDGED),
                      foreign = flow_account_sum(&account, FLOW_FOREIGN),
                      unjudged = flow_account_sum(&account, FLOW_UNJUDGED);

    account_from_json(object, &back);
    ck_assert_int_eq(memcmp(&account, &back, sizeof(account)), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(object, "frames")),
                     (json_int_t)(judged.frames + foreign.frames + unjudged.frames));
    ck_assert_int_eq(json_integer_value(json_object_get(object, "octets")),
                     (json_int_t)(judged.octets + foreign.octets + unjudged.octets));
    json_decref(object);
    memset(&account, 0, sizeof(account));
    ck_assert(account_is_empty(&account));
    object = account_to_json(&account);
    ck_assert_uint_eq(json_object_size(object), 0);
    json_decref(object);
    account_from_json(NULL, &back);
    ck_assert(account_is_empty(&back));
}
END_TEST

/* What another version wrote, and what nobody would write. */
START_TEST(foreign_account_is_read_safely)
{
    static const char text[] =
        "{\"judged\": {\"iwarp\": {\"frames\": -1, \"octets\": \"x\", \"items\": 5}, \"gap\": 7},"
        " \"foreign\": {\"token-ring\": {\"frames\": 9}}, \"missing\": [],"
        " \"unjudged\": {\"solar-flare\": {\"octets\": 12}, \"arp\": {\"octets\": 3}}}";
    json_t *object = json_loads(text, 0, NULL);
    struct flow_account account;

    account_from_json(object, &account);
    ck_assert_uint_eq(account.row[FLOW_ROW_IWARP].items, 5);
    ck_assert_uint_eq(account.row[FLOW_ROW_IWARP].frames, 0);
    ck_assert_uint_eq(account.row[FLOW_ROW_UNKNOWN].octets, 15); /* an unknown reason leaves something unjudged */
    ck_assert_uint_eq(flow_account_sum(&account, FLOW_FOREIGN).frames, 0);
    ck_assert(!flow_account_whole(&account));
    json_decref(object);
}
END_TEST

START_TEST(account_counts_have_texts)
{
    char text[ACCOUNT_TEXT];
    struct flow_account account = {0};

    ck_assert_str_eq(account_count_text(FLOW_ROW_COMPRESSED, &(struct flow_count){1, 0, 0}, text), "1 file");
    ck_assert_str_eq(account_count_text(FLOW_ROW_LATE, &(struct flow_count){0, 2, 1}, text), "2 frames, 1 octet");
    ck_assert_str_eq(account_count_text(FLOW_ROW_TCP, &(struct flow_count){2, 1, 0}, text), "2 connections, 1 frame");
    account.row[FLOW_ROW_COMPRESSED].items = 2;
    ck_assert_str_eq(account_kind_text(&account, FLOW_UNJUDGED, text), "2 files");
    account.row[FLOW_ROW_EVICTED].items = 2;
    ck_assert_str_eq(account_kind_text(&account, FLOW_UNJUDGED, text), "4 items");
    account.row[FLOW_ROW_LATE].octets = 7;
    ck_assert_str_eq(account_kind_text(&account, FLOW_UNJUDGED, text), "7 octets");
    ck_assert_str_eq(account_kind_text(&account, FLOW_JUDGED, text), "");
}
END_TEST

/* ---- reports ----------------------------------------------------------------------------------------------------- */

enum gaps { NONE, GAPS, ACCEPTED };

static struct flow_account sample_account(enum gaps gaps)
{
    struct flow_account account = {0};

    flow_account_count(&account, FLOW_ROW_IWARP, 10, 1000);
    flow_account_count(&account, FLOW_ROW_ARP, 2, 84);
    if (gaps == NONE)
        return account;
    flow_account_count(&account, FLOW_ROW_LATE, 3, 222);
    flow_account_count(&account, FLOW_ROW_GAP, 0, 55);
    account.row[FLOW_ROW_COMPRESSED].items = 1;
    return account;
}

/* An audit of one capture, with a file that was not read when there are gaps. */
static void write_sample(const char *path, const char *shard, enum verdict verdict, enum gaps gaps, bool finished)
{
    struct flow_account account = sample_account(gaps), of_file = account;
    struct capture_info whole = {.file = shard != NULL ? shard : "a.pcap", .status = "whole"};
    const struct capture_info skipped = {
        .file = "b.gz", .status = "skipped", .message = "b.gz: is compressed", .reason = "compressed"};
    const struct result result = {.id = "DDP-7.2-02", .verdict = verdict, .by = "rule", .file = "a.pcap"};
    struct run_info info = sample_info;
    struct run_summary summary;
    struct iwarp_sentence error;
    struct results_log *log;

    info.command = "audit";
    info.shard = shard;
    info.plan = shard != NULL ? "0123" : NULL;
    log = results_log_create(PLACE(path), &info, NULL, &error);
    of_file.row[FLOW_ROW_COMPRESSED].items = 0;
    whole.account = account_to_json(&of_file);
    ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    ck_assert_int_eq(results_log_capture(log, &whole, &error), 0);
    if (gaps != NONE)
        ck_assert_int_eq(results_log_capture(log, &skipped, &error), 0);
    summary = *results_log_summary(log);
    summary.account = account;
    summary.allow_gaps = gaps == ACCEPTED;
    if (finished)
        ck_assert_int_eq(results_log_finish(log, &summary, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    json_decref(whole.account);
}

/* A report in one format as text, malloc'd. */
static char *written(const struct report *report, const char *folder, const char *name)
{
    const struct report_format *format = report_format_find(name);
    const char *path = sample_path(folder, name);
    struct iwarp_sentence error;

    ck_assert_ptr_nonnull(format);
    ck_assert_msg(format->write(report, NULL, PLACE(path), &error) == 0, "%s", error.text);
    return sample_read(path, NULL);
}

static void load(struct report *report, const char *folder)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(report_load(report, sample_path(folder, "results.jsonl"), NULL, &error) == 0, "%s", error.text);
}

static void has(const char *text, const char *part, bool wanted)
{
    ck_assert_msg((strstr(text, part) != NULL) == wanted, "'%s' is %s: %s", part, wanted ? "missing" : "there", text);
}

/* Loop: gaps. */
START_TEST(every_report_shows_the_account)
{
    static const enum exit_status statuses[] = {
        [NONE] = EXIT_CONFORMS, [GAPS] = EXIT_INCONCLUSIVE, [ACCEPTED] = EXIT_CONFORMS};
    char *folder = sample_folder();
    struct report report;
    char *text;

    write_sample(sample_path(folder, "results.jsonl"), NULL, VERDICT_PASS, (enum gaps)_i, true);
    load(&report, folder);
    ck_assert_int_eq(report_exit_status(&report), statuses[_i]);
    ck_assert_uint_eq(report.skipped, _i != NONE);
    ck_assert_uint_eq(report.unread, 0);
    text = written(&report, folder, "junit");
    has(text, "<testsuite name=\"account\"", true);
    has(text, "all iWARP of the input is judged", _i == NONE);
    has(text, "b.gz is read", _i != NONE);
    has(text, "<error message=\"3 frames, 222 octets: octets before", _i == GAPS);
    has(text, "<skipped message=\"55 octets: octets of iWARP that no frame", _i == ACCEPTED);
    has(text,
        _i == GAPS       ? "errors=\"4\" skipped=\"0\""
        : _i == ACCEPTED ? "errors=\"0\" skipped=\"4\""
                         : "errors=\"0\"",
        true);
    free(text);
    text = written(&report, folder, "tap");
    has(text, _i == NONE ? "1..2\n" : "1..3\n", true);
    has(text,
        _i == GAPS       ? "not ok 3 - account: all iWARP"
        : _i == ACCEPTED ? "\nok 3 - account"
                         : "\nok 2 - account",
        true);
    has(text, "gap: \"55 octets", _i != NONE);
    has(text, "# SKIP", _i == ACCEPTED);
    free(text);
    text = written(&report, folder, "sarif");
    has(text, "Not judged (late): 3 frames, 222 octets", _i != NONE);
    has(text, "\"level\":\"error\"", _i == GAPS);
    has(text, "\"exitCode\":4", _i == GAPS);
    has(text, "\"account\":{", true);
    free(text);
    text = written(&report, folder, "md");
    has(text, "| late | 3 frames, 222 octets |", _i != NONE);
    has(text, "All iWARP of the input was judged", _i == NONE);
    free(text);
    text = written(&report, folder, "html");
    has(text, "Account of the input", true);
    has(text, "<details class=\"account more\" open=\"open\">", _i != NONE);
    has(text, "Inconclusive</strong>", _i == GAPS);
    has(text, "was accepted (--allow-gaps)", _i == ACCEPTED);
    has(text, "b.gz: is compressed", _i != NONE);
    free(text);
    report_free(&report);
    sample_remove(folder);
}
END_TEST

/* A FAIL is a FAIL; without a summary line the captures' own accounts are added up. Loop: with a summary line. */
START_TEST(exit_status_follows_the_account)
{
    char *folder = sample_folder();
    struct flow_account wanted = sample_account(GAPS);
    struct report report;

    write_sample(sample_path(folder, "results.jsonl"), NULL, VERDICT_FAIL, GAPS, true);
    load(&report, folder);
    ck_assert_int_eq(report_exit_status(&report), EXIT_FAILS);
    report_free(&report);
    write_sample(sample_path(folder, "results.jsonl"), NULL, VERDICT_PASS, GAPS, _i != 0);
    load(&report, folder);
    ck_assert_int_eq(report_exit_status(&report), EXIT_INCONCLUSIVE);
    ck_assert_int_eq(memcmp(&report.summary.account, &wanted, sizeof(wanted)), 0);
    report_free(&report);
    /* Nothing decided, and something unjudged: that may be what was looked for. */
    write_sample(sample_path(folder, "results.jsonl"), NULL, VERDICT_SKIP, _i != 0 ? GAPS : ACCEPTED, true);
    load(&report, folder);
    ck_assert_int_eq(report_exit_status(&report), _i != 0 ? EXIT_INCONCLUSIVE : EXIT_NOTHING_SELECTED);
    report_free(&report);
    sample_remove(folder);
}
END_TEST

/* Shards: rows add up, and what one shard did not accept the whole does not. Loop: gaps of the second. */
START_TEST(merged_accounts_add_up)
{
    char *folder = sample_folder();
    struct flow_account wanted = sample_account((enum gaps)_i), first = sample_account(ACCEPTED);
    struct folder_config config = {.path = folder, .use = FOLDER_AGAIN};
    struct merge_outcome outcome = {0};
    struct catalogue *catalogue;
    struct folder *output;
    struct iwarp_sentence error = {""};
    struct report report;
    struct merge *merge;

    flow_account_add(&wanted, &first);
    write_sample(sample_path(folder, "1.jsonl"), "1/2", VERDICT_PASS, ACCEPTED, true);
    write_sample(sample_path(folder, "2.jsonl"), "2/2", VERDICT_PASS, (enum gaps)_i, true);
    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
    merge = merge_new(catalogue);
    ck_assert_int_eq(merge_add(merge, sample_path(folder, "1.jsonl"), folder, &error), 0);
    ck_assert_int_eq(merge_add(merge, sample_path(folder, "2.jsonl"), folder, &error), 0);
    ck_assert_int_eq(merge_add(merge, sample_path(folder, "2.jsonl"), folder, &error), 0); /* twice is once */
    ck_assert_int_eq(folder_claim(&output, &config, &error), 0);
    ck_assert_msg(merge_write(merge, output, &outcome, &error) == 0, "%s", error.text);
    folder_leave(output);
    ck_assert_int_eq(memcmp(&outcome.summary.account, &wanted, sizeof(wanted)), 0);
    ck_assert_int_eq(merge_exit_status(&outcome), _i == ACCEPTED ? EXIT_CONFORMS : EXIT_INCONCLUSIVE);
    load(&report, folder);
    ck_assert_int_eq(report_exit_status(&report), _i == ACCEPTED ? EXIT_CONFORMS : EXIT_INCONCLUSIVE);
    ck_assert_int_eq(memcmp(&report.summary.account, &wanted, sizeof(wanted)), 0);
    report_free(&report);
    merge_free(merge);
    catalogue_free(catalogue);
    sample_remove(folder);
}
END_TEST

Suite *account_report_suite(void)
{
    Suite *suite = suite_create("account_report");
    TCase *tests = tcase_create("account in reports");

    tcase_add_test(tests, account_survives_json);
    tcase_add_test(tests, foreign_account_is_read_safely);
    tcase_add_test(tests, account_counts_have_texts);
    tcase_add_loop_test(tests, every_report_shows_the_account, 0, 3);
    tcase_add_loop_test(tests, exit_status_follows_the_account, 0, 2);
    tcase_add_loop_test(tests, merged_accounts_add_up, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
