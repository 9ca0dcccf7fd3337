/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP of the kernel below associations, on a libuv loop: a one-to-one socket for each (RFC 6458 4). Packets go over
 * IP, and in UDP datagrams where a path's place has a UDP port (RFC 6951). No threads.
 *
 *     sctp = kernel_sctp_open(loop, &config, &sentence);
 *     kernel_sctp_listen(sctp, port, &init, &sentence);      what listeners' INIT ACKs have
 *     path = kernel_sctp_connect(sctp, &place, association, user, &sentence);
 *
 * The owner has the associations, a path is what carries one. As with sctp_hub.h, `incoming` is called for an
 * association that a peer has set up, and `changed` whenever an association got input: the owner may call
 * kernel_sctp_path_run() and kernel_sctp_path_release() there.
 *
 * What differs from SCTP in user space (user_sctp.h):
 *
 *   - The kernel reports when all sent messages are acknowledged (SCTP_SENDER_DRY_EVENT), not single ones.
 *     After KERNEL_SCTP_ROUND messages without that, no more are sent until it comes.
 *   - It reports the least of both sides' streams in each direction, not the contents of the peer's INIT.
 *   - INIT ACKs are sent before there is an association here, so that a listener has to know what they contain.
 *   - An adaptation indication of 0 is neither sent nor reported: it counts as none.
 */
#ifndef REFERENCE_STACK_KERNEL_SCTP_H
#define REFERENCE_STACK_KERNEL_SCTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <uv.h>

#include "iwarp/sctp.h"
#include "base/sentence.h"

struct kernel_sctp;
struct kernel_sctp_path;

enum {
    KERNEL_SCTP_SPACE = 4 << 20,       /* octets that the kernel keeps of an association at most, of each direction */
    KERNEL_SCTP_MESSAGE_MAX = 2 << 20, /* a longer message ends its association: no DDP Segment is that long */
    KERNEL_SCTP_ROUND = 4096,          /* messages of an association that may wait for an acknowledgement */
    KERNEL_SCTP_OCTETS_IPV4 = 20,      /* of headers below SCTP */
    KERNEL_SCTP_OCTETS_IPV6 = 40,
    KERNEL_SCTP_OCTETS_UDP = 8, /* more, with a UDP port */
};

struct kernel_sctp_config {
    struct sockaddr_storage name; /* own address, for listeners and paths; its port is not looked at */
    size_t mtu;                   /* of the path, with all headers */
    bool fragments;               /* as in struct user_sctp_config */
    /*
     * A peer has set up an association with `port`. The owner gives one that is not up, and in `user` its context for
     * callbacks. NULL: refused, and the peer's association is aborted.
     */
    struct iwarp_association *(*incoming)(void *owner, uint16_t port, struct kernel_sctp_path *path, void **user);
    void (*changed)(void *user);
    void *owner;
};

/* Where a peer listens. */
struct kernel_sctp_place {
    struct sockaddr_storage name; /* address and SCTP port */
    uint16_t udp_port;            /* of its UDP encapsulation; 0: SCTP over IP */
};

/* NULL with a sentence: the kernel has no SCTP, no such address, no memory. `config` is copied. */
struct kernel_sctp *kernel_sctp_open(uv_loop_t *loop, const struct kernel_sctp_config *config,
                                     struct iwarp_sentence *sentence);

/* All paths are released. It is freed in the loop's next turns; NULL is fine. */
void kernel_sctp_close(struct kernel_sctp *sctp);

/* Port 0: any. The port, or -1 with the reason. `init` is what INIT ACKs have (iwarp_association_init()). */
int kernel_sctp_listen(struct kernel_sctp *sctp, uint16_t port, const struct iwarp_sctp_init *init,
                       struct iwarp_sentence *why);
/* Other INIT ACKs, from the next one on. -1 with the reason: there is no such listener, or the kernel refuses it. */
int kernel_sctp_offer(struct kernel_sctp *sctp, uint16_t port, const struct iwarp_sctp_init *init,
                      struct iwarp_sentence *why);
void kernel_sctp_unlisten(struct kernel_sctp *sctp, uint16_t port);

/* Begins an association. The association gets the outcome. NULL with a sentence. */
struct kernel_sctp_path *kernel_sctp_connect(struct kernel_sctp *sctp, const struct kernel_sctp_place *to,
                                             struct iwarp_association *association, void *user,
                                             struct iwarp_sentence *sentence);

/* SCTP is given what the association has to send, and does what it wants. `changed` is not called. */
void kernel_sctp_path_run(struct kernel_sctp_path *path, uint64_t now);

/* The owner is done with it, before it frees the association: one that still exists is aborted. NULL is fine. */
void kernel_sctp_path_release(struct kernel_sctp_path *path);

#endif
