/* SPDX-License-Identifier: BSD-2-Clause */
/* File names in commands that a person copies into a shell. */
#ifndef REFERENCE_STACK_SHELL_WORD_H
#define REFERENCE_STACK_SHELL_WORD_H

#include <stddef.h>

/*
 * Appends " OPTION WORD" to a text that has `used` octets, the word quoted where a shell would take it for more than a
 * word. Returns how many octets the text has then: as many as before when there is no room.
 */
size_t shell_append(char *text, size_t room, size_t used, const char *option, const char *word);

/* The same of a word alone. */
size_t shell_append_word(char *text, size_t room, size_t used, const char *word);

/*
 * The same with words that single spaces or more part: the value of the option, and what stands after it. Each is
 * quoted for itself. Nothing is appended when there is no word.
 */
size_t shell_append_words(char *text, size_t room, size_t used, const char *option, const char *words);

/*
 * The next word of a command that was made by these functions: plain characters, and parts between single quotes. *text
 * moves after it. 1: a word; 0: there is none; -1: a shell would take what stands there for more than words, or the
 * word has `room` octets.
 */
int shell_next(const char **text, char *word, size_t room);

#endif
