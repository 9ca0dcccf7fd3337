/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the items of a plan, one after another, each on a rig that is as new, and hands over a result for each check and
 * afterwards one for each requirement that rules decided on the way.
 */
#ifndef CONFORMANCE_ENGINE_RUNNER_H
#define CONFORMANCE_ENGINE_RUNNER_H

#include "conformance/engine/plan.h"
#include "conformance/engine/recorder.h"
#include "conformance/engine/rig.h"
#include "conformance/engine/script.h"
#include "conformance/engine/tally.h"
#include "reports/result.h"

struct runner_config {
    struct script_host *host;
    const struct plan *plan;
    const struct selection *selection;
    const struct catalogue *catalogue;
    struct rig *rig;           /* live: one rig for all; NULL: simulation, by `sim` */
    struct rig_sim_config sim; /* simulation: a rig for each item, its seed made of this one and the check */
    const char *evidence;      /* folder for pcapng files, NULL: none */
    const char *evidence_name; /* the same as results name it, relative to the output folder */
    bool ladder;
    const char *replay; /* options that a command needs to repeat this run: " --simulate --defect x"; NULL: none */

    /* Asked before each item: true leaves it out (it was decided before, `--resume`). NULL: never. */
    bool (*done)(void *user, const struct plan_item *item);
    /* Before each item, for a progress line. NULL: no wish. */
    void (*progress)(void *user, size_t done, size_t total, const struct plan_item *item);
    /* Each result, valid during the call. -1 stops the run (disk full, interrupted). */
    int (*result)(void *user, const struct result *result);
    void *user;
};

struct runner_totals {
    struct flow_totals flow;
    size_t run; /* items that were run */
};

/*
 * 0 when all items were run; -1 with a sentence when the run stopped early: results handed over before stay true. Items
 * that could not be run on a failed rig are handed over as INCONCLUSIVE.
 */
int runner_run(const struct runner_config *config, struct runner_totals *totals, struct sentence *error);

/* The seed of one check's world. */
uint64_t runner_seed(uint64_t seed, const char *id, const char *role);

#endif
