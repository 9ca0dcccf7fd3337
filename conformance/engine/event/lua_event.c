/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/event/lua_event_internal.h"

#include <lauxlib.h>
#include <string.h>

#include "wire/cm.h"
#include "wire/ddp_sctp.h"
#include "wire/field.h"
#include "base/nearest.h"

#define OBJECT "warpcheck.event"

enum { HEADERS_MAX = 4 };

struct object {
    const struct lua_event_now *now;
    uint64_t number;
};

static const char *const kind_names[] = {
    [FLOW_TCP_OPEN] = "open", [FLOW_TCP_CLOSE] = "close", [FLOW_MPA_START] = "start", [FLOW_ULPDU] = "ulpdu",
    [FLOW_DDP] = "ddp",       [FLOW_RDMAP] = "rdmap",     [FLOW_GAP] = "gap",         [FLOW_UNDECODED] = "undecoded",
    [FLOW_SCTP] = "sctp",     [FLOW_SESSION] = "session", [FLOW_CM] = "cm",           [FLOW_END] = "end",
};

const char *lua_event_kind(enum flow_event_kind kind)
{
    return (size_t)kind < sizeof(kind_names) / sizeof(kind_names[0]) ? kind_names[kind] : NULL;
}

/*
 * ---- headers --------------------------------------------------------------------------------------------------------
 */

static const struct {
    const struct wire_layout *layout;
    unsigned kinds;
} layouts[] = {
    {&ddp_tagged_layout, LUA_EVENT_KIND(FLOW_DDP) | LUA_EVENT_KIND(FLOW_RDMAP)},
    {&ddp_untagged_layout, LUA_EVENT_KIND(FLOW_DDP) | LUA_EVENT_KIND(FLOW_RDMAP)},
    {&rdmap_control_layout, LUA_EVENT_KIND(FLOW_RDMAP)},
    {&rdmap_untagged_layout, LUA_EVENT_KIND(FLOW_RDMAP)},
    {&read_request_layout, LUA_EVENT_KIND(FLOW_RDMAP)},
    {&terminate_layout, LUA_EVENT_KIND(FLOW_RDMAP)},
    {&atomic_request_layout, LUA_EVENT_KIND(FLOW_RDMAP)},
    {&atomic_response_layout, LUA_EVENT_KIND(FLOW_RDMAP)},
    {&immediate_layout, LUA_EVENT_KIND(FLOW_RDMAP)},
    {&mpa_start_layout, LUA_EVENT_KIND(FLOW_MPA_START)},
    {&mpa_enhanced_layout, LUA_EVENT_KIND(FLOW_MPA_START)},
    {&ddp_sctp_control_layout, LUA_EVENT_KIND(FLOW_SESSION)},
    {&mad_layout, LUA_EVENT_KIND(FLOW_CM)},
    {&cm_ids_layout, LUA_EVENT_KIND(FLOW_CM)},
};

enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

const struct wire_layout *lua_event_layout(enum flow_event_kind kind, size_t index)
{
    for (size_t i = 0; i < LAYOUTS; i++)
        if ((layouts[i].kinds & LUA_EVENT_KIND(kind)) != 0 && index-- == 0)
            return layouts[i].layout;
    return NULL;
}

/* A header of this event, with all its octets. */
struct header {
    const struct wire_layout *layout;
    const uint8_t *octets;
};

static size_t add(struct header *headers, size_t count, const struct wire_layout *layout, const uint8_t *start,
                  size_t have)
{
    if (start == NULL || have < layout->octets)
        return count;
    headers[count] = (struct header){layout, start};
    return count + 1;
}

static size_t segment_headers(const struct flow_event *event, struct header *headers)
{
    const uint8_t *start = event->ulpdu->octets;
    size_t have = event->ulpdu->have, count = 0;
    bool tagged = event->ddp->segment.tagged;
    const struct wire_layout *header = event->kind == FLOW_RDMAP ? flow_header_layout(event->rdmap->header) : NULL;

    count = add(headers, count, tagged ? &ddp_tagged_layout : &ddp_untagged_layout, start, have);
    if (event->kind != FLOW_RDMAP || have == 0)
        return count;
    count = add(headers, count, tagged ? &rdmap_control_layout : &rdmap_untagged_layout, start + 1, have - 1);
    if (header != NULL)
        count = add(headers, count, header, event->ddp->segment.payload, event->ddp->payload_have);
    return count;
}

