/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the Lua library of capture scripts (generator/lua/) asks of the program: the table `gen`, and the globals
 * `capture` and `corpus`.
 */
#include <lauxlib.h>
#include <math.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen/gen_internal.h"
#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_frame.h"

enum { NAME_OCTETS_MAX = 100, SNAP_MAX = 65535 };
#define SECOND 1e9

/*
 * ---- frames and time -----------------------------------------------------------------------------------------------
 */

/* gen.write(octets, time_ns, comment or nil, inbound): the frame's number. */
static int gen_write(lua_State *lua)
{
    struct gen *gen = gen_of(lua);
    struct gen_frame frame = {0};

    frame.octets = (const uint8_t *)luaL_checklstring(lua, 1, &frame.count);
    frame.time_ns = (uint64_t)luaL_checkinteger(lua, 2);
    frame.comment = luaL_optstring(lua, 3, NULL);
    frame.inbound = lua_toboolean(lua, 4);
    if (!gen->making)
        return luaL_error(lua, "no capture is being made");
    if (gen_emit(gen, &frame) != 0)
        return luaL_error(lua, "%s", gen->failure.text);
    lua_pushinteger(lua, (lua_Integer)gen_writer_frames(gen->writer));
    return 1;
}

static int gen_frames(lua_State *lua)
{
    struct gen *gen = gen_of(lua);

    lua_pushinteger(lua, gen->writer != NULL ? (lua_Integer)gen_writer_frames(gen->writer) : 0);
    return 1;
}

/* gen.tick(): the time of the next frame. */
static int gen_tick(lua_State *lua)
{
    struct gen *gen = gen_of(lua);

    gen->clock_ns += gen->step_ns;
    lua_pushinteger(lua, (lua_Integer)gen->clock_ns);
    return 1;
}

/* gen.clock(): start, now, step; gen.clock(now) sets it. */
static int gen_clock(lua_State *lua)
{
    struct gen *gen = gen_of(lua);

    if (lua_gettop(lua) > 0)
        gen->clock_ns = (uint64_t)luaL_checkinteger(lua, 1);
    lua_pushinteger(lua, (lua_Integer)gen->start_ns);
    lua_pushinteger(lua, (lua_Integer)gen->clock_ns);
    lua_pushinteger(lua, (lua_Integer)gen->step_ns);
    return 3;
}

/* Seconds to nanoseconds; whole seconds exactly. */
static int gen_nanoseconds(lua_State *lua)
{
    double seconds;

    if (lua_isinteger(lua, 1)) {
        lua_Integer whole = lua_tointeger(lua, 1);

        if (whole < 0 || whole > INT64_MAX / 1000000000)
            return luaL_error(lua, "a time in seconds from 0 on was expected, not %I", whole);
        lua_pushinteger(lua, whole * 1000000000);
        return 1;
    }
    seconds = luaL_checknumber(lua, 1);
    if (!(seconds >= 0 && seconds < 9e9))
        return luaL_error(lua, "a time in seconds from 0 on was expected");
    lua_pushinteger(lua, (lua_Integer)llround(seconds * SECOND));
    return 1;
}

/*
 * ---- settings ------------------------------------------------------------------------------------------------------
 */

static uint16_t link_named(lua_State *lua, int index)
{
    int whole;
    lua_Integer number = lua_tointegerx(lua, index, &whole);

    if (whole && number >= 0 && number <= UINT16_MAX)
        return (uint16_t)number;
    if (lua_type(lua, index) == LUA_TSTRING) {
        int dlt = pcap_datalink_name_to_val(lua_tostring(lua, index));

        if (dlt >= 0)
            return (uint16_t)(dlt == DLT_RAW ? FLOW_LINK_RAW : (uint32_t)dlt);
    }
    luaL_error(lua, "link: a name that libpcap knows (en10mb, raw, linux_sll, erf) or its number was expected, not %s",
               luaL_tolstring(lua, index, NULL));
    return 0;
}

/* gen.settings(link, snap, start_ns, step_ns, comment): of the capture in the making; nil leaves one as it is. */
static int gen_settings(lua_State *lua)
{
    struct gen *gen = gen_of(lua);

    if (gen->writer != NULL)
        return luaL_error(lua, "a capture's settings stand before its first packet");
    if (!lua_isnoneornil(lua, 1))
        gen->config.link = link_named(lua, 1);
    if (!lua_isnoneornil(lua, 2)) {
        lua_Integer snap = luaL_checkinteger(lua, 2);

        if (snap < 0 || snap > SNAP_MAX)
            return luaL_error(lua, "snap: from 0 (all) to %d octets of a packet were expected, not %I", SNAP_MAX, snap);
        gen->config.snap = (uint32_t)snap;
    }
    if (!lua_isnoneornil(lua, 3))
        gen->start_ns = gen->clock_ns = (uint64_t)luaL_checkinteger(lua, 3);
    if (!lua_isnoneornil(lua, 4))
        gen->step_ns = (uint64_t)luaL_checkinteger(lua, 4);
    if (!lua_isnoneornil(lua, 5)) {
        gen->config.comment = luaL_checkstring(lua, 5);
        lua_pushvalue(lua, 5);
        (void)luaL_ref(lua, LUA_REGISTRYINDEX); /* it is written with the first packet */
    }
    return 0;
}

/*
 * ---- captures ------------------------------------------------------------------------------------------------------
 */

