/* SPDX-License-Identifier: BSD-2-Clause */
/* What lua_sctp.c (how a check opens associations) and lua_sctp_association.c (their methods) share. */
#ifndef CONFORMANCE_ENGINE_LUA_SCTP_H
#define CONFORMANCE_ENGINE_LUA_SCTP_H

#include <lauxlib.h>

extern const luaL_Reg lua_sctp_methods[];

#endif
