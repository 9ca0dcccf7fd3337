/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/results/decision.h"
#include "base/hash.h"
#include "wire/hint.h"
#include "wire/hint_field.h"
#include "wire/hint_seen.h"

enum { IDS_MAX = 200, MORE_OCTETS = 40, SILENCES_LEAST = 3 };

struct cause {
    UT_hash_handle hh;
    char *name, *hint, *first_id;
    char *ids; /* with room for what is said of those that are left out */
    size_t ids_octets, listed, more, results;
    enum verdict worst; /* of the result that hint and first_id are of */
};

bool cause_counts(const struct result *result)
{
    return result->cause != NULL && (result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN ||
                                     result->verdict == VERDICT_INCONCLUSIVE);
}

static void cause_free(struct cause *cause)
{
    if (cause == NULL)
        return;
    free(cause->name);
    free(cause->hint);
    free(cause->first_id);
    free(cause->ids);
    free(cause);
}

void cause_set_free(struct cause_set *set)
{
    struct cause *cause = set->causes, *next;

    HASH_CLEAR(hh, set->causes); /* the table goes, the list of its entries stays */
    for (; cause != NULL; cause = next) {
        next = cause->hh.next;
        cause_free(cause);
    }
}

/* The result that is shown for the others is this one. -1 without memory: it is the one before, if any. */
static int show_by(struct cause *cause, const struct result *result)
{
    char *hint = strdup(result->hint != NULL ? result->hint : "");
    char *first_id = strdup(result->id != NULL ? result->id : "?");

    if (hint == NULL || first_id == NULL) {
        free(hint);
        free(first_id);
        return -1;
    }
    free(cause->hint);
    free(cause->first_id);
    cause->hint = hint;
    cause->first_id = first_id;
    cause->worst = result->verdict;
    return 0;
}

static struct cause *cause_make(const struct result *result)
{
    struct cause *cause = calloc(1, sizeof(*cause));

    if (cause == NULL)
        return NULL;
    cause->name = strdup(result->cause);
    cause->ids = calloc(1, MORE_OCTETS);
    if (cause->name != NULL && cause->ids != NULL && show_by(cause, result) == 0)
        return cause;
    cause_free(cause);
    return NULL;
}

/* The id is among those that are listed. */
static bool is_listed(const struct cause *cause, const char *id)
{
    size_t octets = strlen(id);

    for (const char *at = cause->ids; (at = strstr(at, id)) != NULL; at += octets)
        if ((at == cause->ids || at[-1] == ' ') && (at[octets] == ',' || at[octets] == '\0'))
            return true;
    return false;
}

static int list_id(struct cause *cause, const char *id)
{
    size_t octets = strlen(id);
    char *grown;

    if (octets == 0 || is_listed(cause, id))
        return 0;
    if (cause->listed == IDS_MAX) {
        (void)snprintf(cause->ids + cause->ids_octets, MORE_OCTETS, " and %zu more", ++cause->more);
        return 0;
    }
    grown = realloc(cause->ids, cause->ids_octets + octets + 2 + MORE_OCTETS);
    if (grown == NULL)
        return -1;
    cause->ids = grown;
    cause->ids_octets += (size_t)sprintf(grown + cause->ids_octets, "%s%s", cause->listed++ == 0 ? "" : ", ", id);
    return 0;
}

const struct cause *cause_of(const struct cause_set *set, const struct result *result)
{
    struct cause *cause = NULL;

    if (cause_counts(result))
        HASH_FIND_STR(set->causes, result->cause, cause);
    return cause;
}

bool cause_shown_by(const struct cause *cause, const struct result *result)
{
    return verdict_is_worse(result->verdict, cause->worst);
}

const char *cause_hint_alone(const struct result *result)
{
    bool observed = result->cause != NULL && strstr(result->cause, "-for-") != NULL;

    return observed ? NULL : result->hint;
}

