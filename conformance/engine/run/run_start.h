/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process needs to run checks: the device, and what the runner has to know. A run, and each of its workers,
 * makes its own.
 */
#ifndef CONFORMANCE_ENGINE_RUN_START_H
#define CONFORMANCE_ENGINE_RUN_START_H

#include "conformance/engine/run/run_internal.h"

/*
 * Opens the rig of a live run and sets it in `command`; simulation makes a rig for each check. Before the process reads
 * anything from the device, it drops the privileges that it does not need; with `workers` it may still signal processes
 * that it has started before. -1 with a sentence.
 */
int run_start_rig(struct run_command *command, bool workers, struct iwarp_sentence *error);

/* What the runner's configuration points to. */
struct run_start_texts {
    char replay[512];
};

/*
 * Fills in the configuration without its functions; it borrows from `command` and `texts`. It takes over what an
 * earlier run learned.
 */
void run_start_configure(struct run_command *command, struct runner_config *config, struct run_start_texts *texts);

#endif
