/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile/deviation.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/profile/json_members.h"
#include "conformance/engine/option/review_day.h"
#include "conformance/engine/option/shard.h"
#include "base/nearest.h"
#include "base/text_stream.h"
#include "reports/results/member.h"

static const struct json_member members[] = {
    {"requirement", MEMBER_TEXT, true, "the id of a requirement"},
    {"actual", MEMBER_TEXT, false, "the full text of \"actual\" in results.jsonl"},
    {"message", MEMBER_TEXT, false, "the full text of \"message\" in results.jsonl"},
    {"outcome", MEMBER_TEXT, false, "the digest \"outcome\" of results.jsonl"},
    {"role", MEMBER_TEXT, false, "\"initiator\" or \"responder\""},
    {"by", MEMBER_TEXT, false, "\"check\" or \"rule\""},
    {"finding", MEMBER_TEXT, false, "the name of a finding"},
    {"note", MEMBER_TEXT, false, "a comment"},
    {"review_by", MEMBER_TEXT, true, "a day, YYYY-MM-DD,"},
    {"sometimes", MEMBER_BOOLEAN, false, "true or false"},
    {"reason", 0, false, "\"actual\" names the outcome (docs/profiles.md)"},
    {"verdict", MEMBER_TEXT, false, "\"FAIL\" or \"WARN\""},
};

static const struct placeholder {
    const char *name;
    const char *pattern;
} placeholders[] = {
    {"<number>", "[0-9]+"},
    {"<hex>", "[0-9a-fA-F]+"},
};

enum { PLACEHOLDERS = sizeof(placeholders) / sizeof(placeholders[0]) };

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

static const struct placeholder *placeholder_at(const char *text)
{
    for (size_t i = 0; i < PLACEHOLDERS; i++)
        if (strncmp(text, placeholders[i].name, strlen(placeholders[i].name)) == 0)
            return &placeholders[i];
    return NULL;
}

static const char *placeholder_name(const void *names, size_t index)
{
    return ((const struct placeholder *)names)[index].name;
}

/* "<numbr>": letters in angle brackets that are no placeholder would stand for themselves, and never be met. */
static int misspelt(const char *text, const char *member, const char *at, struct iwarp_sentence *error)
{
    size_t letters = 1;
    char word[24], hint[NEAREST_HINT_OCTETS];
    const char *nearest;

    while (isalpha((unsigned char)text[letters]))
        letters++;
    if (letters == 1 || letters + 2 > sizeof(word) || text[letters] != '>')
        return 0;
    (void)snprintf(word, sizeof(word), "%.*s", (int)letters + 1, text);
    nearest = nearest_name(word, placeholder_name, placeholders, PLACEHOLDERS);
    return iwarp_sentence_set(error, "%s: \"%s\" contains %s, which is not a placeholder%s", at, member, word,
                              nearest != NULL ? nearest_hint(nearest, hint) : ", <number> or <hex> was expected");
}

/* The regular expression of a text that has to be met in full, malloc'd. NULL without memory. */
static char *expression_of(const char *text)
{
    char *expression = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&expression, &size);

    if (out == NULL)
        return NULL;
    fputs("^(", out);
    while (*text != '\0') {
        const struct placeholder *placeholder = placeholder_at(text);

        if (placeholder != NULL) {
            fputs(placeholder->pattern, out);
            text += strlen(placeholder->name);
            continue;
        }
        if (strchr("\\[](){}^$.*+?|", *text) != NULL)
            fputc('\\', out);
        fputc(*text++, out);
    }
    fputs(")$", out);
    (void)text_stream_close(out, &expression);
    return expression;
}

/* False for a text of placeholders and signs alone: it would excuse any outcome of that form. */
static bool names_something(const char *text)
{
    while (*text != '\0') {
        const struct placeholder *placeholder = placeholder_at(text);

        if (placeholder == NULL && isalnum((unsigned char)*text))
            return true;
        text += placeholder != NULL ? strlen(placeholder->name) : 1;
    }
    return false;
}

