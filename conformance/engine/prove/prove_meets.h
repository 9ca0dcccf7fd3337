/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds which variant can change which check. Every check runs once against the stack with an empty set of defects; the
 * set notes what the stack's hooks ask it for (defect_set_asking()). A simulated check depends only on its seed, on
 * what was learned of the device in its role, and on the stack. If no hook asked for what a row changes, and the same
 * was learned, the check gives the same octets with the row, and need not be run with it.
 */
#ifndef CONFORMANCE_ENGINE_PROVE_MEETS_H
#define CONFORMANCE_ENGINE_PROVE_MEETS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/run/runner.h"
#include "conformance/engine/plan/plan.h"
#include "reference-stack/defects/defect.h"

struct prove_meets_config {
    struct runner_config runner; /* host, plan, selection, catalogue and simulation; the other members are ignored */
    const struct defect *const *rows;
    size_t row_count;
    unsigned jobs; /* processes */
};

struct prove_meets;

/* NULL with a sentence: a worker died, or memory. The plan must last as long as what is returned. */
struct prove_meets *prove_meets_make(const struct prove_meets_config *config, struct iwarp_sentence *error);
void prove_meets_free(struct prove_meets *meets);

/* Could the row change what the check does, or what is learned in the role? */
bool prove_meets_check(const struct prove_meets *meets, size_t item, size_t row);
bool prove_meets_learning(const struct prove_meets *meets, const char *role, size_t row);

/* Is this the same as what was learned in its role without a row? */
bool prove_meets_learned(const struct prove_meets *meets, const json_t *services);

/*
 * A digest of a check's outcome: its result, and the findings of rules and the traffic in its journal; and the digest
 * without a row.
 */
struct journal_digest {
    uint64_t value;
};
struct journal_digest prove_meets_journal(const struct journal *journal, const struct flow_totals *traffic);
uint64_t prove_meets_digest(const struct journal_digest *journal, const struct result *result);
uint64_t prove_meets_expected(const struct prove_meets *meets, size_t item);

/* Calls `alarm` with each FAIL, WARN and script error without a row, as text. Returns how many there are. */
size_t prove_meets_alarms(const struct prove_meets *meets, void (*alarm)(void *user, const char *text), void *user);

#endif
