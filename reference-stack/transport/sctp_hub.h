/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many associations over one link of packets, in user space (user_sctp.h): which association a packet is for, by the
 * place that it came from and its two ports; listeners; and the bounds of what strangers may begin. No I/O and no clock
 * of its own.
 *
 *     hub = sctp_hub_new(&config, &sentence);
 *     sctp_hub_input(hub, from, packet, octets, now);   each SCTP packet, from the common header on
 *     sctp_hub_tick(hub, now);                          every SCTP_HUB_TICK while sctp_hub_busy()
 *
 * The owner has the associations, the hub has what carries them, the paths. The hub calls `incoming` for a peer that
 * asks for an association with a port that is listened to, and `changed` whenever an association got input. In both the
 * owner may call sctp_path_run() and sctp_path_release().
 */
#ifndef REFERENCE_STACK_SCTP_HUB_H
#define REFERENCE_STACK_SCTP_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "iwarp/sctp.h"
#include "base/sentence.h"

struct sctp_hub;
struct sctp_path;

#define SCTP_HUB_TICK         UINT64_C(10000000)    /* ns */
#define SCTP_HUB_HALF_OPEN_NS UINT64_C(60000000000) /* the life of a State Cookie (RFC 9260 16) */

enum {
    SCTP_HUB_PATHS_MAX = 4096,   /* associations at once, by default */
    SCTP_HUB_HALF_OPEN_MAX = 64, /* of them, those that peers have begun and that are not up; the oldest gives way */
    SCTP_HUB_PORTS_FROM = 49152, /* own ports of associations that this side begins */
};

struct sctp_hub_config {
    size_t packet_max; /* octets of the longest SCTP packet */
    bool fragments;    /* as in struct user_sctp_config, as the next six */
    unsigned rto_ms;
    unsigned retransmissions;
    unsigned sack_delay_ms;
    unsigned sack_packets;
    unsigned window;
    unsigned send_buffer;
    unsigned chunk_max;
    size_t paths_max; /* 0: the default */
    /* `link` and `owner` are those below. */
    void (*send)(void *owner, void *link, const struct sockaddr_storage *to, const uint8_t *packet, size_t octets);
    size_t (*leaving)(void *owner, uint8_t *packet, size_t octets,
                      size_t room); /* as in struct user_sctp_config; or NULL */
    /*
     * A peer wants an association with `port`. The owner gives one that is not up, and in `user` its context for
     * callbacks. NULL: refused, and the peer gets no answer.
     */
    struct iwarp_association *(*incoming)(void *owner, uint16_t port, struct sctp_path *path, void **user);
    /* The association got input: the owner polls it, and then calls sctp_path_run(). */
    void (*changed)(void *user);
    void *owner, *link;
};

/* NULL with a sentence: no libusrsctp in this build, no memory. `config` is copied. */
struct sctp_hub *sctp_hub_new(const struct sctp_hub_config *config, struct iwarp_sentence *sentence);

/* All paths must be released. NULL is fine. */
void sctp_hub_free(struct sctp_hub *hub);

/* Port 0: any. The port, or -1 with the reason. Listening again on one that is listened to is an error. */
int sctp_hub_listen(struct sctp_hub *hub, uint16_t port, struct iwarp_sentence *why);
void sctp_hub_unlisten(struct sctp_hub *hub, uint16_t port);

/* Begins an association; packets may be sent at once. The association gets the outcome. NULL with a sentence. */
struct sctp_path *sctp_hub_connect(struct sctp_hub *hub, const struct sockaddr_storage *to, uint16_t port,
                                   struct iwarp_association *association, void *user, uint64_t now,
                                   struct iwarp_sentence *sentence);

void sctp_hub_input(struct sctp_hub *hub, const struct sockaddr_storage *from, const uint8_t *packet, size_t octets,
                    uint64_t now);

/* Time has passed. */
void sctp_hub_tick(struct sctp_hub *hub, uint64_t now);

/* There are associations: sctp_hub_tick() has to be called. */
bool sctp_hub_busy(const struct sctp_hub *hub);

/* SCTP is given what the association has to send, and does what it wants. */
void sctp_path_run(struct sctp_path *path, uint64_t now);

/*
 * The path MTU of this association has changed: octets of the longest SCTP packet. The owner informs the association.
 */
void sctp_path_set_packet_max(struct sctp_path *path, size_t octets);

/* The owner is done with it, before it frees the association: one that still exists is aborted. */
void sctp_path_release(struct sctp_path *path);

/* Where its packets go: an address, and in UDP a port. */
const struct sockaddr_storage *sctp_path_to(const struct sctp_path *path);

#endif
