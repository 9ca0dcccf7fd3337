/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_sandbox.h"

#include <ctype.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/sandbox/lua_library.h"
#include "conformance/engine/sandbox/lua_wire.h"
#include "conformance/engine/process/run_stop.h"
#include "tools/embedded.h"

/*
 * STEP: instructions between two looks at the count. OCTETS_A_UNIT: an allocation of so many takes about as long as an
 * instruction. EARNED_MAX: of what a call may compute, what it can earn. PIECE: so much of a script is compiled between
 * two looks. JUMPS_A_UNIT: so many jumps of a list take the compiler about as long as a script takes for an
 * instruction. TURN: units of a turn of the rig, and TURN_MOVES: for how many it counts where a call is held to be
 * stuck, which is one that does not come to STUCK in STUCK_SECONDS: no machine is so slow. GC_PAUSE: percent of what is
 * alive after a collection at which the next begins. Most of what a check makes is garbage at its end.
 */
enum { STEP = 1000, OCTETS_A_UNIT = 64, PIECE = 512, JUMPS_A_UNIT = 4, EARNED_MAX = 8 };
enum { TURN = 20, TURN_MOVES = 1000, STUCK = 1000000, GC_PAUSE = 400 };

/* The sandbox whose script runs, for the signal handler. A process runs one script at a time. */
static struct lua_sandbox *volatile running;

struct lua_sandbox *lua_sandbox_of(lua_State *lua)
{
    void *sandbox;

    (void)lua_getallocf(lua, &sandbox);
    return sandbox;
}

/* ---- what a script computes -------------------------------------------------------------------------------------- */

static void on_count(lua_State *lua, lua_Debug *debug);

/* From then on every instruction raises the error: one that is caught comes again at once, until nobody catches it. */
static void refuse_more(lua_State *lua)
{
    lua_sandbox_of(lua)->left = -1;
    lua_sethook(lua, on_count, LUA_MASKCOUNT, 1);
    luaL_error(lua, "the script does not end");
}

void lua_sandbox_spend(lua_State *lua, uint64_t units)
{
    struct lua_sandbox *sandbox = lua_sandbox_of(lua);

    if (sandbox->expired || sandbox->left < 0 || units > (uint64_t)sandbox->left)
        refuse_more(lua);
    sandbox->left -= (int64_t)units;
    sandbox->moved += units;
}

void lua_sandbox_earn(lua_State *lua, uint64_t units)
{
    struct lua_sandbox *sandbox = lua_sandbox_of(lua);
    int64_t most = EARNED_MAX * sandbox->work - sandbox->earned;
    int64_t granted = units < (uint64_t)most ? (int64_t)units : most;

    if (sandbox->left < 0)
        return;
    sandbox->earned += granted;
    sandbox->left += granted;
}

void lua_sandbox_turn(lua_State *lua)
{
    lua_sandbox_of(lua)->moved += TURN_MOVES;
    lua_sandbox_spend(lua, TURN);
}

static void on_count(lua_State *lua, lua_Debug *debug)
{
    (void)debug;
    lua_sandbox_spend(lua, STEP);
}

/*
 * In a signal handler: lua_sethook() is made for this. Functions of the library see `expired` in lua_sandbox_spend().
 */
static bool stuck(void)
{
    struct lua_sandbox *sandbox = running;

    if (sandbox == NULL)
        return false;
    if (sandbox->moved - sandbox->seen >= STUCK) {
        sandbox->seen = sandbox->moved;
        return false;
    }
    sandbox->expired = 1;
    lua_sethook(sandbox->lua, on_count, LUA_MASKCOUNT, 1);
    return true;
}

/* ---- what scripts hold ------------------------------------------------------------------------------------------- */

/*
 * An allocation that is none of the same as the one that failed before was not tried again: that one has failed for
 * good.
 */
static void settle(struct lua_account *account, const void *octets, size_t size)
{
    if (account->refused_size != 0 && (account->refused != octets || account->refused_size != size))
        account->short_of_it = true;
}

static void *refuse_memory(struct lua_account *account, const void *octets, size_t size, bool at_limit)
{
    account->short_of_it |= account->refused_size != 0;
    account->refused = octets;
    account->refused_size = size;
    account->at_limit = at_limit;
    return NULL;
}

/* An allocator can raise no error: the hook does, before the next instruction. */
static void spend_on_memory(struct lua_sandbox *sandbox, size_t octets)
{
    bool had_some = sandbox->left >= 0;

    sandbox->left -= (int64_t)(octets / OCTETS_A_UNIT);
    sandbox->moved += octets / OCTETS_A_UNIT;
    if (had_some && sandbox->left < 0 && running == sandbox)
        lua_sethook(sandbox->lua, on_count, LUA_MASKCOUNT, 1);
}

