/* SPDX-License-Identifier: BSD-2-Clause */
/* The two containers of a connection: octets in order, and the pieces that lie over them. Both only ever grow. */
#include <stdlib.h>
#include <string.h>

#include "generator/tcp/tcp_internal.h"

#define FIRST_OCTETS 4096u
#define FIRST_PIECES 16u

int tcp_queue_reserve(struct tcp_queue *queue, size_t count)
{
    size_t needed = queue->length + count;
    size_t capacity = queue->capacity != 0 ? queue->capacity : FIRST_OCTETS;
    uint8_t *octets;

    if (queue->head + needed <= queue->capacity)
        return 0;
    /* Moving everything down is worth it where at least half is free; what lies out of order after moves too. */
    if (needed <= queue->capacity && queue->head >= queue->capacity / 2) {
        memmove(queue->octets, queue->octets + queue->head, queue->capacity - queue->head);
        queue->head = 0;
        return 0;
    }
    while (capacity < queue->head + needed)
        capacity *= 2;
    octets = realloc(queue->octets, capacity);
    if (octets == NULL)
        return -1;
    queue->octets = octets;
    queue->capacity = capacity;
    return 0;
}

int tcp_queue_append(struct tcp_queue *queue, const uint8_t *octets, size_t count)
{
    if (count == 0)
        return 0;
    if (tcp_queue_reserve(queue, count) != 0)
        return -1;
    if (octets != NULL)
        memcpy(queue->octets + queue->head + queue->length, octets, count);
    else
        memset(queue->octets + queue->head + queue->length, 0, count);
    queue->length += count;
    return 0;
}

void tcp_queue_drop(struct tcp_queue *queue, size_t count)
{
    queue->head += count;
    queue->length -= count;
}

struct tcp_piece *tcp_ring_at(const struct tcp_ring *ring, size_t index)
{
    return &ring->pieces[(ring->first + index) & (ring->capacity - 1)];
}

struct tcp_piece *tcp_ring_push(struct tcp_ring *ring)
{
    struct tcp_piece *piece;

    if (ring->count == ring->capacity) {
        size_t capacity = ring->capacity != 0 ? ring->capacity * 2 : FIRST_PIECES;
        struct tcp_piece *pieces = malloc(capacity * sizeof(*pieces));

        if (pieces == NULL)
            return NULL;
        for (size_t i = 0; i < ring->count; i++)
            pieces[i] = *tcp_ring_at(ring, i);
        free(ring->pieces);
        ring->pieces = pieces;
        ring->first = 0;
        ring->capacity = capacity;
    }
    ring->count++;
    piece = tcp_ring_at(ring, ring->count - 1);
    memset(piece, 0, sizeof(*piece));
    return piece;
}

void tcp_ring_pop(struct tcp_ring *ring)
{
    ring->first = (ring->first + 1) & (ring->capacity - 1);
    ring->count--;
}
