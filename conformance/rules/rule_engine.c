/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/rule_engine.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/ulp/flow_buffers.h"
#include "conformance/rules/track.h"

/* ---- dispatch ---------------------------------------------------------------------------------------------------- */

static size_t slot_of(enum flow_event_kind kind, unsigned opcode)
{
    return kind == FLOW_RDMAP ? FLOW_END + 1 + opcode : kind;
}

/* Does a rule bind the sender with index `who`: Initiator, Responder, or not known which? */
static bool binds(const struct rule *rule, unsigned who)
{
    return rule->sender == RULE_ANY || (rule->sender == RULE_INITIATOR && who == 0) ||
           (rule->sender == RULE_RESPONDER && who == 1);
}

static void dispatch_add(struct rule_engine *engine, unsigned flows, unsigned who, const struct rule *rule,
                         enum flow_event_kind kind)
{
    for (unsigned opcode = 0; opcode < (kind == FLOW_RDMAP ? 16u : 1u); opcode++) {
        struct rule_dispatch *dispatch = &engine->dispatch[flows][who][slot_of(kind, opcode)];

        if (kind != FLOW_RDMAP || (rule->opcodes >> opcode & 1))
            dispatch->rules[dispatch->count++] = rule;
    }
}

static void dispatch_rule(struct rule_engine *engine, unsigned flows, const struct rule *rule)
{
    for (unsigned kind = 0; kind <= FLOW_END; kind++)
        for (unsigned who = 0; who < 3 && (rule->events >> kind & 1); who++)
            if (binds(rule, who))
                dispatch_add(engine, flows, who, rule, kind);
}

struct rule_engine *rule_engine_create(const struct rule_config *config)
{
    struct rule_engine *engine = calloc(1, sizeof(*engine));

    if (engine == NULL)
        return NULL;
    if (config != NULL)
        engine->config = *config;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const struct rule *rule = rule_at(i);

        if (engine->config.selected != NULL && !engine->config.selected(rule->id, engine->config.argument)) {
            engine->partial = true;
            continue;
        }
        for (unsigned flows = 0; flows < FLOW_KINDS; flows++)
            if (rule->flows >> flows & 1)
                dispatch_rule(engine, flows, rule);
    }
    return engine;
}

/* ---- flows ------------------------------------------------------------------------------------------------------- */

size_t rule_state_octets(void)
{
    return sizeof(struct rule_flow *);
}

struct rule_flow *rule_flow_of(const struct flow *flow)
{
    struct rule_flow *state;

    if (flow->rule_state == NULL)
        return NULL;
    memcpy(&state, flow->rule_state, sizeof(state));
    return state;
}

static struct rule_flow *state_make(struct rule_engine *engine, const struct flow *flow)
{
    struct rule_flow *state;

    if (flow->rule_state == NULL || (state = calloc(1, sizeof(*state))) == NULL)
        return NULL;
    state->flow = flow;
    track_begin(state->sides);
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++)
        state->sides[i].judged =
            engine->config.judged == NULL || engine->config.judged(flow, i, engine->config.argument);
    state->next = engine->flows;
    state->link = &engine->flows;
    if (state->next != NULL)
        state->next->link = &state->next;
    engine->flows = state;
    memcpy(flow->rule_state, &state, sizeof(state));
    return state;
}

static void state_free(struct rule_flow *state)
{
    for (unsigned direction = 0; direction < FLOW_DIRECTIONS; direction++)
        while (state->found[direction] != NULL) {
            struct rule_found *found = state->found[direction];

            state->found[direction] = found->next;
            free(found->said);
            free(found->pending);
            free(found);
        }
    *state->link = state->next;
    if (state->next != NULL)
        state->next->link = state->link;
    for (unsigned direction = 0; direction < FLOW_DIRECTIONS; direction++)
        free(state->tallies[direction].list);
    free(state->quick);
    free(state->ends);
    free(state);
}

void rule_engine_flow_done(struct rule_engine *engine, const struct flow *flow)
{
    struct rule_flow *state = rule_flow_of(flow);

    (void)engine;
    if (state == NULL)
        return;
    memset(flow->rule_state, 0, sizeof(state));
    state_free(state);
}

