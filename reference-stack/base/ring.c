/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/base/ring.h"

#include <stdlib.h>
#include <string.h>

enum { RING_FIRST = 4 };

void ring_init(struct ring *ring, size_t item)
{
    memset(ring, 0, sizeof(*ring));
    ring->item = item;
}

void ring_free(struct ring *ring)
{
    free(ring->items);
    ring->items = NULL;
    ring->capacity = ring->count = 0;
}

int ring_reserve(struct ring *ring, size_t count)
{
    size_t capacity = ring->capacity == 0 ? RING_FIRST : ring->capacity;
    uint8_t *items;
    size_t to_end;

    if (count <= ring->capacity - ring->count)
        return 0;
    if (count > SIZE_MAX / 2 / ring->item - ring->count)
        return -1; /* more than any memory */
    while (capacity < ring->count + count)
        capacity *= 2;
    items = calloc(capacity, ring->item);
    if (items == NULL)
        return -1;
    if (ring->count != 0) { /* from the oldest to the end of the memory, and what stands in front of the oldest */
        to_end = ring->capacity - ring->head < ring->count ? ring->capacity - ring->head : ring->count;
        memcpy(items, ring->items + ring->head * ring->item, to_end * ring->item);
        memcpy(items + to_end * ring->item, ring->items, (ring->count - to_end) * ring->item);
    }
    free(ring->items);
    ring->items = items;
    ring->capacity = capacity;
    ring->head = 0;
    return 0;
}

void *ring_push(struct ring *ring)
{
    if (ring_reserve(ring, 1) != 0)
        return NULL;
    ring->count++;
    return ring_at(ring, ring->count - 1);
}
