/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_emit.h"

#include <string.h>

#include "base/octets.h"
#include "generator/packet/packet.h"

enum { KEPT_OCTETS = 1 << 20 }; /* that are acknowledged, and may be repeated all the same */
enum { SEQUENCE_AT = 4, ACKNOWLEDGMENT_AT = 8, FLAGS_AT = 13, OPTIONS_AT = 20, OPTION_NOP = 1, OPTION_SACK = 5 };

/* Addresses of a packet whose frame is elsewhere now. */
static void locate(struct bridge_packet *packet, const uint8_t *frame)
{
    const uint8_t *ip = frame + packet->ip;

    packet->source = ip + (packet->family == 4 ? 12 : 8);
    packet->destination = ip + (packet->family == 4 ? 16 : 24);
}

static bool is_plain(const struct bridge_map *map)
{
    return map->count == 0 && map->moved == 0;
}

/* One frame: `header` with `count` octets, which stand after it in streams->scratch. */
static void send_piece(struct bridge_streams *streams, unsigned to, struct bridge_packet packet, size_t count)
{
    locate(&packet, streams->scratch);
    packet.end = packet.payload + count;
    bridge_packet_mend(streams->scratch, &packet);
    streams->send(streams->user, to, streams->scratch, packet.end, true);
}

/* How many of `count` octets from `at` on (in the receiver's numbers) the next segment has. */
static size_t piece_of(const struct bridge_direction *direction, uint32_t at, size_t count, size_t most)
{
    size_t piece = count < most ? count : most;

    for (size_t i = 0; i < direction->cut_count; i++)
        if (bridge_before(at, direction->cuts[i]) && direction->cuts[i] - at < piece)
            piece = direction->cuts[i] - at;
    return piece;
}

/* The header in streams->scratch, `count` octets in streams->contents. */
static void send_pieces(struct bridge_streams *streams, unsigned to, const struct bridge_packet *packet, size_t count,
                        const struct bridge_direction *direction, uint32_t at)
{
    static const struct bridge_direction no_cuts;
    uint8_t *tcp = streams->scratch + packet->transport;
    size_t headers = packet->payload - packet->ip;
    size_t most = streams->mtu[to] > headers ? streams->mtu[to] - headers : 1, done = 0;

    do {
        size_t piece = piece_of(direction != NULL ? direction : &no_cuts, at, count - done, most);

        octets_put32(tcp + SEQUENCE_AT, at);
        tcp[FLAGS_AT] = done + piece < count ? packet->flags & (uint8_t) ~(TCP_FLAG_FIN | TCP_FLAG_PSH) : packet->flags;
        memcpy(streams->scratch + packet->payload, streams->contents + done, piece);
        send_piece(streams, to, *packet, piece);
        done += piece;
        at += (uint32_t)piece;
    } while (done < count);
}

/* What the next bare segment in its sender's name begins with. */
static void keep_header(struct bridge_direction *direction, const struct bridge_packet *packet, const uint8_t *frame)
{
    if (packet->payload > sizeof(direction->header) || (packet->flags & TCP_FLAG_SYN) != 0)
        return;
    memcpy(direction->header, frame, packet->payload);
    direction->packet = *packet;
}

/* Segments that end where nobody asks any more. */
static void forget_cuts(struct bridge_direction *direction)
{
    size_t kept = 0;

    for (size_t i = 0; i < direction->cut_count; i++)
        if (bridge_before(direction->acked, direction->cuts[i]))
            direction->cuts[kept++] = direction->cuts[i];
    direction->cut_count = kept;
}

static void note_acknowledged(struct bridge_connection *connection, unsigned side, const struct bridge_packet *packet)
{
    struct bridge_direction *other = &connection->direction[1 - side];
    uint32_t in = bridge_map_in(&other->map, packet->acknowledgment);

    if ((packet->flags & TCP_FLAG_ACK) == 0 || !other->known || bridge_before(other->next + 1, in) ||
        (other->has_acked && bridge_before(packet->acknowledgment, other->acked)))
        return;
    other->has_acked = true;
    other->acked = packet->acknowledgment;
    bridge_map_acknowledge(&other->map, in, KEPT_OCTETS);
    forget_cuts(other);
}

static uint8_t scale_of(const struct bridge_connection *connection, unsigned side)
{
    const struct bridge_direction *direction = connection->direction;

    return direction[0].scaled && direction[1].scaled ? direction[side].scale : 0;
}

static bool loses_segment(struct bridge_direction *direction, const struct bridge_segment *segment)
{
    if (!direction->loses || bridge_before(direction->lose, segment->from) ||
        !bridge_before(direction->lose, segment->to))
        return false;
    direction->loses = false;
    return true;
}

/* It can go as it came. */
static bool goes_plain(const struct bridge_streams *streams, const struct bridge_connection *connection, unsigned side,
                       const struct bridge_segment *segment)
{
    const struct bridge_packet *packet = &segment->packet;
    const uint8_t *ip = segment->frame + packet->ip;
    size_t whole = packet->end - packet->ip, headers = packet->family == 4 ? 0 : PACKET_IPV6_OCTETS;

    /* Not a part of what came, nor several of them. */
    return is_plain(&connection->direction[0].map) && is_plain(&connection->direction[1].map) &&
           connection->direction[side].cut_count == 0 && whole <= streams->mtu[1 - side] &&
           octets_get16(ip + (packet->family == 4 ? 2 : 4)) == whole - headers &&
           octets_get32(segment->frame + packet->transport + SEQUENCE_AT) ==
               segment->from - ((packet->flags & TCP_FLAG_SYN) != 0) &&
           packet->flags == segment->frame[packet->transport + FLAGS_AT];
}

