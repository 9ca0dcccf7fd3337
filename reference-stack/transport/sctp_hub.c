/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/sctp_hub.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "reference-stack/transport/user_sctp.h"
#include "base/hash.h"
#include "wire/sctp.h"

/* Where packets of an association come from: no octet of it is undefined, as it is a key. */
struct place {
    uint8_t address[16];
    uint16_t family, udp_port, port, own_port;
};

struct sctp_path {
    UT_hash_handle hh;
    struct place place;
    struct sockaddr_storage to;
    struct sctp_hub *hub;
    struct user_sctp *end;
    struct iwarp_association *association;
    void *user;
    struct sctp_path *next, *prev; /* half open, oldest first */
    struct sctp_path *next_changed;
    bool half_open, changed;
    uint64_t since;
};

struct listener {
    struct listener *next;
    uint16_t port;
};

struct sctp_hub {
    struct sctp_hub_config config;
    struct sctp_path *paths, *half_open, *changed;
    size_t half_open_count;
    struct listener *listeners;
    uint16_t last_port;
};

/* --- Paths -------------------------------------------------------------------------------------------------------- */

static struct place place_of(const struct sockaddr_storage *name, uint16_t port, uint16_t own_port)
{
    struct place place;

    memset(&place, 0, sizeof(place));
    place.family = name->ss_family;
    place.port = port;
    place.own_port = own_port;
    if (name->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)name;

        memcpy(place.address, &v6->sin6_addr, sizeof(place.address));
        place.udp_port = v6->sin6_port;
    } else if (name->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)name;

        memcpy(place.address, &v4->sin_addr, sizeof(v4->sin_addr));
        place.udp_port = v4->sin_port;
    }
    return place;
}

static void on_send(void *user, const uint8_t *packet, size_t octets)
{
    const struct sctp_path *path = user;

    path->hub->config.send(path->hub->config.owner, path->hub->config.link, &path->to, packet, octets);
}

static size_t on_leaving(void *user, uint8_t *packet, size_t octets, size_t room)
{
    const struct sctp_path *path = user;

    return path->hub->config.leaving(path->hub->config.owner, packet, octets, room);
}

static void on_notified(void *user)
{
    struct sctp_path *path = user;

    if (path->changed)
        return;
    path->changed = true;
    LL_PREPEND2(path->hub->changed, path, next_changed);
}

static void not_half_open(struct sctp_path *path)
{
    if (!path->half_open)
        return;
    path->half_open = false;
    path->hub->half_open_count--;
    DL_DELETE(path->hub->half_open, path);
}

static struct sctp_path *path_new(struct sctp_hub *hub, const struct sockaddr_storage *to, const struct place *place,
                                  struct iwarp_sentence *sentence)
{
    struct sctp_path *path;

    if (HASH_COUNT(hub->paths) >= hub->config.paths_max) {
        (void)iwarp_sentence_set(sentence, "sctp: %zu associations are open, as many as may be", hub->config.paths_max);
        return NULL;
    }
    path = calloc(1, sizeof(*path));
    if (path != NULL) {
        path->place = *place;
        path->to = *to;
        path->hub = hub;
        HASH_ADD(hh, hub->paths, place, sizeof(path->place), path);
        if (!hash_lost(path))
            return path;
        free(path);
    }
    (void)iwarp_sentence_set(sentence, "sctp: out of memory");
    return NULL;
}

static int path_begin(struct sctp_path *path, bool active, uint64_t now, struct iwarp_sentence *sentence)
{
    const struct sctp_hub_config *of = &path->hub->config;
    struct user_sctp_config config = {.active = active,
                                      .port = path->place.own_port,
                                      .peer_port = path->place.port,
                                      .packet_max = of->packet_max,
                                      .rto_ms = of->rto_ms,
                                      .retransmissions = of->retransmissions,
                                      .sack_delay_ms = of->sack_delay_ms,
                                      .sack_packets = of->sack_packets,
                                      .window = of->window,
                                      .send_buffer = of->send_buffer,
                                      .chunk_max = of->chunk_max,
                                      .fragments = of->fragments,
                                      .send = on_send,
                                      .leaving = of->leaving != NULL ? on_leaving : NULL,
                                      .notify = on_notified,
                                      .user = path};

    path->end = user_sctp_new(path->association, &config, now, sentence);
    return path->end == NULL ? -1 : 0;
}

