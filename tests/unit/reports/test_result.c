/* SPDX-License-Identifier: BSD-2-Clause */
/* results.jsonl: what is written comes back, whatever happens to the disk, the run or the file. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reports/report.h"
#include "reports/results_log.h"
#include "reports/terminal.h"
#include "reports/text.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *result_suite(void);

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

static int tally_read(struct tally *tally, const char *path, struct sentence *error)
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

START_TEST(verdict_names)
{
    static const char *const names[] = {"PASS", "FAIL", "KNOWN", "WARN", "INCONCLUSIVE", "SKIP", "AMBIGUOUS"};
    enum verdict verdict;

    for (int i = 0; i < VERDICT_COUNT; i++) {
        ck_assert_str_eq(verdict_name((enum verdict)i), names[i]);
        ck_assert_int_eq(verdict_from_name(names[i], &verdict), 0);
        ck_assert_int_eq(verdict, i);
    }
    ck_assert_int_eq(verdict_from_name("pass", &verdict), -1);
    ck_assert_int_eq(verdict_from_name(NULL, &verdict), -1);
    ck_assert_str_eq(verdict_name((enum verdict)77), "?");
}
END_TEST

/* pass, fail, warn, inconclusive, skip, ambiguous, known -> exit status */
static const unsigned statuses[][8] = {
    {0, 0, 0, 0, 0, 0, 0, EXIT_NOTHING_SELECTED},
    {1, 0, 0, 0, 0, 0, 0, EXIT_CONFORMS},
    {1, 1, 0, 0, 0, 0, 0, EXIT_FAILS},
    {0, 1, 0, 9, 0, 0, 0, EXIT_FAILS},
    {5, 0, 0, 1, 0, 0, 0, EXIT_INCONCLUSIVE},
    {0, 0, 0, 1, 0, 0, 0, EXIT_INCONCLUSIVE},
    {0, 0, 0, 0, 4, 0, 0, EXIT_NOTHING_SELECTED},
    {1, 0, 0, 0, 4, 0, 0, EXIT_CONFORMS},
    {0, 0, 2, 0, 0, 0, 0, EXIT_CONFORMS},
    {0, 0, 0, 0, 0, 2, 0, EXIT_CONFORMS},
    {0, 0, 0, 1, 4, 0, 0, EXIT_INCONCLUSIVE},
    {0, 0, 0, 0, 0, 0, 1, EXIT_KNOWN},
    {9, 0, 9, 0, 9, 9, 1, EXIT_KNOWN},
    {9, 0, 0, 1, 0, 0, 9, EXIT_INCONCLUSIVE},
    {0, 1, 0, 0, 0, 0, 9, EXIT_FAILS},
    {9, 1, 1, 1, 1, 1, 1, EXIT_FAILS},
};

START_TEST(exit_statuses)
{
    const unsigned *row = statuses[_i];
    static const enum verdict order[] = {VERDICT_PASS, VERDICT_FAIL,      VERDICT_WARN, VERDICT_INCONCLUSIVE,
                                         VERDICT_SKIP, VERDICT_AMBIGUOUS, VERDICT_KNOWN};
    enum { STATUS = sizeof(order) / sizeof(order[0]) };
    struct run_summary summary = {0};

    for (size_t v = 0; v < STATUS; v++) {
        for (unsigned k = 0; k < row[v]; k++)
            summary_count(&summary, order[v]);
        ck_assert_uint_eq(summary_of(&summary, order[v]), row[v]);
    }
    ck_assert_uint_eq(summary_exit_status(&summary), row[STATUS]);
    ck_assert_uint_eq(exit_status_accepting(summary_exit_status(&summary), false), row[STATUS]);
    ck_assert_uint_eq(exit_status_accepting(summary_exit_status(&summary), true),
                      row[STATUS] == EXIT_KNOWN ? EXIT_CONFORMS : row[STATUS]);
}
END_TEST

START_TEST(exit_numbers)
{
    ck_assert_int_eq(EXIT_CONFORMS, 0);
    ck_assert_int_eq(EXIT_FAILS, 1);
    ck_assert_int_eq(EXIT_USAGE, 2);
    ck_assert_int_eq(EXIT_NOTHING_SELECTED, 3);
    ck_assert_int_eq(EXIT_INCONCLUSIVE, 4);
    ck_assert_int_eq(EXIT_KNOWN, 5);
    ck_assert_int_eq(EXIT_DONE, 0);
    ck_assert_int_eq(EXIT_ENVIRONMENT, 4);
}
END_TEST

