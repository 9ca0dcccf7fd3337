/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the findings of an audit differ from those that it was to have (`audit --expect`), as a line of results.jsonl:
 * type "difference". Strings are borrowed, as in struct result.
 */
#ifndef REPORTS_DIFFERENCE_H
#define REPORTS_DIFFERENCE_H

#include <jansson.h>
#include <stdint.h>

#include "reports/results/result.h"

enum difference_kind {
    DIFFERENCE_NEW,     /* a finding that no line expects */
    DIFFERENCE_CHANGED, /* another verdict, another number of times, another outcome */
    DIFFERENCE_DUE,     /* as expected, and its day of review has passed */
    DIFFERENCE_MISSING, /* a line whose finding was not found */
    DIFFERENCE_RENAMED, /* as expected, in a capture that has another name now */
    DIFFERENCE_KINDS
};

struct difference {
    enum difference_kind kind;
    const char *file; /* the capture, as it was named to the audit, or as the line names it */
    const char *id;   /* requirement */
    const char *role; /* NULL: either */
    const char *flow; /* NULL: not known; "*": all of them */
    const char *text; /* one sentence */
    enum verdict verdict;
    uint64_t frame;                /* 0: none */
    const char *expected, *actual; /* of the finding; NULL: none */
    uint64_t line;                 /* of the file of expectations, 0: none */
    uint64_t was_line;             /* RENAMED: the line that expects it under the former name */
};

/* "new", "changed", ... */
const char *difference_kind_name(enum difference_kind kind);

/* A new reference, NULL without memory; and back: -1 where it is none. */
json_t *difference_to_json(const struct difference *difference);
int difference_from_json(const json_t *object, struct difference *difference);

/* Counts one. */
void difference_count(struct run_expectation *counts, enum difference_kind kind);
/* How many differences there are. */
uint64_t differences_of(const struct run_expectation *counts);

enum { EXPECTATION_TEXT_OCTETS = 200 };
/* "11 expected, 1 new"; what is 0 is left out beyond "expected" and "new". */
const char *expectation_text(const struct run_expectation *counts, char text[EXPECTATION_TEXT_OCTETS]);

#endif
