/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command says to --help, read back: the one place that declares its options, from which the manual page and the
 * completion of shells are made.
 *
 *     usage: warpcheck list [SELECT...] [OPTION...]        usage; further lines of it are indented by 7
 *       --checks           only requirements that ...      a row: indented by 2, then two blanks or more in between
 *       --ird N, --ord N   Read depths (4)                 ... of two options
 *                          and what else is to be said     ... and its continuation, indented by 8 or more
 *       Runs the reference stack with each defect ...      a paragraph, indented by 2 or not at all
 *         warpcheck list 'MPA-7.*'                         an example in it, a line that stays as it is, indented by 4
 */
#ifndef REFERENCE_STACK_HELP_TEXT_H
#define REFERENCE_STACK_HELP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct iwarp_sentence;

enum help_kind { HELP_USAGE, HELP_PARAGRAPH, HELP_EXAMPLE, HELP_ROW, HELP_GAP /* an empty line */ };

struct help_part {
    enum help_kind kind;
    const char *term; /* of a row: "--format F", "SELECT", "list"; else "" */
    const char *text; /* in one line: the usage, the paragraph, the example, what a row means; of a gap "" */
};

struct help {
    struct help_part *parts;
    size_t count;
    char *text; /* what the strings point into */
};

/* One of the options of a row. */
struct help_option {
    const char *name; /* "--ird", "-o"; not NUL-terminated */
    size_t name_length;
    const char *value; /* "N"; not NUL-terminated, NULL: the option takes none */
    size_t value_length;
};

/* Reads a help text. 0, or -1 with a sentence; help_free() in either case. */
int help_parse(struct help *help, const char *text, struct iwarp_sentence *error);
void help_free(struct help *help);

/*
 * The next option of a row's term, from *at on, which begins as the term and is moved after it: false when there is no
 * more, or when the row is none of an option.
 */
bool help_option_next(const char **at, struct help_option *option);

/*
 * Runs `program COMMAND --help` (COMMAND may be NULL) and gives what it wrote to standard output, the caller's to
 * free(); NULL with a sentence when it cannot be run or does not end with status 0.
 */
char *help_ask(const char *program, const char *command, struct iwarp_sentence *error);

#endif
