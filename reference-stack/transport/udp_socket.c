/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/udp_socket.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/transport/tcp_socket.h"

enum { SOCKET_SPACE = 4 << 20 };

struct udp_socket {
    uv_udp_t handle;
    int fd; /* of the handle */
    udp_socket_received *received;
    void *owner;
    uint16_t port;
    uint8_t buffer[UDP_SOCKET_DATAGRAM_MAX];
};

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct udp_socket *socket = handle->data;

    (void)suggested;
    *buffer = uv_buf_init((char *)socket->buffer, sizeof(socket->buffer));
}

static void on_datagram(uv_udp_t *handle, ssize_t count, const uv_buf_t *buffer, const struct sockaddr *from,
                        unsigned flags)
{
    struct udp_socket *socket = handle->data;
    struct sockaddr_storage name = {0};

    (void)buffer;
    if (count <= 0 || from == NULL || (flags & UV_UDP_PARTIAL) != 0)
        return; /* nothing there, or longer than what anybody here understands */
    memcpy(&name, from, from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    socket->received(socket->owner, &name, socket->buffer, (size_t)count);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* 0, or libuv's error. */
static int bind_to(struct udp_socket *socket, const struct sockaddr_storage *name)
{
    int result = uv_udp_bind(&socket->handle, (const struct sockaddr *)name, 0), fd = -1, probe = IP_PMTUDISC_DO,
        space = SOCKET_SPACE;
    struct sockaddr_storage bound;
    int octets = sizeof(bound);

    if (result == 0)
        result = uv_fileno((const uv_handle_t *)&socket->handle, &fd);
    socket->fd = fd;
    if (result == 0 && name->ss_family == AF_INET &&
        setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe)) != 0)
        result = UV_EINVAL;
    if (result == 0) { /* as much as the system allows: what does not fit is lost */
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &space, sizeof(space));
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &space, sizeof(space));
    }
    if (result == 0)
        result = uv_udp_getsockname(&socket->handle, (struct sockaddr *)&bound, &octets);
    if (result == 0)
        socket->port = (uint16_t)socket_name_port(&bound);
    return result == 0 ? uv_udp_recv_start(&socket->handle, on_room, on_datagram) : result;
}

struct udp_socket *udp_socket_open(uv_loop_t *loop, const struct sockaddr_storage *name, udp_socket_received *received,
                                   void *owner, struct iwarp_sentence *why)
{
    struct udp_socket *socket = calloc(1, sizeof(*socket));
    int result;

    if (socket == NULL || uv_udp_init(loop, &socket->handle) != 0) {
        free(socket);
        (void)iwarp_sentence_set(why, "out of memory");
        return NULL;
    }
    socket->handle.data = socket;
    socket->received = received;
    socket->owner = owner;
    result = bind_to(socket, name);
    if (result == 0)
        return socket;
    (void)iwarp_sentence_set(why, "%s", uv_strerror(result));
    udp_socket_close(socket);
    return NULL;
}

uint16_t udp_socket_port(const struct udp_socket *socket)
{
    return socket->port;
}

/* Without libuv, which would only wrap the same call: nothing ever waits in its queue. */
bool udp_socket_send(struct udp_socket *socket, const struct sockaddr_storage *to, const uint8_t *octets, size_t count)
{
    socklen_t length = to->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);

    return sendto(socket->fd, octets, count, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)to, length) ==
           (ssize_t)count;
}

void udp_socket_close(struct udp_socket *socket)
{
    uv_close((uv_handle_t *)&socket->handle, on_closed);
}
