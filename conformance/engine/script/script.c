/* SPDX-License-Identifier: BSD-2-Clause */
/* The script host: states, and the loading of checks into them. script_run.c runs the checks. */
#include "conformance/engine/script/script.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/script/lua_json.h"
#include "conformance/engine/script/script_internal.h"
#include "conformance/engine/rig/rig_llp.h"
#include "conformance/engine/option/shard.h"
#include "tools/embedded.h"

/* A script that computes longer than any check has a reason to is stopped with an error. */
enum { WORK_MAX = 50000000 };

enum { ID_OCTETS_MAX = 64, MEMBER_OCTETS_MAX = 4096, ALSO_MAX = 32 };

struct script_room *script_room_of(lua_State *lua)
{
    return lua_sandbox_of(lua)->owner;
}

/* ---- check { ... } ----------------------------------------------------------------------------------------------- */

/* A copy that lives as long as the host: a script may change its table afterwards. NULL without memory. */
static const char *keep_string(struct script_host *host, const char *text)
{
    if (host->kept_count == host->kept_room) {
        size_t room = host->kept_room * 2 + 64;
        char **grown = realloc(host->kept, room * sizeof(*grown));

        if (grown == NULL)
            return NULL;
        host->kept = grown;
        host->kept_room = room;
    }
    host->kept[host->kept_count] = strdup(text);
    return host->kept[host->kept_count] != NULL ? host->kept[host->kept_count++] : NULL;
}

static int no_memory(lua_State *lua)
{
    script_room_of(lua)->host->short_of_memory = true;
    return luaL_error(lua, "out of memory for checks");
}

/* A member of the table at index 1, kept; NULL when it is no text. */
static const char *string_member(lua_State *lua, const char *name)
{
    size_t octets = 0;
    const char *text = lua_getfield(lua, 1, name) == LUA_TSTRING ? lua_tolstring(lua, -1, &octets) : NULL;

    if (octets > MEMBER_OCTETS_MAX)
        luaL_error(lua, "check: %s is longer than %d octets", name, MEMBER_OCTETS_MAX);
    if (text != NULL && strlen(text) != octets)
        luaL_error(lua, "check: an octet of %s is zero, a text was expected", name);
    if (text != NULL && (text = keep_string(script_room_of(lua)->host, text)) == NULL)
        no_memory(lua);
    lua_pop(lua, 1);
    return text;
}

/* What `defaults { ... }` may say for the checks of its script. */
static const char *const default_members[] = {"requires", "sandwich", "llp"};

/* defaults { requires = ..., sandwich = ..., llp = ... }: for the checks that stand below it in the same script. */
static int set_defaults(lua_State *lua)
{
    struct script_room *room = script_room_of(lua);

    luaL_checktype(lua, 1, LUA_TTABLE);
    if (room->host->loading == NULL)
        return luaL_error(lua, "defaults cannot be set while checks run");
    for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_pop(lua, 1)) {
        bool known = false;

        for (size_t i = 0; lua_type(lua, -2) == LUA_TSTRING && i < sizeof(default_members) / sizeof(default_members[0]);
             i++)
            known |= strcmp(lua_tostring(lua, -2), default_members[i]) == 0;
        if (!known || lua_type(lua, -1) != LUA_TSTRING)
            return luaL_error(lua, "defaults: requires = \"...\", sandwich = \"...\" and llp = \"...\" were expected");
    }
    lua_settop(lua, 1);
    luaL_unref(lua, LUA_REGISTRYINDEX, room->defaults);
    room->defaults = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

