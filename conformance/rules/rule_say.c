/* SPDX-License-Identifier: BSD-2-Clause */
/* What rules say: passes, findings with their texts, and findings that wait for the flow's end. */
#include "conformance/rules/rule_engine.h"
#include "conformance/rules/rule_field.h"
#include "base/out_of_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL without memory: the pass is not counted then. */
static struct rule_tally *tally_make(struct rule_tallies *tallies, size_t rule)
{
    enum { MORE_ROOM = 8 }; /* flows of a kind exercise the same few rules: what is reserved stays empty */

    if (tallies->count == tallies->room) {
        unsigned room = tallies->room + MORE_ROOM < RULE_COUNT ? tallies->room + MORE_ROOM : RULE_COUNT;
        struct rule_tally *grown = realloc(tallies->list, room * sizeof(*grown));

        if (grown == NULL) {
            out_of_memory_note();
            return NULL;
        }
        tallies->list = grown;
        tallies->room = (uint16_t)room;
    }
    tallies->list[tallies->count] = (struct rule_tally){0};
    tallies->place[rule] = ++tallies->count;
    return &tallies->list[tallies->count - 1];
}

void rule_pass(struct rule_context *ctx)
{
    struct rule_tally *tally = rule_tally_of(ctx->state, ctx->direction, ctx->rule->index);

    if (tally == NULL && (tally = tally_make(&ctx->state->tallies[ctx->direction], ctx->rule->index)) == NULL)
        return;
    if (tally->passes++ == 0)
        tally->pass_frame = ctx->event->frame;
    if (ctx->engine->learning != NULL)
        ctx->engine->learning->passed[ctx->rule->index / 64] |= UINT64_C(1) << ctx->rule->index % 64;
}

void rule_because(struct rule_context *ctx, enum hint_kind kind)
{
    ctx->cause = kind == HINT_NONE ? NULL : hint_name(kind);
    ctx->hint = kind == HINT_NONE ? NULL : hint_gist(kind);
}

/* rule_found_of(), made if need be; NULL without memory. */
static struct rule_found *found_make(struct rule_flow *state, unsigned direction, size_t rule)
{
    struct rule_found *found = rule_found_of(state, direction, rule);

    if (found != NULL || (found = calloc(1, sizeof(*found))) == NULL)
        return found;
    found->rule = rule;
    found->next = state->found[direction];
    state->found[direction] = found;
    return found;
}

/* A copy of the texts in one piece; NULL without memory. */
static struct rule_said *said_make(const struct rule_context *ctx, const char *expected, const char *actual,
                                   const char *message)
{
    size_t first = strlen(expected) + 1, second = strlen(actual) + 1, third = strlen(message) + 1;
    struct rule_said *said = malloc(sizeof(*said) + first + second + third);

    if (said == NULL)
        return NULL;
    said->frame = ctx->event->frame;
    said->cause = ctx->cause;
    said->hint = ctx->hint;
    said->expected = memcpy(said->texts, expected, first);
    said->actual = memcpy(said->texts + first, actual, second);
    said->message = memcpy(said->texts + first + second, message, third);
    return said;
}

/*
 * The segment, or the first one of its sender, has another version: what else is found in it may well follow from that.
 */
static bool version_is_odd(const struct rule_context *ctx)
{
    const struct flow_event *event = ctx->event;

    if (ctx->flow->revision == MPA_REV_RDMAC)
        return false;
    if ((event->kind == FLOW_DDP || event->kind == FLOW_RDMAP) && event->ddp->segment.version != DDP_VERSION)
        return true;
    if (event->kind == FLOW_RDMAP && event->rdmap->message.version != RDMAP_VERSION)
        return true;
    return ctx->side->version_known && ctx->side->version != DDP_VERSION;
}

/* What the rule has not said of it: the version, or the field that it judges. */
static void find_cause(struct rule_context *ctx)
{
    struct hint_field field;

    if (ctx->cause == NULL && version_is_odd(ctx))
        rule_because(ctx, HINT_VERSION);
    if (ctx->cause == NULL && rule_field_cause(ctx->rule->id, ctx->event, &field)) {
        ctx->cause = field.name;
        ctx->hint = field.text;
    }
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
    find_cause(ctx);
    found->findings = verdict > found->verdict ? 1 : found->findings + 1;
    if (verdict > found->verdict)
        found->order = ctx->state->events;
    if (verdict == found->verdict && ctx->engine->config.finding == NULL)
        return;
    (void)vsnprintf(message, sizeof(message), format, arguments);
    if (verdict > found->verdict) {
        free(found->said);
        found->said = said_make(ctx, expected, actual, message);
        found->verdict = verdict;
    }
    if (ctx->engine->config.finding != NULL) {
        struct rule_finding finding = {ctx->rule, ctx->flow, ctx->direction, verdict,    ctx->event->frame,
                                       expected,  actual,    message,        ctx->cause, ctx->hint,
                                       1};

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
    found->pending_order = ctx->state->events;
    find_cause(ctx);
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    found->pending = said_make(ctx, expected, actual, message);
}

void rule_found_settle(struct rule_engine *engine, struct rule_flow *state, unsigned direction,
                       struct rule_found *found)
{
    const struct rule *rule = rule_at(found->rule);

    const struct flow_half *other = state->flow->half != NULL ? &state->flow->half[1 - direction] : NULL;
    bool holes = state->sides[1 - direction].holes || other == NULL || other->unfinished != 0 || other->tail_unknown;

    /* Over SCTP nothing says what the sender had received: it may be what the other side sent later in the capture. */
    holes = holes || (state->flow->kind == FLOW_STREAM && other->fpdus != found->pending_behind);

    if (found->pending != NULL && !holes && rule->worst >= found->verdict) {
        struct rule_said *said = found->pending;
        struct rule_finding finding = {rule,        state->flow,    direction,           rule->worst,
                                       said->frame, said->expected, said->actual,        said->message,
                                       said->cause, said->hint,     found->pending_count};

        if (engine->config.finding != NULL)
            engine->config.finding(&finding, engine->config.argument);
        if (rule->worst > found->verdict) {
            free(found->said);
            found->said = said;
            found->pending = NULL;
            found->findings = 0;
            found->order = found->pending_order;
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
    struct hint hint;
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
    if (hint_number(expected, actual, 4, &hint) || hint_number(expected, actual, 8, &hint))
        rule_because(ctx, hint.kind);
    rule_fail(ctx, texts[0], texts[1], "%s is %s and should be %s (%s)", what, texts[1], texts[0], section);
}
