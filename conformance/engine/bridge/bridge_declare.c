/* SPDX-License-Identifier: BSD-2-Clause */
/* impair { ... }: an impairment as its file declares it. */
#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_script_internal.h"
#include "conformance/engine/sandbox/lua_members.h"

enum { NAME_MOST = 60, PURPOSE_MOST = 400 };

static const char *const members[] = {"name", "purpose", "over", "when", "act", "expect"};

enum { MEMBERS = sizeof(members) / sizeof(members[0]) };

static void check_name(lua_State *lua, const struct bridge_script *script, const char *name)
{
    for (const char *p = name; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '-')
            luaL_error(lua, "name \"%s\": letters, digits, '.' and '-' were expected", name);
    for (size_t i = 0; i + 1 < script->count; i++)
        if (strcmp(script->all[i].name, name) == 0)
            luaL_error(lua, "name \"%s\" is that of another impairment", name);
}

/* The trigger's table is on top of the stack. */
static uint64_t number_of(lua_State *lua, const char *member, uint64_t otherwise)
{
    int is_number;
    lua_Integer value;

    if (lua_getfield(lua, -1, member) == LUA_TNIL) {
        lua_pop(lua, 1);
        return otherwise;
    }
    if (strcmp(member, "times") == 0 && lua_type(lua, -1) == LUA_TSTRING && strcmp(lua_tostring(lua, -1), "all") == 0) {
        lua_pop(lua, 1);
        return UINT64_MAX;
    }
    value = lua_tointegerx(lua, -1, &is_number);
    if (!is_number || value < 1)
        luaL_error(lua, "when.%s: a number from 1%s was expected", member,
                   strcmp(member, "times") == 0 ? ", or \"all\"," : "");
    lua_pop(lua, 1);
    return (uint64_t)value;
}

static int side_of(lua_State *lua)
{
    const char *side;

    if (lua_getfield(lua, -1, "side") == LUA_TNIL) {
        lua_pop(lua, 1);
        return -1;
    }
    side = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    if (strcmp(side, "A") != 0 && strcmp(side, "B") != 0)
        luaL_error(lua, "when.side: \"A\" or \"B\" was expected, the interface whose device sends it");
    lua_pop(lua, 1);
    return side[0] == 'B';
}

/* Of FPDUs, start-up frames and session control messages: what is no octets cannot be impaired. */
static unsigned kind_of(lua_State *lua)
{
    static const enum flow_event_kind kinds[] = {FLOW_RDMAP, FLOW_DDP, FLOW_ULPDU, FLOW_MPA_START, FLOW_SESSION};
    const char *name;

    if (lua_getfield(lua, -1, "kind") == LUA_TNIL) {
        lua_pop(lua, 1);
        return FLOW_RDMAP;
    }
    name = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(lua_event_kind(kinds[i]), name) == 0) {
            lua_pop(lua, 1);
            return kinds[i];
        }
    return (unsigned)luaL_error(lua, "when.kind \"%s\": rdmap, ddp, ulpdu, start or session was expected", name);
}

static void declare_trigger(lua_State *lua, struct bridge_impairment *impairment)
{
    int type = lua_getfield(lua, 1, "when");

    impairment->trigger = (struct bridge_trigger){.kind = FLOW_RDMAP, .side = -1, .nth = 1, .times = 1};
    if (type == LUA_TTABLE) {
        impairment->trigger.kind = kind_of(lua);
        impairment->trigger.side = side_of(lua);
        impairment->trigger.stream = number_of(lua, "stream", 0);
        impairment->trigger.nth = number_of(lua, "nth", 1);
        impairment->trigger.times = number_of(lua, "times", 1);
        for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1))
            if (lua_type(lua, -2) != LUA_TSTRING)
                luaL_error(lua, "when: fields are given by name");
    } else if (type == LUA_TFUNCTION) {
        impairment->trigger.times = UINT64_MAX;
    } else {
        luaL_error(lua, "when: a table of fields, or a function, was expected");
    }
    impairment->when = luaL_ref(lua, LUA_REGISTRYINDEX);
}

static enum bridge_llp llp_of(lua_State *lua)
{
    const char *over;

    if (lua_getfield(lua, 1, "over") == LUA_TNIL) {
        lua_pop(lua, 1);
        return BRIDGE_ANY_LLP;
    }
    over = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    if (strcmp(over, "tcp") != 0 && strcmp(over, "sctp") != 0)
        luaL_error(lua, "over: \"tcp\" or \"sctp\" was expected, what is below DDP");
    lua_pop(lua, 1);
    return strcmp(over, "sctp") == 0 ? BRIDGE_SCTP : BRIDGE_TCP;
}

/* "survives", or a list of such names. */
static void declare_expectation(lua_State *lua, struct bridge_impairment *impairment)
{
    int type = lua_getfield(lua, 1, "expect");

    if (type == LUA_TNIL) {
        lua_pop(lua, 1);
        return;
    }
    if (type == LUA_TSTRING) { /* as a list of one */
        lua_createtable(lua, 1, 0);
        lua_insert(lua, -2);
        lua_seti(lua, -2, 1);
    }
    luaL_checktype(lua, -1, LUA_TTABLE);
    for (lua_Integer i = 1; lua_geti(lua, -1, i) != LUA_TNIL; i++) {
        if (lua_type(lua, -1) != LUA_TSTRING || !bridge_expect_add(&impairment->expect, lua_tostring(lua, -1)))
            luaL_error(lua,
                       "expect: \"survives\", \"closes\" or errors as wire.triple() has them were expected, not %s",
                       luaL_tolstring(lua, -1, NULL));
        lua_pop(lua, 1);
    }
    lua_pop(lua, 2);
}

int bridge_declare(lua_State *lua)
{
    struct bridge_script *script = bridge_script_of(lua);
    struct bridge_impairment *impairment;

    if (script->path == NULL)
        return luaL_error(lua, "impairments are declared while their file is read");
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    lua_members_check(lua, "an impairment", members, MEMBERS);
    if (script->count == BRIDGE_IMPAIRMENTS_MOST)
        return luaL_error(lua, "more than %d impairments", BRIDGE_IMPAIRMENTS_MOST);
    impairment = &script->all[script->count++]; /* what it has is freed with it, also after an error */
    impairment->name = lua_members_text(lua, "name", NAME_MOST);
    if (impairment->name == NULL)
        return luaL_error(lua, "an impairment needs name, a text");
    check_name(lua, script, impairment->name);
    impairment->purpose = lua_members_text(lua, "purpose", PURPOSE_MOST);
    declare_trigger(lua, impairment);
    impairment->trigger.llp = llp_of(lua);
    declare_expectation(lua, impairment);
    if (lua_getfield(lua, 1, "act") != LUA_TFUNCTION)
        return luaL_error(lua, "act: a function was expected");
    impairment->act = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}
