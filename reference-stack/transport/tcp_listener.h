/* SPDX-License-Identifier: BSD-2-Clause */
/* A listening TCP socket on a libuv loop, for whoever wants its connections as struct tcp_socket. */
#ifndef REFERENCE_STACK_TCP_LISTENER_H
#define REFERENCE_STACK_TCP_LISTENER_H

#include "reference-stack/transport/tcp_socket.h"
#include "base/sentence.h"

struct tcp_listener;

/* A connection: the owner calls tcp_socket_own() or tcp_socket_abort() for it. */
typedef void tcp_listener_accepted(void *owner, struct tcp_socket *socket);

/* Begins to listen. NULL with the reason. */
struct tcp_listener *tcp_listener_open(struct tcp_socket_pool *pool, const struct sockaddr_storage *name,
                                       tcp_listener_accepted *accepted, void *owner, struct iwarp_sentence *why);
uint16_t tcp_listener_port(const struct tcp_listener *listener);

/* Stops listening: no more callbacks. Accepted connections stay open. */
void tcp_listener_close(struct tcp_listener *listener);

/* Binds `handle` and listens, with a callback of the caller's own. The port, or libuv's error, which is negative. */
int tcp_listener_bind(uv_tcp_t *handle, const struct sockaddr_storage *name, uv_connection_cb accepted);

#endif
