/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the checks of a plan that are skipped for a device without an upper tester. A check shows that it needs one
 * only when it asks for something. So each check is run against the simulated reference stack, without an upper tester.
 */
#ifndef CONFORMANCE_ENGINE_RUN_REHEARSE_H
#define CONFORMANCE_ENGINE_RUN_REHEARSE_H

#include "conformance/engine/plan/plan.h"
#include "conformance/requirements/catalogue.h"

/* Marks the items that skip themselves, with their reason. 0, or -1 with a sentence. */
int run_rehearse(struct plan *plan, struct script_host *host, const struct catalogue *catalogue,
                 struct iwarp_sentence *error);

#endif
