/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For a program's main() alone: jansson crashes at some of the allocations that fail it, and libuv aborts. They get an
 * allocator that has a reserve: when memory runs out, that is noted (base/out_of_memory.h), the reserve is given up,
 * and the library goes on. When that is used up as well, the program ends with one sentence: what it has written so far
 * is as whole as after SIGKILL.
 */
#ifndef TOOLS_MEMORY_RESERVE_H
#define TOOLS_MEMORY_RESERVE_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/exit_status.h"
#include "base/out_of_memory.h"

enum { MEMORY_RESERVE = 1 << 20 };

static void *memory_reserve;
static const char *memory_reserve_sentence;

static void memory_reserve_give_up(void)
{
    out_of_memory_note();
    free(memory_reserve);
    memory_reserve = NULL;
}

static void *memory_reserve_checked(void *got)
{
    if (got == NULL) {
        (void)!write(STDERR_FILENO, memory_reserve_sentence, strlen(memory_reserve_sentence));
        _exit(EXIT_ENVIRONMENT);
    }
    return got;
}

static void *memory_reserve_realloc(void *old, size_t octets)
{
    void *got = realloc(old, octets != 0 ? octets : 1);

    if (got != NULL)
        return got;
    memory_reserve_give_up();
    return memory_reserve_checked(realloc(old, octets != 0 ? octets : 1));
}

static void *memory_reserve_malloc(size_t octets)
{
    return memory_reserve_realloc(NULL, octets);
}

static void *memory_reserve_calloc(size_t count, size_t octets)
{
    void *got = calloc(count, octets);

    if (got != NULL)
        return got;
    memory_reserve_give_up();
    return memory_reserve_checked(calloc(count, octets));
}

/* At the start of main(). `sentence` is a line with its end. */
static inline void memory_reserve_begin(const char *sentence)
{
    memory_reserve_sentence = sentence;
    memory_reserve = malloc(MEMORY_RESERVE);
    json_set_alloc_funcs(memory_reserve_malloc, free);
    (void)uv_replace_allocator(memory_reserve_malloc, memory_reserve_realloc, memory_reserve_calloc, free);
}

#endif
