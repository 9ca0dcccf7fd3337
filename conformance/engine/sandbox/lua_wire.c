/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_wire.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/sandbox/lua_hint.h"
#include "generator/packet/frame.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/hint.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"
#include "base/nearest.h"
#include "wire/terminate.h"

enum { HEADER_OCTETS_MAX = 256 }; /* a MAD; no layout is longer */

static const struct wire_layout *check_layout(lua_State *lua, int at)
{
    const char *id = luaL_checkstring(lua, at);
    const struct wire_layout *layout = wire_layout_find(id);

    if (layout == NULL)
        luaL_error(lua, "no header layout is called '%s'", id);
    return layout;
}

/* A field's value may be a number, a flag, or octets for a string field. */
static void set_field(lua_State *lua, const struct wire_layout *layout, const struct wire_field *field, uint8_t *header)
{
    if (field->kind == WIRE_OCTETS) {
        size_t count;
        const char *octets = luaL_checklstring(lua, -1, &count);

        if (count > field->bits / 8u)
            luaL_error(lua, "%s.%s holds %d octets, got %d", layout->id, field->id, (int)field->bits / 8, (int)count);
        memcpy(header + field->bit / 8, octets, count);
        return;
    }
    uint64_t value = lua_isboolean(lua, -1) ? (uint64_t)lua_toboolean(lua, -1) : (uint64_t)luaL_checkinteger(lua, -1);

    if (field->bits < 64 && value >> field->bits != 0)
        luaL_error(lua, "%s.%s has %d bits, the value does not fit", layout->id, field->id, (int)field->bits);
    wire_field_set(field, header, value);
}

static int wire_pack(lua_State *lua)
{
    const struct wire_layout *layout = check_layout(lua, 1);
    uint8_t header[HEADER_OCTETS_MAX] = {0};

    luaL_checktype(lua, 2, LUA_TTABLE);
    if (layout->octets > sizeof(header))
        return luaL_error(lua, "a header '%s' is too long", layout->id);
    lua_pushnil(lua);
    while (lua_next(lua, 2) != 0) {
        const struct wire_field *field;

        if (lua_type(lua, -2) != LUA_TSTRING)
            return luaL_error(lua, "%s: fields are given by name", layout->id);
        field = wire_layout_field(layout, lua_tostring(lua, -2));
        if (field == NULL)
            return luaL_error(lua, "%s has no field called '%s'", layout->id, lua_tostring(lua, -2));
        set_field(lua, layout, field, header);
        lua_pop(lua, 1);
    }
    lua_pushlstring(lua, (const char *)header, layout->octets);
    return 1;
}

/* Into the table on top of the stack. */
static void set_fields(lua_State *lua, const struct wire_layout *layout, const uint8_t *header)
{
    for (size_t i = 0; i < layout->field_count; i++) {
        const struct wire_field *field = &layout->fields[i];

        if (field->kind == WIRE_OCTETS)
            lua_pushlstring(lua, (const char *)header + field->bit / 8, field->bits / 8u);
        else
            lua_pushinteger(lua, (lua_Integer)wire_field_get(field, header));
        lua_setfield(lua, -2, field->id);
    }
}

static void push_fields(lua_State *lua, const struct wire_layout *layout, const uint8_t *header)
{
    lua_createtable(lua, 0, (int)layout->field_count);
    set_fields(lua, layout, header);
}

static int wire_unpack(lua_State *lua)
{
    const struct wire_layout *layout = check_layout(lua, 1);
    size_t count;
    const char *octets = luaL_checklstring(lua, 2, &count);
    lua_Integer at = luaL_optinteger(lua, 3, 1);

    if (at < 1 || (size_t)(at - 1) > count || count - (size_t)(at - 1) < layout->octets)
        return 0;
    lua_settop(lua, 4);
    if (lua_isnil(lua, 4))
        lua_createtable(lua, 0, (int)layout->field_count);
    else
        luaL_checktype(lua, 4, LUA_TTABLE);
    set_fields(lua, layout, (const uint8_t *)octets + at - 1);
    return 1;
}

static int wire_fields(lua_State *lua)
{
    const struct wire_layout *layout = check_layout(lua, 1);

    lua_createtable(lua, (int)layout->field_count, 0);
    for (size_t i = 0; i < layout->field_count; i++) {
        lua_pushstring(lua, layout->fields[i].id);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int wire_size(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)check_layout(lua, 1)->octets);
    return 1;
}

