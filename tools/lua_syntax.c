/* SPDX-License-Identifier: BSD-2-Clause */

/* lua-syntax FILE...: compiles each Lua file without running it; names what does not parse and exits with 1 then. */

#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>

int main(int argc, char **argv)
{
    int status = 0;
    lua_State *lua = luaL_newstate();
    if (!lua)
        return 1;
    for (int i = 1; i < argc; i++) {
        if (luaL_loadfilex(lua, argv[i], "t") != LUA_OK) {
            fprintf(stderr, "%s\n", lua_tostring(lua, -1));
            status = 1;
        }
        lua_settop(lua, 0);
    }
    lua_close(lua);
    return status;
}
