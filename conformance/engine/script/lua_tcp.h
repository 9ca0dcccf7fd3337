/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two files of the TCP binding share: lua_tcp.c (functions of `rig`) and lua_tcp_connection.c (methods). */
#ifndef CONFORMANCE_ENGINE_LUA_TCP_H
#define CONFORMANCE_ENGINE_LUA_TCP_H

#include <lauxlib.h>

extern const luaL_Reg lua_tcp_methods[];

#endif
