/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/rule_engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/rules/track.h"

/* ---- what rules say ---------------------------------------------------------------------------------------------- */

void rule_pass(struct rule_context *ctx)
{
    struct rule_tally *tally = &ctx->state->tally[ctx->direction][ctx->rule->index];

    if (tally->passes++ == 0)
        tally->pass_frame = ctx->event->frame;
    if (ctx->engine->learning != NULL)
        ctx->engine->learning->passed[ctx->rule->index / 64] |= UINT64_C(1) << ctx->rule->index % 64;
}

/* What was found of a rule in one direction; NULL when nothing was. */
static struct rule_found *found_of(const struct rule_flow *state, unsigned direction, size_t rule)
{
    struct rule_found *found = state->found[direction];

    while (found != NULL && found->rule != rule)
        found = found->next;
    return found;
}

/* The same, made if need be; NULL without memory. */
static struct rule_found *found_make(struct rule_flow *state, unsigned direction, size_t rule)
{
    struct rule_found *found = found_of(state, direction, rule);

    if (found != NULL || (found = calloc(1, sizeof(*found))) == NULL)
        return found;
    found->rule = rule;
    found->next = state->found[direction];
    state->found[direction] = found;
    return found;
}

/* A copy of the texts in one piece; NULL without memory. */
static struct rule_said *said_make(uint64_t frame, const char *expected, const char *actual, const char *message)
{
    size_t first = strlen(expected) + 1, second = strlen(actual) + 1, third = strlen(message) + 1;
    struct rule_said *said = malloc(sizeof(*said) + first + second + third);

    if (said == NULL)
        return NULL;
    said->frame = frame;
    said->expected = memcpy(said->texts, expected, first);
    said->actual = memcpy(said->texts + first, actual, second);
    said->message = memcpy(said->texts + first + second, message, third);
    return said;
}

static void say(struct rule_context *ctx, enum rule_verdict said, const char *expected, const char *actual,
                const char *format, va_list arguments)
{
    enum rule_verdict verdict = said > ctx->rule->worst ? ctx->rule->worst : said;
    struct rule_found *found = found_make(ctx->state, ctx->direction, ctx->rule->index);
    char message[512];

    if (ctx->engine->learning != NULL)
        ctx->engine->learning->never = true;
    if (found == NULL || verdict < found->verdict)
        return;
    found->findings = verdict > found->verdict ? 1 : found->findings + 1;
    if (verdict == found->verdict && ctx->engine->config.finding == NULL)
        return;
    (void)vsnprintf(message, sizeof(message), format, arguments);
    if (verdict > found->verdict) {
        free(found->said);
        found->said = said_make(ctx->event->frame, expected, actual, message);
        found->verdict = verdict;
    }
    if (ctx->engine->config.finding != NULL) {
        struct rule_finding finding = {ctx->rule, ctx->flow, ctx->direction, verdict, ctx->event->frame,
                                       expected,  actual,    message,        1};

        ctx->engine->config.finding(&finding, ctx->engine->config.argument);
    }
}

void rule_fail(struct rule_context *ctx, const char *expected, const char *actual, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(ctx, RULE_FAIL, expected, actual, format, arguments);
    va_end(arguments);
}

void rule_fail_unless_lost(struct rule_context *ctx, const char *expected, const char *actual, const char *format, ...)
{
    struct rule_found *found = found_make(ctx->state, ctx->direction, ctx->rule->index);
    char message[512];
    va_list arguments;

    if (ctx->engine->learning != NULL)
        ctx->engine->learning->never = true;
    if (found == NULL || ctx->flow->unordered || found->pending_count++ != 0)
        return;
    found->pending_behind = ctx->other->fpdus;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    found->pending = said_make(ctx->event->frame, expected, actual, message);
}

/* What waited for the flow's end: a finding, if the other side's stream has no holes. */
static void settle_pending(struct rule_engine *engine, struct rule_flow *state, unsigned direction,
                           struct rule_found *found)
{
    const struct rule *rule = rule_at(found->rule);

