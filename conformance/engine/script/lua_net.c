/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/lua_net.h"

#include <lauxlib.h>
#include <stdint.h>
#include <string.h>

#include "conformance/engine/sandbox/lua_fields.h"
#include "generator/link/link.h"
#include "generator/cm/mad.h"
#include "generator/packet/packet.h"
#include "generator/sctp/sctp.h"

#define BUFFER "warpcheck buffer"

enum { BUFFER_LEAST = 4096, ERF_OCTETS = 16 };

/* clang-format off */
#define AT(name, kind) {#name, LUA_FIELD_##kind, offsetof(struct MEMBERS, name), 0, 0, 0}
#define OCTETS_AT(name, length) {#name, LUA_FIELD_OCTETS, offsetof(struct MEMBERS, name), offsetof(struct MEMBERS, length), 0, 0}
#define OVERRIDE(name, kind, bit) {#name, LUA_FIELD_##kind, offsetof(struct MEMBERS, name), 0, bit, offsetof(struct MEMBERS, overrides)}
#define END {NULL, LUA_FIELD_U8, 0, 0, 0, 0}

#define MEMBERS packet_tcp
static const struct lua_field tcp_fields[] = {
    AT(ethernet_source, MAC), AT(ethernet_destination, MAC), AT(source, ADDRESS), AT(destination, ADDRESS),
    AT(hop_limit, U8), AT(traffic_class, U8), AT(identification, U16), AT(flow_label, U32), AT(source_port, U16),
    AT(destination_port, U16), AT(sequence, SEQUENCE), AT(acknowledgment, SEQUENCE), AT(flags, TCP_FLAGS),
    AT(window, U16), AT(urgent, U16), OCTETS_AT(options, options_octets), OCTETS_AT(payload, payload_octets),
    OVERRIDE(ip_length, U16, PACKET_SET_IP_LENGTH), OVERRIDE(ip_checksum, U16, PACKET_SET_IP_CHECKSUM),
    OVERRIDE(tcp_checksum, U16, PACKET_SET_TCP_CHECKSUM), AT(spoil_checksum, BOOL),
    OVERRIDE(data_offset, U8, PACKET_SET_DATA_OFFSET), OVERRIDE(ip_version, U8, PACKET_SET_IP_VERSION), END,
};
#undef MEMBERS

struct datagram {
    struct packet_ip ip;
    const uint8_t *payload;
    size_t payload_octets;
};
#define IN_IP(name, kind) {#name, LUA_FIELD_##kind, offsetof(struct datagram, ip) + offsetof(struct packet_ip, name), 0, 0, 0}
#define MEMBERS datagram
static const struct lua_field ip_fields[] = {
    IN_IP(ethernet_source, MAC), IN_IP(ethernet_destination, MAC), IN_IP(source, ADDRESS), IN_IP(destination, ADDRESS),
    IN_IP(protocol, U8), IN_IP(hop_limit, U8), IN_IP(identification, U16), OCTETS_AT(payload, payload_octets), END,
};
#undef MEMBERS

struct udp_members {
    struct packet_ip ip;
    uint16_t source_port, destination_port;
    const uint8_t *payload;
    size_t payload_octets;
};
#define IN_UDP(name, kind) {#name, LUA_FIELD_##kind, offsetof(struct udp_members, ip) + offsetof(struct packet_ip, name), 0, 0, 0}
#define MEMBERS udp_members
static const struct lua_field udp_fields[] = {
    IN_UDP(ethernet_source, MAC), IN_UDP(ethernet_destination, MAC), IN_UDP(source, ADDRESS),
    IN_UDP(destination, ADDRESS), IN_UDP(hop_limit, U8), IN_UDP(identification, U16), AT(source_port, U16),
    AT(destination_port, U16), OCTETS_AT(payload, payload_octets), END,
};
#undef MEMBERS

struct sctp_members {
    uint16_t source_port, destination_port;
    uint32_t tag, checksum;
    unsigned overrides;
};
#define MEMBERS sctp_members
static const struct lua_field sctp_fields[] = {
    AT(source_port, U16), AT(destination_port, U16), AT(tag, U32), OVERRIDE(checksum, U32, 1), END,
};
#undef MEMBERS

struct chunk_members {
    uint8_t type, flags;
    const uint8_t *value;
    size_t value_octets;
};
#define MEMBERS chunk_members
static const struct lua_field chunk_fields[] = {
    AT(type, U8), AT(flags, U8), OCTETS_AT(value, value_octets), END,
};
#undef MEMBERS

