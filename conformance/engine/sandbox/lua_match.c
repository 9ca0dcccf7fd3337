/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_match.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

#include "conformance/engine/sandbox/lua_sandbox.h"

/* DEPTH: of recursion, as in Lua. */
enum { DEPTH = 200, OCTETS_A_STEP = 16 };

static const char *match_here(struct lua_match *m, const char *s, const char *p);

static void step(struct lua_match *m)
{
    if (m->sandbox->left <= 0 || m->sandbox->expired)
        lua_sandbox_spend(m->lua, UINT64_MAX);
    m->sandbox->left--;
}

/* ---- classes of characters --------------------------------------------------------------------------------------- */

/* The end of the item at p: one character, an escape, or a set. */
static const char *item_end(struct lua_match *m, const char *p)
{
    char first = *p++;

    if (first == '%') {
        if (p == m->pattern_end)
            luaL_error(m->lua, "malformed pattern (ends with '%%')");
        return p + 1;
    }
    if (first != '[')
        return p;
    if (p < m->pattern_end && *p == '^')
        p++;
    do { /* a ']' that comes first belongs to the set */
        if (p >= m->pattern_end)
            luaL_error(m->lua, "malformed pattern (missing ']')");
        step(m);
        p += *p == '%' && p + 1 < m->pattern_end ? 2 : 1;
    } while (p >= m->pattern_end || *p != ']');
    return p + 1;
}

static bool in_class(int c, int class)
{
    bool in;

    switch (tolower(class)) {
    case 'a': in = isalpha(c) != 0; break;
    case 'c': in = iscntrl(c) != 0; break;
    case 'd': in = isdigit(c) != 0; break;
    case 'g': in = isgraph(c) != 0; break;
    case 'l': in = islower(c) != 0; break;
    case 'p': in = ispunct(c) != 0; break;
    case 's': in = isspace(c) != 0; break;
    case 'u': in = isupper(c) != 0; break;
    case 'w': in = isalnum(c) != 0; break;
    case 'x': in = isxdigit(c) != 0; break;
    default: return class == c;
    }
    return isupper(class) ? !in : in;
}

/* Is c in the set [p, end), where p is at the '[' and end at the ']'? */
static bool in_set(struct lua_match *m, int c, const char *p, const char *end)
{
    bool in = true;

    if (p[1] == '^') {
        in = false;
        p++;
    }
    while (++p < end) {
        step(m);
        if (*p == '%') {
            if (in_class(c, (unsigned char)*++p))
                return in;
        } else if (p[1] == '-' && p + 2 < end) {
            if ((unsigned char)p[0] <= c && c <= (unsigned char)p[2])
                return in;
            p += 2;
        } else if ((unsigned char)*p == c) {
            return in;
        }
    }
    return !in;
}

/* Does the character at s match the item [p, end)? */
static bool matches_one(struct lua_match *m, const char *s, const char *p, const char *end)
{
    step(m);
    if (s >= m->subject_end)
        return false;
    switch (*p) {
    case '.': return true;
    case '%': return in_class((unsigned char)*s, (unsigned char)p[1]);
    case '[': return in_set(m, (unsigned char)*s, p, end - 1);
    default: return *p == *s;
    }
}

/* ---- items that are more than one character ---------------------------------------------------------------------- */

/* %bxy, p at the x: the end of the balanced run at s. */
static const char *match_balance(struct lua_match *m, const char *s, const char *p)
{
    size_t open = 1;

    if (p >= m->pattern_end - 1)
        luaL_error(m->lua, "malformed pattern (missing arguments to '%%b')");
    if (s >= m->subject_end || *s != p[0])
        return NULL;
    while (++s < m->subject_end) {
        step(m);
        if (*s == p[1]) {
            if (--open == 0)
                return s + 1;
        } else if (*s == p[0]) {
            open++;
        }
    }
    return NULL;
}

/* As many as there are first, then fewer and fewer. */
static const char *match_most(struct lua_match *m, const char *s, const char *p, const char *end)
{
    ptrdiff_t count = 0;

    while (matches_one(m, s + count, p, end))
        count++;
    for (; count >= 0; count--) {
        const char *found = match_here(m, s + count, end + 1);

        if (found != NULL)
            return found;
    }
    return NULL;
}

/* None first, then more and more. */
static const char *match_least(struct lua_match *m, const char *s, const char *p, const char *end)
{
    for (;; s++) {
        const char *found = match_here(m, s, end + 1);

        if (found != NULL)
            return found;
        if (!matches_one(m, s, p, end))
            return NULL;
    }
}

static const char *match_open(struct lua_match *m, const char *s, const char *p, int kind)
{
    const char *found;

    if (m->captures >= LUA_MATCH_CAPTURES_MAX)
        luaL_error(m->lua, "too many captures");
    m->capture[m->captures].start = s;
    m->capture[m->captures].length = kind;
    m->captures++;
    found = match_here(m, s, p);
    if (found == NULL)
        m->captures--;
    return found;
}

static const char *match_close(struct lua_match *m, const char *s, const char *p)
{
    int i = m->captures - 1;
    const char *found;

    while (i >= 0 && m->capture[i].length != LUA_CAPTURE_OPEN)
        i--;
    if (i < 0)
        luaL_error(m->lua, "invalid pattern capture");
    m->capture[i].length = s - m->capture[i].start;
    found = match_here(m, s, p);
    if (found == NULL)
        m->capture[i].length = LUA_CAPTURE_OPEN;
    return found;
}

