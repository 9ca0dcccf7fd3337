/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SCTP association of the lower tester as Lua sees it. As with TCP, a function looks its association up after it has
 * read everything else from Lua.
 */
#include <string.h>

#include "conformance/engine/script/lua_rig_internal.h"
#include "conformance/engine/script/lua_sctp.h"

static struct sctp_assoc *check_association(lua_State *lua)
{
    return lua_held_endpoint(lua, &lua_sctp);
}

static bool flag(lua_State *lua, const char *name)
{
    bool set;

    lua_getfield(lua, 2, name);
    set = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    return set;
}

static int sent(lua_State *lua, int status)
{
    lua_pushboolean(lua, status == 0);
    return 1;
}

static int association_send(lua_State *lua)
{
    enum { USUAL_FLAGS = SCTP_FLAG_U | SCTP_FLAG_B | SCTP_FLAG_E };
    struct sctp_assoc_data data = {0};
    bool given;

    luaL_checktype(lua, 2, LUA_TTABLE);
    data.sid = (uint16_t)lua_rig_integer(lua, 2, "sid", 0, &given);
    data.ssn = (uint16_t)lua_rig_integer(lua, 2, "ssn", 0, &given);
    data.flags = (uint8_t)lua_rig_integer(lua, 2, "flags", USUAL_FLAGS, &given);
    data.ppid = (uint32_t)lua_rig_integer(lua, 2, "ppid", 0, &given);
    data.tsn = (uint32_t)lua_rig_integer(lua, 2, "tsn", 0, &data.choose_tsn);
    data.hold = flag(lua, "hold");
    data.once = flag(lua, "once");
    data.later = flag(lua, "later");
    data.bad_checksum = flag(lua, "bad_checksum");
    if (lua_getfield(lua, 2, "data") != LUA_TNIL) { /* stays on the stack: the octets are borrowed */
        data.user = (const uint8_t *)luaL_checklstring(lua, -1, &data.user_octets);
        lua_rig_spend_octets(lua, data.user_octets);
    }
    return sent(lua, sctp_assoc_send(check_association(lua), &data));
}

static int association_raw(lua_State *lua)
{
    size_t octets;
    const char *chunks = luaL_checklstring(lua, 2, &octets);
    uint32_t tag_flip = (uint32_t)luaL_optinteger(lua, 3, 0);
    bool bad_checksum = lua_toboolean(lua, 4);

    lua_rig_spend_octets(lua, octets);
    return sent(lua,
                sctp_assoc_send_raw(check_association(lua), (const uint8_t *)chunks, octets, tag_flip, bad_checksum));
}

static int association_flush(lua_State *lua)
{
    sctp_assoc_flush(check_association(lua));
    return 0;
}

static int association_resend(lua_State *lua)
{
    bool backwards = lua_toboolean(lua, 2);

    sctp_assoc_resend(check_association(lua), backwards);
    return 0;
}

static int association_heartbeat(lua_State *lua)
{
    return sent(lua, sctp_assoc_heartbeat(check_association(lua)));
}

static int association_shutdown(lua_State *lua)
{
    return sent(lua, sctp_assoc_shutdown(check_association(lua)));
}

static int association_abort(lua_State *lua)
{
    sctp_assoc_abort(check_association(lua));
    return 0;
}

static int association_withhold(lua_State *lua)
{
    bool withhold = lua_toboolean(lua, 2);

    sctp_assoc_withhold(check_association(lua), withhold);
    return 0;
}

static int association_window(lua_State *lua)
{
    uint32_t octets = (uint32_t)luaL_checkinteger(lua, 2);

    sctp_assoc_window(check_association(lua), octets);
    return 0;
}

static void set_number(lua_State *lua, const char *name, uint64_t number)
{
    lua_pushinteger(lua, (lua_Integer)number);
    lua_setfield(lua, -2, name);
}