static int pattern_read(struct outcome_pattern *pattern, const json_t *entry, const char *member, const char *at,
                        struct iwarp_sentence *error)
{
    const char *text = json_string_value(json_object_get(entry, member));
    char *expression;
    int rc;

    if (text == NULL)
        return 0;
    for (const char *p = strchr(text, '<'); p != NULL; p = strchr(p + 1, '<'))
        if (placeholder_at(p) == NULL && misspelt(p, member, at, error) != 0)
            return -1;
    if (!names_something(text))
        return iwarp_sentence_set(
            error,
            "%s: \"%s\" is \"%.40s\", which matches no outcome: the full text of \"%s\" in results.jsonl was expected",
            at, member, text, member);
    expression = expression_of(text);
    rc = expression != NULL ? regcomp(&pattern->whole, expression, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;
    free(expression);
    if (rc != 0)
        return iwarp_sentence_set(error, "%s: \"%s\": out of memory", at, member);
    pattern->text = text;
    return 0;
}

static bool pattern_met(const struct outcome_pattern *pattern, const char *text)
{
    return pattern->text == NULL || (text != NULL && regexec(&pattern->whole, text, 0, NULL, 0) == 0);
}

const char *outcome_digest(const struct result *result, char text[OUTCOME_OCTETS])
{
    uint64_t digest = DIGEST_START;

    digest = digest_text(digest, result->message != NULL ? result->message : "");
    digest = digest_text(digest, result->actual != NULL ? result->actual : "");
    shard_digest_show(digest, text);
    return text;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

const char *const device_roles[DEVICE_ROLES] = {"initiator", "responder"};

int requirement_unknown(const struct catalogue *catalogue, const char *id, const char *at, struct iwarp_sentence *error)
{
    const struct requirement *nearest = NULL;
    char hint[NEAREST_HINT_OCTETS];

    (void)catalogue_nearest(catalogue, id, &nearest, 1);
    return iwarp_sentence_set(error, "%s: there is no requirement \"%.60s\"%s", at, id,
                              nearest_hint(nearest != NULL ? nearest->id : NULL, hint));
}

static int names_check(const struct known_deviation *entry, const struct catalogue *catalogue, const char *at,
                       struct iwarp_sentence *error)
{
    static const char *const deciders[] = {"check", "rule"}, *const verdicts[] = {"FAIL", "WARN"};

    if (catalogue_find(catalogue, entry->requirement) == NULL)
        return requirement_unknown(catalogue, entry->requirement, at, error);
    if (entry->role != NULL && json_one_of(entry->role, "role", device_roles, DEVICE_ROLES, at, error) != 0)
        return -1;
    if (entry->verdict != NULL && json_one_of(entry->verdict, "verdict", verdicts, 2, at, error) != 0)
        return -1;
    return entry->by != NULL ? json_one_of(entry->by, "by", deciders, 2, at, error) : 0;
}

static int outcome_check(const struct known_deviation *entry, const char *at, struct iwarp_sentence *error)
{
    if (entry->outcome == NULL && entry->actual.text == NULL)
        return iwarp_sentence_set(
            error, "%s: \"actual\" is missing, the full text of \"actual\" in results.jsonl was expected", at);
    if (entry->outcome == NULL)
        return 0;
    if (entry->actual.text != NULL || entry->message.text != NULL)
        return iwarp_sentence_set(
            error,
            "%s: \"outcome\" replaces \"actual\" and \"message\", an entry with one of the two forms was expected", at);
    if (strlen(entry->outcome) != OUTCOME_OCTETS - 1 || entry->outcome[strspn(entry->outcome, "0123456789abcdef")])
        return iwarp_sentence_set(
            error, "%s: \"outcome\" is \"%.40s\", the %d digits of \"outcome\" in results.jsonl were expected", at,
            entry->outcome, OUTCOME_OCTETS - 1);
    return 0;
}

static int entry_read(struct known_deviation *entry, const json_t *json, const struct catalogue *catalogue,
                      const char *today, const char *at, struct iwarp_sentence *error)
{
    entry->requirement = member_text(json, "requirement");
    entry->role = member_text(json, "role");
    entry->by = member_text(json, "by");
    entry->verdict = member_text(json, "verdict");
    entry->outcome = member_text(json, "outcome");
    entry->finding = member_text(json, "finding");
    entry->note = member_text(json, "note");
    entry->review_by = member_text(json, "review_by");
    entry->sometimes = json_is_true(json_object_get(json, "sometimes"));
    if (names_check(entry, catalogue, at, error) != 0 || pattern_read(&entry->actual, json, "actual", at, error) != 0 ||
        pattern_read(&entry->message, json, "message", at, error) != 0 || outcome_check(entry, at, error) != 0)
        return -1;
    return review_day_check(entry->review_by, today, at, error);
}

int deviations_read(struct deviation_list *list, const json_t *json, const struct catalogue *catalogue,
                    const char *today, const char *file, struct iwarp_sentence *error)
{
    size_t count = json_array_size(json);

    *list = (struct deviation_list){0};
    if (count == 0)
        return 0;
    list->entries = calloc(count, sizeof(*list->entries));
    if (list->entries == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", file);
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(json, i);
        char place[48], at[256];

        (void)snprintf(place, sizeof(place), "known_deviations[%zu]", i);
        if (json_members_check(entry, members, sizeof(members) / sizeof(members[0]), file, place, error) != 0)
            return -1;
        (void)snprintf(at, sizeof(at), "%.150s: %s (%.40s)", file, place, member_text(entry, "requirement"));
        list->count++;
        if (entry_read(&list->entries[i], entry, catalogue, today, at, error) != 0)
            return -1;
    }
    return 0;
}

void deviations_free(struct deviation_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].actual.text != NULL)
            regfree(&list->entries[i].actual.whole);
        if (list->entries[i].message.text != NULL)
            regfree(&list->entries[i].message.whole);
    }
    free(list->entries);
    *list = (struct deviation_list){0};
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

