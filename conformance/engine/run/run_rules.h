/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a run: what the rules found in the traffic of all its checks becomes results, with ladders. */
#ifndef CONFORMANCE_ENGINE_RUN_RULES_H
#define CONFORMANCE_ENGINE_RUN_RULES_H

#include "conformance/engine/run/runner.h"
#include "reports/results/rule_pool.h"

/*
 * Hands each requirement's result to config->result, or to config->beside where checks decided as much
 * (rule_pool_adds()), in the rules' order. What a rule found gets the ladder that is drawn of the evidence it names
 * (findings_ladder.h), so that this also is one of another process, or of the run that `--resume` goes on with. Without
 * config->output, or where the evidence does not have the frame any more, it has none. -1: a callback asked to stop at
 * once.
 */
int run_rules_report(const struct runner_config *config, const struct rule_pool *pool);

#endif
