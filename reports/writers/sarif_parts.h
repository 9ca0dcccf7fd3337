/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two halves of the SARIF writer share: the run around the results (sarif.c), the results (sarif_result.c). */
#ifndef REPORTS_SARIF_PARTS_H
#define REPORTS_SARIF_PARTS_H

#include "reports/results/report.h"

#include <stdio.h>

struct artifact {
    UT_hash_handle hh;
    size_t index;
    bool evidence; /* written by the run, not what was judged */
    char path[];
};

/* Errors stick: after the first one nothing of what is made counts. */
struct sarif {
    const struct report *report;
    FILE *out;
    struct artifact *artifacts; /* by path, in the order of their index */
    bool failed;
};

/* Sets a member to a new reference; NULL is an error (no memory). */
void sarif_set(struct sarif *sarif, json_t *object, const char *key, json_t *value);

/* Sets a member to cleaned text; NULL and "" leave it out. */
void sarif_set_text(struct sarif *sarif, json_t *object, const char *key, const char *text);

void sarif_append(struct sarif *sarif, json_t *array, json_t *value);

/*
 * { "text": ... }: what a viewer takes for a placeholder (SARIF 2.1.0, 3.11.5) or for an embedded link (3.11.6) stays
 * text, since a peer may have written it.
 */
json_t *sarif_message(struct sarif *sarif, const char *text);

/* { "uri": ..., "index": ... } */
json_t *sarif_artifact_location(struct sarif *sarif, const char *path);

json_t *sarif_integer(uint64_t value);

/* Verdicts that are results. */
bool sarif_is_result(enum verdict verdict);

/* One result object; a new reference. `rule` is its rule's index; `ladder`: with its code flow. */
json_t *sarif_result(struct sarif *sarif, const struct report_entry *entry, const struct result *result, size_t rule,
                     bool ladder);

/* "error" or "warning", as a breach of the requirement weighs. */
const char *sarif_level_of(const struct requirement *requirement);

#endif
