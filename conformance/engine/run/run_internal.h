/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_run.c: the command; run_prepare.c: what it needs; run_judge.c: what becomes of each result; run_end.c: the end of
 * the run.
 */
#ifndef CONFORMANCE_ENGINE_RUN_INTERNAL_H
#define CONFORMANCE_ENGINE_RUN_INTERNAL_H

#include "conformance/engine/profile/profile.h"
#include "conformance/engine/run/run_options.h"
#include "conformance/engine/run/run_output.h"
#include "conformance/engine/run/runner.h"
#include "reports/writers/terminal.h"

struct run_command {
    struct run_options options;
    struct catalogue *catalogue;
    struct pics *pics;
    struct script_host *host;
    struct profile profile;
    const struct profile_place *place; /* of the profile: where this process judges the device; NULL: no profile */
    struct plan plan;
    struct defect_set *defects;      /* of the reference stack, NULL: none */
    struct run_identity identity;    /* who writes the output */
    struct device_command *commands; /* of the profile; NULL: it has none */
    struct run_pool *pool;           /* of -j; NULL: checks are run by this process */
    struct rig *rig;
    struct run_output output;
    struct terminal terminal;
    struct runner_totals totals;
    struct run_summary traffic;   /* of all checks, also those of the run that --resume continues */
    struct run_services services; /* of the device */
    uint64_t script_errors;       /* results that could not be decided, as the check's script has an error */
    uint64_t not_served;          /* results that could not be decided, as the device does not serve what they need */
    uint64_t unreached;           /* results that could not be decided, as the device is lost */
    struct iwarp_sentence lost;   /* what the first of these says */
    uint64_t failed;
    bool *exercised; /* by requirement index: it has a result */
    char plan_digest[SHARD_DIGEST_OCTETS];
    char today[16];
    struct iwarp_sentence log_error;
};

/*
 * run_prepare.c: loads tables, scripts and profile, and makes the plan. 0, or the exit status, after a line on standard
 * error.
 */
int run_prepare(struct run_command *command, struct iwarp_sentence *error);

/* run_judge.c: draws the progress line; `item` is the check that comes next, or is waited for. */
void run_show_progress(struct run_command *command, const struct plan_item *item);

/* run_judge.c: sets the interfaces of `config`: progress, what earlier runs left, and where results go. */
void run_judge_listen(struct run_command *command, struct runner_config *config);

/* What the profile makes of a result: the verdict after known deviations. */
enum verdict run_judge_verdict(struct run_command *command, const struct result *found);

/*
 * run_end.c: summary, reports and the exit status. `status` is what runner_run() returned, with its sentence in
 * `error`. Each exit status but 0 has its reason on standard error, or in the results of checks.
 */
int run_end(struct run_command *command, int status, struct iwarp_sentence *error);

#endif
