/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver_tcp.c: loop, listeners, connections; driver_sctp.c and driver_kernel_sctp.c: associations; driver_control.c:
 * the upper tester's socket.
 */
#ifndef REFERENCE_STACK_DRIVER_INTERNAL_H
#define REFERENCE_STACK_DRIVER_INTERNAL_H

#include "reference-stack/base/budget.h"
#include "reference-stack/peer/driver_tcp.h"
#include "reference-stack/transport/kernel_sctp.h"
#include "reference-stack/transport/released.h"
#include "reference-stack/transport/sctp_udp.h"
#include "reference-stack/transport/tcp_socket.h"

#define NS_PER_MS UINT64_C(1000000)

struct driver {
    struct driver_config config;
    uv_loop_t loop;
    bool loop_open;
    uv_timer_t timer;
    uv_prepare_t prepare;
    uint64_t armed; /* when the timer is due; UINT64_MAX: it is not */
    uv_signal_t signals[4];
    size_t signal_count;
    struct peer *peer;
    struct driver_listener *listeners;
    struct control *controls;
    size_t control_count; /* clients, without the server sockets */
    unsigned refusals;    /* bits of enum driver_refusal: those reported */
    struct tcp_socket_pool pool;
    struct released released;
    const struct peer_transport_ops *ops;
    struct sctp_udp *sctp;        /* NULL: over TCP, or over SCTP of the kernel */
    struct kernel_sctp *kernel;   /* NULL: not over SCTP of the kernel */
    struct iwarp_sctp_init offer; /* of the listener that is opened next, in the kernel */
    bool stopping, once, had_stream;
};

enum driver_refusal {
    DRIVER_REFUSED_CONNECTION = 1,
    DRIVER_REFUSED_CONTROL = 2,
    DRIVER_REFUSED_MEMORY = 4,
    DRIVER_OUT_OF_MEMORY = 8,
};

/* Reports the first refusal of each kind. */
void driver_refuse(struct driver *driver, enum driver_refusal refusal);

/*
 * An allocation failed. If the budget's count of refusals is no longer `before`, the limit was the cause, else the
 * system.
 */
void driver_refuse_memory(struct driver *driver, uint64_t before);

/* An association that a peer opens on a port; `path` is the transport's, *user becomes the peer's. NULL: refused. */
struct iwarp_association *driver_incoming(struct driver *driver, uint16_t port, void *path, void **user);

/* driver_sctp.c: the transport below `peer`, which has to be made next, and its ops. -1 with a sentence. */
int driver_sctp_open(struct driver *driver, struct iwarp_sentence *sentence);

/* The address that listeners and associations have. */
const char *driver_sctp_address(const struct driver *driver);

/* Where a peer is, with `port` for its SCTP or UDP. -1 with a sentence. */
int driver_sctp_name(const struct driver *driver, const char *address, uint16_t port, struct sockaddr_storage *name,
                     struct iwarp_sentence *why);

/* driver_kernel_sctp.c: the same over SCTP of the kernel. */
int driver_kernel_sctp_open(struct driver *driver, struct iwarp_sentence *sentence);

/* driver_control.c: closes all control sockets. */
void driver_control_free(struct driver *driver);

#endif
