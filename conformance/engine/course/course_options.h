/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck course`. */
#ifndef CONFORMANCE_ENGINE_COURSE_OPTIONS_H
#define CONFORMANCE_ENGINE_COURSE_OPTIONS_H

#include <stdbool.h>

#include "reference-stack/program/option_table.h"
#include "base/sentence.h"

enum course_verb { COURSE_LIST, COURSE_START, COURSE_HINT, COURSE_PEER_START, COURSE_RUN_CHECKS, COURSE_ANSWER };

/* Strings belong to argv. */
struct course_options {
    enum course_verb verb;
    const char *number; /* the exercise; NULL with COURSE_LIST */
    char **words;       /* what follows it */
    int word_count;
    const char *output; /* -o; NULL: exercise-N */
    bool reset, passed, solutions, help;
};

extern const struct option_table course_option_table;

/* `options` begins as {0}. 0, or -1 with a sentence. */
int course_options_parse(struct course_options *options, int argc, char **argv, struct iwarp_sentence *error);

#endif
