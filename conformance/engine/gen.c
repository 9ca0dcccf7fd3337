/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/gen.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen_internal.h"
#include "conformance/engine/lua_net.h"
#include "tools/embedded.h"

#define FRAMES_LIBRARY "conformance/scripts/lib/" /* the checks' own: their constructors are ours */
#define LIBRARY        "generator/lua/"
#define CORPUS         "generator/corpus/"

/* A script may compute so much for each capture, and write so many octets into it. */
enum { INSTRUCTIONS_MAX = 200000000 };
#define OCTETS_MAX (UINT64_C(1) << 30)

static const char *const frame_libraries[] = {FRAMES_LIBRARY "1-frames.lua", FRAMES_LIBRARY "2-connection.lua"};

static bool is_library(const char *path)
{
    return strncmp(path, LIBRARY, strlen(LIBRARY)) == 0 || strncmp(path, FRAMES_LIBRARY, strlen(FRAMES_LIBRARY)) == 0;
}

/* The text behind "path:line: " of a library, which is not what the script's author wants to look at. */
static const char *without_place(const char *message)
{
    const char *at = is_library(message) ? strstr(message, ".lua:") : NULL;

    if (at == NULL)
        return message;
    at += strlen(".lua:");
    at += strspn(at, "0123456789");
    return strncmp(at, ": ", 2) == 0 ? at + 2 : message;
}

/* Makes "script:line: what" of an error, with the line of the script that led to it. */
static int on_error(lua_State *lua)
{
    const char *message = without_place(luaL_tolstring(lua, 1, NULL));
    lua_Debug level;

    for (int i = 0; lua_getstack(lua, i, &level); i++) {
        lua_getinfo(lua, "Sl", &level);
        if (level.currentline > 0 && level.source[0] == '@' && !is_library(level.source + 1)) {
            const char *place = lua_pushfstring(lua, "%s:%d: ", level.source + 1, level.currentline);

            lua_pushfstring(lua, "%s%s", strncmp(message, place, strlen(place)) == 0 ? "" : place, message);
            return 1;
        }
    }
    const char *path = gen_of(lua)->loading; /* the library works on what the script has returned */

    if (path != NULL && !is_library(path) && strncmp(message, path, strlen(path)) != 0)
        lua_pushfstring(lua, "%s: %s", path, message);
    else
        lua_pushstring(lua, message);
    return 1;
}

/* Calls what is on the stack. -1: `error` says "script:line: what", or what failed outside. */
static int call(struct gen *gen, int arguments, int results, struct sentence *error)
{
    if (lua_sandbox_call(&gen->sandbox, arguments, results, on_error) == LUA_OK)
        return 0;
    (void)sentence_set(error, "%s", gen->failed ? gen->failure.text : luaL_tolstring(gen->lua, -1, NULL));
    lua_settop(gen->lua, 0);
    return -1;
}

static enum gen_status why(const struct gen *gen)
{
    return gen->failed ? GEN_ENVIRONMENT : GEN_BAD_SCRIPT;
}

int gen_emit(struct gen *gen, const struct gen_frame *frame)
{
    if (gen->failed)
        return -1;
    if (gen->writer == NULL)
        gen->writer = gen_writer_open(&gen->config, &gen->failure);
    if (gen->writer == NULL || gen_writer_frame(gen->writer, frame, &gen->failure) != 0) {
        gen->failed = true;
        return -1;
    }
    if (gen_writer_octets(gen->writer) > OCTETS_MAX)
        return sentence_set(&gen->failure, "the capture has grown beyond 1 GiB");
    return 0;
}

/* ---- scripts ------------------------------------------------------------------------------------------------------- */

/* A function of the library's table `gen`, whatever scripts have done to it since. */
static void push_function(struct gen *gen, const char *name)
{
    lua_State *lua = gen->lua;

    lua_rawgeti(lua, LUA_REGISTRYINDEX, gen->library);
    lua_pushstring(lua, name);
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
}

/* The chunk on top of the stack gets a `pairs` of its own, which goes in the order of the keys. */
static void set_pairs(struct gen *gen)
{
    (void)lua_getupvalue(gen->lua, -1, 1);
    push_function(gen, "pairs");
    lua_setfield(gen->lua, -2, "pairs");
    lua_pop(gen->lua, 1);
}

