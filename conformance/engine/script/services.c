/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/services.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/profile/json_members.h"
#include "conformance/engine/profile/profile.h"
#include "conformance/engine/sandbox/lua_json.h"
#include "conformance/engine/script/script_ask.h"
#include "conformance/engine/script/script_internal.h"
#include "conformance/requirements/pics.h"

const char *const services_names[] = {"startup",   "enhanced startup", "empty read",   "read",        "send to",
                                      "send from", "terminate",        "unasked send", "connections", NULL};

const char *services_title(const char *name)
{
    static const char *const what[] = {"a start-up",
                                       "an enhanced start-up (RFC 6581)",
                                       "a zero-length RDMA Read",
                                       "an RDMA Read of its memory",
                                       "a Send to its ULP",
                                       "a Send of its ULP",
                                       "a Terminate for an error",
                                       "a Send that nobody asked for",
                                       "two connections at a time"};

    for (size_t i = 0; services_names[i] != NULL; i++)
        if (strcmp(services_names[i], name) == 0)
            return what[i];
    return name;
}

static json_t *exchange(const json_t *services, const char *name)
{
    return json_object_get(json_object_get(services, "exchanges"), name);
}

/*
 * The same with its members in a fixed order, so that equal runs have equal results. Takes the reference; NULL without
 * memory.
 */
static json_t *ordered(json_t *learned)
{
    static const char *const members[] = {"role",          "speaks",      "copies_tag",     "rejects",
                                          "answers_in",    "takes_sends", "longest_send",   "ends_by_ulp",
                                          "ends_after",    "reads_open",  "atomics_open",   "needs_ird",
                                          "draft_version", "error",       "aborts_silently"};
    json_t *all = json_object(), *exchanges = json_object(), *causes = json_object();
    int status = all == NULL || exchanges == NULL || causes == NULL;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (json_object_get(learned, members[i]) != NULL)
            status |= json_object_set(all, members[i], json_object_get(learned, members[i]));
    for (size_t i = 0; services_names[i] != NULL; i++) {
        json_t *cause = json_object_get(json_object_get(learned, "causes"), services_names[i]);

        if (exchange(learned, services_names[i]) != NULL)
            status |= json_object_set(exchanges, services_names[i], exchange(learned, services_names[i]));
        if (cause != NULL)
            status |= json_object_set(causes, services_names[i], cause);
    }
    status |= json_object_set_new(all, "exchanges", exchanges);
    status |= json_object_size(causes) != 0 ? json_object_set_new(all, "causes", causes) : (json_decref(causes), 0);
    json_decref(learned);
    if (status == 0)
        return all;
    json_decref(all);
    return NULL;
}

json_t *services_learn(struct script_host *host, const char *role, struct rig *rig, struct recorder *recorder,
                       struct iwarp_sentence *error)
{
    json_t *known = host->services, *learned;

    host->services = NULL;
    learned = script_ask(host, "learn", role, rig, recorder, error);
    host->services = known;
    if (learned == NULL)
        return NULL;
    learned = ordered(learned);
    if (learned == NULL)
        (void)iwarp_sentence_set(error, "out of memory for what the device serves");
    return learned;
}

int services_prefer(struct script_host *host, const char *name, const char *at, struct iwarp_sentence *error)
{
    /* A start-up alone is no exchange that RDMA checks can rest on, nor is a Send that nobody answers. */
    size_t first = 0, count;

    while (strstr(services_names[first], "startup") != NULL)
        first++;
    for (count = 0; services_names[first + count] != NULL && strcmp(services_names[first + count], "terminate") != 0;)
        count++;
    if (name != NULL && json_one_of(name, "good_exchange", services_names + first, count, at, error) != 0)
        return -1;
    host->good_exchange = name;
    return 0;
}

void services_use(struct script_host *host, json_t *services)
{
    json_t *before = host->services;

    host->services = json_incref(services);
    json_decref(before);
}

bool services_has(const json_t *services, const char *name)
{
    return json_is_true(exchange(services, name));
}

const char *services_why_not(const json_t *services, const char *name)
{
    return json_string_value(exchange(services, name));
}

const char *services_cause(const json_t *services, const char *name, const char **hint)
{
    const json_t *cause = json_object_get(json_object_get(services, "causes"), name);

    *hint = json_string_value(json_object_get(cause, "hint"));
    return json_string_value(json_object_get(cause, "name"));
}

bool services_speaks(const json_t *services)
{
    return json_is_true(json_object_get(services, "speaks"));
}

void services_answers(struct script_host *host, const struct pics *pics)
{
    host->pics = pics;
}

/* rig.claims(predicate): does the device's profile say so? True where there is none. */
int script_rig_claims(lua_State *lua)
{
    const struct script_host *host = script_room_of(lua)->host;
    const char *predicate = luaL_checkstring(lua, 1);
    struct iwarp_sentence reason, error;
    int able = host->pics == NULL ? 1 : pics_evaluate(host->pics, predicate, &reason, &error);

    if (able < 0)
        return luaL_error(lua, "%s", error.text);
    lua_pushboolean(lua, able);
    return 1;
}

/* rig.capability(item): what the profile answers, true, false or a number; true where there is none. */
int script_rig_capability(lua_State *lua)
{
    const struct script_host *host = script_room_of(lua)->host;
    const char *name = luaL_checkstring(lua, 1);
    const struct pics_item *item = host->pics != NULL ? pics_find(host->pics, name) : NULL;

    if (host->pics != NULL && item == NULL)
        return luaL_error(lua, "there is no PICS item \"%s\"", name);
    if (item != NULL && pics_is_number(item))
        lua_pushinteger(lua, (lua_Integer)strtoul(item->value, NULL, 10));
    else
        lua_pushboolean(lua, item == NULL || pics_holds(host->pics, name));
    return 1;
}

void services_private_data(struct script_host *host, const struct profile *profile)
{
    host->profile = profile;
}

/*
 * rig.private_data("request" or "reply"): the octets that the profile says the device's ULP wants there, nil: any will
 * do.
 */
int script_rig_private_data(lua_State *lua)
{
    const struct script_host *host = script_room_of(lua)->host;
    const char *kind = luaL_checkstring(lua, 1);
    const struct profile_private *wanted = NULL;

    if (host->profile != NULL)
        wanted = strcmp(kind, "reply") == 0 ? &host->profile->reply_private_data : &host->profile->request_private_data;
    if (wanted == NULL || !wanted->wanted)
        lua_pushnil(lua);
    else
        lua_pushlstring(lua, (const char *)wanted->octets, wanted->count);
    return 1;
}

/* rig.services(): what the device serves (services.h), nil where it is not known. */
int script_rig_services(lua_State *lua)
{
    const struct script_host *host = script_room_of(lua)->host;

    if (host->services == NULL) {
        lua_pushnil(lua);
        return 1;
    }
    lua_json_push_new(lua, json_incref(host->services));
    if (host->good_exchange != NULL) {
        lua_pushstring(lua, host->good_exchange);
        lua_setfield(lua, -2, "prefers");
    }
    return 1;
}