void sctp_path_release(struct sctp_path *path)
{
    if (path == NULL)
        return;
    user_sctp_free(path->end);
    not_half_open(path);
    if (path->changed)
        LL_DELETE2(path->hub->changed, path, next_changed);
    HASH_DEL(path->hub->paths, path);
    free(path);
}

const struct sockaddr_storage *sctp_path_to(const struct sctp_path *path)
{
    return &path->to;
}

void sctp_path_set_packet_max(struct sctp_path *path, size_t octets)
{
    user_sctp_set_packet_max(path->end, octets);
}

void sctp_path_run(struct sctp_path *path, uint64_t now)
{
    user_sctp_run(path->end, now);
}

/* The owner is called when nothing of the hub is on the way: it may release any path. */
static void notify_changed(struct sctp_hub *hub)
{
    struct sctp_path *path;

    while ((path = hub->changed) != NULL) {
        LL_DELETE2(hub->changed, path, next_changed);
        path->changed = false;
        if (user_sctp_up(path->end))
            not_half_open(path);
        hub->config.changed(path->user);
    }
}

/* --- The hub ------------------------------------------------------------------------------------------------------ */

struct sctp_hub *sctp_hub_new(const struct sctp_hub_config *config, struct iwarp_sentence *sentence)
{
    struct sctp_hub *hub;

    if (user_sctp_start(sentence) != 0)
        return NULL;
    hub = calloc(1, sizeof(*hub));
    if (hub == NULL) {
        (void)iwarp_sentence_set(sentence, "sctp: out of memory");
        return NULL;
    }
    hub->config = *config;
    if (hub->config.paths_max == 0)
        hub->config.paths_max = SCTP_HUB_PATHS_MAX;
    hub->last_port = UINT16_MAX;
    return hub;
}

void sctp_hub_free(struct sctp_hub *hub)
{
    if (hub == NULL)
        return;
    while (hub->listeners != NULL)
        sctp_hub_unlisten(hub, hub->listeners->port);
    free(hub);
}

bool sctp_hub_busy(const struct sctp_hub *hub)
{
    return hub->paths != NULL;
}

static bool listens(const struct sctp_hub *hub, uint16_t port)
{
    const struct listener *listener;

    LL_SEARCH_SCALAR(hub->listeners, listener, port, port);
    return listener != NULL;
}

int sctp_hub_listen(struct sctp_hub *hub, uint16_t port, struct iwarp_sentence *why)
{
    struct listener *listener;

    for (uint32_t any = SCTP_HUB_PORTS_FROM; port == 0 && any <= UINT16_MAX; any++)
        if (!listens(hub, (uint16_t)any))
            port = (uint16_t)any;
    if (port == 0 || listens(hub, port))
        return iwarp_sentence_set(why, "the port is in use");
    listener = malloc(sizeof(*listener));
    if (listener == NULL)
        return iwarp_sentence_set(why, "out of memory");
    listener->port = port;
    LL_PREPEND(hub->listeners, listener);
    return port;
}

void sctp_hub_unlisten(struct sctp_hub *hub, uint16_t port)
{
    struct listener *listener;

    LL_SEARCH_SCALAR(hub->listeners, listener, port, port);
    if (listener == NULL)
        return;
    LL_DELETE(hub->listeners, listener);
    free(listener);
}

struct sctp_path *sctp_hub_connect(struct sctp_hub *hub, const struct sockaddr_storage *to, uint16_t port,
                                   struct iwarp_association *association, void *user, uint64_t now,
                                   struct iwarp_sentence *sentence)
{
    struct sctp_path *path, *other;
    struct place place;

