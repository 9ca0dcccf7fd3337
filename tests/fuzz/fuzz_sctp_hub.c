/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hub of associations over libusrsctp, with strangers: packets with a right checksum and, if the input wants that,
 * with the tag and the State Cookie that this side gave; time; and an owner who begins and releases associations at any
 * moment. The input is a row of steps: an octet that chooses, and what that step takes. Its clock goes on from input to
 * input, as libusrsctp has one in a process.
 */
#include <netinet/in.h>

#include "iwarp/sctp.h"
#include "reference-stack/transport/sctp_hub.h"
#include "reference-stack/transport/user_sctp.h"
#include "tests/fuzz/fuzz.h"
#include "wire/sctp.h"

enum {
    PATHS = 6,
    PACKET_MAX = 1452,
    PORT = 5043,
    COOKIE_MAX = 1200,
    PARAMETER_COOKIE = 7,
    PLACES = 2,
    TURN_NS = 20000000
};

struct owner {
    struct iwarp_association *association;
    struct sctp_path *path;
};

/* What strangers at a place know. */
struct stranger {
    uint32_t tag;
    uint8_t cookie[COOKIE_MAX];
    size_t cookie_octets;
};

struct scene {
    struct iwarp_device *device;
    struct sctp_hub *hub;
    struct owner owners[PATHS];
    struct stranger strangers[PLACES];
    const uint8_t *at, *end;
};

static uint64_t now = 1; /* of the process, as libusrsctp's */

static uint8_t next(struct scene *scene)
{
    return scene->at < scene->end ? *scene->at++ : 0;
}

static struct sockaddr_storage place_of(unsigned number)
{
    struct sockaddr_storage place;
    struct sockaddr_in *four = (void *)&place;

    memset(&place, 0, sizeof(place));
    four->sin_family = AF_INET;
    four->sin_addr.s_addr = htonl(0x0A000001U + number);
    return place;
}

/* Tag and State Cookie of an INIT ACK. */
static void learn(struct stranger *stranger, const struct sctp_chunk *chunk)
{
    const uint8_t *p = chunk->start + SCTP_INIT_OCTETS, *end = chunk->start + chunk->octets;
    struct sctp_init init;

    if (sctp_init_parse(chunk, &init) != WIRE_OK)
        return;
    stranger->tag = init.tag;
    while (end - p >= SCTP_PARAMETER_OCTETS) {
        unsigned type = p[0] << 8 | p[1];
        size_t octets = (size_t)(p[2] << 8 | p[3]);

        if (octets < SCTP_PARAMETER_OCTETS || octets > (size_t)(end - p))
            return;
        if (type == PARAMETER_COOKIE && octets - SCTP_PARAMETER_OCTETS <= COOKIE_MAX) {
            stranger->cookie_octets = octets - SCTP_PARAMETER_OCTETS;
            memcpy(stranger->cookie, p + SCTP_PARAMETER_OCTETS, stranger->cookie_octets);
        }
        octets = (octets + 3) & ~(size_t)3;
        if (octets > (size_t)(end - p))
            return;
        p += octets;
    }
}

static void on_send(void *user, void *link, const struct sockaddr_storage *to, const uint8_t *packet, size_t octets)
{
    struct scene *scene = user;
    const uint8_t *p = packet + SCTP_COMMON_OCTETS;
    uint32_t number = ntohl(((const struct sockaddr_in *)to)->sin_addr.s_addr) - 0x0A000001U;
    struct sctp_chunk chunk;

    (void)link;
    FUZZ_HOLDS(octets >= SCTP_COMMON_OCTETS && octets <= PACKET_MAX && number < PLACES);
    fuzz_touch(packet, octets);
    if (sctp_chunk_parse(&p, packet + octets, &chunk) == WIRE_OK && chunk.type == SCTP_INIT_ACK)
        learn(&scene->strangers[number], &chunk);
}

/* A place for another association; NULL: there is none, or no memory. */
static struct owner *owner_new(struct scene *scene)
{
    struct iwarp_association_config config;
    struct owner *owner = scene->owners;

    while (owner < scene->owners + PATHS && owner->association != NULL)
        owner++;
    if (owner == scene->owners + PATHS)
        return NULL;
    iwarp_association_config_default(&config, IWARP_SCTP_RFC5043);
    config.streams = 8;
    owner->association = iwarp_association_new(scene->device, &config, now, NULL);
    return owner->association != NULL ? owner : NULL;
}

static struct iwarp_association *on_incoming(void *user, uint16_t port, struct sctp_path *path, void **reported)
{
    struct owner *owner = owner_new(user);

    FUZZ_HOLDS(port == PORT);
    if (owner == NULL)
        return NULL;
    owner->path = path;
    *reported = owner;
    return owner->association;
}

static void owner_free(struct owner *owner)
{
    if (owner->path != NULL)
        sctp_path_release(owner->path);
    iwarp_association_free(owner->association);
    *owner = (struct owner){0};
}

