/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/lua_rules_internal.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/event/lua_event.h"
#include "base/nearest.h"
#include "base/out_of_memory.h"

/*
 * ---- what is kept of a flow
 * --------------------------------------------------------------------------------------------
 */

static void tally_free(struct lua_tally *tally)
{
    free(tally->expected);
    free(tally->actual);
    free(tally->message);
}

void lua_flow_free(const struct lua_rules *rules, struct lua_flow *state)
{
    for (size_t i = 0; state->tallies != NULL && i < rules->count; i++)
        for (unsigned side = 0; side < FLOW_DIRECTIONS; side++)
            tally_free(&state->tallies[i][side]);
    for (size_t i = 0; state->broken != NULL && i < rules->count; i++)
        free(state->broken[i]);
    free(state->broken);
    free(state->tallies);
    free(state);
}

static int make_table(lua_State *lua)
{
    struct lua_rules *rules = lua_rules_of(lua);

    lua_newtable(lua);
    rules->state->table = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

static int drop_table(lua_State *lua)
{
    luaL_unref(lua, LUA_REGISTRYINDEX, lua_rules_of(lua)->state->table);
    return 0;
}

/* The flow's state; NULL without memory. */
static struct lua_flow *state_of(struct lua_rules *rules, const struct flow *flow)
{
    struct lua_flow *state = NULL;
    struct iwarp_sentence ignored;

    HASH_FIND_PTR(rules->flows, &flow, state);
    if (state != NULL)
        return state;
    state = calloc(1, sizeof(*state));
    if (state == NULL)
        return NULL;
    state->tallies = calloc(rules->count, sizeof(*state->tallies));
    state->broken = calloc(rules->count, sizeof(*state->broken));
    if (state->tallies == NULL || state->broken == NULL) {
        lua_flow_free(rules, state);
        return NULL;
    }
    state->flow = flow;
    HASH_ADD_PTR(rules->flows, flow, state);
    rules->state = state;
    if (!hash_lost(state) && lua_sandbox_do(&rules->sandbox, make_table, NULL, NULL, &ignored) == 0)
        return state;
    if (!hash_lost(state))
        HASH_DEL(rules->flows, state);
    lua_flow_free(rules, state);
    return NULL;
}

/* A text of the table on top of the stack: what a rule found. */
static void read_text(lua_State *lua, const char *member, char **text)
{
    if (lua_getfield(lua, -1, member) != LUA_TNIL && *text == NULL) {
        *text = strdup(luaL_tolstring(lua, -1, NULL));
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

static const char *const finding_members[] = {"expected", "actual", "message"};

static void finding_check(lua_State *lua, const char *place)
{
    char hint[NEAREST_HINT_OCTETS];

    lua_pushnil(lua);
    while (lua_next(lua, -2) != 0) {
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";

        if (strcmp(name, "expected") != 0 && strcmp(name, "actual") != 0 && strcmp(name, "message") != 0)
            luaL_error(lua, "%s: what judge() returns has no member \"%s\"%s", place, name,
                       nearest_hint(nearest_of(name, finding_members, 3), hint));
        lua_pop(lua, 1);
    }
}

/* judge(event, state): nil, it was not concerned; true, it is kept; false or a table, it is broken. */
static int call_judge(lua_State *lua)
{
    struct lua_rules *rules = lua_rules_of(lua);
    const struct lua_rule *rule = rules->rule;
    const struct flow_event *event = rules->now.event;
    struct lua_tally *tally = &rules->state->tallies[rule - rules->rules][event->direction];

    lua_settop(lua, 0);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, rule->judge);
    lua_event_push_now(lua, &rules->now);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, rules->state->table);
    lua_call(lua, 2, 1);
    if (lua_isnil(lua, -1))
        return 0;
    if (lua_istable(lua, -1))
        finding_check(lua, rule->place);
    else if (!lua_isboolean(lua, -1))
        return luaL_error(lua, "%s: judge() returns nil, true, false or a table, not %s", rule->place,
                          luaL_typename(lua, -1));
    if (lua_isboolean(lua, -1) && lua_toboolean(lua, -1)) {
        if (tally->passes++ == 0 && tally->findings == 0)
            tally->frame = event->frame;
        return 0;
    }
    if (tally->findings++ == 0) {
        tally->frame = event->frame;
        tally->step = rules->step;
    }
    if (lua_istable(lua, -1)) {
        read_text(lua, "expected", &tally->expected);
        read_text(lua, "actual", &tally->actual);
        read_text(lua, "message", &tally->message);
    }
    return 0;
}

static void judge(struct lua_rules *rules, struct lua_rule *rule, const struct flow_event *event)
{
    struct iwarp_sentence error;

    rules->rule = rule;
    rules->now.event = event;
    rules->now.number++;
    rules->account.short_of_it = false;
    if (lua_sandbox_do(&rules->sandbox, call_judge, NULL, lua_rules_on_error, &error) != 0 &&
        (rules->state->broken[rule - rules->rules] = strdup(error.text)) == NULL)
        out_of_memory_note();
    rules->now.event = NULL;
}

static void judge_event(struct lua_rules *rules, const struct flow_event *event)
{
    rules->step = step_place_next(&rules->place, event);
    if ((rules->kinds >> event->kind & 1) == 0)
        return;
    rules->state = state_of(rules, event->flow);
    if (rules->state == NULL) {
        out_of_memory_note();
        return;
    }
    for (size_t i = 0; i < rules->count; i++) {
        struct lua_rule *rule = &rules->rules[i];

        if ((rule->kinds >> event->kind & 1) != 0 && !rule->left_out && rules->state->broken[i] == NULL)
            judge(rules, rule, event);
    }
}

void lua_rules_event(struct lua_rules *rules, const struct flow_event *event)
{
    for (; event != NULL; event = event->next)
        judge_event(rules, event);
}

/*
 * ---- results
 * ------------------------------------------------------------------------------------------------------------
 */

static void report_result(const struct lua_rules *rules, size_t index, enum flow_direction direction,
                          void (*report)(void *user, const struct lua_found *found), void *user)
{
    const struct lua_rule *rule = &rules->rules[index];
    const struct lua_tally *tally = &rules->state->tallies[index][direction];
    char flow[FLOW_NAME_MAX];
    bool should = rule->level == REQUIREMENT_SHOULD || rule->level == REQUIREMENT_SHOULD_NOT;
    struct lua_found found = {.flow = rules->state->flow, .direction = direction, .step = tally->step};
    struct result *result = &found.result;

    *result = (struct result){
        .id = rule->id,
        .verdict = tally->findings == 0 ? VERDICT_PASS
                   : should             ? VERDICT_WARN
                                        : VERDICT_FAIL,
        .by = "rule",
        .script = rule->place,
        .role = flow_role(rules->state->flow, direction),
        .frame = tally->frame,
        .flow = flow_name(rules->state->flow, direction, flow, sizeof(flow)),
        .count = tally->findings != 0 ? tally->findings : tally->passes,
        .expected = tally->expected,
        .actual = tally->actual,
        .message = tally->message,
    };

    if (rules->state->broken[index] != NULL) {
        result->verdict = VERDICT_INCONCLUSIVE;
        result->count = 1;
        result->expected = result->actual = NULL;
        result->message = rules->state->broken[index];
    }
    report(user, &found);
}

void lua_rules_flow_end(struct lua_rules *rules, const struct flow *flow,
                        void (*report)(void *user, const struct lua_found *found), void *user)
{
    struct lua_flow *state = NULL;
    struct iwarp_sentence ignored;

    HASH_FIND_PTR(rules->flows, &flow, state);
    if (state == NULL)
        return;
    rules->state = state;
    for (size_t i = 0; i < rules->count; i++)
        for (unsigned side = 0; side < FLOW_DIRECTIONS; side++) {
            const struct lua_tally *tally = &state->tallies[i][side];

            if (tally->passes + tally->findings != 0 || (state->broken[i] != NULL && side == 0))
                report_result(rules, i, (enum flow_direction)side, report, user);
        }
    (void)lua_sandbox_do(&rules->sandbox, drop_table, NULL, NULL, &ignored);
    HASH_DEL(rules->flows, state);
    lua_flow_free(rules, state);
}
