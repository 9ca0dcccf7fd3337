/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which checks of a plan a device without an upper tester leaves out: a check says so only when it asks for something.
 * Each is run against the reference stack in simulation, which has no upper tester either then.
 */
#ifndef CONFORMANCE_ENGINE_RUN_REHEARSE_H
#define CONFORMANCE_ENGINE_RUN_REHEARSE_H

#include "conformance/engine/plan/plan.h"
#include "conformance/requirements/catalogue.h"

/* Marks the items that skip themselves, with their reason. 0, or -1 with a sentence. */
int run_rehearse(struct plan *plan, struct script_host *host, const struct catalogue *catalogue,
                 struct sentence *error);

#endif
