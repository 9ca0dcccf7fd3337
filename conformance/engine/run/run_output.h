/* SPDX-License-Identifier: BSD-2-Clause */
/* Where `warpcheck run` writes: its folder with results and evidence, or a file without a name, or nowhere. */
#ifndef CONFORMANCE_ENGINE_RUN_OUTPUT_H
#define CONFORMANCE_ENGINE_RUN_OUTPUT_H

#include "conformance/engine/report/judged_output.h"
#include "conformance/engine/run/run_options.h"
#include "reports/results/results_log.h"

struct run_output {
    struct judged_output to;
    int evidence;              /* the folder of that name in the folder of -o, -1: none */
    struct results_done *done; /* what --resume goes on from, NULL: nothing */
};

/*
 * Opens all outputs that the options name, and begins or continues the results, whose first line is `info`. Files made
 * for a user who called sudo belong to that user. 0; or, with the sentence set, the exit status.
 */
int run_output_open(struct run_output *output, const struct run_options *options, const struct run_info *info,
                    struct iwarp_sentence *error);

/* To be called when nothing was judged: empties the folder, so that the run can be tried again. */
void run_output_undo(struct run_output *output, const struct run_options *options);

/* Also of one that was opened in part, or is {.evidence = -1}. */
void run_output_close(struct run_output *output);

#endif
