/* SPDX-License-Identifier: BSD-2-Clause */
/* bridge_script.c: files and triggers; bridge_declare.c: impair { ... }; bridge_methods.c: what can be done to a unit. */
#ifndef CONFORMANCE_ENGINE_BRIDGE_SCRIPT_INTERNAL_H
#define CONFORMANCE_ENGINE_BRIDGE_SCRIPT_INTERNAL_H

#include "conformance/engine/event/lua_event.h"
#include "conformance/engine/bridge/bridge_script.h"
#include "conformance/engine/sandbox/lua_sandbox.h"

enum { BRIDGE_IMPAIRMENTS_MOST = 1000 };

struct bridge_script {
    struct lua_sandbox sandbox;
    struct lua_account account;
    struct bridge_impairment *all; /* BRIDGE_IMPAIRMENTS_MOST */
    size_t count;
    uint64_t seed;
    /* of the call that is being made */
    const char *path;
    const void *octets;
    size_t octet_count;
    struct lua_event_now now;
    struct bridge_call *call; /* NULL: none */
    bool due;
};

static inline struct bridge_script *bridge_script_of(lua_State *lua)
{
    return lua_sandbox_of(lua)->owner;
}

/* impair { ... } */
int bridge_declare(lua_State *lua);

/* Pushes the unit of the call that is being made. */
void bridge_unit_push(lua_State *lua);

#endif
