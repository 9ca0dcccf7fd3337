/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the items of a plan, one after another, each on a new or reset rig. It passes on a result for each check, and at
 * the end one for each requirement that rules decided in the traffic of the checks.
 */
#ifndef CONFORMANCE_ENGINE_RUNNER_H
#define CONFORMANCE_ENGINE_RUNNER_H

#include "conformance/engine/run/run_services.h"
#include "conformance/engine/plan/plan.h"
#include "conformance/engine/evidence/recorder.h"
#include "conformance/engine/rig/rig.h"
#include "conformance/engine/script/script.h"
#include "conformance/engine/evidence/tally.h"
#include "reports/results/journal.h"

/* What one check shows about the device, besides its result, that later checks need. */
struct runner_after {
    bool unready;     /* the good exchange before its stimulus failed */
    bool ready;       /* it did not fail, and the check was not skipped */
    const char *dead; /* why no further check can be judged; NULL: it can */
    const char *lost; /* the check was not run: the device, asked once more, is lost, and why; NULL: it is not */
};

/* What another process made of a check. */
struct runner_remote {
    struct journal journal; /* with its traffic; to be freed by journal_free() */
    struct result result;   /* the check's own, before known deviations */
    struct runner_after after;
    const char
        *lost; /* nobody ran it, since the device is lost: why, and the members above are not filled in; or NULL */
};

/* Which items are run, in which order, and by whom. Each function may be NULL. */
struct runner_items {
    /* Asked before each item: true leaves it out. NULL: none is left out. */
    bool (*left_out)(void *user, const struct plan_item *item);
    /* The next item, NULL: none is left. Asked before each item; NULL here: all of the plan, in its order. */
    const struct plan_item *(*next)(void *user);
    /* Called before each item, for a progress line. */
    void (*progress)(void *user, const struct plan_item *item);
    /*
     * Called for each item that is to be run. 0: another process has run it, and `remote` is filled in; its strings
     * stay valid during the run (the ladder until the next call). 1 stops the run as runner_report.result does; -1 with
     * a sentence. NULL: items are run in this process.
     */
    int (*remote)(void *user, const struct plan_item *item, struct runner_remote *remote, struct iwarp_sentence *error);
    void *user;
};

/* What earlier runs into the same output folder left (`--resume`). Each function may be NULL: nothing. */
struct runner_history {
    /*
     * Asked before each item: true leaves it out, since an earlier run decided it and left `journal`, to be freed by
     * journal_free(); its strings stay valid during the run.
     */
    bool (*decided)(void *user, const struct plan_item *item, struct journal *journal);
    /*
     * The journal of the i-th check that is to be repeated, and in which rules found something; false: there are no
     * more.
     */
    bool (*superseded)(void *user, size_t i, struct journal *journal);
    /* How often this item was run before and left such a journal: its evidence stays. */
    unsigned (*repeated)(void *user, const struct plan_item *item);
    void *user;
};

/*
 * Where results go. Each function but `result` may be NULL: not called. What they are given is valid during the call.
 */
struct runner_report {
    /*
     * The verdict of a result after known deviations: called for each check's result before its journal, and for each
     * failure that a rule finds. NULL: the result's own.
     */
    enum verdict (*judged)(void *user, const struct result *result);
    /* Called after each item that was run in this process, before its journal. */
    void (*after)(void *user, const struct runner_after *after);
    /*
     * Called with the journal of each check and its traffic, before the check's result. The callback fills in `judged`,
     * the verdict after known deviations. -1 stops the run.
     */
    int (*journal)(void *user, struct journal *journal, const struct flow_totals *traffic);
    /* What the device serves in a role, each time that it was learned (run_services.h). -1 stops the run. */
    int (*learned)(void *user, json_t *services);
    /*
     * Each result. 1 stops the run after this check, and what the rules found is handed over still (interrupted); -1
     * stops it at once (disk full).
     */
    int (*result)(void *user, const struct result *result);
    /* The same for a rule's finding that adds nothing to a check's result: it is no result of the run. */
    int (*surplus)(void *user, const struct result *result);
    void *user;
};

/* Where captures of checks are written, and read again. */
struct runner_evidence {
    int folder;              /* descriptor of the folder for pcapng files, -1: none */
    enum evidence_kept kept; /* which of them stay */
    uint64_t limit;          /* recorder_config's evidence_limit */
    const char *name;        /* the folder as results name it, relative to the output folder */
    const char *output;      /* that folder: where evidence is read again for what rules found; NULL: it is not */
    bool ladder;             /* results show their steps */
};

struct runner_config {
    struct script_host *host;
    const struct plan *plan;
    const struct selection *selection;
    const struct catalogue *catalogue;
    const struct pics *pics; /* what the device can do: rules whose rows it rules out judge nothing. NULL: all judge */
    struct rig *rig;         /* live: one rig for all; NULL: simulation, by `sim` */
    struct rig_sim_config sim; /* simulation: a rig for each item, its seed made of this one and the check */
    struct runner_evidence evidence;
    struct run_services *services; /* what is learned of the device, by this run or before; borrowed. NULL: not kept */
    bool is_worker;                /* of another process, which writes the evidence of what the device serves */
    const char *replay; /* options that a command needs to repeat this run: " --simulate --defect x"; NULL: none */
    struct runner_items items;
    struct runner_history history;
    struct runner_report report;
};

struct runner_totals {
    struct flow_totals flow; /* traffic that no journal has: after the last check */
    size_t run;              /* items that were run */
    bool stopped;            /* some items were not; set before the rules' results are handed over */
};

/*
 * 0 when all items were run; -1 with a sentence when the run stopped early: earlier results stay valid. Items that
 * could not be run because the rig failed have the result INCONCLUSIVE.
 */
int runner_run(const struct runner_config *config, struct runner_totals *totals, struct iwarp_sentence *error);

/*
 * "MPA-7.1.2-05.pcapng", or with the role in front of the suffix where the check runs in both. A check that is repeated
 * leaves the evidence of what rules found before: "MPA-7.1.2-05.2.pcapng".
 */
void runner_evidence_name(const struct runner_config *config, const struct plan_item *item, char *name, size_t room);

/* The seed of one check's world. */
uint64_t runner_seed(uint64_t seed, const char *id, const char *role);

#endif
