/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/page/matrix.h"

#include "conformance/requirements/catalogue.h"
#include "reports/page/html_parts.h"

#include <stdio.h>
#include <string.h>

struct matrix {
    struct markup *markup;
    const struct matrix_column *columns;
    size_t count;
    const struct catalogue *catalogue;
};

/* The worst verdict of a requirement in one run, over its roles; STANDING_NOT_EXERCISED without a result. */
static unsigned standing_in(const struct matrix_column *column, const struct requirement *requirement)
{
    size_t count;
    struct report_entry *const *entries = report_find(column->report, requirement, &count);
    enum verdict worst;

    if (!entries)
        return STANDING_NOT_EXERCISED;
    worst = entries[0]->worst;
    for (size_t i = 1; i < count; i++)
        worst = verdict_worse(worst, entries[i]->worst);
    return worst;
}

/* Two runs differ when both decided the requirement, and one of them found it broken or took another reading. */
static bool differs(const struct matrix *matrix, const struct requirement *requirement)
{
    unsigned first = STANDING_COUNT;

    for (size_t i = 0; i < matrix->count; i++) {
        unsigned standing = standing_in(&matrix->columns[i], requirement);

        if (standing == STANDING_NOT_EXERCISED || standing == VERDICT_SKIP || standing == VERDICT_INCONCLUSIVE)
            continue;
        if (first != STANDING_COUNT && standing != first)
            return true;
        first = standing;
    }
    return false;
}

static bool mentioned(const struct matrix *matrix, const struct requirement *requirement)
{
    for (size_t i = 0; i < matrix->count; i++)
        if (standing_in(&matrix->columns[i], requirement) != STANDING_NOT_EXERCISED)
            return true;
    return false;
}

/* One role's badge, a link to the run's own page where there is one. */
static void role_badge(const struct matrix *matrix, const struct matrix_column *column,
                       const struct report_entry *entry)
{
    struct markup *m = matrix->markup;
    char href[1024];

    markup_open(m, "div", NULL);
    if (column->page) {
        snprintf(href, sizeof(href), "%s#%s", column->page, entry->id);
        markup_open(m, "a", "href", href, NULL);
    }
    html_badge(m, entry->worst);
    if (column->page)
        markup_close(m);
    if (*entry->role)
        markup_element(m, "small", NULL, entry->role);
    markup_close(m);
}

static void cell(const struct matrix *matrix, const struct matrix_column *column, const struct requirement *requirement)
{
    struct markup *m = matrix->markup;
    size_t count;
    struct report_entry *const *entries = report_find(column->report, requirement, &count);

    markup_open(m, "td", NULL);
    markup_element(m, "span", "dev", column->name);
    if (!entries)
        html_badge(m, STANDING_NOT_EXERCISED);
    for (size_t i = 0; entries && i < count; i++)
        role_badge(matrix, column, entries[i]);
    markup_close(m);
}

