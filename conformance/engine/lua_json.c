/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/lua_json.h"

#include <lauxlib.h>
#include <stdbool.h>

enum { DEPTH_MAX = 16 };

static json_t *value_from(lua_State *lua, int index, int depth);

static json_t *array_from(lua_State *lua, int index, int depth)
{
    json_t *array = json_array();

    for (lua_Integer i = 1;; i++) {
        json_t *element;

        if (lua_rawgeti(lua, index, i) == LUA_TNIL) {
            lua_pop(lua, 1);
            return array;
        }
        element = value_from(lua, lua_gettop(lua), depth);
        lua_pop(lua, 1);
        if (element == NULL || json_array_append_new(array, element) != 0) {
            json_decref(array);
            return NULL;
        }
    }
}

static json_t *object_from(lua_State *lua, int index, int depth)
{
    json_t *object = json_object();

    lua_pushnil(lua);
    while (lua_next(lua, index) != 0) {
        json_t *member = lua_type(lua, -2) == LUA_TSTRING ? value_from(lua, lua_gettop(lua), depth) : NULL;

        if (member == NULL || json_object_set_new(object, lua_tostring(lua, -2), member) != 0) {
            lua_pop(lua, 2);
            json_decref(object);
            return NULL;
        }
        lua_pop(lua, 1);
    }
    return object;
}

static json_t *value_from(lua_State *lua, int index, int depth)
{
    if (depth > DEPTH_MAX || !lua_checkstack(lua, 8))
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

        return json_stringn(text, count);
    }
    case LUA_TTABLE: {
        bool array = lua_rawgeti(lua, index, 1) != LUA_TNIL;

        lua_pop(lua, 1);
        return array ? array_from(lua, index, depth + 1) : object_from(lua, index, depth + 1);
    }
    default: return NULL;
    }
}

json_t *lua_json_from(lua_State *lua, int index)
{
    return value_from(lua, lua_absindex(lua, index), 0);
}

static void push_container(lua_State *lua, const json_t *value)
{
    if (json_is_array(value)) {
        lua_createtable(lua, (int)json_array_size(value), 0);
        for (size_t i = 0; i < json_array_size(value); i++) {
            lua_json_push(lua, json_array_get(value, i));
            lua_rawseti(lua, -2, (lua_Integer)i + 1);
        }
        return;
    }
    const char *key;
    json_t *member;

    lua_createtable(lua, 0, (int)json_object_size(value));
    json_object_foreach((json_t *)value, key, member)
    {
        lua_json_push(lua, member);
        lua_setfield(lua, -2, key);
    }
}

void lua_json_push(lua_State *lua, const json_t *value)
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
