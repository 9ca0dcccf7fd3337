/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/gen/gen.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen/gen_internal.h"
#include "conformance/engine/script/lua_net.h"
#include "tools/embedded.h"

#define FRAMES_LIBRARY "conformance/scripts/lib/" /* the checks' own: their constructors are ours */
#define LIBRARY        "generator/lua/"
#define CORPUS         "generator/corpus/"

/* A script may compute so much for each capture, and write so many octets into it. */
enum { WORK_MAX = 200000000 };
#define OCTETS_MAX (UINT64_C(1) << 30)

static const char *const frame_libraries[] = {FRAMES_LIBRARY "0-pairs.lua", FRAMES_LIBRARY "1-frames.lua",
                                              FRAMES_LIBRARY "2-connection.lua"};

static bool is_library(const char *path)
{
    return strncmp(path, LIBRARY, strlen(LIBRARY)) == 0 || strncmp(path, FRAMES_LIBRARY, strlen(FRAMES_LIBRARY)) == 0;
}

/* The text after "path:line: " of a library, which is not what the script's author wants to look at. */
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
    const char *path = gen_of(lua)->loading; /* the library may work on what the script has returned */

    return lua_sandbox_place(lua, without_place(luaL_tolstring(lua, 1, NULL)), is_library,
                             path != NULL && !is_library(path) ? path : NULL);
}

/* Runs a function in a room. -1: `error` says "script:line: what", or what failed outside. */
static int run(struct gen_room *room, lua_CFunction function, void *argument, struct iwarp_sentence *error)
{
    struct gen *gen = room->gen;

    if (lua_sandbox_do(&room->sandbox, function, argument, on_error, error) == 0 && !gen->account.short_of_it)
        return 0;
    if (gen->failed)
        *error = gen->failure;
    else if (gen->account.short_of_it) /* also when the script has caught the error and gone on */
        (void)iwarp_sentence_set(error, "%.300s: %s", gen->loading != NULL ? gen->loading : "script",
                                 lua_sandbox_shortage(&gen->account));
    return -1;
}

static enum exit_status why(const struct gen *gen)
{
    bool short_of_memory = gen->account.short_of_it && !gen->account.at_limit;

    return gen->failed || short_of_memory ? EXIT_ENVIRONMENT : EXIT_USAGE;
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
        return iwarp_sentence_set(&gen->failure, "the capture has grown beyond 1 GiB");
    return 0;
}

/*
 * ---- rooms ---------------------------------------------------------------------------------------------------------
 */

/* Pushes a function of the library's table `gen`, as the library defined it: scripts may have changed the table. */
static void push_function(lua_State *lua, const char *name)
{
    lua_rawgeti(lua, LUA_REGISTRYINDEX, gen_room_of(lua)->library);
    lua_pushstring(lua, name);
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
}

static void load_library(lua_State *lua, const struct embedded_file *file)
{
    lua_sandbox_load(lua, file->path, file->octets, file->size, true);
    lua_sandbox_globals(lua, true);
    lua_call(lua, 0, 0);
}

static void load_libraries(lua_State *lua)
{
    for (size_t i = 0; i < sizeof(frame_libraries) / sizeof(frame_libraries[0]); i++) {
        const struct embedded_file *file = embedded_find(embedded_scripts, embedded_script_count, frame_libraries[i]);

        if (file == NULL)
            luaL_error(lua, "%s is not compiled in", frame_libraries[i]);
        else
            load_library(lua, file);
    }
    for (size_t i = 0; i < embedded_capture_count; i++)
        if (is_library(embedded_captures[i].path))
            load_library(lua, &embedded_captures[i]);
}

/* The library, and what it needs of the program. */
static int furnish(lua_State *lua)
{
    struct gen_room *room = gen_room_of(lua);
    const struct gen *gen = room->gen;

    lua_net_open(lua);
    lua_setglobal(lua, "net");
    gen_functions_open(lua);
    lua_pushvalue(lua, -1);
    room->library = luaL_ref(lua, LUA_REGISTRYINDEX);
    lua_setglobal(lua, "gen");
    lua_newtable(lua);
    for (size_t i = 0; i < gen->argument_count; i++) {
        lua_pushstring(lua, gen->arguments[i].value);
        lua_setfield(lua, -2, gen->arguments[i].name);
    }
    lua_setglobal(lua, "arg");
    load_libraries(lua);
    return 0;
}

