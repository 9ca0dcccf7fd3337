/* SPDX-License-Identifier: BSD-2-Clause */
/* The grid: a row for each layer, a column for each verdict that some requirement has. */
#include "conformance/requirements/catalogue.h"
#include "reports/page/html_parts.h"

#include <stdio.h>

struct grid {
    size_t count[REQUIREMENT_LAYERS + 1][STANDING_COUNT]; /* the last row is the sum */
};

static void fill(const struct html *html, struct grid *grid)
{
    const struct catalogue *catalogue = html->report->catalogue;
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *requirement = catalogue_at(catalogue, i);
        unsigned standing = html_standing(html, requirement);
        grid->count[requirement->layer][standing]++;
        grid->count[REQUIREMENT_LAYERS][standing]++;
    }
}

static bool has_column(const struct grid *grid, unsigned standing)
{
    return standing == VERDICT_PASS || standing == VERDICT_FAIL || grid->count[REQUIREMENT_LAYERS][standing] > 0;
}

static void write_head(struct markup *m, const struct grid *grid)
{
    char css[24];
    markup_open(m, "thead", NULL);
    markup_open(m, "tr", NULL);
    markup_open(m, "th", "scope", "col", NULL);
    markup_text(m, "Layer");
    markup_close(m);
    for (unsigned i = 0; i < STANDING_COUNT; i++) {
        if (!has_column(grid, i))
            continue;
        snprintf(css, sizeof(css), "b %s", standing_class(i));
        markup_open(m, "th", "scope", "col", NULL);
        markup_open(m, "span", "class", css, NULL);
        markup_text(m, standing_sign(i));
        markup_open(m, "span", "class", "word", NULL);
        markup_textf(m, " %s", standing_word(i));
        markup_close(m);
        markup_close(m);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

static void write_row(struct markup *m, const struct grid *grid, unsigned row)
{
    size_t sum = 0;
    for (unsigned i = 0; i < STANDING_COUNT; i++)
        sum += grid->count[row][i];
    if (sum == 0)
        return;
    markup_open(m, "tr", "class", row == REQUIREMENT_LAYERS ? "sum" : NULL, NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_text(m, row == REQUIREMENT_LAYERS ? "all" : requirement_layer_name((enum requirement_layer)row));
    markup_close(m);
    for (unsigned i = 0; i < STANDING_COUNT; i++) {
        if (!has_column(grid, i))
            continue;
        markup_open(m, "td", "class", grid->count[row][i] ? standing_class(i) : "zero", NULL);
        markup_textf(m, "%zu", grid->count[row][i]);
        markup_close(m);
    }
    markup_close(m);
}

void html_grid(const struct html *html)
{
    struct markup *m = html->markup;
    struct grid grid = {0};
    if (!html->report->catalogue)
        return;
    fill(html, &grid);
    markup_open(m, "table", "class", "grid", NULL);
    markup_element(m, "caption", NULL, "Requirements of each layer, each counted once, by their worst verdict");
    write_head(m, &grid);
    markup_open(m, "tbody", NULL);
    for (unsigned row = 0; row <= REQUIREMENT_LAYERS; row++)
        write_row(m, &grid, row);
    markup_close(m);
    markup_close(m);
}
