/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * lua-compile DIR: reads paths of Lua files from stdin, one a line, compiles each file, and writes the chunk to
 * DIR/PATH, whose folder exists. Chunks keep their line numbers. A chunk works with the very Lua that made it, so the
 * path "lua_ident" is no script: DIR/lua_ident becomes the text that identifies this Lua. Runs on the building machine
 * only.
 */

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

static int write_octets(lua_State *lua, const void *octets, size_t count, void *out)
{
    (void)lua;
    return fwrite(octets, 1, count, out) != count;
}

/* 0, or 1 with a message on stderr. */
static int compile(lua_State *lua, const char *dir, const char *path)
{
    char to[4096];
    FILE *out;
    int failed;

    if (snprintf(to, sizeof(to), "%s/%s", dir, path) >= (int)sizeof(to)) {
        fprintf(stderr, "lua-compile: %s: the path is too long\n", path);
        return 1;
    }
    if (strcmp(path, "lua_ident") != 0 && luaL_loadfilex(lua, path, "t") != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(lua, -1));
        return 1;
    }
    out = fopen(to, "wb");
    if (!out) {
        perror(to);
        return 1;
    }
    if (strcmp(path, "lua_ident") == 0)
        failed = fputs(lua_ident, out) == EOF;
    else
        failed = lua_dump(lua, write_octets, out, 0);
    failed |= fclose(out);
    if (failed)
        perror(to);
    lua_settop(lua, 0);
    return failed != 0;
}

int main(int argc, char **argv)
{
    char path[4096];
    int status = 0;
    lua_State *lua = luaL_newstate();

    if (!lua || argc != 2) {
        fprintf(stderr, "usage: lua-compile DIR\n");
        return 2;
    }
    while (status == 0 && fgets(path, sizeof(path), stdin)) {
        path[strcspn(path, "\n")] = '\0';
        if (path[0])
            status = compile(lua, argv[1], path);
    }
    lua_close(lua);
    return status;
}
