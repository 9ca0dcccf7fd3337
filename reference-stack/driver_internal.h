/* SPDX-License-Identifier: BSD-2-Clause */
/* driver_tcp.c: loop, listeners, connections; driver_control.c: the upper tester's socket. */
#ifndef REFERENCE_STACK_DRIVER_INTERNAL_H
#define REFERENCE_STACK_DRIVER_INTERNAL_H

#include <uv.h>

#include "reference-stack/driver_tcp.h"

enum {
    DRIVER_READ_OCTETS = 262144,
    DRIVER_BACKLOG = 1024,
    DRIVER_QUEUE_MAX = 1 << 20, /* octets that may wait for one socket before its stream is held back */
    DRIVER_TICK_MS = 20,
};

struct driver {
    struct driver_config config;
    uv_loop_t loop;
    bool loop_open;
    uv_timer_t timer;
    uv_signal_t signals[4];
    size_t signal_count;
    struct peer *peer;
    struct driver_listener *listeners;
    struct control *controls;
    uint8_t read_buffer[DRIVER_READ_OCTETS]; /* one for all: a read is handed on at once */
    bool stopping, once, had_stream;
};

/* driver_tcp.c */
int driver_parse_address(const char *address, uint16_t port, struct sockaddr_storage *out);

/* driver_control.c: closes all control sockets. */
void driver_control_free(struct driver *driver);

#endif