/* Kept for the life of the state, as everything that a gen_capture points to. */
static const char *kept_string(lua_State *lua, int table, const char *name, const char *otherwise)
{
    const char *text = otherwise;

    if (lua_getfield(lua, table, name) == LUA_TSTRING) {
        text = lua_tostring(lua, -1);
        (void)luaL_ref(lua, LUA_REGISTRYINDEX);
        return text;
    }
    lua_pop(lua, 1);
    return text;
}

static bool is_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strlen(name) <= NAME_OCTETS_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == strlen(name);
}

/* The line of the script that called the library's function that called us. */
static int line_of_script(lua_State *lua)
{
    lua_Debug level;

    return lua_getstack(lua, 2, &level) && lua_getinfo(lua, "l", &level) ? level.currentline : 0;
}

/* gen.register(table): a capture to be made later. */
static int gen_register(lua_State *lua)
{
    struct gen *gen = gen_of(lua);
    struct gen_capture capture = {.path = gen->loading, .corpus = gen->corpus_count - 1, .room = gen_room_of(lua)};

    luaL_checktype(lua, 1, LUA_TTABLE);
    if (gen->registered || gen->capture_count == GEN_CAPTURES_MAX)
        return luaL_error(lua, gen->registered
                                   ? "capture: a capture is registered while its script loads, not by another one"
                                   : "capture: there are too many");
    capture.name = kept_string(lua, 1, "name", "");
    capture.about = kept_string(lua, 1, "about", "");
    capture.line = line_of_script(lua);
    if (!is_name(capture.name))
        return luaL_error(lua, "capture: a name out of letters, digits, '-', '_' and '.' was expected");
    for (size_t i = 0; i < gen->capture_count; i++)
        if (gen->captures[i].corpus == capture.corpus && strcmp(gen->captures[i].name, capture.name) == 0)
            return luaL_error(lua, "capture %s is there already (%s:%d)", capture.name, gen->captures[i].path,
                              gen->captures[i].line);
    if (gen->capture_count == gen->capture_room) {
        size_t room = gen->capture_room == 0 ? 64 : gen->capture_room * 2;
        struct gen_capture *grown = realloc(gen->captures, room * sizeof(*grown));

        if (grown == NULL)
            return luaL_error(lua, "out of memory for captures");
        gen->captures = grown;
        gen->capture_room = room;
    }
    lua_pushvalue(lua, 1);
    capture.table = luaL_ref(lua, LUA_REGISTRYINDEX);
    gen->captures[gen->capture_count++] = capture;
    return 0;
}

/* corpus { folder =, format =, text = } */
static int gen_corpus(lua_State *lua)
{
    struct gen *gen = gen_of(lua);
    struct gen_corpus corpus;
    const char *format;

    luaL_checktype(lua, 1, LUA_TTABLE);
    if (gen->registered)
        return luaL_error(lua, "corpus: it stands where a script loads");
    corpus.folder = kept_string(lua, 1, "folder", "");
    corpus.text = kept_string(lua, 1, "text", NULL);
    format = kept_string(lua, 1, "format", "pcapng");
    if (!is_name(corpus.folder))
        return luaL_error(lua, "corpus: a folder out of letters, digits, '-', '_' and '.' was expected");
    if (gen_format_from_name(format, &corpus.format) != 0 || corpus.format > GEN_PCAP)
        return luaL_error(lua, "corpus: format \"pcapng\" or \"pcap\" was expected, not \"%s\"", format);
    if (strcmp(gen->corpora[gen->corpus_count - 1].folder, corpus.folder) == 0)
        return 0; /* the next script of the same folder */
    if (gen->corpus_count == GEN_CORPORA_MAX)
        return luaL_error(lua, "more than %d folders", GEN_CORPORA_MAX);
    gen->corpora[gen->corpus_count++] = corpus;
    return 0;
}

/* gen.finding(id, verdict, frame): what the audit is expected to find in the capture in the making. */
static int gen_finding(lua_State *lua)
{
    static const char *const verdicts[] = {"FAIL", "WARN", "AMBIGUOUS", NULL};
    struct gen *gen = gen_of(lua);
    struct gen_finding *finding;

    if (gen->finding_count == GEN_FINDINGS_MAX)
        return luaL_error(lua, "more than %d findings in one capture", GEN_FINDINGS_MAX);
    finding = &gen->findings[gen->finding_count];
    finding->id = luaL_checkstring(lua, 1);
    finding->verdict = verdicts[luaL_checkoption(lua, 2, NULL, verdicts)];
    finding->frame = (uint64_t)luaL_checkinteger(lua, 3);
    lua_pushvalue(lua, 1);
    (void)luaL_ref(lua, LUA_REGISTRYINDEX);
    gen->finding_count++;
    return 0;
}

int gen_functions_open(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"write", gen_write},
        {"frames", gen_frames},
        {"tick", gen_tick},
        {"clock", gen_clock},
        {"nanoseconds", gen_nanoseconds},
        {"settings", gen_settings},
        {"register", gen_register},
        {"corpus", gen_corpus},
        {"finding", gen_finding},
        {"stacks", gen_stacks},
        {NULL, NULL},
    };

    gen_stacks_open(lua);
    luaL_newlib(lua, functions);
    lua_pushinteger(lua, (lua_Integer)gen_of(lua)->seed);
    lua_setfield(lua, -2, "seed");
    return 1;
}
