/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "conformance/engine/script.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/lua_rig.h"
#include "conformance/engine/lua_sandbox.h"
#include "conformance/engine/shard.h"
#include "conformance/engine/upper_tester.h"
#include "tools/embedded.h"

#define LIBRARY "conformance/scripts/lib/"

/* A script that computes longer than any check has a reason to is stopped with an error. */
enum { INSTRUCTIONS_MAX = 50000000 };

struct script_host {
    struct lua_sandbox sandbox;
    lua_State *lua; /* the sandbox's */
    struct lua_rig rig;
    struct check *checks;
    size_t check_count, check_room;
    const char *loading; /* path of the script being loaded, while it runs */
    char *texts[4];      /* of the last outcome */
    int line;
    uint64_t frame;
    uint64_t digest; /* of the scripts that were loaded */
};

static struct script_host *host_of(lua_State *lua)
{
    return *(struct script_host **)lua_getextraspace(lua);
}

/* A string member of the table at index 1, kept by the table that check {} holds on to. */
static const char *string_member(lua_State *lua, const char *name)
{
    const char *text = lua_getfield(lua, 1, name) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL;

    lua_pop(lua, 1);
    return text;
}

static bool read_roles(lua_State *lua, struct check *check)
{
    const char *role = string_member(lua, "role");

    if (role == NULL)
        role = "responder";
    check->responder = strcmp(role, "responder") == 0 || strcmp(role, "both") == 0;
    check->initiator = strcmp(role, "initiator") == 0 || strcmp(role, "both") == 0;
    return check->responder || check->initiator;
}

static int add_check(lua_State *lua)
{
    struct script_host *host = host_of(lua);
    struct check check = {0};
    lua_Debug caller;

    luaL_checktype(lua, 1, LUA_TTABLE);
    check.id = string_member(lua, "id");
    check.purpose = string_member(lua, "purpose");
    check.requires = string_member(lua, "requires");
    check.path = host->loading;
    if (lua_getstack(lua, 1, &caller) && lua_getinfo(lua, "l", &caller))
        check.line = caller.currentline;
    if (check.id == NULL || check.purpose == NULL)
        return luaL_error(lua, "a check needs an id and a purpose");
    if (!read_roles(lua, &check))
        return luaL_error(lua, "check %s: role is \"responder\", \"initiator\" or \"both\"", check.id);
    if (lua_getfield(lua, 1, "run") != LUA_TFUNCTION)
        return luaL_error(lua, "check %s: run is not a function", check.id);
    lua_getfield(lua, 1, "destructive");
    check.destructive = lua_toboolean(lua, -1);
    check.unjudged = lua_getfield(lua, 1, "rules") == LUA_TBOOLEAN && !lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    if (host->check_count == host->check_room) {
        size_t room = host->check_room == 0 ? 128 : host->check_room * 2;
        struct check *grown = realloc(host->checks, room * sizeof(*grown));

        if (grown == NULL)
            return luaL_error(lua, "out of memory for checks");
        host->checks = grown;
        host->check_room = room;
    }
    lua_pushvalue(lua, 1);
    check.table = luaL_ref(lua, LUA_REGISTRYINDEX);
    host->checks[host->check_count++] = check;
    return 0;
}

static void open_tables(struct script_host *host)
{
    lua_State *lua = host->lua;

    lua_rig_open(lua, &host->rig);
    lua_setglobal(lua, "rig");
    lua_pushcfunction(lua, add_check);
    lua_setglobal(lua, "check");
}

/* Finds the script's own line: the innermost level that is not in the library. */
static int on_error(lua_State *lua)
{
    struct script_host *host = host_of(lua);
    lua_Debug level;

    host->line = 0;
    for (int i = 0; lua_getstack(lua, i, &level); i++) {
        lua_getinfo(lua, "Sl", &level);
        if (level.currentline > 0 && level.source[0] == '@' &&
            strncmp(level.source + 1, LIBRARY, strlen(LIBRARY)) != 0) {
            host->line = level.currentline;
            break;
        }
    }
    if (host->rig.recorder != NULL)
        host->frame = recorder_frame(host->rig.recorder);
    return 1;
}

static int call(lua_State *lua, int arguments, int results)
{
    return lua_sandbox_call(&host_of(lua)->sandbox, arguments, results, on_error);
}

