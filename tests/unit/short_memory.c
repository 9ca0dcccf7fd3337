/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/short_memory.h"

#include <stdlib.h>

#if OWN_ALLOCATOR

long short_left;
long short_more;
bool short_failed;
long short_live;

static bool fails(void)
{
    if (short_failed && short_more > 0) {
        short_more--;
        return true;
    }
    if (short_left == 0)
        return false;
    short_left--;
    if (short_left != 0)
        return false;
    short_failed = true;
    return true;
}

static void *counted(void *octets)
{
    short_live += octets != NULL;
    return octets;
}

void *malloc(size_t octets)
{
    return fails() ? NULL : counted(__libc_malloc(octets));
}

void *calloc(size_t count, size_t octets)
{
    return fails() ? NULL : counted(__libc_calloc(count, octets));
}

void *realloc(void *old, size_t octets)
{
    if (old == NULL)
        return malloc(octets);
    return fails() ? NULL : __libc_realloc(old, octets);
}

void free(void *octets)
{
    short_live -= octets != NULL;
    __libc_free(octets);
}

#endif
