/* SPDX-License-Identifier: BSD-2-Clause */
/* string.find, match, gmatch and gsub (Lua 5.4's reference manual, 6.4) over the counting matcher. */
#define _GNU_SOURCE /* memmem(3), which takes linear time */
#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

#include "conformance/engine/sandbox/lua_library.h"
#include "conformance/engine/sandbox/lua_match.h"
#include "conformance/engine/sandbox/lua_sandbox.h"

#define SPECIALS "^$*+?.([%-"

enum { OCTETS_A_STEP = 16 }; /* that memmem() goes through */

/* Where to begin, from 0; a negative position counts from the end. */
static size_t start_of(lua_State *lua, int index, size_t count)
{
    lua_Integer position = luaL_optinteger(lua, index, 1);

    if (position > 0)
        return (size_t)position - 1;
    if (position == 0 || position < -(lua_Integer)count)
        return 0;
    return count - (size_t)-position;
}

static bool is_plain(const char *pattern, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pattern[i] != '\0' && strchr(SPECIALS, pattern[i]) != NULL)
            return false;
    return true;
}

static int find_plain(lua_State *lua, const char *subject, size_t count, const char *wanted, size_t wanted_count,
                      size_t start)
{
    const char *found = memmem(subject + start, count - start, wanted, wanted_count);

    lua_sandbox_spend(lua, (count - start + wanted_count) / OCTETS_A_STEP);
    if (found == NULL) {
        luaL_pushfail(lua);
        return 1;
    }
    lua_pushinteger(lua, found - subject + 1);
    lua_pushinteger(lua, found - subject + (lua_Integer)wanted_count);
    return 2;
}

static int search(lua_State *lua, bool find)
{
    size_t count, pattern_count;
    const char *subject = luaL_checklstring(lua, 1, &count);
    const char *pattern = luaL_checklstring(lua, 2, &pattern_count);
    size_t start = start_of(lua, 3, count);
    bool anchored = pattern_count != 0 && pattern[0] == '^';
    struct lua_match match;

    if (start > count) {
        luaL_pushfail(lua);
        return 1;
    }
    if (find && (lua_toboolean(lua, 4) || is_plain(pattern, pattern_count)))
        return find_plain(lua, subject, count, pattern, pattern_count, start);
    lua_match_begin(&match, lua, subject, count, pattern + pattern_count);
    for (const char *at = subject + start;; at++) {
        const char *end = lua_match_at(&match, at, pattern + anchored);

        if (end != NULL) {
            if (!find)
                return lua_match_push_captures(&match, at, end, 1);
            lua_pushinteger(lua, at - subject + 1);
            lua_pushinteger(lua, end - subject);
            return 2 + lua_match_push_captures(&match, at, end, 0);
        }
        if (anchored || at == subject + count)
            break;
    }
    luaL_pushfail(lua);
    return 1;
}

static int string_find(lua_State *lua)
{
    return search(lua, true);
}

static int string_match(lua_State *lua)
{
    return search(lua, false);
}

/* ---- gmatch ------------------------------------------------------------------------------------------------------ */

/* Upvalues: subject, pattern, where to go on, where the last match ended (-1: there was none). */
static int next_match(lua_State *lua)
{
    size_t count, pattern_count;
    const char *subject = lua_tolstring(lua, lua_upvalueindex(1), &count);
    const char *pattern = lua_tolstring(lua, lua_upvalueindex(2), &pattern_count);
    size_t from = (size_t)lua_tointeger(lua, lua_upvalueindex(3));
    lua_Integer last = lua_tointeger(lua, lua_upvalueindex(4));
    struct lua_match match;

    lua_match_begin(&match, lua, subject, count, pattern + pattern_count);
    for (; from <= count; from++) {
        const char *end = lua_match_at(&match, subject + from, pattern);

        if (end == NULL || end - subject == last)
            continue;
        lua_pushinteger(lua, end - subject);
        lua_copy(lua, -1, lua_upvalueindex(3));
        lua_replace(lua, lua_upvalueindex(4));
        return lua_match_push_captures(&match, subject + from, end, 1);
    }
    lua_pushinteger(lua, (lua_Integer)from);
    lua_replace(lua, lua_upvalueindex(3));
    return 0;
}

