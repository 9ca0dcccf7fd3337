/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/own_connections.h"

#include <stdlib.h>
#include <string.h>

#include "base/out_of_memory.h"

enum {
    FRAMES = 2048,       /* kept, the latest; a power of two */
    SLOTS_AT_FIRST = 64, /* of the table of connections; a power of two */
};

struct own_connections {
    struct own_frame frames[FRAMES];
    uint64_t count;  /* of frames so far: the next one goes to frames[count % FRAMES] */
    uint32_t *slots; /* own_port << 16 | dut_port; 0: free (no port is 0) */
    size_t room, used;
};

struct own_connections *own_connections_new(void)
{
    struct own_connections *own = calloc(1, sizeof(*own));

    if (own == NULL)
        return NULL;
    own->room = SLOTS_AT_FIRST;
    own->slots = calloc(own->room, sizeof(*own->slots));
    if (own->slots != NULL)
        return own;
    free(own);
    return NULL;
}

void own_connections_free(struct own_connections *own)
{
    if (own == NULL)
        return;
    free(own->slots);
    free(own);
}

void own_connections_begin(struct own_connections *own)
{
    own->count = 0;
    own->used = 0;
    memset(own->slots, 0, own->room * sizeof(*own->slots));
}

static uint32_t key_of(uint16_t own_port, uint16_t dut_port)
{
    return (uint32_t)own_port << 16 | dut_port;
}

/* Where the key stands, or where it belongs. */
static uint32_t *slot_of(uint32_t *slots, size_t room, uint32_t key)
{
    size_t at = key * UINT32_C(2654435761) & (room - 1);

    while (slots[at] != 0 && slots[at] != key)
        at = (at + 1) & (room - 1);
    return &slots[at];
}

bool own_connections_has(const struct own_connections *own, uint16_t own_port, uint16_t dut_port)
{
    uint32_t key = key_of(own_port, dut_port);

    return key != 0 && *slot_of(own->slots, own->room, key) == key;
}

static bool grow(struct own_connections *own)
{
    size_t room = own->room * 2;
    uint32_t *slots = calloc(room, sizeof(*slots));

    if (slots == NULL)
        return false;
    for (size_t i = 0; i < own->room; i++)
        if (own->slots[i] != 0)
            *slot_of(slots, room, own->slots[i]) = own->slots[i];
    free(own->slots);
    own->slots = slots;
    own->room = room;
    return true;
}

/* Without memory the connection's traffic is not judged, and the run's end says that memory was short. */
static void add(struct own_connections *own, uint32_t key)
{
    if (2 * (own->used + 1) > own->room && !grow(own)) {
        out_of_memory_note();
        return;
    }
    *slot_of(own->slots, own->room, key) = key;
    own->used++;
}

static bool tester_owns(const struct rig *rig, uint16_t own_port, uint16_t dut_port)
{
    for (const struct tester *tester = rig->testers; tester != NULL; tester = tester->next)
        if (tester->ops->owns != NULL && tester->ops->owns(tester, &rig->dut, own_port, dut_port))
            return true;
    return false;
}

static void keep(struct own_connections *own, const struct packet *packet, const struct own_frame *frame)
{
    bool carries = packet->payload_octets != 0 || (packet->flags & (TCP_FLAG_SYN | TCP_FLAG_FIN | TCP_FLAG_RST)) != 0;

    if (carries)
        own->frames[own->count++ % FRAMES] = *frame;
}

