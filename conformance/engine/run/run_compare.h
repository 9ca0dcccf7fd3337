/* SPDX-License-Identifier: BSD-2-Clause */
/* `run --compare OLD`: what differs from an earlier run, such as that of the firmware before. */
#ifndef CONFORMANCE_ENGINE_RUN_COMPARE_H
#define CONFORMANCE_ENGINE_RUN_COMPARE_H

#include "conformance/requirements/catalogue.h"
#include "base/sentence.h"

/*
 * Whether `old` ("[NAME=]DIR" or "[NAME=]FILE") has results of a run that can be compared, and outside of the folder
 * `output`: asked before the run, which may take hours. -1 with the sentence set.
 */
int run_compare_check(const char *old, const char *output, const struct catalogue *catalogue, struct sentence *error);

/*
 * Prints what differs between the results of `old` and those of the folder `output`. Returns the exit status of a run
 * that ended with `status`: 1 where something is new or vanished, 0 where nothing is, whatever failed in both; and
 * `status` itself where the run did not come to its end, or could not decide something.
 */
int run_compare(const char *old, const char *output, int status);

#endif
