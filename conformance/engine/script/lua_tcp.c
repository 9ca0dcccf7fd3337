/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP in the table `rig`: how a check opens connections. lua_tcp_connection.c has the methods of a connection. */
#include <lauxlib.h>
#include <stdlib.h>

#include "conformance/engine/rig/device_keeper.h"
#include "conformance/engine/script/lua_rig_internal.h"
#include "conformance/engine/script/lua_tcp.h"

/* The rig of the check that runs, and its TCP at the present time. */
static struct rig *rig_with_tcp(lua_State *lua)
{
    struct rig *rig = lua_rig_running(lua);

    if (rig->tcp.stack == NULL)
        luaL_error(lua, "the rig has no TCP");
    lua_tcp.set_time(rig);
    return rig;
}

/* Octets that leave with the ACK of the handshake (RFC 5044 7.1.4.2): left on the stack; NULL: none. */
static const char *read_first(lua_State *lua, size_t *count)
{
    const char *octets = NULL;

    if (lua_istable(lua, 1) && lua_getfield(lua, 1, "first") != LUA_TNIL) {
        octets = luaL_checklstring(lua, -1, count);
        lua_rig_spend_octets(lua, *count);
    }
    return octets;
}

static void await_handshake(lua_State *lua, const struct rig *rig, const struct tcp_connection *tcp)
{
    uint64_t deadline = rig_now(lua_rig_of(lua)->rig) + rig->reaction_ns;

    while (tcp_status(tcp)->state == TCP_STATE_SYN_SENT && lua_rig_pump(lua, deadline))
        continue;
}

/* Has the device accepted the connection, also if it was closed later? */
static bool accepted(struct rig *rig, const struct tcp_connection *tcp)
{
    if (!tcp_is_open(tcp) && tcp_status(tcp)->established_ns == 0)
        return false;
    rig_note_round_trip(rig, tcp_status(tcp)->round_trip_ns);
    device_keeper_accepted(rig, rig->stimulating);
    return true;
}

static const char *cause_of(const struct tcp_connection *tcp)
{
    enum tcp_cause cause = tcp_status(tcp)->cause;

    return cause == TCP_CAUSE_NONE ? "no answer to the SYN" : tcp_cause_name(cause);
}

/* A member of the table of options that stands for true. */
static bool wants(lua_State *lua, int index, const char *name)
{
    bool wanted = false;

    if (lua_istable(lua, index)) {
        lua_getfield(lua, index, name);
        wanted = lua_toboolean(lua, -1);
        lua_pop(lua, 1);
    }
    return wanted;
}

static int rig_connect(lua_State *lua)
{
    struct rig *rig = rig_with_tcp(lua);
    struct tcp_options options = {0};
    struct iwarp_sentence why = {{0}};
    struct lua_held *connection;
    struct tcp_connection *tcp;
    size_t count = 0;
    const char *first;
    bool given;
    uint16_t port = (uint16_t)lua_rig_integer(lua, 1, "port", rig->port, &given);

    options.mss = (uint16_t)lua_rig_integer(lua, 1, "mss", 0, &given);
    options.iss = (uint32_t)lua_rig_integer(lua, 1, "iss", 0, &options.choose_iss);
    options.window = (uint16_t)lua_rig_integer(lua, 1, "window", 0, &options.choose_window);
    options.source_port = (uint16_t)lua_rig_integer(lua, 1, "source_port", 0, &given);
    options.sack = wants(lua, 1, "sack");
    first = read_first(lua, &count);
    connection = lua_held_push(lua, &lua_tcp);
    if (port == rig->port)
        device_keeper_before(rig);
    do {
        if (connection->endpoint != NULL)
            lua_tcp.drop(connection->endpoint);
        lua_tcp.set_time(rig);
        tcp = connection->endpoint = tcp_connect(rig->tcp.stack, &rig->dut, port, &options, &why);
        if (tcp == NULL)
            return luaL_error(lua, "%s", why.text);
        if (first != NULL)
            (void)tcp_send(tcp, (const uint8_t *)first, count);
        await_handshake(lua, rig, tcp);
    } while (!accepted(rig, tcp) && port == rig->port && device_keeper_refused(rig, cause_of(tcp)));
    if (accepted(rig, tcp))
        return 1;
    lua_pushnil(lua);
    lua_pushstring(lua, cause_of(tcp));
    return 2;
}

/* A port at which a check listens. */
struct listening {
    struct tcp_stack *stack;
    uint16_t port;
};

