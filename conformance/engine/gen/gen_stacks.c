/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two reference stacks on a simulated wire, as capture scripts have them: each obeys the upper tester's verbs
 * (docs/upper-tester.md), and every frame that is delivered goes into the capture, at its virtual time.
 */
#include <jansson.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen/gen_internal.h"
#include "conformance/engine/sandbox/lua_json.h"
#include "conformance/engine/device/sim_device.h"
#include "reference-stack/defects/defect.h"

#define STACKS "warpcheck stacks"

/* STACKS_OPEN_MAX: what stacks hold is not in Lua's count of memory. */
enum { SIDES = 2, DEFECTS_MAX = 8, STACKS_OPEN_MAX = 8 };

/* A packet with TCP payload, by its number in the capture. */
struct carried {
    uint64_t frame;
    bool inbound;
};

/* Side 0, the initiator, is end A of the wire. */
struct stacks {
    struct gen *gen;
    struct carried *carried;
    size_t carried_count, carried_room;
    struct sim *sim;
    struct sim_device *device[SIDES];
    struct defect_set *defects[SIDES];
};

static void free_stacks(struct stacks *stacks)
{
    for (int side = 0; side < SIDES; side++) {
        sim_device_free(stacks->device[side]);
        defect_set_free(stacks->defects[side]);
    }
    sim_free(stacks->sim);
    free(stacks->carried);
    if (stacks->gen != NULL)
        stacks->gen->stacks--;
    memset(stacks, 0, sizeof(*stacks));
}

static struct stacks *stacks_at(lua_State *lua)
{
    struct stacks *stacks = luaL_checkudata(lua, 1, STACKS);

    if (stacks->sim == NULL)
        luaL_error(lua, "these stacks are closed");
    return stacks;
}

static int stacks_close(lua_State *lua)
{
    free_stacks(luaL_checkudata(lua, 1, STACKS));
    return 0;
}

/* __gc. Scripts do not see the metatable: this is called by the collector alone, and must raise no error. */
static int stacks_collect(lua_State *lua)
{
    free_stacks(lua_touserdata(lua, 1));
    return 0;
}

static int note_carried(struct stacks *stacks, uint64_t frame, bool inbound)
{
    if (stacks->carried_count == stacks->carried_room) {
        size_t room = stacks->carried_room * 2 + 64;
        struct carried *grown = realloc(stacks->carried, room * sizeof(*grown));

        if (grown == NULL)
            return iwarp_sentence_set(&stacks->gen->failure, "out of memory for the packets of a simulated wire");
        stacks->carried = grown;
        stacks->carried_room = room;
    }
    stacks->carried[stacks->carried_count++] = (struct carried){frame, inbound};
    return 0;
}

/* If a frame cannot be written, the error is reported after the simulation has stopped. */
static void tap(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct stacks *stacks = context;
    struct packet packet;

    if (gen_emit(stacks->gen, &(struct gen_frame){time_ns, frame, octets, NULL, inbound}) == 0 &&
        packet_parse(&packet, frame, octets, NULL) == 0 && packet.kind == PACKET_TCP && packet.payload_octets != 0)
        (void)note_carried(stacks, gen_writer_frames(stacks->gen->writer), inbound);
}

static double member(lua_State *lua, const char *name, double least, double most)
{
    double value = 0;

    if (lua_getfield(lua, 1, name) != LUA_TNIL) {
        int is_number;

        value = lua_tonumberx(lua, -1, &is_number);
        if (!is_number || !(value >= least && value <= most))
            luaL_error(lua, "stacks.%s: a number from %f to %f was expected", name, least, most);
    }
    lua_pop(lua, 1);
    return value;
}

/* stacks.defects[side]: a list of ids. */
static void read_defects(lua_State *lua, struct stacks *stacks, int side)
{
    const char *ids[DEFECTS_MAX];
    struct iwarp_sentence why = {{0}};
    struct defect_list *list;
    size_t count = 0;

    lua_getfield(lua, 1, side == 0 ? "initiator" : "responder");
    if (lua_istable(lua, -1)) {
        for (; count < DEFECTS_MAX && lua_rawgeti(lua, -1, (lua_Integer)count + 1) == LUA_TSTRING; count++) {
            ids[count] = lua_tostring(lua, -1); /* the table keeps it */
            lua_pop(lua, 1);
        }
        if (count < DEFECTS_MAX)
            lua_pop(lua, 1);
    }
    if (count != 0) {
        list = defect_list_embedded(&why);
        if (list != NULL)
            stacks->defects[side] = defect_set_new(list, ids, count, &why);
        defect_list_free(list);
        if (stacks->defects[side] == NULL)
            luaL_error(lua, "stacks: %s", why.text);
    }
    lua_pop(lua, 1);
}

