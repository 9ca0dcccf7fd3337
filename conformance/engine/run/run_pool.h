/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run -j: worker processes run several checks of the plan at once, each check in a world of its own, whose seed depends
 * on the check alone. The calling process takes their results in the order of the plan, so that results, evidence and
 * reports are those of a run without workers. When a run is stopped, results after the first check without a result are
 * dropped, with their evidence: --resume runs these checks again.
 */
#ifndef CONFORMANCE_ENGINE_RUN_POOL_H
#define CONFORMANCE_ENGINE_RUN_POOL_H

#include "conformance/engine/run/run_internal.h"

struct run_pool; /* opaque */

/*
 * Starts the workers and sets command->pool, before this process drops privileges and has a device of its own. NULL in
 * command->pool: one process is enough. -1 with a sentence.
 */
int run_pool_start(struct run_command *command, struct iwarp_sentence *error);

/*
 * The runner takes its checks from the workers from now on. `config` stays valid until run_pool_end(); its user is the
 * command.
 */
void run_pool_serve(struct run_pool *pool, struct runner_config *config);

/* How many checks after `item` have been run already, and how many others run at the same time as it. */
void run_pool_ahead(const struct run_pool *pool, const struct plan_item *item, size_t *ahead, size_t *beside);

/*
 * The run is over; `whole`: it came to its end. Ends the workers and removes evidence of what was not taken. Traffic
 * that no journal has is added to `traffic`, with names that last as long as the pool. -1 with a sentence: a worker
 * died.
 */
int run_pool_end(struct run_pool *pool, bool whole, struct run_summary *traffic, struct iwarp_sentence *error);

/* A worker died or failed: this run cannot have all results. NULL is allowed. */
bool run_pool_is_broken(const struct run_pool *pool);

/* NULL is allowed. Kills workers that still run. */
void run_pool_free(struct run_pool *pool);

#endif
