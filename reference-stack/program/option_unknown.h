/* SPDX-License-Identifier: BSD-2-Clause */
/* What to say about an option that a command does not know: with the one that was probably meant. */
#ifndef REFERENCE_STACK_OPTION_UNKNOWN_H
#define REFERENCE_STACK_OPTION_UNKNOWN_H

struct iwarp_sentence;

/*
 * Sets the sentence for `argument`, which the command ("list"; NULL: a program without commands) cannot take, and
 * returns -1:
 *
 *     unknown option --simlate, did you mean "--simulate"? (warpcheck run --help lists them)
 *     --seed needs a value (warpcheck run --help describes it)
 *
 * The options are those that the help texts name (help_text.h); `more` is a second text, such as that of the selection,
 * or NULL. Where `usage` is NULL this program is asked, as `PROGRAM COMMAND --help`, for the whole text: before it is
 * confined. Without memory the sentence makes no suggestion.
 */
int option_unknown(const char *command, const char *argument, const char *usage, const char *more,
                   struct iwarp_sentence *error);

#endif
