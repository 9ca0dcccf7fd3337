/* SPDX-License-Identifier: BSD-2-Clause */
/* The page: well-formed for an XML and for an HTML parser, inert, complete and small. */
#include <check.h>
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/requirements/catalogue.h"
#include "reports/writers/format.h"
#include "reports/folder/folder_reports.h"
#include "reports/page/html.h"
#include "reports/results/results_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *html_suite(void);

struct page {
    char *folder;
    struct catalogue *catalogue;
    struct report report;
    xmlDocPtr document;
    xmlXPathContextPtr context;
    off_t size;
};

static bool covers_mpa(void *user, const char *id)
{
    (void)user;
    return strncmp(id, "MPA-", 4) == 0;
}

/* Makes the page of the folder's results.jsonl and parses it: as HTML when `html`, else as XML. */
static void page_make(struct page *page, bool html)
{
    static const struct report_coverage coverage = {covers_mpa, NULL};
    struct iwarp_sentence error = {""};
    struct stat status;
    const char *path = sample_path(page->folder, "index.html");

    ck_assert_msg(catalogue_load(&page->catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(report_load(&page->report, sample_path(page->folder, "results.jsonl"), page->catalogue, &error) == 0,
                  "%s", error.text);
    ck_assert_msg(html_write(&page->report, &coverage, PLACE(path), &error) == 0, "%s", error.text);
    ck_assert_int_eq(stat(path, &status), 0);
    page->size = status.st_size;
    page->document = html ? htmlReadFile(path, "UTF-8", HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING)
                          : xmlReadFile(path, NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    ck_assert_ptr_nonnull(page->document);
    page->context = xmlXPathNewContext(page->document);
    xmlXPathRegisterNs(page->context, BAD_CAST "h", BAD_CAST "http://www.w3.org/1999/xhtml");
}

static void page_free(struct page *page)
{
    xmlXPathFreeContext(page->context);
    xmlFreeDoc(page->document);
    report_free(&page->report);
    catalogue_free(page->catalogue);
    sample_remove(page->folder);
}

static double number_of(struct page *page, const char *expression)
{
    xmlXPathObjectPtr value = xmlXPathEval(BAD_CAST expression, page->context);
    ck_assert_msg(value != NULL, "%s", expression);
    double number = xmlXPathCastToNumber(value);

    xmlXPathFreeObject(value);
    return number;
}

static void expect(struct page *page, const char *expression, double wanted)
{
    double number = number_of(page, expression);
    ck_assert_msg(number == wanted, "%s is %g, expected %g", expression, number, wanted);
}

START_TEST(page_runs_no_foreign_code)
{
    struct page page = {.folder = sample_folder()};

    sample_results(page.folder, 1);
    page_make(&page, _i == 1);
    /* Local names, so that the same expressions serve both parsers. */
    expect(&page, "count(//*[local-name()='script'])", 2);
    expect(&page, "count(//*[local-name()='style'])", 1);
    expect(&page, "count(//@onclick|//@onload|//@onerror|//@src)", 0);
    expect(&page,
           "count(//*[starts-with(@href,'javascript') or (contains(@href,'//') and "
           "not(starts-with(@href,'https://www.rfc-editor.org/rfc/rfc') or "
           "starts-with(@href,'https://datatracker.ietf.org/doc/html/draft-') or "
           "starts-with(@href,'https://learn.microsoft.com/openspecs/') or "
           "starts-with(@href,'https://nvmexpress.org/specifications/')))])",
           0);
    expect(&page,
           "count(//*[local-name()='link' or local-name()='img' or local-name()='iframe' or local-name()='base'])", 0);
    expect(&page, "count(//*[@href='evidence/a%20b.pcapng'])", 1);
    expect(&page, "count(//*[local-name()='article'])", 5);
    expect(&page, "count(//*[local-name()='svg'])", 1);
    page_free(&page);
}
END_TEST

/* Hostile text is all there, as text. */
START_TEST(hostile_text_is_shown)
{
    static const char *const places[] = {"dd[../@class='exp']", "dd[../@class='act']", "p[@class='message']",
                                         "span[@class='purpose']", "p[@class='replay']/h:code"};
    struct page page = {.folder = sample_folder()};

    sample_results(page.folder, 1);
    page_make(&page, false);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char expression[200];
        snprintf(expression, sizeof(expression), "string(//h:article[contains(@class,'fail')]//h:%s)", places[i]);
        xmlXPathObjectPtr value = xmlXPathEval(BAD_CAST expression, page.context);
        ck_assert_str_eq((const char *)value->stringval, sample_hostile_shown);
        xmlXPathFreeObject(value);
    }
    page_free(&page);
}
END_TEST

/* Every requirement has its line with the right standing, every link within the page a target, every id is unique. */
START_TEST(sections_are_linked)
{
    struct page page = {.folder = sample_folder()};

    sample_results(page.folder, 1);
    page_make(&page, false);
    expect(&page,
           "count(//h:details[h:ul/h:li[@id='MPA-4.4-14']]/h:p/h:a[@href='https://www.rfc-editor.org/rfc/"
           "rfc5044#section-4.4'])",
           1);
    expect(&page,
           "count(//h:details[h:ul/h:li[@id='MPA-A.4-01']]/h:p/h:a[@href='https://www.rfc-editor.org/rfc/"
           "rfc5044#appendix-A.4'])",
           1);
    expect(&page, "count(//h:details/h:p/h:a[@href='https://www.rfc-editor.org/rfc/rfc5040#appendix-B'])", 1);
    expect(&page, "count(//h:article//h:a[@href='https://www.rfc-editor.org/rfc/rfc5041#section-7.2'])", 1);
    expect(&page, "count(//h:details[contains(h:summary,'IBTA Annex A11')]//h:a[@class='src'])", 0); /* not public */
    expect(&page,
           "count(//h:details[@class='docu'][not(contains(h:summary,'IBTA Annex "
           "A11'))]//h:details[not(h:p/h:a[@class='src'])])",
           0);
    page_free(&page);
}
END_TEST

/*
 * What matters comes first: verdict, grid, failures, then the tree, then what is no failure; and what is long is
 * folded.
 */
START_TEST(order_of_the_page)
{
    struct page page = {.folder = sample_folder()};

    sample_results(page.folder, 1);
    page_make(&page, false);
    expect(&page, "count(//h:div[contains(@class,'banner')]/following::h:table[@class='grid'])", 1);
    expect(&page, "count(//h:table[@class='grid']/following::h:section[@id='v-fail'])", 1);
    expect(&page, "count(//h:section[@id='v-fail']/following::h:section[@id='tree'])", 1);
    expect(&page, "count(//h:section[@id='tree']/following::h:section[@id='v-amb' or @id='v-warn' or @id='v-skip'])",
           3);
    expect(&page, "count(//h:section[@id='tree']//h:details[@open])", 0);
    expect(&page, "count(//h:article/h:details[@open])", 1); /* the first failure */
    expect(&page, "count(//h:a[contains(@class,'tile')][not(h:small)])", 0);
    expect(&page, "sum(//h:table[@class='grid']//h:tr[@class='sum']/h:td)", (double)catalogue_count(page.catalogue));
    page_free(&page);
}
END_TEST

START_TEST(tree_is_complete)
{
    struct page page = {.folder = sample_folder()};

    sample_results(page.folder, 1);
    page_make(&page, false);
    expect(&page, "count(//h:section[@id='tree']//h:li)", (double)catalogue_count(page.catalogue));
    expect(&page, "count(//h:li[@id='DDP-7.2-02'][@data-v='fail'])", 1);
    expect(&page, "count(//h:li[@id='MPA-7.1.2-05'][@data-v='pass'])", 1);
    expect(&page, "count(//h:li[@id='MPA-4.5-05'][@data-v='warn'])", 1);
    expect(&page, "count(//h:li[@id='RDMAP-4.8-02'][@data-v='known'])", 1);
    expect(&page, "count(//h:li[@id='MPA-4.3-03'][@data-v='skip'])", 1);
    expect(&page, "count(//h:li[@id='MPA-4.5-11'][@data-v='amb'])", 1);
    expect(&page, "count(//h:li[@id='MPA-7.1-02'][@data-v='inc'])", 1);
    expect(&page, "count(//h:section[@id='tree']//h:li[@data-v='pass' or @data-v='fail'])", 2);
    expect(&page, "count(//h:li[@data-v='todo'][starts-with(@id,'MPA-')])", 0); /* covered: "not exercised" */
    expect(&page, "count(//h:li[@data-v='none'][not(starts-with(@id,'MPA-'))])", 0);
    ck_assert(number_of(&page, "count(//h:li[@data-v='none'])") > 100);
    ck_assert(number_of(&page, "count(//h:li[@data-v='doc'])") > 10);
    expect(&page, "count(//h:a[starts-with(@href,'#')][not(substring(@href,2)=//@id)])", 0);
    xmlXPathObjectPtr ids = xmlXPathEval(BAD_CAST "//@id", page.context);
    xmlHashTablePtr seen = xmlHashCreate(4096);
    for (int i = 0; i < ids->nodesetval->nodeNr; i++) {
        const xmlChar *id = ids->nodesetval->nodeTab[i]->children->content;
        ck_assert_msg(xmlHashAddEntry(seen, id, seen) == 0, "id %s twice", (const char *)id);
    }
    xmlHashFree(seen, NULL);
    xmlXPathFreeObject(ids);
    page_free(&page);
}
END_TEST

/* The offending octets 590..593 of the sample's frames are marked, and nothing else. */
START_TEST(octets_are_marked)
{
    struct page page = {.folder = sample_folder()};

    sample_results(page.folder, 1);
    page_make(&page, false);
    xmlXPathObjectPtr marks = xmlXPathEval(BAD_CAST "//h:pre/h:mark", page.context);
    char joined[100] = "";
    for (int i = 0; i < marks->nodesetval->nodeNr; i++) {
        xmlChar *text = xmlNodeGetContent(marks->nodesetval->nodeTab[i]);
        strncat(joined, (const char *)text, sizeof(joined) - strlen(joined) - 2);
        /* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.strcpy): sizes are constants */
        strcat(joined, "|");
        xmlFree(text);
    }
    ck_assert_str_eq(joined, "4e 4f|NO|50 51|PQ|"); /* 0x24e..0x251: across two lines */
    xmlXPathFreeObject(marks);
    page_free(&page);
}
END_TEST

/*
 * Every requirement broken, in both roles, each with a ladder: the page still stays small, and says what it left out.
 */
START_TEST(page_stays_small)
{
    struct page page = {.folder = sample_folder()};
    struct catalogue *catalogue;
    struct iwarp_sentence error;
    json_t *steps = sample_steps(60, 50, "Terminate DDP / Untagged Buffer / Invalid MSN (0x1203), M=1 D=1 R=0");
    struct results_log *log =
        results_log_create(PLACE(sample_path(page.folder, "results.jsonl")), &sample_info, NULL, &error);

    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        for (int role = 0; role < 2; role++) {
            struct result result = {.id = catalogue_at(catalogue, i)->id,
                                    .verdict = VERDICT_FAIL,
                                    .by = "rule",
                                    .role = role ? "initiator" : "responder",
                                    .frame = 9,
                                    .expected = "Terminate 0x1201",
                                    .actual = "Terminate 0x1203",
                                    .evidence = "evidence/x.pcapng",
                                    .steps = steps};
            ck_assert_int_eq(results_log_append(log, &result, &error), 0);
        }
    ck_assert_int_eq(results_log_finish(log, results_log_summary(log), &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    catalogue_free(catalogue);
    json_decref(steps);
    page_make(&page, false);
    ck_assert_msg(page.size < 1500000, "%lld octets", (long long)page.size);
    ck_assert(number_of(&page, "count(//h:article)") >= 200);
    ck_assert(number_of(&page, "count(//*[local-name()='svg'])") >= 10);
    expect(&page, "count(//h:p[@class='notice'][contains(.,'more requirements')])", 1);
    page_free(&page);
}
END_TEST

/* An audit's thousands of flows are one card with a count; a summary line that lies is not believed. */
START_TEST(thousands_of_flows_are_one_card)
{
    struct page page = {.folder = sample_folder()};
    struct iwarp_sentence error;
    struct results_log *log =
        results_log_create(PLACE(sample_path(page.folder, "results.jsonl")), &sample_info, NULL, &error);
    struct run_summary lie = {.pass = 5000};

    for (int i = 0; i < 5000; i++) {
        char flow[64];
        snprintf(flow, sizeof(flow), "10.0.0.1:%d>10.0.0.2:1", i);
        struct result result = {.id = "RDMAP-4.8-02", .verdict = VERDICT_FAIL, .by = "rule", .flow = flow, .count = 2};
        ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    }
    ck_assert_int_eq(results_log_finish(log, &lie, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    page_make(&page, false);
    expect(&page, "count(//h:article)", 1);
    expect(&page, "count(//h:article//h:li)", REPORT_KEPT_RESULTS - 1 + 1);
    ck_assert_uint_eq(page.report.entries[0]->seen[VERDICT_FAIL], 10000);
    ck_assert_uint_eq(page.report.summary.fail, 5000);
    ck_assert_uint_eq(page.report.summary.pass, 0);
    ck_assert_uint_eq(summary_exit_status(&page.report.summary), EXIT_FAILS);
    expect(&page, "count(//h:div[@role='status'][@class='banner fail'])", 1);
    expect(&page, "count(//h:p[@class='notice'][contains(.,'contradicts the results')])", 1);
    page_free(&page);
}
END_TEST

/* A results.jsonl that somebody else wrote: its escapes bring in what our own writer would have cleaned. */
START_TEST(escapes_of_foreign_results_are_cleaned)
{
    static const char text[] = "{\"type\":\"run\",\"tool\":\"\\u001b\",\"version\":1,\"catalogue\":\"\\u0001\","
                               "\"target\":\"\\ufffe\",\"seed\":1}\n"
                               "{\"type\":\"result\",\"id\":\"DDP-7.2-02\",\"verdict\":\"FAIL\",\"message\":"
                               "\"\\u0001\\u202e\\uffff\",\"role\":"
                               "\"initiator\",\"evidence\":\"\\u001b\"}\n"
                               "{\"type\":\"result\",\"id\":\"DDP-7.2-02\",\"verdict\":\"PASS\",\"role\":\"a\"}\n"
                               "{\"type\":\"result\",\"id\":\"DDP-7.2-02\",\"verdict\":\"PASS\",\"role\":\"z\"}\n"
                               "{\"type\":\"result\",\"id\":\"MPA-4.5-05\",\"verdict\":\"PASS\",\"role\":\"a\"}\n"
                               "{\"type\":\"result\",\"id\":\"MPA-4.5-05\",\"verdict\":\"WARN\",\"role\":\"b\"}\n"
                               "{\"type\":\"result\",\"id\":\"\\u202e\",\"verdict\":\"FAIL\",\"role\":\"\\uffff\"}\n";
    struct page page = {.folder = sample_folder()};

    sample_write(sample_path(page.folder, "results.jsonl"), text, sizeof(text) - 1);
    page_make(&page, false);
    expect(&page, "count(//h:article)", 3);
    expect(&page, "count(//h:*[@class='message' or @class='purpose'][.='\xe2\x90\x81\xef\xbf\xbd\xef\xbf\xbd'])", 1);
    expect(&page, "count(//h:meta[@name='generator'][@content='\xe2\x90\x9b'])", 1);
    expect(&page, "count(//h:li[@id='DDP-7.2-02'][@data-v='fail'])", 1);
    expect(&page, "count(//h:li[@id='MPA-4.5-05'][@data-v='warn'])", 1); /* the second role is the worse one */
    page_free(&page);
}
END_TEST

/* A run that passed so far but never ended is no conforming run. */
START_TEST(page_of_half_a_run_does_not_conform)
{
    struct page page = {.folder = sample_folder()};
    struct iwarp_sentence error;
    struct results_log *log =
        results_log_create(PLACE(sample_path(page.folder, "results.jsonl")), &sample_info, NULL, &error);
    struct result result = {.id = "RDMAP-4.8-02", .verdict = VERDICT_PASS};

    ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    page_make(&page, false);
    expect(&page, "count(//h:div[@class='banner pass'])", 0);
    expect(&page, "count(//h:div[@class='banner inc'])", 1);
    page_free(&page);
}
END_TEST

/* What the guest said before it died is shown, as text. */
START_TEST(console_of_the_dead)
{
    struct page page = {.folder = sample_folder()};
    struct iwarp_sentence error;
    struct results_log *log =
        results_log_create(PLACE(sample_path(page.folder, "results.jsonl")), &sample_info, NULL, &error);
    FILE *file;

    ck_assert_int_eq(results_log_close(log, &error), 0);
    file = fopen(sample_path(page.folder, "results.jsonl"), "ae");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_gt(fputs("{\"type\":\"console\",\"text\":\"Kernel panic: <b>\"}\n", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    page_make(&page, false);
    expect(&page, "count(//h:details[@class='notice']/h:pre[contains(., 'panic: <b>')])", 1);
    page_free(&page);
}
END_TEST

START_TEST(all_reports_are_written)
{
    char *path = sample_folder();
    struct folder_config config = {.path = path, .use = FOLDER_AGAIN};
    struct folder *folder;
    struct place results;
    struct catalogue *catalogue;
    struct report report;
    struct iwarp_sentence error = {""};
    struct stat status;

    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_msg(folder_claim(&folder, &config, &error) == 0, "%s", error.text);
    results = folder_place(folder, "results.jsonl");
    ck_assert_int_eq(report_load_place(&report, &results, catalogue, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "results.jsonl: cannot open"));
    sample_results(path, 1);
    ck_assert_msg(report_load_place(&report, &results, catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(folder_write_reports(&report, NULL, folder, NULL, &error) == 0, "%s", error.text);
    ck_assert_int_eq(stat(sample_path(path, "index.html"), &status), 0);
    ck_assert_int_eq(stat(sample_path(path, "junit.xml"), &status), 0);
    report_free(&report);
    catalogue_free(catalogue);
    folder_leave(folder);
    sample_remove(path);
}
END_TEST

Suite *html_suite(void)
{
    Suite *suite = suite_create("html");
    TCase *html = tcase_create("html");

    tcase_add_loop_test(html, page_runs_no_foreign_code, 0, 2);
    tcase_add_test(html, hostile_text_is_shown);
    tcase_add_test(html, sections_are_linked);
    tcase_add_test(html, order_of_the_page);
    tcase_add_test(html, tree_is_complete);
    tcase_add_test(html, octets_are_marked);
    tcase_add_test(html, page_stays_small);
    tcase_add_test(html, thousands_of_flows_are_one_card);
    tcase_add_test(html, escapes_of_foreign_results_are_cleaned);
    tcase_add_test(html, page_of_half_a_run_does_not_conform);
    tcase_add_test(html, console_of_the_dead);
    tcase_add_test(html, all_reports_are_written);
    suite_add_tcase(suite, html);
    return suite;
}
