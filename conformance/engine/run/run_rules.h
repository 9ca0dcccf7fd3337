/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a run: what the rules found in the traffic of all its checks becomes results, with ladders. */
#ifndef CONFORMANCE_ENGINE_RUN_RULES_H
#define CONFORMANCE_ENGINE_RUN_RULES_H

#include "conformance/engine/run/runner.h"
#include "reports/results/rule_pool.h"

/*
 * Passes each requirement's result to config->report.result, or to config->report.surplus if checks decided as much
 * (rule_pool_adds()), in the rules' order. The ladder of a finding is drawn from the evidence that the finding names
 * (findings_ladder.h); the evidence may come from another process, or from the run that `--resume` continues. There is
 * no ladder without config->output, or if the evidence does not have the frame any more. -1: a callback asked to stop
 * at once.
 */
int run_rules_report(const struct runner_config *config, const struct rule_pool *pool);

#endif
