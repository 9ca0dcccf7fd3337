/* SPDX-License-Identifier: BSD-2-Clause */
/* Time limits of many streams: which is first, in constant time; one that moves, in logarithmic time. A binary heap. */
#ifndef REFERENCE_STACK_DEADLINES_H
#define REFERENCE_STACK_DEADLINES_H

#include <stddef.h>
#include <stdint.h>

/* One limit, inside what it limits. All zero: none yet. */
struct deadline {
    uint64_t when; /* ns */
    size_t place;  /* in the heap, from 1; 0: not there */
};

struct deadlines {
    struct deadline **heap; /* heap[0] is not used */
    size_t count, room;
    size_t members; /* those that may want a place at once */
};

/* A member more: it has its place reserved, so that deadlines_set() cannot fail. -1 when memory is short. */
int deadlines_join(struct deadlines *deadlines);

/* It goes; a limit that it has is dropped. */
void deadlines_leave(struct deadlines *deadlines, struct deadline *deadline);

/* Sets, moves or (with UINT64_MAX) drops the limit of a member. */
void deadlines_set(struct deadlines *deadlines, struct deadline *deadline, uint64_t when);

/* The first limit, or NULL. */
static inline struct deadline *deadlines_first(const struct deadlines *deadlines)
{
    return deadlines->count == 0 ? NULL : deadlines->heap[1];
}

void deadlines_free(struct deadlines *deadlines);

#endif