    const struct flow_half *other = state->flow->half != NULL ? &state->flow->half[1 - direction] : NULL;
    bool holes = state->sides[1 - direction].holes || other == NULL || other->unfinished != 0 || other->tail_unknown;

    /* Over SCTP nothing says what the sender had received: what the other side sent later in the capture may be it. */
    holes = holes || (state->flow->kind == FLOW_STREAM && other->fpdus != found->pending_behind);

    if (found->pending != NULL && !holes && rule->worst >= found->verdict) {
        struct rule_said *said = found->pending;
        struct rule_finding finding = {rule,           state->flow,  direction,     rule->worst,         said->frame,
                                       said->expected, said->actual, said->message, found->pending_count};

        if (engine->config.finding != NULL)
            engine->config.finding(&finding, engine->config.argument);
        if (rule->worst > found->verdict) {
            free(found->said);
            found->said = said;
            found->pending = NULL;
            found->findings = 0;
        }
        found->verdict = rule->worst;
        found->findings += found->pending_count;
    }
    free(found->pending);
    found->pending = NULL;
    found->pending_count = 0;
}

void rule_warn(struct rule_context *ctx, const char *expected, const char *actual, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(ctx, RULE_WARN, expected, actual, format, arguments);
    va_end(arguments);
}

void rule_ambiguous(struct rule_context *ctx, const char *expected, const char *actual, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(ctx, RULE_AMBIGUOUS, expected, actual, format, arguments);
    va_end(arguments);
}

const char *rule_text(struct rule_context *ctx, const char *format, ...)
{
    enum { TEXTS = sizeof(ctx->texts) / sizeof(ctx->texts[0]) };
    char *text = ctx->texts[ctx->text++ % TEXTS];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(ctx->texts[0]), format, arguments);
    va_end(arguments);
    return text;
}

