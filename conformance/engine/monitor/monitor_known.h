/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The findings that are known: one for each requirement, verdict and flow. It is said once, and counted from then on. Each
 * has a key that stays the same when the program is started again (monitor_log.h).
 */
#ifndef CONFORMANCE_ENGINE_MONITOR_KNOWN_H
#define CONFORMANCE_ENGINE_MONITOR_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "reports/results/result.h"

struct known_finding {
    uint64_t place; /* digest of requirement, verdict and flow: of the next connection with these addresses, too */
    uint64_t key;   /* and of the flow's beginning */
    char *id, *flow;
    enum verdict verdict;
    uint64_t flow_ns;  /* when the flow began */
    uint64_t first_ns; /* first and last time that it was seen */
    uint64_t last_ns;
    uint64_t count;  /* how often so far */
    uint64_t logged; /* so many of them are in the log; 0: not even its line is */
    uint64_t said;   /* so many were said to people */
    UT_hash_handle hh;
};

/* What was seen. */
struct known_sight {
    const char *id, *flow;
    enum verdict verdict;
    uint64_t flow_ns;
    bool late; /* the flow's beginning was not seen: it may be one of which a finding is known */
    uint64_t time_ns;
    uint64_t count;
};

struct known_findings {
    struct known_finding *all; /* in the order in which they were met */
    size_t most;               /* the oldest one is forgotten for one more than that */
    uint64_t forgotten;
};

/* Zeroed but for `most`, which is at least 1. Frees all of them. */
void known_findings_free(struct known_findings *known);

/*
 * Counts it. *is_new: it was not known, or is of another connection with the same addresses and ports. NULL without
 * memory; out_of_memory_note() has been called. What is returned is valid until the next call.
 */
struct known_finding *known_findings_meet(struct known_findings *known, const struct known_sight *sight, bool *is_new);

/* One that an earlier process knew: `finding` without hh and place; its texts are copied. NULL without memory. */
struct known_finding *known_findings_restore(struct known_findings *known, const struct known_finding *finding);

size_t known_findings_count(const struct known_findings *known);

#endif