static bool limited_to(const char *only, const char *what)
{
    return only == NULL || (what != NULL && strcmp(only, what) == 0);
}

/* Is the entry about such results at all? */
static bool concerns(const struct known_deviation *entry, const struct result *result)
{
    return strcmp(entry->requirement, result->id) == 0 && limited_to(entry->role, result->role) &&
           limited_to(entry->by, result->by);
}

static bool is_outcome(const struct known_deviation *entry, const struct result *result)
{
    char digest[OUTCOME_OCTETS];

    if (entry->outcome != NULL)
        return strcmp(entry->outcome, outcome_digest(result, digest)) == 0;
    return pattern_met(&entry->actual, result->actual) && pattern_met(&entry->message, result->message);
}

static bool is_verdict(const struct known_deviation *entry, enum verdict verdict)
{
    return strcmp(entry->verdict != NULL ? entry->verdict : "FAIL", verdict_name(verdict)) == 0;
}

/* The first entry that is about the result, or the one with its verdict and outcome where `outcome`. */
static struct known_deviation *find(const struct deviation_list *list, const struct result *result, bool outcome)
{
    for (size_t i = 0; i < list->count; i++) {
        struct known_deviation *entry = &list->entries[i];

        if (concerns(entry, result) && (!outcome || (is_verdict(entry, result->verdict) && is_outcome(entry, result))))
            return entry;
    }
    return NULL;
}

static const char *finding_of(const struct known_deviation *entry)
{
    return entry->finding != NULL ? entry->finding : entry->requirement;
}

static bool is_over(const struct known_deviation *entry, const char *today)
{
    return strcmp(today, entry->review_by) > 0;
}

