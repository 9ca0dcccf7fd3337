/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules found in the traffic of one check: for each requirement and role of the device the worst verdict, with
 * the first finding of that verdict, however many flows the check made. Each finding is judged by itself: a failure
 * that a known deviation excuses hides no failure that is not excused.
 */
#ifndef CONFORMANCE_ENGINE_TALLY_H
#define CONFORMANCE_ENGINE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"
#include "reports/results/result.h"

struct tally_entry {
    const struct rule *rule;
    bool exercised;
    enum verdict verdict; /* KNOWN: it failed, and each failure is excused */
    uint64_t findings;    /* with that verdict */
    uint64_t passes;
    uint64_t frame;   /* in the evidence of the check */
    const char *role; /* NULL: not known */
    char *flow;
    char *expected, *actual, *message;
    const char *cause, *hint; /* of the finding */
};

struct tally;

/* NULL when memory is short. */
struct tally *tally_new(void);
void tally_free(struct tally *tally);

/* Forgets everything. */
void tally_clear(struct tally *tally);

/* One finding; `known`: a known deviation excuses it. */
void tally_finding(struct tally *tally, const struct rule_finding *finding, bool known);

/* One flow's result: how often the rule was kept there. tally_finding() was called for each of its findings. */
void tally_passes(struct tally *tally, const struct rule_result *result, const struct flow *flow);

/* Did a rule find anything, also what is excused or ambiguous? */
bool tally_found(const struct tally *tally);

/* The finding of the i-th entry has this cause; the texts live for ever. */
void tally_because(struct tally *tally, size_t i, const char *cause, const char *hint);

/* The largest number of entries. */
size_t tally_room(void);

/* The i-th entry; the entries of a rule are neighbours. NULL from tally_room() on. */
const struct tally_entry *tally_at(const struct tally *tally, size_t i);

#endif
