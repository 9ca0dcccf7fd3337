/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the table `rig` share (lua_rig.h). lua_rig.c has what every check needs: time, the upper tester,
 * notes. Each lower layer is a binding in files of its own: functions in `rig` that open something on a tester (for TCP
 * a connection), and the methods of what they open.
 */
#ifndef CONFORMANCE_ENGINE_LUA_RIG_INTERNAL_H
#define CONFORMANCE_ENGINE_LUA_RIG_INTERNAL_H

#include <lauxlib.h>

#include "conformance/engine/script/lua_rig.h"

struct lua_binding {
    const luaL_Reg *functions; /* of the table `rig` */
    const char *metatable;     /* name of the metatable of what they open */
    const luaL_Reg *methods;   /* its methods */
    const char *what;          /* what it is called in messages: "connection" */
    const char *several;       /* "connections" */
    /* Gives the tester the rig's time, before calls that send. */
    void (*set_time)(struct rig *rig);
    /* Ends what a check has opened, and frees it. */
    void (*drop)(void *endpoint);
};

/* The bindings. */
extern const struct lua_binding lua_tcp;
extern const struct lua_binding lua_sctp;
extern const struct lua_binding lua_cm;

/* What is below all of them (lua_ipsec.c). */
extern const luaL_Reg lua_ipsec_functions[];

/*
 * What a check has opened. The host owns it, not the Lua state: what a check forgets stays open until the check has
 * ended. If the collector ended it, when that happens would depend on what the state did before this check.
 */
struct lua_held {
    struct lua_held *next;
    const struct lua_binding *binding;
    void *endpoint; /* NULL: closed, or not yet open */
};

/* The lua_rig that is upvalue 1 of every function. */
struct lua_rig *lua_rig_of(lua_State *lua);

/* The rig of the check that runs. Raises an error when none runs. */
struct rig *lua_rig_running(lua_State *lua);

/* `argument` in seconds, from now on. Raises an error when it is no such number. */
uint64_t lua_rig_deadline(lua_State *lua, int argument);

/*
 * Turns the crank once; false at the deadline. Raises an error when the link has failed, or the check waits for ever.
 */
bool lua_rig_pump(lua_State *lua, uint64_t deadline);

/* The check has taken so many octets of the device, and may compute for it (lua_sandbox_earn()). */
void lua_rig_earn(lua_State *lua, size_t octets);

/* Raises an error when a check has used up `what`: it had `limit` of it. */
void lua_rig_spend(lua_State *lua, uint64_t *used, uint64_t count, uint64_t limit, const char *what);

/* Counts octets that the check sends. */
void lua_rig_spend_octets(lua_State *lua, size_t octets);

/* A whole number of a table that may be nil; `fallback` where it has no such member. */
lua_Integer lua_rig_integer(lua_State *lua, int table, const char *name, lua_Integer fallback, bool *given);

/* Pushes something that is not open: its endpoint is to be filled in when it is. */
struct lua_held *lua_held_push(lua_State *lua, const struct lua_binding *binding);

/* The endpoint of argument 1, at the present time. Raises an error when it is closed. */
void *lua_held_endpoint(lua_State *lua, const struct lua_binding *binding);

/* The same, and NULL when it is closed. */
void *lua_held_if_open(lua_State *lua, const struct lua_binding *binding);

/* Ends what argument 1 is, if it is open. */
void lua_held_close(lua_State *lua, const struct lua_binding *binding);

/* The metatable. */
void lua_held_open(lua_State *lua, struct lua_rig *self, const struct lua_binding *binding);

#endif