void bridge_emit(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side,
                 const struct bridge_segment *segment)
{
    struct bridge_direction *direction = &connection->direction[side], *other = &connection->direction[1 - side];
    struct bridge_packet packet = segment->packet;
    size_t have = segment->to - segment->from, count;

    if (loses_segment(direction, segment))
        return;
    if (goes_plain(streams, connection, side, segment)) {
        note_acknowledged(connection, side, &packet);
        keep_header(direction, &packet, segment->frame);
        memcpy(streams->scratch, segment->frame, segment->octets);
        streams->send(streams->user, 1 - side, streams->scratch, segment->octets, false);
        return;
    }
    count = bridge_map_copy(&direction->map, segment->from, segment->frame + packet.payload, have, streams->contents);
    memcpy(streams->scratch, segment->frame, packet.payload);
    locate(&packet, streams->scratch);
    (void)bridge_packet_acknowledge(streams->scratch, &packet, &other->map, scale_of(connection, side));
    note_acknowledged(connection, side, &packet);
    keep_header(direction, &packet, streams->scratch);
    if (count != 0 || have == 0 || (packet.flags & (TCP_FLAG_FIN | TCP_FLAG_RST)) != 0)
        send_pieces(streams, 1 - side, &packet, count, direction,
                    bridge_map_out(&direction->map, segment->from) - ((packet.flags & TCP_FLAG_SYN) != 0));
    else if (direction->has_acked) /* its receiver does not acknowledge what it does not get */
        bridge_emit_bare(streams, connection, side, TCP_FLAG_ACK, bridge_map_in(&direction->map, direction->acked));
}

/* ---- of the bridge's own ----------------------------------------------------------------------------------------- */

/* SACK blocks of another time. */
static void clear_sacks(uint8_t *tcp, size_t header)
{
    for (size_t at = OPTIONS_AT; at < header && tcp[at] != 0;) {
        size_t taken = tcp[at] == OPTION_NOP || at + 1 == header ? 1 : tcp[at + 1];

        if (taken == 0 || at + taken > header)
            return;
        if (tcp[at] == OPTION_SACK)
            memset(tcp + at, OPTION_NOP, taken);
        at += taken;
    }
}

void bridge_emit_bare(struct bridge_streams *streams, struct bridge_connection *connection, unsigned to, uint8_t flags,
                      uint32_t acknowledgment)
{
    const struct bridge_direction *direction = &connection->direction[1 - to];
    struct bridge_packet packet = direction->packet;
    uint8_t *tcp = streams->scratch + packet.transport;
    uint32_t had;

    if (packet.payload == 0)
        return;
    memcpy(streams->scratch, direction->header, packet.payload);
    had = octets_get32(tcp + ACKNOWLEDGMENT_AT);
    packet.flags = flags;
    clear_sacks(tcp, packet.payload - packet.transport);
    octets_put32(tcp + ACKNOWLEDGMENT_AT, bridge_before(had, acknowledgment) ? acknowledgment : had);
    send_pieces(streams, to, &packet, 0, NULL, bridge_map_out(&direction->map, direction->next));
}

void bridge_emit_closed(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side,
                        const struct bridge_segment *segment)
{
    struct bridge_direction *direction = &connection->direction[side], *other = &connection->direction[1 - side];
    bool fin = (segment->packet.flags & TCP_FLAG_FIN) != 0;

    if (connection->closed != BRIDGE_FINISHED || (segment->from == segment->to && !fin) ||
        (segment->packet.flags & TCP_FLAG_RST) != 0)
        return;
    if (bridge_before(direction->next, segment->to + fin) && !bridge_before(direction->next, segment->from))
        direction->next = segment->to + fin;
    other->next++; /* after our FIN */
    bridge_emit_bare(streams, connection, side, TCP_FLAG_ACK, direction->next);
    other->next--;
}

void bridge_stream_close(struct bridge_streams *streams, struct bridge_connection *connection, bool reset)
{
    connection->closed = reset ? BRIDGE_RESET : BRIDGE_FINISHED;
    for (unsigned side = 0; side < BRIDGE_SIDES; side++)
        bridge_emit_bare(streams, connection, side, (uint8_t)((reset ? TCP_FLAG_RST : TCP_FLAG_FIN) | TCP_FLAG_ACK),
                         connection->direction[side].next);
}

void bridge_emit_long(struct bridge_streams *streams, unsigned side, const uint8_t *frame, size_t octets,
                      const struct bridge_packet *packet)
{
    size_t count = packet->end - packet->payload;

    (void)octets;
    memcpy(streams->scratch, frame, packet->payload);
    memcpy(streams->contents, frame + packet->payload, count);
    send_pieces(streams, 1 - side, packet, count, NULL, packet->sequence);
}
