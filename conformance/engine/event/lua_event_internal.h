/* SPDX-License-Identifier: BSD-2-Clause */
/* lua_event.c: the object and its headers; lua_event_fields.c: fields that are no header's. */
#ifndef CONFORMANCE_ENGINE_LUA_EVENT_INTERNAL_H
#define CONFORMANCE_ENGINE_LUA_EVENT_INTERNAL_H

#include "conformance/engine/event/lua_event.h"
#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/sctp/flow_sctp.h"

#define LUA_EVENT_KIND(kind) (1u << (kind))

/* A number of the wire, which has 64 bits there, and as many here. */
void lua_event_number(lua_State *lua, uint64_t value);

/* A string; NULL is nil. */
void lua_event_octets(lua_State *lua, const uint8_t *start, size_t count);

/* Pushes the field; false: events of this kind have none of that name. */
bool lua_event_push(lua_State *lua, const struct flow_event *event, const char *name);

#endif
