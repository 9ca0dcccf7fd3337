/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a check decided, weighed against the level of its requirement, and against what the program itself could not see
 * or do while the check ran.
 */
#ifndef CONFORMANCE_ENGINE_RUN_WEIGH_H
#define CONFORMANCE_ENGINE_RUN_WEIGH_H

#include <stdint.h>

#include "conformance/engine/rig/rig.h"
#include "conformance/engine/script/script.h"
#include "conformance/requirements/catalogue.h"
#include "base/sentence.h"

/*
 * A breach of a SHOULD is a WARN, whatever the script said (conformance/requirements/README.md, "How to judge"). Only a
 * device that did not recover from the check still fails: that says nothing of the requirement. `requirement` is NULL
 * where the catalogue has none.
 */
void run_weigh_level(struct outcome *outcome, const struct requirement *requirement);

/*
 * Frames that came in the course of a check and that nobody saw: what it decided may rest on them. The message is `why`
 * then. Returns how many there were.
 */
uint64_t run_weigh_drops(struct outcome *outcome, uint64_t dropped, struct sentence *why);

/* Silence on a link whose own end is down says nothing of the device: the message is `why` then. */
void run_weigh_link(struct rig *rig, struct outcome *outcome, struct sentence *why);

/*
 * A process that was killed, or that found no memory, closes its connections: what the check and the rules decided may
 * rest on that, and is nothing that a device under test did. True: so it is, and the message is `why` then. A process
 * that crashed, or that exited, has failed.
 */
bool run_weigh_process(struct rig *rig, struct outcome *outcome, struct sentence *why);

#endif
