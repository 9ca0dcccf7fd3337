/* SPDX-License-Identifier: BSD-2-Clause */
/* What rules found in one check's traffic, as the journal of that check (reports/results/journal.h). */
#ifndef CONFORMANCE_ENGINE_RUN_JOURNAL_H
#define CONFORMANCE_ENGINE_RUN_JOURNAL_H

#include "conformance/engine/evidence/tally.h"
#include "reports/results/journal.h"

/*
 * Fills the rules of `journal` from what was tallied, into `rules` (room for tally_room()). Strings stay the tally's,
 * the evidence the journal's, which must be set before.
 */
void run_journal_fill(struct journal *journal, struct journal_rule *rules, const struct tally *tally);

/* The function of each rule by requirement, for results_log_rules(); a new reference, NULL without memory. */
json_t *run_journal_functions(void);

#endif
