/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP connection of the lower tester as Lua sees it. A function looks its connection up after it has read everything
 * else from Lua: to read a table may call a metamethod of the script's, and that one may close the connection.
 */
#include <lauxlib.h>
#include <stdint.h>
#include <string.h>

#include "conformance/engine/script/lua_rig_internal.h"
#include "conformance/engine/script/lua_tcp.h"

enum { SEGMENTS_MAX = 4096 };

static struct tcp_connection *check_connection(lua_State *lua)
{
    return lua_held_endpoint(lua, &lua_tcp);
}

/* Octets that the call is to send: argument `index`. */
static const uint8_t *octets_to_send(lua_State *lua, int index, size_t *count)
{
    const char *octets = luaL_checklstring(lua, index, count);

    lua_rig_spend_octets(lua, *count);
    return (const uint8_t *)octets;
}

/* 0, or an error: every sending call ends so. */
static int sent(lua_State *lua, int status)
{
    lua_pushboolean(lua, status == 0);
    return 1;
}

static int connection_send(lua_State *lua)
{
    size_t count;
    const uint8_t *octets = octets_to_send(lua, 2, &count);

    return sent(lua, tcp_send(check_connection(lua), octets, count));
}

static size_t read_sizes(lua_State *lua, int table, size_t *sizes, size_t offset)
{
    lua_Integer count;

    luaL_checktype(lua, table, LUA_TTABLE);
    count = luaL_len(lua, table);
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
    size_t count;
    const uint8_t *octets = octets_to_send(lua, 2, &count);
    bool ordered = !lua_isnoneornil(lua, 4);
    size_t *lengths = lua_newuserdatauv(lua, 2 * SEGMENTS_MAX * sizeof(*lengths), 0);
    size_t *order = lengths + SEGMENTS_MAX;
    size_t segments = read_sizes(lua, 3, lengths, 0);
    size_t transmissions = ordered ? read_sizes(lua, 4, order, 1) : 0;
    struct tcp_connection *tcp = check_connection(lua);
    size_t sum = 0;

    for (size_t i = 0; i < segments; i++)
        sum += lengths[i];
    if (sum != count)
        return luaL_error(lua, "segment lengths sum up to %d, there are %d octets", (int)sum, (int)count);
    if (!ordered)
        return sent(lua, tcp_send_segments(tcp, octets, count, lengths, segments));
    return sent(lua, tcp_send_ordered(tcp, octets, count, lengths, segments, order, transmissions));
}

static int connection_raw(lua_State *lua)
{
    struct tcp_segment_spec spec = {0};
    bool given;

    luaL_checktype(lua, 2, LUA_TTABLE);
    spec.sequence = (uint32_t)lua_rig_integer(lua, 2, "offset", 0, &given);
    spec.flags = (uint8_t)lua_rig_integer(lua, 2, "flags", 0, &spec.set_flags);
    spec.window = (uint16_t)lua_rig_integer(lua, 2, "window", 0, &spec.set_window);
    spec.fragment_octets = (size_t)lua_rig_integer(lua, 2, "fragment_octets", 0, &given);
    lua_getfield(lua, 2, "last_fragment_first");
    spec.last_fragment_first = lua_toboolean(lua, -1);
    lua_getfield(lua, 2, "advance");
    spec.advance = lua_toboolean(lua, -1);
    lua_getfield(lua, 2, "bad_checksum");
    spec.bad_checksum = lua_toboolean(lua, -1);
    if (lua_getfield(lua, 2, "octets") == LUA_TSTRING) /* stays on the stack: the octets are borrowed */
        spec.payload = octets_to_send(lua, lua_gettop(lua), &spec.payload_octets);
    return sent(lua, tcp_send_raw_segment(check_connection(lua), &spec));
}

static int connection_skip(lua_State *lua)
{
    size_t count;
    const uint8_t *octets = octets_to_send(lua, 2, &count);

    return sent(lua, tcp_skip(check_connection(lua), octets, count));
}

static int connection_fin(lua_State *lua)
{
    size_t count = 0;
    const uint8_t *octets = lua_isnoneornil(lua, 2) ? NULL : octets_to_send(lua, 2, &count);
    struct tcp_connection *tcp = check_connection(lua);

    return sent(lua, octets != NULL ? tcp_send_fin(tcp, octets, count) : tcp_shutdown(tcp));
}

static int connection_reset(lua_State *lua)
{
    tcp_abort(check_connection(lua));
    return 0;
}

static int connection_window(lua_State *lua)
{
    bool automatic = lua_isnoneornil(lua, 2);
    uint16_t window = automatic ? 0 : (uint16_t)luaL_checkinteger(lua, 2);
    struct tcp_connection *tcp = check_connection(lua);

    if (automatic)
        tcp_set_window_auto(tcp);
    else
        tcp_set_window(tcp, window);
    return 0;
}

