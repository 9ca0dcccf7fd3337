/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocator of the test runner's own, of which the n-th allocation can fail. Not in sanitised runners, which have
 * one themselves: there OWN_ALLOCATOR is 0.
 */
#ifndef TESTS_UNIT_SHORT_MEMORY_H
#define TESTS_UNIT_SHORT_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h> /* defines whether this is glibc */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR 0
#endif
#endif
#if !defined(OWN_ALLOCATOR)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define OWN_ALLOCATOR 1
#else
#define OWN_ALLOCATOR 0
#endif
#endif

#if OWN_ALLOCATOR

void *__libc_malloc(size_t octets);
void *__libc_calloc(size_t count, size_t octets);
void *__libc_realloc(void *old, size_t octets);
void __libc_free(void *octets);

#define SHORT_ALL LONG_MAX

extern long short_left;   /* allocations until one fails; 0: none does */
extern long short_more;   /* how many of those after it fail too, SHORT_ALL: all */
extern bool short_failed; /* one has failed */
extern long short_live;   /* allocations that were not freed */

/* Arms the n-th allocation around what is tested, and nothing else. */
#define SHORT(n, call)                                                                                                 \
    do {                                                                                                               \
        short_left = (n);                                                                                              \
        call;                                                                                                          \
        (n) = short_left;                                                                                              \
        short_left = 0;                                                                                                \
    } while (0)

#else

#define SHORT(n, call)                                                                                                 \
    do {                                                                                                               \
        (void)(n);                                                                                                     \
        call;                                                                                                          \
    } while (0)

#endif
#endif