static bool flag_of(lua_State *lua, int table, const char *name)
{
    bool value;

    lua_getfield(lua, table, name);
    value = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    return value;
}

/* A number in a table; *given is true if the table has it. */
static uint64_t number_of(lua_State *lua, int table, const char *name, bool *given)
{
    uint64_t value = 0;

    *given = lua_getfield(lua, table, name) != LUA_TNIL;
    if (*given)
        value = (uint64_t)luaL_checkinteger(lua, -1);
    lua_pop(lua, 1);
    return value;
}

static void read_framing(lua_State *lua, int table, struct fpdu_framing *framing)
{
    bool given;

    framing->markers = flag_of(lua, table, "markers");
    framing->crc = flag_of(lua, table, "crc");
    framing->position = (uint32_t)number_of(lua, table, "position", &given);
}

static void read_overrides(lua_State *lua, int table, struct frame_spec *spec)
{
    bool given;

    spec->length = (uint16_t)number_of(lua, table, "length", &spec->set_length);
    spec->crc = (uint32_t)number_of(lua, table, "crc_value", &spec->set_crc);
    spec->crc_flip = (uint32_t)number_of(lua, table, "crc_flip", &given);
    spec->crc_swapped = flag_of(lua, table, "crc_swapped");
    spec->omit_crc = flag_of(lua, table, "omit_crc");
    spec->marker_index = (size_t)number_of(lua, table, "marker_index", &spec->touch_marker);
    spec->marker_pointer_flip = (uint16_t)number_of(lua, table, "marker_flip", &given);
    spec->marker_reserved = (uint16_t)number_of(lua, table, "marker_reserved", &given);
}

static int wire_frame(lua_State *lua)
{
    struct frame_spec spec = {0};
    luaL_Buffer buffer;
    size_t room;

    spec.ulpdu = (const uint8_t *)luaL_checklstring(lua, 1, &spec.ulpdu_octets);
    luaL_checktype(lua, 2, LUA_TTABLE);
    read_framing(lua, 2, &spec.framing);
    read_overrides(lua, 2, &spec);
    spec.set_pad = lua_getfield(lua, 2, "pad") == LUA_TSTRING; /* stays on the stack: the octets are borrowed */
    if (spec.set_pad)
        spec.pad = (const uint8_t *)lua_tolstring(lua, -1, &spec.pad_octets);
    room = frame_room(&spec);
    luaL_pushresultsize(&buffer, frame_build(&spec, (uint8_t *)luaL_buffinitsize(lua, &buffer, room), room));
    return 1;
}

static int push_wire_error(lua_State *lua, wire_result result)
{
    lua_pushnil(lua);
    if (result == WIRE_MORE)
        lua_pushliteral(lua, "more");
    else
        lua_pushinteger(lua, wire_error_word(result));
    return 2;
}

/* nil, "more", and how many octets are due in all. */
static int push_more(lua_State *lua, size_t due)
{
    lua_pushnil(lua);
    lua_pushliteral(lua, "more");
    lua_pushinteger(lua, (lua_Integer)due);
    return 3;
}

static int wire_parse_start(lua_State *lua)
{
    static const char *const kinds[] = {"request", "reply", NULL};
    size_t count;
    const uint8_t *octets = (const uint8_t *)luaL_checklstring(lua, 1, &count);
    enum iwarp_mpa_start_kind kind = luaL_checkoption(lua, 2, NULL, kinds) == 0 ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY;
    const uint8_t *p = octets;
    struct iwarp_mpa_start start;
    wire_result result = mpa_start_parse(&p, octets + count, kind, &start);
    size_t ulp_octets;
    const uint8_t *ulp;

    if (result == WIRE_MORE)
        return push_more(lua, count < MPA_START_OCTETS ? MPA_START_OCTETS
                                                       : MPA_START_OCTETS + mpa_start_get_PD_Length(octets));
    if (result != WIRE_OK)
        return push_wire_error(lua, result);
    lua_pushinteger(lua, p - octets);
    push_fields(lua, &mpa_start_layout, octets);
    lua_pushlstring(lua, (const char *)start.private_data, start.private_octets);
    lua_setfield(lua, -2, "all_private_data");
    ulp = iwarp_mpa_start_ulp_data(&start, &ulp_octets);
    lua_pushlstring(lua, (const char *)ulp, ulp_octets);
    lua_setfield(lua, -2, "private_data");
    if (iwarp_mpa_start_has_word(&start)) {
        push_fields(lua, &mpa_enhanced_layout, start.private_data);
        lua_setfield(lua, -2, "enhanced");
    }
    return 2;
}

