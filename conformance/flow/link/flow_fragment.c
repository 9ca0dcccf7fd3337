/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP packets in fragments (RFC 791 3.2, RFC 8200 4.5). A packet is put together in one buffer, with a bit for each 8
 * octets that came. Fragments may come twice with the same content; where contents differ, and in IPv6 wherever
 * fragments overlap at all (RFC 5722), nobody knows what a receiver makes of the packet, and it is not judged.
 * Packets and their octets are bounded; the oldest go first.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/link/flow_link_internal.h"

enum {
    UNIT = 8,
    PACKET_MAX = 65535,
    UNITS = (PACKET_MAX + UNIT) / UNIT,
    PACKETS_HELD_MAX = 1024,
    UDP_OCTETS = 8,
    PROTOCOL_UDP = 17,
};

#define WAIT_NS (UINT64_C(1000000000) * FLOW_FRAGMENTS_SECONDS)

struct packet_key {
    uint8_t source[16], destination[16];
    uint32_t id;
    uint8_t family;
    uint8_t protocol; /* of IPv4 alone: RFC 791 names it, RFC 8200 does not */
    uint8_t zero[2];
    struct flow_tunnel tunnel;
};

struct packet {
    struct packet_key key;
    struct packet *newer, *older;
    UT_hash_handle hh;
    uint64_t first_ns;
    uint64_t frames, frame_octets;
    unsigned protocol;    /* what the first fragment says that it carries */
    size_t total;         /* octets of the whole packet; 0: its last fragment has not come */
    size_t units;         /* that came */
    size_t extent;        /* end of the fragment that reaches furthest */
    size_t payload;       /* octets captured in fragments that were kept */
    size_t cut;           /* from this octet on the capture has not everything */
    bool whole;           /* it was given on; kept because fragments may come again */
    enum flow_row failed; /* FLOW_ROWS: it may become whole yet; else what further fragments are counted in */
    uint8_t *octets;
    size_t room;
    uint8_t seen[UNITS / 8 + 1];
};

struct fragment_store {
    struct flow_common *common;
    struct packet *packets, *oldest;
    size_t count, octets;
};

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static void release_octets(struct fragment_store *store, struct packet *packet)
{
    store->octets -= packet->room;
    free(packet->octets);
    packet->octets = NULL;
    packet->room = 0;
}

/* Foreign UDP is known by its first fragment. */
static enum flow_row row_of(const struct packet *packet, enum flow_row row)
{
    size_t units = 0, captured;

    if (packet->protocol != PROTOCOL_UDP || packet->octets == NULL)
        return row;
    while (units < UNITS && (packet->seen[units / 8] >> units % 8 & 1) != 0)
        units++;
    captured = units * UNIT < packet->cut ? units * UNIT : packet->cut;
    if (captured < UDP_OCTETS)
        return row;
    return flow_udp_row(packet->octets, captured, packet->total != 0 ? packet->total : PACKET_MAX) == FLOW_ROW_UDP
               ? FLOW_ROW_UDP
               : row;
}

/* Counts what is held of a packet that will not become whole. */
static void count_frames(struct fragment_store *store, struct packet *packet, enum flow_row row)
{
    flow_account_count(&store->common->totals.account, row_of(packet, row), packet->frames, packet->frame_octets);
    packet->frames = packet->frame_octets = 0;
}

static void drop(struct fragment_store *store, struct packet *packet, enum flow_row row)
{
    if (!packet->whole && packet->failed == FLOW_ROWS)
        count_frames(store, packet, row);
    release_octets(store, packet);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): uthash: what is in the table has its neighbours */
    HASH_DEL(store->packets, packet);
    DL_DELETE2(store->oldest, packet, older, newer);
    store->count--;
    free(packet);
}

/* The packet stays as a mark for the fragments of it that are still to come. */
static void fail(struct fragment_store *store, struct packet *packet, enum flow_row row)
{
    row = row_of(packet, row);
    count_frames(store, packet, row);
    packet->failed = row;
    release_octets(store, packet);
}

void flow_fragments_time(struct fragment_store *store)
{
    while (store->oldest != NULL && flow_age_ns(store->common, store->oldest->first_ns) > WAIT_NS)
        drop(store, store->oldest, FLOW_ROW_FRAGMENT_LOST);
}

static void make_room(struct fragment_store *store)
{
    flow_fragments_time(store);
    while (store->oldest != NULL && (store->count >= PACKETS_HELD_MAX || store->octets >= FLOW_FRAGMENTS_MAX))
        drop(store, store->oldest, FLOW_ROW_FRAGMENT_ROOM);
}

static struct packet *make(struct fragment_store *store, const struct packet_key *key)
{
    struct packet *packet;

