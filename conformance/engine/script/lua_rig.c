/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/lua_rig.h"

#include <lauxlib.h>

#include "conformance/engine/sandbox/lua_json.h"
#include "conformance/engine/script/lua_rig_internal.h"
#include "conformance/engine/sandbox/lua_sandbox.h"
#include "conformance/engine/rig/upper_tester.h"
#include "reports/results/result.h"

#define NANOSECONDS 1e9
#define SECOND      UINT64_C(1000000000)

/* What a check may have: half an hour on the link, and so many notes in its evidence. */
#define SECONDS_MAX (30 * 60)
#define NOTES_MAX   UINT64_C(20000)

/* The lower layers that a check can use: another one needs a line here, and files like lua_tcp.c. */
static const struct lua_binding *const bindings[] = {&lua_tcp, &lua_sctp, &lua_cm};

enum { BINDINGS = sizeof(bindings) / sizeof(bindings[0]) };

struct lua_rig *lua_rig_of(lua_State *lua)
{
    return lua_touserdata(lua, lua_upvalueindex(1));
}

struct rig *lua_rig_running(lua_State *lua)
{
    struct lua_rig *self = lua_rig_of(lua);

    if (self->rig == NULL) {
        luaL_error(lua, "there is no rig while scripts are loaded");
        return NULL; /* luaL_error() does not return, but is not declared so */
    }
    return self->rig;
}

void lua_rig_spend(lua_State *lua, uint64_t *used, uint64_t count, uint64_t limit, const char *what)
{
    if (count > limit - *used)
        luaL_error(lua, "the check has used all %s that it may use (%I)", what, (LUAI_UACINT)limit);
    *used += count;
}

uint64_t lua_rig_deadline(lua_State *lua, int argument)
{
    lua_Number seconds = luaL_checknumber(lua, argument);

    if (!(seconds >= 0 && seconds < 86400))
        luaL_argerror(lua, argument, "seconds from 0 to a day expected");
    return rig_now(lua_rig_of(lua)->rig) + (uint64_t)(seconds * NANOSECONDS);
}

bool lua_rig_pump(lua_State *lua, uint64_t deadline)
{
    struct lua_rig *self = lua_rig_of(lua);
    uint64_t last = self->began_ns + SECONDS_MAX * SECOND;
    int got = rig_pump(self->rig, deadline < last ? deadline : last);
    uint64_t now = rig_now(self->rig);

    lua_sandbox_turn(lua);
    if (got < 0) {
        self->link_failed = true;
        luaL_error(lua, "the link failed: %s", self->rig->failure.text);
    }
    if (now >= last)
        luaL_error(lua, "the check does not end: it has waited %d seconds", SECONDS_MAX);
    /* What came before the deadline is handled, but a device that never stops sending does not keep us. */
    return now < deadline || (got > 0 && now < deadline + SECOND);
}

void lua_rig_earn(lua_State *lua, size_t octets)
{
    enum { UNITS_AN_OCTET = 64 }; /* a short FPDU of some 80 octets costs the library about 4,000 instructions */

    lua_sandbox_earn(lua, (uint64_t)octets * UNITS_AN_OCTET);
}

lua_Integer lua_rig_integer(lua_State *lua, int table, const char *name, lua_Integer fallback, bool *given)
{
    lua_Integer value = fallback;

    *given = lua_istable(lua, table) && lua_getfield(lua, table, name) != LUA_TNIL;
    if (*given)
        value = luaL_checkinteger(lua, -1);
    if (lua_istable(lua, table))
        lua_pop(lua, 1);
    return value;
}

static int rig_wait(lua_State *lua)
{
    uint64_t deadline;

    (void)lua_rig_running(lua);
    deadline = lua_rig_deadline(lua, 1);

    while (lua_rig_pump(lua, deadline))
        continue;
    return 0;
}

static int rig_now_seconds(lua_State *lua)
{
    lua_pushnumber(lua, (lua_Number)rig_now(lua_rig_running(lua)) / NANOSECONDS);
    return 1;
}

static int rig_limits(lua_State *lua)
{
    struct rig *rig = lua_rig_running(lua);

    lua_pushnumber(lua, (lua_Number)rig->reaction_ns / NANOSECONDS);
    lua_pushnumber(lua, (lua_Number)rig->quiet_ns / NANOSECONDS);
    lua_pushnumber(lua, (lua_Number)rig->round_trip_ns / NANOSECONDS);
    return 3;
}

/* Octets that the device's TCP or SCTP takes while the tester's window is shut. */
static int rig_send_buffer(lua_State *lua)
{
    const struct rig *rig = lua_rig_running(lua);

    lua_pushinteger(lua, (lua_Integer)(rig->send_buffer != 0 ? rig->send_buffer : RIG_SEND_BUFFER));
    return 1;
}

