/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the script host share (script.h). */
#ifndef CONFORMANCE_ENGINE_SCRIPT_INTERNAL_H
#define CONFORMANCE_ENGINE_SCRIPT_INTERNAL_H

#include <jansson.h>

#include "conformance/engine/script/lua_rig.h"
#include "conformance/engine/sandbox/lua_sandbox.h"
#include "conformance/engine/script/script.h"

#define SCRIPT_LIBRARY "conformance/scripts/lib/"

enum { OUTCOME_EXPECTED, OUTCOME_ACTUAL, OUTCOME_MESSAGE, OUTCOME_READING, OUTCOME_CAUSE, OUTCOME_HINT, OUTCOME_TEXTS };

/*
 * A Lua state with the library and some scripts. All scripts that are compiled in share one room. Every other script
 * has a room of its own, and so cannot change the library, the globals or the strings' metatable of another.
 */
struct script_room {
    struct lua_sandbox sandbox;
    struct script_host *host;
    struct script_room *next;
    bool embedded;
    int harness;  /* reference to the library's table `harness` */
    int test;     /* and to the test object of the check that runs */
    int defaults; /* and to what the script that is being loaded gives its checks (`defaults`), or LUA_NOREF */
};

struct script_host {
    struct lua_account account; /* what the rooms hold */
    int64_t work;               /* what one call may compute */
    struct script_room *rooms;
    struct lua_rig rig;
    struct check *checks;
    size_t check_count, check_room;
    char **kept; /* strings of checks */
    size_t kept_count, kept_room;
    const char *loading; /* path of the script being loaded, while it runs */
    bool short_of_memory;
    char *texts[OUTCOME_TEXTS]; /* of the last outcome */
    int line;
    struct last_seen looked_at;
    const char *good_exchange;     /* the one that checks prefer, NULL: the least (services.h) */
    const struct profile *profile; /* of the device, NULL: none (services.h) */
    const struct pics *pics;       /* what the profile answers, NULL: yes to each question (services.h) */
    json_t *services; /* what the device serves in the role of the check that runs (services.h), NULL: all */
    uint64_t digest;  /* of the scripts that were loaded, without the library */
};

/* The room of a state. */
struct script_room *script_room_of(lua_State *lua);

/* The room of all scripts that are compiled in. NULL with a sentence. */
struct script_room *script_embedded_room(struct script_host *host, struct iwarp_sentence *error);

/* A copy that lives as long as the host: a script may change its table afterwards. NULL without memory. */
const char *script_keep_string(struct script_host *host, const char *text);

/* check { ... } of a script: a check for each id; the same body decides each, in a run of its own (script_check.c). */
int script_add_check(lua_State *lua);

/* defaults { requires = ..., sandwich = ..., llp = ... }: for the checks that stand below it in the same script. */
int script_set_defaults(lua_State *lua);

/* Memory was short for something that was to be loaded. */
void script_note_shortage(struct script_host *host);

/* Frees what the last outcome says. */
void script_forget_texts(struct script_host *host);

/* Notes what the check has read last: its verdict is about that. */
void script_note_last_seen(struct script_host *host);

/* Error handler: notes the script's own line and what it has read last, and leaves the error as it is. */
int script_on_error(lua_State *lua);

/* rig.services() (services.c). */
int script_rig_services(lua_State *lua);

/* rig.claims(predicate) (services.c) */
int script_rig_claims(lua_State *lua);

/* rig.capability(item), rig.private_data(kind) (services.c) */
int script_rig_capability(lua_State *lua);
int script_rig_private_data(lua_State *lua);

#endif
