/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/lua_cm.h"

#define SECOND UINT64_C(1000000000)

enum { ATTEMPTS_MAX = 16, SECONDS_MAX = 600 };

static void set_time(struct rig *rig)
{
    cm_endpoint_set_time(rig->cm.endpoint, rig_now(rig));
}

static struct rig *rig_with_cm(lua_State *lua)
{
    struct rig *rig = lua_rig_running(lua);

    if (rig->cm.endpoint == NULL)
        luaL_error(lua, "the rig has no CM");
    set_time(rig);
    return rig;
}

static int rig_cm_open(lua_State *lua)
{
    struct rig *rig = rig_with_cm(lua);
    struct lua_held *held = lua_held_push(lua, &lua_cm);
    struct iwarp_sentence why;

    held->endpoint = cm_exchange_open(rig->cm.endpoint, &rig->dut, &why);
    return held->endpoint != NULL ? 1 : luaL_error(lua, "%s", why.text);
}

static int rig_cm_accept(lua_State *lua)
{
    struct rig *rig = rig_with_cm(lua);
    uint64_t deadline = lua_rig_deadline(lua, 1);
    struct lua_held *held = lua_held_push(lua, &lua_cm);

    while ((held->endpoint = cm_endpoint_accept(rig->cm.endpoint)) == NULL)
        if (!lua_rig_pump(lua, deadline))
            return 0;
    return 1;
}

static int rig_cm_forget(lua_State *lua)
{
    cm_endpoint_forget(rig_with_cm(lua)->cm.endpoint);
    return 0;
}

static int exchange_send(lua_State *lua)
{
    struct cm_exchange *exchange = lua_held_endpoint(lua, &lua_cm);
    struct cm_sending sending = {0};
    size_t octets;
    const char *mad = luaL_checklstring(lua, 2, &octets);
    lua_Number seconds = 0;
    bool given;

    if (octets != MAD_OCTETS)
        return luaL_error(lua, "a MAD has %d octets, got %d", MAD_OCTETS, (int)octets);
    sending.icrc_flip = (uint32_t)lua_rig_integer(lua, 3, "icrc_flip", 0, &given);
    sending.attempts = (unsigned)lua_rig_integer(lua, 3, "attempts", 1, &given);
    if (lua_istable(lua, 3) && lua_getfield(lua, 3, "interval") != LUA_TNIL)
        seconds = luaL_checknumber(lua, -1);
    if (sending.attempts > ATTEMPTS_MAX || !(seconds >= 0 && seconds <= SECONDS_MAX))
        return luaL_error(lua, "at most %d attempts and an interval of %d seconds were expected", ATTEMPTS_MAX,
                          SECONDS_MAX);
    sending.interval_ns = (uint64_t)(seconds * (lua_Number)SECOND);
    lua_rig_spend_octets(lua, octets);
    cm_exchange_send(exchange, (const uint8_t *)mad, &sending);
    return 0;
}

static int exchange_receive(lua_State *lua)
{
    struct cm_exchange *exchange = lua_held_endpoint(lua, &lua_cm);
    uint64_t deadline = lua_rig_deadline(lua, 2);
    struct cm_exchange_status status;
    struct cm_received received;

    while (!cm_exchange_next(exchange, &received)) {
        cm_exchange_status(exchange, &status);
        if ((lua_toboolean(lua, 3) && status.attempts != 0 && !status.waiting) || !lua_rig_pump(lua, deadline))
            return 0;
    }
    lua_pushlstring(lua, (const char *)received.mad, MAD_OCTETS);
    lua_pushboolean(lua, received.icrc_good);
    return 2;
}

static void set_number(lua_State *lua, const char *name, uint64_t value)
{
    lua_pushinteger(lua, (lua_Integer)value);
    lua_setfield(lua, -2, name);
}

static int exchange_status(lua_State *lua)
{
    static const char *const states[] = {"new", "requested", "replied", "established", "closing", "ended"};
    const struct cm_exchange *exchange = lua_held_endpoint(lua, &lua_cm);
    struct cm_exchange_status status;

    cm_exchange_status(exchange, &status);
    lua_createtable(lua, 0, 11);
    lua_pushstring(lua, states[status.state]);
    lua_setfield(lua, -2, "state");
    lua_pushboolean(lua, status.client);
    lua_setfield(lua, -2, "client");
    lua_pushboolean(lua, status.waiting);
    lua_setfield(lua, -2, "waiting");
    set_number(lua, "local_id", status.local_id);
    set_number(lua, "remote_id", status.remote_id);
    set_number(lua, "transaction", status.transaction);
    set_number(lua, "qpn", status.qpn);
    set_number(lua, "psn", status.psn);
    set_number(lua, "ca_guid", status.ca_guid);
    set_number(lua, "attempts", status.attempts);
    set_number(lua, "repeated", status.repeated);
    return 1;
}

static int exchange_close(lua_State *lua)
{
    lua_held_close(lua, &lua_cm);
    return 0;
}

static const luaL_Reg functions[] = {
    {"cm_open", rig_cm_open},
    {"cm_accept", rig_cm_accept},
    {"cm_forget", rig_cm_forget},
    {NULL, NULL},
};

static const luaL_Reg methods[] = {
    {"send", exchange_send},
    {"receive", exchange_receive},
    {"status", exchange_status},
    {"close", exchange_close},
    {NULL, NULL},
};

static void drop(void *exchange)
{
    cm_exchange_release(exchange);
}

const struct lua_binding lua_cm = {
    .functions = functions,
    .metatable = "warpcheck.exchange",
    .methods = methods,
    .what = "exchange",
    .several = "exchanges",
    .set_time = set_time,
    .drop = drop,
};
