/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The script host: states, and the loading of checks into them. script_check.c takes each check, script_run.c runs it.
 */
#include "conformance/engine/script/script.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/sandbox/lua_json.h"
#include "conformance/engine/script/script_internal.h"
#include "conformance/engine/profile/rig_llp.h"
#include "conformance/engine/option/shard.h"
#include "tools/embedded.h"

/* A script that computes longer than any check has a reason to is stopped with an error. */
enum { WORK_MAX = 50000000 };

struct script_room *script_room_of(lua_State *lua)
{
    return lua_sandbox_of(lua)->owner;
}

/* ---- rooms ------------------------------------------------------------------------------------------------------- */

static bool is_library(const char *path)
{
    return strncmp(path, SCRIPT_LIBRARY, strlen(SCRIPT_LIBRARY)) == 0;
}

/* The library, and what it needs of the program. */
static int furnish(lua_State *lua)
{
    struct script_room *room = script_room_of(lua);

    lua_rig_open(lua, &room->host->rig);
    lua_pushcfunction(lua, script_rig_services);
    lua_setfield(lua, -2, "services");
    lua_pushcfunction(lua, script_rig_claims);
    lua_setfield(lua, -2, "claims");
    lua_pushcfunction(lua, script_rig_capability);
    lua_setfield(lua, -2, "capability");
    lua_pushcfunction(lua, script_rig_private_data);
    lua_setfield(lua, -2, "private_data");
    lua_setglobal(lua, "rig");
    lua_pushcfunction(lua, script_add_check);
    lua_setglobal(lua, "check");
    lua_pushcfunction(lua, script_set_defaults);
    lua_setglobal(lua, "defaults");
    for (size_t i = 0; i < embedded_script_count; i++) {
        const struct embedded_file *file = &embedded_scripts[i];

        if (!is_library(file->path))
            continue;
        lua_sandbox_load(lua, file->path, file->octets, file->size, true);
        lua_sandbox_globals(lua, true);
        lua_call(lua, 0, 0);
    }
    lua_getglobal(lua, "harness");
    luaL_checktype(lua, -1, LUA_TTABLE);
    room->harness = luaL_ref(lua, LUA_REGISTRYINDEX);
    lua_pushboolean(lua, 0);
    room->test = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

static void room_free(struct script_room *room)
{
    lua_sandbox_close(&room->sandbox);
    free(room);
}

static struct script_room *room_new(struct script_host *host, bool embedded, struct iwarp_sentence *error)
{
    struct script_room *room = calloc(1, sizeof(*room));

    if (room == NULL) {
        host->short_of_memory = true;
        (void)iwarp_sentence_set(error, "out of memory for the script host");
        return NULL;
    }
    room->host = host;
    room->embedded = embedded;
    room->defaults = LUA_NOREF;
    if (lua_sandbox_open(&room->sandbox, &host->account, host->work, room, error) != 0 ||
        lua_sandbox_do(&room->sandbox, furnish, NULL, NULL, error) != 0) {
        host->short_of_memory |= host->account.short_of_it;
        room_free(room);
        return NULL;
    }
    room->next = host->rooms;
    host->rooms = room;
    return room;
}

struct script_room *script_embedded_room(struct script_host *host, struct iwarp_sentence *error)
{
    for (struct script_room *room = host->rooms; room != NULL; room = room->next)
        if (room->embedded)
            return room;
    return room_new(host, true, error);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

struct loading {
    const char *path;
    const void *octets;
    size_t count;
    bool embedded;
};

void script_note_last_seen(struct script_host *host)
{
    host->looked_at = host->rig.looked_at;
    if (host->rig.recorder != NULL)
        host->looked_at.latest = recorder_frame(host->rig.recorder);
}

/*
 * A message of the library names the script that called it: "lib.lua:12: what" becomes "script.lua:3: what
 * (lib.lua:12)", where `level` is the script's.
 */
static void name_script(lua_State *lua, const lua_Debug *level)
{
    const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL, *place_end;

    if (text == NULL || !is_library(text))
        return;
    place_end = strchr(text, ':');
    if (place_end == NULL || strspn(place_end + 1, "0123456789") == 0)
        return;
    place_end += 1 + strspn(place_end + 1, "0123456789");
    if (strncmp(place_end, ": ", 2) != 0)
        return;
    lua_pushlstring(lua, text, (size_t)(place_end - text));
    lua_pushfstring(lua, "%s:%d: %s (%s)", level->source + 1, level->currentline, place_end + 2, lua_tostring(lua, -1));
    lua_replace(lua, -3); /* the message */
    lua_pop(lua, 1);
}

/* Finds the script's own line: the innermost level that is not in the library. */
int script_on_error(lua_State *lua)
{
    struct script_host *host = script_room_of(lua)->host;
    lua_Debug level;

    host->line = 0;
    if (lua_sandbox_level(lua, is_library, &level)) {
        host->line = level.currentline;
        name_script(lua, &level);
    }
    script_note_last_seen(host);
    return 1;
}

static int load(lua_State *lua)
{
    const struct loading *loading = lua_touserdata(lua, 1);
    struct script_room *room = script_room_of(lua);

    luaL_unref(lua, LUA_REGISTRYINDEX, room->defaults); /* those of the script before, in a room that several share */
    room->defaults = LUA_NOREF;
    lua_sandbox_load(lua, loading->path, loading->octets, loading->count, loading->embedded);
    lua_sandbox_globals(lua, false);
    lua_call(lua, 0, 0);
    return 0;
}

static uint64_t digest(uint64_t so_far, const void *octets, size_t count)
{
    return digest_octets(digest_number(so_far, count), octets, count);
}

static int load_into(struct script_room *room, struct loading *loading, struct iwarp_sentence *error)
{
    struct script_host *host = room->host;
    size_t checks = host->check_count;
    struct iwarp_sentence why;
    int status;

    host->digest = digest(host->digest, loading->octets, loading->count);
    host->short_of_memory = false;
    host->loading = script_keep_string(host, loading->path);
    if (host->loading == NULL) {
        host->short_of_memory = true;
        return iwarp_sentence_set(error, "%.300s: out of memory", loading->path);
    }
    status = lua_sandbox_do(&room->sandbox, load, loading, script_on_error, &why);
    host->loading = NULL;
    host->short_of_memory |= host->account.short_of_it;
    if (status == 0 && !host->short_of_memory)
        return 0;
    host->check_count = checks;
    if (status == 0) /* the script has caught the error and gone on without what it wanted */
        return iwarp_sentence_set(error, "%.300s: %s", loading->path, lua_sandbox_shortage(&host->account));
    return iwarp_sentence_set(error, "%.300s%s%s", strstr(why.text, loading->path) != NULL ? "" : loading->path,
                              strstr(why.text, loading->path) != NULL ? "" : ": ", why.text);
}

int script_load(struct script_host *host, const char *path, const void *octets, size_t count,
                struct iwarp_sentence *error)
{
    struct loading loading = {path, octets, count, false};
    struct script_room *room = room_new(host, false, error);

    if (room == NULL)
        return -1;
    if (load_into(room, &loading, error) == 0)
        return 0;
    host->rooms = room->next; /* it was the last to come */
    room_free(room);
    return -1;
}

int script_load_embedded(struct script_host *host, struct iwarp_sentence *error)
{
    struct script_room *room = script_embedded_room(host, error);

    for (size_t i = 0; room != NULL && i < embedded_script_count; i++) {
        const struct embedded_file *file = &embedded_scripts[i];
        struct loading loading = {file->path, file->octets, file->size, true};

        if (!is_library(file->path) && load_into(room, &loading, error) != 0)
            return -1;
    }
    return room != NULL ? 0 : -1;
}

uint64_t script_digest(const struct script_host *host)
{
    uint64_t all = host->digest;

    /* The library is in it when someone asks: most hosts are made without that. */
    for (size_t i = 0; i < embedded_script_count; i++)
        if (is_library(embedded_scripts[i].path))
            all = digest(all, embedded_scripts[i].octets, embedded_scripts[i].size);
    return all;
}

bool script_short_of_memory(const struct script_host *host)
{
    return host->short_of_memory && !host->account.at_limit;
}

void script_note_shortage(struct script_host *host)
{
    host->short_of_memory = true;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

struct script_host *script_host_new(struct iwarp_sentence *error)
{
    struct script_host *host = calloc(1, sizeof(*host));

    if (host == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for the script host");
        return NULL;
    }
    host->account.memory_max = LUA_SANDBOX_MEMORY_MAX;
    host->work = WORK_MAX;
    host->digest = DIGEST_START;
    return host;
}

void script_forget_texts(struct script_host *host)
{
    for (size_t i = 0; i < OUTCOME_TEXTS; i++) {
        free(host->texts[i]);
        host->texts[i] = NULL;
    }
}

void script_host_free(struct script_host *host)
{
    if (host == NULL)
        return;
    while (host->rooms != NULL) {
        struct script_room *next = host->rooms->next;

        room_free(host->rooms);
        host->rooms = next;
    }
    script_forget_texts(host);
    for (size_t i = 0; i < host->kept_count; i++)
        free(host->kept[i]);
    json_decref(host->services);
    free(host->kept);
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
