/* SPDX-License-Identifier: BSD-2-Clause */
/* Of a results.jsonl what concerns some requirements, as a results.jsonl of its own. */
#ifndef REPORTS_EXCERPT_H
#define REPORTS_EXCERPT_H

#include <jansson.h>
#include <stddef.h>

#include "reports/file/place.h"
#include "base/sentence.h"

struct excerpt {
    char *text; /* the lines */
    size_t size;
    json_t *results; /* those that were taken, in their order */
};

enum { EXCERPT_EMPTY = 1 };

/*
 * Takes the results of `ids` (globs as of fnmatch(3)), what their checks' journals say, and the captures that they are
 * in. The counts of its summary are its own; the run line says of what it is an excerpt. 0; EXCERPT_EMPTY, there is no
 * such result, or -1, both with the sentence set; excerpt_free() in each case.
 */
int excerpt_make(struct excerpt *excerpt, const struct place *results, char *const *ids, size_t id_count,
                 struct iwarp_sentence *error);
void excerpt_free(struct excerpt *excerpt);

#endif
