/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/base/deadlines.h"

#include <stdlib.h>

enum { ROOM_FIRST = 16 };

int deadlines_join(struct deadlines *deadlines)
{
    if (deadlines->members + 1 >= deadlines->room) {
        size_t room = deadlines->room == 0 ? ROOM_FIRST : deadlines->room * 2;
        struct deadline **heap = realloc(deadlines->heap, room * sizeof(*heap));

        if (heap == NULL)
            return -1;
        deadlines->heap = heap;
        deadlines->room = room;
    }
    deadlines->members++;
    return 0;
}

static void place_at(struct deadlines *deadlines, size_t place, struct deadline *deadline)
{
    deadlines->heap[place] = deadline;
    deadline->place = place;
}

static void rise(struct deadlines *deadlines, size_t place, struct deadline *deadline)
{
    for (; place > 1 && deadlines->heap[place / 2]->when > deadline->when; place /= 2)
        place_at(deadlines, place, deadlines->heap[place / 2]);
    place_at(deadlines, place, deadline);
}

static void sink(struct deadlines *deadlines, size_t place, struct deadline *deadline)
{
    for (;;) {
        size_t child = place * 2;

        if (child < deadlines->count && deadlines->heap[child + 1]->when < deadlines->heap[child]->when)
            child++;
        if (child > deadlines->count || deadlines->heap[child]->when >= deadline->when)
            break;
        place_at(deadlines, place, deadlines->heap[child]);
        place = child;
    }
    place_at(deadlines, place, deadline);
}

static void drop(struct deadlines *deadlines, struct deadline *deadline)
{
    size_t place = deadline->place;
    struct deadline *last = deadlines->heap[deadlines->count--];

    deadline->place = 0;
    if (last == deadline)
        return;
    if (place > 1 && deadlines->heap[place / 2]->when > last->when)
        rise(deadlines, place, last);
    else
        sink(deadlines, place, last);
}

void deadlines_set(struct deadlines *deadlines, struct deadline *deadline, uint64_t when)
{
    uint64_t before = deadline->when;

    if (deadline->place != 0 ? when == before : when == UINT64_MAX)
        return;
    deadline->when = when;
    if (deadline->place == 0)
        rise(deadlines, ++deadlines->count, deadline);
    else if (when == UINT64_MAX)
        drop(deadlines, deadline);
    else if (when < before)
        rise(deadlines, deadline->place, deadline);
    else
        sink(deadlines, deadline->place, deadline);
}

void deadlines_leave(struct deadlines *deadlines, struct deadline *deadline)
{
    deadlines_set(deadlines, deadline, UINT64_MAX);
    deadlines->members--;
}

void deadlines_free(struct deadlines *deadlines)
{
    free(deadlines->heap);
    deadlines->heap = NULL;
    deadlines->count = deadlines->room = deadlines->members = 0;
}