bool deviations_excuse(struct deviation_list *list, const struct result *result, const char *today)
{
    struct known_deviation *entry = result->verdict == VERDICT_FAIL ? find(list, result, true) : NULL;

    if (entry != NULL)
        entry->met = true;
    return entry != NULL && !is_over(entry, today);
}

/* A PASS is a surprise where an entry does not say that there may be one. */
static bool judge_pass(const struct deviation_list *list, struct result *result, char text[DEVIATION_TEXT_OCTETS])
{
    for (size_t i = 0; i < list->count; i++) {
        const struct known_deviation *entry = &list->entries[i];

        if (!concerns(entry, result) || entry->sometimes)
            continue;
        (void)snprintf(text, DEVIATION_TEXT_OCTETS, "unexpected pass: the profile lists a known deviation (%.300s)",
                       finding_of(entry));
        result->verdict = VERDICT_FAIL;
        result->message = text;
        return true;
    }
    return false;
}

/* The device fails otherwise than is known. */
static bool say_other(const struct deviation_list *list, struct result *result, char text[DEVIATION_TEXT_OCTETS])
{
    const struct known_deviation *entry = find(list, result, false);

    if (entry == NULL)
        return false;
    (void)snprintf(text, DEVIATION_TEXT_OCTETS, "%.400s%sthe profile knows another outcome (%.150s)%s%.350s",
                   result->message != NULL ? result->message : "", result->message != NULL ? "; " : "",
                   finding_of(entry), entry->actual.text != NULL ? ": " : "",
                   entry->actual.text != NULL ? entry->actual.text : "");
    result->message = text;
    return true;
}

/* A profile that knows its device names each WARN: one that it does not name is as new as a failure is. */
static bool judge_new_warning(const struct deviation_list *list, struct result *result,
                              char text[DEVIATION_TEXT_OCTETS])
{
    if (!say_other(list, result, text)) {
        (void)snprintf(text, DEVIATION_TEXT_OCTETS, "%.700s%sa WARN that the profile does not know",
                       result->message != NULL ? result->message : "", result->message != NULL ? "; " : "");
        result->message = text;
    }
    result->verdict = VERDICT_FAIL;
    return true;
}

bool deviations_judge(struct deviation_list *list, struct result *result, const char *today,
                      char text[DEVIATION_TEXT_OCTETS])
{
    struct known_deviation *entry;

    if (result->verdict == VERDICT_PASS)
        return judge_pass(list, result, text);
    if ((result->verdict != VERDICT_FAIL && result->verdict != VERDICT_WARN) || list->count == 0)
        return false;
    entry = find(list, result, true);
    if (entry == NULL)
        return result->verdict == VERDICT_WARN ? judge_new_warning(list, result, text) : say_other(list, result, text);
    entry->met = true;
    if (is_over(entry, today)) {
        result->verdict = VERDICT_FAIL;
        (void)snprintf(text, DEVIATION_TEXT_OCTETS, "known deviation (%.200s), but its review date %s is over: %.400s",
                       finding_of(entry), entry->review_by, result->message != NULL ? result->message : "");
        result->message = text;
        return true;
    }
    if (result->verdict == VERDICT_FAIL)
        result->verdict = VERDICT_KNOWN;
    result->finding = finding_of(entry);
    result->deviation = entry->note;
    result->review_by = entry->review_by;
    return true;
}

static bool same(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

bool deviation_unmet(const struct deviation_list *list, size_t i)
{
    const struct known_deviation *entry = &list->entries[i];

    for (size_t k = 0; k < list->count; k++) {
        const struct known_deviation *other = &list->entries[k];

        if (!same(other->requirement, entry->requirement) || !same(other->role, entry->role) ||
            !same(other->by, entry->by))
            continue;
        if (other->met || other->sometimes || (k < i)) /* the first of the alternatives counts for all */
            return false;
    }
    return true;
}
