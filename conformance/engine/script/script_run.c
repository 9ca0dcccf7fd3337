/* SPDX-License-Identifier: BSD-2-Clause */
/* One check on a rig. Everything that asks the Lua state for something happens within lua_sandbox_do(). */
#define _GNU_SOURCE /* asprintf */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/script/script_internal.h"
#include "conformance/engine/rig/upper_tester.h"

/* Of a text that a script gives, so much is kept; CUT_OCTETS: room for what stands after a text that is cut. */
enum { TEXT_OCTETS_MAX = 256 * 1024, CUT_OCTETS = 64 };

/* One call of a function of the library's `harness`, and what it raised or returned. */
struct stage {
    const struct check *check;
    const char *function;
    const char *role; /* for "test", which makes the test object; the others get it, and the check */
    bool raised;      /* an error, or a verdict */
    bool plain;       /* an error that is no verdict: the script's fault, or the tester's */
    bool decided;     /* something was raised, or a verdict returned: */
    struct outcome outcome;
};

/*
 * A text of a script, as results.jsonl can hold it: in a line that readers accept, and whole although an octet of it is
 * zero, because a known deviation is recognised by all of it. NULL without memory.
 */
static char *text_copy(const char *text, size_t octets)
{
    static const char null_sign[] = "\xE2\x90\x80"; /* U+2400 */
    size_t most = octets < TEXT_OCTETS_MAX ? octets : TEXT_OCTETS_MAX;
    char *copy = malloc((sizeof(null_sign) - 1) * most + CUT_OCTETS);
    size_t at = 0;

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < most; i++) {
        if (text[i] != '\0') {
            copy[at++] = text[i];
        } else {
            memcpy(copy + at, null_sign, sizeof(null_sign) - 1);
            at += sizeof(null_sign) - 1;
        }
    }
    copy[at] = '\0';
    if (most < octets)
        (void)snprintf(copy + at, CUT_OCTETS, " ... (%zu octets)", octets);
    return copy;
}

#define SCRIPT_ERROR RESULT_SCRIPT_ERROR

bool script_error_matches(const char *message)
{
    return result_is_script_error(&(struct result){.message = message});
}

static void inconclusive(struct script_host *host, struct outcome *outcome, const char *what, const char *why)
{
    char *copy = text_copy(why, strlen(why));
    char *text;

    if (copy == NULL || asprintf(&text, "%s: %s", what, copy) < 0)
        text = NULL;
    free(copy);
    script_forget_texts(host);
    outcome->verdict = VERDICT_INCONCLUSIVE;
    outcome->expected = outcome->actual = outcome->reading = outcome->cause = outcome->hint = NULL;
    outcome->message = host->texts[OUTCOME_MESSAGE] = text;
}

/* Keeps a member of the verdict table on top of the stack until the next run. */
static const char *keep(lua_State *lua, struct script_host *host, size_t slot, const char *name)
{
    const char *text;
    size_t octets;

    lua_pushstring(lua, name);
    if (lua_rawget(lua, -2) != LUA_TNIL) {
        text = luaL_tolstring(lua, -1, &octets);
        host->texts[slot] = text_copy(text, octets);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    return host->texts[slot];
}

/* A table { verdict, expected, actual, message, reading, cause, hint } on top of the stack, or a plain error. */
static void read_decision(lua_State *lua, struct script_host *host, struct stage *stage)
{
    struct outcome *outcome = &stage->outcome;
    const char *verdict = NULL;

    script_forget_texts(host);
    outcome->line = host->line;
    if (!stage->raised)
        script_note_last_seen(host);
    outcome->looked_at = host->looked_at;
    stage->decided = true;
    if (lua_istable(lua, -1)) {
        lua_pushliteral(lua, "verdict");
        verdict = lua_rawget(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL; /* the table keeps it */
        lua_pop(lua, 1);
    }
    if (verdict == NULL || verdict_from_name(verdict, &outcome->verdict) != 0) {
        stage->plain = true;
        inconclusive(host, outcome, SCRIPT_ERROR, luaL_tolstring(lua, -1, NULL));
        return;
    }
    lua_pushliteral(lua, "not_served");
    outcome->not_served = lua_rawget(lua, -2) == LUA_TBOOLEAN && lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    outcome->expected = keep(lua, host, OUTCOME_EXPECTED, "expected");
    outcome->actual = keep(lua, host, OUTCOME_ACTUAL, "actual");
    outcome->message = keep(lua, host, OUTCOME_MESSAGE, "message");
    outcome->reading = keep(lua, host, OUTCOME_READING, "reading");
    outcome->cause = keep(lua, host, OUTCOME_CAUSE, "cause");
    outcome->hint = keep(lua, host, OUTCOME_HINT, "hint");
}

/*
 * An error that is no verdict is on top of the stack: the library may know that the device is to blame, which sent less
 * than the script read. Then its verdict takes the error's place; or the library knows what the script probably meant.
 * The line stays that of the error.
 */
static void judge_error(lua_State *lua, const struct script_room *room)
{
    lua_rawgeti(lua, LUA_REGISTRYINDEX, room->harness);
    lua_pushliteral(lua, "stopped");
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, room->test);
    lua_pushvalue(lua, -3);
    if (lua_pcall(lua, 2, 1, 0) != LUA_OK && lua_istable(lua, -1)) {
        lua_replace(lua, -2);
        script_note_last_seen(room->host);
    } else if (lua_type(lua, -1) == LUA_TSTRING && lua_type(lua, -2) == LUA_TSTRING &&
               strstr(lua_tostring(lua, -1), lua_tostring(lua, -2)) == lua_tostring(lua, -1)) {
        lua_replace(lua, -2); /* the same error, and what was probably meant */
    } else {
        lua_pop(lua, 1);
    }
}

static int call_stage(lua_State *lua)
{
    struct stage *stage = lua_touserdata(lua, 1);
    struct script_room *room = script_room_of(lua);
    lua_settop(lua, 0);
    lua_pushcfunction(lua, script_on_error);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, room->harness);
    lua_pushstring(lua, stage->function);
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
    if (stage->role != NULL) {
        lua_pushstring(lua, stage->role);
        lua_pushstring(lua, stage->check->id);
    } else {
        lua_rawgeti(lua, LUA_REGISTRYINDEX, room->test);
        lua_rawgeti(lua, LUA_REGISTRYINDEX, stage->check->table);
    }
    stage->raised = lua_pcall(lua, 2, 1, 1) != LUA_OK;
    if (stage->raised && stage->role == NULL && lua_type(lua, -1) == LUA_TSTRING)
        judge_error(lua, room);
    if (stage->role != NULL && !stage->raised)
        lua_rawseti(lua, LUA_REGISTRYINDEX, room->test);
    else if (stage->raised || lua_istable(lua, -1))
        read_decision(lua, room->host, stage);
    return 0;
}