static void room_free(struct gen_room *room)
{
    lua_sandbox_close(&room->sandbox);
    free(room->path);
    free(room);
}

static struct gen_room *room_new(struct gen *gen, const char *path, struct iwarp_sentence *error)
{
    struct gen_room *room = calloc(1, sizeof(*room));

    gen->account.short_of_it = true; /* until the opposite is known */
    if (room != NULL)
        room->path = path != NULL ? strdup(path) : NULL;
    if (room == NULL || (path != NULL && room->path == NULL)) {
        (void)iwarp_sentence_set(error, "out of memory for capture scripts");
        free(room);
        return NULL;
    }
    room->gen = gen;
    if (lua_sandbox_open(&room->sandbox, &gen->account, gen->work, room, error) != 0 ||
        run(room, furnish, NULL, error) != 0) {
        room_free(room);
        return NULL;
    }
    room->next = gen->rooms;
    gen->rooms = room;
    return room;
}

struct gen *gen_new(uint64_t seed, struct iwarp_sentence *error)
{
    struct gen *gen = calloc(1, sizeof(*gen));

    if (gen == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for capture scripts");
        return NULL;
    }
    gen->account.memory_max = LUA_SANDBOX_MEMORY_MAX;
    gen->work = WORK_MAX;
    gen->seed = seed;
    gen->corpora[0] = (struct gen_corpus){.folder = "", .format = GEN_PCAPNG};
    gen->corpus_count = 1;
    return gen;
}

void gen_free(struct gen *gen)
{
    if (gen == NULL)
        return;
    (void)gen_writer_close(gen->writer, false, NULL);
    while (gen->rooms != NULL) {
        struct gen_room *next = gen->rooms->next;

        room_free(gen->rooms);
        gen->rooms = next;
    }
    for (size_t i = 0; i < gen->argument_count; i++) {
        free(gen->arguments[i].name);
        free(gen->arguments[i].value);
    }
    free(gen->captures);
    free(gen);
}

int gen_set_argument(struct gen *gen, const char *name, const char *value)
{
    struct gen_argument *argument = &gen->arguments[gen->argument_count];

    if (gen->argument_count == GEN_ARGUMENTS_MAX)
        return -1;
    *argument = (struct gen_argument){strdup(name), strdup(value)};
    if (argument->name != NULL && argument->value != NULL) {
        gen->argument_count++;
        return 0;
    }
    free(argument->name);
    free(argument->value);
    return -1;
}

/*
 * ---- scripts -------------------------------------------------------------------------------------------------------
 */

static int call_begin(lua_State *lua)
{
    push_function(lua, "begin");
    lua_call(lua, 0, 0);
    return 0;
}

/* A capture begins: nothing written, its clock at the default, random numbers from the seed. */
static int begin(struct gen_room *room, const struct gen_writer_config *config, struct iwarp_sentence *error)
{
    struct gen *gen = room->gen;

    gen->config = *config;
    gen->config.link = 1;
    gen->config.snap = 0;
    gen->config.comment = NULL;
    gen->finding_count = 0;
    gen->failed = false;
    gen->failure.text[0] = '\0';
    gen->making = true;
    return run(room, call_begin, NULL, error);
}

/* The end of it. What was written is good when it was done. */
static enum exit_status end(struct gen *gen, enum exit_status status, struct iwarp_sentence *error)
{
    struct gen_writer *writer = gen->writer;

    gen->writer = NULL;
    gen->making = gen->registered = false;
    if (gen_writer_close(writer, status == EXIT_DONE, status == EXIT_DONE ? error : NULL) != 0 && status == EXIT_DONE)
        status = EXIT_ENVIRONMENT;
    return status;
}

struct script {
    const char *path;
    const void *octets;
    size_t count;
    bool embedded;
    bool bare; /* how the frames that it returns are written */
};

