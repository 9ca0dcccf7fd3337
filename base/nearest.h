/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name that a misspelt word was probably meant to be, for error sentences: `"reviw_by" is unknown, did you mean
 * "review_by"?`. Any list of names will do: members of a file, options, commands, requirement ids, defects.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NEAREST_WORD_MAX = 63, NEAREST_HINT_OCTETS = 96 };

/*
 * How many letters have to be put in, left out, changed or exchanged with their neighbour to make one of the other;
 * upper and lower case are one. Words longer than NEAREST_WORD_MAX are compared by their beginnings.
 */
unsigned nearest_distance(const char *a, const char *b);

/* More edits than this make another word of it. */
unsigned nearest_limit(const char *word);

/* Whether the name begins with the word, which has to have four letters for that, in upper or lower case. */
bool nearest_begins(const char *word, const char *name);

/* The index-th of some names; NULL entries are passed over. */
typedef const char *nearest_name_at(const void *names, size_t index);

/*
 * Of `count` names the one with the least distance, the first of equals. When all are beyond the limit: the shortest
 * one that begins with the word; NULL: none does.
 */
const char *nearest_name(const char *word, nearest_name_at *name_at, const void *names, size_t count);

/* The same from an array of strings. */
const char *nearest_of(const char *word, const char *const *names, size_t count);

/* `, did you mean "NAME"?` in `hint`, or "" where there is no name; returns `hint`. */
const char *nearest_hint(const char *name, char hint[NEAREST_HINT_OCTETS]);

#ifdef __cplusplus
}
#endif

#endif
