/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The secret that an upper tester may require from its clients (docs/upper-tester.md, "A token"). It is the first line
 * of a file; the client sends it in the first line of each control connection.
 */
#ifndef UPPER_TESTER_TOKEN_H
#define UPPER_TESTER_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sentence.h"

enum {
    UPPER_TOKEN_LEAST = 16, /* characters: printable ASCII, without space, quote and backslash */
    UPPER_TOKEN_MOST = 256,
    UPPER_TOKEN_LINE = 128 << 10, /* octets buffered for a client that has not sent the token yet */
};

/* text[0] == 0: no token is required. */
struct upper_token {
    char text[UPPER_TOKEN_MOST + 1];
};

/* The first line of a file. -1 with "path: what is wrong, what was expected". */
int upper_token_read(struct upper_token *token, const char *path, struct iwarp_sentence *sentence);

/* The command that sends the token, without a newline. The caller calls free() for it. NULL: out of memory. */
char *upper_token_command(const struct upper_token *token);

/*
 * The answer to the first line of a connection. The caller calls free() for it; NULL: out of memory. *shown is true if
 * the line contains the right token; otherwise the caller closes the connection after the answer. The time of the
 * comparison does not depend on how much of the token is right.
 */
char *upper_token_answer(const struct upper_token *token, const char *line, size_t octets, bool *shown);

#endif
