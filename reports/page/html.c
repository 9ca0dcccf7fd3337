/* SPDX-License-Identifier: BSD-2-Clause */
/* The page: head, banner, tiles, run facts, controls. The other parts are in files of their own (html_parts.h). */
#include "reports/page/html.h"

#include "conformance/requirements/catalogue.h"
#include "reports/page/html_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requirements (each counted once, roles and flows together) by their worst verdict. */
static void count_requirements(const struct report *report, size_t counts[VERDICT_COUNT])
{
    for (size_t i = 0; i < report->entry_count;) {
        enum verdict worst = report->entries[i]->worst;
        size_t next = i + 1;
        for (; next < report->entry_count && strcmp(report->entries[next]->id, report->entries[i]->id) == 0; next++)
            worst = verdict_worse(worst, report->entries[next]->worst);
        counts[worst]++;
        i = next;
    }
}

/* "11 expected, 1 new (expected.tsv)." */
static void expectation(const struct html *html)
{
    const struct run_expectation *counts = &html->report->summary.expectation;
    char text[EXPECTATION_TEXT_OCTETS];
    markup_textf(html->markup, "Findings: %s (%.200s). ", expectation_text(counts, text),
                 counts->file ? counts->file : "expectations");
    if (counts->soon)
        markup_textf(html->markup, "%llu of them are to be reviewed within %d days, the first by %.10s. ",
                     (unsigned long long)counts->soon, EXPECTATION_SOON_DAYS,
                     counts->soon_day ? counts->soon_day : "?");
}

struct look {
    const char *css, *sign, *word;
};

static const struct look *look_of(const struct html *html, enum exit_status status)
{
    static const struct look looks[] = {
        [EXIT_CONFORMS] = {"banner pass", "✓", "Conforms"},
        [EXIT_FAILS] = {"banner fail", "✗", "Does not conform"},
        [EXIT_USAGE] = {"banner inc", "?", "Inconclusive"},
        [EXIT_NOTHING_SELECTED] = {"banner inc", "?", "Nothing was decided"},
        [EXIT_INCONCLUSIVE] = {"banner inc", "?", "Inconclusive"},
        [EXIT_KNOWN] = {"banner known", "≠", "Does not conform, as known"},
    };
    static const struct look expected = {"banner pass", "=", "As expected"};
    static const struct look unexpected = {"banner fail", "≠", "Not as expected"};
    if (html->report->summary.expectation.used && (status == EXIT_CONFORMS || status == EXIT_FAILS))
        return status == EXIT_CONFORMS ? &expected : &unexpected;
    return &looks[status];
}

/* What was decided, in one sentence. `partly`: it is not the whole of the run. */
static void outcome(const struct html *html, const size_t counts[VERDICT_COUNT], enum exit_status status, bool partly)
{
    const struct report *report = html->report;
    struct markup *m = html->markup;
    size_t decided = counts[VERDICT_PASS] + counts[VERDICT_FAIL] + counts[VERDICT_KNOWN] + counts[VERDICT_WARN] +
                     counts[VERDICT_AMBIGUOUS];
    char known[KNOWN_TEXT_OCTETS];
    if (status == EXIT_FAILS)
        markup_textf(m, "%zu of %zu decided requirements %s broken.", counts[VERDICT_FAIL], decided,
                     counts[VERDICT_FAIL] == 1 ? "is" : "are");
    else if (status == EXIT_CONFORMS)
        markup_textf(
            m, "No decided requirement is broken (%zu decided). What was not exercised is not proved%s.", decided,
            flow_account_whole(&report->summary.account) ? "" : "; what was not judged was accepted (--allow-gaps)");
    else if (status == EXIT_KNOWN)
        markup_textf(m, "%s, nothing new: %zu of %zu decided requirements %s broken as the profile says.",
                     known_counts(&report->summary, known), counts[VERDICT_KNOWN], decided,
                     counts[VERDICT_KNOWN] == 1 ? "is" : "are");
    else if (status == EXIT_NOTHING_SELECTED)
        markup_text(m, "No requirement was selected, or all were skipped. This is not a success.");
    else if (status == EXIT_INCONCLUSIVE && !partly && summary_has_gaps(&report->summary))
        markup_text(
            m, "Nothing failed, but a part of the input that is or may be iWARP was not judged. The account of the "
               "input is below.");
    else if (partly)
        markup_text(m, report->finished ? "Nothing failed, but not every capture could be read to its end."
                                        : "Nothing failed so far, but the run did not come to its end.");
    else
        markup_textf(m, "No requirement failed, but %zu could not be decided; each says why.",
                     counts[VERDICT_INCONCLUSIVE]);
    if (status != EXIT_KNOWN && report->summary.known)
        markup_textf(m, " The device also deviates as known: %s.", known_counts(&report->summary, known));
}

