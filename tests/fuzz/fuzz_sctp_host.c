/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lower tester's SCTP with a hostile other side: packets with a right checksum and, if the input wants that, with
 * the right tags and ports. The input is a row of steps: an octet that chooses, and what that step takes.
 */
#include <stdlib.h>
#include <string.h>

#include "generator/sctp/sctp.h"
#include "generator/sctp/sctp_host.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORT = 5043, PEER_PORT = 77 };

struct scene {
    struct sctp_host *host;
    struct sctp_assoc *assoc[2]; /* the active one; an accepted one */
    uint64_t now;
    uint32_t tag[2];    /* that the host's INIT, and INIT ACK, had */
    uint8_t cookie[64]; /* of the INIT ACK */
    size_t cookie_octets;
    const uint8_t *at, *end;
};

static uint8_t next(struct scene *scene)
{
    return scene->at < scene->end ? *scene->at++ : 0;
}

static void on_emit(void *context, const uint8_t *packet, size_t octets)
{
    struct scene *scene = context;
    const uint8_t *p = packet + SCTP_COMMON_OCTETS;
    struct sctp_chunk chunk;
    struct sctp_init init;

    FUZZ_HOLDS(octets >= SCTP_COMMON_OCTETS && octets <= SCTP_PACKET_MAX);
    fuzz_touch(packet, octets);
    if (sctp_chunk_parse(&p, packet + octets, &chunk) != WIRE_OK || sctp_init_parse(&chunk, &init) != WIRE_OK)
        return;
    if (chunk.type == SCTP_INIT)
        scene->tag[0] = init.tag;
    if (chunk.type == SCTP_INIT_ACK && chunk.octets >= SCTP_INIT_OCTETS + SCTP_PARAMETER_OCTETS) {
        scene->tag[1] = init.tag;
        scene->cookie_octets = 8; /* the first parameter is the State Cookie */
        memcpy(scene->cookie, chunk.start + SCTP_INIT_OCTETS + SCTP_PARAMETER_OCTETS, scene->cookie_octets);
    }
}

/* A packet for one of the two associations. */
static void feed(struct scene *scene, uint8_t choice)
{
    int which = choice >> 3 & 1;
    uint8_t type = next(scene), flags = next(scene);
    size_t octets = next(scene);
    struct sctp_packet packet;
    uint16_t own = which != 0 ? PORT : (uint16_t)sctp_assoc_status(scene->assoc[0])->own_port;

    if ((size_t)(scene->end - scene->at) < octets)
        octets = (size_t)(scene->end - scene->at);
    sctp_packet_begin(&packet, PEER_PORT, own, type == SCTP_INIT ? 0 : scene->tag[which]);
    if (type == SCTP_COOKIE_ECHO && (choice & 0x10) != 0)
        (void)sctp_packet_chunk(&packet, SCTP_COOKIE_ECHO, 0, scene->cookie, scene->cookie_octets);
    else
        (void)sctp_packet_chunk(&packet, type, flags, scene->at, octets);
    if ((choice & 0x20) != 0 && packet.count > SCTP_COMMON_OCTETS + 4)
        packet.count -= 3; /* it breaks off */
    if ((choice & 0x40) != 0)
        (void)sctp_packet_chunk(&packet, SCTP_DATA, SCTP_FLAG_B, scene->at, octets);
    scene->at += octets;
    sctp_packet_close(&packet);
    sctp_host_input(scene->host, packet.octets, packet.count, ++scene->now);
}

static void send(struct scene *scene, struct sctp_assoc *assoc, uint8_t choice)
{
    struct sctp_assoc_data data = {.flags = choice,
                                   .hold = (choice & 1) != 0,
                                   .once = (choice & 2) != 0,
                                   .later = (choice & 4) != 0,
                                   .choose_tsn = (choice & 8) != 0,
                                   .bad_checksum = (choice & 16) != 0,
                                   .tsn = next(scene),
                                   .user = scene->at};

    data.user_octets = (size_t)(scene->end - scene->at) < 40 ? 0 : 40;
    (void)sctp_assoc_send(assoc, &data);
}

static void act(struct scene *scene, uint8_t choice)
{
    struct sctp_assoc *assoc = scene->assoc[choice >> 3 & 1];

    if (assoc == NULL)
        assoc = scene->assoc[0];
    switch (next(scene) % 10) {
    case 0: send(scene, assoc, next(scene)); break;
    case 1: sctp_assoc_flush(assoc); break;
    case 2: sctp_assoc_resend(assoc, (choice & 0x80) != 0); break;
    case 3: sctp_assoc_withhold(assoc, (choice & 0x80) != 0); break;
    case 4: sctp_assoc_window(assoc, next(scene)); break;
    case 5: (void)sctp_assoc_shutdown(assoc); break;
    case 6: sctp_assoc_abort(assoc); break;
    case 7: (void)sctp_assoc_heartbeat(assoc); break;
    case 8:
        while (sctp_assoc_received(assoc) != NULL) {
            const struct sctp_received *got = sctp_assoc_received(assoc);

            fuzz_touch(got->data.user, got->data.user_octets);
            sctp_assoc_consume(assoc);
        }
        break;
    default: {
        uint64_t due = sctp_host_deadline(scene->host);

        if (due != SCTP_HOST_NEVER) {
            FUZZ_HOLDS(due <= scene->now + UINT64_C(8000000000));
            scene->now = due > scene->now ? due : scene->now;
            sctp_host_tick(scene->host, scene->now);
        }
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene scene = {.now = 1, .at = data, .end = data + size};
    struct sctp_host_config config = {.seed = 1, .now = 1, .emit = on_emit, .context = &scene};
    struct sctp_assoc_options options = {.has_adaptation = true, .adaptation = 1};
    struct iwarp_sentence error;

    scene.host = sctp_host_new(&config, &error);
    if (scene.host == NULL)
        return 0;
    if (sctp_host_listen(scene.host, PORT, &options, &error) == 0 &&
        (scene.assoc[0] = sctp_assoc_connect(scene.host, PEER_PORT, &options, &error)) != NULL) {
        while (scene.at < scene.end) {
            uint8_t choice = next(&scene);

            if ((choice & 7) < 5)
                feed(&scene, choice);
            else
                act(&scene, choice);
            if (scene.assoc[1] == NULL)
                scene.assoc[1] = sctp_host_accept(scene.host, PORT);
            FUZZ_HOLDS(sctp_assoc_status(scene.assoc[0])->received <= size);
        }
    }
    sctp_host_free(scene.host);
    return 0;
}
