/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck audit`. */
#ifndef CONFORMANCE_ENGINE_AUDIT_OPTIONS_H
#define CONFORMANCE_ENGINE_AUDIT_OPTIONS_H

#include <stdbool.h>

#include "conformance/engine/capture/capture_filter.h"
#include "conformance/engine/capture/capture_folder.h"
#include "conformance/engine/option/format_option.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/option/shard.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "base/sentence.h"

struct lua_rules;

enum { AUDIT_RULE_FILES_MAX = 256 };

struct audit_options {
    struct selection selection;
    int word_count; /* the command as it was typed: its name and all its words; borrowed */
    char *const *words;
    struct capture_list files;      /* at least one, read or skipped, when parsed, but for a shard */
    const char *named;              /* the first file or folder that the user named */
    size_t named_count;             /* so many were */
    const char *output;             /* folder, NULL: none */
    unsigned processes;             /* files judged at once, at least 1 */
    struct shard shard;             /* --shard: `files` are its own */
    char target[512];               /* what is audited in words: of all shards */
    char plan[SHARD_DIGEST_OCTETS]; /* digest of what was shared out */
    struct format_option format;
    const char *filter_expression; /* --filter; NULL: every frame is judged */
    struct capture_filter *filter; /* of it, owned */
    bool all;
    bool quiet;                        /* show the closing lines alone */
    bool no_rings;                     /* each file is a capture of its own */
    bool findings_only;                /* what passed is one line for each requirement and role */
    uint64_t memory;                   /* for each capture that is judged at once, octets; 0: the default */
    bool allow_gaps;                   /* what is not judged does not change the exit status */
    const char *expect, *write_expect; /* files of expected findings (audit_expect.h), to be read and written; NULL */
    unsigned spread;                   /* weeks over which the review days of new expectations are spread */
    char **elsewhere;                  /* --shard with --expect: captures of the other shards, owned */
    size_t elsewhere_count;
    struct lua_rules *rules;                      /* of --rules, loaded before this is parsed; NULL: none */
    const char *rule_files[AUDIT_RULE_FILES_MAX]; /* their names */
    size_t rule_file_count;
    bool force; /* what an earlier command left in `output` is removed */
};

/* Of a struct audit_options. */
extern const struct option_table audit_option_table;

/*
 * Reads argv; `options` begins as {0}, and is freed by audit_options_free(). An argument that names a file or folder is
 * one, another is a pattern over requirement ids. Returns the exit status: 0 to go on; EXIT_USAGE with the sentence set
 * for an unknown option and for a file that is not there; EXIT_NOTHING_SELECTED with the sentence set for a folder
 * without captures (and without anything skipped that could be one) and for a pattern or options that fit no
 * requirement: zero selected is never success.
 */
int audit_options_parse(struct audit_options *options, const struct catalogue *catalogue, int argc, char **argv,
                        struct iwarp_sentence *error);

void audit_options_free(struct audit_options *options);

#endif
