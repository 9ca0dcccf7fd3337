/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/event/flow_removed.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/flow/event/flow_common.h"

enum {
    FIRST_ROOM = 1 << 10,
    ROOM_MAX = 1 << 21, /* slots, of which half are used: a million connections in 16 MiB */
};

enum removed_state {
    ENDED = 0, /* another connection has begun with that key */
    REMOVED = 1,
    COUNTED = 2,
    STATES = 3, /* the bits of a slot that hold it */
    USED = 4,   /* a slot is never 0 */
};

/* Of the key's 8-octet words, with the number that no sender knows. */
static uint64_t hash_of(const struct flow_common *common, const void *key, size_t octets)
{
    uint64_t hash = common->secret ^ octets;

    for (size_t at = 0; at < octets; at += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, (const uint8_t *)key + at, octets - at < sizeof(word) ? octets - at : sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return (hash & ~(uint64_t)STATES) | USED;
}

/* The slot of the hash, or the free one where it belongs. */
static uint64_t *slot_of(const struct flow_removed *removed, uint64_t hash)
{
    size_t at = (size_t)(hash >> 3) & (removed->room - 1);

    while (removed->slots[at] != 0 && (removed->slots[at] & ~(uint64_t)STATES) != hash)
        at = (at + 1) & (removed->room - 1);
    return &removed->slots[at];
}

/* Room for one more. */
static bool grow(struct flow_removed *removed)
{
    struct flow_removed grown = {.count = removed->count, .room = removed->room == 0 ? FIRST_ROOM : removed->room * 2};

    if (removed->count * 2 < removed->room)
        return true;
    if (removed->room >= ROOM_MAX || (grown.slots = calloc(grown.room, sizeof(*grown.slots))) == NULL)
        return false;
    for (size_t i = 0; i < removed->room; i++)
        if (removed->slots[i] != 0)
            *slot_of(&grown, removed->slots[i] & ~(uint64_t)STATES) = removed->slots[i];
    free(removed->slots);
    *removed = grown;
    return true;
}

/* The slot of the key, made if need be; NULL: there is no room. */
static uint64_t *slot_make(struct flow_common *common, const void *key, size_t octets)
{
    struct flow_removed *removed = &common->removed;
    uint64_t hash = hash_of(common, key, octets), *slot;

    if (!grow(removed))
        return NULL;
    slot = slot_of(removed, hash);
    if (*slot == 0) {
        *slot = hash;
        removed->count++;
    }
    return slot;
}

void flow_removed_note(struct flow_common *common, const void *key, size_t octets)
{
    uint64_t *slot = slot_make(common, key, octets);

    if (slot == NULL)
        common->totals.account.row[FLOW_ROW_EVICTED].items++;
    else if ((*slot & STATES) == ENDED)
        *slot |= REMOVED;
}

void flow_removed_count(struct flow_common *common, const void *key, size_t octets)
{
    uint64_t *slot = slot_make(common, key, octets);

    if (slot == NULL || (*slot & STATES) != COUNTED)
        common->totals.account.row[FLOW_ROW_EVICTED].items++;
    if (slot != NULL)
        *slot = (*slot & ~(uint64_t)STATES) | COUNTED;
}

bool flow_removed_returns(struct flow_common *common, const void *key, size_t octets, bool begins)
{
    struct flow_removed *removed = &common->removed;
    uint64_t *slot;

    if (removed->count == 0)
        return false;
    slot = slot_of(removed, hash_of(common, key, octets));
    if (*slot == 0)
        return false;
    if (begins)
        *slot &= ~(uint64_t)STATES;
    return (*slot & STATES) != ENDED;
}

void flow_removed_free(struct flow_removed *removed)
{
    free(removed->slots);
    memset(removed, 0, sizeof(*removed));
}
