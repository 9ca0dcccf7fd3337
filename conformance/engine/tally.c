/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/tally.h"

#include <stdlib.h>
#include <string.h>

struct tally {
    size_t count;
    struct tally_entry entries[];
};

struct tally *tally_new(void)
{
    size_t count = rule_count();
    struct tally *tally = calloc(1, sizeof(*tally) + count * sizeof(tally->entries[0]));

    if (tally == NULL)
        return NULL;
    tally->count = count;
    for (size_t i = 0; i < count; i++)
        tally->entries[i].rule = rule_at(i);
    return tally;
}

static void forget(struct tally_entry *entry)
{
    const struct rule *rule = entry->rule;

    free(entry->role);
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

/* Flows end in any order: of equals the one with the first frame counts. */
static bool counts(const struct tally_entry *entry, const struct rule_result *result)
{
    return !entry->exercised || result->verdict > entry->verdict ||
           (result->verdict == entry->verdict && result->frame < entry->frame);
}

struct tally_entry *tally_add(struct tally *tally, const struct rule_result *result, const struct flow *flow)
{
    struct tally_entry *entry = &tally->entries[result->rule->index];
    char name[FLOW_NAME_MAX];
    uint64_t passes = entry->passes + result->passes;
    uint64_t findings = entry->exercised && result->verdict == entry->verdict ? entry->findings : 0;

    if (counts(entry, result)) {
        forget(entry);
        entry->exercised = true;
        entry->findings = findings;
        entry->verdict = result->verdict;
        entry->frame = result->frame;
        entry->role = copy_text(flow_role(flow, result->direction));
        entry->flow = strdup(flow_name(flow, result->direction, name, sizeof(name)));
        entry->expected = copy_text(result->expected);
        entry->actual = copy_text(result->actual);
        entry->message = copy_text(result->message);
    }
    entry->passes = passes;
    if (result->verdict == entry->verdict)
        entry->findings += result->findings;
    return entry;
}

const struct tally_entry *tally_at(const struct tally *tally, size_t i)
{
    return i < tally->count ? &tally->entries[i] : NULL;
}
