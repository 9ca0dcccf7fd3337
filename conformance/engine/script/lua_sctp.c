/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP in the table `rig`: how a check opens associations. lua_sctp_association.c has the methods of an association. */
#include "conformance/engine/script/lua_sctp.h"

#include "conformance/engine/rig/device_keeper.h"
#include "conformance/engine/script/lua_rig_internal.h"
#include "conformance/engine/profile/rig_llp.h"
#include "wire/ddp_sctp.h"

static struct rig *rig_with_sctp(lua_State *lua)
{
    struct rig *rig = lua_rig_running(lua);

    if (rig->sctp.host == NULL)
        luaL_error(lua, "the rig has no SCTP");
    lua_sctp.set_time(rig);
    return rig;
}

static bool read_flag(lua_State *lua, int table, const char *name)
{
    bool set = false;

    if (lua_istable(lua, table)) {
        lua_getfield(lua, table, name);
        set = lua_toboolean(lua, -1);
        lua_pop(lua, 1);
    }
    return set;
}

/* The table at `index`, or nil. `parameters` stays on the stack: its octets are borrowed. */
static void read_options(lua_State *lua, int index, struct sctp_assoc_options *options)
{
    bool outbound, inbound, given;

    *options = (struct sctp_assoc_options){0};
    options->source_port = (uint16_t)lua_rig_integer(lua, index, "source_port", 0, &given);
    options->adaptation = (uint32_t)lua_rig_integer(lua, index, "adaptation", 0, &options->has_adaptation);
    options->outbound = (uint16_t)lua_rig_integer(lua, index, "outbound", 64, &outbound);
    options->inbound = (uint16_t)lua_rig_integer(lua, index, "inbound", 64, &inbound);
    options->choose_streams = outbound || inbound;
    options->window = (uint32_t)lua_rig_integer(lua, index, "window", 0, &given);
    options->initial_tsn = (uint32_t)lua_rig_integer(lua, index, "initial_tsn", 0, &options->choose_tsn);
    options->silent_cookie = read_flag(lua, index, "silent_cookie");
    if (lua_istable(lua, index) && lua_getfield(lua, index, "parameters") != LUA_TNIL)
        options->parameters = (const uint8_t *)luaL_checklstring(lua, -1, &options->parameters_octets);
}

static int rig_sctp_connect(lua_State *lua)
{
    struct rig *rig = rig_with_sctp(lua);
    struct sctp_assoc_options options;
    struct iwarp_sentence why = {{0}};
    struct lua_held *association;
    struct sctp_assoc *assoc;
    const struct sctp_assoc_status *status;
    uint64_t until = rig_now(rig) + rig->reaction_ns;
    bool given;
    uint16_t port = (uint16_t)lua_rig_integer(lua, 1, "port", rig->port, &given);

    read_options(lua, 1, &options);
    rig->sctp.fragment_octets = 0;
    association = lua_held_push(lua, &lua_sctp);
    lua_sctp.set_time(rig);
    assoc = association->endpoint = sctp_assoc_connect(rig->sctp.host, port, &options, &why);
    if (assoc == NULL)
        return luaL_error(lua, "%s", why.text);
    status = sctp_assoc_status(assoc);
    while (status->state < SCTP_ASSOC_ESTABLISHED && lua_rig_pump(lua, until))
        continue;
    if (status->established_ns != 0) {
        device_keeper_accepted(rig, rig->stimulating);
        return 1;
    }
    lua_pushnil(lua);
    lua_pushstring(lua, status->cause == SCTP_ASSOC_OPEN ? "no answer" : sctp_assoc_cause_name(status->cause));
    return 2;
}

