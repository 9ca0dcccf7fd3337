/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/process/worker_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_OCTETS = 65536 };

/* A line that has no end yet is not searched again from its begin. */
static int pass_whole(struct worker_lines *lines, size_t old,
                      int (*handle)(void *user, const char *line, size_t length, struct iwarp_sentence *error),
                      void *user, struct iwarp_sentence *error)
{
    size_t begin = 0;
    const char *newline;

    while ((newline = memchr(lines->text + old, '\n', lines->length - old)) != NULL) {
        size_t end = (size_t)(newline - lines->text);

        if (handle(user, lines->text + begin, end - begin, error) != 0)
            return -1;
        begin = old = end + 1;
    }
    lines->length -= begin;
    memmove(lines->text, lines->text + begin, lines->length);
    return 0;
}

int worker_lines_read(struct worker_lines *lines,
                      int (*handle)(void *user, const char *line, size_t length, struct iwarp_sentence *error),
                      void *user, struct iwarp_sentence *error)
{
    size_t old = lines->length;
    ssize_t got;

    if (lines->room - lines->length < READ_OCTETS) {
        char *grown = realloc(lines->text, 2 * lines->room + READ_OCTETS);

        if (grown == NULL)
            return iwarp_sentence_set(error, "out of memory for a worker's answers");
        lines->text = grown;
        lines->room = 2 * lines->room + READ_OCTETS;
    }
    got = read(lines->pipe, lines->text + lines->length, READ_OCTETS);
    if (got < 0 && errno == EINTR)
        return 0;
    if (got <= 0) {
        close(lines->pipe);
        lines->pipe = -1;
        return 0;
    }
    lines->length += (size_t)got;
    return pass_whole(lines, old, handle, user, error);
}

void worker_lines_free(struct worker_lines *lines)
{
    if (lines->pipe >= 0)
        close(lines->pipe);
    free(lines->text);
    *lines = (struct worker_lines){.pipe = -1};
}
