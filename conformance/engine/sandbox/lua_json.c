/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_json.h"

#include <lauxlib.h>
#include <stdbool.h>

/* Of one command: they are kept outside of the memory that Lua counts. */
enum { DEPTH_MAX = 16, VALUES_MAX = 1 << 17, OCTETS_MAX = 64 << 20 };

/* What is left of the limits. */
struct room {
    size_t values, octets;
};

static json_t *value_from(lua_State *lua, struct room *room, int index, int depth);

static json_t *array_from(lua_State *lua, struct room *room, int index, int depth)
{
    json_t *array = json_array();

    for (lua_Integer i = 1;; i++) {
        json_t *element;

        if (lua_rawgeti(lua, index, i) == LUA_TNIL) {
            lua_pop(lua, 1);
            return array;
        }
        element = value_from(lua, room, lua_gettop(lua), depth);
        lua_pop(lua, 1);
        if (element == NULL || json_array_append_new(array, element) != 0) {
            json_decref(array);
            return NULL;
        }
    }
}

static json_t *object_from(lua_State *lua, struct room *room, int index, int depth)
{
    json_t *object = json_object();

    lua_pushnil(lua);
    while (lua_next(lua, index) != 0) {
        json_t *member = lua_type(lua, -2) == LUA_TSTRING ? value_from(lua, room, lua_gettop(lua), depth) : NULL;

        if (member == NULL || json_object_set_new(object, lua_tostring(lua, -2), member) != 0) {
            lua_pop(lua, 2);
            json_decref(object);
            return NULL;
        }
        lua_pop(lua, 1);
    }
    return object;
}

static json_t *value_from(lua_State *lua, struct room *room, int index, int depth)
{
    if (depth > DEPTH_MAX || !lua_checkstack(lua, 8) || room->values-- == 0)
        return NULL;
    switch (lua_type(lua, index)) {
    case LUA_TNIL: return json_null();
    case LUA_TBOOLEAN: return json_boolean(lua_toboolean(lua, index));
    case LUA_TNUMBER:
        return lua_isinteger(lua, index) ? json_integer(lua_tointeger(lua, index))
                                         : json_real(lua_tonumber(lua, index));
    case LUA_TSTRING: {
        size_t count;
        const char *text = lua_tolstring(lua, index, &count);

        if (count > room->octets)
            return NULL;
        room->octets -= count;
        return json_stringn(text, count);
    }
    case LUA_TTABLE: {
        bool array = lua_rawgeti(lua, index, 1) != LUA_TNIL;

        lua_pop(lua, 1);
        return array ? array_from(lua, room, index, depth + 1) : object_from(lua, room, index, depth + 1);
    }
    default: return NULL;
    }
}

json_t *lua_json_from(lua_State *lua, int index)
{
    struct room room = {VALUES_MAX, OCTETS_MAX};

    return value_from(lua, &room, lua_absindex(lua, index), 0);
}

static void push(lua_State *lua, const json_t *value);

static void push_container(lua_State *lua, const json_t *value)
{
    if (json_is_array(value)) {
        lua_createtable(lua, (int)json_array_size(value), 0);
        for (size_t i = 0; i < json_array_size(value); i++) {
            push(lua, json_array_get(value, i));
            lua_rawseti(lua, -2, (lua_Integer)i + 1);
        }
        return;
    }
    const char *key;
    json_t *member;

    lua_createtable(lua, 0, (int)json_object_size(value));
    json_object_foreach((json_t *)value, key, member)
    {
        push(lua, member);
        lua_setfield(lua, -2, key);
    }
}

static void push(lua_State *lua, const json_t *value)
{
    luaL_checkstack(lua, 8, "JSON nested too deeply");
    switch (json_typeof(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY: push_container(lua, value); break;
    case JSON_STRING: lua_pushlstring(lua, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: lua_pushinteger(lua, json_integer_value(value)); break;
    case JSON_REAL: lua_pushnumber(lua, json_real_value(value)); break;
    case JSON_TRUE:
    case JSON_FALSE: lua_pushboolean(lua, json_is_true(value)); break;
    case JSON_NULL: lua_pushnil(lua); break;
    }
}

static int push_protected(lua_State *lua)
{
    const json_t *value = lua_touserdata(lua, 1);

    push(lua, value);
    return 1;
}

void lua_json_push_new(lua_State *lua, json_t *value)
{
    int status;

    lua_pushcfunction(lua, push_protected);
    lua_pushlightuserdata(lua, value);
    status = lua_pcall(lua, 1, 1, 0);
    json_decref(value);
    if (status != LUA_OK)
        lua_error(lua);
}
