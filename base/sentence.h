/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An error as a value: one sentence that says what failed, where, and what was expected.
 * Functions that can fail take a `struct iwarp_sentence *` last (NULL when the caller does not care) and return -1.
 */
#ifndef IWARP_BASE_SENTENCE_H
#define IWARP_BASE_SENTENCE_H

#include <stdarg.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct iwarp_sentence {
    char text[512];
};

/*
 * Formats into `sentence` (cut at its size, always terminated). Returns -1, so that a failing function can return it.
 */
__attribute__((format(printf, 2, 3))) static inline int iwarp_sentence_set(struct iwarp_sentence *sentence,
                                                                           const char *format, ...)
{
    if (sentence != NULL) {
        va_list arguments;

        va_start(arguments, format);
        (void)vsnprintf(sentence->text, sizeof(sentence->text), format, arguments);
        va_end(arguments);
    }
    return -1;
}

#ifdef __cplusplus
}
#endif

#endif
