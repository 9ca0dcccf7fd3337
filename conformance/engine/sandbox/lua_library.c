/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_library.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdint.h>
#include <string.h>

#include "conformance/engine/sandbox/lua_sandbox.h"

/*
 * LOOKUP_MOST: steps that Lua takes at most to find a member through __index. UNPACK_MOST: values that fit on its
 * stack. OCTETS_A_UNIT: of two texts that are compared, or of a format.
 */
enum { LOOKUP_MOST = 2000, UNPACK_MOST = 1000000, REPEATED_MOST = INT32_MAX, OCTETS_A_UNIT = 16 };

/* ---- base -------------------------------------------------------------------------------------------------------- */

static int base_setmetatable(lua_State *lua)
{
    int type = lua_type(lua, 2);

    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_argexpected(lua, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    if (type == LUA_TTABLE) {
        lua_pushliteral(lua, "__gc");
        if (lua_rawget(lua, 2) != LUA_TNIL)
            return luaL_error(lua, "a script's metatable may not have __gc");
    }
    if (luaL_getmetafield(lua, 1, "__metatable") != LUA_TNIL)
        return luaL_error(lua, "cannot change a protected metatable");
    lua_settop(lua, 2);
    lua_setmetatable(lua, 1);
    return 1;
}

/* xpcall(function, handler, ...) */
static int base_xpcall(lua_State *lua)
{
    int arguments = lua_gettop(lua) - 2;

    luaL_checktype(lua, 2, LUA_TFUNCTION);
    lua_pushvalue(lua, 1);
    lua_insert(lua, 3);
    if (lua_pcall(lua, arguments, LUA_MULTRET, 0) == LUA_OK) {
        lua_pushboolean(lua, 1);
        lua_insert(lua, 3);
        return lua_gettop(lua) - 2;
    }
    lua_pushboolean(lua, 0);
    lua_insert(lua, -2);
    lua_pushvalue(lua, 2);
    lua_insert(lua, -2);
    (void)lua_pcall(lua, 1, 1, 0); /* an error of the handler is what remains */
    return 2;
}

/* ---- table ------------------------------------------------------------------------------------------------------- */

/*
 * Upvalue 1 of each: the library's own function, which does the work with the arguments on the stack. It is called as a
 * function of C's, so that its errors name the line of the script.
 */
static int go_on(lua_State *lua)
{
    return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

/* Elements of the table, which cannot say so itself: __len could give another number each time. */
static lua_Integer length_of(lua_State *lua, int index)
{
    luaL_checktype(lua, index, LUA_TTABLE);
    if (luaL_getmetafield(lua, index, "__len") != LUA_TNIL)
        luaL_argerror(lua, index, "a table without __len was expected");
    return (lua_Integer)lua_rawlen(lua, index);
}

/* What it takes to go through `count` elements of the table. */
static void spend_elements(lua_State *lua, int index, uint64_t count)
{
    uint64_t each = 1;

    if (lua_getmetatable(lua, index)) {
        each = LOOKUP_MOST;
        lua_pop(lua, 1);
    }
    lua_sandbox_spend(lua, count > UINT64_MAX / each ? UINT64_MAX : count * each);
}

/* How many there are from the one to the other. */
static uint64_t distance(lua_Integer from, lua_Integer to)
{
    uint64_t count = (uint64_t)to - (uint64_t)from;

    return to < from ? 0 : count == UINT64_MAX ? count : count + 1;
}

static int table_concat(lua_State *lua)
{
    lua_Integer length = length_of(lua, 1);

    lua_settop(lua, 4);
    spend_elements(lua, 1, distance(luaL_optinteger(lua, 3, 1), luaL_optinteger(lua, 4, length)));
    return go_on(lua);
}

static int table_insert(lua_State *lua)
{
    lua_Integer length = length_of(lua, 1);

    spend_elements(lua, 1, lua_gettop(lua) < 3 ? 1 : distance(luaL_checkinteger(lua, 2), length));
    return go_on(lua);
}

static int table_remove(lua_State *lua)
{
    lua_Integer length = length_of(lua, 1);

    spend_elements(lua, 1, distance(luaL_optinteger(lua, 2, length), length));
    return go_on(lua);
}

/* table.move(from, first, last, at, to) */
static int table_move(lua_State *lua)
{
    uint64_t count = distance(luaL_checkinteger(lua, 2), luaL_checkinteger(lua, 3));

    (void)length_of(lua, 1);
    spend_elements(lua, 1, count);
    if (!lua_isnoneornil(lua, 5)) {
        (void)length_of(lua, 5);
        spend_elements(lua, 5, count);
    }
    return go_on(lua);
}

static int table_unpack(lua_State *lua)
{
    lua_Integer length = length_of(lua, 1);
    uint64_t count = distance(luaL_optinteger(lua, 2, 1), luaL_optinteger(lua, 3, length));

    spend_elements(lua, 1, count < UNPACK_MOST ? count : UNPACK_MOST);
    return go_on(lua);
}

/* Upvalue 1: the script's function, or nil. */
static int counted_less(lua_State *lua)
{
    size_t octets = lua_rawlen(lua, 1), others = lua_rawlen(lua, 2);

    lua_sandbox_spend(lua, 1 + (octets < others ? octets : others) / OCTETS_A_UNIT);
    if (lua_isnil(lua, lua_upvalueindex(1))) {
        lua_pushboolean(lua, lua_compare(lua, 1, 2, LUA_OPLT));
        return 1;
    }
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, 2, 1);
    return 1;
}

static int table_sort(lua_State *lua)
{
    spend_elements(lua, 1, (uint64_t)length_of(lua, 1));
    if (!lua_isnoneornil(lua, 2))
        luaL_checktype(lua, 2, LUA_TFUNCTION);
    lua_settop(lua, 2);
    lua_pushcclosure(lua, counted_less, 1);
    return go_on(lua);
}

/* ---- string ------------------------------------------------------------------------------------------------------ */

/*
 * The library puts one after the other, which takes its time where a text is short and repeated often: what is there is
 * doubled.
 */
static int string_rep(lua_State *lua)
{
    size_t count, separator, total, filled;
    const char *text = luaL_checklstring(lua, 1, &count);
    lua_Integer times = luaL_checkinteger(lua, 2);
    luaL_Buffer buffer;
    char *out;

    (void)luaL_optlstring(lua, 3, "", &separator);
    if (separator != 0 || (times > 0 && count > REPEATED_MOST / (uint64_t)times))
        return go_on(lua);
    total = times > 0 ? count * (size_t)times : 0;
    out = luaL_buffinitsize(lua, &buffer, total);
    memcpy(out, text, total != 0 ? count : 0);
    for (filled = count; filled < total; filled *= 2)
        memcpy(out + filled, out, filled < total - filled ? filled : total - filled);
    luaL_pushresultsize(&buffer, total);
    return 1;
}

/* string.pack, packsize and unpack: the format may be long and its values few. */
static int string_format_read(lua_State *lua)
{
    size_t count;

    (void)luaL_checklstring(lua, 1, &count);
    lua_sandbox_spend(lua, count / OCTETS_A_UNIT);
    return go_on(lua);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Replaces functions of the library's table on top of the stack; each keeps the one that it replaces. */
static void wrap(lua_State *lua, const luaL_Reg *functions)
{
    for (; functions->name != NULL; functions++) {
        lua_getfield(lua, -1, functions->name);
        lua_pushcclosure(lua, functions->func, 1);
        lua_setfield(lua, -2, functions->name);
    }
}

void lua_library_bound(lua_State *lua)
{
    static const luaL_Reg base[] = {{"setmetatable", base_setmetatable}, {"xpcall", base_xpcall}, {NULL, NULL}};
    static const luaL_Reg tables[] = {{"concat", table_concat},
                                      {"insert", table_insert},
                                      {"remove", table_remove},
                                      {"move", table_move},
                                      {"unpack", table_unpack},
                                      {"sort", table_sort},
                                      {NULL, NULL}};
    static const luaL_Reg strings[] = {{"rep", string_rep},
                                       {"pack", string_format_read},
                                       {"packsize", string_format_read},
                                       {"unpack", string_format_read},
                                       {NULL, NULL}};

    lua_pushglobaltable(lua);
    luaL_setfuncs(lua, base, 0);
    lua_getfield(lua, -1, LUA_TABLIBNAME);
    wrap(lua, tables);
    lua_pop(lua, 1);
    lua_getfield(lua, -1, LUA_STRLIBNAME);
    wrap(lua, strings);
    lua_string_open(lua);
    lua_pushnil(lua);
    lua_setfield(lua, -2, "dump");
    lua_pop(lua, 2);
    lua_pushliteral(lua, "");
    if (lua_getmetatable(lua, -1)) {
        lua_pushboolean(lua, 0);
        lua_setfield(lua, -2, "__metatable");
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}
