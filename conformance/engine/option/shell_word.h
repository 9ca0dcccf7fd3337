/* SPDX-License-Identifier: BSD-2-Clause */
/* File names in commands that a person copies into a shell. */
#ifndef CONFORMANCE_ENGINE_SHELL_WORD_H
#define CONFORMANCE_ENGINE_SHELL_WORD_H

#include <stddef.h>

/*
 * Appends " OPTION WORD" to a text that has `used` octets, the word quoted where a shell would take it for more than a
 * word. Returns how many octets the text has then: as many as before when there is no room.
 */
size_t shell_append(char *text, size_t room, size_t used, const char *option, const char *word);

/*
 * The same with words that single spaces or more part: the value of the option, and what stands after it. Each is quoted
 * for itself. Nothing is appended when there is no word.
 */
size_t shell_append_words(char *text, size_t room, size_t used, const char *option, const char *words);

#endif
