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

#endif
