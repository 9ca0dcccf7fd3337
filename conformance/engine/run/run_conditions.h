/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The conditions that the verdicts of a run depend on, besides the device, the program, the catalogue and the seed:
 * names and texts. The run line keeps them, and `--resume` refuses results that were made under other conditions.
 */
#ifndef CONFORMANCE_ENGINE_RUN_CONDITIONS_H
#define CONFORMANCE_ENGINE_RUN_CONDITIONS_H

#include <jansson.h>

#include "conformance/engine/run/run_options.h"
#include "conformance/engine/script/script.h"

/*
 * {"selection": "DDP-7.* --role responder", ...}; a new reference, NULL with a sentence (memory, unreadable profile).
 */
json_t *run_conditions(const struct run_options *options, const struct script_host *host, struct iwarp_sentence *error);

#endif
