/* SPDX-License-Identifier: BSD-2-Clause */
/* Associations, and what is held of them; bridge_sctp_change.c: what is changed; bridge_sctp_emit.c: how it goes. */
#include "conformance/engine/bridge/bridge_sctp.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "conformance/engine/bridge/bridge_sctp_emit.h"

int bridge_sctp_begin(struct bridge_sctp *sctp, struct bridge_streams *streams)
{
    sctp->streams = streams;
    sctp->chunks = malloc(BRIDGE_SCRATCH);
    return sctp->chunks != NULL ? 0 : -1;
}

static void drop_held(struct bridge_sctp_direction *direction)
{
    while (direction->held != NULL) {
        struct bridge_sctp_packet *gone = direction->held;

        direction->held = gone->next;
        free(gone);
    }
    direction->held_last = NULL;
    direction->held_octets = direction->held_frames = 0;
}

static void direction_free(struct bridge_sctp *sctp, struct bridge_sctp_direction *direction)
{
    bridge_sctp_go(sctp, direction);
    drop_held(direction);
    bridge_map_free(&direction->map);
    while (direction->changes != NULL) {
        struct bridge_chunk_change *gone = direction->changes;

        direction->changes = gone->next;
        free(gone);
    }
    *direction = (struct bridge_sctp_direction){.association = direction->association, .side = direction->side};
}

static void forget_sids(struct bridge_association *association)
{
    while (association->sids != NULL) {
        struct bridge_sid *sid = association->sids;

        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
        HASH_DEL(association->sids, sid);
        free(sid);
    }
    association->sid_count = 0;
}

/* It stands in sctp->all no more. */
static void association_free(struct bridge_sctp *sctp, struct bridge_association *association)
{
    for (unsigned side = 0; side < BRIDGE_SIDES; side++)
        direction_free(sctp, &association->direction[side]);
    forget_sids(association);
    sctp->count--;
    free(association);
}

static void remove_association(struct bridge_sctp *sctp, struct bridge_association *association)
{
    HASH_DEL(sctp->all, association);
    association_free(sctp, association);
}

