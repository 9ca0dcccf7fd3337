/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/lua_rig.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/lua_json.h"
#include "conformance/engine/upper_tester.h"
#include "generator/tcp.h"
#include "reports/result.h"

#define CONNECTION  "warpcheck.connection"
#define NANOSECONDS 1e9

enum { SEGMENTS_MAX = 4096 };

/* Userdata; the list lets the host end what a check forgets. */
struct lua_connection {
    struct lua_connection *next;
    struct lua_rig *owner;
    struct tcp_connection *tcp; /* NULL: closed */
    int anchor;                 /* keeps it from Lua's collector while its check runs */
};

static struct lua_rig *self_of(lua_State *lua)
{
    return lua_touserdata(lua, lua_upvalueindex(1));
}

static struct rig *rig_of(lua_State *lua)
{
    struct lua_rig *self = self_of(lua);

    if (self->rig == NULL) {
        luaL_error(lua, "there is no rig while scripts are loaded");
        return NULL; /* luaL_error() does not return, but says so to nobody */
    }
    tcp_stack_set_time(self->rig->tcp, rig_now(self->rig));
    return self->rig;
}

static uint64_t deadline_in(lua_State *lua, struct rig *rig, int argument)
{
    lua_Number seconds = luaL_checknumber(lua, argument);

    if (!(seconds >= 0 && seconds < 86400))
        luaL_argerror(lua, argument, "seconds from 0 to a day expected");
    return rig_now(rig) + (uint64_t)(seconds * NANOSECONDS);
}

/* Turns the crank once; false at the deadline. Raises when the link has failed. */
static bool pump(lua_State *lua, uint64_t deadline)
{
    struct lua_rig *self = self_of(lua);
    int got = rig_pump(self->rig, deadline);

    if (got < 0) {
        self->link_failed = true;
        luaL_error(lua, "the link failed: %s", self->rig->failure.text);
    }
    return got > 0 || rig_now(self->rig) < deadline;
}

static struct tcp_connection *check_connection(lua_State *lua)
{
    struct lua_connection *connection = luaL_checkudata(lua, 1, CONNECTION);

    if (connection->tcp == NULL)
        luaL_error(lua, "the connection was closed by this script");
    tcp_stack_set_time(connection->owner->rig->tcp, rig_now(connection->owner->rig));
    return connection->tcp;
}

/*
 * What a check forgets stays open until the check has ended. If the collector reset it, when that happens would depend on
 * what the state did before this check, and no check could be repeated.
 */
static void push_connection(lua_State *lua, struct tcp_connection *tcp)
{
    struct lua_rig *self = self_of(lua);
    struct lua_connection *connection = lua_newuserdatauv(lua, sizeof(*connection), 0);

    connection->owner = self;
    connection->tcp = tcp;
    connection->next = self->connections;
    self->connections = connection;
    connection->anchor = LUA_NOREF;
    luaL_setmetatable(lua, CONNECTION);
    lua_pushvalue(lua, -1);
    connection->anchor = luaL_ref(lua, LUA_REGISTRYINDEX);
}

static lua_Integer integer_field(lua_State *lua, int table, const char *name, lua_Integer fallback, bool *given)
{
    lua_Integer value = fallback;

    *given = lua_istable(lua, table) && lua_getfield(lua, table, name) != LUA_TNIL;
    if (*given)
        value = luaL_checkinteger(lua, -1);
    if (lua_istable(lua, table))
        lua_pop(lua, 1);
    return value;
}

/* Octets that leave with the ACK of the handshake (RFC 5044 7.1.4.2). */
static void send_first(lua_State *lua, struct tcp_connection *tcp)
{
    size_t count;
    const char *octets;

    if (!lua_istable(lua, 1))
        return;
    if (lua_getfield(lua, 1, "first") != LUA_TNIL) {
        octets = luaL_checklstring(lua, -1, &count);
        (void)tcp_send(tcp, (const uint8_t *)octets, count);
    }
    lua_pop(lua, 1);
}

