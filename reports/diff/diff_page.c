/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences as a page (diff.h): how many of which kind at each step, then what they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/diff/diff.h"
#include "reports/diff/diff_trend.h"
#include "reports/page/html_parts.h"

/* What the numbers are, in the table's head and, on a small screen, in the cells. */
static const char *const columns[] = {"from", "to", "new", "changed", "vanished", "fixed", "added", "the same"};
enum { GROUPED_MAX = 2000 }; /* a page of more differences is not grouped: nobody reads it row by row */
enum { FIRST_KIND = 2, COLUMNS = sizeof(columns) / sizeof(columns[0]) };
_Static_assert(COLUMNS == FIRST_KIND + DIFF_KINDS + 1, "a column for each kind, and one for what is the same");

static void number(struct markup *m, const char *of, size_t value)
{
    html_cell_of(m, of);
    markup_textf(m, "%zu", value);
    markup_close(m);
}

static void totals(struct markup *m, const struct diff *steps, size_t count)
{
    markup_open(m, "table", "class", "totals", NULL);
    markup_element(m, "caption", NULL, "Results that differ, by kind");
    html_table_head(m, columns, COLUMNS);
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < count; i++) {
        markup_open(m, "tr", NULL);
        html_cell_of(m, columns[0]);
        markup_text(m, steps[i].names[0]);
        markup_close(m);
        markup_open(m, "th", "scope", "row", NULL);
        markup_open(m, "span", "class", "dev", NULL);
        markup_textf(m, "%s: ", columns[1]);
        markup_close(m);
        markup_open(m, "span", NULL);
        markup_text(m, steps[i].names[1]);
        markup_close(m);
        markup_close(m);
        for (int kind = 0; kind < DIFF_KINDS; kind++)
            number(m, columns[FIRST_KIND + kind], steps[i].kinds[kind]);
        number(m, columns[COLUMNS - 1], steps[i].same);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

static void side_cell(struct markup *m, const char *of, const struct diff_side *side)
{
    char *sentence = diff_side_sentence(side);

    html_cell_of(m, of);
    if (side->there)
        html_badge(m, side->worst);
    else
        markup_text(m, "no result");
    if (sentence != NULL)
        markup_element(m, "p", NULL, sentence);
    markup_close(m);
    free(sentence);
}

/* The text that is about, with its section. */
static void text_of(struct markup *m, const struct diff *step, const struct diff_entry *entry)
{
    const struct catalogue *catalogue = step->after->catalogue;
    const struct requirement *requirement = catalogue != NULL ? catalogue_find(catalogue, entry->id) : NULL;
    char section[100];

    if (requirement == NULL)
        return;
    markup_open(m, "p", "class", "text", NULL);
    markup_element(m, "strong", NULL, requirement_level_name(requirement->level));
    markup_text(m, " ");
    markup_text(m, requirement->text);
    markup_text(m, " ");
    (void)snprintf(section, sizeof(section), "%.40s, section %.40s", requirement->source, requirement->section);
    html_section_link(m, requirement, section);
    markup_close(m);
}

static void difference(struct markup *m, const struct diff *step, const struct diff_entry *entry)
{
    markup_open(m, "tr", NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_text(m, entry->id);
    if (entry->file != NULL)
        markup_element(m, "small", NULL, entry->file);
    text_of(m, step, entry);
    markup_close(m);
    markup_element(m, "td", NULL, entry->role);
    side_cell(m, "before", &entry->before);
    side_cell(m, "after", &entry->after);
    markup_close(m);
}

/* The side that says why it is a difference: the later one, unless it has nothing to say. */
static const struct result *deciding_result(const struct diff_entry *entry)
{
    return entry->after.result != NULL && entry->after.worst != VERDICT_PASS ? entry->after.result
                                                                             : entry->before.result;
}

/* Its name; "": it has none. */
static const char *cause_of_entry(const struct diff_entry *entry)
{
    const struct result *result = deciding_result(entry);

    return result != NULL && result->cause != NULL ? result->cause : "";
}

static bool is_of(const struct diff_entry *entry, enum diff_kind kind, const char *cause)
{
    return entry->kind == kind && strcmp(cause_of_entry(entry), cause) == 0;
}

static size_t count_of(const struct diff *step, enum diff_kind kind, const char *cause)
{
    size_t count = 0;

    for (size_t i = 0; i < step->count; i++)
        count += is_of(&step->entries[i], kind, cause);
    return count;
}

static void rows_table(struct markup *m, const struct diff *step, enum diff_kind kind, const char *cause, bool others)
{
    static const char *const names[] = {"requirement", "role", "before", "after"};

    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, names, sizeof(names) / sizeof(names[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < step->count; i++) {
        const struct diff_entry *entry = &step->entries[i];

        if (entry->kind == kind && (others ? step->count > GROUPED_MAX || cause_of_entry(entry)[0] == '\0' ||
                                                 count_of(step, kind, cause_of_entry(entry)) == 1
                                           : is_of(entry, kind, cause)))
            difference(m, step, entry);
    }
    markup_close(m);
    markup_close(m);
}

/* A fold for each cause that several differences have; then the others. */
static void kind_section(struct markup *m, const struct diff *step, enum diff_kind kind)
{
    size_t grouped = 0;

    if (step->kinds[kind] == 0)
        return;
    markup_open(m, "details", kind <= DIFF_VANISHED ? "open" : NULL, "open", NULL);
    markup_open(m, "summary", NULL);
    markup_textf(m, "%s: %zu", diff_kind_name(kind), step->kinds[kind]);
    markup_close(m);
    for (size_t i = 0; i < step->count && step->count <= GROUPED_MAX; i++) {
        const struct diff_entry *entry = &step->entries[i];
        const char *cause = cause_of_entry(entry);
        size_t count = entry->kind == kind && cause[0] != '\0' ? count_of(step, kind, cause) : 0, before = 0;

        for (size_t k = 0; k < i && count > 1; k++)
            before += is_of(&step->entries[k], kind, cause);
        if (count < 2 || before != 0)
            continue;
        grouped += count;
        markup_open(m, "details", "class", "fold", NULL);
        markup_open(m, "summary", NULL);
        markup_element(m, "strong", NULL, deciding_result(entry)->hint != NULL ? deciding_result(entry)->hint : cause);
        markup_textf(m, " %zu differences of one cause, %.60s", count, cause);
        markup_close(m);
        rows_table(m, step, kind, cause, false);
        markup_close(m);
    }
    if (grouped < step->kinds[kind])
        rows_table(m, step, kind, "", true);
    markup_close(m);
}

static void account_section(struct markup *m, const struct diff *step)
{
    static const char *const names[] = {"not judged", "before", "after"};

    if (step->account_count == 0)
        return;
    markup_element(m, "h3", NULL, step->judges_less ? "More is not judged" : "What is not judged");
    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, names, sizeof(names) / sizeof(names[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < step->account_count; i++) {
        const struct diff_account *account = &step->accounts[i];
        char text[ACCOUNT_TEXT];

        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        markup_text(m, flow_account_row(account->row)->name);
        markup_element(m, "p", "text", flow_account_row(account->row)->text);
        markup_close(m);
        html_cell_of(m, names[1]);
        markup_text(m, account_count_text(account->row, &account->before, text));
        markup_close(m);
        html_cell_of(m, names[2]);
        markup_text(m, account_count_text(account->row, &account->after, text));
        markup_close(m);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

/* "old → new", each as a link to its own page where it has one. */
static void step_heading(struct markup *m, const struct diff *step)
{
    markup_open(m, "h2", NULL);
    for (unsigned i = 0; i < 2; i++) {
        if (i == 1)
            markup_text(m, " → ");
        if (step->pages[i] != NULL)
            markup_open(m, "a", "href", step->pages[i], NULL);
        markup_text(m, step->names[i]);
        if (step->pages[i] != NULL)
            markup_close(m);
    }
    markup_close(m);
}

/*
 * ---- the trend over three runs or more -----------------------------------------------------------------------------
 */

static void trend_head(struct markup *m, const struct diff_trend *trend, const struct diff *steps)
{
    markup_open(m, "thead", NULL);
    markup_open(m, "tr", NULL);
    markup_element(m, "th", NULL, "what");
    for (size_t run = 0; run < trend->runs; run++) {
        const char *name;

        (void)diff_trend_run(steps, run, &name);
        markup_element(m, "th", NULL, name);
    }
    markup_close(m);
    markup_close(m);
}

static void trend_counts(struct markup *m, const struct diff_trend *trend, const struct diff *steps)
{
    enum verdict verdicts[VERDICT_COUNT];
    size_t count = diff_trend_verdicts(steps, trend->runs - 1, verdicts);

    for (size_t i = 0; i < count; i++) {
        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        html_badge(m, verdicts[i]);
        markup_text(m, " results");
        markup_close(m);
        for (size_t run = 0; run < trend->runs; run++) {
            const char *name;
            const struct report *report = diff_trend_run(steps, run, &name);

            html_cell_of(m, name);
            markup_textf(m, "%llu", (unsigned long long)summary_of(&report->summary, verdicts[i]));
            markup_close(m);
        }
        markup_close(m);
    }
}

static void trend_row(struct markup *m, const struct diff_trend_row *row, const struct diff *steps, size_t runs)
{
    markup_open(m, "tr", NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_textf(m, "%s %s", row->entry->id, row->entry->role);
    if (row->entry->file != NULL)
        markup_element(m, "small", NULL, row->entry->file);
    markup_close(m);
    for (size_t run = 0; run < runs; run++) {
        const char *name;

        (void)diff_trend_run(steps, run, &name);
        html_cell_of(m, name);
        if (row->sides[run].there)
            html_badge(m, row->sides[run].worst);
        else
            markup_text(m, "no result");
        markup_close(m);
    }
    markup_close(m);
}

static int trend_section(struct markup *m, const struct diff *steps, size_t count)
{
    struct diff_trend trend;

    if (count < DIFF_TREND_LEAST)
        return 0;
    if (diff_trend_make(&trend, steps, count) != 0)
        return -1;
    markup_open(m, "section", NULL);
    markup_element(m, "h2", NULL, "Trend");
    markup_open(m, "table", "class", "differences", NULL);
    trend_head(m, &trend, steps);
    markup_open(m, "tbody", NULL);
    trend_counts(m, &trend, steps);
    for (size_t i = 0; i < trend.count; i++)
        trend_row(m, &trend.rows[i], steps, trend.runs);
    markup_close(m);
    markup_close(m);
    markup_close(m);
    diff_trend_free(&trend);
    return 0;
}

static void heading(struct markup *m, const char *subject)
{
    markup_open(m, "h1", NULL);
    markup_text(m, "warpcheck: what differs between ");
    markup_text(m, subject != NULL ? "versions of " : "runs");
    markup_text(m, subject != NULL ? subject : "");
    markup_close(m);
    if (subject == NULL)
        return;
    markup_open(m, "p", NULL);
    markup_open(m, "a", "href", "index.html", NULL);
    markup_text(m, "All runs and pages");
    markup_close(m);
    markup_close(m);
}

int diff_write_page(const struct diff *steps, size_t count, const struct place *to, struct iwarp_sentence *error)
{
    struct markup *m = markup_new();
    int rc = 0;

    if (m == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    html_page(m, "warpcheck: what differs", steps[count - 1].after->info.tool, "wide");
    heading(m, steps[0].subject);
    totals(m, steps, count);
    markup_close(m);
    markup_open(m, "main", NULL);
    rc = trend_section(m, steps, count);
    for (size_t i = count; i-- > 0;) { /* the newest step first */
        markup_open(m, "section", NULL);
        step_heading(m, &steps[i]);
        account_section(m, &steps[i]);
        for (int kind = 0; kind < DIFF_KINDS; kind++)
            kind_section(m, &steps[i], (enum diff_kind)kind);
        if (steps[i].count + steps[i].account_count == 0)
            markup_element(m, "p", NULL, "Nothing differs.");
        markup_close(m);
    }
    markup_close(m);
    html_asset(m, "script", "reports/assets/print.js");
    rc = rc == 0 ? markup_save(m, to, error) : iwarp_sentence_set(error, "%s: out of memory", to->path);
    markup_free(m);
    return rc;
}
