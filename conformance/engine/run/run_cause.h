/* SPDX-License-Identifier: BSD-2-Clause */
/* One fault, one finding: what follows from a fault of the device's framing hangs below that fault. */
#ifndef CONFORMANCE_ENGINE_RUN_CAUSE_H
#define CONFORMANCE_ENGINE_RUN_CAUSE_H

#include "conformance/engine/evidence/tally.h"
#include "conformance/engine/run/run_services.h"
#include "conformance/engine/script/script.h"

/*
 * Where the device's FPDUs cannot be read as it meant them, what a check saw beyond them is no fault of its own: a
 * failure or a warning gets the cause of that, unless it names a mistake in the framing itself. It is known from the
 * good exchanges that the device does not serve for it, or from rules in the check's traffic. `role` is the device's.
 */
void run_cause_adopt(struct outcome *outcome, const struct tally *tally, const char *role,
                     const struct run_services *services);

#endif
