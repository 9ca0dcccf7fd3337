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
 * Likewise where rules find a field wrong in frames of the kind that came in place of what was expected, or by which
 * messages are put together, and the check saw only what comes of it.
 */
void run_cause_adopt(struct outcome *outcome, const struct tally *tally, const char *role,
                     const struct run_services *services);

/*
 * The same for the findings of rules in the check's traffic, of which `outcome` is the check's: those below framing that
 * cannot be read get its cause, and those that name none that of another rule's finding in the same frame.
 */
void run_cause_share(struct tally *tally, const char *role, const struct outcome *outcome,
                     const struct run_services *services);

#endif
