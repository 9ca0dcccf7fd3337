/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "conformance/engine/audit/lua_rules_internal.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/event/lua_event.h"
#include "conformance/engine/sandbox/lua_members.h"
#include "base/nearest.h"

enum { ID_MAX = 60, TEXT_MAX = 400 };

static const char *const members[] = {"id", "text", "on", "judge", "level", "layer", "section", "source"};

enum { MEMBERS = sizeof(members) / sizeof(members[0]) };

/* Texts are printable ASCII, since they become cells of the catalogue. */
static char *needed(lua_State *lua, const char *member, size_t max)
{
    char *text = lua_members_text(lua, member, max);

    if (text == NULL)
        luaL_error(lua, "a rule needs %s, a text", member);
    return text;
}

static char *text_or(lua_State *lua, const char *member, size_t max, const char *otherwise)
{
    char *text = lua_members_text(lua, member, max);

    if (text == NULL && (text = strdup(otherwise)) == NULL)
        luaL_error(lua, "out of memory");
    return text;
}

/* One of the names that `name_of` gives; `otherwise` where the member is not there. */
static unsigned name_value(lua_State *lua, const char *member, const char *(*name_of)(unsigned), unsigned count,
                           unsigned otherwise)
{
    const char *names[FLOW_END + 1] = {NULL}, *name;
    char hint[NEAREST_HINT_OCTETS];
    unsigned value = 0;

    if (lua_getfield(lua, 1, member) == LUA_TNIL) {
        lua_pop(lua, 1);
        return otherwise;
    }
    name = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    for (unsigned i = 0; i < count; i++)
        names[i] = name_of(i);
    while (value < count && strcmp(names[value], name) != 0)
        value++;
    if (value == count)
        luaL_error(lua, "%s \"%s\" is unknown%s", member, name, nearest_hint(nearest_of(name, names, count), hint));
    lua_pop(lua, 1);
    return value;
}

static const char *level_name(unsigned value)
{
    return requirement_level_name((enum requirement_level)value);
}

static const char *layer_name(unsigned value)
{
    return requirement_layer_name((enum requirement_layer)value);
}

/* The kind on top of the stack. */
static unsigned kind_on_top(lua_State *lua)
{
    const char *name = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "", *names[FLOW_END + 1];
    char hint[NEAREST_HINT_OCTETS];

    for (unsigned kind = 0; kind <= FLOW_END; kind++) {
        names[kind] = lua_event_kind((enum flow_event_kind)kind);
        if (strcmp(names[kind], name) == 0)
            return 1u << kind;
    }
    luaL_error(lua, "on: \"%s\" is no kind of events%s", name,
               nearest_hint(nearest_of(name, names, FLOW_END + 1), hint));
    return 0;
}

static unsigned kinds_of(lua_State *lua)
{
    unsigned kinds = 0;

    if (lua_getfield(lua, 1, "on") != LUA_TTABLE) {
        kinds = kind_on_top(lua);
    } else {
        for (lua_Integer i = 1; lua_geti(lua, -1, i) != LUA_TNIL; i++) {
            kinds |= kind_on_top(lua);
            lua_pop(lua, 1);
        }
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    if (kinds == 0)
        luaL_error(lua, "on: a kind of events, or a list of them, was expected");
    return kinds;
}

/* The layer whose octets such events are. */
static enum requirement_layer layer_of(unsigned kinds)
{
    static const enum requirement_layer layers[] = {
        [FLOW_TCP_OPEN] = REQUIREMENT_LAYER_TCP,  [FLOW_TCP_CLOSE] = REQUIREMENT_LAYER_TCP,
        [FLOW_MPA_START] = REQUIREMENT_LAYER_MPA, [FLOW_ULPDU] = REQUIREMENT_LAYER_MPA,
        [FLOW_DDP] = REQUIREMENT_LAYER_DDP,       [FLOW_RDMAP] = REQUIREMENT_LAYER_RDMAP,
        [FLOW_GAP] = REQUIREMENT_LAYER_TCP,       [FLOW_UNDECODED] = REQUIREMENT_LAYER_MPA,
        [FLOW_SCTP] = REQUIREMENT_LAYER_SCTP,     [FLOW_SESSION] = REQUIREMENT_LAYER_SCTP,
        [FLOW_CM] = REQUIREMENT_LAYER_CM,         [FLOW_END] = REQUIREMENT_LAYER_RDMAP,
    };
    unsigned kind = 0;

    while (kind < FLOW_END && (kinds >> kind & 1) == 0)
        kind++;
    return layers[kind];
}

static void id_check(lua_State *lua, const struct lua_rules *rules, const char *id)
{
    for (const char *p = id; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '-')
            luaL_error(lua, "id \"%s\": letters, digits, '.' and '-' were expected", id);
    for (size_t i = 0; i + 1 < rules->count; i++)
        if (strcmp(rules->rules[i].id, id) == 0)
            luaL_error(lua, "id \"%s\" is that of another rule, at %s", id, rules->rules[i].place);
}

/* "acme.lua" */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static char *place_of(lua_State *lua, const char *path)
{
    lua_Debug where;
    char *place = NULL;
    int line = 0;

    if (lua_getstack(lua, 1, &where) && lua_getinfo(lua, "l", &where))
        line = where.currentline;
    if (asprintf(&place, "%s:%d", path, line) < 0)
        luaL_error(lua, "out of memory");
    return place;
}

int lua_rule_declare(lua_State *lua)
{
    struct lua_rules *rules = lua_rules_of(lua);
    struct lua_rule *rule;

    if (rules->path == NULL)
        return luaL_error(lua, "rules are declared while their file is read");
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    lua_members_check(lua, "a rule", members, MEMBERS);
    if (rules->count == LUA_RULES_MAX)
        return luaL_error(lua, "more than %d rules", LUA_RULES_MAX);
    rule = &rules->rules[rules->count++]; /* what it has is freed with it, also after an error */
    rule->place = place_of(lua, rules->path);
    rule->id = needed(lua, "id", ID_MAX);
    id_check(lua, rules, rule->id);
    rule->text = needed(lua, "text", TEXT_MAX);
    rule->section = text_or(lua, "section", ID_MAX, "-");
    rule->source = text_or(lua, "source", ID_MAX, file_name(rules->path));
    rule->kinds = kinds_of(lua);
    rule->level = (enum requirement_level)name_value(lua, "level", level_name, REQUIREMENT_LEVELS, REQUIREMENT_MUST);
    if (rule->level == REQUIREMENT_MAY)
        return luaL_error(lua, "level: what may be done cannot be broken: MUST or SHOULD was expected");
    rule->layer =
        (enum requirement_layer)name_value(lua, "layer", layer_name, REQUIREMENT_LAYERS, layer_of(rule->kinds));
    if (lua_getfield(lua, 1, "judge") != LUA_TFUNCTION)
        return luaL_error(lua, "judge: a function was expected");
    rule->judge = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}
