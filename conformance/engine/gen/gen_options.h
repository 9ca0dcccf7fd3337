/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck gen`. */
#ifndef CONFORMANCE_ENGINE_GEN_OPTIONS_H
#define CONFORMANCE_ENGINE_GEN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "conformance/engine/gen/gen_writer.h"
#include "base/sentence.h"

enum { GEN_SCRIPTS_MAX = 64, GEN_SETTINGS_MAX = 32, GEN_NAME_OCTETS = 256 };

/* Strings belong to argv. */
struct gen_options {
    const char *scripts[GEN_SCRIPTS_MAX];
    size_t script_count;
    const char *text; /* -e */
    const char *settings[GEN_SETTINGS_MAX];
    size_t setting_count;
    const char *output;
    const char *corpus;
    const char *only;
    enum gen_format format;
    bool format_given, list, force, help;
    uint64_t seed;
};

/* Prints the help text. -1 when it could not be written. */
int gen_options_usage(FILE *out);

/* `options` begins as {0}. 0, or -1 with a sentence for the user. */
int gen_options_parse(struct gen_options *options, int argc, char **argv, struct iwarp_sentence *error);

#endif
