/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ROW = NEAREST_WORD_MAX + 1, BEGINNING_MIN = 4 };

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
    size_t a_length = strnlen(a, NEAREST_WORD_MAX), b_length = strnlen(b, NEAREST_WORD_MAX);
    unsigned rows[3][ROW] = {{0}};
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];

    /*
     * Damerau-Levenshtein, each letter edited at most once: `now` grows out of the rows of one and of two letters less.
     */
    for (size_t j = 0; j <= b_length; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *spare = before;

        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = spare;
    }
    return last[b_length];
}

unsigned nearest_limit(const char *word)
{
    size_t length = strnlen(word, NEAREST_WORD_MAX);

    return length == 0 ? 0 : length < 6 ? 1 : (unsigned)length / 3;
}

bool nearest_begins(const char *word, const char *name)
{
    size_t length = strnlen(word, NEAREST_WORD_MAX);

    return length >= BEGINNING_MIN && strncasecmp(word, name, length) == 0;
}

/* The shortest name that begins with the word. */
static const char *completed(const char *word, nearest_name_at *name_at, const void *names, size_t count)
{
    const char *shortest = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *name = name_at(names, i);

        if (name != NULL && nearest_begins(word, name) && (shortest == NULL || strlen(name) < strlen(shortest)))
            shortest = name;
    }
    return shortest;
}

const char *nearest_name(const char *word, nearest_name_at *name_at, const void *names, size_t count)
{
    unsigned best = nearest_limit(word) + 1;
    const char *nearest = NULL;

    for (size_t i = 0; i < count && word[0] != '\0'; i++) {
        const char *name = name_at(names, i);
        unsigned far = name != NULL ? nearest_distance(word, name) : best;

        if (far < best) {
            best = far;
            nearest = name;
        }
    }
    return nearest != NULL ? nearest : completed(word, name_at, names, count);
}

static const char *string_at(const void *names, size_t index)
{
    return ((const char *const *)names)[index];
}

const char *nearest_of(const char *word, const char *const *names, size_t count)
{
    return nearest_name(word, string_at, names, count);
}

const char *nearest_hint(const char *name, char hint[NEAREST_HINT_OCTETS])
{
    hint[0] = '\0';
    if (name != NULL)
        (void)snprintf(hint, NEAREST_HINT_OCTETS, ", did you mean \"%.63s\"?", name);
    return hint;
}