    make_room(store);
    packet = calloc(1, sizeof(*packet));
    if (packet == NULL)
        return NULL;
    packet->key = *key;
    packet->first_ns = store->common->now_ns;
    packet->failed = FLOW_ROWS;
    packet->cut = SIZE_MAX;
    HASH_ADD(hh, store->packets, key, sizeof(packet->key), packet);
    if (hash_lost(packet)) {
        free(packet);
        return NULL;
    }
    DL_APPEND2(store->oldest, packet, older, newer);
    store->count++;
    return packet;
}

static struct packet *find(struct fragment_store *store, const struct packet_key *key)
{
    struct packet *packet;

    HASH_FIND(hh, store->packets, key, sizeof(*key), packet);
    return packet;
}

static void set_key(struct packet_key *key, const struct flow_layers *layers)
{
    const struct flow_datagram *datagram = &layers->datagram;
    size_t octets = datagram->family == 4 ? 4 : 16;

    memset(key, 0, sizeof(*key));
    memcpy(key->source, datagram->source, octets);
    memcpy(key->destination, datagram->destination, octets);
    key->id = layers->fragment.id;
    key->family = datagram->family;
    key->protocol = datagram->family == 4 ? layers->fragment.protocol : 0;
    key->tunnel = layers->tunnel;
}

/* ---- one fragment ------------------------------------------------------------------------------------------------ */

static bool unit_seen(const struct packet *packet, size_t unit)
{
    return (packet->seen[unit / 8] >> unit % 8 & 1) != 0;
}

/* How the fragment meets what is held. */
enum meeting { MEETS_NOTHING, MEETS_SOME, MEETS_ALL, MEETS_OTHERS };

static enum meeting meet(const struct packet *packet, const struct flow_fragment *fragment)
{
    bool compare = packet->cut == SIZE_MAX && fragment->captured == fragment->length;
    size_t met = 0, units = (fragment->length + UNIT - 1) / UNIT;

    for (size_t i = 0; i < units; i++) {
        size_t at = i * UNIT, left = fragment->length - at < UNIT ? fragment->length - at : UNIT;

        if (!unit_seen(packet, fragment->offset / UNIT + i))
            continue;
        met++;
        if (compare && (fragment->offset + at + left > packet->room ||
                        memcmp(packet->octets + fragment->offset + at, fragment->octets + at, left) != 0))
            return MEETS_OTHERS;
    }
    return met == 0 ? MEETS_NOTHING : met == units ? MEETS_ALL : MEETS_SOME;
}

/* Whether the fragment's end agrees with the ends that are known. */
static bool end_agrees(const struct packet *packet, const struct flow_fragment *fragment)
{
    size_t end = fragment->offset + fragment->length;

    if (packet->total != 0)
        return fragment->more ? end <= packet->total : end == packet->total;
    return fragment->more || packet->extent <= end;
}

static bool reserve(struct fragment_store *store, struct packet *packet, size_t octets)
{
    size_t room = packet->room == 0 ? 4096 : packet->room;
    uint8_t *grown;

    if (octets <= packet->room)
        return true;
    while (room < octets)
        room *= 2;
    grown = realloc(packet->octets, room);
    if (grown == NULL)
        return false;
    memset(grown + packet->room, 0, room - packet->room);
    store->octets += room - packet->room;
    packet->octets = grown;
    packet->room = room;
    return true;
}

static void store_fragment(struct packet *packet, const struct flow_fragment *fragment)
{
    size_t units = (fragment->length + UNIT - 1) / UNIT;

    memcpy(packet->octets + fragment->offset, fragment->octets, fragment->captured);
    if (fragment->captured < fragment->length) {
        memset(packet->octets + fragment->offset + fragment->captured, 0, fragment->length - fragment->captured);
        if (fragment->offset + fragment->captured < packet->cut)
            packet->cut = fragment->offset + fragment->captured;
    }
    for (size_t i = fragment->offset / UNIT; i < fragment->offset / UNIT + units; i++) {
        packet->units += !unit_seen(packet, i);
        packet->seen[i / 8] |= (uint8_t)(1u << i % 8);
    }
    packet->payload += fragment->captured;
    if (fragment->offset + fragment->length > packet->extent)
        packet->extent = fragment->offset + fragment->length;
    if (fragment->offset == 0)
        packet->protocol = fragment->protocol;
    if (!fragment->more)
        packet->total = fragment->offset + fragment->length;
}

static void note_repeated(struct fragment_store *store, const struct flow_fragment *fragment,
                          const struct flow_carrier_frames *carrier)
{
    struct flow_account *account = &store->common->totals.account;

    account->row[FLOW_ROW_HEADERS].octets += carrier->octets - fragment->captured;
    flow_account_count(account, FLOW_ROW_AGAIN, carrier->frames, fragment->captured);
}

/*
 * All of it is there: the packet goes on as if it had come in one frame. Octets after the first that the capture cut
 * are of no use, and what overlapped counts once.
 */
