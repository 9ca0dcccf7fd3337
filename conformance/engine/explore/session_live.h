/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plays sessions against a device on the wire: they are the checks of a `warpcheck run` in a process of its own, so
 * that the device is reached, guarded, waited for and started again as in any run, and its results are read.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_LIVE_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_LIVE_H

#include <stdbool.h>

#include "base/sentence.h"
#include "conformance/engine/explore/session_found.h"

struct session_live {
    const char *folder;           /* the runs' folders go there: explored-1, explored-2, ... */
    const char *const *arguments; /* of `run`: which device, and how many checks side by side; borrowed */
    size_t argument_count;
    unsigned runs; /* of which something is kept: the folder of the next one has the next number */
    bool trial;    /* only what is found counts: the run's folder is used again */
    bool refused;  /* `run` has refused its arguments, and said why */
};

/*
 * 0; or -1 with a sentence: files, memory, a run that refuses its arguments or was stopped. What was found until then
 * has been given to the listener. The folder of a run in which nothing failed is used again by the next one.
 */
int session_live_run(struct session_live *live, const struct session_listener *listener, struct iwarp_sentence *error);

/*
 * `warpcheck run` in this process: with these arguments, the first of them "run", and those of the device. Its exit
 * status.
 */
int session_live_command(const struct session_live *live, const char *const *own, size_t own_count);

#endif
