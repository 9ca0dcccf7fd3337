/* SPDX-License-Identifier: BSD-2-Clause */
/* results.tap line by line, as a harness reads it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/results_log.h"
#include "reports/writers/tap.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *tap_suite(void);

enum { LINES_MAX = 200 };

/* A document, cut into lines. */
struct document {
    char *folder, *text;
    struct catalogue *catalogue;
    struct report report;
    char *lines[LINES_MAX];
    size_t count;
};

static void document_cut(struct document *document, const char *path)
{
    document->text = sample_read(path, NULL);
    ck_assert_int_eq(document->text[strlen(document->text) - 1], '\n');
    for (char *line = document->text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        ck_assert_uint_lt(document->count, LINES_MAX);
        document->lines[document->count++] = line;
    }
}

/* Of DIR/results.jsonl, which is there. */
static void document_make(struct document *document)
{
    struct iwarp_sentence error = {""};
    const char *path = sample_path(document->folder, "results.tap");

    ck_assert_msg(catalogue_load(&document->catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(report_load(&document->report, sample_path(document->folder, "results.jsonl"), document->catalogue,
                              &error) == 0,
                  "%s", error.text);
    ck_assert_msg(tap_write(&document->report, PLACE(path), &error) == 0, "%s", error.text);
    document_cut(document, path);
}

static void document_of_sample(struct document *document, int finished)
{
    *document = (struct document){.folder = sample_folder()};
    sample_results(document->folder, finished);
    document_make(document);
}

static void document_of(struct document *document, const struct result *results, size_t count, const char *stopped)
{
    struct iwarp_sentence error = {""};

    *document = (struct document){.folder = sample_folder()};
    struct results_log *log =
        results_log_create(PLACE(sample_path(document->folder, "results.jsonl")), &sample_info, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error.text);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(results_log_append(log, &results[i], &error) == 0, "%s", error.text);
    struct run_summary summary = *results_log_summary(log);
    summary.stopped = stopped;
    ck_assert_int_eq(results_log_finish(log, &summary, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    document_make(document);
}

static void document_free(struct document *document)
{
    free(document->text);
    report_free(&document->report);
    catalogue_free(document->catalogue);
    sample_remove(document->folder);
}

/* The number of the first line that begins so, from line `from` on. */
static size_t line_of(const struct document *document, const char *beginning, size_t from)
{
    for (size_t i = from; i < document->count; i++)
        if (strncmp(document->lines[i], beginning, strlen(beginning)) == 0)
            return i;
    ck_abort_msg("no line begins with '%s'", beginning);
    return 0;
}

/* The test point of that requirement: its line. */
static size_t point_of(const struct document *document, const char *id)
{
    char wanted[100];

    snprintf(wanted, sizeof(wanted), " - %s", id);
    for (size_t i = 0; i < document->count; i++) {
        const char *found = strstr(document->lines[i], wanted);
        const char *line = document->lines[i];
        if (found != NULL && (strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0))
            return i;
    }
    ck_abort_msg("no test point of %s", id);
    return 0;
}

/* The member of the diagnostic block after that line, read as JSON; the caller frees it. */
static json_t *member_of(const struct document *document, size_t point, const char *name)
{
    char wanted[60];
    size_t end, line;

    ck_assert_str_eq(document->lines[point + 1], "  ---");
    end = line_of(document, "  ...", point);
    snprintf(wanted, sizeof(wanted), "  %s: ", name);
    line = line_of(document, wanted, point);
    ck_assert_uint_lt(line, end);
    json_t *value = json_loads(document->lines[line] + strlen(wanted), JSON_DECODE_ANY, NULL);
    ck_assert_msg(value != NULL, "%s", document->lines[line]);
    return value;
}

static void expect(const struct document *document, const char *id, const char *name, const char *wanted)
{
    json_t *value = member_of(document, point_of(document, id), name);

    ck_assert_str_eq(json_string_value(value), wanted);
    json_decref(value);
}

static bool is_ok(const struct document *document, const char *id)
{
    return strncmp(document->lines[point_of(document, id)], "ok ", 3) == 0;
}

START_TEST(each_verdict_has_its_tap_form)
{
    struct document document;

    document_of_sample(&document, 1);
    ck_assert_str_eq(document.lines[0], "TAP version 14");
    ck_assert_str_eq(document.lines[1], "1..8");
    ck_assert(is_ok(&document, "MPA-7.1.2-05 (responder)"));
    ck_assert(is_ok(&document, "MPA-7.1.2-05 (initiator)")); /* one a role */
    ck_assert(!is_ok(&document, "DDP-7.2-02"));
    ck_assert(!is_ok(&document, "MPA-7.1-02"));   /* INCONCLUSIVE */
    ck_assert(!is_ok(&document, "RDMAP-4.8-02")); /* KNOWN */
    ck_assert(is_ok(&document, "MPA-4.5-05"));    /* WARN */
    ck_assert(is_ok(&document, "MPA-4.5-11"));    /* AMBIGUOUS */
    ck_assert(is_ok(&document, "MPA-4.3-03"));
    ck_assert_ptr_nonnull(strstr(document.lines[point_of(&document, "MPA-4.3-03")], " # SKIP no Markers"));
    expect(&document, "DDP-7.2-02", "verdict", "FAIL");
    expect(&document, "DDP-7.2-02", "severity", "fail");
    expect(&document, "DDP-7.2-02", "source", "RFC5041");
    expect(&document, "DDP-7.2-02", "section", "7.2");
    expect(&document, "DDP-7.2-02", "level", "MUST");
    expect(&document, "MPA-7.1-02", "verdict", "INCONCLUSIVE");
    expect(&document, "MPA-7.1-02", "message", "connection refused");
    expect(&document, "MPA-4.5-05", "severity", "comment");
    expect(&document, "MPA-4.5-05", "evidence", "evidence/a b.pcapng");
    expect(&document, "MPA-4.5-11", "reading", "glossary");
    document_free(&document);
}
END_TEST

/* Test points are numbered without gaps, and every line is one of those that TAP has. */
START_TEST(tap_lines_are_well_formed)
{
    struct document document;
    unsigned long points = 0;
    bool block = false;

    document_of_sample(&document, 1);
    for (size_t i = 2; i < document.count; i++) {
        const char *line = document.lines[i];
        bool good = strncmp(line, "ok ", 3) == 0, bad = strncmp(line, "not ok ", 7) == 0;

        if (block) {
            ck_assert_msg(strncmp(line, "  ", 2) == 0, "%s", line);
            block = strcmp(line, "  ...") != 0;
        } else if (good || bad) {
            ck_assert_uint_eq(strtoul(line + (good ? 3 : 7), NULL, 10), ++points);
        } else if (strcmp(line, "  ---") == 0) {
            block = true;
        } else {
            ck_assert_msg(strncmp(line, "# ", 2) == 0, "%s", line);
        }
        for (const char *p = line; *p != '\0'; p++)
            ck_assert_int_ge((unsigned char)*p, ' ');
    }
    ck_assert(!block);
    ck_assert_uint_eq(points, 8);
    document_free(&document);
}
END_TEST

/* What a peer wrote stays text: neither a directive, nor a line of its own, nor the end of a block. */
START_TEST(hostile_text_stays_text_in_tap)
{
    const struct result results[] = {
        {.id = "X-1", .verdict = VERDICT_FAIL, .by = "check", .purpose = "a # SKIP b\\", .message = "x\nok 9 - y"},
        {.id = "X-2",
         .verdict = VERDICT_FAIL,
         .by = "check",
         .purpose = "c\n  ...\nBail out! d",
         .actual = "\"\\\n..."},
        {.id = "X-3", .verdict = VERDICT_SKIP, .by = "check", .purpose = "opens {", .message = "r # TODO {"},
        {.id = "X-4", .verdict = VERDICT_PASS, .by = "check", .purpose = "opens {"},
        {.id = "X-5 1..3", .verdict = VERDICT_PASS, .by = "check", .role = "# SKIP"},
    };
    struct document document;

    document_of(&document, results, 5, NULL);
    ck_assert_str_eq(document.lines[point_of(&document, "X-1")], "not ok 1 - X-1: a \\# SKIP b\\\\");
    expect(&document, "X-1", "message", "x ok 9 - y");
    ck_assert_str_eq(document.lines[point_of(&document, "X-2")], "not ok 2 - X-2: c   ... Bail out! d");
    expect(&document, "X-2", "actual", "\"\\\n...");
    ck_assert_str_eq(document.lines[point_of(&document, "X-3")], "ok 3 - X-3: opens { # SKIP r \\# TODO { ");
    ck_assert_str_eq(document.lines[point_of(&document, "X-4")], "ok 4 - X-4: opens { ");
    ck_assert_str_eq(document.lines[point_of(&document, "X-5")], "ok 5 - X-5 1..3 (\\# SKIP)");
    document_free(&document);
    document_of_sample(&document, 1);
    expect(&document, "DDP-7.2-02", "actual", sample_hostile_shown);
    expect(&document, "DDP-7.2-02", "flow", sample_hostile_shown);
    document_free(&document);
}
END_TEST

START_TEST(known_deviation_is_a_tap_todo)
{
    const struct result results[] = {
        {.id = "MPA-7.1.1-17", .verdict = VERDICT_PASS, .by = "rule", .role = "responder"},
        {.id = "MPA-7.1.1-17",
         .verdict = VERDICT_KNOWN,
         .by = "check",
         .role = "responder",
         .finding = "3: reported # upstream",
         .deviation = "a note",
         .review_by = "2027-06-30"},
        {.id = "DDP-7.2-02", .verdict = VERDICT_KNOWN, .by = "check", .role = "responder", .finding = "known"},
        {.id = "DDP-7.2-02", .verdict = VERDICT_FAIL, .by = "rule", .role = "responder", .message = "and more"},
    };
    struct document document;

    document_of(&document, results, 4, NULL);
    const char *line = document.lines[point_of(&document, "MPA-7.1.1-17")];
    ck_assert(!is_ok(&document, "MPA-7.1.1-17"));
    ck_assert_msg(strstr(line, " # TODO 3: reported \\# upstream") != NULL, "%s", line);
    expect(&document, "MPA-7.1.1-17", "severity", "todo");
    expect(&document, "MPA-7.1.1-17", "verdict", "KNOWN");
    expect(&document, "MPA-7.1.1-17", "finding", "3: reported # upstream");
    expect(&document, "MPA-7.1.1-17", "note", "a note");
    expect(&document, "MPA-7.1.1-17", "review_by", "2027-06-30");
    ck_assert(!is_ok(&document, "DDP-7.2-02")); /* a failure beside it is one */
    ck_assert_ptr_null(strstr(document.lines[point_of(&document, "DDP-7.2-02")], "TODO"));
    document_free(&document);
}
END_TEST

START_TEST(half_a_run_bails_out)
{
    struct document document;

    document_of_sample(&document, 0);
    ck_assert_str_eq(document.lines[1], "1..9"); /* one test point is missing, whoever knows no "Bail out!" */
    ck_assert_str_eq(document.lines[document.count - 1], "Bail out! The run did not come to its end: results.jsonl has "
                                                         "no summary line; --resume continues the run");
    document_free(&document);
    const struct result result = {.id = "DDP-7.2-02", .verdict = VERDICT_PASS, .by = "check"};
    document_of(&document, &result, 1, "interrupted");
    ck_assert_str_eq(document.lines[1], "1..2");
    ck_assert_str_eq(document.lines[document.count - 1],
                     "Bail out! The run did not come to its end: interrupted; --resume continues the run");
    document_free(&document);
}
END_TEST

/* A harness takes 1..0 and a document of SKIPs for a success: it is none. */
START_TEST(nothing_decided_is_no_tap_success)
{
    const struct result skipped = {.id = "DDP-7.2-02", .verdict = VERDICT_SKIP, .by = "check", .message = "no"};
    struct document document;

    document_of(&document, NULL, 0, NULL);
    ck_assert_str_eq(document.lines[1], "1..1");
    ck_assert_int_eq(strncmp(document.lines[document.count - 1], "not ok 1 - something was decided", 32), 0);
    document_free(&document);
    document_of(&document, &skipped, 1, NULL);
    ck_assert_str_eq(document.lines[1], "1..2");
    ck_assert_int_eq(strncmp(document.lines[document.count - 1], "not ok 2 - something was decided", 32), 0);
    document_free(&document);
}
END_TEST

/* What could not be read was not judged: no success. */
START_TEST(unread_captures_fail_in_tap)
{
    struct document document = {.folder = sample_folder()};

    sample_audit(document.folder, VERDICT_PASS);
    document_make(&document);
    ck_assert_str_eq(document.lines[1], "1..3");
    ck_assert(is_ok(&document, "DDP-7.2-02"));
    ck_assert_str_eq(document.lines[point_of(&document, "dir/b c.pcap")],
                     "not ok 2 - dir/b c.pcap: is read to its end");
    expect(&document, "dir/b c.pcap", "message", sample_hostile_shown);
    expect(&document, "dir/b c.pcap", "verdict", "INCONCLUSIVE");
    ck_assert(!is_ok(&document, "d.pcap"));
    document_free(&document);
}
END_TEST

START_TEST(version_13_differs_in_its_first_line)
{
    struct document document;
    struct iwarp_sentence error = {""};

    document_of_sample(&document, 1);
    const char *path = sample_path(document.folder, "results.tap13");
    ck_assert_msg(tap_write_13(&document.report, PLACE(path), &error) == 0, "%s", error.text);
    char *fourteen = sample_read(sample_path(document.folder, "results.tap"), NULL);
    char *thirteen = sample_read(path, NULL);
    ck_assert_int_eq(strncmp(thirteen, "TAP version 13\n", 15), 0);
    ck_assert_str_eq(thirteen + 15, fourteen + 15);
    free(thirteen);
    free(fourteen);
    document_free(&document);
}
END_TEST

START_TEST(tap_reports_a_full_disk)
{
    struct document document;
    struct iwarp_sentence error = {""};

    document_of_sample(&document, 1);
    ck_assert_int_eq(tap_write(&document.report, PLACE("/dev/full"), &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "/dev/full: cannot write"));
    ck_assert_int_eq(tap_write(&document.report, PLACE(sample_path(document.folder, "none/results.tap")), &error), -1);
    document_free(&document);
}
END_TEST

Suite *tap_suite(void)
{
    Suite *suite = suite_create("tap");
    TCase *tap = tcase_create("tap");

    tcase_add_test(tap, each_verdict_has_its_tap_form);
    tcase_add_test(tap, tap_lines_are_well_formed);
    tcase_add_test(tap, hostile_text_stays_text_in_tap);
    tcase_add_test(tap, known_deviation_is_a_tap_todo);
    tcase_add_test(tap, half_a_run_bails_out);
    tcase_add_test(tap, nothing_decided_is_no_tap_success);
    tcase_add_test(tap, unread_captures_fail_in_tap);
    tcase_add_test(tap, version_13_differs_in_its_first_line);
    tcase_add_test(tap, tap_reports_a_full_disk);
    suite_add_tcase(suite, tap);
    return suite;
}
