/* SPDX-License-Identifier: BSD-2-Clause */
/* junit.xml as a CI server reads it: parsed back with libxml2. */
#include <check.h>
#include <libxml/parser.h>
#include <libxml/xmlschemas.h>
#include <libxml/xpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/writers/junit.h"
#include "reports/writers/markdown.h"
#include "reports/results/results_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *junit_suite(void);

/* The sample's junit.xml, parsed. */
struct parsed {
    char *folder;
    struct catalogue *catalogue;
    struct report report;
    xmlDocPtr document;
    xmlXPathContextPtr context;
};

/* By what CI servers agree on. */
static void expect_valid(xmlDocPtr document)
{
    xmlSchemaParserCtxtPtr parser = xmlSchemaNewParserCtxt("tests/data/junit.xsd");
    xmlSchemaPtr schema = xmlSchemaParse(parser);
    xmlSchemaValidCtxtPtr valid = xmlSchemaNewValidCtxt(schema);

    ck_assert_ptr_nonnull(schema);
    ck_assert_int_eq(xmlSchemaValidateDoc(valid, document), 0);
    xmlSchemaFreeValidCtxt(valid);
    xmlSchemaFree(schema);
    xmlSchemaFreeParserCtxt(parser);
}

/* Of DIR/results.jsonl, which is there. */
static void parsed_from(struct parsed *parsed)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&parsed->catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(
        report_load(&parsed->report, sample_path(parsed->folder, "results.jsonl"), parsed->catalogue, &error) == 0,
        "%s", error.text);
    const char *path = sample_path(parsed->folder, "junit.xml");
    ck_assert_msg(junit_write(&parsed->report, PLACE(path), &error) == 0, "%s", error.text);
    parsed->document = xmlReadFile(path, NULL, XML_PARSE_NONET);
    ck_assert_ptr_nonnull(parsed->document);
    parsed->context = xmlXPathNewContext(parsed->document);
    expect_valid(parsed->document);
}

static void parsed_make(struct parsed *parsed, int finished)
{
    parsed->folder = sample_folder();
    sample_results(parsed->folder, finished);
    parsed_from(parsed);
}

static void parsed_free(struct parsed *parsed)
{
    xmlXPathFreeContext(parsed->context);
    xmlFreeDoc(parsed->document);
    report_free(&parsed->report);
    catalogue_free(parsed->catalogue);
    sample_remove(parsed->folder);
}

/* The XPath expression's string value is `wanted`. */
static void expect(struct parsed *parsed, const char *expression, const char *wanted)
{
    char wrapped[400];

    snprintf(wrapped, sizeof(wrapped), "string(%s)", expression);
    xmlXPathObjectPtr value = xmlXPathEval(BAD_CAST wrapped, parsed->context);
    ck_assert_msg(value != NULL, "%s", wrapped);
    ck_assert_msg(strcmp((const char *)value->stringval, wanted) == 0, "%s is '%s', expected '%s'", expression,
                  (const char *)value->stringval, wanted);
    xmlXPathFreeObject(value);
}

#define CASE(id) "//testcase[starts-with(@name, '" id " ')]"

START_TEST(each_verdict_has_its_junit_form)
{
    struct parsed parsed;
    char message[600];

    parsed_make(&parsed, 1);
    snprintf(message, sizeof(message), "expected %s; got %s", sample_hostile_shown, sample_hostile_shown);
    expect(&parsed, CASE("DDP-7.2-02") "/failure/@message", message);
    expect(&parsed, CASE("DDP-7.2-02") "/failure/@type", "FAIL");
    expect(&parsed, CASE("MPA-7.1-02") "/error/@message", "connection refused");
    expect(&parsed, CASE("MPA-4.3-03") "/skipped/@message", "no Markers");
    expect(&parsed, "count(" CASE("MPA-4.5-05") "/system-out)", "1");
    expect(&parsed, "contains(" CASE("MPA-4.5-05") "/system-out, 'WARN')", "true");
    expect(&parsed, "contains(" CASE("MPA-4.5-11") "/system-out, 'AMBIGUOUS: glossary')", "true");
    expect(&parsed, "count(" CASE("MPA-4.5-05") "/failure|" CASE("MPA-4.5-11") "/error)", "0");
    expect(&parsed, "count(//failure)", "1");
    expect(&parsed, "count(//error)", "1");
    expect(&parsed, CASE("RDMAP-4.8-02") "/skipped/@type", "KNOWN");
    expect(&parsed, "starts-with(" CASE("RDMAP-4.8-02") "/skipped/@message, 'known deviation (')", "true");
    expect(&parsed, "contains(" CASE("RDMAP-4.8-02") "/skipped, 'finding   ')", "true");
    expect(&parsed, "count(//skipped)", "2");
    parsed_free(&parsed);
}
END_TEST

START_TEST(counts_and_names)
{
    struct parsed parsed;

    parsed_make(&parsed, 1);
    expect(&parsed, "/testsuites/@tests", "8");
    expect(&parsed, "count(//testcase)", "8");
    expect(&parsed, "/testsuites/@failures", "1");
    expect(&parsed, "/testsuites/@errors", "1");
    expect(&parsed, "sum(//testsuite/@skipped)", "2");
    expect(&parsed, "sum(//testsuite/@tests)", "8");
    expect(&parsed, "count(//testcase[not(@name) or @name='' or not(@classname)])", "0");
    expect(&parsed, "count(" CASE("MPA-7.1.2-05") ")", "2"); /* one a role */
    expect(&parsed, "starts-with(" CASE("MPA-7.1.2-05") "[1]/@name, 'MPA-7.1.2-05 (initiator) ')", "true");
    expect(&parsed, CASE("MPA-7.1.2-05") "[contains(@name, '(responder)')]/@time", "0.002500");
    expect(&parsed, "contains(" CASE("DDP-7.2-02") "/failure, 'level     MUST')", "true");
    expect(&parsed, CASE("DDP-7.2-02") "/../@name", "DDP.RFC5041 section 7_2");
    parsed_free(&parsed);
}
END_TEST