struct init_members {
    struct sctp_init init;
    bool ack;
    unsigned overrides;
};
#define IN_INIT(name, kind) {#name, LUA_FIELD_##kind, offsetof(struct init_members, init) + offsetof(struct sctp_init, name), 0, 0, 0}
static const struct lua_field init_fields[] = {
    IN_INIT(tag, U32), IN_INIT(window, U32), IN_INIT(outbound, U16), IN_INIT(inbound, U16), IN_INIT(initial_tsn, SEQUENCE),
    {"adaptation", LUA_FIELD_U32, offsetof(struct init_members, init) + offsetof(struct sctp_init, adaptation), 0, 1,
     offsetof(struct init_members, overrides)},
    {"ack", LUA_FIELD_BOOL, offsetof(struct init_members, ack), 0, 0, 0}, END,
};

#define MEMBERS sctp_data
static const struct lua_field data_fields[] = {
    AT(unordered, BOOL), AT(first, BOOL), AT(last, BOOL), AT(tsn, SEQUENCE), AT(sid, U16), AT(ssn, U16), AT(ppid, U32),
    OCTETS_AT(user, user_octets), END,
};
#undef MEMBERS

#define MEMBERS ip_cm_request
static const struct lua_field cm_request_fields[] = {
    AT(local_id, U32), AT(transaction, U64), AT(source, ADDRESS), AT(destination, ADDRESS), AT(source_port, U16),
    AT(destination_port, U16), AT(protocol, U8), OCTETS_AT(consumer, consumer_octets), END,
};
#undef MEMBERS

struct cm_members {
    uint16_t attribute, reason;
    uint64_t transaction;
    uint32_t local_id, remote_id;
    const uint8_t *ari;
    size_t ari_octets;
};
#define MEMBERS cm_members
static const struct lua_field cm_answer_fields[] = {
    AT(attribute, U16), AT(transaction, U64), AT(local_id, U32), AT(remote_id, U32), END,
};
static const struct lua_field cm_reject_fields[] = {
    AT(transaction, U64), AT(remote_id, U32), AT(reason, U16), OCTETS_AT(ari, ari_octets), END,
};
#undef MEMBERS

struct cm_ends {
    struct mad_ends ends;
    const uint8_t *carrier;
    size_t carrier_octets;
};
#define IN_ENDS(name, kind) {#name, LUA_FIELD_##kind, offsetof(struct cm_ends, ends) + offsetof(struct mad_ends, name), 0, 0, 0}
#define MEMBERS cm_ends
static const struct lua_field cm_packet_fields[] = {
    IN_ENDS(source, ADDRESS), IN_ENDS(destination, ADDRESS), IN_ENDS(source_lid, U16), IN_ENDS(destination_lid, U16),
    IN_ENDS(psn, U32), OCTETS_AT(carrier, carrier_octets), END,
};
#undef MEMBERS
/* clang-format on */

static int net_tcp(lua_State *lua)
{
    struct packet_tcp fields = {0};
    uint8_t frame[LINK_FRAME_CAPACITY];
    size_t octets;

    lua_fields_read(lua, 1, "net.tcp", tcp_fields, &fields);
    octets = packet_build_tcp(frame, sizeof(frame), &fields);
    if (octets == 0)
        return luaL_error(lua,
                          "net.tcp: two addresses of one family, at most 40 octets of options and 65535 octets in all "
                          "were expected");
    lua_pushlstring(lua, (const char *)frame, octets);
    return 1;
}

static int net_ip(lua_State *lua)
{
    struct datagram fields = {0};
    uint8_t frame[LINK_FRAME_CAPACITY];
    size_t octets;

    lua_fields_read(lua, 1, "net.ip", ip_fields, &fields);
    octets = packet_build_ip(frame, sizeof(frame), &fields.ip, fields.payload, fields.payload_octets);
    if (octets == 0)
        return luaL_error(lua, "net.ip: two addresses of one family and at most 65535 octets in all were expected");
    lua_pushlstring(lua, (const char *)frame, octets);
    return 1;
}

