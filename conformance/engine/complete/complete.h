/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may stand next on a command line, for the completion of shells. Commands and options come from the text of
 * --help (help_text.h); the kind of a value follows from its name and meaning there:
 *
 *     DEFECT, VARIANT                       defects and legal variants of the reference stack
 *     ID, SELECT, ITEM, PROFILE             requirements, capabilities, devices that come with the project (and files)
 *     FILE, OUT, DIR|FILE, ... and DIR      files, folders
 *     1|2                                   these words
 *     F  "text, jsonl or md (Markdown)"     the words that the meaning begins with, two or more
 *     LIST  "send,write,read (all)"         a list of these
 *     N, PORT, HEX, ...                     nothing
 *     any other                             files
 */
#ifndef CONFORMANCE_ENGINE_COMPLETE_H
#define CONFORMANCE_ENGINE_COMPLETE_H

#include <stddef.h>
#include <stdio.h>

struct iwarp_sentence;

/* The source of help texts: returns the help of a command (NULL: of all), malloc'd; NULL with a sentence. */
struct completion_source {
    char *(*help)(void *context, const char *command, struct iwarp_sentence *error);
    void *context;
};

/*
 * Writes the candidates for the last of the words (words[0] is the program, "iwarp-peer" or any other) to out, a line
 * each: the word, and after a tab what it means. Lines ":files" and ":folders" say that names of files or folders fit
 * as well. 0 (also when nothing fits), or -1 with a sentence.
 */
int complete_write(const struct completion_source *source, size_t count, const char *const *words, FILE *out,
                   struct iwarp_sentence *error);

#endif
