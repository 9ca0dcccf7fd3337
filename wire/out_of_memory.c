/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/out_of_memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_bool noted;

void out_of_memory_note(void)
{
    atomic_store_explicit(&noted, true, memory_order_relaxed);
}

bool out_of_memory_noted(void)
{
    return atomic_load_explicit(&noted, memory_order_relaxed);
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