static int rig_connect(lua_State *lua)
{
    struct rig *rig = rig_of(lua);
    struct tcp_options options = {0};
    struct sentence why = {{0}};
    struct tcp_connection *tcp;
    uint64_t deadline = rig_now(rig) + rig->reaction_ns;
    bool given;
    uint16_t port = (uint16_t)integer_field(lua, 1, "port", rig->port, &given);

    options.mss = (uint16_t)integer_field(lua, 1, "mss", 0, &given);
    options.iss = (uint32_t)integer_field(lua, 1, "iss", 0, &options.choose_iss);
    options.window = (uint16_t)integer_field(lua, 1, "window", 0, &options.choose_window);
    options.source_port = (uint16_t)integer_field(lua, 1, "source_port", 0, &given);
    tcp = tcp_connect(rig->tcp, &rig->dut, port, &options, &why);
    if (tcp == NULL)
        return luaL_error(lua, "%s", why.text);
    push_connection(lua, tcp);
    send_first(lua, tcp);
    while (tcp_status(tcp)->state == TCP_STATE_SYN_SENT && pump(lua, deadline))
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
    struct rig *rig = rig_of(lua);
    struct tcp_options options = {0};
    struct sentence why;
    uint16_t port = (uint16_t)luaL_checkinteger(lua, 1);
    bool given;

    options.mss = (uint16_t)integer_field(lua, 2, "mss", 0, &given);
    options.iss = (uint32_t)integer_field(lua, 2, "iss", 0, &options.choose_iss);
    tcp_unlisten(rig->tcp, port);
    if (tcp_listen(rig->tcp, port, &options, &why) != 0)
        return luaL_error(lua, "%s", why.text);
    return 0;
}

static int rig_accept(lua_State *lua)
{
    struct rig *rig = rig_of(lua);
    uint16_t port = (uint16_t)luaL_checkinteger(lua, 1);
    uint64_t deadline = deadline_in(lua, rig, 2);
    struct tcp_connection *tcp;

    while ((tcp = tcp_accept(rig->tcp, port)) == NULL)
        if (!pump(lua, deadline))
            return 0;
    rig_note_round_trip(rig, tcp_status(tcp)->round_trip_ns);
    push_connection(lua, tcp);
    return 1;
}

static int rig_wait(lua_State *lua)
{
    struct rig *rig = rig_of(lua);
    uint64_t deadline = deadline_in(lua, rig, 1);

    while (pump(lua, deadline))
        continue;
    return 0;
}

static int rig_now_seconds(lua_State *lua)
{
    lua_pushnumber(lua, (lua_Number)rig_now(rig_of(lua)) / NANOSECONDS);
    return 1;
}

static int rig_limits(lua_State *lua)
{
    struct rig *rig = rig_of(lua);

    lua_pushnumber(lua, (lua_Number)rig->reaction_ns / NANOSECONDS);
    lua_pushnumber(lua, (lua_Number)rig->quiet_ns / NANOSECONDS);
    lua_pushnumber(lua, (lua_Number)rig->round_trip_ns / NANOSECONDS);
    return 3;
}

static int rig_addresses(lua_State *lua)
{
    struct rig *rig = rig_of(lua);
    char text[64];

    lua_pushstring(lua, net_address_format(&rig->own, text, sizeof(text)));
    lua_pushstring(lua, net_address_format(&rig->dut, text, sizeof(text)));
    lua_pushinteger(lua, rig->port);
    return 3;
}

static int rig_has_upper_tester(lua_State *lua)
{
    lua_pushboolean(lua, rig_of(lua)->upper_tester);
    return 1;
}

static int rig_command(lua_State *lua)
{
    struct rig *rig = rig_of(lua);
    struct sentence why = {{0}};
    json_t *request;
    json_t *answer;

    luaL_checktype(lua, 1, LUA_TTABLE);
    request = lua_json_from(lua, 1);
    if (request == NULL)
        return luaL_error(lua, "a command for the upper tester holds something that JSON does not have");
    answer = upper_tester_call(rig, request, &why);
    json_decref(request);
    if (answer == NULL) {
        lua_createtable(lua, 0, 2); /* a verdict: conformance/scripts/lib/3-harness.lua */
        lua_pushstring(lua, verdict_name(VERDICT_INCONCLUSIVE));
        lua_setfield(lua, -2, "verdict");
        lua_pushstring(lua, why.text);
        lua_setfield(lua, -2, "message");
        return lua_error(lua);
    }
    lua_json_push(lua, answer);
    json_decref(answer);
    return 1;
}

static int rig_note(lua_State *lua)
{
    struct lua_rig *self = self_of(lua);
    const char *text = luaL_checkstring(lua, 1);

    if (self->recorder != NULL)
        recorder_note(self->recorder, text);
    return 0;
}

/* 0, or an error: every sending call ends so. */
static int sent(lua_State *lua, int status)
{
    lua_pushboolean(lua, status == 0);
    return 1;
}

