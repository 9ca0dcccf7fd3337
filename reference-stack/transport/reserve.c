/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libuv ends the process when a table of its cannot grow. After malloc() it gets a block of memory that is there
 * already, so that another thread cannot have it, and that is handed out from the front; it is empty again when all of
 * it was given back. The table grows with the descriptors alone: where little of the block is left, no new ones are
 * opened.
 */
#include "reference-stack/transport/reserve.h"

#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "iwarp/verbs.h"

enum { DEFAULT_OCTETS = 1 << 20, LEAST_OCTETS = 1 << 16, ENOUGH = 4 /* a quarter of it must be left */ };

/* In front of what is handed out. */
struct piece {
    size_t octets;
    max_align_t start[];
};

static struct {
    pthread_mutex_t lock;
    uint8_t *block;
    size_t size, used, pieces;
} reserve = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_ours(const void *octets)
{
    uintptr_t at = (uintptr_t)octets, block = (uintptr_t)reserve.block;

    return at >= block && at < block + reserve.size;
}

static void *piece_new(size_t octets)
{
    const size_t unit = sizeof(max_align_t);
    struct piece *piece = NULL;
    size_t size;

    if (octets > reserve.size)
        return NULL;
    size = sizeof(*piece) + (octets + unit - 1) / unit * unit;
    (void)pthread_mutex_lock(&reserve.lock);
    if (size <= reserve.size - reserve.used) {
        piece = (struct piece *)(void *)(reserve.block + reserve.used);
        piece->octets = octets;
        reserve.used += size;
        reserve.pieces++;
    }
    (void)pthread_mutex_unlock(&reserve.lock);
    return piece == NULL ? NULL : piece->start;
}

static void reserve_free(void *octets)
{
    if (!is_ours(octets)) {
        free(octets);
        return;
    }
    (void)pthread_mutex_lock(&reserve.lock);
    if (--reserve.pieces == 0)
        reserve.used = 0;
    (void)pthread_mutex_unlock(&reserve.lock);
}

static void *reserve_malloc(size_t octets)
{
    void *got = malloc(octets);

    if (got != NULL)
        return got;
    return piece_new(octets);
}

static void *reserve_calloc(size_t count, size_t octets)
{
    void *got = calloc(count, octets);

    if (got != NULL)
        return got;
    if (octets != 0 && count > SIZE_MAX / octets)
        return NULL;
    got = piece_new(count * octets);
    if (got != NULL)
        memset(got, 0, count * octets);
    return got;
}

/* How much of `old` there is to keep, when it is ours. */
static size_t octets_of(const void *old)
{
    return ((const struct piece *)(const void *)((const uint8_t *)old - offsetof(struct piece, start)))->octets;
}

static void *reserve_realloc(void *old, size_t octets)
{
    bool ours = is_ours(old);
    void *got = ours ? malloc(octets) : realloc(old, octets);

    if (got == NULL)
        got = piece_new(octets);
    else if (!ours)
        return got;
    if (got == NULL || old == NULL)
        return got;
    if (ours) {
        memcpy(got, old, octets < octets_of(old) ? octets : octets_of(old));
        reserve_free(old);
    } else {
        size_t kept = malloc_usable_size(old);

        memcpy(got, old, octets < kept ? octets : kept);
        free(old);
    }
    return got;
}

bool reserve_suffices(void)
{
    bool enough;

    (void)pthread_mutex_lock(&reserve.lock);
    enough = reserve.size - reserve.used >= reserve.size / ENOUGH;
    (void)pthread_mutex_unlock(&reserve.lock);
    return enough;
}

int iwarp_reserve_memory(size_t octets, struct iwarp_sentence *sentence)
{
    size_t size = octets == 0 ? DEFAULT_OCTETS : octets;

    if (reserve.block != NULL)
        return iwarp_sentence_set(sentence, "reserve: the reserve exists already");
    if (size < LEAST_OCTETS)
        return iwarp_sentence_set(sentence, "reserve: %zu octets, but at least %d were expected", octets, LEAST_OCTETS);
    reserve.block = malloc(size);
    if (reserve.block == NULL)
        return iwarp_sentence_set(sentence, "reserve: out of memory");
    memset(reserve.block, 0, size); /* the kernel gives pages when they are written to */
    reserve.size = size;
    (void)uv_replace_allocator(reserve_malloc, reserve_realloc, reserve_calloc, reserve_free);
    return 0;
}
