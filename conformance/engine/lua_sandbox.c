/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/lua_sandbox.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

#include "conformance/engine/lua_wire.h"

/* From then on every instruction raises the error: one that is caught comes again at once, until nobody catches it. */
static void on_count(lua_State *lua, lua_Debug *debug)
{
    (void)debug;
    lua_sethook(lua, on_count, LUA_MASKCOUNT, 1);
    luaL_error(lua, "the script computes for ever");
}

/* Lua's allocator, with a limit for all that scripts hold. */
static void *allocate(void *context, void *octets, size_t old_size, size_t new_size)
{
    struct lua_sandbox *sandbox = context;
    size_t had = octets != NULL ? old_size : 0;
    void *got;

    if (new_size == 0) {
        free(octets);
        sandbox->memory -= had;
        return NULL;
    }
    if (new_size > had && sandbox->memory + (new_size - had) > LUA_SANDBOX_MEMORY_MAX)
        return NULL;
    got = realloc(octets, new_size);
    if (got != NULL)
        sandbox->memory = sandbox->memory - had + new_size;
    return got;
}

int lua_sandbox_open(struct lua_sandbox *sandbox, int instructions, void *owner)
{
    static const char *const removed[] = {"dofile", "loadfile", "load", "require", "collectgarbage", "print", NULL};
    lua_State *lua;

    sandbox->memory = 0;
    sandbox->instructions = instructions;
    lua = sandbox->lua = lua_newstate(allocate, sandbox);
    if (lua == NULL)
        return -1;
    *(void **)lua_getextraspace(lua) = owner;
    luaL_requiref(lua, "_G", luaopen_base, 1);
    luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 1);
    luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 1);
    lua_settop(lua, 0);
    for (size_t i = 0; removed[i] != NULL; i++) {
        lua_pushnil(lua);
        lua_setglobal(lua, removed[i]);
    }
    lua_wire_open(lua);
    lua_setglobal(lua, "wire");
    return 0;
}

void lua_sandbox_close(struct lua_sandbox *sandbox)
{
    if (sandbox->lua != NULL)
        lua_close(sandbox->lua);
    sandbox->lua = NULL;
}

int lua_sandbox_call(struct lua_sandbox *sandbox, int arguments, int results, lua_CFunction handler)
{
    lua_State *lua = sandbox->lua;
    int below = lua_gettop(lua) - arguments;
    int status;

    lua_pushcfunction(lua, handler);
    lua_insert(lua, below);
    lua_sethook(lua, on_count, LUA_MASKCOUNT, sandbox->instructions);
    status = lua_pcall(lua, arguments, results, below);
    lua_remove(lua, below);
    return status;
}

void lua_sandbox_globals(lua_State *lua, bool shared)
{
    if (!shared) {
        lua_newtable(lua);
        lua_newtable(lua);
    }
    lua_pushglobaltable(lua);
    if (!shared) {
        lua_setfield(lua, -2, "__index");
        lua_setmetatable(lua, -2);
    }
    lua_setupvalue(lua, -2, 1);
}