static enum flow_protocol finish_packet(struct fragment_store *store, struct packet *packet, struct flow_layers *layers,
                                        struct flow_carrier_frames *carrier)
{
    size_t captured = packet->cut < packet->total ? packet->cut : packet->total;
    uint64_t excess = packet->payload - captured;
    struct flow_rest rest = {packet->octets, captured, packet->total};
    struct flow_layers above = {.datagram = layers->datagram, .depth = layers->depth, .tunnel = layers->tunnel};
    enum flow_protocol protocol;

    flow_account_count(&store->common->totals.account,
                       packet->cut < packet->total ? FLOW_ROW_FRAGMENT_CUT : FLOW_ROW_AGAIN, 0, excess);
    packet->whole = true;
    above.datagram.ip = NULL; /* the header of one fragment is not that of the packet */
    above.datagram.ip_octets += packet->total - layers->fragment.length;
    above.datagram.put_together = true;
    protocol = flow_ip_payload(&rest, packet->protocol, &above);
    if (protocol ==
        FLOW_PROTOCOL_FRAGMENT) { /* a second Fragment header; a fragment in a tunnel that came in fragments itself */
        protocol = FLOW_PROTOCOL_NONE;
        above.row = above.depth == layers->depth ? FLOW_ROW_IP_HEADER : FLOW_ROW_TUNNEL;
    }
    *layers = above;
    carrier->frames = packet->frames;
    carrier->octets = packet->frame_octets - excess;
    return protocol;
}

static enum flow_protocol add(struct fragment_store *store, struct packet *packet, struct flow_layers *layers,
                              struct flow_carrier_frames *carrier)
{
    const struct flow_fragment *fragment = &layers->fragment;
    enum meeting meeting = meet(packet, fragment);

    if (meeting == MEETS_ALL) {
        note_repeated(store, fragment, carrier);
        return FLOW_PROTOCOL_FRAGMENT;
    }
    packet->frames += carrier->frames;
    packet->frame_octets += carrier->octets;
    if (meeting == MEETS_OTHERS || (meeting == MEETS_SOME && packet->key.family == 6) || !end_agrees(packet, fragment))
        fail(store, packet, FLOW_ROW_FRAGMENT_OVERLAP);
    else if (!reserve(store, packet, fragment->offset + fragment->length))
        fail(store, packet, FLOW_ROW_MEMORY);
    else
        store_fragment(packet, fragment);
    if (packet->failed == FLOW_ROWS && packet->total != 0 && packet->units == (packet->total + UNIT - 1) / UNIT)
        return finish_packet(store, packet, layers, carrier);
    return FLOW_PROTOCOL_FRAGMENT;
}

/* The packet that the fragment is of, a new one if need be. NULL: the fragment is counted in *row. */
static struct packet *packet_of(struct fragment_store *store, const struct flow_layers *layers, enum flow_row *row)
{
    struct packet_key key;
    struct packet *packet;

    *row = FLOW_ROW_MEMORY;
    set_key(&key, layers);
    packet = find(store, &key);
    if (packet != NULL && packet->whole && meet(packet, &layers->fragment) != MEETS_ALL) {
        drop(store, packet, FLOW_ROWS); /* the identification is used again */
        packet = NULL;
    }
    if (packet != NULL && packet->failed != FLOW_ROWS) {
        *row = packet->failed;
        return NULL;
    }
    return packet != NULL ? packet : make(store, &key);
}

enum flow_protocol flow_fragment_packet(struct fragment_store *store, struct flow_layers *layers,
                                        struct flow_carrier_frames *carrier)
{
    const struct flow_fragment *fragment = &layers->fragment;
    enum flow_row row = FLOW_ROW_FRAGMENT_LENGTH;
    struct packet *packet = NULL;

    store->common->totals.fragments += carrier->frames;
    if (fragment->length != 0 && (!fragment->more || fragment->length % UNIT == 0) &&
        fragment->offset + fragment->length <= PACKET_MAX)
        packet = packet_of(store, layers, &row);
    if (packet != NULL)
        return add(store, packet, layers, carrier);
    flow_account_count(&store->common->totals.account, row, carrier->frames, carrier->octets);
    return FLOW_PROTOCOL_FRAGMENT;
}

struct fragment_store *flow_fragments_new(struct flow_common *common)
{
    struct fragment_store *store = calloc(1, sizeof(*store));

    if (store != NULL)
        store->common = common;
    return store;
}

void flow_fragments_finish(struct fragment_store *store)
{
    while (store->oldest != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): drop() takes it off the list */
        drop(store, store->oldest, FLOW_ROW_FRAGMENT_LOST);
}

void flow_fragments_free(struct fragment_store *store)
{
    if (store != NULL)
        flow_fragments_finish(store);
    free(store);
}
