/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `warpcheck run --simulate` in a process of its own, of the same program: the defect of an exercise is on no command
 * line that ps shows, and the child confines itself before it reads a student's script.
 */
#ifndef CONFORMANCE_ENGINE_COURSE_RUN_H
#define CONFORMANCE_ENGINE_COURSE_RUN_H

#include <stddef.h>
#include <stdio.h>

#include "reports/results/result.h"
#include "base/sentence.h"

enum { COURSE_RUN_WORDS_MAX = 64 };

/* Hands over each line that the run writes, without its newline. */
typedef void course_line_fn(void *user, char *line);

/*
 * Runs with `words`, and with the defect unless it is NULL. *status: the exit status of the run, which has said on
 * stderr what is wrong. 0, or -1 with a sentence: the run could not be started, or was killed.
 */
int course_run(const char *defect, const char *const *words, size_t count, course_line_fn *line, void *user,
               int *status, struct iwarp_sentence *error);

/* `warpcheck course run`: shows the run of a device with this defect, without its name. Returns an exit status. */
int course_run_show(const char *defect, const char *const *words, size_t count);

/* A result of a check, as a line of JSON has it. Strings are valid during the call. */
typedef void course_result_fn(void *user, const char *id, enum verdict verdict);

/* Runs and hands over the results of checks; with `rules` also those of rules. As course_run(). */
int course_run_results(const char *defect, const char *const *words, size_t count, bool rules, course_result_fn *result,
                       void *user, int *status, struct iwarp_sentence *error);

#endif
