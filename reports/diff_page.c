/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences as a page (diff.h): how many of which kind at each step, then what they are. */
#include <stdio.h>
#include <stdlib.h>

#include "reports/diff.h"
#include "reports/diff_trend.h"
#include "reports/html_parts.h"

/* What the numbers are, in the table's head and, on a small screen, in the cells. */
static const char *const columns[] = {"from", "to", "new", "changed", "vanished", "fixed", "added", "the same"};
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

static void difference(struct markup *m, const struct diff_entry *entry)
{
    markup_open(m, "tr", NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_text(m, entry->id);
    if (entry->file != NULL)
        markup_element(m, "small", NULL, entry->file);
    markup_close(m);
    markup_element(m, "td", NULL, entry->role);
    side_cell(m, "before", &entry->before);
    side_cell(m, "after", &entry->after);
    markup_close(m);
}

static void kind_section(struct markup *m, const struct diff *step, enum diff_kind kind)
{
    static const char *const names[] = {"requirement", "role", "before", "after"};

    if (step->kinds[kind] == 0)
        return;
    markup_open(m, "details", kind <= DIFF_VANISHED ? "open" : NULL, "open", NULL);
    markup_open(m, "summary", NULL);
    markup_textf(m, "%s: %zu", diff_kind_name(kind), step->kinds[kind]);
    markup_close(m);
    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, names, sizeof(names) / sizeof(names[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < step->count; i++)
        if (step->entries[i].kind == kind)
            difference(m, &step->entries[i]);
    markup_close(m);
    markup_close(m);
    markup_close(m);
}

/* ---- the trend over three runs or more ----------------------------------------------------------------------------- */

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

int diff_write_page(const struct diff *steps, size_t count, const struct place *to, struct sentence *error)
{
    struct markup *m = markup_new();
    int rc = 0;

    if (m == NULL)
        return sentence_set(error, "%s: out of memory", to->path);
    html_page(m, "warpcheck: what differs", steps[count - 1].after->info.tool, "wide");
    heading(m, steps[0].subject);
    totals(m, steps, count);
    markup_close(m);
    markup_open(m, "main", NULL);
    rc = trend_section(m, steps, count);
    for (size_t i = count; i-- > 0;) { /* the newest step first */
        markup_open(m, "section", NULL);
        markup_open(m, "h2", NULL);
        markup_textf(m, "%s → %s", steps[i].names[0], steps[i].names[1]);
        markup_close(m);
        for (int kind = 0; kind < DIFF_KINDS; kind++)
            kind_section(m, &steps[i], (enum diff_kind)kind);
        if (steps[i].count == 0)
            markup_element(m, "p", NULL, "Nothing differs.");
        markup_close(m);
    }
    markup_close(m);
    rc = rc == 0 ? markup_save(m, to, error) : sentence_set(error, "%s: out of memory", to->path);
    markup_free(m);
    return rc;
}