static int net_udp(lua_State *lua)
{
    enum { UDP_PROTOCOL = 17, UDP_MAX = 65535 };
    struct udp_members fields = {0};
    uint8_t frame[LINK_FRAME_CAPACITY], *datagram;
    size_t octets, built = 0;

    lua_fields_read(lua, 1, "net.udp", udp_fields, &fields);
    fields.ip.protocol = UDP_PROTOCOL;
    octets = PACKET_UDP_OCTETS + fields.payload_octets;
    if (octets <= UDP_MAX) {
        datagram = lua_newuserdatauv(lua, octets, 0);
        memset(datagram, 0, PACKET_UDP_OCTETS);
        octets_put16(datagram, fields.source_port);
        octets_put16(datagram + 2, fields.destination_port);
        octets_put16(datagram + 4, (uint16_t)octets);
        if (fields.payload_octets != 0)
            memcpy(datagram + PACKET_UDP_OCTETS, fields.payload, fields.payload_octets);
        octets_put16(datagram + 6, packet_udp_checksum(&fields.ip.source, &fields.ip.destination, datagram, octets));
        built = packet_build_ip(frame, sizeof(frame), &fields.ip, datagram, octets);
    }
    if (built == 0)
        return luaL_error(lua, "net.udp: two addresses of one family and at most 65535 octets in all were expected");
    lua_pushlstring(lua, (const char *)frame, built);
    return 1;
}

/* One chunk, the table on top of the stack: { init = {...} }, { data = {...} }, or { type =, flags =, value = }. */
static void add_chunk(lua_State *lua, struct sctp_packet *packet)
{
    if (!lua_istable(lua, -1))
        luaL_error(lua, "net.sctp: a chunk is a table");
    if (lua_getfield(lua, -1, "init") != LUA_TNIL) {
        struct init_members init = {0};

        lua_fields_read(lua, -1, "init", init_fields, &init);
        init.init.has_adaptation = init.overrides != 0;
        (void)sctp_packet_init(packet, init.ack, &init.init);
        lua_pop(lua, 1);
        return;
    }
    lua_pop(lua, 1);
    if (lua_getfield(lua, -1, "data") != LUA_TNIL) {
        struct sctp_data data = {0};

        lua_fields_read(lua, -1, "data", data_fields, &data);
        (void)sctp_packet_data(packet, &data);
        lua_pop(lua, 1);
        return;
    }
    lua_pop(lua, 1);
    struct chunk_members chunk = {0};

    lua_fields_read(lua, -1, "chunk", chunk_fields, &chunk);
    (void)sctp_packet_chunk(packet, (enum sctp_chunk_type)chunk.type, chunk.flags, chunk.value, chunk.value_octets);
}

static int net_sctp(lua_State *lua)
{
    struct sctp_members fields = {0};
    struct sctp_packet *packet = lua_newuserdatauv(lua, sizeof(*packet), 0);

    lua_fields_read(lua, 1, "net.sctp", sctp_fields, &fields);
    sctp_packet_begin(packet, fields.source_port, fields.destination_port, fields.tag);
    for (lua_Integer i = 1; lua_rawgeti(lua, 1, i) != LUA_TNIL; i++) {
        add_chunk(lua, packet);
        lua_pop(lua, 1);
    }
    if (packet->full)
        return luaL_error(lua, "net.sctp: the chunks have more than %d octets", SCTP_PACKET_MAX);
    sctp_packet_close(packet);
    if (fields.overrides != 0)
        sctp_common_set_Checksum(packet->octets, fields.checksum);
    lua_pushlstring(lua, (const char *)packet->octets, packet->count);
    return 1;
}

static int net_cm_request(lua_State *lua)
{
    struct ip_cm_request fields = {0};
    uint8_t mad[MAD_OCTETS];

    lua_fields_read(lua, 1, "net.cm_request", cm_request_fields, &fields);
    if (fields.consumer_octets > IP_CM_CONSUMER_OCTETS)
        return luaL_error(lua, "net.cm_request.consumer: at most %d octets were expected", IP_CM_CONSUMER_OCTETS);
    mad_ip_request(mad, &fields);
    lua_pushlstring(lua, (const char *)mad, sizeof(mad));
    return 1;
}

static int net_cm_answer(lua_State *lua)
{
    struct cm_members fields = {0};
    uint8_t mad[MAD_OCTETS];

    lua_fields_read(lua, 1, "net.cm_answer", cm_answer_fields, &fields);
    cm_begin_answer(mad, (enum cm_attribute)fields.attribute, fields.transaction, fields.local_id, fields.remote_id);
    lua_pushlstring(lua, (const char *)mad, sizeof(mad));
    return 1;
}