void rule_engine_free(struct rule_engine *engine)
{
    if (engine == NULL)
        return;
    while (engine->flows != NULL)
        state_free(engine->flows);
    free(engine);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* All that makes a class concern other rules than before. */
static unsigned flags_of(const struct rule_flow *state)
{
    unsigned flags = state->flow->ulp != NULL;

    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        const struct rule_side *side = &state->sides[i];
        bool lost = state->flow->half != NULL && state->flow->half[i].requests_lost;

        flags =
            flags << 8 | (unsigned)(side->unsure << 0 | side->requests_unsure << 1 | side->lost << 2 |
                                    side->terminated << 4 | side->start_bad << 5 | lost << 6 | state->flow->late << 7);
    }
    return flags;
}

static void run_rules(struct rule_engine *engine, struct rule_flow *state, const struct flow_event *event,
                      enum flow_direction direction)
{
    const struct flow *flow = event->flow;
    unsigned opcode = event->kind == FLOW_RDMAP ? event->rdmap->message.opcode : 0;
    const struct rule_dispatch *dispatch =
        &engine->dispatch[flow->kind][flow->roles_known ? (unsigned)direction : 2u][slot_of(event->kind, opcode)];
    struct rule_context ctx = {
        .event = event,
        .flow = flow,
        .half = flow->half != NULL ? &flow->half[direction] : NULL,
        .other = flow->half != NULL ? &flow->half[flow_reverse(direction)] : NULL,
        .side = &state->sides[direction],
        .peer = &state->sides[flow_reverse(direction)],
        .direction = direction,
        .engine = engine,
        .state = state,
    };

    if (dispatch->count != 0 && event->kind == FLOW_RDMAP && opcode == IWARP_RDMAP_TERMINATE)
        terminate_read_meant(event->ddp->segment.payload, event->ddp->payload_have, &ctx.terminate);
    for (unsigned i = 0; i < dispatch->count; i++) {
        ctx.rule = dispatch->rules[i];
        ctx.cause = ctx.hint = NULL;
        ctx.rule->judge(&ctx);
    }
}

/* A ULP's messages are judged one by one, and so is what they allow: unless it goes on where it was allowed. */
static bool ulp_goes_on(const struct flow_event *event)
{
    return event->ddp->segment.tagged && flow_buffers_go_on(event);
}

/* True when the event needs no rule: it is in order as a whole, and what such events pass is known. */
static bool go_quick(struct rule_engine *engine, struct rule_flow *state, const struct flow_event *event)
{
    struct quick_class *class;
    unsigned place;
    int index;

    if (engine->config.thorough || event->flow->kind != FLOW_CONNECTION)
        return false;
    if (event->kind == FLOW_RDMAP && event->flow->ulp != NULL && !ulp_goes_on(event))
        return false;
    index = quick_class_of(state, event);
    if (index < 0)
        return false;
    place = state->place[event->direction][index];
    if (place == 0) {
        engine->learning = quick_class_make(state, event->direction, index);
        return false;
    }
    class = &state->quick[place - 1];
    class->count += !class->never;
    return !class->never;
}

/* An FPDU whose CRC could not be checked is not judged at all: nobody knows which of its octets are wrong. */
static bool side_is_judged(const struct rule_side *side, const struct flow_event *event)
{
    if (!side->judged || (event->kind == FLOW_DDP && event->ddp->result == WIRE_MORE) ||
        (event->kind == FLOW_CM && event->cm->icrc == FLOW_ICRC_BAD))
        return false;
    return event->ulpdu == NULL || !event->ulpdu->unverified;
}

static void track_quick(struct rule_side *side, const struct flow_event *event)
{
    if (event->kind == FLOW_ULPDU)
        track_quick_ulpdu(side, event->ulpdu);
    else if (event->kind == FLOW_DDP)
        track_quick_segment(side, &event->ddp->segment);
}

