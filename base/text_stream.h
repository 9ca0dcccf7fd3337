/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream that writes into memory, like open_memstream(), but reports lost data. If memory is short, glibc's stream
 * drops data without an error, and its fclose() succeeds.
 */
#ifndef BASE_TEXT_STREAM_H
#define BASE_TEXT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * *text and *octets are set when the stream is closed; both variables must exist until then. The text ends with NUL,
 * and the caller calls free() for it. NULL: memory is short.
 */
FILE *text_stream_open(char **text, size_t *octets);

/* Closes the stream. If data was lost, returns false and sets *text to NULL. */
bool text_stream_close(FILE *stream, char **text);

#ifdef __cplusplus
}
#endif

#endif
