/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of a flow as they are kept, and the first rule that was broken before each. */
#include "conformance/rules/rule_engine.h"
#include "base/out_of_memory.h"

#include <stdlib.h>

/* The finding came before the end; what only the flow's end showed came before it if its frame did. */
static bool was_before(const struct rule_flow *state, const struct rule_found *found, const struct end_cause *cause)
{
    bool by_flow_end = found->order == state->events && cause->order != state->events;

    return found->order < cause->order || (by_flow_end && found->said->frame < cause->frame);
}

/* The first of the two by frame; of one frame that which was found first, and is the table's first. */
static bool is_earlier(const struct rule_said *said, const struct rule_found *found, const struct end_broken *broken,
                       uint64_t order)
{
    if (broken->rule == NULL || said->frame != broken->frame)
        return broken->rule == NULL || said->frame < broken->frame;
    return found->order != order ? found->order < order : found->rule < broken->rule->index;
}

/* The first finding of this verdict on either side before the end. */
static struct end_broken first_found(const struct rule_engine *engine, const struct rule_flow *state,
                                     const struct end_cause *cause, enum rule_verdict verdict)
{
    struct end_broken broken = {.selected_only = engine->partial};
    uint64_t order = 0;

    for (unsigned direction = 0; direction < FLOW_DIRECTIONS; direction++)
        for (const struct rule_found *found = state->found[direction]; found != NULL; found = found->next) {
            const struct rule_said *said = found->said;

            if (found->verdict != verdict || said == NULL || !was_before(state, found, cause) ||
                !is_earlier(said, found, &broken, order))
                continue;
            broken = (struct end_broken){.rule = rule_at(found->rule),
                                         .direction = direction,
                                         .frame = said->frame,
                                         .expected = said->expected,
                                         .actual = said->actual,
                                         .selected_only = engine->partial,
                                         .warned = verdict == RULE_WARN};
            order = found->order;
        }
    return broken;
}

/* The first MUST that either side broke before the end; where none was, the first WARN. */
static struct end_broken first_broken(const struct rule_engine *engine, const struct rule_flow *state,
                                      const struct end_cause *cause)
{
    struct end_broken broken = first_found(engine, state, cause, RULE_FAIL);

    return broken.rule != NULL ? broken : first_found(engine, state, cause, RULE_WARN);
}

void rule_end_keep(struct rule_engine *engine, struct rule_flow *state, const struct flow_event *event,
                   const struct end_cause *cause)
{
    struct end_cause *kept;

    if (state->ends == NULL && (state->ends = calloc(END_CAUSES_MAX, sizeof(*state->ends))) == NULL)
        out_of_memory_note();
    if (state->ends == NULL || state->end_count == END_CAUSES_MAX)
        return;
    kept = &state->ends[state->end_count];
    *kept = *cause;
    kept->order = state->events;
    if (state->end_count != 0) {
        kept->after = true;
        kept->after_kind = kept[-1].kind;
        kept->after_direction = kept[-1].direction;
    }
    state->end_count++;
    if (engine->config.end == NULL)
        return;
    kept->broken = first_broken(engine, state, kept);
    engine->config.end(event->flow, kept, engine->config.argument);
}

size_t rule_engine_flow_ends(struct rule_engine *engine, const struct flow *flow, rule_end_function *function,
                             void *argument)
{
    struct rule_flow *state = rule_flow_of(flow);

    if (state == NULL)
        return 0;
    for (unsigned i = 0; i < state->end_count; i++) {
        state->ends[i].broken = first_broken(engine, state, &state->ends[i]);
        function(flow, &state->ends[i], argument);
    }
    return state->end_count;
}

void rule_engine_flow_end(struct rule_engine *engine, const struct flow *flow, const struct rule_flow_end *wanted)
{
    if (wanted->result != NULL)
        (void)rule_engine_flow_results(engine, flow, wanted->result, wanted->argument);
    if (wanted->end != NULL)
        (void)rule_engine_flow_ends(engine, flow, wanted->end, wanted->argument);
    rule_engine_flow_done(engine, flow);
}
