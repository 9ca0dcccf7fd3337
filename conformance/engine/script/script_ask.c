/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/script_ask.h"

#include "conformance/engine/sandbox/lua_json.h"
#include "conformance/engine/script/script_internal.h"

struct question {
    const char *function, *role;
    json_t *answer;
};

static int call(lua_State *lua)
{
    struct question *question = lua_touserdata(lua, 1);
    const struct script_room *room = script_room_of(lua);

    lua_settop(lua, 0);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, room->harness);
    lua_getfield(lua, -1, question->function);
    lua_pushstring(lua, question->role);
    lua_call(lua, 1, 1);
    question->answer = lua_json_from(lua, -1);
    return 0;
}

json_t *script_ask(struct script_host *host, const char *function, const char *role, struct rig *rig,
                   struct recorder *recorder, struct iwarp_sentence *error)
{
    struct script_room *room = script_embedded_room(host, error);
    struct question question = {.function = function, .role = role};
    int status;

    if (room == NULL)
        return NULL;
    lua_rig_begin(&host->rig, rig, recorder);
    status = lua_sandbox_do(&room->sandbox, call, &question, NULL, error);
    lua_rig_clear(&host->rig);
    lua_rig_begin(&host->rig, NULL, NULL);
    if (status == 0 && question.answer == NULL)
        (void)iwarp_sentence_set(error, "out of memory for the answer of %s", function);
    return question.answer;
}