static int connection_send(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);
    size_t count;
    const char *octets = luaL_checklstring(lua, 2, &count);

    return sent(lua, tcp_send(tcp, (const uint8_t *)octets, count));
}

static size_t read_sizes(lua_State *lua, int table, size_t *sizes, size_t offset)
{
    lua_Integer count = luaL_len(lua, table);

    if (count < 1 || count > SEGMENTS_MAX)
        luaL_argerror(lua, table, "1 to 4096 numbers expected");
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(lua, table, i + 1);
        sizes[i] = (size_t)luaL_checkinteger(lua, -1) - offset;
        lua_pop(lua, 1);
    }
    return (size_t)count;
}

static int connection_segments(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);
    size_t count;
    const uint8_t *octets = (const uint8_t *)luaL_checklstring(lua, 2, &count);
    size_t *lengths = lua_newuserdatauv(lua, 2 * SEGMENTS_MAX * sizeof(*lengths), 0);
    size_t *order = lengths + SEGMENTS_MAX;
    size_t segments = read_sizes(lua, 3, lengths, 0);
    size_t sum = 0;

    for (size_t i = 0; i < segments; i++)
        sum += lengths[i];
    if (sum != count)
        return luaL_error(lua, "segment lengths sum up to %d, there are %d octets", (int)sum, (int)count);
    if (lua_isnoneornil(lua, 4))
        return sent(lua, tcp_send_segments(tcp, octets, count, lengths, segments));
    size_t transmissions = read_sizes(lua, 4, order, 1);

    return sent(lua, tcp_send_ordered(tcp, octets, count, lengths, segments, order, transmissions));
}

static int connection_raw(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);
    struct tcp_segment_spec spec = {0};
    bool given;
    int status;

    luaL_checktype(lua, 2, LUA_TTABLE);
    spec.sequence = (uint32_t)integer_field(lua, 2, "offset", 0, &given);
    spec.flags = (uint8_t)integer_field(lua, 2, "flags", 0, &spec.set_flags);
    spec.window = (uint16_t)integer_field(lua, 2, "window", 0, &spec.set_window);
    lua_getfield(lua, 2, "advance");
    spec.advance = lua_toboolean(lua, -1);
    lua_getfield(lua, 2, "bad_checksum");
    spec.bad_checksum = lua_toboolean(lua, -1);
    if (lua_getfield(lua, 2, "octets") == LUA_TSTRING)
        spec.payload = (const uint8_t *)lua_tolstring(lua, -1, &spec.payload_octets);
    status = tcp_send_raw_segment(tcp, &spec);
    lua_pop(lua, 3);
    return sent(lua, status);
}

static int connection_skip(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);
    size_t count;
    const char *octets = luaL_checklstring(lua, 2, &count);

    return sent(lua, tcp_skip(tcp, (const uint8_t *)octets, count));
}

static int connection_fin(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);
    size_t count;
    const char *octets = luaL_optlstring(lua, 2, NULL, &count);

    return sent(lua, octets != NULL ? tcp_send_fin(tcp, (const uint8_t *)octets, count) : tcp_shutdown(tcp));
}

static int connection_reset(lua_State *lua)
{
    tcp_abort(check_connection(lua));
    return 0;
}

static int connection_window(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);

    if (lua_isnoneornil(lua, 2))
        tcp_set_window_auto(tcp);
    else
        tcp_set_window(tcp, (uint16_t)luaL_checkinteger(lua, 2));
    return 0;
}

static int connection_ack(lua_State *lua)
{
    static const char *const policies[] = {"each", "withheld", "now", NULL};
    struct tcp_connection *tcp = check_connection(lua);

    switch (luaL_checkoption(lua, 2, NULL, policies)) {
    case 0: tcp_set_ack_policy(tcp, TCP_ACK_AT_ONCE, 0); break;
    case 1: tcp_set_ack_policy(tcp, TCP_ACK_WITHHELD, 0); break;
    default: tcp_ack_now(tcp);
    }
    return 0;
}

/* How the peer's direction of the stream ended, or "open". */
static const char *end_of_input(const struct tcp_status *status)
{
    if (status->peer_reset_ns != 0)
        return "reset";
    if (status->peer_fin)
        return "fin";
    return status->state == TCP_STATE_CLOSED ? "reset" : "open";
}