/* Lua's allocator, with a limit for all that the scripts of one host hold. To shrink never fails (lua_Alloc). */
static void *allocate(void *context, void *octets, size_t old_size, size_t new_size)
{
    struct lua_sandbox *sandbox = context;
    struct lua_account *account = sandbox->account;
    size_t had = octets != NULL ? old_size : 0;
    void *got;

    if (new_size == 0) {
        free(octets);
        account->memory -= had;
        return NULL;
    }
    if (new_size > had)
        settle(account, octets, new_size);
    if (new_size > had && new_size - had > account->memory_max - account->memory)
        return refuse_memory(account, octets, new_size, true);
    got = realloc(octets, new_size);
    if (got == NULL && new_size > had)
        return refuse_memory(account, octets, new_size, false);
    account->memory = account->memory - had + new_size;
    if (new_size > had) {
        account->refused_size = 0;
        spend_on_memory(sandbox, new_size);
    }
    /* cppcheck-suppress memleak ; Lua has it */
    return got != NULL ? got : octets;
}

const char *lua_sandbox_shortage(const struct lua_account *account)
{
    _Static_assert(LUA_SANDBOX_MEMORY_MAX >> 20 == 256, "the sentence names the limit");
    return account->at_limit && account->memory_max == LUA_SANDBOX_MEMORY_MAX
               ? "not enough memory: scripts may hold 256 MiB"
               : "not enough memory";
}

/* ---- where an error came from ------------------------------------------------------------------------------------ */

bool lua_sandbox_level(lua_State *lua, bool (*is_library)(const char *path), lua_Debug *level)
{
    for (int i = 0; lua_getstack(lua, i, level); i++) {
        lua_getinfo(lua, "Sl", level);
        if (level->currentline > 0 && level->source[0] == '@' && !is_library(level->source + 1))
            return true;
    }
    return false;
}

int lua_sandbox_place(lua_State *lua, const char *message, bool (*is_library)(const char *path), const char *file)
{
    const char *place = "";
    lua_Debug level;

    if (lua_sandbox_level(lua, is_library, &level))
        place = lua_pushfstring(lua, "%s:%d: ", level.source + 1, level.currentline);
    else if (file != NULL && strncmp(message, file, strlen(file)) != 0)
        place = lua_pushfstring(lua, "%s: ", file);
    lua_pushfstring(lua, "%s%s", strncmp(message, place, strlen(place)) == 0 ? "" : place, message);
    return 1;
}

/* ---- states and calls -------------------------------------------------------------------------------------------- */

/* Not reached: nothing that can raise an error is called outside of lua_pcall(). Without it the process would abort. */
static int panic(lua_State *lua)
{
    static const char sentence[] = "\nwarpcheck: a Lua error that was not caught\n";
    ssize_t wrote = write(STDERR_FILENO, sentence, sizeof(sentence) - 1);

    (void)lua;
    (void)wrote;
    _exit(4);
}

static int open_libraries(lua_State *lua)
{
    static const char *const removed[] = {"dofile",         "loadfile", "load", "require",
                                          "collectgarbage", "print",    "warn", NULL};

    /* Made by luaD_throw() outside of any protection: it is there already, and so takes no memory then. */
    lua_pushliteral(lua, "error in error handling");
    (void)luaL_ref(lua, LUA_REGISTRYINDEX);
    luaL_requiref(lua, "_G", luaopen_base, 1);
    luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 1);
    luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 1);
    lua_settop(lua, 0);
    for (size_t i = 0; removed[i] != NULL; i++) {
        lua_pushnil(lua);
        lua_setglobal(lua, removed[i]);
    }
    lua_library_bound(lua);
    lua_wire_open(lua);
    lua_setglobal(lua, "wire");
    return 0;
}

int lua_sandbox_open(struct lua_sandbox *sandbox, struct lua_account *account, int64_t work, void *owner,
                     struct iwarp_sentence *error)
{
    *sandbox = (struct lua_sandbox){.account = account, .work = work, .left = work, .owner = owner};
    sandbox->lua = lua_newstate(allocate, sandbox);
    if (sandbox->lua == NULL) {
        account->short_of_it = true;
        return iwarp_sentence_set(error, "%s", lua_sandbox_shortage(account));
    }
    (void)lua_atpanic(sandbox->lua, panic);
    lua_gc(sandbox->lua, LUA_GCINC, GC_PAUSE, 0, 0);
    if (lua_sandbox_do(sandbox, open_libraries, NULL, NULL, error) == 0)
        return 0;
    lua_sandbox_close(sandbox);
    return -1;
}

void lua_sandbox_close(struct lua_sandbox *sandbox)
{
    if (sandbox->lua != NULL)
        lua_close(sandbox->lua);
    sandbox->lua = NULL;
}