static const char *const cleaned[][2] = {
    {"plain", "plain"},
    {"", ""},
    {"a\nb\tc", "a\nb\tc"},
    {"caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80"},
    {"\x01\x1f\x7f", "\xe2\x90\x81\xe2\x90\x9f\xe2\x90\xa1"},
    {"\xc2\x9b"
     "31m",
     "\xef\xbf\xbd"
     "31m"},                              /* C1 CSI */
    {"\xc0\x80", "\xef\xbf\xbd"},         /* overlong NUL */
    {"\xe2\x82", "\xef\xbf\xbd"},         /* cut */
    {"\xe2\x82x", "\xef\xbf\xbdx"},       /* what follows a broken sequence is kept */
    {"\xed\xa0\x80", "\xef\xbf\xbd"},     /* surrogate */
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd"}, /* beyond U+10FFFF */
    {"\xf8\x88\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xef\xbf\xbe", "\xef\xbf\xbd"}, /* U+FFFE, forbidden in XML */
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): hostile text is what is tested */
    {"\xe2\x80\xae", "\xef\xbf\xbd"}, /* right-to-left override */
    {"\xef\xbf\xbd", "\xef\xbf\xbd"},
    {sample_hostile, sample_hostile_shown},
};

START_TEST(text_is_cleaned)
{
    const char *in = cleaned[_i][0], *out = cleaned[_i][1];
    char *clean = text_clean(in), *again = text_clean(clean), *line = text_clean_line(in);

    ck_assert_str_eq(clean, out);
    ck_assert_str_eq(again, out);
    ck_assert_int_eq(text_is_clean(in), strcmp(in, out) == 0);
    ck_assert(text_is_clean(clean));
    ck_assert_ptr_null(strpbrk(line, "\r\n\t"));
    free(clean);
    free(again);
    free(line);
}
END_TEST

/* Every member by its name, and back. */
START_TEST(result_round_trip)
{
    static const char *const names[] = {"id",       "by",     "script",  "role",      "file",     "flow",
                                        "expected", "actual", "message", "evidence",  "purpose",  "reading",
                                        "pics",     "replay", "finding", "deviation", "review_by"};
    json_t *steps = sample_steps(2, 1, "x");
    struct result in = {.id = "id",
                        .verdict = VERDICT_KNOWN,
                        .by = "by",
                        .script = "script",
                        .role = "role",
                        .file = "file",
                        .frame = 13,
                        .flow = "flow",
                        .expected = "expected",
                        .actual = "actual",
                        .message = "message",
                        .evidence = "evidence",
                        .count = 4,
                        .purpose = "purpose",
                        .duration_ns = 5000000000,
                        .reading = "reading",
                        .pics = "pics",
                        .replay = "replay",
                        .finding = "finding",
                        .deviation = "deviation",
                        .review_by = "review_by",
                        .steps = steps};
    struct result out;
    json_t *object = result_to_json(&in);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_str_eq(json_string_value(json_object_get(object, names[i])), names[i]);
    ck_assert_str_eq(json_string_value(json_object_get(object, "type")), "result");
    ck_assert_str_eq(json_string_value(json_object_get(object, "verdict")), "KNOWN");
    ck_assert_int_eq(result_from_json(object, &out), 0);
    ck_assert_int_eq(out.verdict, in.verdict);
    ck_assert_uint_eq(out.frame, 13);
    ck_assert_uint_eq(out.count, 4);
    ck_assert_uint_eq(out.duration_ns, in.duration_ns);
    ck_assert_str_eq(out.flow, "flow");
    ck_assert_str_eq(out.finding, "finding");
    ck_assert_str_eq(out.deviation, "deviation");
    ck_assert_str_eq(out.review_by, "review_by");
    ck_assert(json_equal(out.steps, steps));
    json_decref(object);
    json_decref(steps);
}
END_TEST

START_TEST(result_defaults)
{
    struct result in = {.id = "X-1-01", .verdict = VERDICT_PASS}, none = {.verdict = VERDICT_PASS};
    json_t *object = result_to_json(&in);

    ck_assert_uint_eq(json_object_size(object), 4); /* type, id, verdict, count */
    ck_assert_int_eq(json_integer_value(json_object_get(object, "count")), 1);
    ck_assert_ptr_null(result_to_json(&none));
    json_decref(object);
}
END_TEST

