/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_sctp_emit.h"

#include <string.h>

#include "base/octets.h"
#include "conformance/engine/bridge/bridge_sctp_change.h"
#include "generator/packet/packet.h"

enum {
    TSN_AT = 4, /* of DATA, SACK, SHUTDOWN, FORWARD TSN, ECNE and CWR */
    SACK_WINDOW_AT = 8,
    SACK_GAPS_AT = 12,
    SACK_DUPLICATES_AT = 14,
    SACK_OCTETS = 16,
    DUPLICATE_OCTETS = 4,
};

/* ---- packets ----------------------------------------------------------------------------------------------------- */

/* A packet that is being made, in sctp->chunks. */
struct making {
    struct bridge_sctp *sctp;
    const uint8_t *frame; /* that came */
    struct bridge_packet packet;
    unsigned to;
    size_t used, room; /* octets of chunks */
    bool keeps_crc;
    struct bridge_flip flips[BRIDGE_FLIPS_MOST];
    size_t flip_count;
};

static void send_made(struct making *making)
{
    struct bridge_packet *packet = &making->packet;
    struct bridge_streams *streams = making->sctp->streams;
    uint8_t *out = making->sctp->chunks, *ip = out + packet->ip;

    if (making->used == 0)
        return;
    memcpy(out, making->frame, packet->payload);
    packet->source = ip + (packet->family == 4 ? 12 : 8);
    packet->destination = ip + (packet->family == 4 ? 16 : 24);
    packet->end = packet->payload + making->used;
    bridge_packet_mend(out, packet);
    if (making->keeps_crc)
        memcpy(out + packet->transport + SCTP_CHECKSUM_AT, making->frame + packet->transport + SCTP_CHECKSUM_AT, 4);
    for (size_t i = 0; i < making->flip_count; i++)
        out[making->flips[i].at] ^= making->flips[i].mask;
    if (making->keeps_crc || making->flip_count != 0)
        bridge_packet_mend_udp(out, packet);
    streams->damaged = sctp_common_get_Checksum(out + packet->transport) !=
                       sctp_checksum(out + packet->transport, packet->end - packet->transport);
    streams->send(streams->user, making->to, out, packet->end, true);
    streams->damaged = false;
    making->used = making->flip_count = 0;
    making->keeps_crc = false;
}

static size_t padded(size_t octets)
{
    return (octets + 3) & ~(size_t)3;
}

/* Where the chunk is now. */
static uint8_t *add_chunk(struct making *making, const uint8_t *chunk, size_t octets)
{
    uint8_t *at;

    if (making->used != 0 && making->used + padded(octets) > making->room)
        send_made(making);
    at = making->sctp->chunks + making->packet.payload + making->used;
    memcpy(at, chunk, octets);
    memset(at + octets, 0, padded(octets) - octets);
    making->used += padded(octets);
    return at;
}

static struct making begin_packet(struct bridge_sctp *sctp, unsigned to, const uint8_t *frame,
                                  const struct bridge_packet *packet)
{
    size_t headers = packet->payload - packet->ip, mtu = sctp->streams->mtu[to];

    return (struct making){
        .sctp = sctp, .frame = frame, .packet = *packet, .to = to, .room = mtu > headers ? mtu - headers : 0};
}

/* ---- acknowledgments --------------------------------------------------------------------------------------------- */

/* The receiver has everything before `next`, in its own numbers. */
static void note_acked(struct bridge_association *association, unsigned side, uint32_t next)
{
    struct bridge_sctp_direction *other = &association->direction[1 - side];
    uint32_t in = bridge_map_in(&other->map, next);

    if (!other->known || bridge_before(other->next, in) || (other->has_acked && bridge_before(next, other->acked)))
        return;
    other->has_acked = true;
    other->acked = next;
    bridge_map_acknowledge(&other->map, in, BRIDGE_KEPT_CHUNKS);
    bridge_chunk_changes_acknowledge(other, in);
}