/* Puts into the check at index 1 what the script's defaults have and it does not name. */
static void take_defaults(lua_State *lua, const struct script_room *room)
{
    if (room->defaults == LUA_NOREF)
        return;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, room->defaults);
    for (size_t i = 0; i < sizeof(default_members) / sizeof(default_members[0]); i++) {
        bool named = lua_getfield(lua, 1, default_members[i]) != LUA_TNIL;

        lua_pop(lua, 1);
        lua_pushstring(lua, default_members[i]);
        if (!named && lua_rawget(lua, -2) != LUA_TNIL)
            lua_setfield(lua, 1, default_members[i]);
        else
            lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

/* Files are named after ids: nothing in one leads out of a folder, and nothing needs quotes in a command. */
static bool is_id(const char *id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    return id[0] != '\0' && strchr(letters, id[0]) != NULL && strlen(id) <= ID_OCTETS_MAX &&
           strspn(id + strspn(id, letters), "-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") ==
               strlen(id + strspn(id, letters));
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

/* What the check drives: MPA over TCP, DDP over SCTP, either of them, or CM. */
static bool read_llp(lua_State *lua, struct check *check)
{
    const char *llp = string_member(lua, "llp");

    check->cm = llp != NULL && strcmp(llp, "cm") == 0;
    check->any_llp = llp != NULL && strcmp(llp, "any") == 0;
    return check->cm || check->any_llp || rig_llp_parse(llp, &check->sctp);
}

static void register_check(lua_State *lua, struct script_host *host, const struct check *check)
{
    if (host->check_count == host->check_room) {
        size_t room = host->check_room == 0 ? 128 : host->check_room * 2;
        struct check *grown = realloc(host->checks, room * sizeof(*grown));

        if (grown == NULL) {
            no_memory(lua);
            return; /* no_memory() does not return, but says so to nobody */
        }
        host->checks = grown;
        host->check_room = room;
    }
    host->checks[host->check_count++] = *check;
}

static const char *check_id(lua_State *lua, const char *id)
{
    if (!is_id(id))
        luaL_error(lua, "check: an id of at most %d letters, digits, '-', '_' and '.' was expected, not '%s'",
                   ID_OCTETS_MAX, id);
    return id;
}

/* Member `also` of the table at index 1: the other ids that the check decides. Returns how many there are. */
static size_t read_also(lua_State *lua, const char *id, const char *also[ALSO_MAX])
{
    size_t count = 0;
    int type = lua_getfield(lua, 1, "also");

    if (type == LUA_TTABLE)
        count = lua_rawlen(lua, -1);
    if (type != LUA_TNIL && (count == 0 || count > ALSO_MAX))
        luaL_error(lua, "check %s: also is a list of 1 to %d ids", id, ALSO_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t octets = 0;
        const char *text =
            lua_rawgeti(lua, -1, (lua_Integer)i + 1) == LUA_TSTRING ? lua_tolstring(lua, -1, &octets) : NULL;

        if (text == NULL || strlen(text) != octets) {
            luaL_error(lua, "check %s: also is a list of 1 to %d ids", id, ALSO_MAX);
            return 0; /* luaL_error() does not return, but says so to nobody */
        }
        also[i] = keep_string(script_room_of(lua)->host, check_id(lua, text));
        if (also[i] == NULL)
            no_memory(lua);
        for (size_t k = 0; k <= i; k++)
            if (strcmp(k == i ? id : also[k], also[i]) == 0)
                luaL_error(lua, "check %s: its ids hold %s twice", id, also[i]);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    return count;
}

/* What the check at index 1 is, whichever of its ids is decided. */
static void read_check(lua_State *lua, struct check *check)
{
    lua_Debug caller;

    check->id = string_member(lua, "id");
    check->purpose = string_member(lua, "purpose");
    check->requires = string_member(lua, "requires");
    if (lua_getstack(lua, 1, &caller) && lua_getinfo(lua, "l", &caller))
        check->line = caller.currentline;
    if (check->id == NULL || check->purpose == NULL)
        luaL_error(lua, "a check needs an id and a purpose");
    (void)check_id(lua, check->id);
    if (!read_roles(lua, check))
        luaL_error(lua, "check %s: role is \"responder\", \"initiator\" or \"both\"", check->id);
    if (!read_llp(lua, check))
        luaL_error(lua, "check %s: llp is \"tcp\", \"any\", \"sctp\", \"sctp-draft02\" or \"cm\"", check->id);
    if (lua_getfield(lua, 1, "run") != LUA_TFUNCTION)
        luaL_error(lua, "check %s: run is not a function", check->id);
    lua_getfield(lua, 1, "destructive");
    check->destructive = lua_toboolean(lua, -1);
    check->unjudged = lua_getfield(lua, 1, "rules") == LUA_TBOOLEAN && !lua_toboolean(lua, -1);
    lua_settop(lua, 1);
}

/* A check for each id: the same body decides each, in a run of its own. */
static int add_check(lua_State *lua)
{
    struct script_room *room = script_room_of(lua);
    struct check check = {.path = room->host->loading, .room = room};
    const char *also[ALSO_MAX];
    size_t others;

    luaL_checktype(lua, 1, LUA_TTABLE);
    take_defaults(lua, room);
    if (check.path == NULL)
        return luaL_error(lua, "a check cannot be added while checks run");
    read_check(lua, &check);
    others = read_also(lua, check.id, also);
    lua_settop(lua, 1);
    check.table = luaL_ref(lua, LUA_REGISTRYINDEX);
    register_check(lua, room->host, &check);
    for (size_t i = 0; i < others; i++) {
        check.id = also[i];
        register_check(lua, room->host, &check);
    }
    return 0;
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
    lua_pushcfunction(lua, script_rig_served);
    lua_setfield(lua, -2, "served");
    lua_setglobal(lua, "rig");
    lua_pushcfunction(lua, add_check);
    lua_setglobal(lua, "check");
    lua_pushcfunction(lua, set_defaults);
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

static struct script_room *room_new(struct script_host *host, bool embedded, struct sentence *error)
{
    struct script_room *room = calloc(1, sizeof(*room));

    if (room == NULL) {
        host->short_of_memory = true;
        (void)sentence_set(error, "out of memory for the script host");
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

struct script_room *script_embedded_room(struct script_host *host, struct sentence *error)
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

void script_note_sighting(struct script_host *host)
{
    host->looked_at = host->rig.looked_at;
    if (host->rig.recorder != NULL)
        host->looked_at.latest = recorder_frame(host->rig.recorder);
}

/* Finds the script's own line: the innermost level that is not in the library. */
int script_on_error(lua_State *lua)
{
    struct script_host *host = script_room_of(lua)->host;
    lua_Debug level;

    host->line = 0;
    for (int i = 0; lua_getstack(lua, i, &level); i++) {
        lua_getinfo(lua, "Sl", &level);
        if (level.currentline > 0 && level.source[0] == '@' && !is_library(level.source + 1)) {
            host->line = level.currentline;
            break;
        }
    }
    script_note_sighting(host);
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
    return shard_digest_octets(shard_digest_number(so_far, count), octets, count);
}

static int load_into(struct script_room *room, struct loading *loading, struct sentence *error)
{
    struct script_host *host = room->host;
    size_t checks = host->check_count;
    struct sentence why;
    int status;

    host->digest = digest(host->digest, loading->octets, loading->count);
    host->short_of_memory = false;
    host->loading = keep_string(host, loading->path);
    if (host->loading == NULL) {
        host->short_of_memory = true;
        return sentence_set(error, "%.300s: out of memory", loading->path);
    }
    status = lua_sandbox_do(&room->sandbox, load, loading, script_on_error, &why);
    host->loading = NULL;
    host->short_of_memory |= host->account.short_of_it;
    if (status == 0 && !host->short_of_memory)
        return 0;
    host->check_count = checks;
    if (status == 0) /* the script has caught the error and gone on without what it wanted */
        return sentence_set(error, "%.300s: %s", loading->path, lua_sandbox_shortage(&host->account));
    return sentence_set(error, "%.300s%s%s", strstr(why.text, loading->path) != NULL ? "" : loading->path,
                        strstr(why.text, loading->path) != NULL ? "" : ": ", why.text);
}

int script_load(struct script_host *host, const char *path, const void *octets, size_t count, struct sentence *error)
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

int script_load_embedded(struct script_host *host, struct sentence *error)
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

struct script_host *script_host_new(struct sentence *error)
{
    struct script_host *host = calloc(1, sizeof(*host));

    if (host == NULL) {
        (void)sentence_set(error, "out of memory for the script host");
        return NULL;
    }
    host->account.memory_max = LUA_SANDBOX_MEMORY_MAX;
    host->work = WORK_MAX;
    host->digest = SHARD_DIGEST_START;
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
    json_decref(host->served);
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
