/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of anybody's on a bridge that changes what it forwards: nothing is read or written beyond a frame, what goes out fits the MTU
 * and is read again, and nothing is kept beyond its limits. Each frame is an octet for the side and what is done, two for its
 * length, and its octets.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_emit.h"
#include "tests/fuzz/fuzz.h"

enum { HEAD = 3, MTU = 1500, NOTHING, DROP, LONGER, CUT, DELAY, CLOSE };

static void on_send(void *user, unsigned side, uint8_t *frame, size_t octets, bool changed)
{
    struct bridge_packet packet;

    (void)user;
    FUZZ_HOLDS(side < BRIDGE_SIDES);
    FUZZ_HOLDS(bridge_packet_parse(frame, octets, &packet));
    FUZZ_HOLDS(packet.end - packet.ip <= MTU || packet.payload + 1 >= packet.end);
    FUZZ_HOLDS(!changed || packet.end == octets);
}

static void on_expired(void *user, const struct bridge_connection *connection, unsigned side, enum bridge_wait wait)
{
    (void)user;
    (void)connection;
    (void)side;
    FUZZ_HOLDS(wait != BRIDGE_GOES);
}

static void impair(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side, unsigned what,
                   const struct bridge_packet *packet)
{
    static const uint8_t longer[300];
    struct bridge_direction *direction = &connection->direction[side];
    uint32_t at = packet->sequence, end = at + (uint32_t)(packet->end - packet->payload);

    connection->engaged = true;
    direction->framed = true;
    direction->framed_to = end;
    if (what == DROP || what == LONGER)
        (void)bridge_map_replace(&direction->map, at, end, longer, what == DROP ? 0 : sizeof(longer));
    else if (what == CUT && direction->cut_count < BRIDGE_CUTS_MOST)
        direction->cuts[direction->cut_count++] = bridge_map_out(&direction->map, at) + 1;
    else if (what == DELAY)
        bridge_stream_wait(direction, BRIDGE_STALLED, at, at, streams->now_ns + 10);
    else if (what == CLOSE)
        bridge_stream_close(streams, connection, at % 2 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bridge_streams streams = {
        .holds = true, .mtu = {MTU, MTU}, .now_ns = 1, .send = on_send, .expired = on_expired};

    FUZZ_HOLDS(bridge_streams_begin(&streams) == 0);
    for (size_t at = 0; size - at >= HEAD;) {
        unsigned side = data[at] & 1, what = NOTHING + (data[at] >> 1) % (CLOSE - NOTHING + 1);
        size_t length = (size_t)data[at + 1] << 8 | data[at + 2];
        struct bridge_connection *connection;
        struct bridge_packet packet;
        uint8_t *frame;

        at += HEAD;
        length = length < size - at ? length : size - at;
        frame = malloc(length + 1); /* of its own, so that what is read beyond it is seen */
        FUZZ_HOLDS(frame != NULL);
        memcpy(frame, data + at, length);
        at += length;
        (void)bridge_packet_complete(frame, length);
        if (bridge_packet_parse(frame, length, &packet) && packet.protocol == BRIDGE_PROTOCOL_TCP) {
            connection = bridge_streams_take(&streams, side, frame, length, &packet);
            FUZZ_HOLDS(connection != NULL);
            impair(&streams, connection, side, what, &packet);
            bridge_streams_flush(&streams, connection, side);
            FUZZ_HOLDS(connection->direction[side].held_octets <= BRIDGE_HELD_MOST);
        }
        (void)bridge_streams_time(&streams, streams.now_ns + 7);
        free(frame);
    }
    bridge_streams_free(&streams);
    return 0;
}