/* A device may try again by itself what a check has ended (RFC 6581 10): it is refused, and no later check is given it. */
static void stop_listening(void *endpoint)
{
    struct listening *listening = endpoint;
    struct tcp_connection *connection;

    tcp_unlisten(listening->stack, listening->port);
    while ((connection = tcp_accept(listening->stack, listening->port)) != NULL) {
        tcp_abort(connection);
        tcp_release(connection);
    }
    free(listening);
}

static void set_time(struct rig *rig)
{
    tcp_stack_set_time(rig->tcp.stack, rig_now(rig));
}

static const struct lua_binding listener = {
    .metatable = "warpcheck.listener",
    .what = "listener",
    .several = "listeners",
    .set_time = set_time,
    .drop = stop_listening,
};

static int rig_listen(lua_State *lua)
{
    struct rig *rig = rig_with_tcp(lua);
    struct listening *listening;
    struct lua_held *held;
    struct tcp_options options = {0};
    struct iwarp_sentence why;
    uint16_t port = (uint16_t)luaL_checkinteger(lua, 1);
    bool given;

    options.mss = (uint16_t)lua_rig_integer(lua, 2, "mss", 0, &given);
    options.iss = (uint32_t)lua_rig_integer(lua, 2, "iss", 0, &options.choose_iss);
    options.withhold_acks = wants(lua, 2, "withheld");
    options.sack = wants(lua, 2, "sack");
    held = lua_held_push(lua, &listener);
    held->endpoint = listening = malloc(sizeof(*listening));
    if (listening == NULL)
        return luaL_error(lua, "out of memory for a listener");
    *listening = (struct listening){.stack = rig->tcp.stack, .port = port};
    tcp_unlisten(rig->tcp.stack, port);
    if (tcp_listen(rig->tcp.stack, port, &options, &why) != 0)
        return luaL_error(lua, "%s", why.text);
    return 0;
}

static int rig_accept(lua_State *lua)
{
    struct rig *rig = rig_with_tcp(lua);
    uint16_t port = (uint16_t)luaL_checkinteger(lua, 1);
    uint64_t deadline = lua_rig_deadline(lua, 2);
    struct lua_held *connection = lua_held_push(lua, &lua_tcp);

    while ((connection->endpoint = tcp_accept(rig->tcp.stack, port)) == NULL)
        if (!lua_rig_pump(lua, deadline))
            return 0;
    rig_note_round_trip(rig, tcp_status(connection->endpoint)->round_trip_ns);
    device_keeper_stimulated(rig);
    return 1;
}

/* An initiator without an upper tester is started by the profile's command; true when there is one. */
static int rig_has_connect_command(lua_State *lua)
{
    lua_pushboolean(lua, device_keeper_starts_initiator(lua_rig_running(lua)));
    return 1;
}

static int rig_start_initiator(lua_State *lua)
{
    struct rig *rig = lua_rig_running(lua);
    lua_Integer port = luaL_checkinteger(lua, 1);
    struct iwarp_sentence why;

    if (!device_keeper_starts_initiator(rig))
        return luaL_error(lua, "the profile has no connect_command");
    if (port < 1 || port > UINT16_MAX)
        return luaL_argerror(lua, 1, "a port from 1 to 65535 expected");
    if (device_keeper_connect(rig, (uint16_t)port, &why) != 0)
        return luaL_error(lua, "%s", why.text);
    return 0;
}

static int rig_initiator_connected(lua_State *lua)
{
    struct iwarp_sentence why;

    if (device_keeper_connected(lua_rig_running(lua), &why) != 0)
        return luaL_error(lua, "%s", why.text);
    return 0;
}

/* ICMP messages to the lower tester that a packet was too big, or not put together in time. */
static int rig_unreachable(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)tcp_stack_unreachable(rig_with_tcp(lua)->tcp.stack));
    return 1;
}

static const luaL_Reg functions[] = {
    {"connect", rig_connect},
    {"listen", rig_listen},
    {"accept", rig_accept},
    {"unreachable", rig_unreachable},
    {"has_connect_command", rig_has_connect_command},
    {"initiator_connected", rig_initiator_connected},
    {"start_initiator", rig_start_initiator},
    {NULL, NULL},
};

static void drop(void *connection)
{
    tcp_abort(connection);
    tcp_release(connection);
}

const struct lua_binding lua_tcp = {
    .functions = functions,
    .metatable = "warpcheck.connection",
    .methods = lua_tcp_methods,
    .what = "connection",
    .several = "connections",
    .set_time = set_time,
    .drop = drop,
};
