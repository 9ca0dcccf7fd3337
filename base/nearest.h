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
 * The edit distance of two words: how many letters must be inserted, deleted, changed or swapped with their neighbour.
 * Upper and lower case count as equal. Words longer than NEAREST_WORD_MAX are compared by their beginnings.
 */
unsigned nearest_distance(const char *a, const char *b);

/* The greatest distance at which a name is still suggested. */
unsigned nearest_limit(const char *word);

/* Whether the name begins with the word, ignoring case. The word must have at least four letters. */
bool nearest_begins(const char *word, const char *name);

/* The index-th of some names; NULL entries are passed over. */
typedef const char *nearest_name_at(const void *names, size_t index);

/*
 * Returns the name with the least distance, and the first one if several are equal. If all are beyond the limit: the
 * shortest name that begins with the word; NULL: there is none.
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