static void row(const struct matrix *matrix, const struct requirement *requirement)
{
    struct markup *m = matrix->markup;
    char marks[512] = "";
    size_t used = 0;

    if (!mentioned(matrix, requirement))
        return;
    for (size_t i = 0; i < matrix->count && used < sizeof(marks) - 16; i++)
        used += (size_t)snprintf(marks + used, sizeof(marks) - used, "%s%s", i ? " " : "",
                                 standing_class(standing_in(&matrix->columns[i], requirement)));
    markup_open(m, "tr", "id", requirement->id, "data-v", marks, "class",
                differs(matrix, requirement) ? "differs" : NULL, NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_element(m, "b", NULL, requirement->id);
    markup_element(m, "small", NULL, requirement_level_name(requirement->level));
    markup_text(m, " ");
    html_section_link(m, requirement, requirement->section);
    markup_element(m, "p", NULL, requirement->text);
    markup_close(m);
    for (size_t i = 0; i < matrix->count; i++)
        cell(matrix, &matrix->columns[i], requirement);
    markup_close(m);
}

/* What is counted of a document or section; section NULL: of all of the document. */
struct share {
    size_t mentioned, differing;
};

static bool belongs(const struct requirement *requirement, const char *source, const char *section)
{
    return strcmp(requirement->source, source) == 0 && (!section || strcmp(requirement->section, section) == 0);
}

static struct share share_of(const struct matrix *matrix, const char *source, const char *section)
{
    struct share share = {0};

    for (size_t i = 0; i < catalogue_count(matrix->catalogue); i++) {
        const struct requirement *requirement = catalogue_at(matrix->catalogue, i);

        if (!belongs(requirement, source, section))
            continue;
        share.mentioned += mentioned(matrix, requirement);
        share.differing += differs(matrix, requirement);
    }
    return share;
}

/* Opens a fold and writes its summary. */
static void fold(const struct matrix *matrix, const char *css, const char *name, const struct share *share, bool open)
{
    struct markup *m = matrix->markup;

    markup_open(m, "details", "class", css, "open", open ? "open" : NULL, NULL);
    markup_open(m, "summary", NULL);
    markup_element(m, "span", "name", name);
    markup_open(m, "span", "class", "cov", NULL);
    markup_textf(m, "%zu requirement%s", share->mentioned, share->mentioned == 1 ? "" : "s");
    if (share->differing)
        markup_textf(m, ", the devices differ in %zu", share->differing);
    markup_close(m);
    markup_close(m);
}

static void section_of(const struct matrix *matrix, const char *source, const char *section)
{
    struct markup *m = matrix->markup;
    struct share share = share_of(matrix, source, section);
    char name[80];

    if (share.mentioned == 0)
        return;
    snprintf(name, sizeof(name), strncmp(section, "App", 3) == 0 ? "%.60s" : "Section %.60s", section);
    fold(matrix, "sec", name, &share, share.differing > 0);
    markup_open(m, "table", "class", "matrix", NULL);
    markup_open(m, "thead", NULL);
    markup_open(m, "tr", NULL);
    markup_element(m, "th", NULL, "Requirement");
    for (size_t i = 0; i < matrix->count; i++)
        markup_element(m, "th", NULL, matrix->columns[i].name);
    markup_close(m);
    markup_close(m);
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < catalogue_count(matrix->catalogue); i++) {
        const struct requirement *requirement = catalogue_at(matrix->catalogue, i);

        if (belongs(requirement, source, section))
            row(matrix, requirement);
    }
    markup_close(m);
    markup_close(m);
    markup_close(m);
}

/* The first of its document, or of its section, in the catalogue. */
static bool is_first(const struct catalogue *catalogue, size_t index, bool of_section)
{
    const struct requirement *requirement = catalogue_at(catalogue, index);

    for (size_t k = 0; k < index; k++)
        if (belongs(catalogue_at(catalogue, k), requirement->source, of_section ? requirement->section : NULL))
            return false;
    return true;
}

static void document_of(const struct matrix *matrix, const char *source)
{
    struct share share = share_of(matrix, source, NULL);

    if (share.mentioned == 0)
        return;
    fold(matrix, "docu", html_document_title(source), &share, false);
    for (size_t i = 0; i < catalogue_count(matrix->catalogue); i++) {
        const struct requirement *requirement = catalogue_at(matrix->catalogue, i);

        if (belongs(requirement, source, NULL) && is_first(matrix->catalogue, i, true))
            section_of(matrix, source, requirement->section);
    }
    markup_close(matrix->markup);
}

/* How many requirements of a run have each verdict, each by its worst. */
static void counts_of(const struct matrix *matrix, const struct matrix_column *column, size_t counts[STANDING_COUNT])
{
    for (size_t i = 0; i < catalogue_count(matrix->catalogue); i++)
        counts[standing_in(column, catalogue_at(matrix->catalogue, i))]++;
}

static void count_cell(const struct matrix *matrix, size_t number, unsigned standing)
{
    markup_open(matrix->markup, "td", "class", number ? standing_class(standing) : "zero", NULL);
    markup_textf(matrix->markup, "%zu", number);
    markup_open(matrix->markup, "span", "class", "dev", NULL);
    markup_textf(matrix->markup, " %s", standing_word(standing));
    markup_close(matrix->markup);
    markup_close(matrix->markup);
}

