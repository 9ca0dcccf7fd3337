/* SPDX-License-Identifier: BSD-2-Clause */
/* What a TCP socket is, for tcp_socket.c and tcp_socket_facts.c. */
#ifndef REFERENCE_STACK_TCP_SOCKET_INTERNAL_H
#define REFERENCE_STACK_TCP_SOCKET_INTERNAL_H

#include <stdbool.h>

#include <uv.h>

#include "reference-stack/transport/tcp_socket.h"

/* From its first call to the last of libuv's callbacks. */
struct tcp_socket {
    uv_tcp_t handle;
    struct tcp_socket_pool *pool;
    void *owner; /* NULL once it is done with the socket */
    bool closing;
    bool broken;        /* no memory for what was to be sent: the owner is notified at the next turn of the loop */
    bool ended;         /* a FIN came */
    bool cut;           /* the kernel takes nothing any more: what came before is still read, then the socket is lost */
    bool shutting;      /* a FIN is on its way after the queued octets */
    bool release_later; /* close when it is out */
    union {
        uv_connect_t connect;
        uv_shutdown_t shutdown;
    } request; /* one follows the other */
};

#endif
