/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/page/statement.h"

#include "conformance/requirements/catalogue.h"
#include "reports/page/html_parts.h"
#include "reports/file/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const struct requirement *requirement, const char *source)
{
    return strcmp(source, "all") == 0 || strcmp(requirement->source, source) == 0;
}

static int check_source(const struct catalogue *catalogue, const char *source, struct iwarp_sentence *error)
{
    char list[400] = "";
    const char *last = "";

    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *requirement = catalogue_at(catalogue, i);

        if (is_of(requirement, source))
            return 0;
        if (strstr(list, requirement->source) == NULL && strlen(list) + strlen(requirement->source) + 3 < sizeof(list))
            (void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *last ? ", " : "",
                           requirement->source);
        last = requirement->source;
    }
    return iwarp_sentence_set(
        error, "--statement \"%.60s\": no document of the catalogue; all, or one of %.300s was expected", source, list);
}

static void fact(struct markup *m, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    markup_open(m, "div", NULL);
    markup_element(m, "dt", NULL, name);
    markup_element(m, "dd", NULL, value);
    markup_close(m);
}

/* Who made the device, which one it is, and what it can do. */
static void device(struct markup *m, const struct report *report)
{
    const char *name, *item;
    json_t *value, *answer;

    markup_element(m, "h2", NULL, "The device");
    markup_open(m, "dl", "class", "facts", NULL);
    fact(m, "Judged as", report->info.target);
    json_object_foreach(report->info.device, name, value)
    {
        fact(m, name, json_string_value(value));
    }
    fact(m, "Judged from", report->info.started);
    fact(m, "to", report->summary.ended);
    fact(m, "By", report->info.tool);
    fact(m, "Catalogue", report->info.catalogue);
    markup_close(m);
    value = json_object_get(report->info.device, "capabilities");
    if (json_object_size(value) == 0)
        return;
    markup_element(m, "h2", NULL, "Capabilities that its maker declares");
    markup_open(m, "dl", "class", "facts", NULL);
    json_object_foreach(value, item, answer)
    {
        char number[24];

        (void)snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(answer));
        fact(m, item, json_is_string(answer) ? json_string_value(answer) : number);
    }
    markup_close(m);
}

static void totals(const struct html *html, const char *source)
{
    struct markup *m = html->markup;
    size_t counts[STANDING_COUNT] = {0};

    for (size_t i = 0; i < catalogue_count(html->report->catalogue); i++) {
        const struct requirement *requirement = catalogue_at(html->report->catalogue, i);

        if (is_of(requirement, source))
            counts[html_standing(html, requirement)]++;
    }
    markup_element(m, "h2", NULL, "Summary");
    markup_open(m, "p", NULL);
    for (unsigned i = 0, put = 0; i < STANDING_COUNT; i++)
        if (counts[i])
            markup_textf(m, "%s%zu %s", put++ ? ", " : "", counts[i], standing_word(i));
    markup_text(m, ". A requirement that was not exercised is neither kept nor broken by this statement.");
    markup_close(m);
}

/* Why a requirement is not decided, or on what it is. */
static const char *reason(unsigned standing, const struct result *result)
{
    switch (standing) {
    case STANDING_NOT_EXERCISED: return "nothing in this run exercised it";
    case STANDING_NO_CHECK: return "no check or rule decides it";
    case STANDING_DOCUMENT: return "it binds a document or a person, which no packet shows";
    case VERDICT_SKIP: return result && result->pics ? result->pics : "the device does not declare the capability";
    default: return NULL;
    }
}

