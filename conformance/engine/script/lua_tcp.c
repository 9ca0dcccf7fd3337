/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP in the table `rig`: how a check opens connections. lua_tcp_connection.c has the methods of a connection. */
#include <lauxlib.h>

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

static int rig_connect(lua_State *lua)
{
    struct rig *rig = rig_with_tcp(lua);
    struct tcp_options options = {0};
    struct sentence why = {{0}};
    struct lua_held *connection;
    struct tcp_connection *tcp;
    uint64_t deadline = rig_now(rig) + rig->reaction_ns;
    size_t count = 0;
    const char *first;
    bool given;
    uint16_t port = (uint16_t)lua_rig_integer(lua, 1, "port", rig->port, &given);

    options.mss = (uint16_t)lua_rig_integer(lua, 1, "mss", 0, &given);
    options.iss = (uint32_t)lua_rig_integer(lua, 1, "iss", 0, &options.choose_iss);
    options.window = (uint16_t)lua_rig_integer(lua, 1, "window", 0, &options.choose_window);
    options.source_port = (uint16_t)lua_rig_integer(lua, 1, "source_port", 0, &given);
    first = read_first(lua, &count);
    connection = lua_held_push(lua, &lua_tcp);
    tcp = connection->endpoint = tcp_connect(rig->tcp.stack, &rig->dut, port, &options, &why);
    if (tcp == NULL)
        return luaL_error(lua, "%s", why.text);
    if (first != NULL)
        (void)tcp_send(tcp, (const uint8_t *)first, count);
    while (tcp_status(tcp)->state == TCP_STATE_SYN_SENT && lua_rig_pump(lua, deadline))
        continue;
    if (tcp_is_open(tcp) || tcp_status(tcp)->established_ns != 0) {
        rig_note_round_trip(rig, tcp_status(tcp)->round_trip_ns);
        return 1;
    }
    lua_pushnil(lua);
    lua_pushstring(lua, tcp_status(tcp)->cause == TCP_CAUSE_NONE ? "no answer to the SYN"
                                                                 : tcp_cause_name(tcp_status(tcp)->cause));
    return 2;
}

static int rig_listen(lua_State *lua)
{
    struct rig *rig = rig_with_tcp(lua);
    struct tcp_options options = {0};
    struct sentence why;
    uint16_t port = (uint16_t)luaL_checkinteger(lua, 1);
    bool given;

    options.mss = (uint16_t)lua_rig_integer(lua, 2, "mss", 0, &given);
    options.iss = (uint32_t)lua_rig_integer(lua, 2, "iss", 0, &options.choose_iss);
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
    return 1;
}

static const luaL_Reg functions[] = {
    {"connect", rig_connect},
    {"listen", rig_listen},
    {"accept", rig_accept},
    {NULL, NULL},
};

static void set_time(struct rig *rig)
{
    tcp_stack_set_time(rig->tcp.stack, rig_now(rig));
}

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