static int connection_ack(lua_State *lua)
{
    static const char *const policies[] = {"each", "withheld", "now", NULL};
    int policy = luaL_checkoption(lua, 2, NULL, policies);
    struct tcp_connection *tcp = check_connection(lua);

    switch (policy) {
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

/* A verdict that follows is about this: the octets of the connection so far, or how its input ended. */
static void look_at(lua_State *lua, const struct tcp_connection *tcp, enum last_seen_kind kind)
{
    const struct tcp_status *status = tcp_status(tcp);
    struct last_seen *looked_at = &lua_rig_of(lua)->looked_at;

    *looked_at = (struct last_seen){.kind = kind, .own_port = status->local_port, .dut_port = status->peer_port};
    looked_at->end = status->rcv_nxt - (status->peer_fin ? 1 : 0);
}

static enum last_seen_kind kind_of_end(const char *end, size_t count)
{
    if (strcmp(end, "fin") == 0)
        return LAST_SEEN_FIN;
    if (strcmp(end, "reset") == 0)
        return LAST_SEEN_RESET;
    return count != 0 ? LAST_SEEN_OCTETS : LAST_SEEN_SILENCE;
}

/*
 * read(least, seconds, most): octets, how the input stands, how many octets wait. Of more than `most` octets that wait
 * the first are handed over, so that one who takes them piece by piece does not pay for all of them each time.
 */
static int connection_read(lua_State *lua)
{
    struct tcp_connection *tcp = check_connection(lua);
    size_t least = (size_t)luaL_checkinteger(lua, 2);
    size_t most = lua_isnoneornil(lua, 4) ? SIZE_MAX : (size_t)luaL_checkinteger(lua, 4);
    uint64_t deadline = lua_rig_deadline(lua, 3);
    const char *end = "timeout";
    const uint8_t *octets;
    size_t count;

    for (;;) {
        tcp_received(tcp, &octets, &count);
        end = end_of_input(tcp_status(tcp));
        if (count >= least || strcmp(end, "open") != 0)
            break;
        if (!lua_rig_pump(lua, deadline)) {
            tcp_received(tcp, &octets, &count);
            end = count >= least ? "open" : "timeout";
            break;
        }
    }
    look_at(lua, tcp, kind_of_end(end, count));
    lua_pushlstring(lua, (const char *)octets, count < most ? count : most);
    lua_pushstring(lua, end);
    lua_pushinteger(lua, (lua_Integer)count);
    return 3;
}

static int connection_consume(lua_State *lua)
{
    size_t count = (size_t)luaL_checkinteger(lua, 2);
    struct tcp_connection *tcp = check_connection(lua);
    const uint8_t *octets;
    size_t waiting, left;

    tcp_received(tcp, &octets, &waiting);
    tcp_consume(tcp, count);
    look_at(lua, tcp, LAST_SEEN_OCTETS);
    lua_rig_of(lua)->looked_at.end -= (uint32_t)tcp_received(tcp, &octets, &left);
    lua_rig_earn(lua, waiting - left);
    return 0;
}

/* Notes that the verdict is about what the upper tester reported of this connection, and not about what was read. */
static int connection_mark_reported(lua_State *lua)
{
    const struct tcp_connection *tcp = lua_held_if_open(lua, &lua_tcp);

    if (tcp != NULL)
        look_at(lua, tcp, LAST_SEEN_UPPER);
    return 0;
}

static int connection_unacknowledged(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)tcp_unacknowledged(check_connection(lua)));
    return 1;
}

/*
 * Octets that the device has acknowledged; by the time of its FIN or RST, where there was one; and that wait for it
 * still.
 */
static int connection_acknowledged(lua_State *lua)
{
    const struct tcp_connection *tcp = check_connection(lua);

    lua_pushinteger(lua, (lua_Integer)tcp_acknowledged(tcp));
    lua_pushinteger(lua, (lua_Integer)tcp_acknowledged_at_end(tcp));
    lua_pushinteger(lua, (lua_Integer)tcp_unacknowledged(tcp));
    return 3;
}

/* The blocks of the last SACK option: offsets of the stream, from SND.UNA on. */
static void push_sacks(lua_State *lua, const struct tcp_status *status)
{
    lua_createtable(lua, (int)status->sacks, 0);
    for (unsigned i = 0; i < status->sacks; i++) {
        lua_createtable(lua, 0, 2);
        lua_pushinteger(lua, (int32_t)(status->sack[i].from - status->snd_una));
        lua_setfield(lua, -2, "from");
        lua_pushinteger(lua, (int32_t)(status->sack[i].to - status->snd_una));
        lua_setfield(lua, -2, "to");
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
}

static int connection_status(lua_State *lua)
{
    const struct tcp_status *status = tcp_status(check_connection(lua));

    lua_createtable(lua, 0, 11);
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
    lua_pushinteger(lua, status->peer_window);
    lua_setfield(lua, -2, "peer_window");
    lua_pushinteger(lua, status->snd_una);
    lua_setfield(lua, -2, "snd_una");
    lua_pushinteger(lua, status->snd_nxt);
    lua_setfield(lua, -2, "snd_nxt");
    lua_pushinteger(lua, (lua_Integer)status->octets_received);
    lua_setfield(lua, -2, "octets_received");
    lua_pushinteger(lua, (lua_Integer)status->duplicates);
    lua_setfield(lua, -2, "duplicates");
    lua_pushinteger(lua, (lua_Integer)status->fragmentable);
    lua_setfield(lua, -2, "fragmentable");
    lua_pushinteger(lua, (lua_Integer)status->retransmissions);
    lua_setfield(lua, -2, "retransmissions");
    lua_pushinteger(lua, (lua_Integer)status->after_fin);
    lua_setfield(lua, -2, "after_fin");
    lua_pushboolean(lua, status->peer_sack);
    lua_setfield(lua, -2, "peer_sack");
    lua_pushinteger(lua, (lua_Integer)status->sack_count);
    lua_setfield(lua, -2, "sack_count");
    push_sacks(lua, status);
    lua_setfield(lua, -2, "sack");
    return 1;
}

static int connection_close(lua_State *lua)
{
    lua_held_close(lua, &lua_tcp);
    return 0;
}

const luaL_Reg lua_tcp_methods[] = {
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
    {"mark_reported", connection_mark_reported},
    {"unacknowledged", connection_unacknowledged},
    {"acknowledged", connection_acknowledged},
    {"status", connection_status},
    {"close", connection_close},
    {NULL, NULL},
};