int script_load(struct script_host *host, const char *path, const void *octets, size_t count, struct sentence *error)
{
    lua_State *lua = host->lua;
    const char *name;
    int status;

    /* Anchored in the registry for the life of the state: checks point to it. */
    name = lua_pushfstring(lua, "@%s", path);
    (void)luaL_ref(lua, LUA_REGISTRYINDEX);
    host->loading = name + 1;
    host->digest = shard_digest_octets(shard_digest_number(host->digest, count), octets, count);
    status = luaL_loadbufferx(lua, octets, count, name, "t");
    if (status == LUA_OK) {
        lua_sandbox_globals(lua, strncmp(path, LIBRARY, strlen(LIBRARY)) == 0);
        status = call(lua, 0, 0);
    }
    if (status == LUA_OK)
        return 0;
    const char *why = luaL_tolstring(lua, -1, NULL);

    /* Lua names the place in most messages, but not in all. */
    (void)sentence_set(error, "%s%s%s", strstr(why, path) != NULL ? "" : path, strstr(why, path) != NULL ? "" : ": ",
                       why);
    lua_settop(lua, 0);
    return -1;
}

static bool is_library(const struct embedded_file *file)
{
    return strncmp(file->path, LIBRARY, strlen(LIBRARY)) == 0;
}

static int load_embedded(struct script_host *host, bool library, struct sentence *error)
{
    for (size_t i = 0; i < embedded_script_count; i++) {
        const struct embedded_file *file = &embedded_scripts[i];

        if (is_library(file) == library && script_load(host, file->path, file->octets, file->size, error) != 0)
            return -1;
    }
    return 0;
}

int script_load_embedded(struct script_host *host, struct sentence *error)
{
    return load_embedded(host, false, error);
}

uint64_t script_digest(const struct script_host *host)
{
    return host->digest;
}

struct script_host *script_host_new(struct sentence *error)
{
    struct script_host *host = calloc(1, sizeof(*host));

    if (host == NULL || lua_sandbox_open(&host->sandbox, INSTRUCTIONS_MAX, host) != 0) {
        (void)sentence_set(error, "out of memory for the script host");
        free(host);
        return NULL;
    }
    host->lua = host->sandbox.lua;
    host->digest = SHARD_DIGEST_START;
    open_tables(host);
    if (load_embedded(host, true, error) != 0) {
        script_host_free(host);
        return NULL;
    }
    return host;
}

static void forget_texts(struct script_host *host)
{
    for (size_t i = 0; i < sizeof(host->texts) / sizeof(host->texts[0]); i++) {
        free(host->texts[i]);
        host->texts[i] = NULL;
    }
}

void script_host_free(struct script_host *host)
{
    if (host == NULL)
        return;
    lua_sandbox_close(&host->sandbox);
    forget_texts(host);
    free(host->checks);
    free(host);
}

size_t script_check_count(const struct script_host *host)
{
    return host->check_count;
}

const struct check *script_check_at(const struct script_host *host, size_t i)
{
    return i < host->check_count ? &host->checks[i] : NULL;
}

/* Keeps a string member of the verdict table on top of the stack until the next run. */
static const char *keep(struct script_host *host, size_t slot, const char *name)
{
    lua_State *lua = host->lua;

    if (lua_getfield(lua, -1, name) != LUA_TNIL)
        host->texts[slot] = strdup(luaL_tolstring(lua, -1, NULL));
    lua_settop(lua, lua_gettop(lua) - (lua_isnil(lua, -1) ? 1 : 2));
    return host->texts[slot];
}

static void inconclusive(struct script_host *host, struct outcome *outcome, const char *what, const char *why)
{
    outcome->verdict = VERDICT_INCONCLUSIVE;
    if (asprintf(&host->texts[2], "%s: %s", what, why) < 0)
        host->texts[2] = NULL;
    outcome->message = host->texts[2];
}

/* Reads what a check raised (or returned): a table { verdict, expected, actual, message, reading }, or a plain error. */
static void read_outcome(struct script_host *host, struct outcome *outcome, const char *stage)
{
    lua_State *lua = host->lua;
    const char *verdict = NULL;

    forget_texts(host);
    outcome->line = host->line;
    outcome->frame = host->frame;
    if (lua_istable(lua, -1)) {
        verdict = lua_getfield(lua, -1, "verdict") == LUA_TSTRING ? lua_tostring(lua, -1) : NULL;
        lua_pop(lua, 1);
    }
    if (verdict == NULL || verdict_from_name(verdict, &outcome->verdict) != 0) {
        inconclusive(host, outcome, "script error", luaL_tolstring(lua, -1, NULL));
        lua_pop(lua, 1);
        return;
    }
    outcome->expected = keep(host, 0, "expected");
    outcome->actual = keep(host, 1, "actual");
    outcome->message = keep(host, 2, "message");
    outcome->reading = keep(host, 3, "reading");
    if (stage != NULL && outcome->verdict != VERDICT_SKIP) {
        char *why = host->texts[2];

        host->texts[2] = NULL;
        inconclusive(host, outcome, stage, why != NULL ? why : "no reason given");
        free(why);
    }
}

