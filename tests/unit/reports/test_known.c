/* SPDX-License-Identifier: BSD-2-Clause */
/* Known deviations: counted by finding, never conformance, and distinguished from all else in every report. */
#include <check.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/page/html.h"
#include "reports/results/known.h"
#include "reports/writers/markdown.h"
#include "reports/results/report.h"
#include "reports/results/results_log.h"
#include "reports/writers/terminal.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *known_suite(void);

/* Three results of two findings, one SHOULD that is not kept, and as much of the rest as `more` says. */
enum { ALONE, WITH_INCONCLUSIVE, WITH_FAIL, STOPPED, CASES };

static void write_results(const char *folder, int more)
{
    static const struct result results[] = {
        {.id = "DDP-7.1-04",
         .verdict = VERDICT_KNOWN,
         .by = "check",
         .role = "responder",
         .message = "no buffer",
         .finding = "10: too long",
         .deviation = "reported",
         .review_by = "2027-06-30"},
        {.id = "MPA-6-06", .verdict = VERDICT_KNOWN, .by = "check", .role = "responder", .finding = "2: cut"},
        {.id = "MPA-6-06", .verdict = VERDICT_KNOWN, .by = "rule", .role = "responder", .finding = "10: too long"},
        {.id = "MPA-4.5-05", .verdict = VERDICT_WARN, .by = "check", .role = "responder"},
        {.id = "MPA-7.1.2-05", .verdict = VERDICT_PASS, .by = "check", .role = "responder"},
    };
    static const struct result others[CASES] = {
        [WITH_INCONCLUSIVE] = {.id = "MPA-7.1-02", .verdict = VERDICT_INCONCLUSIVE, .by = "check"},
        [WITH_FAIL] = {.id = "MPA-7.1-02", .verdict = VERDICT_FAIL, .by = "check"},
    };
    struct iwarp_sentence error;
    struct results_log *log =
        results_log_create(PLACE(sample_path(folder, "results.jsonl")), &sample_info, NULL, &error);
    struct run_summary summary;

    ck_assert_msg(log != NULL, "%s", error.text);
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        ck_assert_int_eq(results_log_append(log, &results[i], &error), 0);
    if (others[more].id != NULL)
        ck_assert_int_eq(results_log_append(log, &others[more], &error), 0);
    summary = *results_log_summary(log);
    ck_assert_uint_eq(summary.known, 3);
    ck_assert_uint_eq(summary.known_findings, 2);
    ck_assert_uint_eq(summary.warn, 1);
    if (more == STOPPED)
        summary.stopped = "interrupted";
    ck_assert_int_eq(results_log_finish(log, &summary, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
}

static const struct {
    enum exit_status status;
    const char *banner, *word;
} looks[CASES] = {
    [ALONE] = {EXIT_KNOWN, "banner known", "Does not conform, as known"},
    [WITH_INCONCLUSIVE] = {EXIT_INCONCLUSIVE, "banner inc", "Inconclusive"},
    [WITH_FAIL] = {EXIT_FAILS, "banner fail", "Does not conform"},
    [STOPPED] = {EXIT_INCONCLUSIVE, "banner inc", "Inconclusive"},
};

static void expect(xmlXPathContextPtr context, double wanted, const char *format, const char *a, const char *b)
{
    char expression[400];
    xmlXPathObjectPtr value;
    double number;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(expression, sizeof(expression), format, a, b);
#pragma GCC diagnostic pop
    value = xmlXPathEval(BAD_CAST expression, context);
    ck_assert_msg(value != NULL, "%s", expression);
    number = xmlXPathCastToNumber(value);
    xmlXPathFreeObject(value);
    ck_assert_msg(number == wanted, "%s is %g, expected %g", expression, number, wanted);
}

/* The page: no green banner, a section of its own by finding, nothing of it among the recommendations. */
START_TEST(page_lists_known_deviations_apart)
{
    char *folder = sample_folder(), path[256];
    struct catalogue *catalogue;
    struct iwarp_sentence error;
    struct report report;

    write_results(folder, _i);
    (void)snprintf(path, sizeof(path), "%s", sample_path(folder, "index.html"));
    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(report_load(&report, sample_path(folder, "results.jsonl"), catalogue, &error), 0);
    ck_assert_int_eq((int)report_exit_status(&report), (int)looks[_i].status);
    ck_assert_int_eq(html_write(&report, NULL, PLACE(path), &error), 0);
    xmlDocPtr document = xmlReadFile(path, NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    ck_assert_ptr_nonnull(document);
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    xmlXPathRegisterNs(context, BAD_CAST "h", BAD_CAST "http://www.w3.org/1999/xhtml");
    expect(context, 1, "count(//h:div[@role='status'][@class='%s'][h:div/h:strong='%s'])", looks[_i].banner,
           looks[_i].word);
    expect(context, 0, "count(//h:div[contains(@class,'banner pass')])%s%s", "", "");
    expect(context, 1, "count(//h:div[@role='status']//h:p[contains(.,'%s')])%s", "3 results of 2 findings", "");
    expect(context, 3, "count(//h:section[@id='v-known']//h:article)%s%s", "", "");
    expect(context, 2, "count(//h:section[@id='v-known']/h:details[@class='finding'])%s%s", "", "");
    expect(context, 1, "count(//h:details[@class='finding'][1][h:summary/h:strong='%s']//h:article)%s", "2: cut", "");
    expect(context, 2, "count(//h:details[@class='finding'][2][h:summary/h:strong='%s']//h:article)%s", "10: too long",
           "");
    expect(context, 1, "count(//h:section[@id='v-warn']//h:article)%s%s", "", "");
    expect(context, 1, "count(//h:a[contains(@class,'tile known')][h:b='3'])%s%s", "", "");
    xmlXPathFreeContext(context);
    xmlFreeDoc(document);
    report_free(&report);
    catalogue_free(catalogue);
    sample_remove(folder);
}
END_TEST

START_TEST(markdown_lists_known_deviations)
{
    char *folder = sample_folder(), *text;
    struct iwarp_sentence error;
    struct report report;

    write_results(folder, ALONE);
    ck_assert_int_eq(report_load(&report, sample_path(folder, "results.jsonl"), NULL, &error), 0);
    ck_assert_int_eq(markdown_write(&report, PLACE(sample_path(folder, "x.md")), &error), 0);
    text = sample_read(sample_path(folder, "x.md"), NULL);
    ck_assert_ptr_nonnull(strstr(text, " does not conform, as known; nothing new\n"));
    ck_assert_ptr_nonnull(strstr(text, "3 KNOWN, 1 WARN"));
    ck_assert_ptr_nonnull(strstr(text, "\nKnown deviations: 3 results of 2 findings."));
    ck_assert_ptr_nonnull(strstr(text, "| KNOWN | DDP-7.1-04 | responder | 1 | known (10: too long): no buffer |"));
    free(text);
    report_free(&report);
    sample_remove(folder);
}
END_TEST

static const struct {
    struct run_summary summary;
    bool unfinished;
    const char *closing;
} closings[] = {
    {{.pass = 5, .known = 194, .known_findings = 25},
     false,
     "\ndoes not conform; it deviates as known: 194 results of 25 findings, nothing new\n"},
    {{.pass = 5, .known = 1, .known_findings = 1},
     false,
     "\ndoes not conform; it deviates as known: 1 result of 1 finding, nothing new\n"},
    {{.pass = 5, .fail = 1, .known = 2, .known_findings = 1},
     false,
     "\ndoes not conform\nit also deviates as known: 2 results of 1 finding\n"},
    {{.pass = 5, .inconclusive = 1, .known = 2, .known_findings = 1},
     false,
     "each says why\nit also deviates as known: 2 results of 1 finding\n"},
    {{.pass = 5, .known = 2, .known_findings = 1}, true, "\ninconclusive: nothing failed so far,"},
};

START_TEST(closing_line_follows_the_summary)
{
    char *text = NULL;
    size_t size = 0;
    struct terminal terminal;
    FILE *out = open_memstream(&text, &size);

    terminal_init(&terminal, out);
    terminal.unfinished = closings[_i].unfinished;
    terminal_summary(&terminal, &closings[_i].summary, NULL);
    fclose(out);
    ck_assert_msg(strstr(text, closings[_i].closing) != NULL, "'%s' lacks '%s'", text, closings[_i].closing);
    ck_assert_ptr_null(strstr(text, "conforms in everything"));
    free(text);
}
END_TEST

/* Two lines for each, the whole block with --all. */
START_TEST(known_result_takes_two_lines)
{
    const struct result result = {.id = "DDP-7.1-04",
                                  .verdict = VERDICT_KNOWN,
                                  .role = "responder",
                                  .expected = "e",
                                  .actual = "a",
                                  .finding = "8: too long",
                                  .deviation = "reported",
                                  .review_by = "2027-06-30"};
    static const char head[] =
        "KNOWN  DDP-7.1-04  responder\n      finding   8: too long (reported, review by 2027-06-30)\n";
    char *text = NULL;
    size_t size = 0;
    struct terminal terminal;
    FILE *out = open_memstream(&text, &size);

    terminal_init(&terminal, out);
    terminal.all = _i == 1;
    terminal_result(&terminal, &result, NULL);
    fclose(out);
    ck_assert_int_eq(strncmp(text, head, strlen(head)), 0);
    ck_assert_str_eq(text + strlen(head), _i == 1 ? "      expected  e\n      actual    a\n" : "");
    free(text);
}
END_TEST

static int keep_verdict(void *user, const struct result *result, json_t *object)
{
    (void)object;
    *(enum verdict *)user = result->verdict;
    return 0;
}

/* In version 1 a known deviation was a WARN with a note; in version 2 that is a WARN which the profile knows. */
START_TEST(a_warn_with_a_note_is_known_in_version_1_alone)
{
    static const enum verdict verdicts[] = {VERDICT_KNOWN, VERDICT_WARN};
    char *folder = sample_folder(), text[512];
    enum verdict verdict = VERDICT_PASS;
    struct results_reader reader = {.on_result = keep_verdict, .user = &verdict};
    struct iwarp_sentence error;

    (void)snprintf(text, sizeof(text),
                   "{\"type\":\"run\",\"tool\":\"t\",\"version\":%d,\"catalogue\":\"c\",\"target\":\"d\",\"seed\":1}\n"
                   "{\"type\":\"result\",\"id\":\"A\",\"verdict\":\"WARN\",\"deviation\":\"reported\"}\n",
                   _i + 1);
    sample_write(sample_path(folder, "results.jsonl"), text, strlen(text));
    ck_assert_msg(results_read(sample_path(folder, "results.jsonl"), &reader, &error) == 0, "%s", error.text);
    ck_assert_int_eq(verdict, verdicts[_i]);
    sample_remove(folder);
}
END_TEST

START_TEST(findings_are_counted_once)
{
    static const struct {
        struct result result;
        uint64_t known, findings;
    } steps[] = {
        {{.id = "A", .verdict = VERDICT_KNOWN, .finding = "8: too long"}, 1, 1},
        {{.id = "B", .verdict = VERDICT_KNOWN, .finding = "8: too long"}, 2, 1},
        {{.id = "B", .verdict = VERDICT_WARN, .finding = "9: not known"}, 2, 1},
        {{.id = "C", .verdict = VERDICT_KNOWN, .deviation = "a note"}, 3, 2},
        {{.id = "C", .verdict = VERDICT_KNOWN}, 4, 3},
        {{.id = "A", .verdict = VERDICT_KNOWN, .finding = "10: another"}, 5, 4},
    };
    struct run_summary summary = {0};
    struct finding_set set = {0};
    char text[KNOWN_TEXT_OCTETS];

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        ck_assert_int_eq(summary_count_result(&summary, &set, &steps[i].result), 0);
        ck_assert_uint_eq(summary.known, steps[i].known);
        ck_assert_uint_eq(summary.known_findings, steps[i].findings);
        if (i == 0)
            ck_assert_str_eq(known_counts(&summary, text), "1 result of 1 finding");
    }
    ck_assert_str_eq(known_counts(&summary, text), "5 results of 4 findings");
    ck_assert_uint_eq(summary.warn, 1);
    ck_assert_int_lt(known_finding_order("8: too long", "10: another"), 0);
    finding_set_free(&set);
}
END_TEST

Suite *known_suite(void)
{
    Suite *suite = suite_create("known");
    TCase *tests = tcase_create("known");

    tcase_add_loop_test(tests, a_warn_with_a_note_is_known_in_version_1_alone, 0, 2);
    tcase_add_test(tests, findings_are_counted_once);
    tcase_add_loop_test(tests, page_lists_known_deviations_apart, 0, CASES);
    tcase_add_test(tests, markdown_lists_known_deviations);
    tcase_add_loop_test(tests, closing_line_follows_the_summary, 0, (int)(sizeof(closings) / sizeof(closings[0])));
    tcase_add_loop_test(tests, known_result_takes_two_lines, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