int cause_add(struct cause_set *set, const struct result *result)
{
    struct cause *cause = NULL;

    if (!cause_counts(result))
        return 0;
    HASH_FIND_STR(set->causes, result->cause, cause);
    if (cause == NULL) {
        cause = cause_make(result);
        if (cause == NULL)
            return -1;
        HASH_ADD_KEYPTR(hh, set->causes, cause->name, strlen(cause->name), cause);
        if (hash_lost(cause)) {
            cause_free(cause);
            return -1;
        }
    } else if (cause_shown_by(cause, result) && show_by(cause, result) != 0) {
        return -1;
    }
    cause->results++;
    return list_id(cause, result->id != NULL ? result->id : "");
}

int cause_add_report(struct cause_set *set, const struct report *report)
{
    for (size_t i = 0; i < report->entry_count; i++)
        for (size_t k = 0; k < report->entries[i]->kept_count; k++)
            if (cause_add(set, &report->entries[i]->kept[k]) != 0)
                return -1;
    return 0;
}

static const struct cause *shared(const struct cause *cause)
{
    while (cause != NULL && cause->results < 2)
        cause = cause->hh.next;
    return cause;
}

const struct cause *cause_first(const struct cause_set *set)
{
    return shared(set->causes);
}

const struct cause *cause_next(const struct cause *cause)
{
    return shared(cause->hh.next);
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

bool cause_is_observation(const char *name)
{
    return hint_seen_of(name) != HINT_SEEN_NOTHING;
}

static bool is_named(const char *name)
{
    return !cause_is_observation(name);
}

/* An error of the tester that the device lets pass, or what comes of that. */
static bool is_unnoticed(const char *name)
{
    return hint_seen_of(name) == HINT_SEEN_UNNOTICED;
}

static bool is_silence(const char *name)
{
    return hint_seen_of(name) == HINT_SEEN_SILENT;
}

/* A Terminate that does not come is one more message. */
static bool is_missing(const char *name)
{
    return is_silence(name) || begins(name, "error-un");
}

/* The device ends the stream, and no Terminate says why. */
static bool is_bare_end(const char *name)
{
    return strcmp(name, "terminate-missing") == 0 || strcmp(name, "reset-for-fin") == 0 || begins(name, "end-for-");
}

static bool is_framing(const char *name)
{
    return is_named(name) && hint_framing_of(name) != HINT_NO_FRAMING;
}

struct counted {
    size_t causes, results;
    const struct cause *last;
};

static void add(struct counted *counted, const struct cause *cause)
{
    counted->causes++;
    counted->results += cause->results;
    counted->last = cause;
}

/* `decided`: without causes for which nothing but INCONCLUSIVE results are there. They name no mistake. */
static struct counted count(const struct cause_set *set, bool (*is)(const char *name), bool decided)
{
    struct counted counted = {0};

    for (const struct cause *cause = set->causes; cause != NULL; cause = cause->hh.next)
        if (is(cause->name) && (!decided || cause->worst != VERDICT_INCONCLUSIVE))
            add(&counted, cause);
    return counted;
}

/* What two names have in common: the kind of message, the field, what came in place of what was due. */
static bool same_kind(const char *name, const char *other)
{
    const char *field;
    enum hint_kind_of kind = hint_kind_of_cause(name, &field);

    return kind != HINT_OF_COUNT && kind == hint_kind_of_cause(other, &field);
}

/* The field that a cause is about; "": none. */
static const char *field_of(const char *name)
{
    const char *field;

    if (hint_kind_of_cause(name, &field) != HINT_OF_COUNT)
        return field;
    return strcmp(name, "msn-shared") == 0 ? "msn" : "";
}

static bool same_field(const char *name, const char *other)
{
    const char *field = field_of(name);

    return field[0] != '\0' && strcmp(field, field_of(other)) == 0;
}

static bool same_arrival(const char *name, const char *other)
{
    const char *end = strstr(name, "-for-");

    return end != NULL && begins(name, "terminate-0x") && strncmp(name, other, (size_t)(end - name) + 5) == 0;
}

/* Have all of these something in common? */
static bool are_alike(const struct cause_set *set, bool (*is)(const char *name),
                      bool (*alike)(const char *name, const char *other))
{
    const struct cause *first = NULL;

    for (const struct cause *cause = set->causes; cause != NULL; cause = cause->hh.next) {
        if (cause->worst == VERDICT_INCONCLUSIVE || !is(cause->name))
            continue;
        if (first != NULL && !alike(first->name, cause->name))
            return false;
        first = first != NULL ? first : cause;
    }
    return first != NULL;
}

/* Several mistakes are named, and one computation of the device's may make them all. */
static bool named_alike(const struct cause_set *set, struct iwarp_sentence *text)
{
    struct counted named = count(set, is_named, true), framing = count(set, is_framing, true);
    const char *what = NULL, *field = "";

    if (named.causes < 2)
        return false;
    if (framing.causes == named.causes)
        what = "how FPDUs are framed";
    else if (are_alike(set, is_named, same_kind))
        what = hint_kind_words(hint_kind_of_cause(named.last->name, &field));
    else if (are_alike(set, is_named, same_field))
        what = "one field of several kinds of messages";
    if (what == NULL)
        return false;
    (void)iwarp_sentence_set(text, "one fault: each mistake that is named (causes: %zu, results: %zu) is about %s",
                             named.causes, named.results, what);
    return true;
}

/* No mistake is named, and all that was seen is of one sort. */
static bool seen_alike(const struct cause_set *set, struct iwarp_sentence *text)
{
    struct counted seen = count(set, cause_is_observation, true), unnoticed = count(set, is_unnoticed, true);
    struct counted bare = count(set, is_bare_end, true);
    const char *what = NULL;

    if (seen.causes < 2 || count(set, is_named, true).causes != 0)
        return false;
    if (unnoticed.causes == seen.causes)
        what = "that an error of the tester has no consequence, or what is placed and delivered then";
    else if (bare.causes == seen.causes)
        what = "that the device ends streams, and no Terminate says why";
    else if (are_alike(set, cause_is_observation, same_arrival))
        what = "that one Terminate comes in place of what is due";
    if (what == NULL)
        return false;
    (void)iwarp_sentence_set(text, "one fault: %zu causes, with %zu results, are %s", seen.causes, seen.results, what);
    return true;
}

bool cause_perhaps_one(const struct cause_set *set, struct iwarp_sentence *text)
{
    struct counted named = count(set, is_named, true), seen = count(set, cause_is_observation, true);
    struct counted silent = count(set, is_silence, false), missing = count(set, is_missing, false);

    if (named.causes == 1 && seen.causes > 0) {
        (void)iwarp_sentence_set(text,
                                 "one fault: %s is the only mistake that is named, and what was seen besides (causes: "
                                 "%zu, results: %zu) may follow from it",
                                 named.last->name, seen.causes, seen.results);
        return true;
    }
    if (named_alike(set, text) || seen_alike(set, text))
        return true;
    if (silent.causes == 0 || missing.causes < SILENCES_LEAST)
        return false;
    (void)iwarp_sentence_set(
        text,
        "one fault: %zu causes, with %zu results, are that nothing comes (silence-..., error-unnoticed). A device that "
        "loses messages, or stops sending, shows all of them",
        missing.causes, missing.results);
    return true;
}

const char *cause_name(const struct cause *cause)
{
    return cause->name;
}

const char *cause_hint(const struct cause *cause)
{
    return cause->hint;
}

const char *cause_first_id(const struct cause *cause)
{
    return cause->first_id;
}

size_t cause_results(const struct cause *cause)
{
    return cause->results;
}

const char *cause_ids(const struct cause *cause)
{
    return cause->ids;
}
