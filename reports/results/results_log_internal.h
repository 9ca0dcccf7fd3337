/* SPDX-License-Identifier: BSD-2-Clause */
/* What writing results.jsonl (results_log.c) and going on with one (results_resume.c) share. */
#ifndef REPORTS_RESULTS_LOG_INTERNAL_H
#define REPORTS_RESULTS_LOG_INTERNAL_H

#include <sys/types.h>

#include "reports/results/known.h"
#include "reports/results/result_line.h"
#include "reports/results/results_chain.h"
#include "reports/results/results_log.h"

struct results_log {
    int fd; /* -1: echo only */
    FILE *echo;
    off_t whole; /* the file is well-formed up to here */
    bool held;   /* lines gather until results_log_release() */
    struct result_lines lines;
    struct results_chain chain; /* of the lines that were written */
    struct run_summary summary;
    struct finding_set findings; /* that the summary has counted */
    char path[];                 /* for the error sentences */
};

/* A log that writes nowhere yet but to `echo`. NULL with the sentence set. */
struct results_log *results_log_new(const char *path, FILE *echo, struct iwarp_sentence *error);

/*
 * Writes the object as a line, with all that wait. The reference goes over; NULL: out of memory, returned as an error.
 */
int results_log_write(struct results_log *log, json_t *object, struct iwarp_sentence *error);

/* Writes the run line, its reference goes over, and with it the line of the rules' functions, if `info` has them. */
int results_log_begin(struct results_log *log, json_t *run, const struct run_info *info, struct iwarp_sentence *error);

/* Closes and frees a log that could not be made (NULL is allowed); returns NULL. */
struct results_log *results_log_failed(struct results_log *log);

#endif
