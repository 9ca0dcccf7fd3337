/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections, and what is held of them; bridge_emit.c: how it goes. */
#include "conformance/engine/bridge/bridge_stream.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "conformance/engine/bridge/bridge_emit.h"
#include "generator/packet/packet.h"

#define MILLISECOND_NS UINT64_C(1000000)

int bridge_streams_begin(struct bridge_streams *streams)
{
    streams->scratch = malloc(BRIDGE_SCRATCH);
    streams->contents = malloc(BRIDGE_SCRATCH);
    return streams->scratch != NULL && streams->contents != NULL ? 0 : -1;
}

static void drop_held(struct bridge_direction *direction)
{
    while (direction->held != NULL) {
        struct bridge_segment *gone = direction->held;

        direction->held = gone->next;
        free(gone);
    }
    direction->held_octets = direction->held_frames = 0;
    direction->fragment_ns = 0;
}

static void direction_free(struct bridge_direction *direction)
{
    drop_held(direction);
    bridge_map_free(&direction->map);
    free(direction->swapped);
    *direction = (struct bridge_direction){0};
}

static void note_busy(struct bridge_streams *streams, struct bridge_connection *connection, bool busy)
{
    if (connection->busy == busy)
        return;
    connection->busy = busy;
    if (busy)
        DL_APPEND(streams->busy, connection);
    else
        DL_DELETE(streams->busy, connection);
}

/* It stands in streams->all no more. */
static void connection_free(struct bridge_streams *streams, struct bridge_connection *connection)
{
    note_busy(streams, connection, false);
    streams->count--;
    for (unsigned side = 0; side < BRIDGE_SIDES; side++)
        direction_free(&connection->direction[side]);
    free(connection);
}

static void remove_connection(struct bridge_streams *streams, struct bridge_connection *connection)
{
    HASH_DEL(streams->all, connection);
    connection_free(streams, connection);
}

