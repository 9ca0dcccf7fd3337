/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/splitmix.h"

static size_t page_octets(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Pages that hold `count` octets, at least one. */
static size_t room_for(size_t count)
{
    size_t page = page_octets();

    return (count / page + 1) * page;
}

uint8_t *guard_place(const uint8_t *octets, size_t count)
{
    size_t room = room_for(count);
    uint8_t *map = mmap(NULL, room + page_octets(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED || count > GUARD_OCTETS_MAX || mprotect(map + room, page_octets(), PROT_NONE) != 0)
        abort();
    if (octets != NULL && count != 0)
        memcpy(map + room - count, octets, count);
    return map + room - count;
}

void guard_free(uint8_t *octets, size_t count)
{
    size_t room = room_for(count);

    if (munmap(octets + count - room, room + page_octets()) != 0)
        abort();
}

uint64_t noise(uint64_t *state)
{
    return splitmix_next(state);
}

void noise_fill(uint64_t *state, uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)noise(state);
}