/* One Gap Ack Block; false: nothing is left of it. */
static bool translate_block(uint8_t *block, uint32_t cumulative, uint32_t cumulative_in, const struct bridge_map *map)
{
    uint32_t from = bridge_map_in_from(map, cumulative + octets_get16(block)) - cumulative_in;
    uint32_t to = bridge_map_in(map, cumulative + octets_get16(block + 2) + 1) - 1 - cumulative_in;

    if (from == 0 || from > UINT16_MAX || to > UINT16_MAX || to < from)
        return false;
    octets_put16(block, from);
    octets_put16(block + 2, to);
    return true;
}

/* A SACK in the numbers of the sender of what it acknowledges (RFC 9260 3.3.4). Its new length. */
static size_t translate_sack(uint8_t *sack, size_t octets, const struct bridge_map *map)
{
    uint32_t cumulative = octets_get32(sack + TSN_AT), in = bridge_map_in(map, cumulative + 1) - 1;
    size_t gaps = octets_get16(sack + SACK_GAPS_AT), duplicates = octets_get16(sack + SACK_DUPLICATES_AT), kept = 0;
    uint8_t *after = sack + SACK_OCTETS + gaps * SCTP_GAP_BLOCK_OCTETS, *end;

    octets_put32(sack + TSN_AT, in);
    if (octets < SACK_OCTETS + gaps * SCTP_GAP_BLOCK_OCTETS + duplicates * DUPLICATE_OCTETS)
        return octets;
    for (size_t i = 0; i < gaps; i++) {
        uint8_t block[SCTP_GAP_BLOCK_OCTETS];

        memcpy(block, sack + SACK_OCTETS + i * SCTP_GAP_BLOCK_OCTETS, sizeof(block));
        if (translate_block(block, cumulative, in, map))
            memcpy(sack + SACK_OCTETS + kept++ * SCTP_GAP_BLOCK_OCTETS, block, sizeof(block));
    }
    end = sack + SACK_OCTETS + kept * SCTP_GAP_BLOCK_OCTETS;
    memmove(end, after, duplicates * DUPLICATE_OCTETS);
    for (size_t i = 0; i < duplicates; i++, end += DUPLICATE_OCTETS)
        octets_put32(end, bridge_map_in(map, octets_get32(end)));
    octets_put16(sack + SACK_GAPS_AT, (unsigned)kept);
    octets_put16(sack + 2, (unsigned)(end - sack));
    return (size_t)(end - sack);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static void add_changed(struct making *making, struct bridge_sctp_direction *direction,
                        const struct bridge_chunk_change *change)
{
    const uint8_t *p = change->chunks, *end = p + change->octets;
    uint32_t tsn = bridge_map_out(&direction->map, change->tsn);
    struct sctp_chunk chunk;

    while (sctp_chunk_parse(&p, end, &chunk) == WIRE_OK) {
        uint8_t *at = add_chunk(making, chunk.start, chunk.octets);

        octets_put32(at + TSN_AT, tsn++);
        for (size_t i = 0;
             i < change->flip_count && change->flips[i].at < chunk.octets && making->flip_count < BRIDGE_FLIPS_MOST;
             i++)
            making->flips[making->flip_count++] =
                (struct bridge_flip){(size_t)(at - making->sctp->chunks) + change->flips[i].at, change->flips[i].mask};
    }
    making->keeps_crc |= change->keeps_crc;
    bridge_chunk_change_done(direction, change->tsn);
}

static void add_plain(struct making *making, struct bridge_association *association, unsigned side,
                      const struct sctp_chunk *chunk)
{
    const struct bridge_map *own = &association->direction[side].map, *other = &association->direction[1 - side].map;
    uint8_t *at = add_chunk(making, chunk->start, chunk->octets);
    size_t octets = chunk->octets;
    uint32_t number;

    if (octets < TSN_AT + 4)
        return;
    number = octets_get32(at + TSN_AT);
    if (chunk->type == SCTP_SACK && octets >= SACK_OCTETS)
        making->used -= padded(octets) - padded(translate_sack(at, octets, other));
    else if (chunk->type == SCTP_SHUTDOWN)
        octets_put32(at + TSN_AT, bridge_map_in(other, number + 1) - 1);
    else if (chunk->type == SCTP_FORWARD_TSN)
        octets_put32(at + TSN_AT, bridge_map_out(own, number + 1) - 1);
    else if (chunk->type == SCTP_ECNE)
        octets_put32(at + TSN_AT, bridge_map_in(other, number));
    else if (chunk->type == SCTP_CWR || bridge_chunk_tsn(chunk, &number))
        octets_put32(at + TSN_AT, bridge_map_out(own, number));
}

/* What the packet says, once it goes. */
static void note_packet(struct bridge_association *association, unsigned side, const uint8_t *frame,
                        const struct bridge_packet *packet)
{
    struct bridge_sctp_direction *direction = &association->direction[side];
    struct bridge_chunks chunks = bridge_chunks_of(frame, packet);
    struct sctp_chunk chunk;
    uint32_t tsn;

    while (sctp_chunk_parse(&chunks.at, chunks.end, &chunk) == WIRE_OK) {
        if (bridge_chunk_tsn(&chunk, &tsn)) {
            if (!direction->known || bridge_before(direction->next, tsn + 1))
                direction->next = tsn + 1;
            direction->known = true;
        } else if (chunk.type == SCTP_SACK && chunk.octets >= SACK_OCTETS) {
            direction->window = octets_get32(chunk.start + SACK_WINDOW_AT);
            note_acked(association, side, octets_get32(chunk.start + TSN_AT) + 1);
        } else if (chunk.type == SCTP_SHUTDOWN && chunk.octets >= SCTP_SHUTDOWN_OCTETS) {
            note_acked(association, side, octets_get32(chunk.start + TSN_AT) + 1);
        } else if (chunk.type == SCTP_INIT) {
            return; /* its Verification Tag is 0 */
        }
    }
    if (packet->payload > sizeof(direction->header))
        return;
    memcpy(direction->header, frame, packet->payload);
    direction->packet = *packet;
}

static bool is_plain(const struct bridge_sctp_direction *direction)
{
    return direction->map.count == 0 && direction->map.moved == 0 && direction->change_count == 0;
}

/* It can go as it came: all of it, and nothing is changed. */
static bool goes_plain(const struct bridge_association *association, const uint8_t *frame,
                       const struct bridge_packet *packet)
{
    size_t whole = packet->end - packet->ip, headers = packet->family == 4 ? 0 : PACKET_IPV6_OCTETS;

    return is_plain(&association->direction[0]) && is_plain(&association->direction[1]) &&
           octets_get16(frame + packet->ip + (packet->family == 4 ? 2 : 4)) == whole - headers;
}

static bool loses_packet(struct bridge_sctp_direction *direction, const uint8_t *frame,
                         const struct bridge_packet *packet)
{
    struct bridge_chunks chunks = bridge_chunks_of(frame, packet);
    struct sctp_chunk chunk;
    uint32_t tsn;

    while (direction->loses && sctp_chunk_parse(&chunks.at, chunks.end, &chunk) == WIRE_OK)
        if (bridge_chunk_tsn(&chunk, &tsn) && tsn == direction->lose) {
            direction->loses = false;
            return true;
        }
    return false;
}

/* What was taken away is acknowledged once the receiver has all that came before it. */
static void acknowledge(struct bridge_sctp *sctp, struct bridge_association *association, unsigned side)
{
    const struct bridge_sctp_direction *direction = &association->direction[side];
    uint8_t sack[SACK_OCTETS] = {SCTP_SACK, 0, 0, SACK_OCTETS};

    if (!direction->has_acked)
        return;
    octets_put32(sack + TSN_AT, bridge_map_in(&direction->map, direction->acked) - 1);
    octets_put32(sack + SACK_WINDOW_AT, association->direction[1 - side].window);
    bridge_sctp_bare(sctp, association, side, sack, sizeof(sack));
}

void bridge_sctp_emit(struct bridge_sctp *sctp, struct bridge_association *association, unsigned side,
                      const uint8_t *frame, size_t octets, const struct bridge_packet *packet)
{
    struct bridge_sctp_direction *direction = &association->direction[side];
    struct bridge_chunks chunks = bridge_chunks_of(frame, packet);
    struct making making = begin_packet(sctp, 1 - side, frame, packet);
    struct sctp_chunk chunk;
    bool dropped = false;
    uint32_t tsn;

    if (loses_packet(direction, frame, packet))
        return;
    if (goes_plain(association, frame, packet)) {
        memcpy(sctp->chunks, frame, octets);
        note_packet(association, side, frame, packet);
        sctp->streams->send(sctp->streams->user, 1 - side, sctp->chunks, octets, false);
        return;
    }
    while (sctp_chunk_parse(&chunks.at, chunks.end, &chunk) == WIRE_OK) {
        const struct bridge_chunk_change *change =
            bridge_chunk_tsn(&chunk, &tsn) ? bridge_chunk_change_of(direction, tsn) : NULL;

        if (change == NULL) {
            add_plain(&making, association, side, &chunk);
            continue;
        }
        dropped |= change->octets == 0;
        add_changed(&making, direction, change);
    }
    if (chunk.start != NULL && chunk.octets != 0) /* more than the packet has: as it came */
        (void)add_chunk(&making, chunk.start, chunk.octets);
    send_made(&making);
    note_packet(association, side, frame, packet);
    if (dropped)
        acknowledge(sctp, association, side);
}

/* ---- of the bridge's own ----------------------------------------------------------------------------------------- */

void bridge_sctp_bare(struct bridge_sctp *sctp, const struct bridge_association *association, unsigned to,
                      const uint8_t *chunk, size_t octets)
{
    const struct bridge_sctp_direction *other = &association->direction[1 - to];
    struct making making;

    if (other->packet.payload == 0)
        return;
    making = begin_packet(sctp, to, other->header, &other->packet);
    (void)add_chunk(&making, chunk, octets);
    send_made(&making);
}

static void bare_shutdown(struct bridge_sctp *sctp, const struct bridge_association *association, unsigned to)
{
    uint8_t chunk[SCTP_SHUTDOWN_OCTETS] = {SCTP_SHUTDOWN, 0, 0, SCTP_SHUTDOWN_OCTETS};

    octets_put32(chunk + TSN_AT, association->direction[to].next - 1);
    bridge_sctp_bare(sctp, association, to, chunk, sizeof(chunk));
}

void bridge_sctp_answer(struct bridge_sctp *sctp, struct bridge_association *association, unsigned side,
                        const uint8_t *frame, const struct bridge_packet *packet)
{
    static const uint8_t ack[] = {SCTP_SHUTDOWN_ACK, 0, 0, SCTP_CHUNK_OCTETS};
    static const uint8_t complete[] = {SCTP_SHUTDOWN_COMPLETE, 0, 0, SCTP_CHUNK_OCTETS};
    struct bridge_sctp_direction *direction = &association->direction[side];
    struct bridge_chunks chunks = bridge_chunks_of(frame, packet);
    struct sctp_chunk chunk;
    bool data = false;
    uint32_t tsn;

    if (association->closed != BRIDGE_FINISHED)
        return;
    while (sctp_chunk_parse(&chunks.at, chunks.end, &chunk) == WIRE_OK)
        if (chunk.type == SCTP_SHUTDOWN) {
            bridge_sctp_bare(sctp, association, side, ack, sizeof(ack));
        } else if (chunk.type == SCTP_SHUTDOWN_ACK) {
            bridge_sctp_bare(sctp, association, side, complete, sizeof(complete));
        } else if (bridge_chunk_tsn(&chunk, &tsn)) {
            data = true;
            if (bridge_before(direction->next, tsn + 1))
                direction->next = tsn + 1;
        }
    if (data)
        bare_shutdown(sctp, association, side);
}

void bridge_sctp_close(struct bridge_sctp *sctp, struct bridge_association *association, bool abort)
{
    static const uint8_t chunk[] = {SCTP_ABORT, 0, 0, SCTP_CHUNK_OCTETS};

    association->closed = abort ? BRIDGE_RESET : BRIDGE_FINISHED;
    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        bridge_sctp_go(sctp, &association->direction[side]);
        if (abort)
            bridge_sctp_bare(sctp, association, side, chunk, sizeof(chunk));
        else
            bare_shutdown(sctp, association, side);
    }
}