const char *rule_octets(struct rule_context *ctx, const uint8_t *octets, size_t count)
{
    enum { SHOWN = 32 };
    char text[SHOWN * 3 + 4] = "";
    size_t at = 0;

    for (size_t i = 0; i < count && i < SHOWN; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%02x", i == 0 ? "" : " ", octets[i]);
    return rule_text(ctx, "%s%s", text, count > SHOWN ? " ..." : "");
}

void rule_judge_number(struct rule_context *ctx, uint64_t expected, uint64_t actual, const char *what,
                       const char *section)
{
    const char *format = expected > 0xFFFF || actual > 0xFFFF ? "0x%llx" : "%llu";
    char texts[2][32];

    if (expected == actual) {
        rule_pass(ctx);
        return;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(texts[0], sizeof(texts[0]), format, (unsigned long long)expected);
    (void)snprintf(texts[1], sizeof(texts[1]), format, (unsigned long long)actual);
#pragma GCC diagnostic pop
    rule_fail(ctx, texts[0], texts[1], "%s is %s and should be %s (%s)", what, texts[1], texts[0], section);
}

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

        if (engine->config.selected != NULL && !engine->config.selected(rule->id, engine->config.argument))
            continue;
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

/* The engine's state of a flow stands behind a pointer in the flow's scratch octets. */
static struct rule_flow *state_of(const struct flow *flow)
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
    free(state);
}

void rule_engine_flow_done(struct rule_engine *engine, const struct flow *flow)
{
    struct rule_flow *state = state_of(flow);

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
    unsigned flags = 0;

    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        const struct rule_side *side = &state->sides[i];
        bool lost = state->flow->half != NULL && state->flow->half[i].requests_lost;

        flags = flags << 8 | (unsigned)(side->unsure << 0 | side->requests_unsure << 1 | side->responses_unsure << 2 |
                                        side->misframed << 3 | side->terminated << 4 | side->start_bad << 5 |
                                        lost << 6 | state->flow->late << 7);
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

    if (dispatch->count != 0 && event->kind == FLOW_RDMAP && opcode == RDMAP_TERMINATE)
        track_terminate(event, &ctx.terminate);
    for (unsigned i = 0; i < dispatch->count; i++) {
        ctx.rule = dispatch->rules[i];
        ctx.rule->judge(&ctx);
    }
}

/* True when the event needs no rule: it is in order as a whole, and what such events pass is known. */
static bool go_quick(struct rule_engine *engine, struct rule_flow *state, const struct flow_event *event)
{
    struct quick_class *class;
    uint64_t *known;
    int index;

    if (engine->config.thorough || event->flow->kind != FLOW_CONNECTION)
        return false;
    index = quick_class_of(state, event);
    if (index < 0)
        return false;
    class = &state->quick[event->direction][index];
    known = &state->known[event->direction][index / 64];
    if ((*known >> index % 64 & 1) == 0) {
        *known |= UINT64_C(1) << index % 64;
        *class = (struct quick_class){.never = false};
        engine->learning = class;
        return false;
    }
    class->count += !class->never;
    return !class->never;
}

/*
 * A side whose FPDUs are not framed as agreed is judged by its first one alone: all else would follow from that. An FPDU
 * whose CRC could not be checked is not judged at all: nobody knows which of its octets are wrong.
 */
static bool side_is_judged(const struct rule_side *side, const struct flow_event *event)
{
    if (!side->judged || (event->kind == FLOW_DDP && event->ddp->result == WIRE_MORE))
        return false;
    if (event->ulpdu == NULL)
        return !side->misframed || event->kind == FLOW_END;
    return !event->ulpdu->unverified && (!side->misframed || (event->kind == FLOW_ULPDU && event->ulpdu->index == 0));
}

static void track_quick(struct rule_side *side, const struct flow_event *event)
{
    if (event->kind == FLOW_ULPDU)
        track_quick_ulpdu(side, event->ulpdu);
    else if (event->kind == FLOW_DDP)
        track_quick_segment(side, &event->ddp->segment);
}

void rule_engine_event(struct rule_engine *engine, const struct flow_event *event)
{
    struct rule_flow *state = state_of(event->flow);
    struct rule_side *side;
    unsigned flags;

    if (state == NULL && (state = state_make(engine, event->flow)) == NULL)
        return;
    side = &state->sides[event->direction];
    if (event->kind == FLOW_END) {
        for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
            if (side_is_judged(&state->sides[i], event))
                run_rules(engine, state, event, i);
            for (struct rule_found *found = state->found[i]; found != NULL; found = found->next)
                settle_pending(engine, state, i, found);
        }
        quick_settle(state);
        return;
    }
    if (event->kind == FLOW_ULPDU && event->ulpdu->index == 0)
        track_first_fpdu(side, event);
    if (side_is_judged(side, event)) {
        if (go_quick(engine, state, event)) {
            track_quick(side, event);
            return;
        }
        run_rules(engine, state, event, event->direction);
        engine->learning = NULL;
    }
    track_event(side, event);
    flags = flags_of(state);
    if (flags != state->flags) {
        quick_settle(state);
        memset(state->known, 0, sizeof(state->known));
        state->flags = flags;
    }
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
    const struct rule_tally *tally[FLOW_DIRECTIONS] = {&state->tally[0][rule->index], &state->tally[1][rule->index]};
    const struct rule_found *found[FLOW_DIRECTIONS] = {found_of(state, 0, rule->index),
                                                       found_of(state, 1, rule->index)};
    enum rule_verdict verdict[FLOW_DIRECTIONS];
    unsigned direction;

    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++)
        verdict[i] = found[i] != NULL ? found[i]->verdict : RULE_PASS;
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
    if (result->verdict == RULE_PASS)
        return true;
    result->findings = found[direction]->findings + (result->both ? found[!direction]->findings : 0);
    if (found[direction]->said != NULL) {
        result->frame = found[direction]->said->frame;
        result->expected = found[direction]->said->expected;
        result->actual = found[direction]->said->actual;
        result->message = found[direction]->said->message;
    }
    return true;
}

size_t rule_engine_flow_results(struct rule_engine *engine, const struct flow *flow, rule_result_function *function,
                                void *argument)
{
    struct rule_flow *state = state_of(flow);
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
