/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `run --resume` takes over from the results of a run that was stopped, as the runner asks for it (runner.h).
 * `done` may be NULL: nothing is taken over.
 */
#ifndef CONFORMANCE_ENGINE_RUN_RESUME_H
#define CONFORMANCE_ENGINE_RUN_RESUME_H

#include "conformance/engine/plan/plan.h"
#include "reports/results/results_log.h"

/* True with the journal of this item, when it was decided: free it by journal_free(). */
bool run_resume_earlier(const struct results_done *done, const struct plan_item *item, struct journal *journal);

/* True with the i-th journal of checks that are repeated and in which rules found something. */
bool run_resume_superseded(const struct results_done *done, size_t i, struct journal *journal);

/* How many of these journals are of this item. */
unsigned run_resume_repeated(const struct results_done *done, const struct plan_item *item);

/*
 * True with the result of this item as the check found it, before known deviations were applied; borrowed from `done`.
 */
bool run_resume_result(const struct results_done *done, const struct plan_item *item, struct result *result);

#endif