/* Calls a function of the library's `harness` table with the test object (reference) and the check. */
static int call_harness(struct script_host *host, const char *function, int test, const struct check *check)
{
    lua_State *lua = host->lua;

    lua_getglobal(lua, "harness");
    lua_getfield(lua, -1, function);
    lua_remove(lua, -2);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, test);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, check->table);
    return call(lua, 2, 1);
}

/* One command, to see whether it is answered. */
static void try_upper_tester(struct rig *rig, struct sentence *why)
{
    json_t *request = json_pack("{s:s}", "verb", "capabilities");

    if (request != NULL)
        json_decref(upper_tester_call(rig, request, why));
    json_decref(request);
}

/*
 * An upper tester that died took the device's streams and listeners along, and one that did not answer left the check without
 * what it asked for: what was seen is not the device's doing. Where both are one program (the embedded device), a FAIL stands.
 * A device that is going down may still have made the good exchange after the stimulus: it is asked behind a PASS too.
 */
static void judge_upper_tester(struct script_host *host, struct rig *rig, unsigned losses, struct outcome *outcome)
{
    bool blamed = outcome->verdict == VERDICT_FAIL || outcome->verdict == VERDICT_WARN;
    struct sentence why = {{0}};

    if (outcome->verdict == VERDICT_SKIP || (blamed && !rig->tester_apart))
        return;
    if (rig->tester_apart && outcome->verdict != VERDICT_INCONCLUSIVE)
        try_upper_tester(rig, &why);
    if (rig->losses == losses)
        return;
    if (why.text[0] == '\0')
        (void)sentence_set(&why, "%s", outcome->message != NULL ? outcome->message : "no answer");
    forget_texts(host);
    outcome->expected = outcome->actual = outcome->reading = NULL;
    inconclusive(host, outcome, "the upper tester was lost during the check", why.text);
}

/* The good exchange before, the check, the good exchange after (docs/writing-checks.md, "The sandwich"). */
static void run_sandwich(struct script_host *host, const struct check *check, int test, struct outcome *outcome)
{
    unsigned losses = host->rig.rig->losses;
    struct outcome after = {0};

    if (call_harness(host, "before", test, check) != LUA_OK) {
        read_outcome(host, outcome, "the good exchange before the stimulus failed");
        return;
    }
    if (call_harness(host, "run", test, check) != LUA_OK || lua_istable(host->lua, -1))
        read_outcome(host, outcome, NULL);
    lua_settop(host->lua, 0);
    lua_rig_clear(&host->rig);
    if (outcome->verdict == VERDICT_FAIL || outcome->verdict == VERDICT_SKIP || host->rig.link_failed ||
        host->rig.rig->losses != losses)
        return;
    if (call_harness(host, "after", test, check) == LUA_OK)
        return;
    if (outcome->verdict != VERDICT_PASS)
        return;
    read_outcome(host, &after, "the device did not recover: the good exchange after the stimulus failed");
    *outcome = after;
    outcome->verdict = after.verdict == VERDICT_SKIP ? VERDICT_PASS : VERDICT_FAIL;
}

void script_run(struct script_host *host, const struct check *check, const char *role, struct rig *rig,
                struct recorder *recorder, struct outcome *outcome)
{
    lua_State *lua = host->lua;
    unsigned losses = rig->losses;
    int test;

    memset(outcome, 0, sizeof(*outcome));
    forget_texts(host);
    host->rig.rig = rig;
    host->rig.recorder = recorder;
    host->rig.link_failed = false;
    host->line = check->line;
    host->frame = 0;
    lua_settop(lua, 0);
    lua_getglobal(lua, "harness");
    lua_getfield(lua, -1, "test");
    lua_pushstring(lua, role);
    if (call(lua, 1, 1) != LUA_OK) {
        read_outcome(host, outcome, NULL);
        return;
    }
    test = luaL_ref(lua, LUA_REGISTRYINDEX);
    run_sandwich(host, check, test, outcome);
    judge_upper_tester(host, rig, losses, outcome);
    luaL_unref(lua, LUA_REGISTRYINDEX, test);
    lua_settop(lua, 0);
    lua_rig_clear(&host->rig);
    if (outcome->line == 0)
        outcome->line = check->line;
    outcome->link_failed = host->rig.link_failed;
    if (outcome->link_failed && outcome->verdict != VERDICT_FAIL)
        outcome->verdict = VERDICT_INCONCLUSIVE;
    host->rig.rig = NULL;
    host->rig.recorder = NULL;
}
