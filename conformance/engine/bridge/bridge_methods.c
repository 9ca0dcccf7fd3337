/* SPDX-License-Identifier: BSD-2-Clause */
/* What act() can do to its unit. What cannot be done is no error: the impairment was not applied, and that says why. */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_script_internal.h"

#define UNIT      "warpcheck.unit"
#define SECOND_NS UINT64_C(1000000000)

enum { PARTNER_NS = BRIDGE_PARTNER_MS * 1000000 };

/* The call that is being made; an error once it is over. */
static struct bridge_call *call_of(lua_State *lua)
{
    struct bridge_call *const *held = luaL_checkudata(lua, 1, UNIT);
    struct bridge_call *call = bridge_script_of(lua)->call;

    if (call == NULL || *held != call)
        luaL_error(lua, "a unit is over when act() returns");
    return call;
}

__attribute__((format(printf, 2, 3))) static void note(struct bridge_call *call, const char *format, ...)
{
    size_t used = strlen(call->done);
    va_list arguments;

    if (used + 3 >= sizeof(call->done))
        return;
    if (used != 0)
        used += (size_t)snprintf(call->done + used, sizeof(call->done) - used, ", ");
    va_start(arguments, format);
    (void)vsnprintf(call->done + used, sizeof(call->done) - used, format, arguments);
    va_end(arguments);
}

/* The first reason stays. */
static void refuse(struct bridge_call *call, const struct iwarp_sentence *why)
{
    if (call->refused.text[0] == '\0')
        call->refused = *why;
}

static uint64_t seconds_at(lua_State *lua, const struct bridge_call *call, int index)
{
    lua_Number seconds = luaL_optnumber(lua, index, (lua_Number)call->hold_ns / 1e9);

    if (!(seconds >= 0))
        luaL_error(lua, "seconds from 0 were expected");
    return seconds * 1e9 < (lua_Number)call->hold_ns ? (uint64_t)(seconds * 1e9) : call->hold_ns;
}

static int unit_drop(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);

    call->unit.copies = 0;
    note(call, "dropped");
    return 0;
}

static int unit_duplicate(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    lua_Integer more = luaL_optinteger(lua, 2, 1);

    luaL_argcheck(lua, more >= 1 && more < BRIDGE_COPIES_MOST, 2, "1 to 15 more were expected");
    call->unit.copies += (unsigned)more;
    if (call->unit.copies > BRIDGE_COPIES_MOST)
        call->unit.copies = BRIDGE_COPIES_MOST;
    note(call, "sent %u times", call->unit.copies);
    return 0;
}

static void refuse_because(struct bridge_call *call, const char *text)
{
    struct iwarp_sentence why;

    (void)iwarp_sentence_set(&why, "%s", text);
    refuse(call, &why);
}

static void wait_for(struct bridge_call *call, enum bridge_wait wait, uint32_t end, uint64_t until_ns)
{
    const enum bridge_wait now = call->association != NULL ? call->association->direction[call->side].wait
                                                           : call->connection->direction[call->side].wait;

    if (now != BRIDGE_GOES) {
        refuse_because(call, "the direction stands still already");
    } else if (call->association == NULL) {
        bridge_stream_wait(&call->connection->direction[call->side], wait, call->at, end, until_ns);
    } else {
        struct bridge_sctp_direction *direction = &call->association->direction[call->side];

        bridge_sctp_wait(call->sctp, direction, wait, call->at, until_ns);
        direction->wait_stream = call->stream;
    }
}

/* What is TCP's alone. True: it was refused. */
static bool refuse_over_sctp(struct bridge_call *call)
{
    if (call->association == NULL)
        return false;
    refuse_because(call, "it is in no TCP segment: SCTP keeps its messages apart");
    return true;
}

static int unit_delay(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    uint64_t nanoseconds = seconds_at(lua, call, 2);

    wait_for(call, BRIDGE_DELAYED, call->at, call->streams->now_ns + nanoseconds);
    note(call, "delayed by %g s", (double)nanoseconds / 1e9);
    return 0;
}

