/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker process of run -j. It is told the places in the plan of checks to run, one at a time, and says one
 * line of JSON for each:
 *
 *   {"unit": 17, "journal": {...}, "result": {...}, "unready": false, "ready": true, "dead": "..."}
 *   {"error": "..."}              the worker itself failed, and ends
 *   {"end": {...}}                it was told that nothing is left; the counters of traffic that no journal has
 *
 * journal and result are as in results.jsonl, the others as in struct runner_after.
 */
#ifndef CONFORMANCE_ENGINE_RUN_WORKER_H
#define CONFORMANCE_ENGINE_RUN_WORKER_H

#include <sys/types.h>

#include "conformance/engine/run/run_internal.h"

/* What it is told after the last check. */
#define RUN_WORKER_END SIZE_MAX

/*
 * The life of worker `number`, counted from 0: `orders` are places in the plan, of type size_t, `answers` its lines.
 * Returns its exit status.
 */
int run_worker_live(struct run_command *command, unsigned number, pid_t parent, int orders, int answers);

#endif
