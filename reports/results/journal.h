/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The journal of a run: one line of results.jsonl for each check, in front of the check's own result line. It keeps
 * what the run knows beside that result: what the check itself found, what each rule found in the check's traffic, and
 * the traffic counters. The rules' results are made of all checks' journals together (reports/results/rule_pool.h), so
 * a run that is stopped at any moment loses nothing that a rule found.
 *
 * A journal whose check has no result line after it is one of a check that was repeated later (it was INCONCLUSIVE), or
 * that was stopped while it was written. Its findings count, its passes do not.
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
    enum verdict found;   /* by the check itself, whatever the profile says of it */
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
