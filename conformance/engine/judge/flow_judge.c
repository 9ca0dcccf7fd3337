/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/judge/flow_judge.h"

#include <stdlib.h>

#include "wire/rdmap.h"

struct flow_judge {
    struct flow_judge_config config;
    struct flow_decoder *decoder;
    struct rule_engine *engine;
    const struct requirement **requirements; /* by struct rule's index; NULL: not in the catalogue */
};

static enum verdict verdict_of(enum rule_verdict verdict)
{
    switch (verdict) {
    case RULE_FAIL: return VERDICT_FAIL;
    case RULE_WARN: return VERDICT_WARN;
    case RULE_AMBIGUOUS: return VERDICT_AMBIGUOUS;
    default: return VERDICT_PASS;
    }
}

/* ---- at the flow's end ------------------------------------------------------------------------------------------- */

struct ended_flow {
    struct flow_judge *judge;
    const struct flow *flow;
    char names[FLOW_DIRECTIONS][FLOW_NAME_MAX]; /* "" until wanted */
};

/* The flow's name as its sender's: the same for all its results, and not cheap. */
static const char *name_of(struct ended_flow *ended, enum flow_direction direction)
{
    char *name = ended->names[direction];

    return name[0] != '\0' ? name : flow_name(ended->flow, direction, name, FLOW_NAME_MAX);
}

/* One requirement that one flow exercised. */
static void on_result(const struct rule_result *found, void *argument)
{
    struct ended_flow *ended = argument;
    const struct flow_judge *judge = ended->judge;
    enum flow_direction direction = (enum flow_direction)found->direction;
    struct result result = {
        .id = found->rule->id,
        .verdict = verdict_of(found->verdict),
        .by = "rule",
        .script = found->rule->function,
        .role = found->both ? NULL : flow_role(ended->flow, direction),
        .frame = found->frame,
        .flow = name_of(ended, direction),
        .count = found->verdict == RULE_PASS ? found->passes : found->findings,
    };
    struct judged_result judged = {found, ended->flow, judge->requirements[found->rule->index], &result};

    if (judged.requirement == NULL)
        return;
    if (found->verdict != RULE_PASS) {
        result.expected = found->expected;
        result.actual = found->actual;
        result.message = found->message;
        result.cause = found->cause;
        result.hint = found->hint;
        result.reading = found->verdict == RULE_AMBIGUOUS ? found->actual : NULL;
    }
    judge->config.result(judge->config.user, &judged);
}

static void on_end(const struct flow *flow, const struct end_cause *cause, void *argument)
{
    const struct flow_judge *judge = ((struct ended_flow *)argument)->judge;

    judge->config.end(judge->config.user, flow, cause);
}

static void flow_ended(struct flow_judge *judge, const struct flow *flow)
{
    struct ended_flow ended = {.judge = judge, .flow = flow};
    struct rule_flow_end wanted = {judge->config.result != NULL ? on_result : NULL,
                                   judge->config.end != NULL ? on_end : NULL, &ended};

    ended.names[0][0] = ended.names[1][0] = '\0';
    rule_engine_flow_end(judge->engine, flow, &wanted);
    if (judge->config.flow_end != NULL)
        judge->config.flow_end(judge->config.user, flow);
}

/* ---- as it comes ------------------------------------------------------------------------------------------------- */

static void on_finding(const struct rule_finding *found, void *argument)
{
    struct flow_judge *judge = argument;
    enum flow_direction direction = (enum flow_direction)found->direction;
    char name[FLOW_NAME_MAX];
    struct result result = {
        .id = found->rule->id,
        .verdict = verdict_of(found->verdict),
        .by = "rule",
        .script = found->rule->function,
        .role = flow_role(found->flow, direction),
        .frame = found->frame,
        .flow = flow_name(found->flow, direction, name, sizeof(name)),
        .count = found->count,
        .expected = found->expected,
        .actual = found->actual,
        .message = found->message,
        .cause = found->cause,
        .hint = found->hint,
        .reading = found->verdict == RULE_AMBIGUOUS ? found->actual : NULL,
    };
    struct judged_finding judged = {found, judge->requirements[found->rule->index], &result};

    if (judged.requirement != NULL)
        judge->config.finding(judge->config.user, &judged);
}

static void sink(void *user, const struct flow_event *event)
{
    struct flow_judge *judge = user;

    rule_engine_event(judge->engine, event);
    if (judge->config.event != NULL)
        judge->config.event(judge->config.user, event);
    if (event->kind == FLOW_END)
        flow_ended(judge, event->flow);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

bool flow_judge_selected(const char *id, void *argument)
{
    const struct flow_judge *judge = argument;
    const struct requirement *requirement = catalogue_find(judge->config.catalogue, id);

    return requirement != NULL && selection_matches(judge->config.selection, requirement);
}

struct flow_judge *flow_judge_create(const struct flow_judge_config *config)
{
    struct flow_config flows = {
        .rule_state_octets = rule_state_octets(), .memory = config->memory, .idle_ns = config->idle_ns};
    struct flow_judge *judge = calloc(1, sizeof(*judge));
    struct rule_config rules = {
        .selected = flow_judge_selected, .finding = config->finding != NULL ? on_finding : NULL, .argument = judge};

    if (judge == NULL)
        return NULL;
    judge->config = *config;
    judge->requirements = calloc(rule_count() + 1, sizeof(const struct requirement *));
    judge->engine = rule_engine_create(&rules);
    judge->decoder = flow_decoder_create(&flows, sink, judge);
    if (judge->requirements == NULL || judge->engine == NULL || judge->decoder == NULL) {
        flow_judge_free(judge);
        return NULL;
    }
    for (size_t i = 0; i < rule_count(); i++)
        judge->requirements[i] = catalogue_find(config->catalogue, rule_at(i)->id);
    return judge;
}

void flow_judge_free(struct flow_judge *judge)
{
    if (judge == NULL)
        return;
    flow_decoder_destroy(judge->decoder);
    rule_engine_free(judge->engine);
    free(judge->requirements);
    free(judge);
}

struct flow_decoder *flow_judge_decoder(const struct flow_judge *judge)
{
    return judge->decoder;
}

/* ---- the summary ------------------------------------------------------------------------------------------------- */

void judged_traffic(struct run_summary *summary, const struct flow_totals *totals)
{
    summary->frames = totals->frames;
    summary->fpdus = totals->fpdus;
    summary->ddp_segments = totals->ddp_segments;
    summary->crc_errors = totals->crc_errors;
    summary->account = totals->account;
    summary_add_messages(summary, "MPA start-up frames", totals->start_frames);
    for (unsigned i = 0; i < 16; i++)
        if (totals->messages[i] != 0)
            summary_add_messages(summary, rdmap_opcode_rows[i].name != NULL ? rdmap_opcode_rows[i].name : "unassigned",
                                 totals->messages[i]);
}