/* Lines that a hostile file may hold, and whether each is a result. */
static const struct {
    const char *line;
    int rc;
} hostile_lines[] = {
    {"{\"type\":\"result\",\"id\":\"A\",\"verdict\":\"PASS\"}", 0},
    {"{\"type\":\"result\",\"id\":\"A\",\"verdict\":\"PASS\",\"frame\":-5,\"count\":\"x\",\"steps\":{},\"script\":[]}",
     0},
    {"{\"type\":\"result\",\"id\":7,\"verdict\":\"PASS\"}", -1},
    {"{\"type\":\"result\",\"id\":\"\",\"verdict\":\"PASS\"}", -1},
    {"{\"type\":\"result\",\"id\":\"A\",\"verdict\":\"pass\"}", -1},
    {"{\"type\":\"result\",\"id\":\"A\"}", -1},
};

START_TEST(hostile_results)
{
    struct result result;
    json_t *object = json_loads(hostile_lines[_i].line, 0, NULL);

    ck_assert_ptr_nonnull(object);
    ck_assert_int_eq(result_from_json(object, &result), hostile_lines[_i].rc);
    if (hostile_lines[_i].rc == 0) {
        ck_assert_uint_eq(result.frame, 0);
        ck_assert_uint_eq(result.count, 1);
        ck_assert_ptr_null(result.steps);
        ck_assert_ptr_null(result.script);
    }
    json_decref(object);
}
END_TEST

START_TEST(summary_round_trip)
{
    struct run_summary in = {.pass = 1,
                             .fail = 2,
                             .warn = 3,
                             .inconclusive = 4,
                             .skip = 5,
                             .ambiguous = 6,
                             .not_exercised = 7,
                             .frames = 8,
                             .fpdus = 9,
                             .ddp_segments = 10,
                             .crc_errors = 11,
                             .known = 12,
                             .known_findings = 13,
                             .ended = "2026-11-20T10:52:03Z",
                             .stopped = "interrupted"};
    struct run_summary out;
    json_t *object;

    summary_add_messages(&in, "Send", 3);
    summary_add_messages(&in, "Terminate", 1);
    summary_add_messages(&in, "Send", 2);
    ck_assert_uint_eq(in.message_count, 2);
    object = run_summary_to_json(&in);
    ck_assert_int_eq(run_summary_from_json(object, &out), 0);
    ck_assert_uint_eq(out.ambiguous, 6);
    ck_assert_uint_eq(out.not_exercised, 7);
    ck_assert_uint_eq(out.ddp_segments, 10);
    ck_assert_uint_eq(out.crc_errors, 11);
    ck_assert_uint_eq(out.known, 12);
    ck_assert_uint_eq(out.known_findings, 13);
    ck_assert_str_eq(out.ended, in.ended);
    ck_assert_str_eq(out.stopped, in.stopped);
    ck_assert_uint_eq(out.message_count, 2);
    for (size_t i = 0; i < out.message_count; i++)
        ck_assert_uint_eq(out.messages[i].count, strcmp(out.messages[i].name, "Send") == 0 ? 5 : 1);
    json_decref(object);
    for (int i = 0; i < 100; i++) /* a full table drops, never overflows */
        summary_add_messages(&in, (const char *[]){"a", "b", "c"}[i % 3], 1);
    char names[64][16];
    for (int i = 0; i < 64; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        summary_add_messages(&in, names[i], 1);
    }
    ck_assert_uint_eq(in.message_count, RUN_SUMMARY_MESSAGES);
}
END_TEST

