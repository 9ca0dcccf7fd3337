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
    fact(m, "device", report->info.target);
    json_object_foreach(report->info.device, name, value)
    {
        fact(m, name, json_string_value(value));
    }
    fact(m, "judged from", report->info.started);
    fact(m, "judged until", report->summary.ended);
    fact(m, "judged by", report->info.tool);
    fact(m, "catalogue of requirements", report->info.catalogue);
    fact(m, "command", report->info.command_line);
    markup_close(m);
    value = json_object_get(report->info.device, "capabilities");
    markup_element(m, "h2", NULL, "Capabilities that its maker declares");
    if (json_object_size(value) == 0) {
        markup_element(m, "p", NULL,
                       "The profile of the device declares none: the defaults count (warpcheck pics lists them).");
        return;
    }
    markup_open(m, "dl", "class", "facts", NULL);
    json_object_foreach(value, item, answer)
    {
        char number[24];

        (void)snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(answer));
        fact(m, item, json_is_string(answer) ? json_string_value(answer) : number);
    }
    markup_close(m);
}

/* The outcome for this document alone: a customer reads it first. */
static void outcome(const struct html *html, const size_t counts[STANDING_COUNT])
{
    size_t broken = counts[VERDICT_FAIL] + counts[VERDICT_KNOWN];
    size_t decided = broken + counts[VERDICT_PASS] + counts[VERDICT_WARN] + counts[VERDICT_AMBIGUOUS];
    struct markup *m = html->markup;
    const char *word = "Conforms in what was decided", *css = "banner pass", *sign = "✓";

    if (broken)
        word = "Does not conform", css = "banner fail", sign = "✗";
    else if (!html->report->finished || counts[VERDICT_INCONCLUSIVE] || decided == 0)
        word = decided ? "Inconclusive" : "Nothing was decided", css = "banner inc", sign = "?";
    markup_open(m, "div", "class", css, NULL);
    markup_element(m, "span", "sign", sign);
    markup_open(m, "div", NULL);
    markup_element(m, "strong", NULL, word);
    markup_open(m, "p", NULL);
    markup_textf(m, "%zu of %zu decided requirements %s broken", broken, decided, broken == 1 ? "is" : "are");
    if (counts[VERDICT_KNOWN] && counts[VERDICT_KNOWN] == broken)
        markup_text(m, broken == 1 ? ", as the profile of the device describes"
                                   : ", all of them as the profile of the device describes");
    else if (counts[VERDICT_KNOWN])
        markup_textf(m, ", %zu of them as the profile of the device describes", counts[VERDICT_KNOWN]);
    markup_text(m, ". A requirement that was not decided is neither kept nor broken by this statement.");
    markup_close(m);
    markup_close(m);
    markup_close(m);
}

static const char *meaning(unsigned standing)
{
    static const char *const meanings[STANDING_COUNT] = {
        [VERDICT_PASS] = "kept wherever it was tried",
        [VERDICT_FAIL] = "broken",
        [VERDICT_KNOWN] = "broken, in the way that the profile of the device describes",
        [VERDICT_WARN] = "a recommendation (SHOULD) that is not kept",
        [VERDICT_INCONCLUSIVE] = "tried, but the environment prevented a verdict",
        [VERDICT_AMBIGUOUS] = "the document has two readings; the evidence names the one that the device follows",
        [VERDICT_SKIP] = "not tried: it needs what the device does not have or does not declare",
        [STANDING_NOT_EXERCISED] = "not tried in this run",
        [STANDING_NO_CHECK] = "nothing decides it yet",
        [STANDING_DOCUMENT] = "binds a document or a person, which no packet shows",
    };

    return meanings[standing];
}