static void add_device(lua_State *lua, struct stacks *stacks, int side)
{
    struct sim_device_config config = {
        .sim = stacks->sim,
        .end = side == 0 ? SIM_END_A : SIM_END_B,
        .mac = {0x02, 0x77, 0x63, 0, 0, (uint8_t)(1 + side)},
        .ipv4 = side == 0 ? "10.77.0.1" : "10.77.0.2",
        .ipv6 = side == 0 ? "fd77::1" : "fd77::2",
        .seed = stacks->gen->seed * 2 + (uint64_t)side,
        .defects = stacks->defects[side],
    };
    struct iwarp_sentence why = {{0}};

    stacks->device[side] = sim_device_new(&config, &why);
    if (stacks->device[side] == NULL)
        luaL_error(lua, "stacks: %s", why.text);
}

/* gen.stacks{ loss =, duplicate =, reorder =, latency_ns =, initiator = {defects}, responder = {defects} } */
int gen_stacks(lua_State *lua)
{
    struct gen *gen = gen_of(lua);
    struct sim_config world = {.seed = gen->seed, .start_ns = gen->clock_ns};
    struct stacks *stacks;

    luaL_checktype(lua, 1, LUA_TTABLE);
    if (!gen->making)
        return luaL_error(lua, "no capture is being made");
    if (gen->stacks >= STACKS_OPEN_MAX)
        return luaL_error(lua, "stacks: more than %d pairs at once; close() some", STACKS_OPEN_MAX);
    world.a_to_b.loss = world.b_to_a.loss = member(lua, "loss", 0, 0.5);
    world.a_to_b.duplicate = world.b_to_a.duplicate = member(lua, "duplicate", 0, 0.5);
    world.a_to_b.reorder = world.b_to_a.reorder = member(lua, "reorder", 0, 0.5);
    world.latency_ns = (uint64_t)member(lua, "latency_ns", 0, 1e9);
    stacks = lua_newuserdatauv(lua, sizeof(*stacks), 0);
    memset(stacks, 0, sizeof(*stacks));
    luaL_setmetatable(lua, STACKS);
    stacks->gen = gen;
    gen->stacks++;
    stacks->sim = sim_new(&world);
    if (stacks->sim == NULL)
        return luaL_error(lua, "out of memory for a simulated wire");
    for (int side = 0; side < SIDES; side++) {
        read_defects(lua, stacks, side);
        add_device(lua, stacks, side);
    }
    sim_tap(stacks->sim, tap, stacks);
    return 1;
}

/* s:command(side, {verb = ...}): the answer. */
static int stacks_command(lua_State *lua)
{
    struct stacks *stacks = stacks_at(lua);
    lua_Integer side = luaL_checkinteger(lua, 2);
    json_t *request, *answer;
    char *line, *text;

    if (side != 0 && side != 1)
        return luaL_error(lua, "side 0 or 1 was expected");
    luaL_checktype(lua, 3, LUA_TTABLE);
    request = lua_json_from(lua, 3);
    line = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    if (line == NULL)
        return luaL_error(lua, "a command contains a value that JSON cannot express");
    text = sim_device_command(stacks->device[side], line);
    free(line);
    answer = text != NULL ? json_loads(text, 0, NULL) : NULL;
    free(text);
    if (answer == NULL)
        return luaL_error(lua, "the stack ran out of memory");
    lua_json_push_new(lua, answer);
    return 1;
}

/* s:run(nanoseconds): the world goes on so long; the time then. */
static int stacks_run(lua_State *lua)
{
    struct stacks *stacks = stacks_at(lua);
    struct gen *gen = stacks->gen;
    lua_Integer more = luaL_checkinteger(lua, 2);
    int status;

    if (!gen->making)
        return luaL_error(lua, "no capture is being made");
    if (more < 0)
        return luaL_error(lua, "time does not go back");
    status = sim_run_until(stacks->sim, sim_now(stacks->sim) + (uint64_t)more, NULL, NULL);
    gen->clock_ns = sim_now(stacks->sim);
    if (gen->failure.text[0] != '\0')
        return luaL_error(lua, "%s", gen->failure.text);
    if (status < 0)
        return luaL_error(lua, "%s", sim_link(stacks->sim)->error.text);
    lua_pushinteger(lua, (lua_Integer)gen->clock_ns);
    return 1;
}

/* s:carried(side, after, nth): number of the nth packet of that side with payload after number `after`; or nil. */
static int stacks_carried(lua_State *lua)
{
    struct stacks *stacks = stacks_at(lua);
    bool inbound = luaL_checkinteger(lua, 2) == 1;
    lua_Integer after = luaL_checkinteger(lua, 3);
    lua_Integer nth = luaL_checkinteger(lua, 4);

    for (size_t i = 0; i < stacks->carried_count; i++)
        if (stacks->carried[i].inbound == inbound && stacks->carried[i].frame > (uint64_t)after && --nth == 0) {
            lua_pushinteger(lua, (lua_Integer)stacks->carried[i].frame);
            return 1;
        }
    return 0;
}

void gen_stacks_open(lua_State *lua)
{
    static const luaL_Reg methods[] = {{"command", stacks_command},
                                       {"run", stacks_run},
                                       {"carried", stacks_carried},
                                       {"close", stacks_close},
                                       {NULL, NULL}};

    luaL_newmetatable(lua, STACKS);
    luaL_newlib(lua, methods);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, stacks_collect);
    lua_setfield(lua, -2, "__gc");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
}