void bridge_streams_free(struct bridge_streams *streams)
{
    while (streams->all != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
        remove_connection(streams, streams->all);
    free(streams->scratch);
    free(streams->contents);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

struct bridge_connection *bridge_streams_find(struct bridge_streams *streams, const struct bridge_key *key)
{
    struct bridge_connection *connection = NULL;

    HASH_FIND(hh, streams->all, key, sizeof(*key), connection);
    return connection;
}

bool bridge_streams_has(const struct bridge_streams *streams, const struct bridge_key *key, bool sctp)
{
    const struct bridge_listener *listener = streams->listener;

    return listener == NULL || (key->port[1] == listener->port && sctp == listener->sctp);
}

struct bridge_key bridge_key_of(unsigned side, const struct bridge_packet *packet)
{
    struct bridge_key key = {.family = packet->family};
    size_t octets = packet->family == 4 ? 4 : 16;

    memcpy(key.address[side], packet->source, octets);
    memcpy(key.address[1 - side], packet->destination, octets);
    key.port[side] = packet->source_port;
    key.port[1 - side] = packet->destination_port;
    return key;
}

static struct bridge_connection *connection_of(struct bridge_streams *streams, unsigned side,
                                               const struct bridge_packet *packet)
{
    struct bridge_key key = bridge_key_of(side, packet);
    struct bridge_connection *connection = bridge_streams_find(streams, &key);

    if (connection != NULL) { /* to the end of the list */
        HASH_DEL(streams->all, connection);
        HASH_ADD(hh, streams->all, key, sizeof(key), connection);
    } else {
        if (streams->count >= BRIDGE_CONNECTIONS_MOST)
            remove_connection(streams, streams->all);
        connection = calloc(1, sizeof(*connection));
        if (connection == NULL)
            return NULL;
        connection->key = key;
        HASH_ADD(hh, streams->all, key, sizeof(key), connection);
        streams->count++;
    }
    if (!hash_lost(connection))
        return connection;
    connection_free(streams, connection);
    return NULL;
}

/* A SYN begins a new life of these addresses; one that is repeated does not. */
static void note_syn(struct bridge_connection *connection, unsigned side, const struct bridge_packet *packet)
{
    struct bridge_direction *direction = &connection->direction[side];

    if (direction->known && direction->next == packet->sequence + 1)
        return;
    if ((packet->flags & TCP_FLAG_ACK) == 0) {
        for (unsigned i = 0; i < BRIDGE_SIDES; i++)
            direction_free(&connection->direction[i]);
        connection->engaged = false;
        connection->begun = true;
        connection->number = 0;
        connection->closed = BRIDGE_OPEN;
    }
    direction->known = true;
    direction->next = packet->sequence + 1;
    direction->scale = packet->scale;
    direction->scaled = packet->scaled;
}

/* ---- what is held ------------------------------------------------------------------------------------------------ */

static bool is_held(const struct bridge_direction *direction, uint32_t from, uint32_t to)
{
    for (const struct bridge_segment *held = direction->held; held != NULL; held = held->next)
        if (!bridge_before(from, held->from) && !bridge_before(held->to, to))
            return true;
    return false;
}

static bool is_full(const struct bridge_direction *direction, size_t octets)
{
    return direction->held_octets + octets > BRIDGE_HELD_MOST || direction->held_frames == BRIDGE_HELD_FRAMES_MOST;
}

static void add_held(struct bridge_direction *direction, struct bridge_segment *segment)
{
    struct bridge_segment **place = &direction->held;

    while (*place != NULL && !bridge_before(segment->from, (*place)->from))
        place = &(*place)->next;
    segment->next = *place;
    *place = segment;
    direction->held_octets += segment->octets;
    direction->held_frames++;
}

static struct bridge_segment *copy_of(const uint8_t *frame, size_t octets, const struct bridge_packet *packet)
{
    struct bridge_segment *segment = malloc(sizeof(*segment) + octets);

    if (segment == NULL)
        return NULL;
    *segment = (struct bridge_segment){.from = packet->sequence, .packet = *packet, .octets = octets};
    segment->from += (packet->flags & TCP_FLAG_SYN) != 0;
    segment->to = segment->from + (uint32_t)(packet->end - packet->payload);
    memcpy(segment->frame, frame, octets);
    segment->packet.source = segment->packet.destination = NULL;
    return segment;
}

struct bridge_connection *bridge_streams_input(struct bridge_streams *streams, unsigned side, const uint8_t *frame,
                                               size_t octets, const struct bridge_packet *packet)
{
    struct bridge_connection *connection = connection_of(streams, side, packet);
    struct bridge_direction *direction;
    struct bridge_segment *segment;

    if (connection == NULL) {
        streams->lost_memory++;
        return NULL;
    }
    note_busy(streams, connection, true);
    if ((packet->flags & TCP_FLAG_SYN) != 0)
        note_syn(connection, side, packet);
    direction = &connection->direction[side];
    segment = copy_of(frame, octets, packet);
    if (segment == NULL) {
        streams->lost_memory++;
        return connection;
    }
    if (!direction->known) {
        direction->known = true;
        direction->next = segment->from;
    }
    if (connection->closed != BRIDGE_OPEN) {
        bridge_emit_closed(streams, connection, side, segment);
        free(segment);
    } else if (segment->from != segment->to &&
               (is_full(direction, octets) || is_held(direction, segment->from, segment->to))) {
        streams->refused += is_full(direction, octets);
        free(segment);
    } else {
        add_held(direction, segment);
    }
    return connection;
}

bool bridge_stream_octets(const struct bridge_direction *direction, uint32_t at, uint32_t end, uint8_t *out)
{
    if (bridge_before(at, direction->next))
        return false;
    for (const struct bridge_segment *held = direction->held; held != NULL && at != end; held = held->next)
        if (!bridge_before(at, held->from) && bridge_before(at, held->to)) {
            uint32_t to = bridge_before(held->to, end) ? held->to : end;

            memcpy(out, held->frame + held->packet.payload + (at - held->from), to - at);
            out += to - at;
            at = to;
        }
    return at == end;
}

/* ---- what waits -------------------------------------------------------------------------------------------------- */

void bridge_stream_wait(struct bridge_direction *direction, enum bridge_wait wait, uint32_t at, uint32_t end,
                        uint64_t until_ns)
{
    if (direction->wait != BRIDGE_GOES)
        return;
    direction->wait = wait;
    direction->wait_at = at;
    direction->wait_end = end;
    direction->wait_until_ns = until_ns;
}

void bridge_stream_go(struct bridge_direction *direction)
{
    direction->wait = BRIDGE_GOES;
    direction->wait_end = direction->wait_at;
    direction->wait_owner = NULL;
    free(direction->swapped);
    direction->swapped = NULL;
}

/* Up to which octet this segment may go; its `from`: not at all. */
static uint32_t limit_of(struct bridge_streams *streams, const struct bridge_connection *connection,
                         struct bridge_direction *direction, const struct bridge_segment *segment)
{
    bool is_part =
        streams->holds && connection->engaged && direction->framed && bridge_before(direction->framed_to, segment->to);

    if (is_part && direction->fragment_ns == 0)
        direction->fragment_ns = streams->now_ns;
    if (is_part && streams->now_ns - direction->fragment_ns < BRIDGE_FRAGMENT_MS * MILLISECOND_NS)
        return segment->from;
    if (is_part) { /* until the decoder knows again where FPDUs end */
        streams->unchanged_late++;
        direction->framed = false;
    }
    if (direction->wait == BRIDGE_GOES || !bridge_before(direction->wait_at, segment->to))
        return segment->to;
    return bridge_before(segment->from, direction->wait_at) ? direction->wait_at : segment->from;
}

static void forward(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side,
                    struct bridge_segment *segment)
{
    struct bridge_direction *direction = &connection->direction[side];

    bridge_emit(streams, connection, side, segment);
    if (bridge_before(direction->next, segment->to) && !bridge_before(direction->next, segment->from))
        direction->next = segment->to;
}

/* The part of a segment before `limit` goes; the rest stays, as a segment of its own. */
static void forward_part(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side,
                         struct bridge_segment *segment, uint32_t limit)
{
    size_t part = limit - segment->from;
    struct bridge_segment *first = malloc(sizeof(*first) + segment->octets);
    uint8_t *payload = segment->frame + segment->packet.payload;

    if (first == NULL)
        return; /* later, as a whole */
    memcpy(first, segment, sizeof(*segment) + segment->octets);
    first->to = limit;
    first->packet.end = first->packet.payload + part;
    first->packet.flags &= (uint8_t) ~(TCP_FLAG_FIN | TCP_FLAG_PSH);
    memmove(payload, payload + part, segment->to - limit);
    segment->from = limit;
    segment->packet.end -= part;
    forward(streams, connection, side, first);
    free(first);
}

/* Segments that follow one another become one, up to the octet for which the first has waited. */
static struct bridge_segment *join(struct bridge_direction *direction, struct bridge_segment *segment)
{
    while (direction->held != NULL && direction->held->from == segment->to &&
           bridge_before(segment->to, direction->wait_end)) {
        struct bridge_segment *next = direction->held, *joined;
        size_t have = segment->to - segment->from, more = next->to - next->from;

        joined = malloc(sizeof(*joined) + segment->packet.payload + have + more);
        if (joined == NULL || segment->packet.payload + have + more > UINT16_MAX) {
            free(joined);
            return segment;
        }
        *joined = *segment;
        joined->octets = segment->packet.payload + have + more;
        joined->packet.end = joined->octets;
        joined->packet.flags |= next->packet.flags;
        joined->to = next->to;
        memcpy(joined->frame, segment->frame, segment->packet.payload + have);
        memcpy(joined->frame + segment->packet.payload + have, next->frame + next->packet.payload, more);
        direction->held = next->next;
        direction->held_octets -= next->octets;
        direction->held_frames--;
        free(next);
        free(segment);
        segment = joined;
    }
    return segment;
}

void bridge_streams_flush(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side)
{
    struct bridge_direction *direction = &connection->direction[side];
    struct bridge_segment **place = &direction->held;
    bool part = false;

    if (connection->closed != BRIDGE_OPEN)
        drop_held(direction);
    while (*place != NULL) {
        struct bridge_segment *segment = *place;
        bool bare = segment->from == segment->to && (segment->packet.flags & TCP_FLAG_FIN) == 0;
        bool old = !bridge_before(direction->next, segment->to) && segment->from != segment->to;
        uint32_t limit = bare || old ? segment->to : limit_of(streams, connection, direction, segment);

        if (limit == segment->from && segment->from != segment->to) {
            part = true;
            place = &segment->next;
            continue;
        }
        /* A FIN after octets that wait. */
        if (segment->from == segment->to && !bare && direction->wait != BRIDGE_GOES &&
            !bridge_before(segment->from, direction->wait_at)) {
            place = &segment->next;
            continue;
        }
        if (limit != segment->to) {
            forward_part(streams, connection, side, segment, limit);
            place = &segment->next;
            continue;
        }
        *place = segment->next;
        direction->held_octets -= segment->octets;
        direction->held_frames--;
        if (direction->wait_end != direction->wait_at && direction->wait == BRIDGE_GOES && place == &direction->held &&
            !bare)
            segment = join(direction, segment);
        forward(streams, connection, side, segment);
        free(segment);
    }
    if (direction->wait == BRIDGE_GOES)
        direction->wait_end = direction->wait_at;
    if (!part || direction->wait != BRIDGE_GOES)
        direction->fragment_ns = 0;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static uint64_t direction_time(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side)
{
    struct bridge_direction *direction = &connection->direction[side];
    uint64_t now = streams->now_ns, due = UINT64_MAX, fragment;

    if (direction->wait != BRIDGE_GOES && now >= direction->wait_until_ns) {
        if (direction->wait != BRIDGE_DELAYED) {
            struct bridge_expiry expiry = {connection->number, side, direction->wait, direction->wait_owner};

            streams->expired(streams->user, &expiry);
        }
        bridge_stream_go(direction);
        bridge_streams_flush(streams, connection, side);
    }
    fragment = direction->fragment_ns + BRIDGE_FRAGMENT_MS * MILLISECOND_NS;
    if (direction->fragment_ns != 0 && now >= fragment)
        bridge_streams_flush(streams, connection, side);
    if (direction->wait != BRIDGE_GOES)
        due = direction->wait_until_ns - now;
    else if (direction->fragment_ns != 0)
        due = fragment > now ? fragment - now : MILLISECOND_NS;
    return due;
}

static bool is_idle(const struct bridge_direction *direction)
{
    return direction->held == NULL && direction->wait == BRIDGE_GOES;
}

uint64_t bridge_streams_time(struct bridge_streams *streams, uint64_t now_ns)
{
    struct bridge_connection *connection, *next;
    uint64_t due = UINT64_MAX;

    streams->now_ns = now_ns;
    DL_FOREACH_SAFE(streams->busy, connection, next)
    {
        streams->looked_at++;
        for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
            uint64_t one =
                is_idle(&connection->direction[side]) ? UINT64_MAX : direction_time(streams, connection, side);

            due = one < due ? one : due;
        }
        if (is_idle(&connection->direction[0]) && is_idle(&connection->direction[1]))
            note_busy(streams, connection, false);
    }
    return due;
}

/* A direction that stands still is on the list of those that are busy. */
void bridge_streams_release(struct bridge_streams *streams)
{
    struct bridge_connection *connection, *next;

    DL_FOREACH_SAFE(streams->busy, connection, next)
    {
        streams->looked_at++;
        for (unsigned side = 0; side < BRIDGE_SIDES; side++)
            if (connection->direction[side].wait == BRIDGE_STALLED) {
                bridge_stream_go(&connection->direction[side]);
                bridge_streams_flush(streams, connection, side);
            }
    }
}