static int rig_sctp_listen(lua_State *lua)
{
    struct rig *rig = rig_with_sctp(lua);
    struct sctp_assoc_options options;
    struct iwarp_sentence why;
    uint16_t port = (uint16_t)luaL_checkinteger(lua, 1);

    lua_settop(lua, 2);
    read_options(lua, 2, &options);
    if (sctp_host_listen(rig->sctp.host, port, &options, &why) != 0)
        return luaL_error(lua, "%s", why.text);
    return 0;
}

static int rig_sctp_accept(lua_State *lua)
{
    struct rig *rig = rig_with_sctp(lua);
    uint16_t port = (uint16_t)luaL_checkinteger(lua, 1);
    uint64_t deadline = lua_rig_deadline(lua, 2);
    struct lua_held *association = lua_held_push(lua, &lua_sctp);

    while ((association->endpoint = sctp_host_accept(rig->sctp.host, port)) == NULL)
        if (!lua_rig_pump(lua, deadline))
            return 0;
    device_keeper_stimulated(rig);
    return 1;
}

static void set_number(lua_State *lua, const char *name, lua_Integer number)
{
    lua_pushinteger(lua, number);
    lua_setfield(lua, -2, name);
}

/* Function Codes by the names of wire/ddp_sctp.h; PPIDs and adaptation indications of both profiles. */
static int rig_sctp_names(lua_State *lua)
{
#define SESSION_NAMED(id, code, name, word, data, active, section) set_number(lua, name, id);
    lua_newtable(lua);
    DDP_SCTP_SESSIONS(SESSION_NAMED)
    set_number(lua, "Stream Reset", DDP_SCTP_STREAM_RESET);
    set_number(lua, "segment", DDP_SCTP_PPID_SEGMENT);
    set_number(lua, "control", DDP_SCTP_PPID_CONTROL);
    set_number(lua, "draft segment", DDP_SCTP_PPID_DRAFT_SEGMENT);
    set_number(lua, "draft control", DDP_SCTP_PPID_DRAFT_CONTROL);
    set_number(lua, "DDP", DDP_SCTP_INDICATION_DDP);
    set_number(lua, "DDP+RDMA", DDP_SCTP_INDICATION_DDP_RDMA);
    return 1;
}

/*
 * From now on the tester's SCTP packets go in IP fragments of so many octets, the last one first if wanted; 0: whole.
 */
static int rig_sctp_fragments(lua_State *lua)
{
    enum { FRAGMENT_MAX = 1440 }; /* octets after an IPv6 header with its fragment header, at a path MTU of 1500 */
    struct rig *rig = rig_with_sctp(lua);
    lua_Integer octets = luaL_checkinteger(lua, 1);

    luaL_argcheck(lua, octets >= 0 && octets <= FRAGMENT_MAX && octets % 8 == 0, 1,
                  "0 or a multiple of 8 was expected");
    rig->sctp.fragment_octets = (size_t)octets;
    rig->sctp.last_fragment_first = lua_toboolean(lua, 2);
    return 0;
}

/* What carries DDP on this rig, as checks name it. */
static int rig_llp(lua_State *lua)
{
    lua_pushstring(lua, rig_llp_name(lua_rig_running(lua)->llp));
    return 1;
}

static const luaL_Reg functions[] = {
    {"llp", rig_llp},
    {"sctp_names", rig_sctp_names},
    {"sctp_connect", rig_sctp_connect},
    {"sctp_listen", rig_sctp_listen},
    {"sctp_accept", rig_sctp_accept},
    {"sctp_fragments", rig_sctp_fragments},
    {NULL, NULL},
};

static void set_time(struct rig *rig)
{
    if (rig->sctp.host != NULL)
        sctp_host_set_time(rig->sctp.host, rig_now(rig));
}

static void drop(void *association)
{
    sctp_assoc_abort(association);
    sctp_assoc_release(association);
}

const struct lua_binding lua_sctp = {
    .functions = functions,
    .metatable = "warpcheck.association",
    .methods = lua_sctp_methods,
    .what = "association",
    .several = "associations",
    .set_time = set_time,
    .drop = drop,
};