static void banner(const struct html *html, const size_t counts[VERDICT_COUNT])
{
    struct markup *m = html->markup;
    enum exit_status status = summary_exit_status(&html->report->summary);
    bool partly = (status == EXIT_CONFORMS || status == EXIT_KNOWN) && report_exit_status(html->report) != status;
    bool expects = html->report->summary.expectation.used;
    if (partly)
        status = EXIT_INCONCLUSIVE; /* half a run proves nothing */
    markup_open(m, "div", "class", look_of(html, status)->css, "role", "status", NULL);
    markup_element(m, "span", "sign", look_of(html, status)->sign);
    markup_open(m, "div", NULL);
    markup_element(m, "strong", NULL, look_of(html, status)->word);
    markup_open(m, "p", NULL);
    if (expects)
        expectation(html);
    if (!expects || (status != EXIT_CONFORMS && status != EXIT_FAILS))
        outcome(html, counts, status, partly);
    markup_close(m);
    markup_close(m);
    markup_close(m);
}

/* `unit`: what the number counts. */
static void tile(const struct html *html, unsigned standing, uint64_t number, const char *unit, const char *target)
{
    char css[24];
    struct markup *m = html->markup;
    snprintf(css, sizeof(css), "tile %s%s", standing_class(standing), number ? "" : " zero");
    markup_open(m, number && target ? "a" : "div", "class", css, "href", number ? target : NULL, NULL);
    markup_open(m, "b", NULL);
    markup_textf(m, "%llu", (unsigned long long)number);
    markup_close(m);
    markup_open(m, "span", NULL);
    markup_textf(m, "%s %s", standing_sign(standing), standing_word(standing));
    markup_close(m);
    markup_text(m, " ");
    markup_element(m, "small", NULL, unit);
    markup_close(m);
}

static void tiles(const struct html *html)
{
    static const struct {
        enum verdict verdict;
        const char *target;
    } order[] = {{VERDICT_PASS, "#tree"},   {VERDICT_FAIL, "#v-fail"},        {VERDICT_KNOWN, "#v-known"},
                 {VERDICT_WARN, "#v-warn"}, {VERDICT_INCONCLUSIVE, "#v-inc"}, {VERDICT_AMBIGUOUS, "#v-amb"},
                 {VERDICT_SKIP, "#v-skip"}};
    markup_open(html->markup, "div", "class", "tiles", "aria-label", "Numbers of results by verdict", "role", "group",
                NULL);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        tile(html, order[i].verdict, summary_of(&html->report->summary, order[i].verdict), "results", order[i].target);
    if (html->report->finished)
        tile(html, STANDING_NOT_EXERCISED, html->report->summary.not_exercised, "selected requirements", "#tree");
    markup_close(html->markup);
}

static void fact(const struct html *html, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    markup_open(html->markup, "div", NULL);
    markup_element(html->markup, "dt", NULL, name);
    markup_element(html->markup, "dd", NULL, value);
    markup_close(html->markup);
}

static void fact_number(const struct html *html, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    fact(html, name, text);
}

/* What the profile says of the device: who made it, which one it is, and what it can do. */
static void device_facts(const struct html *html, const json_t *device)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)device, name, value)
    {
        char *text = json_is_object(value) ? json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT) : NULL, title[40];
        (void)snprintf(title, sizeof(title), "Device: %.30s", name);
        fact(html, title, text ? text : json_string_value(value));
        free(text);
    }
}

static void facts(const struct html *html)
{
    const struct run_info *info = &html->report->info;
    const struct run_summary *summary = &html->report->summary;
    markup_open(html->markup, "details", "class", "more", NULL);
    markup_element(html->markup, "summary", NULL, "About this run: command, times, seed, traffic");
    markup_open(html->markup, "dl", "class", "facts", NULL);
    fact(html, "Target", info->target);
    device_facts(html, info->device);
    fact(html, "Command", info->command_line ? info->command_line : info->command);
    fact(html, "Shard", info->shard);
    fact(html, "Started", info->started);
    fact(html, "Ended", summary->ended);
    fact(html, "Tool", info->tool);
    fact(html, "Catalogue", info->catalogue);
    fact_number(html, "Seed", info->seed);
    if (html->report->finished) {
        fact_number(html, "Frames", summary->frames);
        fact_number(html, "FPDUs", summary->fpdus);
        fact_number(html, "DDP segments", summary->ddp_segments);
        fact_number(html, "CRC errors", summary->crc_errors);
        if (summary->restarts)
            fact_number(html, "Restarts of the device", summary->restarts);
    }
    for (size_t i = 0; i < summary->message_count; i++)
        fact_number(html, summary->messages[i].name, summary->messages[i].count);
    markup_close(html->markup);
    markup_close(html->markup);
}

