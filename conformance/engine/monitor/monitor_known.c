/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_known.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/shard.h"

static uint64_t place_of(const char *id, const char *flow, enum verdict verdict)
{
    uint64_t digest = digest_text(digest_text(DIGEST_START, id), flow);

    return digest_number(digest, (uint64_t)verdict);
}

static void finding_free(struct known_finding *finding)
{
    free(finding->id);
    free(finding->flow);
    free(finding);
}

static void forget(struct known_findings *known, struct known_finding *finding)
{
    HASH_DEL(known->all, finding);
    finding_free(finding);
}

void known_findings_free(struct known_findings *known)
{
    while (known->all != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
        forget(known, known->all);
}

static struct known_finding *find(const struct known_findings *known, uint64_t place)
{
    struct known_finding *finding;

    HASH_FIND(hh, known->all, &place, sizeof(place), finding);
    return finding;
}

/* One with these texts, in the table. NULL without memory. */
static struct known_finding *make(struct known_findings *known, uint64_t place, const char *id, const char *flow)
{
    struct known_finding *finding = calloc(1, sizeof(*finding));

    if (finding != NULL) {
        finding->place = place;
        finding->id = strdup(id);
        finding->flow = strdup(flow);
    }
    if (finding == NULL || finding->id == NULL || finding->flow == NULL) {
        out_of_memory_note();
        if (finding != NULL)
            finding_free(finding);
        return NULL;
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
    while (known->all != NULL && HASH_COUNT(known->all) >= known->most) {
        forget(known, known->all);
        known->forgotten++;
    }
    HASH_ADD(hh, known->all, place, sizeof(finding->place), finding);
    if (!hash_lost(finding))
        return finding;
    finding_free(finding);
    return NULL;
}

struct known_finding *known_findings_meet(struct known_findings *known, const struct known_sight *sight, bool *is_new)
{
    uint64_t place = place_of(sight->id, sight->flow, sight->verdict);
    struct known_finding *finding = find(known, place);

    *is_new = finding == NULL || (!sight->late && finding->flow_ns != sight->flow_ns);
    if (finding == NULL && (finding = make(known, place, sight->id, sight->flow)) == NULL)
        return NULL;
    if (*is_new) {
        finding->key = digest_number(place, sight->flow_ns);
        finding->verdict = sight->verdict;
        finding->flow_ns = sight->flow_ns;
        finding->first_ns = sight->time_ns;
        finding->count = finding->logged = finding->said = 0;
    }
    finding->last_ns = sight->time_ns;
    finding->count += sight->count;
    return finding;
}

struct known_finding *known_findings_restore(struct known_findings *known, const struct known_finding *from)
{
    uint64_t place = place_of(from->id, from->flow, from->verdict);
    struct known_finding *finding = find(known, place);

    if (finding == NULL && (finding = make(known, place, from->id, from->flow)) == NULL)
        return NULL;
    finding->key = from->key;
    finding->verdict = from->verdict;
    finding->flow_ns = from->flow_ns;
    finding->first_ns = from->first_ns;
    finding->last_ns = from->last_ns;
    finding->count = finding->logged = finding->said = from->count;
    return finding;
}

size_t known_findings_count(const struct known_findings *known)
{
    return HASH_COUNT(known->all);
}
