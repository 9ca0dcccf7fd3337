/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the findings of an audit differ from those that it was to have: a table, before everything that is as expected.
 */
#include "conformance/requirements/catalogue.h"
#include "reports/page/html_parts.h"

#include <stdio.h>

enum { ROWS_MAX = 300 };

static void place_cell(struct markup *m, const struct difference *difference)
{
    html_cell_of(m, "Capture");
    markup_text(m, difference->file);
    if (difference->frame)
        markup_textf(m, ", frame %llu", (unsigned long long)difference->frame);
    if (difference->flow) {
        markup_text(m, " ");
        markup_element(m, "code", NULL, difference->flow);
    }
    markup_close(m);
}

static void requirement_cell(const struct html *html, const struct difference *difference)
{
    struct markup *m = html->markup;
    const struct requirement *requirement = catalogue_find(html->report->catalogue, difference->id);
    char section[100];

    html_cell_of(m, "Requirement");
    markup_element(m, "b", NULL, difference->id);
    if (difference->role)
        markup_textf(m, " %.20s", difference->role);
    if (requirement) {
        markup_open(m, "p", NULL);
        markup_text(m, requirement->text);
        markup_text(m, " ");
        snprintf(section, sizeof(section), "%.40s, section %.40s", requirement->source, requirement->section);
        html_section_link(m, requirement, section);
        markup_close(m);
    }
    markup_close(m);
}

static void what_cell(struct markup *m, const struct difference *difference)
{
    html_cell_of(m, "What");
    markup_text(m, difference->text);
    if (difference->expected) {
        markup_open(m, "p", NULL);
        markup_textf(m, "allowed: ");
        markup_text(m, difference->expected);
        markup_close(m);
    }
    if (difference->actual) {
        markup_open(m, "p", NULL);
        markup_textf(m, "found: ");
        markup_text(m, difference->actual);
        markup_close(m);
    }
    markup_close(m);
}

void html_differences(const struct html *html)
{
    static const char *const columns[] = {"Difference", "Requirement", "Capture", "What"};
    const struct report *report = html->report;
    struct markup *m = html->markup;

    if (report->difference_count == 0)
        return;
    markup_open(m, "section", "class", "list", "id", "differences", NULL);
    markup_open(m, "h2", NULL);
    markup_textf(m, "Not as expected (%zu)", report->difference_count);
    markup_close(m);
    markup_element(
        m, "p", "lead",
        "How the findings differ from the file of expectations. The same audit with --write-expect accepts all "
        "of it, after a look.");
    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, columns, sizeof(columns) / sizeof(columns[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < report->difference_count && i < ROWS_MAX; i++) {
        const struct difference *difference = &report->differences[i].difference;

        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        markup_text(m, difference_kind_name(difference->kind));
        markup_text(m, " ");
        html_badge(m, difference->verdict);
        markup_close(m);
        requirement_cell(html, difference);
        place_cell(m, difference);
        what_cell(m, difference);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
    if (report->difference_count > ROWS_MAX) {
        markup_open(m, "p", "class", "notice", NULL);
        markup_textf(m, "%zu more differences are in results.jsonl.", report->difference_count - ROWS_MAX);
        markup_close(m);
    }
    markup_close(m);
}
