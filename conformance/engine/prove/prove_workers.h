/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Divides the units of proving among processes: each process takes every jobs-th unit, and sends one line of JSON for
 * it. A unit is the stack with one seed, defect or variant. Units share nothing but what was loaded before.
 */
#ifndef CONFORMANCE_ENGINE_PROVE_WORKERS_H
#define CONFORMANCE_ENGINE_PROVE_WORKERS_H

#include <jansson.h>
#include <stddef.h>

#include "base/sentence.h"

enum { PROVE_JOBS_MAX = 64 };

struct prove_work {
    size_t units;
    unsigned jobs; /* processes, 1 to PROVE_JOBS_MAX */
    /* In a worker: the unit's answer, an object, which the caller owns. NULL with a sentence: the whole work fails. */
    json_t *(*unit)(void *user, size_t number, struct iwarp_sentence *error);
    /*
     * Called in the calling process, in the order of the units: for each unit as soon as all units before it are done.
     */
    void (*tell)(void *user, size_t number, const json_t *row);
    void *user;
};

/* 0 when each unit was reported; -1 with a sentence: a unit failed, a worker died, memory, the run was stopped. */
int prove_workers_run(const struct prove_work *work, struct iwarp_sentence *error);

#endif