/* The error object on top of the stack, without calling anything of the script's. */
static void describe(struct lua_sandbox *sandbox, struct iwarp_sentence *error)
{
    lua_State *lua = sandbox->lua;

    if (sandbox->account->short_of_it)
        (void)iwarp_sentence_set(error, "%s", lua_sandbox_shortage(sandbox->account));
    else if (lua_type(lua, -1) == LUA_TSTRING)
        (void)iwarp_sentence_set(error, "%s", lua_tostring(lua, -1));
    else
        (void)iwarp_sentence_set(error, "the error has type %s; a text was expected", luaL_typename(lua, -1));
}

int lua_sandbox_do(struct lua_sandbox *sandbox, lua_CFunction function, void *argument, lua_CFunction handler,
                   struct iwarp_sentence *error)
{
    lua_State *lua = sandbox->lua;
    int status;

    lua_settop(lua, 0);
    sandbox->account->refused_size = 0;
    sandbox->account->short_of_it = sandbox->account->at_limit = false;
    sandbox->left = sandbox->work;
    sandbox->earned = 0;
    sandbox->expired = 0;
    sandbox->moved = sandbox->seen = 0;
    if (handler != NULL)
        lua_pushcfunction(lua, handler);
    lua_pushcfunction(lua, function);
    lua_pushlightuserdata(lua, argument);
    running = sandbox;
    lua_sethook(lua, on_count, LUA_MASKCOUNT, STEP);
    run_stop_watch(stuck);
    status = lua_pcall(lua, 1, 0, handler != NULL ? 1 : 0);
    run_stop_watch(NULL);
    running = NULL;
    lua_sethook(lua, NULL, 0, 0);
    sandbox->account->short_of_it |= status == LUA_ERRMEM || sandbox->account->refused_size != 0;
    if (status != LUA_OK)
        describe(sandbox, error);
    lua_settop(lua, 0);
    return status == LUA_OK ? 0 : -1;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

struct text {
    const char *octets;
    size_t left;
    char before; /* the octet before them */
    uint64_t jumps;
};

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Of the words whose jumps the compiler keeps in lists. */
static bool is_jump(const struct text *text)
{
    static const char *const words[] = {"and", "or", "elseif", "break", "goto"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);

        if (length <= text->left && memcmp(text->octets, words[i], length) == 0)
            return length == text->left || !is_of_name(text->octets[length]);
    }
    return false;
}

/*
 * Hands a script to the compiler piece by piece. Some lists of jumps it goes through for each jump that it adds: a
 * chain of `or` takes it time like the square of its length, and is counted so.
 */
static const char *read_piece(lua_State *lua, void *context, size_t *count)
{
    struct text *text = context;
    const char *piece = text->octets;
    uint64_t jumps = text->jumps;

    *count = text->left < PIECE ? text->left : PIECE;
    for (size_t i = 0; i < *count; i++) {
        text->jumps += !is_of_name(text->before) && is_jump(text);
        text->before = *text->octets++;
        text->left--;
    }
    lua_sandbox_spend(lua, *count + (text->jumps - jumps) * text->jumps / JUMPS_A_UNIT);
    return piece;
}

/* The compiled form of a script that is compiled in. NULL: it was made for another Lua than the one that runs. */
static const struct embedded_file *chunk_of(const char *path)
{
    const struct embedded_file *ident = embedded_find(embedded_chunks, embedded_chunk_count, "lua_ident");

    if (ident == NULL || strcmp((const char *)ident->octets, lua_ident) != 0)
        return NULL;
    return embedded_find(embedded_chunks, embedded_chunk_count, path);
}

void lua_sandbox_load(lua_State *lua, const char *path, const void *octets, size_t count, bool embedded)
{
    const struct embedded_file *chunk = embedded ? chunk_of(path) : NULL;
    struct text text = {octets, count, '\n', 0};
    const char *name = lua_pushfstring(lua, "@%s", path);
    const char *why;
    int status;

    if (chunk != NULL)
        status = luaL_loadbufferx(lua, (const char *)chunk->octets, chunk->size, name, "b");
    else
        status = lua_load(lua, read_piece, &text, name, "t");
    lua_remove(lua, -2);
    if (status == LUA_OK)
        return;
    /* Lua names the place in most messages, but not in all. */
    why = lua_tostring(lua, -1);
    if (status == LUA_ERRSYNTAX && why != NULL && strstr(why, path) == NULL)
        lua_pushfstring(lua, "%s: %s", path, why);
    lua_error(lua);
}

void lua_sandbox_globals(lua_State *lua, bool shared)
{
    if (!shared) {
        lua_newtable(lua);
        lua_newtable(lua);
    }
    lua_pushglobaltable(lua);
    if (!shared) {
        lua_setfield(lua, -2, "__index");
        lua_setmetatable(lua, -2);
    }
    lua_setupvalue(lua, -2, 1);
}