static void set_integer(lua_State *lua, const char *name, lua_Integer value)
{
    lua_pushinteger(lua, value);
    lua_setfield(lua, -2, name);
}

static void set_flag(lua_State *lua, const char *name, bool value)
{
    lua_pushboolean(lua, value);
    lua_setfield(lua, -2, name);
}

static int wire_parse_fpdu(lua_State *lua)
{
    size_t count;
    const uint8_t *octets = (const uint8_t *)luaL_checklstring(lua, 1, &count);
    const uint8_t *p = octets;
    struct fpdu_framing framing;
    struct fpdu fpdu;
    uint8_t *scratch;
    wire_result result;

    luaL_checktype(lua, 2, LUA_TTABLE);
    read_framing(lua, 2, &framing);
    scratch = framing.markers ? lua_newuserdatauv(lua, FPDU_SCRATCH_OCTETS, 0) : NULL;
    result = fpdu_parse(&p, octets + count, &framing, scratch, &fpdu);
    if (result == WIRE_MORE) /* before the length has come, the shortest FPDU is due */
        return push_more(lua, fpdu.octets != 0 ? fpdu.octets : fpdu_octets(0, framing.markers, framing.position));
    lua_pushinteger(lua, p - octets);
    lua_createtable(lua, 0, 8);
    lua_pushlstring(lua, (const char *)fpdu.ulpdu, fpdu.ulpdu_length);
    lua_setfield(lua, -2, "ulpdu");
    set_integer(lua, "length", fpdu.ulpdu_length);
    set_integer(lua, "crc", fpdu.crc);
    set_integer(lua, "markers", (lua_Integer)fpdu.markers);
    set_flag(lua, "crc_ok", fpdu.crc_ok);
    set_flag(lua, "markers_ok", fpdu.bad_marker == SIZE_MAX);
    set_flag(lua, "pad_zero", fpdu.pad_zero);
    return 2;
}

/* Name and sentence of a hint that was found, else nil. */
static int push_hint(lua_State *lua, bool any, const struct hint *hint)
{
    struct iwarp_sentence text;

    if (!any)
        return 0;
    lua_pushstring(lua, hint_name(hint->kind));
    lua_pushstring(lua, hint_say(hint, &text));
    return 2;
}

static int wire_hint_fpdu(lua_State *lua)
{
    size_t count;
    const uint8_t *octets = (const uint8_t *)luaL_checklstring(lua, 1, &count);
    struct fpdu_framing framing;
    struct hint hint;

    luaL_checktype(lua, 2, LUA_TTABLE);
    read_framing(lua, 2, &framing);
    return push_hint(lua, hint_fpdu(octets, count, &framing, &hint), &hint);
}

/* nil, too, where the layout has no such field, or one that is not whole octets. */
static int wire_hint_number(lua_State *lua)
{
    const struct wire_field *field = wire_layout_field(check_layout(lua, 1), luaL_checkstring(lua, 2));
    uint64_t expected = (uint64_t)luaL_checkinteger(lua, 3), actual = (uint64_t)luaL_checkinteger(lua, 4);
    struct hint hint;

    if (field == NULL || field->kind == WIRE_OCTETS || field->bits % 8 != 0)
        return 0;
    return push_hint(lua, hint_number(expected, actual, field->bits / 8, &hint), &hint);
}

static int wire_hint_terminate(lua_State *lua)
{
    static const unsigned bits[] = {TERMINATE_BIT_M, TERMINATE_BIT_D, TERMINATE_BIT_R};
    size_t count;
    const uint8_t *octets = (const uint8_t *)luaL_checklstring(lua, 1, &count);
    unsigned set = 0;
    struct hint hint;

    for (int i = 0; i < 3; i++)
        set |= luaL_checkinteger(lua, 2 + i) != 0 ? bits[i] : 0;
    return push_hint(lua, hint_terminate(octets, count, set, &hint), &hint);
}

static int wire_crc32c(lua_State *lua)
{
    size_t count;
    const char *octets = luaL_checklstring(lua, 1, &count);

    lua_pushinteger(lua, crc32c((const uint8_t *)octets, count));
    return 1;
}

static const char *terminate_name_at(const void *rows, size_t index)
{
    return ((const struct terminate_error *)rows)[index].id;
}

