/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of the table that a script declares something by: the first argument, which stands at 1. */
#ifndef CONFORMANCE_ENGINE_LUA_MEMBERS_H
#define CONFORMANCE_ENGINE_LUA_MEMBERS_H

#include <lua.h>
#include <stddef.h>

/* An error of the script where the table has another member than these: "a rule has no member "txt", did you mean ...". */
void lua_members_check(lua_State *lua, const char *what, const char *const *members, size_t count);

/*
 * A text of 1 to `most` characters, printable ASCII; malloc'd, and the caller's to free. NULL: it is not there. Another
 * value is an error of the script.
 */
char *lua_members_text(lua_State *lua, const char *member, size_t most);

#endif
