/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* strdup */
#include "conformance/engine/sandbox/lua_members.h"

#include <lauxlib.h>
#include <string.h>

#include "base/nearest.h"

void lua_members_check(lua_State *lua, const char *what, const char *const *members, size_t count)
{
    char hint[NEAREST_HINT_OCTETS];

    lua_pushnil(lua);
    while (lua_next(lua, 1) != 0) {
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
        size_t i = 0;

        while (i < count && strcmp(members[i], name) != 0)
            i++;
        if (i == count)
            luaL_error(lua, "%s has no member \"%s\"%s", what, name,
                       nearest_hint(nearest_of(name, members, count), hint));
        lua_pop(lua, 1);
    }
}

char *lua_members_text(lua_State *lua, const char *member, size_t most)
{
    const char *text;
    size_t length;
    char *copy;

    if (lua_getfield(lua, 1, member) == LUA_TNIL) {
        lua_pop(lua, 1);
        return NULL;
    }
    text = lua_type(lua, -1) == LUA_TSTRING ? lua_tolstring(lua, -1, &length) : NULL;
    if (text == NULL || length == 0 || length > most) {
        luaL_error(lua, "%s: a text of 1 to %d characters was expected", member, (int)most);
        return NULL; /* not reached */
    }
    for (size_t i = 0; i < length; i++)
        if (text[i] < 0x20 || text[i] > 0x7E)
            luaL_error(lua, "%s: character %d is not printable ASCII", member, (int)i + 1);
    copy = strdup(text);
    if (copy == NULL)
        luaL_error(lua, "out of memory");
    lua_pop(lua, 1);
    return copy;
}
