/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_fields.h"

#include <lauxlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "base/nearest.h"

struct reader {
    lua_State *lua;
    const char *what;
    const struct lua_field *field;
    uint8_t *out;
};

static int refuse(const struct reader *r, const char *expected)
{
    return luaL_error(r->lua, "%s.%s: %s was expected, not %s", r->what, r->field->name, expected,
                      luaL_tolstring(r->lua, -1, NULL));
}

static void read_number(const struct reader *r, unsigned bits)
{
    static const char *const ranges[] = {"a number from 0 to 255", "a number from 0 to 65535",
                                         "a number from 0 to 2^32 - 1"};
    bool sequence = r->field->kind == LUA_FIELD_SEQUENCE;
    int whole;
    lua_Integer value = lua_tointegerx(r->lua, -1, &whole);
    uint8_t *to = r->out + r->field->offset;

    if (!whole || (!sequence && bits < 64 && (value < 0 || value >> bits != 0)))
        refuse(r, bits == 64 || sequence ? "a whole number" : ranges[bits == 8 ? 0 : bits / 16]);
    if (bits == 8)
        *to = (uint8_t)value;
    else if (bits == 16)
        memcpy(to, &(uint16_t){(uint16_t)value}, 2);
    else if (bits == 32)
        memcpy(to, &(uint32_t){(uint32_t)value}, 4);
    else
        memcpy(to, &(uint64_t){(uint64_t)value}, 8);
}

static void read_address(const struct reader *r)
{
    const char *text = lua_type(r->lua, -1) == LUA_TSTRING ? lua_tostring(r->lua, -1) : NULL;

    if (text == NULL || net_address_parse((struct net_address *)(void *)(r->out + r->field->offset), text) != 0)
        refuse(r, "an IPv4 or IPv6 address");
}

static void read_mac(const struct reader *r)
{
    const char *text = lua_type(r->lua, -1) == LUA_TSTRING ? lua_tostring(r->lua, -1) : "";
    uint8_t mac[6];
    int end = 0;

    if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5],
               &end) != 6 ||
        text[end] != '\0')
        refuse(r, "a MAC address such as \"02:00:00:00:00:01\"");
    memcpy(r->out + r->field->offset, mac, sizeof(mac));
}

static void read_octets(const struct reader *r)
{
    size_t count;
    const char *octets;

    if (lua_type(r->lua, -1) != LUA_TSTRING)
        refuse(r, "octets (a string)");
    octets = lua_tolstring(r->lua, -1, &count);
    memcpy(r->out + r->field->offset, &octets, sizeof(octets));
    memcpy(r->out + r->field->count, &count, sizeof(count));
}

static void read_flags(const struct reader *r)
{
    static const char *const names[] = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
    const char *text = lua_tostring(r->lua, -1);
    uint8_t flags = 0;

    if (lua_type(r->lua, -1) != LUA_TSTRING) {
        read_number(r, 8);
        return;
    }
    for (size_t length; *text != '\0'; text += length + strspn(text + length, " |+,")) {
        size_t i = 0;

        length = strcspn(text, " |+,");
        while (i < 8 && (strlen(names[i]) != length || strncmp(names[i], text, length) != 0))
            i++;
        if (i == 8)
            refuse(r, "a number, or names out of FIN SYN RST PSH ACK URG ECE CWR");
        flags |= (uint8_t)(1u << i);
    }
    r->out[r->field->offset] = flags;
}

static void read_field(const struct reader *r)
{
    switch (r->field->kind) {
    case LUA_FIELD_U8: read_number(r, 8); break;
    case LUA_FIELD_U16: read_number(r, 16); break;
    case LUA_FIELD_U32:
    case LUA_FIELD_SEQUENCE: read_number(r, 32); break;
    case LUA_FIELD_U64: read_number(r, 64); break;
    case LUA_FIELD_BOOL: *(bool *)(void *)(r->out + r->field->offset) = lua_toboolean(r->lua, -1); break;
    case LUA_FIELD_ADDRESS: read_address(r); break;
    case LUA_FIELD_MAC: read_mac(r); break;
    case LUA_FIELD_OCTETS: read_octets(r); break;
    case LUA_FIELD_TCP_FLAGS: read_flags(r); break;
    }
    if (r->field->set != 0)
        *(unsigned *)(void *)(r->out + r->field->set_offset) |= r->field->set;
}

static const char *field_name_at(const void *fields, size_t index)
{
    return ((const struct lua_field *)fields)[index].name;
}

static int no_such_field(lua_State *lua, const char *what, const struct lua_field *fields, const char *name)
{
    char hint[NEAREST_HINT_OCTETS];
    size_t count = 0;
    luaL_Buffer list;

    while (fields[count].name != NULL)
        count++;
    luaL_buffinit(lua, &list);
    for (const struct lua_field *field = fields; field->name != NULL; field++) {
        luaL_addstring(&list, field == fields ? "" : ", ");
        luaL_addstring(&list, field->name);
    }
    luaL_pushresult(&list);
    return luaL_error(lua, "%s has no field called '%s'%s (it has: %s)", what, name,
                      nearest_hint(nearest_name(name, field_name_at, fields, count), hint), lua_tostring(lua, -1));
}

void lua_fields_read(lua_State *lua, int index, const char *what, const struct lua_field *fields, void *out)
{
    struct reader reader = {.lua = lua, .what = what, .out = out};

    luaL_checktype(lua, index, LUA_TTABLE);
    index = lua_absindex(lua, index);
    lua_pushnil(lua);
    while (lua_next(lua, index) != 0) {
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : NULL;

        if (name != NULL) {
            for (reader.field = fields; reader.field->name != NULL; reader.field++)
                if (strcmp(reader.field->name, name) == 0)
                    break;
            if (reader.field->name == NULL)
                no_such_field(lua, what, fields, name);
            read_field(&reader);
        }
        lua_pop(lua, 1);
    }
}
