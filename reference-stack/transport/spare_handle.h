/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Out of memory: accepts a connection with a preallocated handle and closes it. If a connection that libuv has reported
 * is not accepted, its listener reports no more.
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

/* Accepts and closes the connection that `server` has reported. */
void spare_handle_refuse(struct spare_handle *spare, uv_stream_t *server);

/* The same, and sends a text first, which must stay valid: as much of it as the kernel accepts at once. */
void spare_handle_refuse_with_text(struct spare_handle *spare, uv_stream_t *server, const char *text);

/* The server closes. */
void spare_handle_forget(struct spare_handle *spare, const uv_stream_t *server);

#endif
