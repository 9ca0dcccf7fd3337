/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The journal of a run: one line of results.jsonl for each check, in front of the check's own result line. It keeps
 * what the result line does not have: what the check itself found, what each rule found in the check's traffic, and the
 * traffic counters. The rules' results are made from the journals of all checks (reports/results/rule_pool.h). So no
 * finding of a rule is lost when a run is stopped.
 *
 * A journal without a result line after it belongs to a check that was INCONCLUSIVE and repeated later, or to a run
 * that was stopped between the two lines. Its findings count, its passes do not.
 */
#ifndef REPORTS_JOURNAL_H
#define REPORTS_JOURNAL_H

#include "reports/results/result.h"

/* What a known deviation of the profile makes of a finding. */
struct journal_judged {
    bool known; /* the profile says something of it */
    enum verdict verdict;
    const char *message, *finding, *deviation, *review_by;
};

/* What one rule found in one check's traffic. Strings are borrowed, as in struct result. */
struct journal_rule {
    /* As the rule found it. Of a PASS: id, count, frame, flow and role alone. */
    struct result result;
    struct journal_judged judged;
};

struct journal {
    const char *id;       /* of the check */
    const char *role;     /* of the DUT in it */
    enum verdict found;   /* by the check itself, before known deviations of the profile are applied */
    enum verdict decided; /* the same after known deviations were applied */
    const char *evidence; /* "evidence/X.pcapng", NULL: not kept */
    struct journal_rule *rules;
    size_t rule_count;
    struct run_summary traffic; /* the counters of traffic alone */
};

/* The line; a new reference, NULL without memory or id. */
json_t *journal_to_json(const struct journal *journal);

/*
 * Fills *journal; its strings point into `object`, its rules are to be freed by journal_free(). Hostile input is
 * expected: what is no rule's finding is left out. -1 without id or verdict, or without memory.
 */
int journal_from_json(json_t *object, struct journal *journal);
void journal_free(struct journal *journal);

/* The journal of this check: id and role are the same. */
bool journal_is_of(const struct journal *journal, const char *id, const char *role);

#endif
