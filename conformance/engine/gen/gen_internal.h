/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of `gen` share: the script's state, and how a frame gets to the writer. */
#ifndef CONFORMANCE_ENGINE_GEN_INTERNAL_H
#define CONFORMANCE_ENGINE_GEN_INTERNAL_H

#include "conformance/engine/gen/gen.h"
#include "conformance/engine/sandbox/lua_sandbox.h"

enum { GEN_CORPORA_MAX = 16, GEN_FINDINGS_MAX = 256, GEN_ARGUMENTS_MAX = 64, GEN_CAPTURES_MAX = 65536 };

/*
 * A Lua state with the library and some scripts. All scripts that are compiled in share one room. Every other script
 * has a room of its own, and so cannot change the library, the globals or the strings' metatable of another.
 */
struct gen_room {
    struct lua_sandbox sandbox;
    struct gen *gen;
    struct gen_room *next;
    char *path;  /* of the script; NULL: of those that are compiled in */
    int library; /* reference to the table `gen` */
};

/* arg.name in scripts. */
struct gen_argument {
    char *name, *value;
};

struct gen {
    struct lua_account account; /* what the rooms hold */
    int64_t work;               /* what one capture may compute */
    struct gen_room *rooms;
    struct gen_argument arguments[GEN_ARGUMENTS_MAX];
    size_t argument_count;
    uint64_t seed;
    struct gen_capture *captures;
    size_t capture_count, capture_room;
    struct gen_corpus corpora[GEN_CORPORA_MAX];
    size_t corpus_count;
    const char *loading; /* path of the script being loaded, while it runs */

    /* The capture in the making. */
    struct gen_writer_config config;
    struct gen_writer *writer; /* opened by the first frame */
    bool making;
    bool registered; /* it is one that was registered: no more are, and the list does not move */
    bool failed;     /* the writer failed: `failure` says how, and it is not the script's fault */
    struct iwarp_sentence failure;
    uint64_t start_ns, clock_ns, step_ns;
    struct gen_finding findings[GEN_FINDINGS_MAX];
    size_t finding_count;
    unsigned stacks; /* simulated pairs that are open */
};

static inline struct gen_room *gen_room_of(lua_State *lua)
{
    return lua_sandbox_of(lua)->owner;
}

static inline struct gen *gen_of(lua_State *lua)
{
    return gen_room_of(lua)->gen;
}

/* Writes a frame. -1: it could not be, gen->failure says why. */
int gen_emit(struct gen *gen, const struct gen_frame *frame);

/* The table `gen` for the library: write, clock, settings, stacks. Leaves it on the stack. */
int gen_functions_open(lua_State *lua);

/* gen.stacks{...}: two reference stacks on a simulated wire (gen_stacks.c). */
int gen_stacks(lua_State *lua);
void gen_stacks_open(lua_State *lua);

#endif
