/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report --merge: several results of one device as one report. */
#ifndef CONFORMANCE_ENGINE_REPORT_MERGE_H
#define CONFORMANCE_ENGINE_REPORT_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct report_merge_output {
    const char *path;
    bool accept_known;
    bool force; /* what an earlier command left in the folder is removed */
};

/*
 * Merges `count` folders of runs (or their results.jsonl) into a folder, with all reports (reports/merge/merge.h says
 * how), and prints on the terminal what a run prints at its end. Returns the exit status of a run without shards, with
 * EXIT_CONFORMS for EXIT_KNOWN if known deviations are accepted; 2 if results cannot be read or are not of one device,
 * or the folder is not empty; 4 if a part is missing, or nothing can be written.
 */
int report_merge(char *const *inputs, size_t count, const struct report_merge_output *output);

#endif
