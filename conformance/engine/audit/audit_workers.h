/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judges several captures at once: each worker process judges one file after another. Results are delivered in the
 * order of the files, whichever is ready first. The results are those of one process that reads one file after another.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_WORKERS_H
#define CONFORMANCE_ENGINE_AUDIT_WORKERS_H

#include <stddef.h>

#include "conformance/engine/audit/audit_judge.h"
#include "conformance/engine/capture/capture_folder.h"

/* At most so many lines for passes of a capture, requirement and role; one more line counts the other passes. */
enum { AUDIT_PASSED_LINES = 32 };

struct audit_workers_config {
    const struct catalogue *catalogue;
    const struct selection *selection;
    const struct capture_list *files;
    unsigned processes;
    size_t memory;                       /* for each of them; 0: the default */
    const struct capture_filter *filter; /* frames that are judged; NULL: all */
    struct lua_rules *rules;             /* NULL: none */
    uint64_t capabilities;               /* that a process keeps, for files that it could not read otherwise */
    bool lines;         /* lines of all results are wanted, with ladders; else those of findings only, */
    bool shown;         /* and of what passed, without ladders */
    bool findings_only; /* no lines of what passed */
    /*
     * One result of the present file: of `role` (role_slot()), `count` times. `line` is its line of results.jsonl,
     * newline included; `octets` 0: not wanted.
     */
    void (*result)(void *user, enum verdict verdict, const struct requirement *requirement, unsigned role,
                   uint64_t count, const char *line, size_t octets);
    /* Why a flow of the present file ended, as its line. */
    void (*end)(void *user, const char *line, size_t octets);
    void (*results_end)(void *user);                            /* the results of a flow are complete */
    void (*reading)(void *user, size_t index, uint64_t frames); /* so many frames of the present file are read */
    /*
     * The present file, files->paths[index], is done; `error` says why when it is not whole. `lost`: the process that
     * judged it died, and its results are not all.
     */
    void (*file)(void *user, size_t index, enum audit_file status, bool lost, const struct flow_totals *totals,
                 const struct iwarp_sentence *error);
    void *user;
};

/* Judges all files, or stops when run_stopped(). -1 with the sentence set when no process can be started. */
int audit_workers_run(const struct audit_workers_config *config, struct iwarp_sentence *error);

#endif
