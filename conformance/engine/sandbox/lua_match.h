/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Patterns as Lua 5.4's reference manual has them (6.4.1), matched with a count of steps: some patterns take time that
 * grows with a power of the subject's length, and Lua's own matcher cannot be interrupted.
 */
#ifndef CONFORMANCE_ENGINE_LUA_MATCH_H
#define CONFORMANCE_ENGINE_LUA_MATCH_H

#include <lua.h>
#include <stddef.h>

struct lua_sandbox;

enum { LUA_MATCH_CAPTURES_MAX = 32 };

/* Instead of the length of a capture. */
enum { LUA_CAPTURE_OPEN = -1, LUA_CAPTURE_POSITION = -2 };

struct lua_match {
    lua_State *lua; /* errors are raised, and steps counted, there */
    const char *subject, *subject_end;
    const char *pattern_end;
    struct lua_sandbox *sandbox;
    int depth; /* of recursion that is still allowed */
    int captures;
    struct {
        const char *start;
        ptrdiff_t length;
    } capture[LUA_MATCH_CAPTURES_MAX];
};

/* `pattern` starts after a '^' that anchors. Both texts outlive the match. */
void lua_match_begin(struct lua_match *match, lua_State *lua, const char *subject, size_t subject_octets,
                     const char *pattern_end);

/* The end of the match that starts at `at`, or NULL. */
const char *lua_match_at(struct lua_match *match, const char *at, const char *pattern);

/* Pushes capture `i` (from 0); without any captures, number 0 is [start, end). Raises an error when there is none. */
void lua_match_push_capture(struct lua_match *match, int i, const char *start, const char *end);

/* Pushes all captures, or with `whole` and without any [start, end). Returns how many. */
int lua_match_push_captures(struct lua_match *match, const char *start, const char *end, int whole);

#endif
