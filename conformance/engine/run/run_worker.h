/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker process of run -j. It reads the places in the plan of the checks to run, one at a time, and writes one line
 * of JSON for each:
 *
 *   {"unit": 17, "journal": {...}, "result": {...}, "unready": false, "ready": true, "dead": "..."}
 *   {"error": "..."}              the worker itself failed, and ends
 *   {"end": {...}}                it was ordered to end; the counters of traffic that no journal has
 *
 * journal and result are as in results.jsonl, the others as in struct runner_after.
 */
#ifndef CONFORMANCE_ENGINE_RUN_WORKER_H
#define CONFORMANCE_ENGINE_RUN_WORKER_H

#include <sys/types.h>

#include "conformance/engine/run/run_internal.h"

/* The order that ends a worker. */
#define RUN_WORKER_END SIZE_MAX

/*
 * Runs worker `number`, counted from 0: it reads places in the plan, of type size_t, from `orders`, and writes its
 * lines to `answers`. Returns its exit status.
 */
int run_worker_live(struct run_command *command, unsigned number, pid_t parent, int orders, int answers);

#endif