/* The headers that this event has, at most HEADERS_MAX. */
static size_t headers_of(const struct flow_event *event, struct header *headers)
{
    size_t count = 0;

    switch (event->kind) {
    case FLOW_DDP:
    case FLOW_RDMAP: return segment_headers(event, headers);
    case FLOW_MPA_START:
        count = add(headers, count, &mpa_start_layout, event->start->octets, event->start->octet_count);
        if (event->start->result == WIRE_OK && iwarp_mpa_start_has_word(&event->start->frame))
            count = add(headers, count, &mpa_enhanced_layout, event->start->octets + mpa_start_layout.octets,
                        event->start->octet_count - mpa_start_layout.octets);
        return count;
    case FLOW_SESSION:
        return add(headers, count, &ddp_sctp_control_layout, event->session->octets, event->session->have);
    case FLOW_CM:
        count = add(headers, count, &mad_layout, event->cm->mad, event->cm->have);
        if (count != 0)
            count = add(headers, count, &cm_ids_layout, event->cm->mad + mad_layout.octets,
                        event->cm->have - mad_layout.octets);
        return count;
    default: return 0;
    }
}

/*
 * ---- the object -----------------------------------------------------------------------------------------------------
 */

static void push_field(lua_State *lua, const struct wire_field *field, const uint8_t *header)
{
    if (field->kind == WIRE_OCTETS)
        lua_event_octets(lua, header + field->bit / 8, field->bits / 8);
    else
        lua_event_number(lua, wire_field_get(field, header));
}

/* Every name that an event of a kind can have, by a running number; `names` is the kind. */
static const char *name_at(const void *names, size_t index)
{
    enum flow_event_kind kind = *(const enum flow_event_kind *)names;
    const struct lua_event_field *field;

    for (size_t i = 0; (field = lua_event_field(i)) != NULL; i++)
        if ((field->kinds & LUA_EVENT_KIND(kind)) != 0 && index-- == 0)
            return field->name;
    for (size_t i = 0; i < LAYOUTS; i++) {
        if ((layouts[i].kinds & LUA_EVENT_KIND(kind)) == 0)
            continue;
        if (index < layouts[i].layout->field_count)
            return layouts[i].layout->fields[index].id;
        index -= layouts[i].layout->field_count;
    }
    return NULL;
}

static bool is_name(enum flow_event_kind kind, const char *key)
{
    const char *name;

    for (size_t i = 0; (name = name_at(&kind, i)) != NULL; i++)
        if (strcmp(name, key) == 0)
            return true;
    return false;
}

static int no_such_field(lua_State *lua, enum flow_event_kind kind, const char *key)
{
    char hint[NEAREST_HINT_OCTETS];
    size_t count = 0;

    while (name_at(&kind, count) != NULL)
        count++;
    return luaL_error(lua, "events of kind %s have no field \"%s\"%s", kind_names[kind], key,
                      nearest_hint(nearest_name(key, name_at, &kind, count), hint));
}

static int index_event(lua_State *lua)
{
    const struct object *object = luaL_checkudata(lua, 1, OBJECT);
    const char *key = luaL_checkstring(lua, 2);
    const struct flow_event *event = object->now->number == object->number ? object->now->event : NULL;
    struct header headers[HEADERS_MAX];
    size_t count;

    if (event == NULL)
        return luaL_error(lua, "an event is over when judge() returns: keep its fields, not the event");
    if (lua_event_push(lua, event, key))
        return 1;
    count = headers_of(event, headers);
    for (size_t i = 0; i < count; i++) {
        const struct wire_field *field = wire_layout_field(headers[i].layout, key);

        if (field != NULL) {
            push_field(lua, field, headers[i].octets);
            return 1;
        }
    }
    if (!is_name(event->kind, key))
        return no_such_field(lua, event->kind, key);
    lua_pushnil(lua);
    return 1;
}

static int refuse(lua_State *lua)
{
    return luaL_error(lua, "an event is read only");
}

void lua_event_push_now(lua_State *lua, const struct lua_event_now *now)
{
    struct object *object = lua_newuserdatauv(lua, sizeof(*object), 0);

    *object = (struct object){now, now->number};
    if (luaL_newmetatable(lua, OBJECT)) {
        lua_pushcfunction(lua, index_event);
        lua_setfield(lua, -2, "__index");
        lua_pushcfunction(lua, refuse);
        lua_setfield(lua, -2, "__newindex");
        lua_pushstring(lua, "event");
        lua_setfield(lua, -2, "__metatable");
    }
    lua_setmetatable(lua, -2);
}
