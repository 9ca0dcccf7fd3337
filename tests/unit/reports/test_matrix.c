/* SPDX-License-Identifier: BSD-2-Clause */
/* The matrix: a column for each run, a row for each requirement that one of them speaks of; inert, linked, escaped. */
#include <check.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/report/report_matrix.h"
#include "reports/page/matrix.h"
#include "reports/results/results_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *matrix_suite(void);

/* A run in which DDP-7.2-02 passed and nothing else was decided. */
static void other_results(const char *folder)
{
    struct run_info info = sample_info;
    struct result result = {.id = "DDP-7.2-02", .verdict = VERDICT_PASS, .by = "check", .role = "responder"};
    struct iwarp_sentence error;
    struct results_log *log;

    info.target = sample_hostile;
    log = results_log_create(PLACE(sample_path(folder, "results.jsonl")), &info, NULL, &error);
    ck_assert_ptr_nonnull(log);
    ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    ck_assert_int_eq(results_log_finish(log, results_log_summary(log), &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
}

static double number_of(xmlXPathContextPtr context, const char *expression)
{
    xmlXPathObjectPtr value = xmlXPathEval(BAD_CAST expression, context);
    double number;

    ck_assert_msg(value != NULL, "%s", expression);
    number = xmlXPathCastToNumber(value);
    xmlXPathFreeObject(value);
    return number;
}

static void expect(xmlXPathContextPtr context, const char *expression, double wanted)
{
    double number = number_of(context, expression);

    ck_assert_msg(number == wanted, "%s is %g, expected %g", expression, number, wanted);
}

START_TEST(matrix_compares_two_runs)
{
    char *first = sample_folder(), *second = sample_folder();
    char *inputs[2], output[256];
    struct iwarp_sentence error = {""};
    xmlXPathContextPtr context;
    xmlDocPtr document;

    sample_results(first, 1);
    other_results(second);
    sample_write(sample_path(first, "index.html"), "x", 1);
    inputs[0] = malloc(strlen(first) + 8);
    ck_assert_ptr_nonnull(inputs[0]);
    (void)snprintf(inputs[0], strlen(first) + 8, "one=%s", first);
    inputs[1] = second;
    ck_assert_int_eq(mkdir(sample_path(second, "out"), 0700), 0);
    (void)snprintf(output, sizeof(output), "%s", sample_path(second, "out/matrix.html"));
    ck_assert_msg(report_matrix(inputs, 2, output, &error) == 0, "%s", error.text);
    document = xmlReadFile(output, NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    ck_assert_ptr_nonnull(document);
    context = xmlXPathNewContext(document);
    xmlXPathRegisterNs(context, BAD_CAST "h", BAD_CAST "http://www.w3.org/1999/xhtml");

    expect(context, "count(//h:table[@class='matrix'][not(count(h:thead//h:th)=3)])", 0);
    expect(context, "count(//h:table[@class='matrix']//h:tr[@data-v])", 7);
    expect(context, "count(//h:details[@class='docu'][not(h:details[@class='sec']//h:tr[@data-v])])", 0);
    expect(context, "count(//h:details[@class='docu'][@open])", 0);
    expect(context, "count(//h:tr[@id='DDP-7.2-02'][@class='differs'][@data-v='fail pass'])", 1);
    expect(context, "count(//h:tr[@id='MPA-7.1.2-05'][not(@class)][@data-v='pass none'])", 1);
    expect(context, "count(//h:tr[@data-v]/h:td)", 14);
    expect(context, "count(//h:tr[@id='RDMAP-4.8-02'][@data-v='known none'])", 1);
    /* The first run has a page, the second none. */
    ck_assert(number_of(context, "count(//h:tr[@data-v]/h:td//h:a)") >= 6);
    expect(context, "count(//h:tr[@data-v]/h:td//h:a[not(contains(@href,'/index.html#'))])", 0);
    expect(context, "count(//h:tr[@data-v]/h:td//h:a[not(starts-with(@href,'../../'))])", 0);
    expect(context, "count(//h:tr[@data-v]/h:td[2]//h:a)", 0);
    expect(context, "count(//h:table[@class='totals']//h:td[@class='fail'])", 1);
    expect(context, "count(//h:table[@class='totals']//h:td[@class='known'][.='1 KNOWN'])", 1);
    expect(context, "count(//@onclick|//@src)", 0);
    expect(context, "count(//h:script)", 2);

    xmlXPathFreeContext(context);
    xmlFreeDoc(document);
    free(inputs[0]);
    ck_assert_int_eq(remove(output), 0);
    ck_assert_int_eq(remove(sample_path(second, "out")), 0);
    sample_remove(first);
    sample_remove(second);
}
END_TEST

START_TEST(what_cannot_be_read)
{
    char *folder = sample_folder();
    char *many[MATRIX_COLUMNS_MAX + 1];
    struct iwarp_sentence error = {""};

    ck_assert_int_eq(report_matrix(&folder, 1, "-", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "results.jsonl"));
    for (size_t i = 0; i < MATRIX_COLUMNS_MAX + 1; i++)
        many[i] = folder;
    ck_assert_int_eq(report_matrix(many, MATRIX_COLUMNS_MAX + 1, "-", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "16 runs"));
    sample_results(folder, 1);
    ck_assert_int_eq(report_matrix(&folder, 1, "/nowhere/at/all.html", &error), -2);
    ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/at/all.html"));
    sample_remove(folder);
}
END_TEST

Suite *matrix_suite(void)
{
    Suite *suite = suite_create("matrix");
    TCase *tcase = tcase_create("matrix");

    tcase_add_test(tcase, matrix_compares_two_runs);
    tcase_add_test(tcase, what_cannot_be_read);
    suite_add_tcase(suite, tcase);
    return suite;
}
