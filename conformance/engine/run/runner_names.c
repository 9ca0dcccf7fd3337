/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows from a check's name alone: where its evidence lies, and the seed of its world. */
#include <stdio.h>
#include <string.h>

#include "conformance/engine/run/runner.h"
#include "base/digest.h"

uint64_t runner_seed(uint64_t seed, const char *id, const char *role)
{
    uint64_t digest = DIGEST_START ^ seed * UINT64_C(0x9E3779B97F4A7C15);

    digest = digest_octets(digest, id, strlen(id));
    return digest_octets(digest, role, strlen(role)) >> 1;
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
