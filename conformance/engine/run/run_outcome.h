/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Corrects what a check decided, by the level of its requirement, and by what the program itself could not see or do
 * while the check ran.
 */
#ifndef CONFORMANCE_ENGINE_RUN_OUTCOME_H
#define CONFORMANCE_ENGINE_RUN_OUTCOME_H

#include <stdint.h>

#include "conformance/engine/rig/rig.h"
#include "conformance/engine/evidence/recorder.h"
#include "conformance/engine/script/script.h"
#include "conformance/requirements/catalogue.h"
#include "base/sentence.h"

/*
 * A breach of a SHOULD is a WARN, even if the script said FAIL (conformance/requirements/README.md, "How to judge").
 * Only a device that did not recover from the check still fails: that failure is not a breach of this requirement.
 * `requirement` is NULL if the catalogue has none.
 */
void run_outcome_apply_level(struct outcome *outcome, const struct requirement *requirement);

/*
 * Corrects the outcome if the capture dropped frames during a check: the verdict may depend on them. The message is
 * then `why`. Returns the number of dropped frames.
 */
uint64_t run_outcome_check_drops(struct outcome *outcome, uint64_t dropped, struct iwarp_sentence *why);

/*
 * Corrects the outcome if the tester's own end of the link is down: silence then says nothing about the device. The
 * message is then `why`.
 */
void run_outcome_check_link(struct rig *rig, struct outcome *outcome, struct iwarp_sentence *why);

/*
 * Corrects the outcome if the device's process was killed or ran out of memory. Such a process closes its connections,
 * and what the check and the rules decided may come from that, not from a fault of the device. Returns true in this
 * case; the message is then `why`. A process that crashed or exited by itself has failed.
 */
bool run_outcome_check_process(struct rig *rig, struct outcome *outcome, struct iwarp_sentence *why);

/* The frame that the verdict is about. Its step is marked as the one that failed, unless it is not the device's. */
uint64_t run_outcome_cite(const struct outcome *outcome, struct recorder *recorder);

#endif