/* The frames that a script returns: the library knows how to carry them. */
static int run_script(lua_State *lua)
{
    const struct script *script = lua_touserdata(lua, 1);

    lua_settop(lua, 0);
    lua_sandbox_load(lua, script->path, script->octets, script->count, script->embedded);
    lua_sandbox_globals(lua, false);
    lua_call(lua, 0, LUA_MULTRET);
    if (lua_gettop(lua) == 0)
        return 0;
    push_function(lua, script->bare ? "give_bare" : "give_carried");
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, 0);
    return 0;
}

static enum exit_status run_in(struct gen_room *room, const struct script *script,
                               const struct gen_writer_config *config, uint64_t *written, struct iwarp_sentence *error)
{
    struct gen *gen = room->gen;
    enum exit_status status = EXIT_DONE;

    gen->loading = room->path != NULL ? room->path : script->path;
    if (begin(room, config, error) != 0 || run(room, run_script, (void *)(uintptr_t)script, error) != 0)
        status = why(gen);
    else if (gen->writer != NULL)
        *written = gen_writer_frames(gen->writer);
    return end(gen, status, error);
}

enum exit_status gen_run_script(struct gen *gen, const char *path, const void *octets, size_t count,
                                const struct gen_writer_config *config, bool bare, uint64_t *written,
                                struct iwarp_sentence *error)
{
    struct script script = {path, octets, count, false, bare};
    struct gen_room *room = room_new(gen, path, error);

    *written = 0;
    return room != NULL ? run_in(room, &script, config, written, error) : why(gen);
}

static int read_text(lua_State *lua)
{
    const char *text = lua_touserdata(lua, 1);

    lua_sandbox_load(lua, "text", text, strlen(text), false);
    return 0;
}

bool gen_script_reads(struct gen *gen, const char *text)
{
    struct lua_sandbox sandbox;
    bool reads;

    if (lua_sandbox_open(&sandbox, &gen->account, gen->work, NULL, NULL) != 0)
        return false;
    reads = lua_sandbox_do(&sandbox, read_text, (void *)(uintptr_t)text, NULL, NULL) == 0;
    lua_sandbox_close(&sandbox);
    return reads;
}

enum exit_status gen_load_corpus(struct gen *gen, struct iwarp_sentence *error)
{
    struct gen_writer_config config = {.to = place_at("/dev/null"), .format = GEN_RAW};
    struct gen_room *room = room_new(gen, NULL, error);
    enum exit_status status = room != NULL ? EXIT_DONE : why(gen);
    uint64_t written;

    for (size_t i = 0; status == EXIT_DONE && i < embedded_capture_count; i++) {
        const struct embedded_file *file = &embedded_captures[i];
        struct script script = {file->path, file->octets, file->size, true, true};

        if (strncmp(file->path, CORPUS, strlen(CORPUS)) == 0)
            status = run_in(room, &script, &config, &written, error);
    }
    return status;
}

/*
 * ---- captures ------------------------------------------------------------------------------------------------------
 */

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

static int call_make(lua_State *lua)
{
    const struct gen_capture *capture = lua_touserdata(lua, 1);

    push_function(lua, "make");
    lua_rawgeti(lua, LUA_REGISTRYINDEX, capture->table);
    lua_call(lua, 1, 0);
    return 0;
}

enum exit_status gen_make(struct gen *gen, size_t i, const struct gen_writer_config *config,
                          struct iwarp_sentence *error)
{
    struct gen_capture capture;
    enum exit_status status = EXIT_DONE;

    if (i >= gen->capture_count)
        return EXIT_USAGE;
    capture = gen->captures[i];
    gen->loading = capture.path;
    gen->registered = true;
    if (begin(capture.room, config, error) != 0 || run(capture.room, call_make, &capture, error) != 0) {
        status = why(gen);
    } else if (gen->writer == NULL) {
        (void)iwarp_sentence_set(error, "%s:%d: capture %s has no packet", capture.path, capture.line, capture.name);
        status = EXIT_USAGE;
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