static int connection_read(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);
    size_t least = (size_t)luaL_checkinteger(lua, 2);
    uint64_t deadline = deadline_in(lua, self_of(lua)->rig, 3);
    const char *end = "timeout";
    const uint8_t *octets;
    size_t count;

    for (;;) {
        tcp_received(tcp, &octets, &count);
        end = end_of_input(tcp_status(tcp));
        if (count >= least || strcmp(end, "open") != 0)
            break;
        if (!pump(lua, deadline)) {
            tcp_received(tcp, &octets, &count);
            end = count >= least ? "open" : "timeout";
            break;
        }
    }
    lua_pushlstring(lua, (const char *)octets, count);
    lua_pushstring(lua, end);
    return 2;
}

static int connection_consume(lua_State *lua)
{
    tcp_consume(check_connection(lua), (size_t)luaL_checkinteger(lua, 2));
    return 0;
}

static int connection_unacknowledged(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)tcp_unacknowledged(check_connection(lua)));
    return 1;
}

static int connection_status(lua_State *lua)
{
    const struct tcp_status *status = tcp_status(check_connection(lua));

    lua_createtable(lua, 0, 8);
    lua_pushstring(lua, tcp_state_name(status->state));
    lua_setfield(lua, -2, "state");
    lua_pushstring(lua, end_of_input(status));
    lua_setfield(lua, -2, "input");
    lua_pushinteger(lua, status->local_port);
    lua_setfield(lua, -2, "local_port");
    lua_pushinteger(lua, status->peer_port);
    lua_setfield(lua, -2, "peer_port");
    lua_pushinteger(lua, status->mss);
    lua_setfield(lua, -2, "mss");
    lua_pushinteger(lua, status->snd_una);
    lua_setfield(lua, -2, "snd_una");
    lua_pushinteger(lua, status->snd_nxt);
    lua_setfield(lua, -2, "snd_nxt");
    lua_pushinteger(lua, (lua_Integer)status->octets_received);
    lua_setfield(lua, -2, "octets_received");
    lua_pushinteger(lua, (lua_Integer)status->duplicates);
    lua_setfield(lua, -2, "duplicates");
    return 1;
}

static void connection_drop(struct lua_connection *connection)
{
    if (connection->tcp == NULL)
        return;
    tcp_stack_set_time(connection->owner->rig->tcp, rig_now(connection->owner->rig));
    tcp_abort(connection->tcp);
    tcp_release(connection->tcp);
    connection->tcp = NULL;
}

static int connection_close(lua_State *lua)
{
    connection_drop(luaL_checkudata(lua, 1, CONNECTION));
    return 0;
}

static int connection_collect(lua_State *lua)
{
    struct lua_connection *connection = luaL_checkudata(lua, 1, CONNECTION);
    struct lua_connection **at = &connection->owner->connections;

    while (*at != NULL && *at != connection)
        at = &(*at)->next;
    if (*at != NULL)
        *at = connection->next;
    connection_drop(connection);
    return 0;
}

void lua_rig_clear(struct lua_rig *self)
{
    for (struct lua_connection *connection = self->connections; connection != NULL; connection = connection->next) {
        connection_drop(connection);
        luaL_unref(self->lua, LUA_REGISTRYINDEX, connection->anchor);
    }
    self->connections = NULL;
}

static const luaL_Reg connection_methods[] = {
    {"send", connection_send},
    {"segments", connection_segments},
    {"raw", connection_raw},
    {"skip", connection_skip},
    {"fin", connection_fin},
    {"reset", connection_reset},
    {"window", connection_window},
    {"ack", connection_ack},
    {"read", connection_read},
    {"consume", connection_consume},
    {"unacknowledged", connection_unacknowledged},
    {"status", connection_status},
    {"close", connection_close},
    {NULL, NULL},
};

static const luaL_Reg rig_functions[] = {
    {"connect", rig_connect},
    {"listen", rig_listen},
    {"accept", rig_accept},
    {"wait", rig_wait},
    {"now", rig_now_seconds},
    {"limits", rig_limits},
    {"addresses", rig_addresses},
    {"has_upper_tester", rig_has_upper_tester},
    {"command", rig_command},
    {"note", rig_note},
    {NULL, NULL},
};

int lua_rig_open(lua_State *lua, struct lua_rig *self)
{
    self->lua = lua;
    luaL_newmetatable(lua, CONNECTION);
    lua_pushcfunction(lua, connection_collect);
    lua_setfield(lua, -2, "__gc");
    lua_newtable(lua);
    lua_pushlightuserdata(lua, self);
    luaL_setfuncs(lua, connection_methods, 1);
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 1);

    luaL_newlibtable(lua, rig_functions);
    lua_pushlightuserdata(lua, self);
    luaL_setfuncs(lua, rig_functions, 1);
    return 1;
}
