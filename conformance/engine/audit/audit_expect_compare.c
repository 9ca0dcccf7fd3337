/* SPDX-License-Identifier: BSD-2-Clause */
/* How what was found compares with what was expected: for each capture as it ends, and for all of them at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/audit/audit_expect_internal.h"
#include "conformance/engine/option/review_day.h"

/* Is what was found what is expected? `outcome`: of what was found. */
static bool is_same(const struct expectation *entry, const char *outcome)
{
    return entry->worst == entry->wanted && entry->count == entry->wanted_count && strcmp(outcome, entry->outcome) == 0;
}

static bool is_due(const struct audit_expect *expect, const struct expectation *entry)
{
    return strcmp(expect->config.today, entry->review_by) > 0;
}

static int held_give(const struct audit_expect *expect, struct expectation *entry,
                     int (*give)(void *user, const struct result *result), void *user)
{
    char *outcome = expectation_outcome(entry), line[64];
    bool expected = outcome != NULL && is_same(entry, outcome) && !is_due(expect, entry);
    int rc = outcome != NULL ? 0 : -1;
    json_t *object;
    size_t i;

    (void)snprintf(line, sizeof(line), "line %zu of the expectations", entry->line);
    json_array_foreach(entry->held, i, object)
    {
        struct result result;

        if (rc != 0 || result_from_json(object, &result) != 0)
            continue;
        if (expected) {
            result.finding = entry->note[0] != '\0' ? entry->note : line;
            result.review_by = entry->review_by;
            result.deviation = result.verdict == VERDICT_FAIL ? line : NULL;
            result.verdict = result.verdict == VERDICT_FAIL ? VERDICT_KNOWN : result.verdict;
        }
        rc = give(user, &result);
    }
    json_decref(entry->held);
    entry->held = NULL;
    free(outcome);
    return rc;
}

int audit_expect_capture_end(struct audit_expect *expect, int (*give)(void *user, const struct result *result),
                             void *user)
{
    int rc = 0;

    for (struct expected_capture *capture = expect->captures; capture != NULL; capture = capture->hh.next) {
        if (!capture->waits)
            continue;
        for (struct expectation *entry = capture->all; entry != NULL; entry = entry->hh.next)
            if (entry->held != NULL && rc == 0)
                rc = held_give(expect, entry, give, user);
        capture->waits = false;
    }
    return rc;
}

struct expectation *expectation_of_renamed(const struct audit_expect *expect, struct expected_capture *capture,
                                           const struct expectation *found, const char **old_name)
{
    for (struct expected_capture *old = expect->captures; old != NULL; old = old->hh.next) {
        struct expectation *entry = old->file == NULL && !old->elsewhere && old->all != NULL
                                        ? expectation_find(old, found->id, found->role, found->flow)
                                        : NULL;

        if (entry == NULL || entry->line == 0 || entry->digest == NULL || entry->digest[0] == '\0')
            continue;
        if (strcmp(entry->digest, expected_capture_digest(capture)) == 0) {
            *old_name = old->name;
            return entry;
        }
    }
    return NULL;
}

static bool is_new(const struct expectation *entry)
{
    return entry->results != 0 && (entry->line == 0 || entry->old);
}

/* Findings of captures that have another name now: what was expected of these is not missing. */
static void renamed_find(struct audit_expect *expect)
{
    bool missing = false;

    for (struct expected_capture *capture = expect->captures; capture != NULL; capture = capture->hh.next)
        missing |= capture->file == NULL && capture->all != NULL;
    for (struct expected_capture *capture = expect->captures; missing && capture != NULL; capture = capture->hh.next)
        for (struct expectation *entry = capture->all; entry != NULL; entry = entry->hh.next)
            if (is_new(entry) &&
                (entry->renamed = expectation_of_renamed(expect, capture, entry, &entry->old_name)) != NULL)
                entry->renamed->moved = true;
}

/* Why a finding may have gone: what has become of its capture. */
static const char *gone_why(const struct audit_expect *expect, struct expected_capture *capture,
                            const struct expectation *entry)
{
    const char *digest = expected_capture_digest_now(expect, capture);

    if (digest[0] == '\0')
        return "the capture is not there any more";
    if (entry->digest == NULL || entry->digest[0] == '\0')
        return "the capture is there";
    return strcmp(entry->digest, digest) == 0 ? "the capture is the same, so warpcheck judges it otherwise"
                                              : "the capture is another one than it was";
}

