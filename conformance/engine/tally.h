/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules found in the traffic of one check: the worst verdict for each requirement, with the first finding of
 * that kind, however many flows the check made.
 */
#ifndef CONFORMANCE_ENGINE_TALLY_H
#define CONFORMANCE_ENGINE_TALLY_H

#include <stdint.h>

#include "conformance/flow/flow.h"
#include "conformance/rules/rule.h"

struct tally_entry {
    const struct rule *rule;
    bool exercised;
    enum rule_verdict verdict;
    uint64_t findings; /* with that verdict */
    uint64_t passes;
    uint64_t frame; /* in the evidence of the check */
    char *role;
    char *flow;
    char *expected, *actual, *message;
};

struct tally;

/* NULL when memory is short. */
struct tally *tally_new(void);
void tally_free(struct tally *tally);

/* Forgets everything. */
void tally_clear(struct tally *tally);

/* One flow's result. Returns the entry. */
struct tally_entry *tally_add(struct tally *tally, const struct rule_result *result, const struct flow *flow);

/* The i-th rule's entry; NULL from rule_count() on. */
const struct tally_entry *tally_at(const struct tally *tally, size_t i);

#endif
