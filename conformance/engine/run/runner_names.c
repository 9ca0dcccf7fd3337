/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows from a check's name alone: where its evidence lies, and the seed of its world. */
#include <stdio.h>

#include "conformance/engine/run/runner.h"

uint64_t runner_seed(uint64_t seed, const char *id, const char *role)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ seed * UINT64_C(0x9E3779B97F4A7C15); /* FNV-1a */

    for (; *id != '\0'; id++)
        hash = (hash ^ (uint8_t)*id) * UINT64_C(1099511628211);
    for (; *role != '\0'; role++)
        hash = (hash ^ (uint8_t)*role) * UINT64_C(1099511628211);
    return hash >> 1;
}

void runner_evidence_name(const struct runner_config *config, const struct plan_item *item, char *name, size_t room)
{
    bool both = item->check->responder && item->check->initiator;
    const struct runner_history *history = &config->history;
    unsigned repeated = history->repeated != NULL ? history->repeated(history->user, item) : 0;
    char again[16] = "";

    if (repeated != 0)
        (void)snprintf(again, sizeof(again), ".%u", repeated + 1);
    (void)snprintf(name, room, "%s%s%s%s.pcapng", item->check->id, both ? "-" : "", both ? item->role : "", again);
}
