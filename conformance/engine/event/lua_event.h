/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event of the decoder (conformance/flow/event/flow_event.h) as an object for rules in Lua. A field is converted
 * only when a rule reads it. The object has the fields of the event's kind, and those of the headers in it, named as in
 * the RFCs ("MSN", "STag", "RDMARDSZ"). A field that this event does not have is nil; one that no event of its kind can
 * have is an error.
 */
#ifndef CONFORMANCE_ENGINE_LUA_EVENT_H
#define CONFORMANCE_ENGINE_LUA_EVENT_H

#include <lua.h>
#include <stddef.h>

#include "conformance/flow/event/flow.h"

/* The event that rules are called with now; number: a new one for each call. */
struct lua_event_now {
    const struct flow_event *event;
    uint64_t number;
};

/*
 * Pushes that event as an object; when `now` is another one, reading it is an error. `now` stays where it is. Raises
 * errors.
 */
void lua_event_push_now(lua_State *lua, const struct lua_event_now *now);

/* What a rule calls a kind of events: "rdmap"; NULL beyond the last. */
const char *lua_event_kind(enum flow_event_kind kind);

/* A field that is no header's, for the list of them; false beyond the last. */
struct lua_event_field {
    const char *name, *type, *text; /* type: as LuaLS calls it */
    unsigned kinds;                 /* 1 << enum flow_event_kind, of the events that have it */
};
const struct lua_event_field *lua_event_field(size_t index);

/* The headers of events of a kind; NULL beyond the last. */
const struct wire_layout *lua_event_layout(enum flow_event_kind kind, size_t index);

#endif