static void on_changed(void *user)
{
    struct owner *owner = user;
    struct iwarp_association_event event;

    FUZZ_HOLDS(owner->association != NULL && owner->path != NULL);
    while (iwarp_association_poll(owner->association, &event)) {
        if (event.private_octets != 0)
            fuzz_touch(event.private_data, event.private_octets);
        if (event.kind == IWARP_ASSOCIATION_DOWN) {
            owner_free(owner);
            return;
        }
    }
    sctp_path_run(owner->path, now);
}

/* A packet of one chunk, or of whatever the input has. */
static void feed(struct scene *scene, uint8_t choice)
{
    unsigned number = choice >> 3 & 1;
    const struct stranger *stranger = &scene->strangers[number];
    uint8_t type = next(scene), flags = next(scene), port = next(scene);
    uint8_t packet[SCTP_COMMON_OCTETS + SCTP_CHUNK_OCTETS + COOKIE_MAX + 256] = {0};
    uint8_t *chunk = packet + SCTP_COMMON_OCTETS;
    struct sockaddr_storage from = place_of(number);
    size_t octets = next(scene), whole;
    const uint8_t *value = scene->at;
    uint8_t *exact;

    if (octets > (size_t)(scene->end - scene->at))
        octets = (size_t)(scene->end - scene->at);
    scene->at += octets;
    if (type == SCTP_COOKIE_ECHO && (choice & 0x10) != 0) {
        value = stranger->cookie;
        octets = stranger->cookie_octets;
    }
    sctp_common_set_SourcePort(packet, (uint16_t)(port & 3));
    sctp_common_set_DestinationPort(packet, (uint16_t)((port & 4) != 0 ? SCTP_HUB_PORTS_FROM + (port >> 4) : PORT));
    sctp_common_set_VerificationTag(packet, type == SCTP_INIT ? 0 : stranger->tag);
    chunk[0] = type;
    chunk[1] = flags;
    chunk[2] = (uint8_t)((SCTP_CHUNK_OCTETS + octets) >> 8);
    chunk[3] = (uint8_t)(SCTP_CHUNK_OCTETS + octets);
    if (octets != 0)
        memcpy(chunk + SCTP_CHUNK_OCTETS, value, octets);
    whole = SCTP_COMMON_OCTETS + SCTP_CHUNK_OCTETS + ((octets + 3) & ~(size_t)3);
    if ((choice & 0x20) != 0)
        whole -= octets % 8; /* it breaks off */
    if ((choice & 0x40) == 0)
        sctp_common_set_Checksum(packet, sctp_checksum(packet, whole));
    exact = fuzz_copy(packet, whole);
    sctp_hub_input(scene->hub, &from, exact, whole, ++now);
    free(exact);
}

static void begin(struct scene *scene, uint8_t choice)
{
    struct sockaddr_storage to = place_of(choice >> 3 & 1);
    struct owner *owner = owner_new(scene);

    if (owner == NULL)
        return;
    owner->path = sctp_hub_connect(scene->hub, &to, 1 + (choice >> 4 & 1), owner->association, owner, ++now, NULL);
    if (owner->path == NULL)
        owner_free(owner);
}

static void step(struct scene *scene)
{
    uint8_t choice = next(scene);

    switch (choice & 7) {
    case 0: begin(scene, choice); break;
    case 1:
        if (scene->owners[(choice >> 3) % PATHS].association != NULL)
            owner_free(&scene->owners[(choice >> 3) % PATHS]);
        break;
    case 2:
        now += (uint64_t)TURN_NS << (choice >> 5);
        sctp_hub_tick(scene->hub, now);
        break;
    case 3:
        sctp_hub_unlisten(scene->hub, PORT);
        if ((choice & 8) != 0)
            FUZZ_HOLDS(sctp_hub_listen(scene->hub, PORT, NULL) == PORT);
        break;
    default: feed(scene, choice); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene scene = {.at = data, .end = data + size};
    struct sctp_hub_config config = {.packet_max = PACKET_MAX,
                                     .fragments = true,
                                     .send = on_send,
                                     .incoming = on_incoming,
                                     .changed = on_changed,
                                     .owner = &scene,
                                     .link = &scene};

    scene.device = iwarp_device_new(NULL);
    scene.hub = sctp_hub_new(&config, NULL);
    if (scene.device == NULL)
        abort();
    if (scene.hub != NULL) { /* NULL: a build without libusrsctp */
        FUZZ_HOLDS(sctp_hub_listen(scene.hub, PORT, NULL) == PORT);
        while (scene.at < scene.end)
            step(&scene);
        for (size_t i = 0; i < PATHS; i++)
            owner_free(&scene.owners[i]);
        FUZZ_HOLDS(!sctp_hub_busy(scene.hub));
        sctp_hub_free(scene.hub);
        user_sctp_stop(); /* unless an association lingers */
    }
    iwarp_device_free(scene.device);
    return 0;
}