/* True when the function returned, and nothing (or a verdict by return) came of it. */
static bool run_stage(struct script_host *host, struct stage *stage)
{
    struct iwarp_sentence why = {{0}};
    bool broken = lua_sandbox_do(&stage->check->room->sandbox, call_stage, stage, NULL, &why) != 0;

    if (host->account.short_of_it) /* also when a script has caught the error: what it decided, it decided without */
        (void)iwarp_sentence_set(&why, "%s", lua_sandbox_shortage(&host->account));
    if (broken || host->account.short_of_it) {
        stage->raised = stage->decided = stage->plain = true;
        stage->outcome.line = host->line;
        stage->outcome.looked_at = host->looked_at;
        inconclusive(host, &stage->outcome, SCRIPT_ERROR, why.text);
    }
    return !stage->raised;
}

/* What the good exchange raised becomes the check's outcome: it says nothing of the requirement. */
static void blame(struct script_host *host, const struct stage *stage, struct outcome *outcome, const char *what)
{
    char *why = host->texts[OUTCOME_MESSAGE];
    char *cause = host->texts[OUTCOME_CAUSE], *hint = host->texts[OUTCOME_HINT];

    *outcome = stage->outcome;
    if (outcome->verdict == VERDICT_SKIP || outcome->not_served || stage->plain)
        return;
    host->texts[OUTCOME_MESSAGE] = host->texts[OUTCOME_CAUSE] = host->texts[OUTCOME_HINT] = NULL;
    inconclusive(host, outcome, what, why != NULL ? why : "no reason given");
    outcome->cause = host->texts[OUTCOME_CAUSE] = cause;
    outcome->hint = host->texts[OUTCOME_HINT] = hint;
    free(why);
}

/* Runs a stage and ignores its outcome: the verdict stays. The next check needs what the stage does. */
static void run_unjudged(struct script_host *host, struct stage *stage)
{
    char *texts[OUTCOME_TEXTS];

    memcpy(texts, host->texts, sizeof(texts));
    memset(host->texts, 0, sizeof(host->texts));
    (void)run_stage(host, stage);
    script_forget_texts(host);
    memcpy(host->texts, texts, sizeof(texts));
}

/* One command, to see whether it is answered. */
static void try_upper_tester(struct rig *rig, struct iwarp_sentence *why)
{
    json_t *request = json_pack("{s:s}", "verb", "capabilities");

    if (request != NULL)
        json_decref(upper_tester_call(rig, request, why));
    json_decref(request);
}

/*
 * If the upper tester died, the device's streams and listeners ended with it; if it did not answer, the check lacks
 * what it asked for. What was seen is then not the device's fault, and the check is INCONCLUSIVE. If both are one
 * program (the embedded device), a FAIL stands. A dying program may still have made the good exchange after the
 * stimulus: so the upper tester is tried after a PASS too.
 */
