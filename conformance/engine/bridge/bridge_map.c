/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_map.h"

#include <stdlib.h>
#include <string.h>

static uint32_t end_of(const struct bridge_change *change)
{
    return change->at + change->replaced + change->removed;
}

/* By so much numbers after it have moved. */
static uint32_t moves(const struct bridge_change *change)
{
    return change->inserted - change->removed;
}

void bridge_map_free(struct bridge_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        free(map->changes[i].octets);
    free(map->changes);
    *map = (struct bridge_map){0};
}

/* Where it belongs; SIZE_MAX: it overlaps another one. */
static size_t place_of(const struct bridge_map *map, uint32_t at, uint32_t end)
{
    size_t i = 0;

    while (i < map->count && bridge_before(map->changes[i].at, at))
        i++;
    if (i > 0 && bridge_before(at, end_of(&map->changes[i - 1])))
        return SIZE_MAX;
    if (i < map->count && (map->changes[i].at == at || bridge_before(map->changes[i].at, end)))
        return SIZE_MAX;
    return i;
}

int bridge_map_replace(struct bridge_map *map, uint32_t at, uint32_t end, const uint8_t *octets, size_t count)
{
    uint32_t old = end - at;
    struct bridge_change change = {.at = at};
    struct bridge_change *more;
    size_t place;

    if (map->has_acked && (map->count == BRIDGE_CHANGES_MOST || count > BRIDGE_CHANGE_OCTETS_MOST - map->octets))
        bridge_map_forget(map, map->acked);
    place = place_of(map, at, end);
    if (place == SIZE_MAX || map->count == BRIDGE_CHANGES_MOST || count > BRIDGE_CHANGE_OCTETS_MOST - map->octets)
        return -1;
    change.inserted = count > old ? (uint32_t)count - old : 0;
    change.replaced = count > old ? old : (uint32_t)count;
    change.removed = old - change.replaced;
    change.octets = malloc(count + 1);
    more = realloc(map->changes, (map->count + 1) * sizeof(*more));
    if (more != NULL)
        map->changes = more;
    if (change.octets == NULL || more == NULL) {
        free(change.octets);
        return -1;
    }
    if (count != 0)
        memcpy(change.octets, octets, count);
    memmove(&map->changes[place + 1], &map->changes[place], (map->count - place) * sizeof(change));
    map->changes[place] = change;
    map->count++;
    map->octets += count;
    return 0;
}

uint32_t bridge_map_out(const struct bridge_map *map, uint32_t in)
{
    uint32_t moved = map->moved;

    for (size_t i = 0; i < map->count && bridge_before(map->changes[i].at, in); i++) {
        const struct bridge_change *change = &map->changes[i];
        uint32_t inside = in - change->at - change->replaced;

        if (bridge_before(in, end_of(change)))
            return in + moved + change->inserted - ((int32_t)inside > 0 ? inside : 0);
        moved += moves(change);
    }
    return in + moved;
}

uint32_t bridge_map_in(const struct bridge_map *map, uint32_t out)
{
    uint32_t moved = map->moved;

    for (size_t i = 0; i < map->count; i++) {
        const struct bridge_change *change = &map->changes[i];

        if (bridge_before(out, change->at + moved))
            break;
        if (change->inserted != 0 && !bridge_before(change->at + moved + change->inserted, out))
            return change->at; /* within what is inserted: the octet after it is not there yet */
        if (change->inserted == 0 && bridge_before(out, change->at + moved + change->replaced))
            break;
        moved += moves(change);
    }
    return out - moved;
}

uint32_t bridge_map_in_from(const struct bridge_map *map, uint32_t out)
{
    uint32_t in = bridge_map_in(map, out);

    return bridge_before(bridge_map_out(map, in), out) ? in + 1 : in;
}

/* What is copied, and how far. */
struct copying {
    const uint8_t *octets; /* of the first octet */
    uint32_t at, end;
    uint8_t *out;
    size_t used;
};

static void put(struct copying *copying, const uint8_t *octets, size_t count)
{
    if (copying->out != NULL && count != 0)
        memcpy(copying->out + copying->used, octets, count);
    copying->used += count;
}

/* Octets that are not changed, up to `to`. */
static void put_same(struct copying *copying, uint32_t to)
{
    if (bridge_before(copying->end, to))
        to = copying->end;
    if (!bridge_before(copying->at, to))
        return;
    put(copying, copying->octets, to - copying->at);
    copying->octets += to - copying->at;
    copying->at = to;
}

static void put_change(struct copying *copying, const struct bridge_change *change)
{
    uint32_t end = end_of(change), replaced = change->at + change->replaced, to;

    if (copying->at == change->at && copying->at != copying->end)
        put(copying, change->octets, change->inserted);
    to = bridge_before(copying->end, replaced) ? copying->end : replaced;
    if (bridge_before(copying->at, to))
        put(copying, change->octets + change->inserted + (copying->at - change->at), to - copying->at);
    to = bridge_before(copying->end, end) ? copying->end : end;
    if (bridge_before(copying->at, to)) {
        copying->octets += to - copying->at;
        copying->at = to;
    }
}

size_t bridge_map_copy(const struct bridge_map *map, uint32_t at, const uint8_t *octets, size_t count, uint8_t *out)
{
    struct copying copying = {.octets = octets, .at = at, .end = at + (uint32_t)count, .out = out};

    for (size_t i = 0; i < map->count && copying.at != copying.end; i++) {
        if (bridge_before(end_of(&map->changes[i]), copying.at) ||
            (end_of(&map->changes[i]) == copying.at && map->changes[i].at != copying.at))
            continue;
        put_same(&copying, map->changes[i].at);
        if (copying.at != copying.end)
            put_change(&copying, &map->changes[i]);
    }
    put_same(&copying, copying.end);
    return copying.used;
}

void bridge_map_forget(struct bridge_map *map, uint32_t in)
{
    size_t gone = 0;

    while (gone < map->count && !bridge_before(in, end_of(&map->changes[gone])) && map->changes[gone].at != in) {
        map->moved += moves(&map->changes[gone]);
        map->octets -= map->changes[gone].inserted + map->changes[gone].replaced;
        free(map->changes[gone].octets);
        gone++;
    }
    map->count -= gone;
    if (gone != 0)
        memmove(map->changes, map->changes + gone, map->count * sizeof(*map->changes));
}

void bridge_map_acknowledge(struct bridge_map *map, uint32_t in, uint32_t kept)
{
    map->acked = in;
    map->has_acked = true;
    bridge_map_forget(map, in - kept);
}