bool own_connections_frame(struct own_connections *own, const struct rig *rig, const struct packet *packet,
                           uint64_t frame, uint64_t time_ns)
{
    bool inbound = net_address_equal(&packet->destination, &rig->own);
    const struct net_address *peer = inbound ? &packet->source : &packet->destination;
    struct own_frame seen = {.frame = frame,
                             .time_ns = time_ns,
                             .sequence = packet->sequence,
                             .octets = (uint32_t)packet->payload_octets,
                             .own_port = inbound ? packet->destination_port : packet->source_port,
                             .dut_port = inbound ? packet->source_port : packet->destination_port,
                             .flags = packet->flags,
                             .from_dut = inbound};

    if (!inbound && !net_address_equal(&packet->source, &rig->own))
        return false;
    if (!net_address_equal(peer, &rig->dut) || key_of(seen.own_port, seen.dut_port) == 0)
        return true;
    if (!own_connections_has(own, seen.own_port, seen.dut_port)) {
        if (!tester_owns(rig, seen.own_port, seen.dut_port))
            return true;
        add(own, key_of(seen.own_port, seen.dut_port));
    }
    if (packet->tcp_checksum_ok || !inbound)
        keep(own, packet, &seen);
    return true;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static uint64_t oldest(const struct own_connections *own)
{
    return own->count > FRAMES ? own->count - FRAMES : 0;
}

static const struct own_frame *frame_at(const struct own_connections *own, uint64_t i)
{
    return &own->frames[i % FRAMES];
}

static bool is_of(const struct own_frame *frame, const struct last_seen *last_seen)
{
    return frame->own_port == last_seen->own_port && frame->dut_port == last_seen->dut_port;
}

static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

enum sender { SENDER_ANY, SENDER_DUT, SENDER_TESTER };

/* The last frame of the connection that `wanted` flags are set in (0: any). */
static const struct own_frame *find_last(const struct own_connections *own, const struct last_seen *last_seen,
                                         uint8_t wanted, enum sender sender)
{
    for (uint64_t i = own->count; i-- > oldest(own);) {
        const struct own_frame *frame = frame_at(own, i);

        if (frame->frame <= last_seen->latest && (last_seen->kind == LAST_SEEN_NONE || is_of(frame, last_seen)) &&
            (wanted == 0 || (frame->flags & wanted) != 0) &&
            (sender == SENDER_ANY || frame->from_dut == (sender == SENDER_DUT)))
            return frame;
    }
    return NULL;
}

/* The last octets of the tester until then. */
static const struct own_frame *find_before(const struct own_connections *own, uint64_t time_ns)
{
    for (uint64_t i = own->count; i-- > oldest(own);) {
        const struct own_frame *frame = frame_at(own, i);

        if (!frame->from_dut && frame->octets != 0 && frame->time_ns <= time_ns)
            return frame;
    }
    return NULL;
}

/*
 * Frames in the order of their arrival move `next`, the first octet that is missing: the one that moves it to the end
 * that is asked for, or beyond, completed the octets. What came after a gap counts when the gap is closed (RFC 9293
 * 3.10.7.4).
 */
static const struct own_frame *find_octets(const struct own_connections *own, const struct last_seen *last_seen)
{
    uint64_t first = oldest(own);
    uint32_t next = 0;
    bool known = false;

    for (uint64_t i = first; i < own->count; i++) {
        const struct own_frame *frame = frame_at(own, i);
        bool moved = true;

        if (!is_of(frame, last_seen) || !frame->from_dut)
            continue;
        if ((frame->flags & TCP_FLAG_SYN) != 0 || !known) {
            next = frame->sequence + ((frame->flags & TCP_FLAG_SYN) != 0);
            known = true;
            first = i;
        }
        while (moved) {
            moved = false;
            for (uint64_t j = first; j <= i; j++) {
                const struct own_frame *early = frame_at(own, j);
                uint32_t from = early->sequence + ((early->flags & TCP_FLAG_SYN) != 0);

                if (!is_of(early, last_seen) || !early->from_dut || is_before(next, from) ||
                    !is_before(next, from + early->octets))
                    continue;
                next = from + early->octets;
                moved = true;
            }
        }
        if (frame->octets != 0 && !is_before(next, last_seen->end))
            return frame;
    }
    return NULL;
}

const struct own_frame *own_connections_find(const struct own_connections *own, const struct last_seen *last_seen)
{
    const struct own_frame *found = NULL;

    switch (last_seen->kind) {
    case LAST_SEEN_OCTETS: found = find_octets(own, last_seen); break;
    case LAST_SEEN_FIN: found = find_last(own, last_seen, TCP_FLAG_FIN, SENDER_DUT); break;
    case LAST_SEEN_RESET: found = find_last(own, last_seen, TCP_FLAG_RST, SENDER_DUT); break;
    case LAST_SEEN_UPPER: found = find_last(own, last_seen, 0, SENDER_TESTER); break;
    case LAST_SEEN_DEATH: return find_before(own, last_seen->time_ns);
    case LAST_SEEN_NONE:
    case LAST_SEEN_SILENCE: break;
    }
    return found != NULL ? found : find_last(own, last_seen, 0, SENDER_ANY);
}