/* The chunk of `octets` on top of the stack. */
static int load_chunk(struct gen *gen, const char *path, const void *octets, size_t count, struct sentence *error)
{
    lua_State *lua = gen->lua;
    const char *name = lua_pushfstring(lua, "@%s", path);

    (void)luaL_ref(lua, LUA_REGISTRYINDEX); /* kept for the life of the state: captures point to it */
    gen->loading = name + 1;
    if (luaL_loadbufferx(lua, octets, count, name, "t") == LUA_OK) {
        lua_sandbox_globals(lua, is_library(path));
        if (!is_library(path))
            set_pairs(gen);
        return 0;
    }
    const char *message = luaL_tolstring(lua, -1, NULL);

    (void)sentence_set(error, "%s%s%s", strstr(message, path) != NULL ? "" : path,
                       strstr(message, path) != NULL ? "" : ": ", message);
    lua_settop(lua, 0);
    return -1;
}

static int load_library(struct gen *gen, const struct embedded_file *file, struct sentence *error)
{
    return load_chunk(gen, file->path, file->octets, file->size, error) == 0 ? call(gen, 0, 0, error) : -1;
}

static int load_libraries(struct gen *gen, struct sentence *error)
{
    for (size_t i = 0; i < sizeof(frame_libraries) / sizeof(frame_libraries[0]); i++) {
        const struct embedded_file *file = embedded_find(embedded_scripts, embedded_script_count, frame_libraries[i]);

        if (file == NULL)
            return sentence_set(error, "%s is not compiled in", frame_libraries[i]);
        if (load_library(gen, file, error) != 0)
            return -1;
    }
    for (size_t i = 0; i < embedded_capture_count; i++)
        if (is_library(embedded_captures[i].path) && load_library(gen, &embedded_captures[i], error) != 0)
            return -1;
    return 0;
}

struct gen *gen_new(uint64_t seed, struct sentence *error)
{
    struct gen *gen = calloc(1, sizeof(*gen));

    if (gen == NULL || lua_sandbox_open(&gen->sandbox, INSTRUCTIONS_MAX, gen) != 0) {
        (void)sentence_set(error, "out of memory for capture scripts");
        free(gen);
        return NULL;
    }
    gen->lua = gen->sandbox.lua;
    gen->seed = seed;
    gen->corpora[0] = (struct gen_corpus){.folder = "", .format = GEN_PCAPNG};
    gen->corpus_count = 1;
    lua_net_open(gen->lua);
    lua_setglobal(gen->lua, "net");
    gen_functions_open(gen->lua);
    lua_pushvalue(gen->lua, -1);
    gen->library = luaL_ref(gen->lua, LUA_REGISTRYINDEX);
    lua_setglobal(gen->lua, "gen");
    lua_newtable(gen->lua);
    lua_setglobal(gen->lua, "arg");
    if (load_libraries(gen, error) != 0) {
        gen_free(gen);
        return NULL;
    }
    return gen;
}

void gen_free(struct gen *gen)
{
    if (gen == NULL)
        return;
    (void)gen_writer_close(gen->writer, false, NULL);
    lua_sandbox_close(&gen->sandbox);
    free(gen->captures);
    free(gen);
}

static int set_argument(lua_State *lua)
{
    lua_getglobal(lua, "arg");
    lua_pushstring(lua, lua_touserdata(lua, 1));
    lua_pushstring(lua, lua_touserdata(lua, 2));
    lua_settable(lua, -3);
    return 0;
}

int gen_set_argument(struct gen *gen, const char *name, const char *value)
{
    struct sentence error;

    lua_pushcfunction(gen->lua, set_argument);
    lua_pushlightuserdata(gen->lua, (void *)(uintptr_t)name);
    lua_pushlightuserdata(gen->lua, (void *)(uintptr_t)value);
    return call(gen, 2, 0, &error);
}

/* A capture begins: nothing written, its clock at the default, random numbers from the seed. */
static int begin(struct gen *gen, const struct gen_writer_config *config, struct sentence *error)
{
    gen->config = *config;
    gen->config.link = 1;
    gen->config.snap = 0;
    gen->config.comment = NULL;
    gen->finding_count = 0;
    gen->failed = false;
    gen->failure.text[0] = '\0';
    gen->making = true;
    push_function(gen, "begin");
    return call(gen, 0, 0, error);
}

