/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Lua state for scripts that are not trusted: base, string, table and math libraries and the table `wire`, no files,
 * no processes, no loading of code, no clock. Its computing and its memory are limited. Checks (script.h) and capture
 * scripts (gen.h) run in such states.
 *
 * Three things keep a script from blocking the program. Work is counted wherever a script can spend time: instructions,
 * octets allocated, steps of a pattern, elements of a table that a library function goes through (lua_library.c). A
 * script cannot use what would run outside of that count (__gc, message handlers of xpcall). If nothing is counted for
 * a long time, run_stop_watch() ends the call, or the process. All limits are limits of that count: they do not depend
 * on the speed of the machine.
 *
 * No function of Lua's API that can raise an error is called outside of lua_sandbox_do().
 */
#ifndef CONFORMANCE_ENGINE_LUA_SANDBOX_H
#define CONFORMANCE_ENGINE_LUA_SANDBOX_H

#include <lua.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

/* What all scripts of one host may hold, in octets. */
#define LUA_SANDBOX_MEMORY_MAX ((size_t)256 << 20)

/* Of all states of one host. */
struct lua_account {
    size_t memory;       /* octets that the states hold */
    size_t memory_max;   /* octets that they may hold */
    const void *refused; /* what was to grow when an allocation failed last, */
    size_t refused_size; /* and how large; 0: none has. Lua mostly collects garbage and tries the same again */
    bool short_of_it;    /* it did not, or that failed too: some script got an error for it */
    bool at_limit;       /* because of memory_max, not of the system */
};

struct lua_sandbox {
    lua_State *lua;
    struct lua_account *account;
    void *owner;
    int64_t work;                  /* what a call may compute, in instructions */
    int64_t left;                  /* of that, in this call */
    int64_t earned;                /* what this call may compute beyond it so far, lua_sandbox_earn() */
    uint64_t moved;                /* work done in this call, in units, without what it earned */
    uint64_t seen;                 /* the same when the call was last looked at, in a signal handler */
    volatile sig_atomic_t expired; /* set by that handler: the call is stuck */
};

/*
 * Opens the state. lua_sandbox_of() finds `sandbox`, which must not move while it is open. -1 with a sentence: memory
 * is short.
 */
int lua_sandbox_open(struct lua_sandbox *sandbox, struct lua_account *account, int64_t work, void *owner,
                     struct iwarp_sentence *error);

/* NULL in `lua` is allowed. */
void lua_sandbox_close(struct lua_sandbox *sandbox);

struct lua_sandbox *lua_sandbox_of(lua_State *lua);

/*
 * Calls function(argument) (a light userdata at index 1) in protected mode and within the limits. `handler` (or NULL)
 * is called for errors. -1 with a sentence; the stack is empty afterwards.
 */
int lua_sandbox_do(struct lua_sandbox *sandbox, lua_CFunction function, void *argument, lua_CFunction handler,
                   struct iwarp_sentence *error);

/* Raises an error when the call has computed too much; `units` are about as long as one instruction each. */
void lua_sandbox_spend(lua_State *lua, uint64_t units);

/*
 * Allows the call so many more units, because it has taken input: a device that sends much, in small pieces, must not
 * look like an endless script. All such units together are at most 8 times the limit of a call.
 */
void lua_sandbox_earn(lua_State *lua, uint64_t units);

/*
 * To be called when the rig has moved once (time passes, frames come): counts some units, and shows that the call is
 * not stuck.
 */
void lua_sandbox_turn(lua_State *lua);

/*
 * The innermost function of a script that is running, and no library's: its source and line in *level. False: there is
 * none.
 */
bool lua_sandbox_level(lua_State *lua, bool (*is_library)(const char *path), lua_Debug *level);

/*
 * What a handler of errors returns: pushes "script:line: MESSAGE" with the line of the script that led to it, unless
 * the message begins so; where no script is running "FILE: MESSAGE" (`file` may be NULL).
 */
int lua_sandbox_place(lua_State *lua, const char *message, bool (*is_library)(const char *path), const char *file);

/* Why an allocation failed, for messages. */
const char *lua_sandbox_shortage(const struct lua_account *account);

/*
 * Loads a chunk and leaves the function on the stack; raises an error "path:line: what". `embedded`: the text is that
 * of a script that is compiled in, under that path: its chunk, which the build has compiled, is loaded instead.
 */
void lua_sandbox_load(lua_State *lua, const char *path, const void *octets, size_t count, bool embedded);

/* Gives the chunk on top of the stack globals of its own, with the shared ones as fallback; or only the shared ones. */
void lua_sandbox_globals(lua_State *lua, bool shared);

#endif