/* %1 to %9: what that capture has caught. */
static const char *match_captured(struct lua_match *m, const char *s, int digit)
{
    int i = digit - '1';
    size_t count;

    if (i < 0 || i >= m->captures || m->capture[i].length == LUA_CAPTURE_OPEN) {
        luaL_error(m->lua, "invalid capture index %%%d", i + 1);
        return NULL;
    }
    count = (size_t)m->capture[i].length; /* of a position: beyond every subject */
    if ((size_t)(m->subject_end - s) < count)
        return NULL;
    lua_sandbox_spend(m->lua, count / OCTETS_A_STEP);
    return memcmp(m->capture[i].start, s, count) == 0 ? s + count : NULL;
}

/* %f[set], p at the '[': the frontier between what is not in the set and what is. */
static bool at_frontier(struct lua_match *m, const char *s, const char *p, const char *end)
{
    int before = s == m->subject ? '\0' : (unsigned char)s[-1];
    int after = s < m->subject_end ? (unsigned char)*s : '\0';

    return !in_set(m, before, p, end - 1) && in_set(m, after, p, end - 1);
}

/* ---- the matcher ------------------------------------------------------------------------------------------------- */

/* What an escape at p does that is no class: *s and *p move on, or *s becomes NULL. False: it is a class. */
static bool match_escape(struct lua_match *m, const char **s, const char **p)
{
    const char *at = *p + 1;

    if (at == m->pattern_end)
        return false;
    if (*at == 'b') {
        *s = match_balance(m, *s, at + 1);
        *p += 4;
        return true;
    }
    if (*at == 'f') {
        const char *end;

        if (at + 1 == m->pattern_end || at[1] != '[')
            luaL_error(m->lua, "missing '[' after '%%f' in pattern");
        end = item_end(m, at + 1);
        *s = at_frontier(m, *s, at + 1, end) ? *s : NULL;
        *p = end;
        return true;
    }
    if (!isdigit((unsigned char)*at))
        return false;
    *s = match_captured(m, *s, (unsigned char)*at);
    *p += 2;
    return true;
}

/* An item and what stands after it. *s becomes NULL, the end of the whole match (true), or where to go on from *p. */
static bool match_item(struct lua_match *m, const char **s, const char **p)
{
    const char *end = item_end(m, *p);
    char suffix = '\0';
    const char *found;

    if (end < m->pattern_end)
        suffix = *end;
    if (!matches_one(m, *s, *p, end)) {
        if (suffix != '*' && suffix != '-' && suffix != '?') {
            *s = NULL;
            return true;
        }
        *p = end + 1;
        return false;
    }
    switch (suffix) {
    case '*': *s = match_most(m, *s, *p, end); return true;
    case '-': *s = match_least(m, *s, *p, end); return true;
    case '+': *s = match_most(m, *s + 1, *p, end); return true;
    case '?':
        found = match_here(m, *s + 1, end + 1);
        if (found != NULL)
            *s = found;
        else
            *p = end + 1;
        return found != NULL;
    default:
        (*s)++;
        *p = end;
        return false;
    }
}

/* The end of what matches the pattern from p on, at s. */
static const char *match_here(struct lua_match *m, const char *s, const char *p)
{
    bool over = false;

    if (m->depth-- == 0)
        luaL_error(m->lua, "pattern too complex");
    while (!over && s != NULL && p != m->pattern_end) {
        step(m);
        over = true;
        if (*p == '(' && p + 1 < m->pattern_end && p[1] == ')')
            s = match_open(m, s, p + 2, LUA_CAPTURE_POSITION);
        else if (*p == '(')
            s = match_open(m, s, p + 1, LUA_CAPTURE_OPEN);
        else if (*p == ')')
            s = match_close(m, s, p + 1);
        else if (*p == '$' && p + 1 == m->pattern_end)
            s = s == m->subject_end ? s : NULL;
        else if (*p == '%' && match_escape(m, &s, &p))
            over = false;
        else
            over = match_item(m, &s, &p);
    }
    m->depth++;
    return s;
}

void lua_match_begin(struct lua_match *match, lua_State *lua, const char *subject, size_t subject_octets,
                     const char *pattern_end)
{
    match->lua = lua;
    match->sandbox = lua_sandbox_of(lua);
    match->subject = subject;
    match->subject_end = subject + subject_octets;
    match->pattern_end = pattern_end;
    match->depth = DEPTH;
    match->captures = 0;
}

const char *lua_match_at(struct lua_match *match, const char *at, const char *pattern)
{
    match->captures = 0;
    match->depth = DEPTH;
    step(match);
    return match_here(match, at, pattern);
}

/* ---- captures ---------------------------------------------------------------------------------------------------- */

void lua_match_push_capture(struct lua_match *match, int i, const char *start, const char *end)
{
    if (i >= match->captures && i == 0) {
        lua_pushlstring(match->lua, start, (size_t)(end - start));
        return;
    }
    if (i >= match->captures)
        luaL_error(match->lua, "invalid capture index %%%d", i + 1);
    if (match->capture[i].length == LUA_CAPTURE_OPEN)
        luaL_error(match->lua, "unfinished capture");
    if (match->capture[i].length == LUA_CAPTURE_POSITION)
        lua_pushinteger(match->lua, match->capture[i].start - match->subject + 1);
    else
        lua_pushlstring(match->lua, match->capture[i].start, (size_t)match->capture[i].length);
}

int lua_match_push_captures(struct lua_match *match, const char *start, const char *end, int whole)
{
    int count = match->captures == 0 && whole ? 1 : match->captures;

    luaL_checkstack(match->lua, count, "too many captures");
    for (int i = 0; i < count; i++)
        lua_match_push_capture(match, i, start, end);
    return count;
}
