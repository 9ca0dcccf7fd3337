/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Lua state for scripts that nobody has looked at: base, string, table and math libraries and the table `wire`, no
 * files, no processes, no loading of code, no clock; with a limit for what it computes and one for what it holds.
 * Checks (script.h) and capture scripts (gen.h) run in one.
 */
#ifndef CONFORMANCE_ENGINE_LUA_SANDBOX_H
#define CONFORMANCE_ENGINE_LUA_SANDBOX_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/* What one script may hold, in octets. */
#define LUA_SANDBOX_MEMORY_MAX ((size_t)256 << 20)

struct lua_sandbox {
    lua_State *lua;
    size_t memory;    /* octets that the state holds */
    int instructions; /* a call may execute so many */
};

/*
 * Opens the state; its extra space (lua_getextraspace()) holds `owner`. `sandbox` must not move while it is open. -1:
 * memory is short.
 */
int lua_sandbox_open(struct lua_sandbox *sandbox, int instructions, void *owner);

/* NULL in `lua` is allowed. */
void lua_sandbox_close(struct lua_sandbox *sandbox);

/*
 * lua_pcall() with the limit, and with `handler` for errors. A script that has used up its instructions cannot go on by
 * catching the error.
 */
int lua_sandbox_call(struct lua_sandbox *sandbox, int arguments, int results, lua_CFunction handler);

/* Gives the chunk on top of the stack globals of its own, behind which the shared ones stand; or the shared ones. */
void lua_sandbox_globals(lua_State *lua, bool shared);

#endif
