/* SPDX-License-Identifier: BSD-2-Clause */
/* What interop writes: its folder, and the grid in a terminal. */
#ifndef CONFORMANCE_ENGINE_INTEROP_OUTPUT_H
#define CONFORMANCE_ENGINE_INTEROP_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/sentence.h"
#include "conformance/engine/interop/interop_options.h"
#include "reports/folder/folder.h"
#include "reports/results/interop_results.h"

struct interop_output {
    struct folder *folder; /* NULL: nothing is written */
    int evidence;          /* its folder; -1: none */
    FILE *lines;           /* interop.jsonl */
};

/* 0, or the exit status with a sentence. */
int interop_output_open(struct interop_output *output, const struct interop_options *options,
                        struct iwarp_sentence *error);

/* Appends a line; nothing without a folder. 0, or -1 with a sentence. */
int interop_output_line(struct interop_output *output, const json_t *object, struct iwarp_sentence *error);

/* A new file of the folder evidence: its descriptor; -1 with a sentence. */
int interop_output_capture(struct interop_output *output, const char *name, struct iwarp_sentence *error);
void interop_output_forget(struct interop_output *output, const char *name);

/* Writes the page. 0, or -1 with a sentence. */
int interop_output_page(struct interop_output *output, const struct interop_results *results,
                        struct iwarp_sentence *error);

/* Closes what is open. 0, or -1 with a sentence: what was written is not whole. */
int interop_output_close(struct interop_output *output, struct iwarp_sentence *error);

/* The grid as text, and what did not pass unless `quiet`; coloured on a terminal. */
void interop_output_grid(const struct interop_results *results, bool quiet, FILE *out);

#endif
