/* SPDX-License-Identifier: BSD-2-Clause */
/* What an audit found of a requirement in each capture: the worst verdict, however many results were kept. */
#ifndef REPORTS_REPORT_CASE_H
#define REPORTS_REPORT_CASE_H

#include <stddef.h>

#include "reports/results/result.h"

/* Names of captures, each once in a row of results; the cases borrow them. */
struct report_files {
    char **names;
    size_t count, room;
};

struct report_case {
    const char *file;
    enum verdict worst;
};

struct report_cases {
    struct report_case *cases; /* in the order of the captures' results */
    size_t count, room;
};

/* Counts a result of `file`. -1: no memory. */
int report_cases_add(struct report_cases *cases, struct report_files *files, const char *file, enum verdict verdict);
void report_cases_free(struct report_cases *cases);
void report_files_free(struct report_files *files);

#endif
