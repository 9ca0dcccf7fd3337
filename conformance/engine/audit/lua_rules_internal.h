/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lua_rules.c: files, catalogue, life; lua_rule_declare.c: a rule as its file declares it; lua_rules_judge.c: events
 * and results.
 */
#ifndef CONFORMANCE_ENGINE_LUA_RULES_INTERNAL_H
#define CONFORMANCE_ENGINE_LUA_RULES_INTERNAL_H

#include "conformance/engine/event/lua_event.h"
#include "conformance/engine/audit/lua_rules.h"
#include "conformance/engine/evidence/step_place.h"
#include "conformance/engine/sandbox/lua_sandbox.h"
#include "base/hash.h"

enum { LUA_RULES_MAX = 1000 };

struct lua_rule {
    char *id, *text, *section, *source, *place; /* place: "FILE:line" */
    enum requirement_level level;
    enum requirement_layer layer;
    unsigned kinds; /* 1 << enum flow_event_kind, of the events that it wants */
    int judge;      /* reference to the function */
    bool left_out;
};

/* What a rule found in one direction of a flow. */
struct lua_tally {
    uint64_t passes, findings, frame;
    unsigned step;                     /* of the frame (step_place.h) */
    char *expected, *actual, *message; /* of the first finding */
};

struct lua_flow {
    const struct flow *flow;
    int table; /* reference to what rules keep of the flow */
    struct lua_tally (*tallies)[FLOW_DIRECTIONS];
    char **broken; /* by rule: what its script's error was; it is not called for this flow any more */
    UT_hash_handle hh;
};

struct lua_rules {
    struct lua_sandbox sandbox;
    struct lua_account account;
    struct lua_rule *rules;
    size_t count;
    unsigned kinds; /* that some rule wants */
    struct lua_flow *flows;
    /* of the call that is being made */
    const char *path;
    const void *octets;
    size_t octet_count;
    struct lua_event_now now;
    struct step_place place;
    unsigned step;
    struct lua_flow *state;
    struct lua_rule *rule;
};

/* Whose state it is. */
static inline struct lua_rules *lua_rules_of(lua_State *lua)
{
    return lua_sandbox_of(lua)->owner;
}

/* rule { id = ..., text = ..., on = ..., judge = function(event, state) ... end } */
int lua_rule_declare(lua_State *lua);

/* An error's handler: "FILE:line: what", with the line of the file that led to it. */
int lua_rules_on_error(lua_State *lua);

/* Frees what is kept of a flow, which is in no table any more. */
void lua_flow_free(const struct lua_rules *rules, struct lua_flow *state);

#endif