static void row(const struct html *html, const struct requirement *requirement)
{
    struct markup *m = html->markup;
    unsigned standing = html_standing(html, requirement);
    size_t count;
    struct report_entry *const *entries = report_find(html->report, requirement, &count);
    const struct result *result = NULL;
    char section[60];

    for (size_t i = 0; i < count && !result; i++)
        result = entries[i]->worst == standing ? report_first(entries[i], entries[i]->worst) : NULL;
    markup_open(m, "tr", NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_text(m, requirement->id);
    markup_text(m, " ");
    (void)snprintf(section, sizeof(section), "section %.40s", requirement->section);
    html_section_link(m, requirement, section);
    markup_close(m);
    html_cell_of(m, "level");
    markup_text(m, requirement_level_name(requirement->level));
    markup_close(m);
    html_cell_of(m, "requirement");
    markup_text(m, requirement->text);
    markup_close(m);
    html_cell_of(m, "verdict");
    html_badge(m, standing);
    markup_close(m);
    html_cell_of(m, "evidence");
    if (reason(standing, result)) {
        markup_text(m, reason(standing, result));
    } else if (result) {
        char *sentence = standing == VERDICT_PASS ? NULL : report_sentence(result);

        markup_text(m, result->evidence ? result->evidence : result->file);
        if (result->frame)
            markup_textf(m, " frame %llu", (unsigned long long)result->frame);
        if (sentence)
            markup_element(m, "p", NULL, sentence);
        if (result->finding)
            markup_element(m, "p", NULL, result->finding);
        free(sentence);
    }
    markup_close(m);
    markup_close(m);
}

static void requirements(const struct html *html, const char *source)
{
    static const char *const columns[] = {"id", "level", "requirement", "verdict",
                                          "evidence, or why it is not decided"};
    struct markup *m = html->markup;

    markup_element(m, "h2", NULL, "Requirements");
    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, columns, sizeof(columns) / sizeof(columns[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < catalogue_count(html->report->catalogue); i++)
        if (is_of(catalogue_at(html->report->catalogue, i), source))
            row(html, catalogue_at(html->report->catalogue, i));
    markup_close(m);
    markup_close(m);
}

static void signature(struct markup *m)
{
    static const char *const lines[] = {"Name", "Company", "Date", "Signature"};

    markup_element(m, "h2", NULL, "Signed");
    markup_open(m, "dl", "class", "facts signature", NULL);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        fact(m, lines[i], "________________________________");
    markup_close(m);
}

int statement_write(const struct report *report, const struct report_coverage *coverage, const char *source,
                    const struct place *to, struct iwarp_sentence *error)
{
    struct html html = {.report = report, .coverage = coverage};
    struct markup *m;
    const char *title = strcmp(source, "all") == 0 ? "all documents" : html_document_title(source);
    int rc;

    if (check_source(report->catalogue, source, error) != 0)
        return STATEMENT_NO_DOCUMENT;
    html.markup = m = markup_new();
    if (m == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    html_page(m, "Conformance statement", report->info.tool, "wide");
    markup_open(m, "h1", NULL);
    markup_text(m, "Conformance statement: ");
    markup_text(m, title);
    markup_close(m);
    if (!report->finished)
        markup_element(m, "p", "notice", "The run did not come to its end: this statement is of a part of it.");
    device(m, report);
    totals(&html, source);
    markup_close(m);
    markup_open(m, "main", NULL);
    requirements(&html, source);
    signature(m);
    markup_close(m);
    rc = markup_save(m, to, error);
    markup_free(m);
    return rc;
}

/*
 * ---- known deviations -----------------------------------------------------------------------------------------------
 */

static json_t *entry_of(const struct result *result, const char *review_by)
{
    return json_pack("{s:s, s:s*, s:s*, s:s*, s:s*, s:s, s:s, s:s}", "requirement", result->id, "role", result->role,
                     "by", result->by, "message", result->message, "actual", result->actual, "finding",
                     result->cause != NULL ? result->cause : result->id, "note", "to be filled in", "review_by",
                     review_by);
}

static bool has(const json_t *list, const json_t *entry)
{
    const json_t *other;
    size_t i;

    json_array_foreach(list, i, other)
    {
        if (json_equal(other, entry))
            return true;
    }
    return false;
}

int statement_known(const struct report *report, const char *review_by, const struct place *to,
                    struct iwarp_sentence *error)
{
    json_t *list = json_array(), *profile = json_pack("{s:O}", "known_deviations", list);
    char *text;
    int rc;

    for (size_t i = 0; i < report->entry_count; i++)
        for (size_t k = 0; k < report->entries[i]->kept_count; k++) {
            const struct result *result = &report->entries[i]->kept[k];
            json_t *entry = result->verdict == VERDICT_FAIL ? entry_of(result, review_by) : NULL;

            if (entry != NULL && !has(list, entry))
                (void)json_array_append(list, entry); /* without memory the program ends with that status */
            json_decref(entry);
        }
    text = profile != NULL ? json_dumps(profile, JSON_INDENT(2)) : NULL;
    json_decref(profile);
    json_decref(list);
    rc = text != NULL ? save_file(to, text, strlen(text), error)
                      : iwarp_sentence_set(error, "%s: out of memory", to->path);
    free(text);
    return rc;
}
