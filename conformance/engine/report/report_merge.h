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
 * how), and tells on the terminal what a run tells at its end. Returns the exit status: that of a run that was not
 * shared out, with EXIT_CONFORMS for EXIT_KNOWN where known deviations are accepted; 2 where results cannot be read or
 * are not of one device, or the folder is not empty; 4 where a part is missing, or nothing can be written.
 */
int report_merge(char *const *inputs, size_t count, const struct report_merge_output *output);

#endif
