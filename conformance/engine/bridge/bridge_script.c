/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_script.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_script_internal.h"
#include "conformance/engine/sandbox/lua_file.h"

enum { CALL_WORK = 10000000 }; /* what one call may compute */

static int furnish(lua_State *lua)
{
    lua_pushcfunction(lua, bridge_declare);
    lua_setglobal(lua, "impair");
    lua_getglobal(lua, "math"); /* the same numbers for the same seed */
    lua_getfield(lua, -1, "randomseed");
    lua_pushinteger(lua, (lua_Integer)bridge_script_of(lua)->seed);
    lua_call(lua, 1, 0);
    return 0;
}

struct bridge_script *bridge_script_new(uint64_t seed, struct iwarp_sentence *error)
{
    struct bridge_script *script = calloc(1, sizeof(*script));

    if (script != NULL)
        script->all = calloc(BRIDGE_IMPAIRMENTS_MOST, sizeof(*script->all));
    if (script == NULL || script->all == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for impairments");
        bridge_script_free(script);
        return NULL;
    }
    script->seed = seed;
    script->account.memory_max = LUA_SANDBOX_MEMORY_MAX;
    if (lua_sandbox_open(&script->sandbox, &script->account, CALL_WORK, script, error) == 0 &&
        lua_sandbox_do(&script->sandbox, furnish, NULL, NULL, error) == 0)
        return script;
    bridge_script_free(script);
    return NULL;
}

void bridge_script_free(struct bridge_script *script)
{
    if (script == NULL)
        return;
    lua_sandbox_close(&script->sandbox);
    for (size_t i = 0; i < script->count; i++) {
        free(script->all[i].name);
        free(script->all[i].purpose);
    }
    free(script->all);
    free(script);
}

size_t bridge_script_count(const struct bridge_script *script)
{
    return script->count;
}

uint64_t bridge_script_streams(const struct bridge_script *script)
{
    uint64_t last = 0;

    for (size_t i = 0; i < script->count; i++)
        if (script->all[i].trigger.stream > last)
            last = script->all[i].trigger.stream;
    return last;
}

struct bridge_impairment *bridge_script_at(const struct bridge_script *script, size_t index)
{
    return &script->all[index];
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool no_library(const char *path)
{
    (void)path;
    return false;
}

static int on_error(lua_State *lua)
{
    return lua_sandbox_place(lua, luaL_tolstring(lua, 1, NULL), no_library, bridge_script_of(lua)->path);
}

static int run_file(lua_State *lua)
{
    const struct bridge_script *script = bridge_script_of(lua);

    lua_sandbox_load(lua, script->path, script->octets, script->octet_count, false);
    lua_sandbox_globals(lua, true);
    lua_call(lua, 0, 0);
    return 0;
}

int bridge_script_read(struct bridge_script *script, const char *path, const void *octets, size_t count,
                       struct iwarp_sentence *error)
{
    size_t before = script->count;
    int rc;

    script->path = path;
    script->octets = octets;
    script->octet_count = count;
    rc = lua_sandbox_do(&script->sandbox, run_file, NULL, on_error, error);
    script->path = NULL;
    if (rc == 0 && script->count == before)
        rc = iwarp_sentence_set(
            error, "%.300s: no impairment is declared: impair { name = ..., when = ..., act = ... }", path);
    return rc;
}

int bridge_script_load(struct bridge_script *script, const char *path, struct iwarp_sentence *error)
{
    size_t count;
    char *octets = lua_file_read(path, &count, error);
    int rc = octets == NULL ? -1 : bridge_script_read(script, path, octets, count, error);

    free(octets);
    return rc;
}

void bridge_script_spread(struct bridge_script *script, enum bridge_llp llp)
{
    size_t kept = 0;

    for (size_t i = 0; i < script->count; i++) {
        struct bridge_impairment *impairment = &script->all[i];

        if (impairment->trigger.llp != BRIDGE_ANY_LLP && impairment->trigger.llp != llp) {
            free(impairment->name);
            free(impairment->purpose);
            continue;
        }
        script->all[kept] = *impairment;
        if (script->all[kept++].trigger.stream == 0)
            script->all[kept - 1].trigger.stream = kept;
    }
    script->count = kept;
}

/* ---- triggers ---------------------------------------------------------------------------------------------------- */

/* What of a trigger's table is no field of events. */
static bool is_counted(const char *key)
{
    static const char *const keys[] = {"kind", "side", "stream", "nth", "times"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* The table at 1, the event at 2. */
static bool fields_match(lua_State *lua)
{
    lua_pushnil(lua);
    while (lua_next(lua, 1) != 0) {
        if (!is_counted(lua_tostring(lua, -2))) {
            lua_getfield(lua, 2, lua_tostring(lua, -2));
            if (!lua_compare(lua, -1, -2, LUA_OPEQ))
                return false;
            lua_pop(lua, 1);
        }
        lua_pop(lua, 1);
    }
    return true;
}

static int ask(lua_State *lua)
{
    struct bridge_script *script = bridge_script_of(lua);
    struct bridge_impairment *impairment = script->call->impairment;

    lua_settop(lua, 0);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, impairment->when);
    lua_event_push_now(lua, &script->now);
    if (lua_isfunction(lua, 1)) {
        lua_pushvalue(lua, 1);
        lua_pushvalue(lua, 2);
        lua_call(lua, 1, 1);
        if (!lua_toboolean(lua, -1))
            return 0;
    } else if (!fields_match(lua)) {
        return 0;
    }
    if (!bridge_trigger_count(&impairment->trigger))
        return 0;
    script->due = true;
    lua_settop(lua, 2);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, impairment->act);
    bridge_unit_push(lua);
    lua_pushvalue(lua, 2);
    lua_call(lua, 2, 0);
    return 0;
}

int bridge_script_ask(struct bridge_script *script, size_t index, struct bridge_call *call,
                      const struct flow_event *event, struct iwarp_sentence *error)
{
    struct bridge_impairment *impairment = &script->all[index];
    int rc;

    if (impairment->broken || bridge_trigger_is_over(&impairment->trigger) ||
        !bridge_trigger_fits(&impairment->trigger, event->kind, call->association != NULL ? BRIDGE_SCTP : BRIDGE_TCP,
                             call->side, call->stream))
        return 0;
    script->call = call;
    call->impairment = impairment;
    script->due = false;
    script->now.event = event;
    script->now.number++;
    rc = lua_sandbox_do(&script->sandbox, ask, NULL, on_error, error);
    script->now.event = NULL;
    script->call = NULL;
    if (rc == 0)
        return script->due;
    impairment->broken = true;
    return -1;
}