static void summary(const struct matrix *matrix)
{
    static const unsigned order[] = {VERDICT_PASS,         VERDICT_FAIL,      VERDICT_KNOWN, VERDICT_WARN,
                                     VERDICT_INCONCLUSIVE, VERDICT_AMBIGUOUS, VERDICT_SKIP,  STANDING_NOT_EXERCISED};
    struct markup *m = matrix->markup;

    markup_open(m, "table", "class", "totals", NULL);
    markup_element(m, "caption", NULL, "Requirements of each device by their worst verdict");
    markup_open(m, "thead", NULL);
    markup_open(m, "tr", NULL);
    markup_element(m, "th", NULL, "Device");
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        markup_open(m, "th", NULL);
        html_badge(m, order[i]);
        markup_close(m);
    }
    markup_element(m, "th", NULL, "Target");
    markup_element(m, "th", NULL, "Tool, start, seed");
    markup_close(m);
    markup_close(m);
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < matrix->count; i++) {
        const struct matrix_column *column = &matrix->columns[i];
        const struct run_info *info = &column->report->info;
        size_t counts[STANDING_COUNT] = {0};

        counts_of(matrix, column, counts);
        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        if (column->page)
            markup_open(m, "a", "href", column->page, NULL);
        markup_text(m, column->name);
        if (column->page)
            markup_close(m);
        if (!column->report->finished)
            markup_element(m, "small", NULL, "stopped before its end");
        markup_close(m);
        for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
            count_cell(matrix, counts[order[k]], order[k]);
        html_cell_of(m, "target");
        markup_text(m, info->target);
        markup_close(m);
        html_cell_of(m, "tool, start, seed");
        markup_textf(m, "%.60s, %.40s, %llu", info->tool, info->started ? info->started : "unknown",
                     (unsigned long long)info->seed);
        markup_close(m);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

static void controls(const struct matrix *matrix)
{
    struct markup *m = matrix->markup;

    markup_open(m, "div", "class", "controls", "id", "controls", "hidden", "hidden", NULL);
    markup_open(m, "label", NULL);
    markup_text(m, "Filter ");
    markup_void(m, "input", "type", "search", "id", "filter", "placeholder", "id, words …", "autocomplete", "off",
                NULL);
    markup_close(m);
    markup_open(m, "label", NULL);
    markup_void(m, "input", "type", "checkbox", "id", "differing", NULL);
    markup_text(m, " only where devices differ");
    markup_close(m);
    markup_open(m, "label", NULL);
    markup_void(m, "input", "type", "checkbox", "id", "broken", NULL);
    markup_text(m, " only FAIL, KNOWN and WARN");
    markup_close(m);
    markup_open(m, "span", "id", "shown", "role", "status", NULL);
    markup_close(m);
    markup_close(m);
}

static void documents(const struct matrix *matrix)
{
    markup_open(matrix->markup, "section", "id", "tree", NULL);
    markup_element(matrix->markup, "h2", NULL, "Requirements");
    for (size_t i = 0; i < catalogue_count(matrix->catalogue); i++) {
        if (is_first(matrix->catalogue, i, false))
            document_of(matrix, catalogue_at(matrix->catalogue, i)->source);
    }
    markup_close(matrix->markup);
}

int matrix_write(const struct matrix_column *columns, size_t count, const struct catalogue *catalogue,
                 const struct place *to, struct iwarp_sentence *error)
{
    struct matrix matrix = {markup_new(), columns, count, catalogue};
    struct markup *m = matrix.markup;
    int rc;

    if (!m)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    html_page(m, "warpcheck: devices side by side", count ? columns[0].report->info.tool : NULL, "wide");
    markup_element(m, "h1", NULL, "warpcheck: iWARP conformance, devices side by side");
    summary(&matrix);
    markup_element(
        m, "p", "lead",
        "Each run has one column. Each badge shows the worst verdict of one role and links to the run's page "
        "with its evidence. In shaded rows the devices differ.");
    markup_close(m);
    markup_open(m, "main", NULL);
    controls(&matrix);
    documents(&matrix);
    markup_close(m);
    html_asset(m, "script", "reports/assets/matrix.js");
    html_asset(m, "script", "reports/assets/print.js");
    rc = markup_save(m, to, error);
    markup_free(m);
    return rc;
}
