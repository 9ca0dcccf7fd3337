/* SPDX-License-Identifier: BSD-2-Clause */
/* What an editor with the Lua language server needs to know of rules: `audit --rules-meta`. */
#ifndef CONFORMANCE_ENGINE_LUA_META_H
#define CONFORMANCE_ENGINE_LUA_META_H

#include <stdio.h>

/* Writes definitions of rule(), of what it takes, and of the fields of each kind of events. */
void lua_meta_print(FILE *out);

#endif
