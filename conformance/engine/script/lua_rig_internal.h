/* SPDX-License-Identifier: BSD-2-Clause */
/* What the functions of `rig` and the methods of connections share (lua_rig.h). */
#ifndef CONFORMANCE_ENGINE_LUA_RIG_INTERNAL_H
#define CONFORMANCE_ENGINE_LUA_RIG_INTERNAL_H

#include "conformance/engine/script/lua_rig.h"
#include "generator/tcp/tcp.h"

/*
 * A connection that a check has opened. The host owns it, not the Lua state: what a check forgets stays open until the check
 * has ended. If the collector reset it, when that happens would depend on what the state did before this check.
 */
struct lua_connection {
    struct lua_connection *next;
    struct tcp_connection *tcp; /* NULL: closed, or not yet open */
};

/* The lua_rig that is upvalue 1 of every function. */
struct lua_rig *lua_rig_of(lua_State *lua);

/* `argument` in seconds, from now on. Raises an error when it is no such number. */
uint64_t lua_rig_deadline(lua_State *lua, int argument);

/* Turns the crank once; false at the deadline. Raises an error when the link has failed, or the check waits for ever. */
bool lua_rig_pump(lua_State *lua, uint64_t deadline);

/* Raises an error when a check has used up `what`: it had `limit` of it. */
void lua_rig_spend(lua_State *lua, uint64_t *used, uint64_t count, uint64_t limit, const char *what);

/* A whole number of a table that may be nil; `fallback` where it has no such member. */
lua_Integer lua_rig_integer(lua_State *lua, int table, const char *name, lua_Integer fallback, bool *given);

/* Pushes a connection that is not open: to be filled in when it is. */
struct lua_connection *lua_connection_push(lua_State *lua);

/* Counts octets that the check sends. */
void lua_connection_spend(lua_State *lua, struct lua_rig *rig, size_t octets);

/* The metatable. */
void lua_connection_open(lua_State *lua, struct lua_rig *self);

#endif
