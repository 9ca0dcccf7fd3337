/* SPDX-License-Identifier: BSD-2-Clause */
/* Lua values to JSON and back, for the upper tester's line protocol. */
#ifndef CONFORMANCE_ENGINE_LUA_JSON_H
#define CONFORMANCE_ENGINE_LUA_JSON_H

#include <jansson.h>
#include <lua.h>

/*
 * The value at `index` as JSON, a new reference. A table with a first element is an array, any other an object. NULL
 * when it is of a type that JSON does not have, nested too deeply, or too much for one command. Raises no error.
 */
json_t *lua_json_from(lua_State *lua, int index);

/* Pushes the value; JSON null becomes nil. Takes the reference, also when it raises an error. */
void lua_json_push_new(lua_State *lua, json_t *value);

#endif
