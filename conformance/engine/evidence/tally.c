/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/tally.h"

#include <stdlib.h>
#include <string.h>

#include "reports/results/decision.h"

struct tally {
    size_t count;
    struct tally_entry entries[]; /* ROLE_SLOTS for each rule */
};

size_t tally_room(void)
{
    return rule_count() * ROLE_SLOTS;
}

struct tally *tally_new(void)
{
    size_t count = tally_room();
    struct tally *tally = calloc(1, sizeof(*tally) + count * sizeof(tally->entries[0]));

    if (tally == NULL)
        return NULL;
    tally->count = count;
    for (size_t i = 0; i < count; i++)
        tally->entries[i].rule = rule_at(i / ROLE_SLOTS);
    return tally;
}

static void forget(struct tally_entry *entry)
{
    const struct rule *rule = entry->rule;

    free(entry->flow);
    free(entry->expected);
    free(entry->actual);
    free(entry->message);
    *entry = (struct tally_entry){.rule = rule};
}

void tally_clear(struct tally *tally)
{
    for (size_t i = 0; i < tally->count; i++)
        forget(&tally->entries[i]);
}

void tally_free(struct tally *tally)
{
    if (tally == NULL)
        return;
    tally_clear(tally);
    free(tally);
}

static char *copy_text(const char *text)
{
    return text == NULL ? NULL : strdup(text);
}

static struct tally_entry *entry_of(struct tally *tally, const struct rule *rule, const char *role)
{
    return &tally->entries[rule->index * ROLE_SLOTS + role_slot(role)];
}

/* Flows end in any order: of equals the one with the first frame counts. */
static bool counts(const struct tally_entry *entry, enum verdict verdict, uint64_t frame)
{
    return !entry->exercised || verdict_is_worse(verdict, entry->verdict) ||
           (verdict == entry->verdict && frame < entry->frame);
}

/* Makes the entry that of this verdict, as first seen here. What was counted before stays. */
static void begin(struct tally_entry *entry, enum verdict verdict, const struct flow *flow, unsigned direction,
                  uint64_t frame)
{
    struct tally_entry before = *entry;
    char name[FLOW_NAME_MAX];

    forget(entry);
    entry->exercised = true;
    entry->verdict = verdict;
    entry->passes = before.passes;
    entry->findings = before.exercised && before.verdict == verdict ? before.findings : 0;
    entry->frame = frame;
    entry->role = flow_role(flow, direction);
    entry->flow = strdup(flow_name(flow, direction, name, sizeof(name)));
}

static enum verdict verdict_of(enum rule_verdict verdict, bool known)
{
    switch (verdict) {
    case RULE_PASS: return VERDICT_PASS;
    case RULE_AMBIGUOUS: return VERDICT_AMBIGUOUS;
    case RULE_WARN: return VERDICT_WARN;
    default: return known ? VERDICT_KNOWN : VERDICT_FAIL;
    }
}

void tally_finding(struct tally *tally, const struct rule_finding *finding, bool known)
{
    struct tally_entry *entry = entry_of(tally, finding->rule, flow_role(finding->flow, finding->direction));
    enum verdict verdict = verdict_of(finding->verdict, known);

    if (counts(entry, verdict, finding->frame)) {
        begin(entry, verdict, finding->flow, finding->direction, finding->frame);
        entry->expected = copy_text(finding->expected);
        entry->actual = copy_text(finding->actual);
        entry->message = copy_text(finding->message);
        entry->cause = finding->cause;
        entry->hint = finding->hint;
    }
    if (verdict == entry->verdict)
        entry->findings += finding->count;
}

void tally_passes(struct tally *tally, const struct rule_result *result, const struct flow *flow)
{
    struct tally_entry *entry = entry_of(tally, result->rule, flow_role(flow, result->direction));

    if (result->passes == 0)
        return;
    if (counts(entry, VERDICT_PASS, result->verdict == RULE_PASS ? result->frame : UINT64_MAX))
        begin(entry, VERDICT_PASS, flow, result->direction, result->frame);
    entry->passes += result->passes;
}

bool tally_found(const struct tally *tally)
{
    for (size_t i = 0; i < tally->count; i++)
        if (tally->entries[i].exercised && tally->entries[i].verdict != VERDICT_PASS)
            return true;
    return false;
}

const struct tally_entry *tally_at(const struct tally *tally, size_t i)
{
    return i < tally->count ? &tally->entries[i] : NULL;
}

void tally_because(struct tally *tally, size_t i, const char *cause, const char *hint)
{
    tally->entries[i].cause = cause;
    tally->entries[i].hint = hint;
}