void bridge_sctp_free(struct bridge_sctp *sctp)
{
    while (sctp->all != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
        remove_association(sctp, sctp->all);
    free(sctp->chunks);
}

/* ---- associations ------------------------------------------------------------------------------------------------ */

static struct bridge_association *association_of(struct bridge_sctp *sctp, unsigned side,
                                                 const struct bridge_packet *packet)
{
    struct bridge_key key = bridge_key_of(side, packet);
    struct bridge_association *association = NULL;

    HASH_FIND(hh, sctp->all, &key, sizeof(key), association);
    if (association != NULL) { /* to the end of the list */
        HASH_DEL(sctp->all, association);
    } else {
        if (sctp->count >= BRIDGE_ASSOCIATIONS_MOST)
            remove_association(sctp, sctp->all);
        association = calloc(1, sizeof(*association));
        if (association == NULL)
            return NULL;
        association->key = key;
        for (unsigned i = 0; i < BRIDGE_SIDES; i++) {
            association->direction[i].association = association;
            association->direction[i].side = i;
        }
        sctp->count++;
    }
    HASH_ADD(hh, sctp->all, key, sizeof(key), association);
    if (!hash_lost(association))
        return association;
    association_free(sctp, association);
    return NULL;
}

/* An INIT or INIT ACK begins a sender's numbers; one that is repeated does not. */
static void note_init(struct bridge_sctp *sctp, struct bridge_association *association, unsigned side,
                      const struct sctp_chunk *chunk)
{
    struct bridge_sctp_direction *direction = &association->direction[side];
    struct sctp_init init;

    if (sctp_init_parse(chunk, &init) != WIRE_OK || (direction->known && direction->tag == init.tag))
        return;
    if (chunk->type == SCTP_INIT) { /* another association of the same addresses and ports */
        direction_free(sctp, &association->direction[1 - side]);
        forget_sids(association);
        association->begun = true;
        association->closed = BRIDGE_OPEN;
    }
    direction_free(sctp, direction);
    direction->known = direction->has_acked = true;
    direction->tag = init.tag;
    direction->next = direction->acked = init.initial_tsn;
    direction->window = init.window;
}

struct bridge_association *bridge_sctp_input(struct bridge_sctp *sctp, unsigned side, const uint8_t *frame,
                                             size_t octets, const struct bridge_packet *packet)
{
    struct bridge_association *association = association_of(sctp, side, packet);
    struct bridge_chunks chunks = bridge_chunks_of(frame, packet);
    struct sctp_chunk first;

    sctp->association = association;
    if (association == NULL) {
        sctp->streams->lost_memory++;
        return NULL;
    }
    sctp->frame = frame;
    sctp->octets = octets;
    sctp->packet = *packet;
    if (sctp_chunk_parse(&chunks.at, chunks.end, &first) == WIRE_OK &&
        (first.type == SCTP_INIT || first.type == SCTP_INIT_ACK)) /* alone in a packet (RFC 9260 6.10) */
        note_init(sctp, association, side, &first);
    return association;
}

bool bridge_chunk_tsn(const struct sctp_chunk *chunk, uint32_t *tsn)
{
    struct sctp_data data;

    if ((chunk->type != SCTP_DATA && chunk->type != SCTP_IDATA) || sctp_data_parse(chunk, &data) != WIRE_OK)
        return false;
    *tsn = data.tsn;
    return true;
}

bool bridge_sctp_chunk(const struct bridge_sctp *sctp, uint32_t tsn, struct sctp_chunk *chunk)
{
    struct bridge_chunks chunks;
    uint32_t has;

    if (sctp->association == NULL)
        return false;
    chunks = bridge_chunks_of(sctp->frame, &sctp->packet);
    while (sctp_chunk_parse(&chunks.at, chunks.end, chunk) == WIRE_OK)
        if (bridge_chunk_tsn(chunk, &has) && has == tsn)
            return true;
    return false;
}

size_t bridge_sctp_room(const struct bridge_sctp *sctp, unsigned side)
{
    size_t headers = sctp->packet.payload - sctp->packet.ip, mtu = sctp->streams->mtu[1 - side];

    return mtu > headers ? mtu - headers : 0;
}

uint64_t bridge_sctp_session(struct bridge_sctp *sctp, struct bridge_association *association, uint16_t sid,
                             bool begins)
{
    struct bridge_sid *found = NULL;

    HASH_FIND(hh, association->sids, &sid, sizeof(sid), found);
    if (found == NULL) {
        found = calloc(1, sizeof(*found));
        if (found == NULL)
            return 0;
        found->sid = sid;
        HASH_ADD(hh, association->sids, sid, sizeof(sid), found);
        if (hash_lost(found)) {
            free(found);
            return 0;
        }
        begins = true;
    }
    if (begins)
        found->number = association->begun ? ++sctp->streams->engaged : 0;
    return found->number;
}

/* ---- what waits -------------------------------------------------------------------------------------------------- */

void bridge_sctp_wait(struct bridge_sctp *sctp, struct bridge_sctp_direction *direction, enum bridge_wait wait,
                      uint32_t tsn, uint64_t until_ns)
{
    if (direction->wait != BRIDGE_GOES)
        return;
    direction->wait = wait;
    direction->wait_at = tsn;
    direction->wait_until_ns = until_ns;
    DL_APPEND2(sctp->waiting, direction, prev, next_waiting);
}

void bridge_sctp_go(struct bridge_sctp *sctp, struct bridge_sctp_direction *direction)
{
    if (direction->wait != BRIDGE_GOES)
        DL_DELETE2(sctp->waiting, direction, prev, next_waiting);
    direction->wait = BRIDGE_GOES;
    direction->wait_owner = NULL;
    free(direction->swapped);
    direction->swapped = NULL;
}

/* The first chunk that has to wait; NULL: none has. */
static const uint8_t *first_waiting(const struct bridge_sctp_direction *direction, const uint8_t *frame,
                                    const struct bridge_packet *packet, uint32_t *tsn)
{
    struct bridge_chunks chunks = bridge_chunks_of(frame, packet);
    struct sctp_chunk chunk;

    while (sctp_chunk_parse(&chunks.at, chunks.end, &chunk) == WIRE_OK)
        if (bridge_chunk_tsn(&chunk, tsn) && !bridge_before(*tsn, direction->wait_at))
            return chunk.start;
    return NULL;
}

static bool is_held(const struct bridge_sctp_direction *direction, uint32_t tsn)
{
    uint32_t first;

    for (const struct bridge_sctp_packet *held = direction->held; held != NULL; held = held->next)
        if (first_waiting(direction, held->frame, &held->packet, &first) != NULL && first == tsn)
            return true;
    return false;
}

/* The header of the packet, and its chunks from `from` on. */
static void hold(struct bridge_sctp *sctp, struct bridge_sctp_direction *direction, const uint8_t *from, uint32_t tsn)
{
    const uint8_t *frame = sctp->frame, *end = frame + sctp->packet.end;
    size_t header = sctp->packet.payload, octets = header + (size_t)(end - from);
    struct bridge_sctp_packet *held;

    if (direction->held_octets + octets > BRIDGE_HELD_MOST || direction->held_frames == BRIDGE_HELD_FRAMES_MOST) {
        sctp->streams->refused++;
        return;
    }
    if (is_held(direction, tsn)) /* a retransmission */
        return;
    held = malloc(sizeof(*held) + octets);
    if (held == NULL) {
        sctp->streams->lost_memory++;
        return;
    }
    *held = (struct bridge_sctp_packet){.packet = sctp->packet, .octets = octets};
    held->packet.end = octets;
    memcpy(held->frame, frame, header);
    memcpy(held->frame + header, from, octets - header);
    if (direction->held_last != NULL)
        direction->held_last->next = held;
    else
        direction->held = held;
    direction->held_last = held;
    direction->held_octets += octets;
    direction->held_frames++;
}

static void send_held(struct bridge_sctp *sctp, struct bridge_association *association, unsigned side)
{
    struct bridge_sctp_direction *direction = &association->direction[side];

    for (const struct bridge_sctp_packet *held = direction->held; held != NULL; held = held->next)
        bridge_sctp_emit(sctp, association, side, held->frame, held->octets, &held->packet);
    drop_held(direction);
}

void bridge_sctp_flush(struct bridge_sctp *sctp, unsigned side)
{
    struct bridge_association *association = sctp->association;
    struct bridge_sctp_direction *direction = &association->direction[side];
    struct bridge_packet packet = sctp->packet;
    const uint8_t *from = NULL;
    uint32_t tsn = 0;

    if (association->closed != BRIDGE_OPEN) {
        drop_held(direction);
        bridge_sctp_answer(sctp, association, side, sctp->frame, &packet);
    } else {
        if (direction->wait == BRIDGE_GOES)
            send_held(sctp, association, side);
        else
            from = first_waiting(direction, sctp->frame, &packet, &tsn);
        if (from != NULL) {
            hold(sctp, direction, from, tsn);
            packet.end = (size_t)(from - sctp->frame);
        }
        if (packet.end > packet.payload)
            bridge_sctp_emit(sctp, association, side, sctp->frame, sctp->octets, &packet);
    }
    sctp->association = NULL;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static uint64_t direction_time(struct bridge_sctp *sctp, struct bridge_sctp_direction *direction)
{
    uint64_t now = sctp->streams->now_ns;

    sctp->streams->looked_at++;
    if (now < direction->wait_until_ns)
        return direction->wait_until_ns - now;
    if (direction->wait != BRIDGE_DELAYED) {
        struct bridge_expiry expiry = {direction->wait_stream, direction->side, direction->wait, direction->wait_owner};

        sctp->streams->expired(sctp->streams->user, &expiry);
    }
    bridge_sctp_go(sctp, direction);
    send_held(sctp, direction->association, direction->side);
    return UINT64_MAX;
}

uint64_t bridge_sctp_time(struct bridge_sctp *sctp, uint64_t now_ns)
{
    struct bridge_sctp_direction *direction, *next;
    uint64_t due = UINT64_MAX;

    sctp->streams->now_ns = now_ns;
    DL_FOREACH_SAFE2(sctp->waiting, direction, next, next_waiting)
    {
        uint64_t one = direction_time(sctp, direction);

        due = one < due ? one : due;
    }
    return due;
}

void bridge_sctp_release(struct bridge_sctp *sctp)
{
    struct bridge_sctp_direction *direction, *next;

    DL_FOREACH_SAFE2(sctp->waiting, direction, next, next_waiting)
    {
        if (direction->wait == BRIDGE_STALLED) {
            bridge_sctp_go(sctp, direction);
            send_held(sctp, direction->association, direction->side);
        }
    }
}
