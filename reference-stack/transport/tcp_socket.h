/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One kernel TCP connection on a libuv loop, for whoever has a stream to run over it: Nagle off, so that what is handed
 * over together becomes segments by itself (RFC 5044 5.1), and the EMSS that the kernel reports.
 *
 * The owner is called back through tcp_socket_ops, never from within its own call; after `lost` and after
 * tcp_socket_abort() and tcp_socket_release() it hears nothing more, and the socket frees itself.
 */
#ifndef REFERENCE_STACK_TCP_SOCKET_H
#define REFERENCE_STACK_TCP_SOCKET_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "iwarp/stream.h"
#include "reference-stack/transport/carrier.h"
#include "reference-stack/transport/socket_name.h"
#include "reference-stack/transport/spare_handle.h"

struct budget;
struct tcp_socket;

/* Of a struct tcp_socket. */
extern const struct carrier_ops tcp_socket_carrier;

struct tcp_socket_ops {
    void (*connected)(void *owner);
    void (*connect_failed)(void *owner, const char *why); /* the socket is gone */
    void (*input)(void *owner, const uint8_t *octets, size_t count);
    /* Or, where the owner knows where the next octets belong (NULL: never): there, and so many came. */
    size_t (*space)(void *owner, uint8_t **space);
    void (*filled)(void *owner, size_t count);
    void (*fin)(void *owner);
    void (*lost)(void *owner);     /* reset, or broken: the socket is gone */
    void (*writable)(void *owner); /* there is room again */
};

enum {
    TCP_SOCKET_READ_OCTETS = 262144,
    TCP_SOCKET_BACKLOG = 4096,
    TCP_SOCKET_TURN = 1 << 20, /* octets that are handed over before other sockets have their turn */
};

/* What all sockets of a loop share: a read is handed on at once. */
struct tcp_socket_pool {
    uv_loop_t *loop;
    const struct tcp_socket_ops *ops;
    struct spare_handle spare;
    bool guard; /* the program may not ignore SIGPIPE: see tcp_socket_guard() */
    bool guarded;
    size_t writes;         /* that libuv has still to make */
    sigset_t mask;         /* of the thread, before it was guarded */
    struct budget *budget; /* what waits to be sent is taken from it; NULL: no limit */
    bool nagle;            /* small pieces wait for the ACK of what was sent before: only as a defect (RFC 5044 A.2) */
    uint8_t read_buffer[TCP_SOCKET_READ_OCTETS];
};

/* Begins an active open; a callback reports the outcome. NULL when it cannot even begin. */
struct tcp_socket *tcp_socket_connect(struct tcp_socket_pool *pool, const struct sockaddr_storage *name, void *owner);

/*
 * Accepts the connection that `server` has reported. NULL: no memory, and the connection is closed. Nothing is read
 * yet.
 */
struct tcp_socket *tcp_socket_accept(struct tcp_socket_pool *pool, uv_stream_t *server);

/*
 * Takes over a connected socket, as tcp_socket_accept() does. NULL when it is none, or no memory: it stays the
 * caller's.
 */
struct tcp_socket *tcp_socket_adopt(struct tcp_socket_pool *pool, int descriptor);

/* Sets the owner for callbacks, and begins to read. -1: reading failed, and the socket is gone. */
int tcp_socket_own(struct tcp_socket *socket, void *owner);

/*
 * Takes all octets of the spans, as struct output_batch has it: what the kernel does not take at once is copied.
 * Without memory the socket is lost.
 */
void tcp_socket_send(void *socket, const struct iwarp_span *spans, size_t count);

/* Reads available octets without waiting for the loop. False: there were none, and no callback was called. */
bool tcp_socket_look(struct tcp_socket *socket);

/* Octets that tcp_socket_send() should be given now; with 0, `writable` comes later. */
size_t tcp_socket_room(void *socket);

/* A FIN after what was sent. These six are what struct carrier_ops has. */
void tcp_socket_shutdown(void *socket);
void tcp_socket_abort(void *socket);
/* The owner is done with it: it closes after what was sent. */
void tcp_socket_release(void *socket);
/* Effective maximum segment size in octets, 0 when not known. */
size_t tcp_socket_emss(void *socket);
/* Octets that were sent, a FIN included, and that the peer has not acknowledged; 0 when not known. */
size_t tcp_socket_unacknowledged(void *socket);
/* Its own name and the peer's. False: it has none any more. */
bool tcp_socket_ends(void *socket, struct connection_end *own, struct connection_end *peer);

/* The peer's name. -1: it has none any more. */
int tcp_socket_peer(const struct tcp_socket *socket, struct sockaddr_storage *out);

/*
 * libuv's writes, as against those made here at once, raise SIGPIPE where the connection is gone, and that ends a
 * program which neither ignores nor catches it. With pool->guard it is held back from this thread while libuv has
 * something to write: from tcp_socket_guard(), or the first octets that are left to libuv, to tcp_socket_unguard(),
 * after which the thread is as it was.
 */
void tcp_socket_guard(struct tcp_socket_pool *pool);
void tcp_socket_unguard(struct tcp_socket_pool *pool);

/* For uv_walk(): closes a handle that is a socket's. */
void tcp_socket_close_handle(uv_handle_t *handle);

#endif