static int net_cm_reject(lua_State *lua)
{
    struct cm_members fields = {0};
    uint8_t mad[MAD_OCTETS];

    lua_fields_read(lua, 1, "net.cm_reject", cm_reject_fields, &fields);
    if (fields.ari_octets > CM_ARI_OCTETS)
        return luaL_error(lua, "net.cm_reject.ari: at most %d octets were expected", CM_ARI_OCTETS);
    mad_reject(mad, fields.transaction, fields.remote_id, fields.reason, fields.ari, fields.ari_octets);
    lua_pushlstring(lua, (const char *)mad, sizeof(mad));
    return 1;
}

static enum mad_carrier carrier_of(lua_State *lua, const struct cm_ends *fields)
{
    static const struct {
        const char *name;
        enum mad_carrier carrier;
    } carriers[] = {{"roce_v2", MAD_ROCE_V2},
                    {"roce_v1", MAD_ROCE_V1},
                    {"infiniband", MAD_INFINIBAND},
                    {"infiniband_global", MAD_INFINIBAND_GLOBAL}};
    const char *name = fields->carrier != NULL ? (const char *)fields->carrier : "roce_v2";

    for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
        if (strcmp(carriers[i].name, name) == 0)
            return carriers[i].carrier;
    luaL_error(lua, "net.cm_packet.carrier: roce_v2, roce_v1, infiniband or infiniband_global was expected, not %s",
               name);
    return MAD_ROCE_V2;
}

static int net_cm_packet(lua_State *lua)
{
    struct cm_ends fields = {0};
    uint8_t frame[1024];
    size_t count;
    const char *mad = luaL_checklstring(lua, 1, &count);
    size_t octets;

    if (count != MAD_OCTETS)
        return luaL_error(lua, "net.cm_packet: a MAD has %d octets, got %d", MAD_OCTETS, (int)count);
    lua_fields_read(lua, 2, "net.cm_packet", cm_packet_fields, &fields);
    octets = mad_packet(frame, sizeof(frame), carrier_of(lua, &fields), &fields.ends, (const uint8_t *)mad);
    if (octets == 0)
        return luaL_error(lua, "net.cm_packet: source and destination of the carrier's family were expected");
    lua_pushlstring(lua, (const char *)frame, octets);
    return 1;
}

static int net_erf(lua_State *lua)
{
    size_t count;
    const char *octets = luaL_checklstring(lua, 1, &count);
    uint8_t header[ERF_OCTETS];

    erf_header(header, (uint64_t)luaL_checkinteger(lua, 2), count);
    lua_pushlstring(lua, (const char *)header, sizeof(header));
    lua_pushlstring(lua, octets, count);
    lua_concat(lua, 2);
    return 1;
}

/* Octets of a stream while it grows. They are kept by Lua's allocator, hence within the script's limit. */
struct buffer {
    uint8_t *octets;
    size_t count, room;
};

static struct buffer *buffer_at(lua_State *lua)
{
    return luaL_checkudata(lua, 1, BUFFER);
}

static int net_buffer(lua_State *lua)
{
    struct buffer *buffer = lua_newuserdatauv(lua, sizeof(*buffer), 0);

    memset(buffer, 0, sizeof(*buffer));
    luaL_setmetatable(lua, BUFFER);
    return 1;
}

/* __gc. Scripts do not see the metatable: this is called by the collector alone, and must raise no error. */
static int buffer_free(lua_State *lua)
{
    struct buffer *buffer = lua_touserdata(lua, 1);
    void *context;
    lua_Alloc allocate = lua_getallocf(lua, &context);

    if (buffer->octets != NULL)
        (void)allocate(context, buffer->octets, buffer->room, 0);
    memset(buffer, 0, sizeof(*buffer));
    return 0;
}

static int buffer_append(lua_State *lua)
{
    struct buffer *buffer = buffer_at(lua);
    size_t count;
    const char *octets = luaL_checklstring(lua, 2, &count);

    if (buffer->count + count > buffer->room) {
        size_t room = (buffer->count + count) * 2 + BUFFER_LEAST;
        void *context;
        lua_Alloc allocate = lua_getallocf(lua, &context);
        void *grown = allocate(context, buffer->octets, buffer->room, room);

        if (grown == NULL)
            return luaL_error(lua, "not enough memory for the stream");
        buffer->octets = grown;
        buffer->room = room;
    }
    if (count != 0)
        memcpy(buffer->octets + buffer->count, octets, count);
    buffer->count += count;
    return 0;
}

static int buffer_length(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)buffer_at(lua)->count);
    return 1;
}