/* The committed file of version 1: what older tools wrote must be read for good. */
START_TEST(version_1_sample)
{
    struct tally tally;
    struct sentence error;

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
    struct sentence error;

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
START_TEST(torn_anywhere)
{
    char *folder = sample_folder(), *text;
    const char *path = sample_path(folder, "torn.jsonl");
    size_t size, first, lines = 0;
    struct tally tally;
    struct sentence error;

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

START_TEST(foreign_files)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "foreign.jsonl");
    struct tally tally;
    struct sentence error = {""};

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
    struct sentence error = {""};

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

START_TEST(disk_full)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "results.jsonl");
    struct rlimit limit = {3000, 3000};
    struct result result = {
        .id = "DDP-7.2-02", .verdict = VERDICT_PASS, .message = "0123456789012345678901234567890123456789"};
    struct sentence error = {""};
    struct tally tally;
    int written = 0;

    ck_assert_ptr_null(results_log_create(PLACE("/dev/full"), &sample_info, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "/dev/full: cannot write"));
    signal(SIGXFSZ, SIG_IGN); /* a file size limit stands in for a disk that fills */
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
    struct sentence error;

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
    struct sentence error = {""};
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
    struct sentence error = {""};
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

/* The shape of DESIGN's failure block; no escape sequence when the stream is no terminal, nor from a peer. */
START_TEST(terminal_block)
{
    char *text = NULL;
    size_t size = 0;
    struct terminal terminal;
    struct result result = {.id = "DDP-7.2-02",
                            .verdict = VERDICT_FAIL,
                            .role = "responder",
                            .script = "a.lua:41",
                            .purpose = "p",
                            .expected = "e",
                            .actual = sample_hostile,
                            .frame = 9,
                            .evidence = "evidence/x.pcapng",
                            .replay = "r"};
    char wanted[600];
    FILE *out = open_memstream(&text, &size);

    terminal_init(&terminal, out);
    ck_assert(!terminal.colour && !terminal.live);
    terminal_progress(&terminal, 1, 2, "X", 0);
    terminal_result(&terminal, &result, "unused");
    fclose(out);
    snprintf(wanted, sizeof(wanted),
             "FAIL  DDP-7.2-02  responder  a.lua:41\n      p\n      expected  e\n      actual    %s     frame 9 of "
             "evidence/x.pcapng\n      replay    r\n",
             sample_hostile_shown);
    ck_assert_str_eq(text, wanted);
    free(text);
}
END_TEST

/* With a colour forced on, only our own sequences come out. */
START_TEST(terminal_colour)
{
    char *text = NULL;
    size_t size = 0, escapes = 0;
    struct terminal terminal;
    struct result result = {.id = "A", .verdict = VERDICT_FAIL, .message = sample_hostile};
    struct run_summary summary = {.pass = 1, .fail = 1};
    FILE *out = open_memstream(&text, &size);

    terminal_init(&terminal, out);
    terminal.colour = true;
    terminal_result(&terminal, &result, NULL);
    terminal_summary(&terminal, &summary, "build/run/index.html");
    fclose(out);
    for (size_t i = 0; i < size; i++)
        escapes += text[i] == '\033';
    ck_assert_uint_eq(escapes, 8); /* FAIL, "1 PASS", "1 FAIL", the closing words: on and off */
    ck_assert_ptr_nonnull(strstr(text, "does not conform"));
    ck_assert_ptr_nonnull(strstr(text, "report: build/run/index.html\n"));
    free(text);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof(table[0]))

Suite *result_suite(void)
{
    Suite *suite = suite_create("result");
    TCase *values = tcase_create("values"), *log = tcase_create("log"), *terminal = tcase_create("terminal");

    tcase_add_test(values, verdict_names);
    tcase_add_loop_test(values, exit_statuses, 0, ROWS(statuses));
    tcase_add_test(values, exit_numbers);
    tcase_add_loop_test(values, text_is_cleaned, 0, ROWS(cleaned));
    tcase_add_test(values, result_round_trip);
    tcase_add_test(values, result_defaults);
    tcase_add_loop_test(values, hostile_results, 0, ROWS(hostile_lines));
    tcase_add_test(values, summary_round_trip);
    tcase_add_test(log, version_1_sample);
    tcase_add_test(log, log_round_trip);
    tcase_add_test(log, torn_anywhere);
    tcase_add_loop_test(log, foreign_files, 0, ROWS(files));
    tcase_add_test(log, deep_and_long_lines);
    tcase_add_test(log, disk_full);
    tcase_add_test(log, echo_is_the_file);
    tcase_add_test(log, resume_goes_on);
    tcase_add_test(log, resume_of_nothing_starts);
    tcase_add_test(terminal, terminal_block);
    tcase_add_test(terminal, terminal_colour);
    suite_add_tcase(suite, values);
    suite_add_tcase(suite, log);
    suite_add_tcase(suite, terminal);
    return suite;
}
