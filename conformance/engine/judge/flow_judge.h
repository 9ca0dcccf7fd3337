/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder with the rules after it: frames in, results out. What audit (files) and monitor (a live interface) have in
 * common; it knows neither. Results of a flow are delivered at its end; findings, where they are asked for, as they come.
 */
#ifndef CONFORMANCE_ENGINE_FLOW_JUDGE_H
#define CONFORMANCE_ENGINE_FLOW_JUDGE_H

#include "conformance/flow/decoder.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "conformance/rules/end_cause.h"
#include "conformance/rules/rule.h"
#include "reports/results/result.h"

struct flow_judge; /* opaque */

/* A result as a rule gave it, with its flow and its requirement. All of it is valid during the call. */
struct judged_result {
    const struct rule_result *found;
    const struct flow *flow;
    const struct requirement *requirement;
    struct result *result; /* filled in, but for `file`; whoever gets it may change it */
};

/* A finding at the event that shows it, likewise. `result->count` counts the findings not reported before. */
struct judged_finding {
    const struct rule_finding *found;
    const struct requirement *requirement;
    struct result *result;
};

struct flow_judge_config {
    const struct catalogue *catalogue;
    const struct selection *selection;
    size_t memory;    /* struct flow_config's; 0: the default */
    uint64_t idle_ns; /* the same */
    /* Each is called with `user`; NULL: not called. */
    void (*event)(void *user, const struct flow_event *event); /* after the rules have seen it */
    void (*finding)(void *user, const struct judged_finding *finding);
    void (*result)(void *user, const struct judged_result *result);
    void (*end)(void *user, const struct flow *flow, const struct end_cause *cause); /* why the flow ended */
    void (*flow_end)(void *user, const struct flow *flow);                           /* after results and ends */
    void *user;
};

/* A copy of *config is kept; what it points to outlives the judge. NULL without memory. */
struct flow_judge *flow_judge_create(const struct flow_judge_config *config);
void flow_judge_free(struct flow_judge *judge); /* NULL is allowed; no results */

/* The decoder that is fed; its sink is the judge. */
struct flow_decoder *flow_judge_decoder(const struct flow_judge *judge);

/* Whether the requirement `id` is in the catalogue and selected; `judge` is a struct flow_judge. */
bool flow_judge_selected(const char *id, void *judge);

/* What the decoder counted, in the summary of results: frames, FPDUs, messages by their names, the account. */
void judged_traffic(struct run_summary *summary, const struct flow_totals *totals);

#endif
