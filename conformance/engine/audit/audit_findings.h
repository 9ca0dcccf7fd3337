/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings of one capture that are held back until a second pass has drawn their ladders (audit_ladder.h). Memory is
 * bounded: of each requirement the first few of a file are held, and so many in all; what goes beyond is written as it
 * is found, without a ladder. An audit that is killed in mid-file loses the findings held of that file, nothing else.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_FINDINGS_H
#define CONFORMANCE_ENGINE_AUDIT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/rules/rule.h"
#include "reports/result.h"

enum { FINDINGS_OF_REQUIREMENT = 8, FINDINGS_HELD = 256 };

struct audit_finding {
    struct audit_finding *next;
    struct result result; /* owns flow, expected, actual, message, steps; the rest is borrowed */
    const struct rule *rule;
    enum rule_verdict verdict;
    unsigned direction; /* of the judged sender */
    uint64_t flow;      /* struct flow's number, counted from the file's first flow: 1 */
};

struct audit_findings {
    struct audit_finding *first, **end;
    size_t count;
    uint8_t *of_rule; /* how many, by struct rule's index */
};

/* Makes an empty list. -1 without memory. */
int audit_findings_init(struct audit_findings *findings);

/*
 * Holds a copy of a result other than PASS, as `found` in flow number `flow`. False when there is no room left, or no
 * memory: the caller writes it then.
 */
bool audit_findings_hold(struct audit_findings *findings, const struct rule_result *found, const struct result *result,
                         uint64_t flow);

/* Forgets all of them, for the next file. */
void audit_findings_clear(struct audit_findings *findings);
void audit_findings_free(struct audit_findings *findings);

#endif
