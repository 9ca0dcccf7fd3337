/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log of a monitor: a JSON object a line, appended as it comes. A file of it rotates by size and by age: FILE becomes
 * FILE.1, FILE.1 becomes FILE.2, and so on. Each file begins with what is known by then, so that the newest one is all
 * that a process needs that is started again (monitor_log_read()): a line that was written is never counted twice.
 */
#ifndef CONFORMANCE_ENGINE_MONITOR_LOG_H
#define CONFORMANCE_ENGINE_MONITOR_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/sentence.h"

struct monitor_log; /* opaque */

struct monitor_log_config {
    const char *path;                       /* NULL: no file, only the echo */
    FILE *echo;                             /* gets every line, too; NULL: none */
    uint64_t rotate_octets, rotate_seconds; /* 0: it does not rotate by that */
    unsigned keep;                          /* older files that stay */
    /* The file is open; `empty`: it is a new one, and has to have what is known. Writes its first lines. */
    void (*begin)(void *user, struct monitor_log *log, bool empty);
    void *user;
};

/*
 * Opens the file for appending, and cuts off a line that a killed process left torn. A file that is no regular one (a
 * pipe, /dev/stdout) does not rotate. NULL with a sentence: it cannot be opened, or another process writes there.
 */
struct monitor_log *monitor_log_open(const struct monitor_log_config *config, struct iwarp_sentence *error);
void monitor_log_close(struct monitor_log *log); /* NULL is allowed */

/*
 * Appends the object, and takes the reference to it (NULL: out of memory). False: it is not written, and counted; what
 * was written before stays whole.
 */
bool monitor_log_write(struct monitor_log *log, json_t *object);

/* Rotates the file where it is time. -1 with a sentence: it cannot, and continues with the file that it has. */
int monitor_log_rotate(struct monitor_log *log, uint64_t now_ns, struct iwarp_sentence *error);

/* Opens the file anew by its name: it was renamed (logrotate). -1 as above. */
int monitor_log_reopen(struct monitor_log *log, struct iwarp_sentence *error);

/* Lines that could not be written since the last call; *why becomes the first reason. */
uint64_t monitor_log_lost(struct monitor_log *log, struct iwarp_sentence *why);

/*
 * Hands over each line of the file at `path`, or of `path`.1 where a rotation was stopped before the new file was
 * begun. A line that is torn or longer than MONITOR_LINE_MAX is left out, and counted in *bad. -1 with a sentence: it is
 * there and cannot be read. A file that is not there has no lines.
 */
enum { MONITOR_LINE_MAX = 1 << 16 };
int monitor_log_read(const char *path, void (*line)(void *user, const char *text, size_t octets), void *user,
                     uint64_t *bad, struct iwarp_sentence *error);

#endif
