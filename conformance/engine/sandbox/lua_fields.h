/* SPDX-License-Identifier: BSD-2-Clause */
/* A Lua table of named members read into a C structure, by a table of its members. */
#ifndef CONFORMANCE_ENGINE_LUA_FIELDS_H
#define CONFORMANCE_ENGINE_LUA_FIELDS_H

#include <lua.h>
#include <stddef.h>

enum lua_field_kind {
    LUA_FIELD_U8,
    LUA_FIELD_U16,
    LUA_FIELD_U32,
    LUA_FIELD_SEQUENCE, /* 32 bits, of a number of any size: sequence numbers wrap */
    LUA_FIELD_U64,
    LUA_FIELD_BOOL,
    LUA_FIELD_ADDRESS,  /* struct net_address: "10.77.0.1", "fd77::1" */
    LUA_FIELD_MAC,      /* 6 octets: "02:00:00:00:00:01" */
    LUA_FIELD_OCTETS,   /* const uint8_t * at `offset`, size_t at `count`: borrowed from the table */
    LUA_FIELD_TCP_FLAGS /* uint8_t: a number, or names: "SYN ACK" */
};

struct lua_field {
    const char *name; /* NULL after the last */
    enum lua_field_kind kind;
    size_t offset;
    size_t count; /* OCTETS */
    unsigned set; /* bits set in the `unsigned` at `set_offset` when the member is given */
    size_t set_offset;
};

/*
 * Reads the table at `index` into `out`. A member that `fields` does not have, or that does not fit, is a Lua error:
 * "what has no field called ...". The array part is left alone.
 */
void lua_fields_read(lua_State *lua, int index, const char *what, const struct lua_field *fields, void *out);

#endif
