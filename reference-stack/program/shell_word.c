/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/program/shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORD_OCTETS = 4096 };

/* What a shell takes as it stands. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

/* Between single quotes every character stands for itself, but a single quote ends them. -1: it is too long. */
static int quote(char out[WORD_OCTETS], const char *word)
{
    size_t used = 0;

    out[used++] = '\'';
    for (; *word != '\0'; word++) {
        if (used + 6 > WORD_OCTETS)
            return -1;
        if (*word == '\'') {
            memcpy(out + used, "'\\''", 4);
            used += 4;
        } else {
            out[used++] = *word;
        }
    }
    out[used++] = '\'';
    out[used] = '\0';
    return 0;
}

size_t shell_append_word(char *text, size_t room, size_t used, const char *word)
{
    char quoted[WORD_OCTETS];
    int printed;

    if (used >= room)
        return used;
    if (word[0] == '\0' || word[strspn(word, plain)] != '\0') {
        if (quote(quoted, word) != 0)
            return used;
        word = quoted;
    }
    printed = snprintf(text + used, room - used, " %s", word);
    if (printed >= 0 && (size_t)printed < room - used)
        return used + (size_t)printed;
    text[used] = '\0';
    return used;
}

size_t shell_append(char *text, size_t room, size_t used, const char *option, const char *word)
{
    size_t named = shell_append_word(text, room, used, option), all = shell_append_word(text, room, named, word);

    if (named != used && all != named)
        return all;
    if (used < room)
        text[used] = '\0';
    return used;
}

size_t shell_append_words(char *text, size_t room, size_t used, const char *option, const char *words)
{
    char word[WORD_OCTETS];
    size_t at = shell_append_word(text, room, used, option), octets, next = 0;
    bool whole = at != used;

    for (words += strspn(words, " "); whole && *words != '\0'; words += octets + strspn(words + octets, " ")) {
        octets = strcspn(words, " ");
        (void)snprintf(word, sizeof(word), "%.*s", (int)octets, words);
        next = octets < sizeof(word) ? shell_append_word(text, room, at, word) : at;
        whole = next != at;
        at = next;
    }
    if (whole && next != 0)
        return at;
    if (used < room)
        text[used] = '\0';
    return used;
}

/* A part of a word: what it stands for begins at *part and has *octets, and *text goes on behind it. -1: it is none. */
static int next_part(const char **text, const char **part, size_t *octets)
{
    const char *end;

    *part = *text;
    if (**text == '\'') {
        end = strchr(*text + 1, '\'');
        if (end == NULL)
            return -1;
        *part = *text + 1;
        *octets = (size_t)(end - *part);
        *text = end + 1;
        return 0;
    }
    if (strncmp(*text, "\\'", 2) == 0) {
        *part = *text + 1;
        *octets = 1;
        *text += 2;
        return 0;
    }
    *octets = strspn(*text, plain);
    *text += *octets;
    return *octets != 0 ? 0 : -1;
}

int shell_next(const char **text, char *word, size_t room)
{
    const char *part;
    size_t octets, used = 0;

    *text += strspn(*text, " ");
    if (**text == '\0')
        return 0;
    while (**text != '\0' && **text != ' ') {
        if (next_part(text, &part, &octets) != 0 || octets >= room - used)
            return -1;
        memcpy(word + used, part, octets);
        used += octets;
    }
    word[used] = '\0';
    return 1;
}