    /* An own port that no association with the same peer has; there are more ports than associations. */
    do {
        hub->last_port = hub->last_port == UINT16_MAX ? SCTP_HUB_PORTS_FROM : (uint16_t)(hub->last_port + 1);
        place = place_of(to, port, hub->last_port);
        HASH_FIND(hh, hub->paths, &place, sizeof(place), other);
    } while (other != NULL || listens(hub, hub->last_port));
    path = path_new(hub, to, &place, sentence);
    if (path == NULL)
        return NULL;
    path->association = association;
    path->user = user;
    user_sctp_clock(now);
    if (path_begin(path, true, now, sentence) == 0)
        return path;
    sctp_path_release(path);
    return NULL;
}

/* --- Packets ------------------------------------------------------------------------------------------------------ */

/* An INIT comes alone in its packet, without a tag (RFC 9260 4.3, 8.5.1). */
static bool is_init(const uint8_t *packet, size_t octets)
{
    const uint8_t *p = packet + SCTP_COMMON_OCTETS;
    struct sctp_chunk chunk;
    struct sctp_init init;

    return sctp_chunk_parse(&p, packet + octets, &chunk) == WIRE_OK && chunk.type == SCTP_INIT &&
           sctp_common_get_VerificationTag(packet) == 0 && sctp_init_parse(&chunk, &init) == WIRE_OK &&
           sctp_common_get_Checksum(packet) == sctp_checksum(packet, octets);
}

/* Without a word to the peer: nothing of it is known to be true. */
static void drop(struct sctp_path *path, uint64_t now)
{
    not_half_open(path);
    iwarp_association_abort(path->association, now);
    on_notified(path);
}

/* Of what strangers have begun and not finished, the oldest gives way: it may be a forgery, and can come again. */
static void make_room(struct sctp_hub *hub, uint64_t now)
{
    if (hub->half_open_count >= SCTP_HUB_HALF_OPEN_MAX)
        drop(hub->half_open, now);
}

static struct sctp_path *path_incoming(struct sctp_hub *hub, const struct sockaddr_storage *from,
                                       const struct place *place, uint64_t now)
{
    struct sctp_path *path;

    make_room(hub, now);
    path = path_new(hub, from, place, NULL);
    if (path == NULL)
        return NULL;
    path->association = hub->config.incoming(hub->config.owner, place->own_port, path, &path->user);
    if (path->association == NULL) {
        sctp_path_release(path);
        return NULL;
    }
    path->half_open = true;
    hub->half_open_count++;
    DL_APPEND(hub->half_open, path);
    path->since = now;
    if (path_begin(path, false, now, NULL) == 0)
        return path;
    drop(path, now);
    return NULL;
}

void sctp_hub_input(struct sctp_hub *hub, const struct sockaddr_storage *from, const uint8_t *packet, size_t octets,
                    uint64_t now)
{
    struct sctp_path *path;
    struct place place;

    if (octets < SCTP_COMMON_OCTETS || (from->ss_family != AF_INET && from->ss_family != AF_INET6))
        return;
    user_sctp_clock(now);
    place = place_of(from, sctp_common_get_SourcePort(packet), sctp_common_get_DestinationPort(packet));
    HASH_FIND(hh, hub->paths, &place, sizeof(place), path);
    if (path == NULL && listens(hub, place.own_port) && is_init(packet, octets))
        path = path_incoming(hub, from, &place, now);
    if (path != NULL) {
        user_sctp_input(path->end, packet, octets, now);
        on_notified(path); /* only SCTP packets report acknowledgements */
    }
    notify_changed(hub);
}

void sctp_hub_tick(struct sctp_hub *hub, uint64_t now)
{
    user_sctp_clock(now);
    while (hub->half_open != NULL && now - hub->half_open->since > SCTP_HUB_HALF_OPEN_NS)
        drop(hub->half_open, now);
    notify_changed(hub);
}