/* Describes how an entry differs from what was expected; false: it does not differ. */
static bool differs(const struct audit_expect *expect, struct expected_capture *capture,
                    const struct expectation *entry, struct difference *difference, struct iwarp_sentence *text)
{
    const char *role = entry->role[0] != '-' ? entry->role : NULL;
    char *outcome = entry->results != 0 ? expectation_outcome(entry) : NULL;
    bool differs = true;

    *difference = (struct difference){.file = capture->file != NULL ? capture->file : capture->name,
                                      .id = entry->id,
                                      .role = role,
                                      .flow = entry->first_flow != NULL ? entry->first_flow : entry->flow,
                                      .verdict = entry->results != 0 ? entry->worst : entry->wanted,
                                      .frame = entry->frame,
                                      .expected = entry->allowed,
                                      .actual = outcome,
                                      .line = entry->line,
                                      .text = text->text};
    if (entry->results == 0) {
        difference->kind = DIFFERENCE_MISSING;
        (void)iwarp_sentence_set(text, "%s was expected (line %zu%s%.200s) and is gone: %s",
                                 verdict_name(entry->wanted), entry->line, entry->note[0] != '\0' ? ": " : "",
                                 entry->note, gone_why(expect, capture, entry));
    } else if (is_new(entry)) {
        difference->kind = entry->renamed != NULL ? DIFFERENCE_RENAMED : DIFFERENCE_NEW;
        difference->was_line = entry->renamed != NULL ? entry->renamed->line : 0;
        if (entry->renamed != NULL)
            (void)iwarp_sentence_set(text, "the capture was %.200s (line %zu)", entry->old_name, entry->renamed->line);
        else
            (void)iwarp_sentence_set(text, "found %" PRIu64 " time%s, and expected by no line", entry->count,
                                     entry->count == 1 ? "" : "s");
    } else if (entry->worst != entry->wanted || entry->count != entry->wanted_count) {
        difference->kind = DIFFERENCE_CHANGED;
        (void)iwarp_sentence_set(text, "%s %" PRIu64 " time%s, and %s %" PRIu64 " time%s was expected (line %zu)",
                                 verdict_name(entry->worst), entry->count, entry->count == 1 ? "" : "s",
                                 verdict_name(entry->wanted), entry->wanted_count, entry->wanted_count == 1 ? "" : "s",
                                 entry->line);
    } else if (outcome == NULL || strcmp(outcome, entry->outcome) != 0) {
        difference->kind = DIFFERENCE_CHANGED;
        (void)iwarp_sentence_set(text, "another outcome than the expected one (line %zu): %.300s", entry->line,
                                 entry->outcome);
    } else if (is_due(expect, entry)) {
        difference->kind = DIFFERENCE_DUE;
        (void)iwarp_sentence_set(text, "to be reviewed by %.10s (line %zu)", entry->review_by, entry->line);
    } else {
        differs = false;
    }
    if (!differs || entry->results == 0)
        difference->actual = NULL;
    free(differs && entry->results != 0 ? NULL : outcome);
    return differs;
}

/* An expectation that holds, and whether somebody has to look at it soon. */
static void count_expected(const struct audit_expect *expect, const struct expectation *entry,
                           struct run_expectation *counts)
{
    char limit[DAY_TEXT_OCTETS];

    counts->expected++;
    if (strcmp(entry->review_by, day_after(expect->config.today, EXPECTATION_SOON_DAYS, limit)) > 0)
        return;
    counts->soon++;
    if (counts->soon_day == NULL || strcmp(entry->review_by, counts->soon_day) < 0)
        counts->soon_day = entry->review_by;
}

void audit_expect_compare(struct audit_expect *expect, bool without_missing, struct run_expectation *counts,
                          void (*tell)(void *user, const struct difference *difference), void *user)
{
    *counts = (struct run_expectation){.used = true, .file = expect->config.path, .digest = expect->digest};
    renamed_find(expect);
    for (struct expected_capture *capture = expect->captures; capture != NULL; capture = capture->hh.next) {
        for (struct expectation *entry = capture->all; entry != NULL; entry = entry->hh.next) {
            struct difference difference;
            struct iwarp_sentence text;

            if (capture->elsewhere || entry->moved || (entry->results == 0 && (entry->line == 0 || entry->old)) ||
                (without_missing && entry->results == 0 && !capture->audited))
                continue;
            if (!differs(expect, capture, entry, &difference, &text)) {
                count_expected(expect, entry, counts);
                continue;
            }
            difference_count(counts, difference.kind);
            if (tell != NULL)
                tell(user, &difference);
            free((char *)(uintptr_t)difference.actual);
        }
    }
}
