/* SPDX-License-Identifier: BSD-2-Clause */
/* `check { ... }` and `defaults { ... }`: what a script says of its checks, and what is wrong with it. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/profile/rig_llp.h"
#include "conformance/engine/script/script_internal.h"

enum { ID_OCTETS_MAX = 64, MEMBER_OCTETS_MAX = 4096, ALSO_MAX = 32, LASTS_MOST = 600 };

const char *script_keep_string(struct script_host *host, const char *text)
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
    if (text != NULL && (text = script_keep_string(script_room_of(lua)->host, text)) == NULL)
        no_memory(lua);
    lua_pop(lua, 1);
    return text;
}

/* What `defaults { ... }` may say for the checks of its script. */
static const char *const default_members[] = {"requires", "sandwich", "llp"};

int script_set_defaults(lua_State *lua)
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
static void read_defaults(lua_State *lua, const struct script_room *room)
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
    check->with_end = llp != NULL && strcmp(llp, "any-end") == 0;
    check->any_llp = check->with_end || (llp != NULL && strcmp(llp, "any") == 0);
    return check->cm || check->any_llp || rig_llp_parse(llp, &check->sctp);
}

static void register_check(lua_State *lua, struct script_host *host, const struct check *check)
{
    if (host->check_count == host->check_room) {
        size_t room = host->check_room == 0 ? 128 : host->check_room * 2;
        struct check *grown = realloc(host->checks, room * sizeof(*grown));

        if (grown == NULL) {
            no_memory(lua);
            return; /* no_memory() does not return, but is not declared so */
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
            return 0; /* luaL_error() does not return, but is not declared so */
        }
        also[i] = script_keep_string(script_room_of(lua)->host, check_id(lua, text));
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

/* Member `lasts`: what takes long begins early where checks run side by side. */
static double read_lasts(lua_State *lua, const char *id)
{
    int type = lua_getfield(lua, 1, "lasts");
    double seconds = type == LUA_TNUMBER ? lua_tonumber(lua, -1) : 0;

    if (type != LUA_TNIL && !(seconds > 0 && seconds <= LASTS_MOST))
        luaL_error(lua, "check %s: lasts is a number of seconds, of 0 (excluded) to %d", id, LASTS_MOST);
    lua_pop(lua, 1);
    return seconds;
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
    check->lasts = read_lasts(lua, check->id);
    lua_getfield(lua, 1, "destructive");
    check->destructive = lua_toboolean(lua, -1);
    check->unjudged = lua_getfield(lua, 1, "rules") == LUA_TBOOLEAN && !lua_toboolean(lua, -1);
    lua_getfield(lua, 1, "frees");
    check->frees = lua_toboolean(lua, -1);
    lua_settop(lua, 1);
}

int script_add_check(lua_State *lua)
{
    struct script_room *room = script_room_of(lua);
    struct check check = {.path = room->host->loading, .room = room};
    const char *also[ALSO_MAX];
    size_t others;

    luaL_checktype(lua, 1, LUA_TTABLE);
    read_defaults(lua, room);
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