enum { UNREAD_MAX = 20 }; /* captures named that could not be read */

static void notices(const struct html *html)
{
    const struct report *report = html->report;
    if (!report->finished) {
        markup_open(html->markup, "p", "class", "notice", NULL);
        if (report->summary.stopped)
            markup_textf(html->markup, "The run was stopped: %.200s. ", report->summary.stopped);
        else
            markup_text(html->markup, "The results have no summary line: the run was stopped, or it has not ended. ");
        markup_textf(html->markup, "This page shows what was decided until then%s.", report_goes_on(report));
        markup_close(html->markup);
    }
    size_t shown = 0;
    for (size_t i = 0; i < report->capture_count && shown < UNREAD_MAX; i++) {
        if (!report->captures[i].whole) {
            markup_element(html->markup, "p", "notice", report_unread(&report->captures[i]));
            shown++;
        }
    }
    if (report->unread + report->skipped > shown) {
        markup_open(html->markup, "p", "class", "notice", NULL);
        markup_textf(html->markup, "%zu more captures were not read, or not to their end.",
                     report->unread + report->skipped - shown);
        markup_close(html->markup);
    }
    if (*report->note)
        markup_element(html->markup, "p", "notice", report->note);
    if (report->console) {
        markup_open(html->markup, "details", "class", "notice", "open", "open", NULL);
        markup_element(html->markup, "summary", NULL,
                       "The device died before the end of the run. The last lines of its console:");
        markup_open(html->markup, "pre", "class", "console", "tabindex", "0", NULL);
        markup_text(html->markup, report->console);
        markup_close(html->markup);
        markup_close(html->markup);
    }
    if (report->catalogue && strcmp(report->info.catalogue, catalogue_digest(report->catalogue)) != 0)
        markup_element(
            html->markup, "p", "notice",
            "These results were made with another version of the catalogue than the one that this page quotes.");
}

static void controls(const struct html *html)
{
    struct markup *m = html->markup;
    markup_open(m, "div", "class", "controls", "id", "controls", "hidden", "hidden", NULL);
    markup_open(m, "label", NULL);
    markup_text(m, "Filter ");
    markup_void(m, "input", "type", "search", "id", "filter", "placeholder", "id, section, words …", "autocomplete",
                "off", NULL);
    markup_close(m);
    markup_open(m, "div", "class", "toggles", "role", "group", "aria-label", "Show verdicts", NULL);
    for (unsigned i = 0; i < STANDING_COUNT; i++) {
        char css[24];
        snprintf(css, sizeof(css), "b %s", standing_class(i));
        markup_open(m, "button", "type", "button", "class", css, "data-t", standing_class(i), "aria-pressed", "true",
                    NULL);
        markup_textf(m, "%s %s", standing_sign(i), standing_word(i));
        markup_close(m);
    }
    markup_close(m);
    markup_open(m, "button", "type", "button", "id", "fold", "class", "plain", "aria-pressed", "false", NULL);
    markup_text(m, "Open all");
    markup_close(m);
    markup_open(m, "span", "id", "shown", "role", "status", NULL);
    markup_close(m);
    markup_close(m);
}

int html_write(const struct report *report, const struct report_coverage *coverage, const struct place *to,
               struct iwarp_sentence *error)
{
    struct html html = {markup_new(), report, coverage};
    struct markup *m = html.markup;
    size_t counts[VERDICT_COUNT] = {0};
    char title[256];
    if (!m)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    count_requirements(report, counts);
    snprintf(title, sizeof(title), "warpcheck: %.200s", report->info.target);
    html_page(m, title, report->info.tool, NULL);
    markup_element(m, "h1", NULL, "warpcheck: iWARP conformance");
    markup_element(m, "p", "target", report->info.target);
    banner(&html, counts);
    html_grid(&html);
    tiles(&html);
    notices(&html);
    facts(&html);
    html_account(&html);
    markup_close(m);
    markup_open(m, "main", NULL);
    controls(&html);
    html_differences(&html);
    html_findings(&html);
    html_ends(&html);
    html_tree(&html);
    html_remarks(&html);
    markup_close(m);
    markup_open(m, "footer", NULL);
    markup_text(m, "Made from results.jsonl; the captures beside it are the evidence. ");
    markup_textf(m, "%.100s; started %.40s; seed %llu; catalogue %.40s.", report->info.tool,
                 report->info.started ? report->info.started : "at an unknown time",
                 (unsigned long long)report->info.seed, report->info.catalogue);
    markup_close(m);
    html_asset(m, "script", "reports/assets/page.js");
    html_asset(m, "script", "reports/assets/print.js");
    int rc = markup_save(m, to, error);
    markup_free(m);
    return rc;
}
