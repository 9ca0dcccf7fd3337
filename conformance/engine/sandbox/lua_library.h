/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of Lua's library that could run without end inside one call, or outside of the count of instructions, in
 * versions that count what they do (lua_sandbox_spend()):
 *
 *   string.find, match, gmatch, gsub       steps of the matcher (lua_match.h)
 *   string.packsize, pack, unpack          octets of the format
 *   table.concat, insert, move, remove, sort, unpack   elements, for tables that cannot pretend to be longer than they are
 *   setmetatable                           no __gc: finalizers run outside of the count
 *   xpcall                                 the handler is called after the error, not within: there, nothing is counted
 *
 * string.dump is gone: it has no use where no code can be loaded. The metatable of strings is out of reach.
 */
#ifndef CONFORMANCE_ENGINE_LUA_LIBRARY_H
#define CONFORMANCE_ENGINE_LUA_LIBRARY_H

#include <lua.h>

/* Replaces them in a state whose base, string and table libraries are open. May raise errors. */
void lua_library_bound(lua_State *lua);

/* find, match, gmatch, gsub: into the table on top of the stack. */
void lua_string_open(lua_State *lua);

#endif
