/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One fact about the whole process: some allocation has failed. Whoever cannot report that as an error, because what it
 * does goes on without the memory (a decoder that leaves a direction out, a rule that cannot keep a finding), or
 * because a library hides it, notes it here. A program that finds it noted at its end has not done the whole of what it
 * was asked for, and must not report success.
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
/* How often so far. */
unsigned out_of_memory_count(void);

/* The C library's functions, for libraries that take an allocator: a failure is noted. */
void *out_of_memory_malloc(size_t octets);
void *out_of_memory_realloc(void *old, size_t octets);
char *out_of_memory_strdup(const char *text);

#ifdef __cplusplus
}
#endif

#endif
