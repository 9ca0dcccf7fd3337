/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream that writes into memory, as open_memstream()'s does, and that knows whether all of it arrived: glibc's own
 * loses what it finds no memory for without an error, and its fclose() succeeds.
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
 * *text and *octets are valid once the stream was closed, and have to stay where they are until then. The text is
 * terminated; it is the caller's to free(). NULL without memory.
 */
FILE *text_stream_open(char **text, size_t *octets);

/* Closes the stream. False, and *text is NULL, when something was lost. */
bool text_stream_close(FILE *stream, char **text);

#ifdef __cplusplus
}
#endif

#endif
