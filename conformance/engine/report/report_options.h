/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck report`. */
#ifndef CONFORMANCE_ENGINE_REPORT_OPTIONS_H
#define CONFORMANCE_ENGINE_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "conformance/engine/report/report_diff.h"
#include "reports/writers/format.h"
#include "base/sentence.h"

struct report_options {
    const struct report_format *format; /* NULL: all standing ones, or text */
    bool text;
    bool matrix, merge, diff, site, accept_known, force;
    const char *statement; /* --statement: a document; NULL */
    bool known, verify;
    const char *reproducer;             /* --reproducer: "c"; its inputs are an id and a run; NULL */
    const char *format_given, *fail_on; /* --format, --fail-on; NULL */
    char **bundle;                      /* --bundle: requirements, as globs; in `inputs`' memory */
    size_t bundle_count;
    report_diff_writer *diff_format; /* with --diff */
    unsigned fails;                  /* with --diff: kinds of differences, as bits */
    char **inputs;                   /* in argv's own order; room for all arguments */
    size_t input_count;
    const char *output;
};

/* Prints the help text. -1 when it could not be written. */
int report_usage(FILE *out);

/* `inputs` and `bundle` have room for all arguments each. 0, or -1 with the sentence set. */
int report_options_parse(struct report_options *options, int argc, char **argv, struct iwarp_sentence *error);

#endif
