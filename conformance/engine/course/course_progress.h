/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a student has done, remembered in $XDG_STATE_HOME/warpcheck/course.json (~/.local/state/warpcheck/course.json):
 *
 *     {"version": 1, "exercises": {"1": {"tries": 2, "passed": "2026-11-23"}, "2": {"tries": 1}}}
 *
 * The file is replaced as a whole, so that a stopped command leaves the older one.
 */
#ifndef CONFORMANCE_ENGINE_COURSE_PROGRESS_H
#define CONFORMANCE_ENGINE_COURSE_PROGRESS_H

#include <stdint.h>

#include "conformance/engine/course/course_exercise.h"
#include "base/sentence.h"

enum { COURSE_DAY_OCTETS = 11, COURSE_TRIES_MAX = 1000000, COURSE_PATH_OCTETS = 4096 };

struct course_standing {
    unsigned tries;
    char passed[COURSE_DAY_OCTETS]; /* "2026-11-23"; "": not yet */
};

struct course_progress {
    struct course_standing of[COURSE_EXERCISES_MAX + 1]; /* by the exercise's number */
};

/*
 * Reads the text of such a file; 0, or -1 with a sentence. Numbers beyond the table's are those of another version's
 * course.
 */
int course_progress_parse(struct course_progress *progress, const char *text, size_t octets,
                          struct iwarp_sentence *error);

/* The text of the file, to be freed; NULL without memory. */
char *course_progress_text(const struct course_progress *progress);

/* Where the file is: 0, or -1 with a sentence: neither variable of the environment says where. */
int course_progress_path(char path[COURSE_PATH_OCTETS], struct iwarp_sentence *error);

/* Reads the file; if there is none, no exercise is done yet. 0, or -1 with a sentence. */
int course_progress_load(struct course_progress *progress, const char *path, struct iwarp_sentence *error);

/* Writes the file, and makes its folder. 0, or -1 with a sentence. */
int course_progress_save(const struct course_progress *progress, const char *path, struct iwarp_sentence *error);

#endif
