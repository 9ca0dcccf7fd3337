/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/event/lua_event_internal.h"

#include <string.h>

void lua_event_number(lua_State *lua, uint64_t value)
{
    lua_pushinteger(lua, (lua_Integer)value);
}

void lua_event_octets(lua_State *lua, const uint8_t *start, size_t count)
{
    if (start != NULL)
        lua_pushlstring(lua, (const char *)start, count);
    else
        lua_pushnil(lua);
}

static void get_kind(lua_State *lua, const struct flow_event *event)
{
    lua_pushstring(lua, lua_event_kind(event->kind));
}

static void get_sender(lua_State *lua, const struct flow_event *event)
{
    lua_pushstring(lua, flow_role(event->flow, event->direction)); /* NULL is nil */
}

static void get_flow(lua_State *lua, const struct flow_event *event)
{
    char name[FLOW_NAME_MAX];

    lua_pushstring(lua, flow_name(event->flow, event->direction, name, sizeof(name)));
}

static void get_frame(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->frame);
}

static void get_time(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->time_ns);
}

static void get_late(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->flow->late);
}

static void get_gap_before(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->flow->gap);
}

static void get_length(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->ulpdu->length);
}

static void get_octets(lua_State *lua, const struct flow_event *event)
{
    lua_event_octets(lua, event->ulpdu->octets, event->ulpdu->have);
}

static void get_index(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->ulpdu->index);
}

static void get_crc_ok(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, flow_crc_ok(event->ulpdu));
}

static void get_judgeable(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, !event->ulpdu->cut && !event->ulpdu->unverified && flow_crc_ok(event->ulpdu));
}

static void get_segments(lua_State *lua, const struct flow_event *event)
{
    if (event->ulpdu->mpa != NULL)
        lua_event_number(lua, event->ulpdu->mpa->segments);
    else
        lua_pushnil(lua);
}

static void get_payload(lua_State *lua, const struct flow_event *event)
{
    lua_event_octets(lua, event->ddp->segment.payload, event->ddp->payload_have);
}

static void get_payload_octets(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->ddp->segment.payload_octets);
}

static void get_message(lua_State *lua, const struct flow_event *event)
{
    lua_pushstring(lua, event->rdmap->message.row != NULL ? event->rdmap->message.row->name : NULL);
}

static void get_first(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->rdmap->first);
}

static void get_last(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->rdmap->last);
}

static void get_message_octets(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->rdmap->message_octets);
}

static void get_outstanding(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->flow->half[event->direction].request_count);
}

static void get_request(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->direction == FLOW_FROM_INITIATOR);
}

static void get_good(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->start->result == WIRE_OK);
}

static void get_private_data(lua_State *lua, const struct flow_event *event)
{
    size_t count = 0;
    const uint8_t *data =
        event->start->result == WIRE_OK ? iwarp_mpa_start_ulp_data(&event->start->frame, &count) : NULL;

    lua_event_octets(lua, data, count);
}

static void get_ack(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->open->ack);
}

static void get_mss(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->open->mss);
}

static void get_window(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->open->window);
}

static void get_reset(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->close->reset);
}

static void get_partial(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->close->partial_fpdu);
}

static void get_missing(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->gap->octets);
}

static void get_reason(lua_State *lua, const struct flow_event *event)
{
    lua_pushstring(lua, event->reason < FLOW_REASON_COUNT ? flow_reason_text(event->reason) : NULL);
}

static void get_chunk(lua_State *lua, const struct flow_event *event)
{
    lua_pushstring(lua, event->sctp->name);
}

static void get_sid(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->flow->sctp->sid);
}

static void get_tsn(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->session->tsn);
}

static void get_ppid(lua_State *lua, const struct flow_event *event)
{
    lua_event_number(lua, event->session->ppid);
}

static void get_repeated(lua_State *lua, const struct flow_event *event)
{
    lua_pushboolean(lua, event->cm->again);
}

enum {
    ANY = LUA_EVENT_KIND(FLOW_END + 1) - 1,
    SEGMENTS = LUA_EVENT_KIND(FLOW_ULPDU) | LUA_EVENT_KIND(FLOW_DDP) | LUA_EVENT_KIND(FLOW_RDMAP),
    PARSED = LUA_EVENT_KIND(FLOW_DDP) | LUA_EVENT_KIND(FLOW_RDMAP),
};