static void push_chunk(lua_State *lua, const struct sctp_received *got)
{
    lua_rig_earn(lua, got->data.user_octets);
    lua_createtable(lua, 0, 11);
    set_number(lua, "tsn", got->data.tsn);
    set_number(lua, "sid", got->data.sid);
    set_number(lua, "ssn", got->data.ssn);
    set_number(lua, "ppid", got->data.ppid);
    set_number(lua, "flags", got->flags);
    set_number(lua, "packet", got->packet);
    set_number(lua, "place", got->place);
    set_number(lua, "packet_octets", got->packet_octets);
    lua_pushboolean(lua, got->fragmented);
    lua_setfield(lua, -2, "fragmented");
    lua_pushlstring(lua, (const char *)got->data.user, got->data.user_octets);
    lua_setfield(lua, -2, "data");
}

static void look_at(lua_State *lua, const struct sctp_assoc *assoc, enum last_seen_kind kind)
{
    const struct sctp_assoc_status *status = sctp_assoc_status(assoc);

    lua_rig_of(lua)->looked_at =
        (struct last_seen){.kind = kind, .own_port = status->own_port, .dut_port = status->peer_port};
}

/* A chunk; or nil and "timeout", or how the association ended. */
static int association_receive(lua_State *lua)
{
    uint64_t deadline = lua_rig_deadline(lua, 2);
    struct sctp_assoc *assoc = check_association(lua);
    const struct sctp_assoc_status *status = sctp_assoc_status(assoc);
    const struct sctp_received *got;
    bool more = true;

    while ((got = sctp_assoc_received(assoc)) == NULL && status->state != SCTP_ASSOC_CLOSED && more)
        more = lua_rig_pump(lua, deadline);
    look_at(lua, assoc, got != NULL ? LAST_SEEN_OCTETS : LAST_SEEN_SILENCE);
    if (got != NULL) {
        push_chunk(lua, got);
        sctp_assoc_consume(assoc);
        return 1;
    }
    lua_pushnil(lua);
    lua_pushstring(lua, status->state == SCTP_ASSOC_CLOSED ? sctp_assoc_cause_name(status->cause) : "timeout");
    return 2;
}

static int association_status(lua_State *lua)
{
    const struct sctp_assoc_status *status = sctp_assoc_status(check_association(lua));

    lua_createtable(lua, 0, 19);
    lua_pushstring(lua, sctp_assoc_state_name(status->state));
    lua_setfield(lua, -2, "state");
    lua_pushstring(lua, sctp_assoc_cause_name(status->cause));
    lua_setfield(lua, -2, "cause");
    set_number(lua, "own_port", status->own_port);
    set_number(lua, "peer_port", status->peer_port);
    set_number(lua, "next_tsn", status->next_tsn);
    set_number(lua, "unacknowledged", status->unacknowledged);
    set_number(lua, "acknowledged", status->acknowledged);
    set_number(lua, "received", status->received);
    set_number(lua, "duplicates", status->duplicates);
    set_number(lua, "heartbeats", status->heartbeats);
    set_number(lua, "own_outbound", status->own_outbound);
    set_number(lua, "own_inbound", status->own_inbound);
    set_number(lua, "outbound", status->peer.outbound);
    set_number(lua, "inbound", status->peer.inbound);
    set_number(lua, "peer_window", status->peer_window);
    if (status->peer.adaptations != 0)
        set_number(lua, "adaptation_length", status->peer.adaptation_length);
    if (status->peer.has_adaptation)
        set_number(lua, "adaptation", status->peer.adaptation);
    return 1;
}

/* Notes that the verdict is about what the upper tester reported of this stream, and not about what was read. */
static int association_mark_reported(lua_State *lua)
{
    const struct sctp_assoc *assoc = lua_held_if_open(lua, &lua_sctp);

    if (assoc != NULL)
        look_at(lua, assoc, LAST_SEEN_UPPER);
    return 0;
}

static int association_close(lua_State *lua)
{
    lua_held_close(lua, &lua_sctp);
    return 0;
}

const luaL_Reg lua_sctp_methods[] = {
    {"send", association_send},           {"raw", association_raw},
    {"flush", association_flush},         {"resend", association_resend},
    {"heartbeat", association_heartbeat}, {"shutdown", association_shutdown},
    {"abort", association_abort},         {"withhold", association_withhold},
    {"window", association_window},       {"receive", association_receive},
    {"status", association_status},       {"mark_reported", association_mark_reported},
    {"close", association_close},         {NULL, NULL},
};
