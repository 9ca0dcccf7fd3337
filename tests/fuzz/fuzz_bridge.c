/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of anybody's on a bridge that changes what it forwards: nothing is read or written beyond a frame, what goes out fits the MTU
 * and is read again, and nothing is kept beyond its limits. Each frame is an octet for the side and what is done, two for its
 * length, and its octets.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_emit.h"
#include "conformance/engine/bridge/bridge_sctp.h"
#include "tests/fuzz/fuzz.h"

enum { HEAD = 3, MTU = 1500, NOTHING, DROP, LONGER, CUT, DELAY, CLOSE };

static void on_send(void *user, unsigned side, uint8_t *frame, size_t octets, bool changed)
{
    struct bridge_packet packet;

    (void)user;
    FUZZ_HOLDS(side < BRIDGE_SIDES);
    if (!bridge_packet_parse(frame, octets, &packet)) { /* in UDP, with a wrong checksum on purpose */
        FUZZ_HOLDS(changed);
        return;
    }
    FUZZ_HOLDS(packet.protocol == BRIDGE_PROTOCOL_SCTP || packet.end - packet.ip <= MTU ||
               packet.payload + 1 >= packet.end);
    FUZZ_HOLDS(!changed || packet.end == octets);
}

static void on_expired(void *user, const struct bridge_expiry *expiry)
{
    (void)user;
    FUZZ_HOLDS(expiry->wait != BRIDGE_GOES);
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

/* The same of the first DATA chunk of the packet that is looked at. */
static void impair_chunk(struct bridge_sctp *sctp, unsigned side, unsigned what)
{
    const uint8_t *p = sctp->frame + sctp->packet.payload, *end = sctp->frame + sctp->packet.end;
    struct bridge_association *association = sctp->association;
    struct bridge_chunk_edit edit = {.count = what == DROP ? 0 : 2, .keeps_crc = what == CUT};
    struct iwarp_sentence error;
    struct sctp_chunk chunk;
    struct sctp_data data;
    uint8_t chunks[40] = {0};

    while (sctp_chunk_parse(&p, end, &chunk) == WIRE_OK) {
        if (chunk.type != SCTP_DATA || sctp_data_parse(&chunk, &data) != WIRE_OK)
            continue;
        if (what == DROP || what == LONGER || what == CUT) {
            for (unsigned i = 0; i < 2; i++)
                chunks[20 * i + 3] = 20;
            edit.chunks = chunks;
            edit.count = what == CUT ? 1 : edit.count;
            edit.octets = 20 * edit.count;
            (void)bridge_sctp_change(association, side, data.tsn, &edit, &error);
        } else if (what == DELAY) {
            bridge_sctp_wait(sctp, &association->direction[side], BRIDGE_STALLED, data.tsn, sctp->streams->now_ns + 10);
        }
        break;
    }
    if (what == CLOSE)
        bridge_sctp_close(sctp, association, sctp->octets % 2 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bridge_streams streams = {
        .holds = true, .mtu = {MTU, MTU}, .now_ns = 1, .send = on_send, .expired = on_expired};

    struct bridge_sctp sctp = {0};

    FUZZ_HOLDS(bridge_streams_begin(&streams) == 0 && bridge_sctp_begin(&sctp, &streams) == 0);
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
            connection = bridge_streams_input(&streams, side, frame, length, &packet);
            FUZZ_HOLDS(connection != NULL);
            impair(&streams, connection, side, what, &packet);
            bridge_streams_flush(&streams, connection, side);
            FUZZ_HOLDS(connection->direction[side].held_octets <= BRIDGE_HELD_MOST);
        }
        if (bridge_packet_parse(frame, length, &packet) && packet.protocol == BRIDGE_PROTOCOL_SCTP) {
            FUZZ_HOLDS(bridge_sctp_input(&sctp, side, frame, length, &packet) != NULL);
            impair_chunk(&sctp, side, what);
            bridge_sctp_flush(&sctp, side);
        }
        (void)bridge_streams_time(&streams, streams.now_ns + 7);
        (void)bridge_sctp_time(&sctp, streams.now_ns);
        free(frame);
    }
    bridge_sctp_free(&sctp);
    bridge_streams_free(&streams);
    return 0;
}
