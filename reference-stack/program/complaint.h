/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How every program and command says on stderr what is wrong: one line, "PROGRAM: what". What comes from elsewhere
 * (file names, scripts, peers) is in it, so that all of it is cleaned (base/plain_text.h): nothing in it reaches the
 * terminal as a command. No other code writes to stderr.
 */
#ifndef REFERENCE_STACK_COMPLAINT_H
#define REFERENCE_STACK_COMPLAINT_H

#include <stdio.h>

/*
 * The name that every line begins with: "PROGRAM COMMAND", or PROGRAM alone (`command` NULL). For main(), before
 * anything else.
 */
void complain_as(const char *program, const char *command);

/*
 * Returns `status`, so that a command can return it. Where standard output has failed and the status says so, nothing
 * more is written there, and standard_streams_close() does not report it again: one line is enough.
 */
__attribute__((format(printf, 2, 3))) int complain(int status, const char *format, ...);

/* One line of text to `out`, cleaned in the same way, and a newline. */
__attribute__((format(printf, 2, 3))) void print_plain(FILE *out, const char *format, ...);

#endif