static const struct field {
    struct lua_event_field field;
    void (*get)(lua_State *, const struct flow_event *);
} fields[] = {
    {{"kind", "string", "what the event is, as `on` calls it", ANY}, get_kind},
    {{"sender", "string?", "\"initiator\" or \"responder\" of MPA; nil: the capture does not tell", ANY}, get_sender},
    {{"flow", "string", "addresses and ports, the sender first", ANY}, get_flow},
    {{"frame", "integer", "number of the frame that completed it", ANY}, get_frame},
    {{"time", "integer", "of that frame, in nanoseconds since 1970", ANY}, get_time},
    {{"late", "boolean", "the capture begins in the middle of the flow", ANY}, get_late},
    {{"gap", "boolean", "something of the flow was lost before: nothing certain is known of what goes on", ANY},
     get_gap_before},
    {{"length", "integer", "octets of the ULPDU on the wire", SEGMENTS}, get_length},
    {{"octets", "string", "the ULPDU, as much as was captured: for wire.unpack", SEGMENTS}, get_octets},
    {{"index", "integer", "of the FPDU in its direction, from 0", SEGMENTS}, get_index},
    {{"crc_ok", "boolean", "its CRC is right, or was not looked at", SEGMENTS}, get_crc_ok},
    {{"judgeable", "boolean", "all of it is there, and no CRC is wrong", SEGMENTS}, get_judgeable},
    {{"segments", "integer?", "TCP segments that carry it; nil over SCTP", SEGMENTS}, get_segments},
    {{"payload", "string", "what follows the DDP header, as much as was captured", PARSED}, get_payload},
    {{"payload_octets", "integer", "of it on the wire", PARSED}, get_payload_octets},
    {{"message", "string?", "\"Send\", \"RDMA Read Request\", ...; nil: an opcode of no text",
      LUA_EVENT_KIND(FLOW_RDMAP)},
     get_message},
    {{"first", "boolean", "first segment of its message", LUA_EVENT_KIND(FLOW_RDMAP)}, get_first},
    {{"last", "boolean", "last segment of its message", LUA_EVENT_KIND(FLOW_RDMAP)}, get_last},
    {{"message_octets", "integer", "of the message so far, this segment included", LUA_EVENT_KIND(FLOW_RDMAP)},
     get_message_octets},
    {{"outstanding", "integer", "requests of the sender that are not answered, without this one",
      LUA_EVENT_KIND(FLOW_RDMAP)},
     get_outstanding},
    {{"request", "boolean", "an MPA Request; else a Reply", LUA_EVENT_KIND(FLOW_MPA_START)}, get_request},
    {{"good", "boolean", "the frame is well-formed", LUA_EVENT_KIND(FLOW_MPA_START)}, get_good},
    {{"private_data", "string?", "the ULP's, without the enhanced word; nil of a frame that is not good",
      LUA_EVENT_KIND(FLOW_MPA_START)},
     get_private_data},
    {{"ack", "boolean", "a SYN, ACK", LUA_EVENT_KIND(FLOW_TCP_OPEN)}, get_ack},
    {{"mss", "integer", "its MSS option; 0: none", LUA_EVENT_KIND(FLOW_TCP_OPEN)}, get_mss},
    {{"window", "integer", "of the SYN", LUA_EVENT_KIND(FLOW_TCP_OPEN)}, get_window},
    {{"reset", "boolean", "RST; else FIN", LUA_EVENT_KIND(FLOW_TCP_CLOSE)}, get_reset},
    {{"partial_fpdu", "integer", "octets of an FPDU that was begun and not finished", LUA_EVENT_KIND(FLOW_TCP_CLOSE)},
     get_partial},
    {{"missing", "integer", "octets that the capture does not have", LUA_EVENT_KIND(FLOW_GAP)}, get_missing},
    {{"reason", "string?", "why octets are not decoded", LUA_EVENT_KIND(FLOW_UNDECODED) | LUA_EVENT_KIND(FLOW_END)},
     get_reason},
    {{"chunk", "string?", "name of the chunk's type", LUA_EVENT_KIND(FLOW_SCTP)}, get_chunk},
    {{"sid", "integer", "the SCTP stream", LUA_EVENT_KIND(FLOW_SESSION)}, get_sid},
    {{"tsn", "integer", "of the chunk", LUA_EVENT_KIND(FLOW_SESSION)}, get_tsn},
    {{"ppid", "integer", "of the chunk", LUA_EVENT_KIND(FLOW_SESSION)}, get_ppid},
    {{"again", "boolean", "a message of this kind came before in this exchange", LUA_EVENT_KIND(FLOW_CM)},
     get_repeated},
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

const struct lua_event_field *lua_event_field(size_t index)
{
    return index < FIELDS ? &fields[index].field : NULL;
}

bool lua_event_push(lua_State *lua, const struct flow_event *event, const char *name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if ((fields[i].field.kinds & LUA_EVENT_KIND(event->kind)) != 0 && strcmp(fields[i].field.name, name) == 0) {
            fields[i].get(lua, event);
            return true;
        }
    return false;
}