static int rig_addresses(lua_State *lua)
{
    struct rig *rig = lua_rig_running(lua);
    char text[64];

    lua_pushstring(lua, net_address_format(&rig->own, text, sizeof(text)));
    lua_pushstring(lua, net_address_format(&rig->dut, text, sizeof(text)));
    lua_pushinteger(lua, rig->port);
    return 3;
}

/* Octets of the longest IP packet that the link to the device takes in one piece. */
static int rig_mtu(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)lua_rig_running(lua)->link->mtu);
    return 1;
}

static int rig_has_upper_tester(lua_State *lua)
{
    lua_pushboolean(lua, lua_rig_running(lua)->upper_tester);
    return 1;
}

static int rig_command(lua_State *lua)
{
    struct rig *rig = lua_rig_running(lua);
    struct iwarp_sentence why = {{0}};
    json_t *request;
    json_t *answer;

    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_rig_of(lua)->used = true;
    request = lua_json_from(lua, 1);
    if (request == NULL)
        return luaL_error(lua, "a command for the upper tester contains a value that JSON cannot express");
    answer = upper_tester_call(rig, request, &why);
    if (lua_rig_of(lua)->recorder != NULL && answer != NULL)
        recorder_command(lua_rig_of(lua)->recorder, request, answer);
    json_decref(request);
    if (answer == NULL) {
        lua_createtable(lua, 0, 2); /* a verdict: conformance/scripts/lib/3-harness.lua */
        lua_pushstring(lua, verdict_name(VERDICT_INCONCLUSIVE));
        lua_setfield(lua, -2, "verdict");
        lua_pushstring(lua, why.text);
        lua_setfield(lua, -2, "message");
        return lua_error(lua);
    }
    lua_json_push_new(lua, answer);
    return 1;
}

static int rig_note(lua_State *lua)
{
    struct lua_rig *self = lua_rig_of(lua);
    const char *text = luaL_checkstring(lua, 1);

    lua_rig_spend(lua, &self->notes, 1, NOTES_MAX, "notes");
    if (self->recorder != NULL)
        recorder_note(self->recorder, text);
    return 0;
}

/* What was looked at last, as two numbers: the place (both ports, and the end of the octets), and the kind. */
static int rig_looked(lua_State *lua)
{
    const struct last_seen *last_seen = &lua_rig_of(lua)->looked_at;

    lua_pushinteger(
        lua, (lua_Integer)((uint64_t)last_seen->own_port << 48 | (uint64_t)last_seen->dut_port << 32 | last_seen->end));
    lua_pushinteger(lua, last_seen->kind);
    return 2;
}

/* A verdict that follows is about this: what rig.looked() gave, or the octets up to that place. */
static int rig_look_at(lua_State *lua)
{
    uint64_t place = (uint64_t)luaL_checkinteger(lua, 1);
    lua_Integer kind = luaL_optinteger(lua, 2, LAST_SEEN_OCTETS);

    luaL_argcheck(lua, kind >= LAST_SEEN_NONE && kind <= LAST_SEEN_SILENCE && kind != LAST_SEEN_DEATH, 2,
                  "a kind of last_seen");
    lua_rig_of(lua)->looked_at = (struct last_seen){.kind = (enum last_seen_kind)kind,
                                                    .own_port = (uint16_t)(place >> 48),
                                                    .dut_port = (uint16_t)(place >> 32),
                                                    .end = (uint32_t)place};
    return 0;
}

static const luaL_Reg rig_functions[] = {
    {"wait", rig_wait},
    {"now", rig_now_seconds},
    {"limits", rig_limits},
    {"send_buffer", rig_send_buffer},
    {"addresses", rig_addresses},
    {"mtu", rig_mtu},
    {"has_upper_tester", rig_has_upper_tester},
    {"command", rig_command},
    {"note", rig_note},
    {"looked", rig_looked},
    {"look_at", rig_look_at},
    {NULL, NULL},
};

void lua_rig_begin(struct lua_rig *self, struct rig *rig, struct recorder *recorder)
{
    *self = (struct lua_rig){.rig = rig, .recorder = recorder, .cleared = self->cleared};
    if (rig != NULL)
        self->began_ns = rig_now(rig);
}

static void add_functions(lua_State *lua, struct lua_rig *self, const luaL_Reg *functions)
{
    lua_pushlightuserdata(lua, self);
    luaL_setfuncs(lua, functions, 1);
}

int lua_rig_open(lua_State *lua, struct lua_rig *self)
{
    lua_newtable(lua);
    add_functions(lua, self, rig_functions);
    add_functions(lua, self, lua_ipsec_functions);
    for (size_t i = 0; i < BINDINGS; i++) {
        lua_held_open(lua, self, bindings[i]);
        add_functions(lua, self, bindings[i]->functions);
    }
    return 1;
}
