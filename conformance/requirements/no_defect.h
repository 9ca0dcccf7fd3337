/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requirements that no deliberate fault of the reference stack can break, each with the reason: the lines of
 * reference-stack/defects/defects-none.tsv, whose head says which they are.
 */
#ifndef CONFORMANCE_REQUIREMENTS_NO_DEFECT_H
#define CONFORMANCE_REQUIREMENTS_NO_DEFECT_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/embedded.h"

struct no_defect {
    char id[64];      /* of the requirement, or of the defect (defects-warn.tsv) */
    char section[32]; /* the word of the `# word` line above it: the file of the catalogue that has the requirement */
    char reason[256]; /* a sentence; "" where the line has none */
    unsigned line;    /* in the file, from 1 */
};

/*
 * Reads the next line of the text from *at to `end`, moves *at after it and fills `row`. Section and line number
 * continue from the row before: start with {0}. Returns false if there is no more line. Text that does not fit is cut.
 */
bool no_defect_next(const char **at, const char *end, struct no_defect *row);

/* Finds the line with `id` in a compiled-in file. Returns false if there is no such line, or `file` is NULL. */
bool no_defect_find_in(const struct embedded_file *file, const char *id, struct no_defect *row);

/* The same for the file reference-stack/defects/defects-none.tsv. */
bool no_defect_find(const char *id, struct no_defect *row);

#endif
