/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The results of a run whose device is lost during a check (rig/device_keeper.h): its death is a finding of that check.
 */
#ifndef CONFORMANCE_ENGINE_RUN_DEVICE_H
#define CONFORMANCE_ENGINE_RUN_DEVICE_H

#include "conformance/engine/rig/rig.h"
#include "conformance/engine/script/script.h"
#include "base/sentence.h"

/* What the texts of an outcome need that run_device_check_outcome() changes. */
struct run_device_texts {
    struct iwarp_sentence message, actual;
};

/* A check begins; `evidence` is the name of its evidence, "MPA-7.1.2-05-initiator.pcapng". */
void run_device_begin(struct rig *rig, const char *evidence);

/* True with a sentence: the device is lost since a check, and the run does not wait for it. `rig` may be NULL. */
bool run_device_absent(const struct rig *rig, struct iwarp_sentence *why);

/* Makes that sentence the message of a check that could not begin, and sets the cause that all such checks share. */
void run_device_say_absent(const char *why, struct outcome *outcome);

/* The same where no further check can be judged, for whatever reason. */
void run_device_say_over(const char *why, struct outcome *outcome);

/* Does a result with this cause, or NULL, say one of these two: that its check was not run? */
bool run_device_left_out(const char *cause);

/* Is it an outcome of run_device_say_absent()? */
bool run_device_is_absent(const struct outcome *outcome);

/*
 * To be called after a check. If the device died of it, the verdict becomes FAIL and says so. If the device does not
 * come back, *dead says why: no further check can be judged. True: the device was there before this check, and is lost
 * now.
 */
bool run_device_check_outcome(struct rig *rig, struct outcome *outcome, struct run_device_texts *texts,
                              struct iwarp_sentence *dead);

#endif
