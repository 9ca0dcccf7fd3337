/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that there is no memory for. One that libuv has told of and nobody takes would be the last of its
 * listener: so it is taken, by a handle that is there for this, and closed. It needs no allocation.
 */
#ifndef REFERENCE_STACK_SPARE_HANDLE_H
#define REFERENCE_STACK_SPARE_HANDLE_H

#include <stdbool.h>
#include <stddef.h>

#include <uv.h>

enum { SPARE_HANDLE_SERVERS = 16 };

/* Zeroed to begin with; it must live until the loop has no more handles. */
struct spare_handle {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } with;
    bool busy; /* the handle is closing */
    uv_stream_t *waiting[SPARE_HANDLE_SERVERS];
    const char *texts[SPARE_HANDLE_SERVERS]; /* for each of them; NULL: none */
    size_t count;
};

/* The connection that `server` has told of. */
void spare_handle_refuse(struct spare_handle *spare, uv_stream_t *server);

/* The same, with a text that lives on: as much of it goes out as the kernel takes at once. */
void spare_handle_refuse_with_text(struct spare_handle *spare, uv_stream_t *server, const char *text);

/* The server closes. */
void spare_handle_forget(struct spare_handle *spare, const uv_stream_t *server);

#endif
