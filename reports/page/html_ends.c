/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the flows of captures ended: a table, one row for each Terminate, reset and reject. */
#include "reports/page/html_parts.h"

enum { ENDS_OPEN = 12 }; /* more of them are a fold, so that the failures are not screens away */

static void place_cell(struct markup *m, const struct end_line *line)
{
    html_cell_of(m, "Capture");
    markup_text(m, line->file);
    markup_textf(m, ", frame %llu", (unsigned long long)line->frame);
    if (line->flow) {
        markup_text(m, " ");
        markup_element(m, "code", NULL, line->flow);
    }
    markup_close(m);
}

static void first_cell(struct markup *m, const struct end_line *line)
{
    html_cell_of(m, "Broken first");
    if (line->broke) {
        markup_element(m, "b", NULL, line->broke);
        markup_textf(m, " %.20s, frame %llu", line->broke_role ? line->broke_role : "",
                     (unsigned long long)line->broke_frame);
    } else {
        markup_text(m, "none");
    }
    markup_close(m);
}

void html_ends(const struct html *html)
{
    static const char *const columns[] = {"End", "Broken first", "Capture", "Why"};
    const struct report *report = html->report;
    struct markup *m = html->markup;

    if (report->end_count == 0)
        return;
    markup_open(m, "section", "class", "list", "id", "ends", NULL);
    markup_open(m, "h2", NULL);
    markup_textf(m, "Why it ended (%llu)", (unsigned long long)report->end_total);
    markup_close(m);
    markup_element(m, "p", "lead",
                   "For each Terminate, reset and reject: what it quotes, what was negotiated, and the first rule that "
                   "was broken before it.");
    markup_open(m, "details", "class", "fold ends", "open", report->end_count <= ENDS_OPEN ? "open" : NULL, NULL);
    markup_element(m, "summary", NULL, "The list, in the order of the captures");
    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, columns, sizeof(columns) / sizeof(columns[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < report->end_count; i++) {
        const struct end_line *line = &report->ends[i].line;

        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        markup_textf(m, "%.20s%s%.20s", line->kind, line->role ? " by " : "", line->role ? line->role : "");
        markup_close(m);
        first_cell(m, line);
        place_cell(m, line);
        html_cell_of(m, "Why");
        markup_text(m, line->why);
        markup_close(m);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
    markup_close(m);
    if (report->end_total > report->end_count) {
        markup_open(m, "p", "class", "notice", NULL);
        markup_textf(m, "%llu more ends are in results.jsonl.",
                     (unsigned long long)(report->end_total - report->end_count));
        markup_close(m);
    }
    markup_close(m);
}