static void totals(const struct html *html, const size_t counts[STANDING_COUNT])
{
    static const char *const columns[] = {"verdict", "requirements", "meaning"};
    struct markup *m = html->markup;

    markup_element(m, "h2", NULL, "Summary");
    markup_open(m, "table", "class", "differences", NULL);
    html_table_head(m, columns, sizeof(columns) / sizeof(columns[0]));
    markup_open(m, "tbody", NULL);
    for (unsigned i = 0; i < STANDING_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        markup_open(m, "tr", NULL);
        markup_open(m, "th", "scope", "row", NULL);
        html_badge(m, i);
        markup_close(m);
        html_cell_of(m, "requirements");
        markup_textf(m, "%zu", counts[i]);
        markup_close(m);
        html_cell_of(m, "meaning");
        markup_text(m, meaning(i));
        markup_close(m);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

/* Why a requirement is not decided. */
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

/* "as initiator and responder" */
static void roles(struct markup *m, struct report_entry *const *entries, size_t count, unsigned standing)
{
    size_t named = 0;

    for (size_t i = 0; i < count; i++)
        if (entries[i]->worst == standing && *entries[i]->role)
            markup_textf(m, "%s %s", named++ ? " and" : " as", entries[i]->role);
}

/* Which check or rule decided it, in which roles, and where that can be seen. */
static void decider(struct markup *m, struct report_entry *const *entries, size_t count, const struct result *result)
{
    if (result->script) {
        markup_textf(m, "%s ", result->by && strcmp(result->by, "rule") == 0 ? "rule" : "check");
        markup_element(m, "code", NULL, result->script);
    }
    roles(m, entries, count, result->verdict);
    if (result->evidence || result->file)
        markup_textf(m, ", %s", result->evidence ? result->evidence : result->file);
    if (result->frame)
        markup_textf(m, " frame %llu", (unsigned long long)result->frame);
}

static void evidence(struct markup *m, struct report_entry *const *entries, size_t count, const struct result *result)
{
    char *sentence = result->verdict == VERDICT_PASS ? NULL : report_sentence(result);

    if (sentence)
        markup_element(m, "p", NULL, sentence);
    if (result->finding) {
        markup_open(m, "p", NULL);
        markup_textf(m, "known as \"%s\"", result->finding);
        if (result->review_by)
            markup_textf(m, ", to be reviewed by %s", result->review_by);
        markup_close(m);
    }
    markup_open(m, "p", "class", "src", NULL);
    decider(m, entries, count, result);
    markup_close(m);
    free(sentence);
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
    html_cell_of(m, reason(standing, result) ? "why it is not decided" : "evidence");
    if (reason(standing, result))
        markup_text(m, reason(standing, result));
    else if (result)
        evidence(m, entries, count, result);
    markup_close(m);
    markup_close(m);
}

static void requirements(const struct html *html, const char *source)
{
    static const char *const columns[] = {"id", "level", "requirement", "verdict",
                                          "evidence, or why it is not decided"};
    struct markup *m = html->markup;

    markup_element(m, "h2", NULL, "Requirements");
    markup_open(m, "table", "class", "differences statement", NULL);
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
    size_t counts[STANDING_COUNT] = {0};
    struct markup *m;
    const char *title = strcmp(source, "all") == 0 ? "all documents" : html_document_title(source);
    int rc;

    if (check_source(report->catalogue, source, error) != 0)
        return STATEMENT_NO_DOCUMENT;
    html.markup = m = markup_new();
    if (m == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    for (size_t i = 0; i < catalogue_count(report->catalogue); i++)
        if (is_of(catalogue_at(report->catalogue, i), source))
            counts[html_standing(&html, catalogue_at(report->catalogue, i))]++;
    html_page(m, "Conformance statement", report->info.tool, "wide paper");
    markup_open(m, "h1", NULL);
    markup_text(m, "Conformance statement: ");
    markup_text(m, title);
    markup_close(m);
    if (!report->finished)
        markup_element(m, "p", "notice", "The run did not come to its end: this statement is of a part of it.");
    outcome(&html, counts);
    device(m, report);
    totals(&html, counts);
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

/*
 * An outcome with what is no part of it left open: a CRC differs with the octets that it is of. A new text for free();
 * NULL for none, or without memory.
 */
static char *outcome_pattern(const char *actual)
{
    static const char lead[] = "CRC 0x", open[] = "<hex>";
    const size_t lead_octets = sizeof(lead) - 1, open_octets = sizeof(open) - 1, digits = 8;
    char *text = actual != NULL ? strdup(actual) : NULL;
    char *at = text != NULL ? strstr(text, lead) : NULL;

    for (; at != NULL; at = strstr(at, lead)) {
        at += lead_octets;
        if (strspn(at, "0123456789abcdef") != digits)
            continue;
        memcpy(at, open, open_octets);
        memmove(at + open_octets, at + digits, strlen(at + digits) + 1);
    }
    return text;
}

static json_t *entry_of(const struct result *result, const char *review_by)
{
    char *actual = outcome_pattern(result->actual);
    json_t *entry =
        json_pack("{s:s, s:s*, s:s*, s:s*, s:s*, s:s*, s:s, s:s, s:s}", "requirement", result->id, "role", result->role,
                  "by", result->by, "verdict", result->verdict == VERDICT_WARN ? "WARN" : NULL, "message",
                  result->message, "actual", actual, "finding", result->cause != NULL ? result->cause : result->id,
                  "note", "to be filled in", "review_by", review_by);

    free(actual);
    return entry;
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
            bool broken = result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN;
            json_t *entry = broken ? entry_of(result, review_by) : NULL;

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
