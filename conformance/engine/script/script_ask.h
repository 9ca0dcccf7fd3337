/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A question to the script library that is no check: a function of its table `harness` that gets a role, and whose
 * answer is a table.
 */
#ifndef CONFORMANCE_ENGINE_SCRIPT_ASK_H
#define CONFORMANCE_ENGINE_SCRIPT_ASK_H

#include <jansson.h>

#include "conformance/engine/script/script.h"

/*
 * Calls harness.<function>(role) on the rig. `recorder` may be NULL. A new reference to the answer; NULL with a
 * sentence: the script failed, or the link, or memory. What the function leaves open is ended.
 */
json_t *script_ask(struct script_host *host, const char *function, const char *role, struct rig *rig,
                   struct recorder *recorder, struct iwarp_sentence *error);

#endif