/* The end of it. `keep`: what was written is good. */
static enum gen_status end(struct gen *gen, enum gen_status status, struct sentence *error)
{
    struct gen_writer *writer = gen->writer;

    gen->writer = NULL;
    gen->making = false;
    if (gen_writer_close(writer, status == GEN_DONE, status == GEN_DONE ? error : NULL) != 0 && status == GEN_DONE)
        status = GEN_ENVIRONMENT;
    lua_settop(gen->lua, 0);
    return status;
}

/* The frames that a script returned, on the stack from `first` on: the library knows how to carry them. */
static int give_returned(struct gen *gen, int first, bool bare, struct sentence *error)
{
    lua_State *lua = gen->lua;
    int count = lua_gettop(lua) - first + 1;

    if (count == 0)
        return 0;
    push_function(gen, bare ? "give_bare" : "give_carried");
    lua_insert(lua, first);
    return call(gen, count, 0, error);
}

bool gen_script_reads(struct gen *gen, const char *text)
{
    bool reads = luaL_loadbufferx(gen->lua, text, strlen(text), "=text", "t") == LUA_OK;

    lua_settop(gen->lua, 0);
    return reads;
}

enum gen_status gen_run_script(struct gen *gen, const char *path, const void *octets, size_t count,
                               const struct gen_writer_config *config, bool bare, uint64_t *written,
                               struct sentence *error)
{
    enum gen_status status = GEN_DONE;

    *written = 0;
    lua_settop(gen->lua, 0);
    if (begin(gen, config, error) != 0 || load_chunk(gen, path, octets, count, error) != 0)
        return end(gen, why(gen), error);
    if (call(gen, 0, LUA_MULTRET, error) != 0 || give_returned(gen, 1, bare, error) != 0)
        status = why(gen);
    else if (gen->writer != NULL)
        *written = gen_writer_frames(gen->writer);
    return end(gen, status, error);
}

enum gen_status gen_load_corpus(struct gen *gen, struct sentence *error)
{
    struct gen_writer_config config = {.to = place_at("/dev/null"), .format = GEN_RAW};

    for (size_t i = 0; i < embedded_capture_count; i++) {
        const struct embedded_file *file = &embedded_captures[i];
        enum gen_status status;
        uint64_t written;

        if (strncmp(file->path, CORPUS, strlen(CORPUS)) != 0)
            continue;
        status = gen_run_script(gen, file->path, file->octets, file->size, &config, true, &written, error);
        if (status != GEN_DONE)
            return status;
    }
    return GEN_DONE;
}

/* ---- captures ------------------------------------------------------------------------------------------------------ */

size_t gen_capture_count(const struct gen *gen)
{
    return gen->capture_count;
}

const struct gen_capture *gen_capture_at(const struct gen *gen, size_t i)
{
    return i < gen->capture_count ? &gen->captures[i] : NULL;
}

size_t gen_corpus_count(const struct gen *gen)
{
    return gen->corpus_count;
}

const struct gen_corpus *gen_corpus_at(const struct gen *gen, size_t i)
{
    return i < gen->corpus_count ? &gen->corpora[i] : NULL;
}

enum gen_status gen_make(struct gen *gen, size_t i, const struct gen_writer_config *config, struct sentence *error)
{
    const struct gen_capture *capture = gen_capture_at(gen, i);
    lua_State *lua = gen->lua;
    enum gen_status status = GEN_DONE;

    lua_settop(lua, 0);
    gen->loading = capture != NULL ? capture->path : NULL;
    if (capture == NULL || begin(gen, config, error) != 0)
        return end(gen, GEN_BAD_SCRIPT, error);
    push_function(gen, "make");
    lua_rawgeti(lua, LUA_REGISTRYINDEX, capture->table);
    if (call(gen, 1, 0, error) != 0) {
        status = why(gen);
    } else if (gen->writer == NULL) {
        (void)sentence_set(error, "%s:%d: capture %s has no packet", capture->path, capture->line, capture->name);
        status = GEN_BAD_SCRIPT;
    }
    return end(gen, status, error);
}

size_t gen_finding_count(const struct gen *gen)
{
    return gen->finding_count;
}

const struct gen_finding *gen_finding_at(const struct gen *gen, size_t i)
{
    return i < gen->finding_count ? &gen->findings[i] : NULL;
}
