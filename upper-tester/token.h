/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The secret that an upper tester may demand of whoever commands it (docs/upper-tester.md, "A token"): the first line
 * of a file, shown in the first line of each control connection.
 */
#ifndef UPPER_TESTER_TOKEN_H
#define UPPER_TESTER_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sentence.h"

enum {
    UPPER_TOKEN_LEAST = 16, /* characters: printable ASCII, without space, quote and backslash */
    UPPER_TOKEN_MOST = 256,
    UPPER_TOKEN_LINE = 128 << 10, /* octets that are kept of somebody who has not shown it */
};

/* text[0] == 0: none is demanded. */
struct upper_token {
    char text[UPPER_TOKEN_MOST + 1];
};

/* The first line of a file. -1 with "path: what is wrong, what was expected". */
int upper_token_read(struct upper_token *token, const char *path, struct sentence *sentence);

/* The command that shows it, without a newline: the caller's to free(). NULL: out of memory. */
char *upper_token_command(const struct upper_token *token);

/*
 * The answer to the first line of a connection, the caller's to free(); NULL: out of memory. *shown is true if the line
 * shows the token; otherwise the connection is to be closed after the answer. How long it takes does not depend on how
 * much of a token is right.
 */
char *upper_token_answer(const struct upper_token *token, const char *line, size_t octets, bool *shown);

#endif