/* b:sub(from, to): octets [from, to), counted from 0. */
static int buffer_sub(lua_State *lua)
{
    struct buffer *buffer = buffer_at(lua);
    lua_Integer from = luaL_checkinteger(lua, 2);
    lua_Integer to = luaL_checkinteger(lua, 3);

    if (from < 0 || to < from || (size_t)to > buffer->count)
        return luaL_error(lua, "octets %d to %d of a stream that has %d", (int)from, (int)to, (int)buffer->count);
    lua_pushlstring(lua, from == to ? "" : (const char *)buffer->octets + from, (size_t)(to - from));
    return 1;
}

/* b:put(at, octets): overwrites what stands there. */
static int buffer_write(lua_State *lua)
{
    struct buffer *buffer = buffer_at(lua);
    lua_Integer at = luaL_checkinteger(lua, 2);
    size_t count;
    const char *octets = luaL_checklstring(lua, 3, &count);

    if (at < 0 || (size_t)at > buffer->count || count > buffer->count - (size_t)at)
        return luaL_error(lua, "octets %d to %d of a stream that has %d", (int)at, (int)(at + (lua_Integer)count),
                          (int)buffer->count);
    if (count != 0)
        memcpy(buffer->octets + at, octets, count);
    return 0;
}

struct named {
    const char *name;
    lua_Integer number;
};

/* clang-format off */
#define CHUNK_NAMED(id, type, name, section) {name, id},
static const struct named chunk_types[] = {SCTP_CHUNKS(CHUNK_NAMED) {NULL, 0}};
#define SESSION_NAMED(id, code, name, word, data, active, section) {name, id},
static const struct named session_codes[] = {DDP_SCTP_SESSIONS(SESSION_NAMED) {NULL, 0}};
#define ATTRIBUTE_NAMED(id, attribute, name, at, octets, section) {name, id},
static const struct named cm_attributes[] = {CM_ATTRIBUTES(ATTRIBUTE_NAMED) {NULL, 0}};
#define REASON_NAMED(reason, name) {name, reason},
static const struct named cm_reasons[] = {CM_REASONS(REASON_NAMED) {NULL, 0}};
static const struct named cm_codes[] = {IP_CM_ARI_CODES(REASON_NAMED) {NULL, 0}};
/* clang-format on */

static const struct named payload_protocols[] = {{"segment", DDP_SCTP_PPID_SEGMENT},
                                                 {"control", DDP_SCTP_PPID_CONTROL},
                                                 {"draft_segment", DDP_SCTP_PPID_DRAFT_SEGMENT},
                                                 {"draft_control", DDP_SCTP_PPID_DRAFT_CONTROL},
                                                 {NULL, 0}};

/* The table on top of the stack gets a member: a table of these numbers by their names. */
static void set_names(lua_State *lua, const char *member, const struct named *rows)
{
    lua_newtable(lua);
    for (; rows->name != NULL; rows++) {
        lua_pushinteger(lua, rows->number);
        lua_setfield(lua, -2, rows->name);
    }
    lua_setfield(lua, -2, member);
}

int lua_net_open(lua_State *lua)
{
    static const luaL_Reg methods[] = {
        {"append", buffer_append}, {"sub", buffer_sub}, {"put", buffer_write}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"tcp", net_tcp},
        {"ip", net_ip},
        {"udp", net_udp},
        {"sctp", net_sctp},
        {"cm_request", net_cm_request},
        {"cm_answer", net_cm_answer},
        {"cm_reject", net_cm_reject},
        {"cm_packet", net_cm_packet},
        {"erf", net_erf},
        {"buffer", net_buffer},
        {NULL, NULL},
    };

    luaL_newmetatable(lua, BUFFER);
    luaL_newlib(lua, methods);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, buffer_length);
    lua_setfield(lua, -2, "__len");
    lua_pushcfunction(lua, buffer_free);
    lua_setfield(lua, -2, "__gc");
    lua_pushboolean(lua, 0); /* scripts do not see it: __gc is not theirs to call */
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
    luaL_newlib(lua, functions);
    set_names(lua, "chunk_types", chunk_types);
    set_names(lua, "session_codes", session_codes);
    set_names(lua, "cm_attributes", cm_attributes);
    set_names(lua, "cm_reasons", cm_reasons);
    set_names(lua, "cm_codes", cm_codes);
    set_names(lua, "payload_protocols", payload_protocols);
    return 1;
}
