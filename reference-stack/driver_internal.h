/* SPDX-License-Identifier: BSD-2-Clause */
/* driver_tcp.c: loop, listeners, connections; driver_control.c: the upper tester's socket. */
#ifndef REFERENCE_STACK_DRIVER_INTERNAL_H
#define REFERENCE_STACK_DRIVER_INTERNAL_H

#include "reference-stack/driver_tcp.h"
#include "reference-stack/tcp_socket.h"

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
    struct tcp_socket_pool pool;
    bool stopping, once, had_stream;
};

/* driver_control.c: closes all control sockets. */
void driver_control_free(struct driver *driver);

#endif