static int string_gmatch(lua_State *lua)
{
    size_t count, start;

    (void)luaL_checklstring(lua, 1, &count);
    (void)luaL_checkstring(lua, 2);
    start = start_of(lua, 3, count);
    lua_settop(lua, 2);
    lua_pushinteger(lua, (lua_Integer)(start > count ? count + 1 : start));
    lua_pushinteger(lua, -1);
    lua_pushcclosure(lua, next_match, 4);
    return 1;
}

/* ---- gsub -------------------------------------------------------------------------------------------------------- */

/* The replacement is a text: %0 to %9 stand for captures, %% for itself. */
static void add_text(struct lua_match *match, luaL_Buffer *out, const char *start, const char *end)
{
    lua_State *lua = match->lua;
    size_t count;
    const char *text = lua_tolstring(lua, 3, &count);

    for (size_t i = 0; i < count; i++) {
        char c = text[i];

        if (c != '%') {
            luaL_addchar(out, c);
            continue;
        }
        c = ++i < count ? text[i] : '\0';
        if (c == '%') {
            luaL_addchar(out, c);
        } else if (c == '0') {
            luaL_addlstring(out, start, (size_t)(end - start));
        } else if (c >= '1' && c <= '9') {
            lua_match_push_capture(match, c - '1', start, end);
            (void)luaL_tolstring(lua, -1, NULL); /* a position is a number */
            lua_remove(lua, -2);
            luaL_addvalue(out);
        } else {
            luaL_error(lua, "invalid use of '%%' in replacement string");
        }
    }
    lua_sandbox_spend(lua, count / OCTETS_A_STEP);
}

/* What [start, end) becomes. False: it stays as it is. */
static bool add_replacement(struct lua_match *match, luaL_Buffer *out, const char *start, const char *end)
{
    lua_State *lua = match->lua;

    switch (lua_type(lua, 3)) {
    case LUA_TFUNCTION:
        lua_pushvalue(lua, 3);
        lua_call(lua, lua_match_push_captures(match, start, end, 1), 1);
        break;
    case LUA_TTABLE:
        lua_match_push_capture(match, 0, start, end);
        lua_gettable(lua, 3);
        break;
    default: add_text(match, out, start, end); return true;
    }
    if (!lua_toboolean(lua, -1)) {
        lua_pop(lua, 1);
        luaL_addlstring(out, start, (size_t)(end - start));
        return false;
    }
    if (!lua_isstring(lua, -1))
        luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
    luaL_addvalue(out);
    return true;
}

static int string_gsub(lua_State *lua)
{
    size_t count, pattern_count;
    const char *subject = luaL_checklstring(lua, 1, &count);
    const char *pattern = luaL_checklstring(lua, 2, &pattern_count);
    int kind = lua_type(lua, 3);
    lua_Integer most = luaL_optinteger(lua, 4, (lua_Integer)count + 1);
    bool anchored = pattern_count != 0 && pattern[0] == '^';
    bool changed = false;
    const char *at = subject, *last = NULL;
    lua_Integer done = 0;
    struct lua_match match;
    luaL_Buffer out;

    luaL_argexpected(lua, kind == LUA_TNUMBER || kind == LUA_TSTRING || kind == LUA_TFUNCTION || kind == LUA_TTABLE, 3,
                     "string/function/table");
    lua_match_begin(&match, lua, subject, count, pattern + pattern_count);
    luaL_buffinit(lua, &out);
    while (done < most) {
        const char *end = lua_match_at(&match, at, pattern + anchored);

        if (end != NULL && end != last) {
            done++;
            changed |= add_replacement(&match, &out, at, end);
            at = last = end;
        } else if (at < subject + count) {
            luaL_addchar(&out, *at);
            at++;
        } else {
            break;
        }
        if (anchored)
            break;
    }
    if (changed) {
        luaL_addlstring(&out, at, (size_t)(subject + count - at));
        luaL_pushresult(&out);
    } else {
        lua_pushvalue(lua, 1);
    }
    lua_pushinteger(lua, done);
    return 2;
}

void lua_string_open(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch}, {"gsub", string_gsub}, {NULL, NULL}};

    luaL_setfuncs(lua, functions, 0);
}
