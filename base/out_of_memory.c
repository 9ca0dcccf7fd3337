/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/out_of_memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint count;

void out_of_memory_note(void)
{
    (void)atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

unsigned out_of_memory_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}

bool out_of_memory_noted(void)
{
    return out_of_memory_count() != 0;
}

static void *checked(void *octets)
{
    if (octets == NULL)
        out_of_memory_note();
    return octets;
}

void *out_of_memory_malloc(size_t octets)
{
    return checked(malloc(octets != 0 ? octets : 1));
}

void *out_of_memory_realloc(void *old, size_t octets)
{
    return checked(realloc(old, octets != 0 ? octets : 1));
}

char *out_of_memory_strdup(const char *text)
{
    return checked(strdup(text));
}
