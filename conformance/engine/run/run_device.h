/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the run makes of a device that is lost during a check (rig/device_keeper.h): its death is a finding of that
 * check.
 */
#ifndef CONFORMANCE_ENGINE_RUN_DEVICE_H
#define CONFORMANCE_ENGINE_RUN_DEVICE_H

#include "conformance/engine/rig/rig.h"
#include "conformance/engine/script/script.h"
#include "base/sentence.h"

/* What the texts of an outcome need that run_device_weigh() changes. */
struct run_device_texts {
    struct sentence message, actual;
};

/* A check begins; `evidence` is the name of its evidence, "MPA-7.1.2-05-initiator.pcapng". */
void run_device_begin(struct rig *rig, const char *evidence);

/* Is the device lost since a check, with nobody to wait for it? Then with a sentence. `rig` may be NULL. */
bool run_device_absent(const struct rig *rig, struct sentence *why);

/* That sentence becomes the message of a check that could not begin, with the cause which all such checks share. */
void run_device_say_absent(const char *why, struct outcome *outcome);

/*
 * The check is over. When the device died of it, the verdict is FAIL and says so. When it does not come back, *dead
 * says why: no further check can be judged.
 */
void run_device_weigh(struct rig *rig, struct outcome *outcome, struct run_device_texts *texts, struct sentence *dead);

#endif
