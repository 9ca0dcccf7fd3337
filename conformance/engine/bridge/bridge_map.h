/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a bridge changed in one direction of a TCP connection: the octets that the sender sent (`in`), and those that the
 * receiver gets (`out`). Changes of length move all sequence numbers after them, for the rest of the connection; numbers
 * are compared modulo 2^32 (RFC 9293 3.4). The same range gives the same octets each time, so that a retransmission has
 * the same change, however it is cut into segments.
 *
 * Pure: no I/O. All numbers are those of the wire, in host order.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_MAP_H
#define CONFORMANCE_ENGINE_BRIDGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BRIDGE_CHANGES_MOST = 256,           /* that wait for their acknowledgment */
    BRIDGE_CHANGE_OCTETS_MOST = 1 << 20, /* of all their new octets */
};

/* Before the octet at `at` stand `inserted` others; the `replaced` octets from it on are others; then `removed` go. */
struct bridge_change {
    uint32_t at, inserted, replaced, removed;
    uint8_t *octets; /* inserted and replaced ones */
};

struct bridge_map {
    uint32_t moved;                /* by the changes that were forgotten: out less in */
    struct bridge_change *changes; /* by `at`; they do not overlap */
    size_t count;
    size_t octets;  /* of all their octets */
    uint32_t acked; /* if `has_acked`: changes before it go when there is no room */
    bool has_acked;
};

/* Begins as {0}: out is in. */
void bridge_map_free(struct bridge_map *map);

/*
 * The octets from `at` up to `end` become `count` others (a copy is kept), which may be none. -1: they overlap an older
 * change, there are too many of them, or memory is short; nothing has changed then.
 */
int bridge_map_replace(struct bridge_map *map, uint32_t at, uint32_t end, const uint8_t *octets, size_t count);

/* Where the octet at `in` is in what the receiver gets; what is inserted before it stands there first. */
uint32_t bridge_map_out(const struct bridge_map *map, uint32_t in);

/* The last octet of `in` before which the receiver has everything, when it has everything before `out`. */
uint32_t bridge_map_in(const struct bridge_map *map, uint32_t out);

/* The first octet of `in` that lies wholly at or after `out`: the left edge of a SACK block. */
uint32_t bridge_map_in_from(const struct bridge_map *map, uint32_t out);

/*
 * Writes what becomes of `count` octets from `at` on, which stand at `octets`; returns how many that are. With `out` NULL
 * they are counted alone. Never more than `count` and BRIDGE_CHANGE_OCTETS_MOST.
 */
size_t bridge_map_copy(const struct bridge_map *map, uint32_t at, const uint8_t *octets, size_t count, uint8_t *out);

/* What ends before `in` goes: retransmissions of it would come unchanged, and with the number that what follows has. */
void bridge_map_forget(struct bridge_map *map, uint32_t in);

/*
 * The receiver has everything before `in`. What its sender repeats of it, as the acknowledgment has crossed it or was lost, is changed as before:
 * changes stay for `kept` numbers more, or until there is no room for others.
 */
void bridge_map_acknowledge(struct bridge_map *map, uint32_t in, uint32_t kept);

/* a before b, modulo 2^32. */
static inline bool bridge_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

#endif
