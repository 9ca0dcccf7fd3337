/* SPDX-License-Identifier: BSD-2-Clause */
/* Verdicts, results and summaries as values, as JSON, and on a terminal. */
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

Suite *result_suite(void);

START_TEST(verdict_names_are_read_back)
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

START_TEST(exit_status_follows_the_verdicts)
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

START_TEST(exit_statuses_keep_their_numbers)
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
    static const char *const names[] = {"id",     "by",      "script",   "role",      "file",     "flow",  "expected",
                                        "actual", "message", "evidence", "purpose",   "reading",  "cause", "hint",
                                        "pics",   "replay",  "finding",  "deviation", "review_by"};
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
                        .cause = "cause",
                        .hint = "hint",
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

START_TEST(result_has_its_defaults)
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

START_TEST(hostile_result_is_read_safely)
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

/* The shape of DESIGN's failure block; no escape sequence when the stream is no terminal, nor from a peer. */
START_TEST(failure_block_has_its_shape)
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
START_TEST(colours_are_our_own_alone)
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
    TCase *values = tcase_create("values"), *terminal = tcase_create("terminal");

    tcase_add_test(values, verdict_names_are_read_back);
    tcase_add_loop_test(values, exit_status_follows_the_verdicts, 0, ROWS(statuses));
    tcase_add_test(values, exit_statuses_keep_their_numbers);
    tcase_add_loop_test(values, text_is_cleaned, 0, ROWS(cleaned));
    tcase_add_test(values, result_round_trip);
    tcase_add_test(values, result_has_its_defaults);
    tcase_add_loop_test(values, hostile_result_is_read_safely, 0, ROWS(hostile_lines));
    tcase_add_test(values, summary_round_trip);
    tcase_add_test(terminal, failure_block_has_its_shape);
    tcase_add_test(terminal, colours_are_our_own_alone);
    suite_add_tcase(suite, values);
    suite_add_tcase(suite, terminal);
    return suite;
}
