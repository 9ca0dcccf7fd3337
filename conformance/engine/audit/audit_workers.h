/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several captures at once: a process for each, so many at a time, and what they found is handed over in the order of
 * the files, whichever is ready first. The results are those of one process that reads one file after another.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_WORKERS_H
#define CONFORMANCE_ENGINE_AUDIT_WORKERS_H

#include <stddef.h>

#include "conformance/engine/audit/audit_judge.h"
#include "conformance/engine/evidence/capture_folder.h"

struct audit_workers_config {
    const struct catalogue *catalogue;
    const struct selection *selection;
    const struct capture_list *files;
    unsigned processes;
    bool lines; /* lines of all results are wanted, with ladders; else those of findings only, */
    bool shown; /* and of what passed, without ladders */
    /*
     * One result of the present file. `line` is its line of results.jsonl, newline included; `octets` 0: not wanted.
     */
    void (*result)(void *user, enum verdict verdict, const struct requirement *requirement, const char *line,
                   size_t octets);
    /* The present file, files->paths[index], is done; `error` says why when it is not whole. */
    void (*file)(void *user, size_t index, enum audit_file status, const struct flow_totals *totals,
                 const struct sentence *error);
    void *user;
};

/* Judges all files. -1 with the sentence set when no process or no temporary file can be had. */
int audit_workers_run(const struct audit_workers_config *config, struct sentence *error);

#endif
