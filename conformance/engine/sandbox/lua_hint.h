/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of causes as scripts get them: functions of the table `wire`. */
#ifndef CONFORMANCE_ENGINE_LUA_HINT_H
#define CONFORMANCE_ENGINE_LUA_HINT_H

#include <lua.h>

/*
 * wire.hint_field(kind, field): name and words of the cause (wire/hint_field.h); nothing for a kind or a field that is
 * not in the list. `kind` is an opcode, or a word.
 */
int lua_hint_field(lua_State *lua);

/*
 * wire.hint_seen(name): an observation (wire/hint_seen.h), its name and words. A name that is not declared is an error
 * of the script.
 */
int lua_hint_seen(lua_State *lua);

#endif