static int unit_stall(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    bool ends = !lua_isnoneornil(lua, 2);
    uint64_t nanoseconds = seconds_at(lua, call, 2);

    wait_for(call, ends ? BRIDGE_DELAYED : BRIDGE_STALLED, call->at, call->streams->now_ns + nanoseconds);
    note(call, ends ? "stalled for %g s" : "stalled", (double)nanoseconds / 1e9);
    return 0;
}

static int unit_release(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);

    call->released = true;
    note(call, "what is stalled goes on");
    return 0;
}

static int unit_swap(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);

    call->swaps = true;
    note(call, "sent after the next one");
    return 0;
}

static int unit_join(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);

    if (refuse_over_sctp(call))
        return 0;
    wait_for(call, BRIDGE_JOINS, call->at, call->streams->now_ns + PARTNER_NS);
    note(call, "in one segment with the next one");
    return 0;
}

/* cut(OCTET...): segments end before these octets of the unit, from 0; in the receiver's numbers. */
static int unit_cut(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    struct bridge_direction *direction;
    struct iwarp_sentence why;

    if (refuse_over_sctp(call))
        return 0;
    direction = &call->connection->direction[call->side];
    for (int i = 2; i <= lua_gettop(lua); i++) {
        lua_Integer at = luaL_checkinteger(lua, i);

        luaL_argcheck(lua, at >= 0, i, "octets from 0 were expected");
        if (direction->cut_count == BRIDGE_CUTS_MOST || (uint64_t)at > call->end - call->at) {
            (void)iwarp_sentence_set(&why,
                                     (uint64_t)at > call->end - call->at ? "it has no octet %lld"
                                                                         : "too many cuts wait, at octet %lld",
                                     (long long)at);
            refuse(call, &why);
            return 0;
        }
        direction->cuts[direction->cut_count++] = bridge_map_out(&direction->map, call->at) + (uint32_t)at;
    }
    note(call, "cut into segments");
    return 0;
}

/* corrupt([OCTET [, MASK]]): of the unit, from 0; -1 is its last. The CRC is not mended. */
static int unit_corrupt(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    lua_Integer at = luaL_optinteger(lua, 2, -1), mask = luaL_optinteger(lua, 3, 1);
    struct iwarp_sentence why;

    luaL_argcheck(lua, mask > 0 && mask < 256, 3, "bits of an octet were expected");
    if (at < 0)
        at += (lua_Integer)call->unit.raw_octets;
    if (at < 0 || bridge_unit_flip(&call->unit, (size_t)at, (uint8_t)mask, &why) != 0) {
        if (at < 0)
            (void)iwarp_sentence_set(&why, "it has no such octet");
        refuse(call, &why);
    }
    note(call, "octet %lld corrupted", (long long)at);
    return 0;
}

/* The last argument: { crc = "kept" } */
static void read_crc(lua_State *lua, struct bridge_call *call, int index)
{
    const char *crc;

    if (lua_isnoneornil(lua, index))
        return;
    luaL_checktype(lua, index, LUA_TTABLE);
    (void)lua_getfield(lua, index, "crc");
    crc = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "mended";
    if (strcmp(crc, "kept") != 0 && strcmp(crc, "mended") != 0)
        luaL_error(lua, "crc: \"kept\" or \"mended\" was expected");
    call->unit.keeps_crc = strcmp(crc, "kept") == 0;
    lua_pop(lua, 1);
}

/* edit({ MSN = 7, ... } [, { crc = "kept" }]) */
static int unit_edit(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    struct iwarp_sentence why;
    int fields = 0;

    luaL_checktype(lua, 2, LUA_TTABLE);
    read_crc(lua, call, 3);
    for (lua_pushnil(lua); lua_next(lua, 2) != 0; lua_pop(lua, 1)) {
        if (lua_type(lua, -2) != LUA_TSTRING)
            return luaL_error(lua, "fields are given by name");
        if (bridge_unit_edit(&call->unit, lua_tostring(lua, -2), (uint64_t)luaL_checkinteger(lua, -1), &why) != 0) {
            refuse(call, &why);
            return 0;
        }
        fields++;
    }
    note(call, "%d field%s edited%s", fields, fields == 1 ? "" : "s", call->unit.keeps_crc ? ", its CRC kept" : "");
    return 0;
}

