/* SPDX-License-Identifier: BSD-2-Clause */
/* What a check has opened on a tester, and what Lua has of it (lua_rig_internal.h). */
#include <lauxlib.h>
#include <stdlib.h>

#include "conformance/engine/script/lua_rig_internal.h"

/* What a check may send: it lies in memory, in the evidence, and in the device. */
#define HELD_MAX   UINT64_C(2048)
#define OCTETS_MAX (UINT64_C(256) << 20)

/* Userdata. */
struct handle {
    struct lua_rig *owner;
    uint64_t cleared; /* owner->cleared when it was made */
    struct lua_held *held;
};

struct lua_held *lua_held_push(lua_State *lua, const struct lua_binding *binding)
{
    struct lua_rig *self = lua_rig_of(lua);
    struct handle *handle;
    struct lua_held *held;

    self->used = true;
    lua_rig_spend(lua, &self->held_made, 1, HELD_MAX, binding->several);
    handle = lua_newuserdatauv(lua, sizeof(*handle), 0);
    *handle = (struct handle){.owner = self, .cleared = self->cleared};
    luaL_setmetatable(lua, binding->metatable);
    held = handle->held = calloc(1, sizeof(*held));
    if (held == NULL) {
        luaL_error(lua, "out of memory for a %s", binding->what);
        return NULL; /* luaL_error() does not return, but is not declared so */
    }
    held->binding = binding;
    held->next = self->held;
    self->held = held;
    return held;
}

void lua_rig_spend_octets(lua_State *lua, size_t octets)
{
    lua_rig_spend(lua, &lua_rig_of(lua)->octets_sent, octets, OCTETS_MAX, "octets to send");
}

/* What is after argument 1, or NULL when it is closed. */
static struct lua_held *find(lua_State *lua, const struct lua_binding *binding)
{
    const struct handle *handle = luaL_checkudata(lua, 1, binding->metatable);

    if (handle->held == NULL || handle->cleared != handle->owner->cleared || handle->held->endpoint == NULL)
        return NULL;
    binding->set_time(handle->owner->rig);
    return handle->held;
}

void *lua_held_endpoint(lua_State *lua, const struct lua_binding *binding)
{
    const struct lua_held *held = find(lua, binding);

    if (held == NULL) {
        luaL_error(lua, "the %s was closed by this script", binding->what);
        return NULL;
    }
    return held->endpoint;
}

void *lua_held_if_open(lua_State *lua, const struct lua_binding *binding)
{
    const struct lua_held *held = find(lua, binding);

    return held != NULL ? held->endpoint : NULL;
}

static void drop(struct lua_held *held)
{
    if (held->endpoint != NULL)
        held->binding->drop(held->endpoint);
    held->endpoint = NULL;
}

void lua_held_close(lua_State *lua, const struct lua_binding *binding)
{
    struct lua_held *held = find(lua, binding);

    if (held != NULL)
        drop(held);
}

void lua_rig_clear(struct lua_rig *self)
{
    while (self->held != NULL) {
        struct lua_held *held = self->held;

        self->held = held->next;
        held->binding->set_time(self->rig);
        drop(held);
        free(held);
    }
    self->cleared++;
}

void lua_held_open(lua_State *lua, struct lua_rig *self, const struct lua_binding *binding)
{
    luaL_newmetatable(lua, binding->metatable);
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_newtable(lua);
    lua_pushlightuserdata(lua, self);
    luaL_setfuncs(lua, binding->methods, 1);
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 1);
}
