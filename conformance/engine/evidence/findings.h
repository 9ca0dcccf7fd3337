/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings of one capture that are held until a second pass has drawn their ladders (findings_ladder.h). Memory is
 * bounded: the first few findings of each requirement in a file are held, up to a total. Further findings are written
 * at once, without a ladder. An audit that is killed within a file loses only the findings held of that file.
 */
#ifndef CONFORMANCE_ENGINE_FINDINGS_H
#define CONFORMANCE_ENGINE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/rules/rule.h"
#include "reports/results/result.h"

enum { FINDINGS_OF_REQUIREMENT = 8, FINDINGS_HELD = 256 };

struct held_finding {
    struct held_finding *next;
    struct result result;    /* owns flow, expected, actual, message, steps; the rest is borrowed */
    const struct rule *rule; /* NULL: a rule of somebody's own */
    enum rule_verdict verdict;
    unsigned direction; /* of the judged sender */
    unsigned step;      /* without a rule: the place in its frame (step_place.h) of the message that is meant */
    /* struct flow's number, counted from the file's first flow: 1; 0: it is the one that result.flow names */
    uint64_t flow;
};

struct findings {
    size_t memory; /* that the decoder of the first pass had; 0: the default */
    struct held_finding *first, **end;
    size_t count;
    uint8_t *of_rule; /* how many, by struct rule's index */
};

/* Makes an empty list. -1 without memory. */
int findings_init(struct findings *findings);

/*
 * Holds a copy of a result other than PASS, as `found` in flow number `flow`. 0: the number is not known; then the flow
 * is the one that result->flow names, sender first, and direction follows from that. False when there is no room left,
 * or no memory: the caller writes it then.
 */
bool findings_hold(struct findings *findings, const struct rule_result *found, const struct result *result,
                   uint64_t flow);

/*
 * The same for a rule of somebody's own, which is not asked again on the second pass: its message is step `step`
 * (step_place.h) of the frame, sent in `direction`.
 */
bool findings_hold_own(struct findings *findings, const struct result *result, unsigned direction, unsigned step,
                       uint64_t flow);

/* Forgets all of them, for the next file. */
void findings_clear(struct findings *findings);
void findings_free(struct findings *findings);

#endif