/* replace(ULPDU [, { crc = "kept" }]), of a start-up frame the whole of it. */
static int unit_replace(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    struct iwarp_sentence why;
    size_t count;
    const char *octets = luaL_checklstring(lua, 2, &count);

    read_crc(lua, call, 3);
    if (bridge_unit_replace(&call->unit, (const uint8_t *)octets, count, &why) != 0)
        refuse(call, &why);
    note(call, "replaced by %zu octets", count);
    return 0;
}

/* insert(ULPDU): before it. */
static int unit_insert(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    struct iwarp_sentence why;
    size_t count;
    const char *octets = luaL_checklstring(lua, 2, &count);

    if (bridge_unit_insert(&call->unit, (const uint8_t *)octets, count, &why) != 0)
        refuse(call, &why);
    note(call, "another one of %zu octets before it", count);
    return 0;
}

static int unit_lose(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);

    if (call->association != NULL) {
        call->association->direction[call->side].loses = true;
        call->association->direction[call->side].lose = call->at;
    } else {
        call->connection->direction[call->side].loses = true;
        call->connection->direction[call->side].lose = call->at;
    }
    note(call, "its %s lost once", call->association != NULL ? "SCTP packet" : "TCP segment");
    return 0;
}

static int unit_close(lua_State *lua)
{
    struct bridge_call *call = call_of(lua);
    const char *how = luaL_optstring(lua, 2, call->association != NULL ? "shutdown" : "fin");

    call->resets = strcmp(how, "rst") == 0 || strcmp(how, "abort") == 0;
    luaL_argcheck(lua, call->resets || strcmp(how, "fin") == 0 || strcmp(how, "shutdown") == 0, 2,
                  "\"fin\" or \"rst\", over SCTP \"shutdown\" or \"abort\", was expected");
    call->closes = true;
    if (call->association != NULL)
        note(call, "closed by %s before it", call->resets ? "ABORT" : "SHUTDOWN");
    else
        note(call, "closed by %s before it", call->resets ? "RST" : "FIN");
    return 0;
}

/* Its receiver will look at its CRC. */
static int unit_crc_in_use(lua_State *lua)
{
    const struct flow_event *event = call_of(lua)->unit.event;

    lua_pushboolean(lua, bridge_unit_is_chunk(&call_of(lua)->unit) || /* SCTP's own, in each packet */
                             (event->ulpdu != NULL && event->ulpdu->mpa != NULL && event->ulpdu->mpa->framing.crc));
    return 1;
}

static const luaL_Reg methods[] = {
    {"crc_in_use", unit_crc_in_use},
    {"drop", unit_drop},
    {"duplicate", unit_duplicate},
    {"delay", unit_delay},
    {"stall", unit_stall},
    {"release", unit_release},
    {"swap", unit_swap},
    {"join", unit_join},
    {"cut", unit_cut},
    {"corrupt", unit_corrupt},
    {"edit", unit_edit},
    {"replace", unit_replace},
    {"insert", unit_insert},
    {"lose", unit_lose},
    {"close", unit_close},
    {NULL, NULL},
};

void bridge_unit_push(lua_State *lua)
{
    struct bridge_call **held = lua_newuserdatauv(lua, sizeof(struct bridge_call *), 0);

    *held = bridge_script_of(lua)->call;
    if (luaL_newmetatable(lua, UNIT)) {
        lua_newtable(lua);
        luaL_setfuncs(lua, methods, 0);
        lua_setfield(lua, -2, "__index");
        lua_pushstring(lua, "unit");
        lua_setfield(lua, -2, "__metatable");
    }
    lua_setmetatable(lua, -2);
}
