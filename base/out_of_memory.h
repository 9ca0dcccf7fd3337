/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that some allocation of the process has failed. Code calls it if it cannot report the failure as an error:
 * because it continues without the memory (a decoder that skips a direction, a rule that cannot keep a finding), or
 * because a library hides the failure. If a failure is recorded when the program ends, its work is incomplete, and it
 * must not report success.
 */
#ifndef BASE_OUT_OF_MEMORY_H
#define BASE_OUT_OF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void out_of_memory_note(void);
bool out_of_memory_noted(void);
/* The number of failures recorded so far. */
unsigned out_of_memory_count(void);

/* The C library's functions, for libraries that accept an allocator. A failure is recorded. */
void *out_of_memory_malloc(size_t octets);
void *out_of_memory_realloc(void *old, size_t octets);
char *out_of_memory_strdup(const char *text);

#ifdef __cplusplus
}
#endif

#endif
