/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's control connections: octets in any portions, one command a line, one answer each (docs/upper-tester.md).
 */
#ifndef CONFORMANCE_LABS_LINUX_AGENT_CONTROL_H
#define CONFORMANCE_LABS_LINUX_AGENT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "upper-tester/token.h"

enum { AGENT_LINE_MAX = 64 << 20 };

struct agent_control {
    int fd; /* -1: free */
    char *line;
    size_t count, room;
    size_t seen;                     /* octets of `line` that hold no newline */
    bool skipping;                   /* the rest of a line that was too long */
    const struct upper_token *token; /* that has to be shown before anything else; NULL: none */
    bool shown;
};

/* The answer to one line of so many octets, in memory of its own and without a newline; NULL: none can be given. */
typedef char *agent_answer(void *context, const char *line, size_t octets);

/* Closes the connection, if there is one. */
void agent_control_end(struct agent_control *control);

/*
 * Takes what has come and answers each whole line. A connection that has ended, or fails, is closed: its fd is -1 then.
 */
void agent_control_handle(struct agent_control *control, agent_answer *answer, void *context);

#endif
