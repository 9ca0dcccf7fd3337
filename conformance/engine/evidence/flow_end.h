/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An end of a flow (conformance/rules/end_cause.h) as a line of results: with the numbers that frames have in their
 * files.
 */
#ifndef CONFORMANCE_ENGINE_FLOW_END_H
#define CONFORMANCE_ENGINE_FLOW_END_H

#include "conformance/engine/capture/capture_series.h"
#include "conformance/rules/end_cause.h"
#include "reports/results/end_line.h"

struct flow_end {
    struct end_line line; /* its strings are the members below, the flow's, or live for ever */
    char name[FLOW_NAME_MAX], why[END_CAUSE_TEXT], negotiated[END_NEGOTIATED_TEXT], error[128];
    struct iwarp_sentence reworded;
};

/* Fills in *end, which does not move while its line is used, and lives no longer than the series and the flow. */
void flow_end_make(struct flow_end *end, const struct capture_series *series, const struct flow *flow,
                   const struct end_cause *cause);

#endif
