/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_hint.h"

#include <lauxlib.h>

#include "wire/hint_field.h"
#include "wire/hint_seen.h"

int lua_hint_seen(lua_State *lua)
{
    const char *words = hint_seen_words(luaL_checkstring(lua, 1));

    if (words == NULL)
        return luaL_error(lua, "'%s' is no observation of wire/hint_seen.h", lua_tostring(lua, 1));
    lua_settop(lua, 1);
    lua_pushstring(lua, words);
    return 2;
}

int lua_hint_field(lua_State *lua)
{
    enum hint_kind_of kind = lua_isinteger(lua, 1) ? hint_kind_of_opcode((unsigned)lua_tointeger(lua, 1))
                                                   : hint_kind_named(luaL_checkstring(lua, 1));
    struct hint_field found;

    if (!hint_field(kind, luaL_checkstring(lua, 2), &found))
        return 0;
    lua_pushstring(lua, found.name);
    lua_pushstring(lua, found.text);
    return 2;
}
