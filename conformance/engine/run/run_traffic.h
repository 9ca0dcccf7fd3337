/* SPDX-License-Identifier: BSD-2-Clause */
/* What the decoder counted in a live run, as counters of the summary. */
#ifndef CONFORMANCE_ENGINE_RUN_TRAFFIC_H
#define CONFORMANCE_ENGINE_RUN_TRAFFIC_H

#include "conformance/flow/event/flow.h"
#include "reports/results/result.h"

/* Adds to the summary. */
void run_traffic_add(struct run_summary *summary, const struct flow_totals *flow);

/* Adds traffic to the summary, its messages in the order of their opcodes, whichever came first. */
void run_traffic_finish(struct run_summary *summary, const struct run_summary *traffic);

#endif
