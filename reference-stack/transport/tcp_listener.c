/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/tcp_listener.h"

#include <stdlib.h>

/* From tcp_listener_open() to libuv's callback after tcp_listener_close(). */
struct tcp_listener {
    uv_tcp_t handle;
    struct tcp_socket_pool *pool;
    tcp_listener_accepted *accepted;
    void *owner;
    uint16_t port;
};

static void on_connection(uv_stream_t *server, int status)
{
    struct tcp_listener *listener = server->data;
    struct tcp_socket *socket = status < 0 ? NULL : tcp_socket_accept(listener->pool, server);

    if (socket != NULL)
        listener->accepted(listener->owner, socket);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

int tcp_listener_bind(uv_tcp_t *handle, const struct sockaddr_storage *name, uv_connection_cb accepted)
{
    struct sockaddr_storage bound;
    int octets = sizeof(bound);
    int result = uv_tcp_bind(handle, (const struct sockaddr *)name, 0);

    if (result == 0)
        result = uv_listen((uv_stream_t *)handle, TCP_SOCKET_BACKLOG, accepted);
    if (result == 0)
        result = uv_tcp_getsockname(handle, (struct sockaddr *)&bound, &octets);
    return result == 0 ? socket_name_port(&bound) : result;
}

struct tcp_listener *tcp_listener_open(struct tcp_socket_pool *pool, const struct sockaddr_storage *name,
                                       tcp_listener_accepted *accepted, void *owner, struct iwarp_sentence *why)
{
    struct tcp_listener *listener = calloc(1, sizeof(*listener));
    int result;

    if (listener == NULL || uv_tcp_init(pool->loop, &listener->handle) != 0) {
        free(listener);
        (void)iwarp_sentence_set(why, "out of memory");
        return NULL;
    }
    listener->handle.data = listener;
    listener->pool = pool;
    listener->accepted = accepted;
    listener->owner = owner;
    result = tcp_listener_bind(&listener->handle, name, on_connection);
    if (result <= 0) {
        (void)iwarp_sentence_set(why, "%s", uv_strerror(result));
        uv_close((uv_handle_t *)&listener->handle, on_closed);
        return NULL;
    }
    listener->port = (uint16_t)result;
    return listener;
}

uint16_t tcp_listener_port(const struct tcp_listener *listener)
{
    return listener->port;
}

void tcp_listener_close(struct tcp_listener *listener)
{
    spare_handle_forget(&listener->pool->spare, (uv_stream_t *)&listener->handle);
    uv_close((uv_handle_t *)&listener->handle, on_closed);
}
