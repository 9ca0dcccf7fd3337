/* SPDX-License-Identifier: BSD-2-Clause */
/* What a worker process says, line by line, as it comes through a pipe. */
#ifndef CONFORMANCE_ENGINE_WORKER_LINES_H
#define CONFORMANCE_ENGINE_WORKER_LINES_H

#include <stddef.h>

#include "base/sentence.h"

/* Begins as {.pipe = its end to read from}. */
struct worker_lines {
    int pipe; /* -1: it has ended, and is closed */
    char *text;
    size_t length, room; /* what has come and is no whole line yet */
};

/*
 * Reads once, and hands over each whole line, without its newline; a line is valid during the call. 0, also at the end
 * of the pipe and when a signal came; -1 with a sentence: memory, or `take` said so.
 */
int worker_lines_read(struct worker_lines *lines,
                      int (*handle)(void *user, const char *line, size_t length, struct iwarp_sentence *error),
                      void *user, struct iwarp_sentence *error);

/* Closes the pipe. */
void worker_lines_free(struct worker_lines *lines);

#endif
