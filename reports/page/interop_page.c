/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/page/interop_page.h"

#include <stdio.h>
#include <string.h>

#include "reports/page/html_parts.h"
#include "reports/results/member.h"

enum { ANCHOR_OCTETS = 200 };

struct page {
    struct markup *m;
    const struct interop_results *results;
};

static const char *device(const struct page *page, size_t index)
{
    return interop_results_device(page->results, index, "name");
}

static void anchor(const struct page *page, size_t initiator, size_t responder, size_t test, char out[ANCHOR_OCTETS])
{
    (void)snprintf(out, ANCHOR_OCTETS, "%.60s+%.60s.%.60s", device(page, initiator), device(page, responder),
                   interop_results_test(page->results, test, "name"));
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

/* A letter: its colour is the verdict, and so is its frame, for those who do not see the colour. */
static void letters(const struct page *page, size_t initiator, size_t responder, size_t test)
{
    const json_t *exchange = interop_results_exchange(page->results, initiator, responder, test);
    unsigned standing = exchange != NULL ? interop_results_verdict(exchange) : (unsigned)STANDING_NOT_EXERCISED;
    char href[ANCHOR_OCTETS + 1] = "#", css[32], title[300];

    (void)snprintf(css, sizeof(css), "it %s", standing_class(standing));
    (void)snprintf(title, sizeof(title), "%s: %.200s", standing_word(standing),
                   interop_results_test(page->results, test, "title"));
    if (exchange != NULL) {
        anchor(page, initiator, responder, test, href + 1);
        markup_open(page->m, "a", "class", css, "href", href, "title", title, NULL);
    } else {
        markup_open(page->m, "span", "class", css, "title", title, NULL);
    }
    markup_text(page->m, interop_results_test(page->results, test, "letters"));
    markup_close(page->m);
    markup_text(page->m, " ");
}

/* Lines of letters, one for each group of test cases. */
static void cell(const struct page *page, size_t initiator, size_t responder)
{
    const char *group = NULL;

    markup_open(page->m, "td", NULL);
    markup_open(page->m, "b", "class", "dev", NULL);
    markup_textf(page->m, "to %s", device(page, responder));
    markup_close(page->m);
    for (size_t test = 0; test < page->results->tests; test++) {
        const char *next = interop_results_test(page->results, test, "group");

        if (group == NULL || strcmp(group, next) != 0) {
            if (group != NULL)
                markup_close(page->m);
            markup_open(page->m, "div", "title", next, NULL);
        }
        group = next;
        letters(page, initiator, responder, test);
    }
    markup_close(page->m);
    markup_close(page->m);
}

static void grid(const struct page *page)
{
    struct markup *m = page->m;

    markup_open(m, "table", "class", "interop", NULL);
    markup_open(m, "thead", NULL);
    markup_open(m, "tr", NULL);
    markup_element(m, "th", NULL, "initiator \\ responder");
    for (size_t i = 0; i < page->results->devices; i++)
        markup_element(m, "th", NULL, device(page, i));
    markup_close(m);
    markup_close(m);
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < page->results->devices; i++) {
        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        markup_open(m, "b", "class", "dev", NULL);
        markup_text(m, "initiator ");
        markup_close(m);
        markup_text(m, device(page, i));
        markup_close(m);
        for (size_t k = 0; k < page->results->devices; k++)
            cell(page, i, k);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

/* ---- what the letters mean --------------------------------------------------------------------------------------- */

static void legend(const struct page *page)
{
    static const unsigned standings[] = {VERDICT_PASS, VERDICT_FAIL, VERDICT_SKIP, VERDICT_INCONCLUSIVE};
    static const char *const words[] = {"both ends saw what they should", "one end saw something else",
                                        "one of the devices does not have it", "nothing could be said"};
    static const char *const names[] = {"letters", "test case", "what happens"};
    size_t counts[VERDICT_COUNT];
    struct markup *m = page->m;

    interop_results_count(page->results, counts);
    markup_open(m, "ul", "class", "legend", NULL);
    for (size_t i = 0; i < sizeof(standings) / sizeof(standings[0]); i++) {
        markup_open(m, "li", NULL);
        html_badge(m, standings[i]);
        markup_textf(m, " %zu: %s", counts[standings[i]], words[i]);
        markup_close(m);
    }
    markup_close(m);
    markup_element(m, "h2", NULL, "Test cases");
    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, names, sizeof(names) / sizeof(names[0]));
    markup_open(m, "tbody", NULL);
    for (size_t test = 0; test < page->results->tests; test++) {
        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        markup_element(m, "span", "it none", interop_results_test(page->results, test, "letters"));
        markup_close(m);
        markup_element(m, "td", NULL, interop_results_test(page->results, test, "name"));
        markup_element(m, "td", NULL, interop_results_test(page->results, test, "title"));
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

static void devices(const struct page *page)
{
    struct markup *m = page->m;

    markup_element(m, "h2", NULL, "Devices");
    markup_open(m, "dl", "class", "facts", NULL);
    for (size_t i = 0; i < page->results->devices; i++) {
        markup_open(m, "div", NULL);
        markup_element(m, "dt", NULL, device(page, i));
        markup_element(m, "dd", NULL, interop_results_device(page->results, i, "what"));
        markup_close(m);
    }
    markup_close(m);
}

/* ---- the exchanges ----------------------------------------------------------------------------------------------- */

static void fact(struct markup *m, const char *css, const char *name, const char *text)
{
    if (text == NULL || *text == '\0')
        return;
    markup_open(m, "div", "class", css, NULL);
    markup_element(m, "dt", NULL, name);
    markup_element(m, "dd", NULL, text);
    markup_close(m);
}

static void exchange_body(const struct page *page, const json_t *exchange)
{
    struct markup *m = page->m;
    const char *capture = member_text(exchange, "capture");
    const json_t *steps = json_object_get(exchange, "steps"), *text;
    char href[256];
    size_t i;

    if (member_text(exchange, "actual") != NULL) {
        markup_open(m, "dl", "class", "pair", NULL);
        fact(m, "exp", "expected", member_text(exchange, "expected"));
        fact(m, "act", "seen", member_text(exchange, "actual"));
        markup_close(m);
    }
    if (capture != NULL) {
        (void)snprintf(href, sizeof(href), "evidence/%s", capture);
        markup_open(m, "p", NULL);
        markup_open(m, "a", "href", href, NULL);
        markup_text(m, capture);
        markup_close(m);
        markup_text(m, ", the frames with these steps as comments");
        markup_close(m);
    }
    markup_open(m, "pre", "class", "dump", "tabindex", "0", NULL); /* it scrolls: from the keyboard, too */
    json_array_foreach(steps, i, text)
    {
        const char *line = json_string_value(text);

        if (line != NULL)
            markup_textf(m, "%s\n", line);
    }
    markup_close(m);
}

static void exchange_card(const struct page *page, size_t initiator, size_t responder, size_t test)
{
    const json_t *exchange = interop_results_exchange(page->results, initiator, responder, test);
    struct markup *m = page->m;
    enum verdict verdict;
    char id[ANCHOR_OCTETS];

    if (exchange == NULL)
        return;
    verdict = interop_results_verdict(exchange);
    anchor(page, initiator, responder, test, id);
    markup_open(m, "details", "class", "fold", "id", id, NULL);
    markup_open(m, "summary", NULL);
    html_badge(m, verdict);
    markup_textf(m, " %s ", interop_results_test(page->results, test, "letters"));
    markup_element(m, "strong", NULL, interop_results_test(page->results, test, "name"));
    markup_textf(m, ": %s", interop_results_test(page->results, test, "title"));
    markup_close(m);
    exchange_body(page, exchange);
    markup_close(m);
}

/* "24 PASS, 2 FAIL" of one pair. */
static void pair_counts(const struct page *page, size_t initiator, size_t responder)
{
    size_t counts[VERDICT_COUNT] = {0};
    const char *joint = "";

    for (size_t test = 0; test < page->results->tests; test++) {
        const json_t *exchange = interop_results_exchange(page->results, initiator, responder, test);

        if (exchange != NULL)
            counts[interop_results_verdict(exchange)]++;
    }
    markup_open(page->m, "span", "class", "cov", NULL);
    for (unsigned verdict = 0; verdict < VERDICT_COUNT; verdict++)
        if (counts[verdict] != 0) {
            markup_textf(page->m, "%s%zu %s", joint, counts[verdict], verdict_name(verdict));
            joint = ", ";
        }
    markup_close(page->m);
}

static void exchanges(const struct page *page)
{
    markup_element(page->m, "h2", NULL, "Exchanges");
    for (size_t i = 0; i < page->results->devices; i++)
        for (size_t k = 0; k < page->results->devices; k++) {
            markup_open(page->m, "details", "class", "docu", NULL);
            markup_open(page->m, "summary", NULL);
            markup_textf(page->m, "%s to %s ", device(page, i), device(page, k));
            pair_counts(page, i, k);
            markup_close(page->m);
            for (size_t test = 0; test < page->results->tests; test++)
                exchange_card(page, i, k, test);
            markup_close(page->m);
        }
}

int interop_page_write(const struct interop_results *results, const char *home, const struct place *to,
                       struct iwarp_sentence *error)
{
    struct page page = {markup_new(), results};
    struct markup *m = page.m;
    int rc;

    if (m == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    html_page(m, "warpcheck: interoperability", member_text(results->head, "tool"), "wide");
    markup_element(m, "h1", NULL, "warpcheck: who can do what with whom");
    markup_element(m, "p", "lead",
                   "Each row is an initiator, each column a responder, each letter a test case; a letter leads to what "
                   "both ends did and saw.");
    if (home != NULL) {
        markup_open(m, "p", NULL);
        markup_open(m, "a", "href", home, NULL);
        markup_text(m, "All runs and pages");
        markup_close(m);
        markup_close(m);
    }
    if (!results->finished)
        markup_element(m, "p", "notice",
                       "The command was stopped before its end: letters without a colour were not tried.");
    markup_close(m);
    markup_open(m, "main", NULL);
    grid(&page);
    legend(&page);
    devices(&page);
    exchanges(&page);
    markup_open(m, "footer", NULL);
    markup_textf(m, "%s, %s", member_text(results->head, "tool") != NULL ? member_text(results->head, "tool") : "",
                 member_text(results->head, "started") != NULL ? member_text(results->head, "started") : "");
    markup_close(m);
    markup_close(m);
    html_asset(m, "script", "reports/assets/interop.js");
    rc = markup_save(m, to, error);
    markup_free(m);
    return rc;
}
