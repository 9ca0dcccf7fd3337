/* SPDX-License-Identifier: BSD-2-Clause */
/* `run --compare OLD`: what differs from an earlier run, such as that of the firmware before. */
#ifndef CONFORMANCE_ENGINE_RUN_COMPARE_H
#define CONFORMANCE_ENGINE_RUN_COMPARE_H

#include "conformance/requirements/catalogue.h"
#include "base/sentence.h"

/*
 * Checks that `old` ("[NAME=]DIR" or "[NAME=]FILE") has results that can be compared, and is outside of the folder
 * `output`. To be called before the run, which may take hours. -1 with the sentence set.
 */
int run_compare_check(const char *old, const char *output, const struct catalogue *catalogue,
                      struct iwarp_sentence *error);

/*
 * Prints what differs between the results of `old` and those of the folder `output`. Returns the exit status of a run
 * that ended with `status`: 1 if something is new or vanished; 0 if not, also if both have the same failures; `status`
 * itself if the run did not finish, or could not decide something.
 */
int run_compare(const char *old, const char *output, int status);

#endif
