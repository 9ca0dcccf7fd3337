/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/ring.h"

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

static int ring_grow(struct ring *ring)
{
    size_t capacity = ring->capacity == 0 ? RING_FIRST : ring->capacity * 2;
    uint8_t *items = calloc(capacity, ring->item);

    if (items == NULL)
        return -1;
    for (size_t i = 0; i < ring->count; i++)
        memcpy(items + i * ring->item, ring_at(ring, i), ring->item);
    free(ring->items);
    ring->items = items;
    ring->capacity = capacity;
    ring->head = 0;
    return 0;
}

int ring_reserve(struct ring *ring)
{
    return ring->count == ring->capacity ? ring_grow(ring) : 0;
}

void *ring_push(struct ring *ring)
{
    if (ring->count == ring->capacity && ring_grow(ring) != 0)
        return NULL;
    ring->count++;
    return ring_at(ring, ring->count - 1);
}