/* wire.nearest(word, names): `, did you mean "NAME"?`, or "". */
static int wire_nearest(lua_State *lua)
{
    const char *word = luaL_checkstring(lua, 1), *best = NULL;
    char hint[NEAREST_HINT_OCTETS];
    unsigned least = nearest_limit(word) + 1;

    luaL_checktype(lua, 2, LUA_TTABLE);
    for (lua_Integer i = 1; lua_rawgeti(lua, 2, i) == LUA_TSTRING; i++) { /* the table keeps the strings */
        const char *name = lua_tostring(lua, -1);
        unsigned distance = nearest_distance(word, name);

        if (distance < least) {
            least = distance;
            best = name;
        }
        lua_pop(lua, 1);
    }
    lua_pushstring(lua, nearest_hint(best, hint));
    return 1;
}

static int wire_triple(lua_State *lua)
{
    const char *id = luaL_checkstring(lua, 1);
    const struct terminate_error *error = terminate_error_named(id);
    char hint[NEAREST_HINT_OCTETS];

    if (error == NULL)
        return luaL_error(
            lua, "no error of the registries is called '%s'%s (docs/script-library.md, \"Terminates\")", id,
            nearest_hint(nearest_name(id, terminate_name_at, terminate_errors, terminate_error_count), hint));
    lua_pushinteger(lua, wire_error_word(error->triple));
    return 1;
}

static int wire_describe(lua_State *lua)
{
    char text[160];

    lua_pushstring(lua, iwarp_terminate_describe(WIRE_ERROR_BIT | ((wire_result)luaL_checkinteger(lua, 1) & 0xFFFF),
                                                 text, sizeof(text)));
    return 1;
}

static int wire_opcode(lua_State *lua)
{
    const struct rdmap_opcode_row *row = &rdmap_opcode_rows[luaL_checkinteger(lua, 1) & 0xF];

    if (row->name == NULL)
        return 0;
    lua_pushstring(lua, row->name);
    lua_pushboolean(lua, row->tagged);
    lua_pushinteger(lua, row->qn);
    lua_pushinteger(lua, row->header_octets);
    return 4;
}

static int wire_hex(lua_State *lua)
{
    static const char digits[] = "0123456789abcdef";
    luaL_Buffer buffer;
    size_t count;
    const char *octets = luaL_checklstring(lua, 1, &count);
    char *text = luaL_buffinitsize(lua, &buffer, count * 2);

    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[(uint8_t)octets[i] >> 4];
        text[2 * i + 1] = digits[(uint8_t)octets[i] & 0xF];
    }
    luaL_pushresultsize(&buffer, count * 2);
    return 1;
}

static int nibble_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Blanks may stand between octets. */
static int wire_unhex(lua_State *lua)
{
    luaL_Buffer buffer;
    size_t count;
    size_t octets = 0;
    int high = -1;
    const char *text = luaL_checklstring(lua, 1, &count);
    char *out = luaL_buffinitsize(lua, &buffer, count / 2 + 1);

    for (size_t i = 0; i < count; i++) {
        int nibble = nibble_of(text[i]);

        if (nibble < 0 && strchr(" \t\r\n", text[i]) != NULL)
            continue;
        if (nibble < 0)
            return luaL_error(lua, "character %d of a hexadecimal string is no digit", (int)i + 1);
        if (high >= 0)
            out[octets++] = (char)(high << 4 | nibble);
        high = high >= 0 ? -1 : nibble;
    }
    if (high >= 0)
        return luaL_error(lua, "a hexadecimal string has an odd number of digits");
    luaL_pushresultsize(&buffer, octets);
    return 1;
}

int lua_wire_open(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"pack", wire_pack},
        {"unpack", wire_unpack},
        {"fields", wire_fields},
        {"size", wire_size},
        {"frame", wire_frame},
        {"parse_start", wire_parse_start},
        {"parse_fpdu", wire_parse_fpdu},
        {"hint_fpdu", wire_hint_fpdu},
        {"hint_number", wire_hint_number},
        {"hint_terminate", wire_hint_terminate},
        {"hint_field", lua_hint_field},
        {"hint_seen", lua_hint_seen},
        {"crc32c", wire_crc32c},
        {"triple", wire_triple},
        {"nearest", wire_nearest},
        {"describe", wire_describe},
        {"opcode", wire_opcode},
        {"hex", wire_hex},
        {"unhex", wire_unhex},
        {NULL, NULL},
    };

    luaL_newlib(lua, functions);
    return 1;
}
