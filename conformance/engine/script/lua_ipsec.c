/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/lua_ipsec.h"

#include "conformance/engine/ipsec/ipsec_tester.h"
#include "conformance/engine/sandbox/lua_json.h"
#include "reports/results/result.h"

#define LOOK_NS UINT64_C(10000000)
#define LONGEST_NS                                                                                                     \
    UINT64_C(240000000000) /* an offer that nobody answers is repeated for 17 seconds, by each of two programs */

static int inconclusive(lua_State *lua, const char *why)
{
    lua_createtable(lua, 0, 2); /* a verdict: conformance/scripts/lib/3-harness.lua */
    lua_pushstring(lua, verdict_name(VERDICT_INCONCLUSIVE));
    lua_setfield(lua, -2, "verdict");
    lua_pushstring(lua, why);
    lua_setfield(lua, -2, "message");
    return lua_error(lua);
}

/* The answer on top of the stack. Takes the reference. */
static int ask(lua_State *lua, json_t *request)
{
    struct rig *rig = lua_rig_running(lua);
    struct iwarp_sentence why = {{0}};
    uint64_t last = rig_now(rig) + LONGEST_NS;
    int got = ipsec_tester_ask(rig->ipsec, request, &why);
    json_t *answer = NULL;

    json_decref(request);
    while (got == 0 && (got = ipsec_tester_answer(rig->ipsec, &answer, &why)) == 0) {
        (void)lua_rig_pump(lua, rig_now(rig) + LOOK_NS);
        if (rig_now(rig) > last)
            return inconclusive(lua, "the tester's IPsec does not answer");
    }
    if (got < 0)
        return inconclusive(lua, why.text);
    if (!json_is_true(json_object_get(answer, "ok"))) {
        const char *text = json_string_value(json_object_get(answer, "error"));

        (void)iwarp_sentence_set(&why, "the tester's IPsec: %.400s", text != NULL ? text : "no reason given");
        json_decref(answer);
        return inconclusive(lua, why.text);
    }
    lua_json_push_new(lua, answer);
    return 1;
}

static int rig_has_ipsec(lua_State *lua)
{
    const struct rig *rig = lua_rig_running(lua);

    lua_pushboolean(lua, rig->ipsec != NULL);
    if (rig->ipsec == NULL)
        return 1;
    lua_pushstring(lua, ipsec_tester_base(rig->ipsec));
    lua_pushboolean(lua, ipsec_tester_kernel(rig->ipsec));
    return 3;
}

static int rig_ipsec(lua_State *lua)
{
    const struct rig *rig = lua_rig_running(lua);
    json_t *request;

    luaL_checktype(lua, 1, LUA_TTABLE);
    if (rig->ipsec == NULL)
        return luaL_error(lua, "the device is not reached through IPsec");
    lua_rig_of(lua)->used = true;
    request = lua_json_from(lua, 1);
    return request != NULL ? ask(lua, request)
                           : luaL_error(lua, "a request for IPsec contains a value that JSON cannot express");
}

static int rig_ipsec_base(lua_State *lua)
{
    const struct rig *rig = lua_rig_running(lua);
    json_t *request;

    if (rig->ipsec == NULL || !ipsec_tester_changed(rig->ipsec))
        return 0;
    request = json_pack("{s:s}", "verb", "base");
    return request != NULL ? ask(lua, request) : luaL_error(lua, "out of memory");
}

const luaL_Reg lua_ipsec_functions[] = {
    {"has_ipsec", rig_has_ipsec},
    {"ipsec", rig_ipsec},
    {"ipsec_base", rig_ipsec_base},
    {NULL, NULL},
};
