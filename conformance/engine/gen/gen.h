/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture scripts (docs/writing-captures.md): Lua in a sandbox that describes packets, which go to a writer. A script
 * writes at once, or registers captures (`capture { name = ..., run = ... }`) that are made when they are asked for.
 */
#ifndef CONFORMANCE_ENGINE_GEN_H
#define CONFORMANCE_ENGINE_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/gen/gen_writer.h"
#include "base/exit_status.h"
#include "base/sentence.h"

struct gen;

/* A registered capture. Strings belong to `gen`. */
struct gen_capture {
    const char *name;
    const char *about; /* one line, or "" */
    const char *path;  /* of the script */
    int line;
    size_t corpus;         /* index of the folder it belongs to */
    struct gen_room *room; /* the Lua state that it lives in */
    int table;             /* reference to the Lua table there */
};

/*
 * `corpus { folder =, format =, text = }`: where the captures after it belong. Index 0 is what scripts without it have.
 */
struct gen_corpus {
    const char *folder; /* below the folder of --corpus; "": that one itself */
    const char *text;   /* of its README.md, or NULL */
    enum gen_format format;
};

/* A finding that is expected in a capture. */
struct gen_finding {
    const char *id;
    const char *verdict;
    uint64_t frame;
};

/* NULL with a sentence. */
struct gen *gen_new(uint64_t seed, struct iwarp_sentence *error);
void gen_free(struct gen *gen);

/* `arg.name` of scripts that are loaded from now on. -1: memory is short, or there are too many. */
int gen_set_argument(struct gen *gen, const char *name, const char *value);

/* True if the text has the grammar of a script. */
bool gen_script_reads(struct gen *gen, const char *text);

/*
 * Runs a script, in a Lua state of its own; `path` is what messages call it. What it writes at once, and the frames
 * that it returns, go where `config` says (link, snap and comment are the script's); where it only registers captures,
 * nothing is opened. *written becomes the number of frames. Frames that are returned are written bare with `bare`, else
 * in a connection of their own.
 */
enum exit_status gen_run_script(struct gen *gen, const char *path, const void *octets, size_t count,
                                const struct gen_writer_config *config, bool bare, uint64_t *written,
                                struct iwarp_sentence *error);

/* The same for each script compiled in that describes the project's own corpus; none of them writes at once. */
enum exit_status gen_load_corpus(struct gen *gen, struct iwarp_sentence *error);

size_t gen_capture_count(const struct gen *gen);
const struct gen_capture *gen_capture_at(const struct gen *gen, size_t i);
const struct gen_corpus *gen_corpus_at(const struct gen *gen, size_t i);
size_t gen_corpus_count(const struct gen *gen);

/* Makes a registered capture. A capture without a packet is an error of the script. */
enum exit_status gen_make(struct gen *gen, size_t i, const struct gen_writer_config *config,
                          struct iwarp_sentence *error);

/* The findings of the capture that was made last, in the order in which they were named. */
size_t gen_finding_count(const struct gen *gen);
const struct gen_finding *gen_finding_at(const struct gen *gen, size_t i);

#endif