static void judge(struct rule_engine *engine, struct rule_flow *state, const struct flow_event *event)
{
    struct rule_side *side = &state->sides[event->direction];
    struct end_cause cause;
    unsigned flags;
    bool ends;

    state->events++;
    if (event->kind == FLOW_END) {
        for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
            if (side_is_judged(&state->sides[i], event))
                run_rules(engine, state, event, i);
            for (struct rule_found *found = state->found[i]; found != NULL; found = found->next)
                rule_found_settle(engine, state, i, found);
        }
        quick_settle(state);
        return;
    }
    ends = end_cause_read(event, &cause);
    track_before(side, event);
    if (side_is_judged(side, event)) {
        if (go_quick(engine, state, event)) {
            track_quick(side, event);
            return;
        }
        run_rules(engine, state, event, event->direction);
        engine->learning = NULL;
    }
    if (ends)
        rule_end_keep(engine, state, event, &cause);
    track_session(state->sides, event);
    track_event(side, event);
    flags = flags_of(state);
    if (flags != state->flags) {
        quick_settle(state);
        quick_forget(state);
        state->flags = flags;
    }
}

void rule_engine_event(struct rule_engine *engine, const struct flow_event *event)
{
    struct rule_flow *state = rule_flow_of(event->flow);

    if (state == NULL && (state = state_make(engine, event->flow)) == NULL)
        return;
    for (; event != NULL; event = event->next)
        judge(engine, state, event);
}

void rule_engine_sink(void *engine, const struct flow_event *event)
{
    rule_engine_event(engine, event);
    if (event->kind == FLOW_END)
        rule_engine_flow_done(engine, event->flow);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Of the first finding of both directions that have the same verdict. */
static unsigned earlier(const struct rule_found *const found[FLOW_DIRECTIONS])
{
    return found[0]->said != NULL && found[1]->said != NULL && found[1]->said->frame < found[0]->said->frame;
}

/* Both directions' tallies of one rule as one result. False when none exercised it. */
static bool result_of(struct rule_flow *state, const struct rule *rule, struct rule_result *result)
{
    static const struct rule_tally none;
    const struct rule_tally *tally[FLOW_DIRECTIONS] = {rule_tally_of(state, 0, rule->index),
                                                       rule_tally_of(state, 1, rule->index)};
    const struct rule_found *found[FLOW_DIRECTIONS] = {rule_found_of(state, 0, rule->index),
                                                       rule_found_of(state, 1, rule->index)};
    const struct rule_found *first, *other;
    enum rule_verdict verdict[FLOW_DIRECTIONS];
    unsigned direction;

    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        if (tally[i] == NULL)
            tally[i] = &none;
        verdict[i] = found[i] != NULL ? found[i]->verdict : RULE_PASS;
    }
    memset(result, 0, sizeof(*result));
    result->rule = rule;
    result->passes = tally[0]->passes + tally[1]->passes;
    if (verdict[0] != verdict[1]) {
        direction = verdict[1] > verdict[0];
    } else if (verdict[0] == RULE_PASS) {
        if (result->passes == 0)
            return false;
        direction = tally[0]->passes == 0 || (tally[1]->passes != 0 && tally[1]->pass_frame < tally[0]->pass_frame);
        result->both = tally[0]->passes != 0 && tally[1]->passes != 0;
    } else {
        direction = earlier(found);
        result->both = true;
    }
    result->verdict = verdict[direction];
    result->direction = direction;
    result->frame = tally[direction]->pass_frame;
    result->expected = result->actual = result->message = "";
    first = found[direction];
    other = found[!direction];
    if (result->verdict == RULE_PASS || first == NULL) /* only who was found at fault has a worse verdict */
        return true;
    result->findings = first->findings + (result->both && other != NULL ? other->findings : 0);
    if (first->said != NULL) {
        result->frame = first->said->frame;
        result->expected = first->said->expected;
        result->actual = first->said->actual;
        result->message = first->said->message;
        result->cause = first->said->cause;
        result->hint = first->said->hint;
    }
    return true;
}

size_t rule_engine_flow_results(struct rule_engine *engine, const struct flow *flow, rule_result_function *function,
                                void *argument)
{
    struct rule_flow *state = rule_flow_of(flow);
    struct rule_result result;
    size_t count = 0;

    (void)engine;
    if (state == NULL)
        return 0;
    quick_settle(state);
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (!result_of(state, rule_at(i), &result))
            continue;
        count++;
        if (function != NULL)
            function(&result, argument);
    }
    return count;
}