static void judge_upper_tester(struct script_host *host, struct rig *rig, unsigned losses, struct outcome *outcome)
{
    bool blamed = outcome->verdict == VERDICT_FAIL || outcome->verdict == VERDICT_WARN;
    struct iwarp_sentence why = {{0}};

    if (outcome->verdict == VERDICT_SKIP || (blamed && !rig->tester_apart))
        return;
    if (rig->tester_apart && outcome->verdict != VERDICT_INCONCLUSIVE)
        try_upper_tester(rig, &why);
    if (rig->losses == losses)
        return;
    if (why.text[0] == '\0')
        (void)iwarp_sentence_set(&why, "%s", outcome->message != NULL ? outcome->message : "no answer");
    inconclusive(host, outcome, "the upper tester was lost during the check", why.text);
}

/* A check that returns without a question to the device has decided nothing: no assertion, no verdict. */
static void refuse_empty(struct script_host *host, const struct check *check, struct outcome *outcome)
{
    struct iwarp_sentence why;

    (void)iwarp_sentence_set(
        &why,
        "%.300s:%d: the check ends without having asked the device or its upper tester for anything, so "
        "that it decides nothing",
        check->path, check->line);
    outcome->line = check->line;
    inconclusive(host, outcome, SCRIPT_ERROR, why.text);
}

/* The good exchange before, the check, the good exchange after (docs/writing-checks.md, "The sandwich"). */
static void run_sandwich(struct script_host *host, const struct check *check, struct outcome *outcome)
{
    struct stage before = {.check = check, .function = "before"};
    struct stage run = {.check = check, .function = "run"};
    struct stage after = {.check = check, .function = "after"};
    unsigned losses = host->rig.rig->losses;

    if (!run_stage(host, &before)) {
        blame(host, &before, outcome, "the good exchange before the stimulus failed");
        outcome->unready = outcome->verdict == VERDICT_INCONCLUSIVE && !outcome->not_served && !before.plain;
        return;
    }
    host->rig.rig->stimulating = true;
    host->rig.used = false;
    (void)run_stage(host, &run);
    host->rig.rig->stimulating = false;
    if (run.decided)
        *outcome = run.outcome;
    else if (!host->rig.used)
        refuse_empty(host, check, outcome);
    lua_rig_clear(&host->rig);
    if (outcome->verdict == VERDICT_FAIL || outcome->verdict == VERDICT_SKIP || host->rig.link_failed ||
        host->rig.rig->losses != losses)
        return;
    if (outcome->verdict != VERDICT_PASS) {
        run_unjudged(host, &after);
        return;
    }
    if (run_stage(host, &after))
        return;
    /* A device that loses a connection now and then has not lost it because of this check. */
    if (!after.plain && after.outcome.verdict == VERDICT_INCONCLUSIVE && !host->rig.link_failed &&
        host->rig.rig->losses == losses) {
        after = (struct stage){.check = check, .function = "after"};
        lua_rig_clear(&host->rig);
        if (run_stage(host, &after)) {
            script_forget_texts(host);
            return;
        }
    }
    blame(host, &after, outcome, "the device did not recover: the good exchange after the stimulus failed");
    if (!after.plain)
        outcome->verdict = after.outcome.verdict == VERDICT_SKIP ? VERDICT_PASS : VERDICT_FAIL;
    outcome->broken = outcome->verdict == VERDICT_FAIL;
}

/*
 * A row that gives freedom cannot be broken: what failed is the exchange that was to show it, and other rows judge
 * that.
 */
static void excuse_exchange(struct script_host *host, const struct check *check, struct outcome *outcome)
{
    struct iwarp_sentence why;

    if (!check->frees || outcome->verdict != VERDICT_FAIL || outcome->broken)
        return;
    (void)iwarp_sentence_set(
        &why, "%.200s: %.120s was expected, not %.150s", outcome->message != NULL ? outcome->message : "",
        outcome->expected != NULL ? outcome->expected : "", outcome->actual != NULL ? outcome->actual : "");
    inconclusive(host, outcome,
                 "the exchange that shows what the text leaves free has a fault, which other requirements judge",
                 why.text);
}

void script_run(struct script_host *host, const struct check *check, const char *role, struct rig *rig,
                struct recorder *recorder, struct outcome *outcome)
{
    struct stage test = {.check = check, .function = "test", .role = role};
    unsigned losses = rig->losses;

    memset(outcome, 0, sizeof(*outcome));
    script_forget_texts(host);
    lua_rig_begin(&host->rig, rig, recorder);
    host->line = check->line;
    host->looked_at = (struct last_seen){0};
    if (run_stage(host, &test)) {
        run_sandwich(host, check, outcome);
        judge_upper_tester(host, rig, losses, outcome);
        excuse_exchange(host, check, outcome);
    } else {
        *outcome = test.outcome;
    }
    lua_rig_clear(&host->rig);
    if (outcome->line == 0)
        outcome->line = check->line;
    outcome->link_failed = host->rig.link_failed;
    if (outcome->link_failed && outcome->verdict != VERDICT_FAIL)
        outcome->verdict = VERDICT_INCONCLUSIVE;
    lua_rig_begin(&host->rig, NULL, NULL);
}
