/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_cause.h"

#include <stddef.h>
#include <string.h>

#include "wire/hint.h"

/* The best of two causes of framing: one that says what the mistake is, then the one that is seen first. */
static bool is_better(const struct tally_entry *entry, const struct tally_entry *best)
{
    enum hint_framing reading = hint_framing_of(entry->cause);

    if (reading == HINT_NO_FRAMING)
        return false;
    if (best == NULL || reading != hint_framing_of(best->cause))
        return best == NULL || reading > hint_framing_of(best->cause);
    return entry->frame < best->frame;
}

static void adopt(struct outcome *outcome, const char *cause, const char *hint)
{
    if (hint_framing_of(outcome->cause) >= hint_framing_of(cause))
        return;
    outcome->cause = cause;
    outcome->hint = hint;
}

void run_cause_adopt(struct outcome *outcome, const struct tally *tally, const char *role,
                     const struct run_services *services)
{
    const struct tally_entry *entry, *best = NULL;
    const char *hint = NULL, *cause;

    if (outcome->verdict != VERDICT_FAIL && outcome->verdict != VERDICT_WARN)
        return;
    cause = run_services_framing(services, &hint);
    adopt(outcome, cause, hint);
    for (size_t i = 0; (entry = tally_at(tally, i)) != NULL; i++)
        if (entry->exercised && (entry->verdict == VERDICT_FAIL || entry->verdict == VERDICT_KNOWN) &&
            entry->role != NULL && strcmp(entry->role, role) == 0 && is_better(entry, best))
            best = entry;
    if (best != NULL)
        adopt(outcome, best->cause, best->hint);
}
