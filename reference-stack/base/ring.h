/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue of equal items that grows by doubling and never shrinks: no allocation once it has its size. */
#ifndef REFERENCE_STACK_RING_H
#define REFERENCE_STACK_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
    uint8_t *items;
    size_t item;     /* octets of one item */
    size_t capacity; /* items; a power of two, or 0 */
    size_t head;     /* index of the oldest */
    size_t count;
};

void ring_init(struct ring *ring, size_t item);
void ring_free(struct ring *ring);

/* Room for one more item after the newest, not initialised; NULL when memory is short. */
void *ring_push(struct ring *ring);

/* The next `count` pushes will find room. -1 when memory is short: nothing has changed. */
int ring_reserve(struct ring *ring, size_t count);

/* The n-th oldest; NULL when there are not so many. Valid until the next push. */
static inline void *ring_at(const struct ring *ring, size_t n)
{
    if (n >= ring->count)
        return NULL;
    return ring->items + ((ring->head + n) & (ring->capacity - 1)) * ring->item;
}

/* Drops the oldest. */
static inline void ring_pop(struct ring *ring)
{
    ring->head = (ring->head + 1) & (ring->capacity - 1);
    ring->count--;
}

#endif