START_TEST(half_a_run_is_an_error)
{
    struct parsed parsed;

    parsed_make(&parsed, 0);
    expect(&parsed, "/testsuites/@errors", "2");
    expect(&parsed, "/testsuites/@tests", "9");
    expect(&parsed, "count(//testcase)", "9");
    expect(&parsed, "count(//testsuite[@name='run']/testcase/error)", "1");
    parsed_free(&parsed);
}
END_TEST

START_TEST(unread_captures_are_junit_errors)
{
    struct parsed parsed = {.folder = sample_folder()};

    sample_audit(parsed.folder, VERDICT_PASS);
    parsed_from(&parsed);
    expect(&parsed, "/testsuites/@tests", "3");
    expect(&parsed, "/testsuites/@errors", "2");
    expect(&parsed, "count(//testcase)", "3");
    expect(&parsed, "//testcase[@name='dir/b c.pcap is read to its end']/error/@message", sample_hostile_shown);
    expect(&parsed, "//testcase[@name='d.pcap is read to its end']/error/@message", "d.pcap: is no capture");
    parsed_free(&parsed);
}
END_TEST

/*
 * An audit's test case is a requirement in a capture: more captures that fail are more failures, also of those that are
 * not kept.
 */
START_TEST(case_of_each_capture)
{
    enum { CAPTURES = REPORT_KEPT_RESULTS + 5 };
    struct parsed parsed = {.folder = sample_folder()};
    struct run_info info = sample_info;
    struct iwarp_sentence error;
    char file[32], wanted[16];

    info.command = "audit";
    struct results_log *log =
        results_log_create(PLACE(sample_path(parsed.folder, "results.jsonl")), &info, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error.text);
    for (int i = 0; i < CAPTURES; i++) {
        const struct capture_info capture = {.file = file, .status = "whole"};
        struct result result = {
            .id = "DDP-7.2-02", .verdict = VERDICT_PASS, .by = "rule", .role = "responder", .file = file};

        snprintf(file, sizeof(file), "c%02d.pcap", i);
        ck_assert_int_eq(results_log_append(log, &result, &error), 0);
        result.verdict = VERDICT_FAIL;
        result.actual = "nothing";
        for (int again = 0; again < 2 && i % 2 == 0; again++)
            ck_assert_int_eq(results_log_append(log, &result, &error), 0);
        ck_assert_int_eq(results_log_capture(log, &capture, &error), 0);
    }
    ck_assert_int_eq(results_log_finish(log, results_log_summary(log), &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    parsed_from(&parsed);
    snprintf(wanted, sizeof(wanted), "%d", CAPTURES);
    expect(&parsed, "/testsuites/@tests", wanted);
    expect(&parsed, "count(" CASE("DDP-7.2-02") ")", wanted);
    snprintf(wanted, sizeof(wanted), "%d", (CAPTURES + 1) / 2);
    expect(&parsed, "/testsuites/@failures", wanted);
    expect(&parsed, "count(//failure)", wanted);
    expect(&parsed, "count(//testcase[starts-with(@name, 'DDP-7.2-02 (responder) in c04.pcap: ')]/failure)", "1");
    expect(&parsed, "count(//testcase[starts-with(@name, 'DDP-7.2-02 (responder) in c05.pcap: ')]/failure)", "0");
    expect(&parsed, "contains(//testcase[contains(@name, 'c28.pcap')]/failure/@message, 'results.jsonl')", "true");
    parsed_free(&parsed);
}
END_TEST

START_TEST(junit_reports_a_full_disk)
{
    struct parsed parsed;
    struct iwarp_sentence error = {""};

    parsed_make(&parsed, 1);
    ck_assert_int_eq(junit_write(&parsed.report, PLACE("/dev/full"), &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "/dev/full: cannot write"));
    ck_assert_int_eq(junit_write(&parsed.report, PLACE(sample_path(parsed.folder, "none/junit.xml")), &error), -1);
    parsed_free(&parsed);
}
END_TEST

/* Nothing of a peer's comes alive in Markdown. */
START_TEST(markdown_is_inert)
{
    struct parsed parsed;
    struct iwarp_sentence error = {""};
    char *text;

    parsed_make(&parsed, 1);
    const char *path = sample_path(parsed.folder, "summary.md");
    ck_assert_msg(markdown_write(&parsed.report, PLACE(path), &error) == 0, "%s", error.text);
    text = sample_read(path, NULL);
    ck_assert_ptr_null(strchr(text, '<'));
    ck_assert_ptr_null(strchr(text, '\033'));
    ck_assert_ptr_nonnull(strstr(text, "does not conform"));
    ck_assert_ptr_nonnull(strstr(text, "| FAIL | DDP-7.2-02 | responder | 1 | expected &lt;script&gt;"));
    free(text);
    parsed_free(&parsed);
}
END_TEST

Suite *junit_suite(void)
{
    Suite *suite = suite_create("junit");
    TCase *junit = tcase_create("junit");

    tcase_add_test(junit, each_verdict_has_its_junit_form);
    tcase_add_test(junit, counts_and_names);
    tcase_add_test(junit, half_a_run_is_an_error);
    tcase_add_test(junit, unread_captures_are_junit_errors);
    tcase_add_test(junit, case_of_each_capture);
    tcase_add_test(junit, junit_reports_a_full_disk);
    tcase_add_test(junit, markdown_is_inert);
    suite_add_tcase(suite, junit);
    return suite;
}
