/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/tcp_socket.h"

#include <errno.h>
#include <pthread.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "reference-stack/base/budget.h"
#include "reference-stack/transport/output_batch.h"
#include "reference-stack/transport/reserve.h"
#include "reference-stack/transport/tcp_socket_internal.h"

enum {
    READ_MUCH = 16384, /* octets of one read after which another is likely to find some */
    READ_TURNS = 4,    /* until other sockets have theirs */
};

/* What the kernel did not take at once, the octets after it. */
struct write {
    uv_write_t request;
    struct tcp_socket *socket;
    size_t count;
    uint8_t octets[];
};

/* --- Closing ----------------------------------------------------------------------------------------------------- */

static void socket_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void socket_close(struct tcp_socket *socket, bool reset)
{
    if (socket->closing)
        return;
    socket->closing = true;
    socket->owner = NULL;
    if (!reset || uv_tcp_close_reset(&socket->handle, socket_closed) != 0)
        uv_close((uv_handle_t *)&socket->handle, socket_closed);
}

static void socket_lost(struct tcp_socket *socket)
{
    void *owner = socket->owner;

    if (socket->closing)
        return;
    socket_close(socket, socket->broken);
    if (owner != NULL)
        socket->pool->ops->lost(owner);
}

void tcp_socket_close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        socket_close(handle->data, false);
}

/* --- Reading ----------------------------------------------------------------------------------------------------- */

static void read_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct tcp_socket *socket = handle->data;
    const struct tcp_socket_ops *ops = socket->pool->ops;
    uint8_t *space = NULL;
    size_t count = ops->space == NULL || socket->owner == NULL ? 0 : ops->space(socket->owner, &space);

    (void)suggested;
    if (count == 0) {
        space = socket->pool->read_buffer;
        count = sizeof(socket->pool->read_buffer);
    }
    *buffer = uv_buf_init((char *)space, (unsigned)count);
}

static void receive_octets(struct tcp_socket *socket, const uint8_t *octets, size_t count)
{
    const struct tcp_socket_ops *ops = socket->pool->ops;

    if (octets == socket->pool->read_buffer)
        ops->input(socket->owner, octets, count);
    else
        ops->filled(socket->owner, count);
}

/* Where much comes, more has come meanwhile: to ask at once is cheaper than by way of the loop. */
static bool read_on(struct tcp_socket *socket, size_t count)
{
    bool came = false;
    uv_os_fd_t fd;

    if (uv_fileno((uv_handle_t *)&socket->handle, &fd) != 0)
        return false;
    for (size_t turn = 0; turn < READ_TURNS && count >= READ_MUCH && socket->owner != NULL && !socket->broken; turn++) {
        ssize_t more;
        uv_buf_t buffer;

        read_room((uv_handle_t *)&socket->handle, 0, &buffer);
        more = recv(fd, buffer.base, buffer.len, MSG_DONTWAIT);
        if (more < 0 && errno != EAGAIN && errno != EINTR) {
            socket_lost(socket);
            return true;
        }
        if (more <= 0)
            break; /* a FIN is still there for the loop to find */
        came = true;
        count = (size_t)more;
        receive_octets(socket, (const uint8_t *)buffer.base, count);
    }
    return came;
}

bool tcp_socket_look(struct tcp_socket *socket)
{
    return !socket->closing && socket->owner != NULL && read_on(socket, READ_MUCH);
}

static void read_done(uv_stream_t *handle, ssize_t count, const uv_buf_t *buffer)
{
    struct tcp_socket *socket = handle->data;

    if (count == 0 || socket->closing || (socket->owner == NULL && !socket->broken))
        return;
    if (socket->broken || (count < 0 && (count != UV_EOF || socket->cut))) {
        socket_lost(socket);
    } else if (count > 0) {
        receive_octets(socket, (const uint8_t *)buffer->base, (size_t)count);
        (void)read_on(socket, (size_t)count);
    } else {
        (void)uv_read_stop(handle);
        socket->ended = true;
        socket->pool->ops->fin(socket->owner);
    }
}

/* --- Opening ----------------------------------------------------------------------------------------------------- */

static struct tcp_socket *socket_new(struct tcp_socket_pool *pool)
{
    struct tcp_socket *socket = reserve_suffices() ? calloc(1, sizeof(*socket)) : NULL;

    if (socket == NULL)
        return NULL;
    socket->pool = pool;
    if (uv_tcp_init(pool->loop, &socket->handle) != 0) {
        free(socket);
        return NULL;
    }
    socket->handle.data = socket;
    return socket;
}

static void connect_done(uv_connect_t *request, int status)
{
    struct tcp_socket *socket = request->data;
    void *owner = socket->owner;

    if (socket->closing)
        return;
    if (status == 0)
        status = uv_read_start((uv_stream_t *)&socket->handle, read_room, read_done);
    if (status < 0) {
        socket_close(socket, false);
        socket->pool->ops->connect_failed(owner, uv_strerror(status));
        return;
    }
    (void)uv_tcp_nodelay(&socket->handle, !socket->pool->nagle);
    socket->pool->ops->connected(owner);
}

struct tcp_socket *tcp_socket_connect(struct tcp_socket_pool *pool, const struct sockaddr_storage *name, void *owner)
{
    struct tcp_socket *socket = socket_new(pool);

    if (socket == NULL)
        return NULL;
    socket->request.connect.data = socket;
    if (uv_tcp_connect(&socket->request.connect, &socket->handle, (const struct sockaddr *)name, connect_done) != 0) {
        socket_close(socket, false);
        return NULL;
    }
    socket->owner = owner;
    return socket;
}

struct tcp_socket *tcp_socket_accept(struct tcp_socket_pool *pool, uv_stream_t *server)
{
    struct tcp_socket *socket = socket_new(pool);

    if (socket == NULL) {
        spare_handle_refuse(&pool->spare, server);
        return NULL;
    }
    if (uv_accept(server, (uv_stream_t *)&socket->handle) != 0) {
        socket_close(socket, false);
        return NULL;
    }
    (void)uv_tcp_nodelay(&socket->handle, !socket->pool->nagle);
    return socket;
}

struct tcp_socket *tcp_socket_adopt(struct tcp_socket_pool *pool, int descriptor)
{
    struct sockaddr_storage name = {0};
    socklen_t octets = sizeof(name);
    int kind = 0;
    socklen_t kind_octets = sizeof(kind);
    struct tcp_socket *socket;

    if (getpeername(descriptor, (struct sockaddr *)&name, &octets) != 0 ||
        (name.ss_family != AF_INET && name.ss_family != AF_INET6) ||
        getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &kind_octets) != 0 || kind != SOCK_STREAM)
        return NULL;
    socket = socket_new(pool);
    if (socket == NULL)
        return NULL;
    if (uv_tcp_open(&socket->handle, descriptor) != 0) {
        socket_close(socket, false);
        return NULL;
    }
    (void)uv_tcp_nodelay(&socket->handle, !pool->nagle);
    return socket;
}

int tcp_socket_own(struct tcp_socket *socket, void *owner)
{
    socket->owner = owner;
    if (uv_read_start((uv_stream_t *)&socket->handle, read_room, read_done) == 0)
        return 0;
    socket_close(socket, true);
    return -1;
}

/* --- SIGPIPE ----------------------------------------------------------------------------------------------------- */

static sigset_t only_sigpipe(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    return set;
}

void tcp_socket_guard(struct tcp_socket_pool *pool)
{
    const sigset_t set = only_sigpipe();
    sigset_t pending;

    /* One that waits already is the program's own, which holds it back itself. */
    if (!pool->guard || pool->guarded || pool->writes == 0 || sigpending(&pending) != 0 ||
        sigismember(&pending, SIGPIPE) != 0)
        return;
    pool->guarded = pthread_sigmask(SIG_BLOCK, &set, &pool->mask) == 0;
}

void tcp_socket_unguard(struct tcp_socket_pool *pool)
{
    static const struct timespec at_once = {0, 0};
    const sigset_t set = only_sigpipe();

    if (!pool->guarded)
        return;
    while (sigtimedwait(&set, NULL, &at_once) == SIGPIPE || errno == EINTR) {
    }
    (void)pthread_sigmask(SIG_SETMASK, &pool->mask, NULL);
    pool->guarded = false;
}

/* --- Sending ----------------------------------------------------------------------------------------------------- */

static struct write *write_new(struct tcp_socket *socket, size_t count)
{
    struct write *write;

    if (!budget_charge(socket->pool->budget, count))
        return NULL;
    write = malloc(sizeof(*write) + count);
    if (write == NULL) {
        budget_give(socket->pool->budget, count);
        return NULL;
    }
    write->socket = socket;
    write->count = count;
    return write;
}

static void write_free(struct write *write)
{
    budget_give(write->socket->pool->budget, write->count);
    free(write);
}

static void write_done(uv_write_t *request, int status)
{
    struct write *write = request->data;
    struct tcp_socket *socket = write->socket;

    socket->pool->writes--;
    write_free(write);
    if (socket->closing)
        return;
    if (status < 0)
        socket_lost(socket);
    else if (socket->owner != NULL && socket->handle.write_queue_size == 0)
        socket->pool->ops->writable(socket->owner);
}

/* The owner must not be called back from within its own call; the reader reports the failure later. */
static void socket_break(struct tcp_socket *socket)
{
    uv_os_fd_t fd;

    socket->broken = true;
    if (uv_fileno((uv_handle_t *)&socket->handle, &fd) == 0)
        (void)shutdown(fd, SHUT_RDWR);
}

/* What the kernel takes at once. An error is for the loop to find. */
static size_t send_now(struct tcp_socket *socket, const struct iwarp_span *spans, size_t count)
{
    struct iovec vectors[OUTPUT_BATCH_SPANS];
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
    /* The end of a record is the end of a segment: what is sent next begins one (RFC 5044 5.1). */
    int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (socket->pool->nagle ? 0 : MSG_EOR);
    ssize_t taken;
    uv_os_fd_t fd;

    if (uv_fileno((uv_handle_t *)&socket->handle, &fd) != 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        vectors[i] = (struct iovec){(void *)(uintptr_t)spans[i].octets, spans[i].count};
    do /* the simpler call is the faster one */
        taken = count == 1 ? send(fd, spans[0].octets, spans[0].count, flags) : sendmsg(fd, &message, flags);
    while (taken < 0 && errno == EINTR);
    socket->cut = !socket->ended && taken < 0 && (errno == EPIPE || errno == ECONNRESET);
    return taken < 0 ? 0 : (size_t)taken;
}

/* What it did not take, the octets from `taken` on, is copied and left to the loop. */
static void send_later(struct tcp_socket *socket, const struct iwarp_span *spans, size_t count, size_t taken,
                       size_t octets)
{
    struct write *write = write_new(socket, octets - taken);
    uv_buf_t buffer;
    size_t at = 0;

    if (write == NULL) {
        socket_break(socket);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t skip = taken < spans[i].count ? taken : spans[i].count;

        memcpy(write->octets + at, spans[i].octets + skip, spans[i].count - skip);
        at += spans[i].count - skip;
        taken -= skip;
    }
    write->request.data = write;
    buffer = uv_buf_init((char *)write->octets, (unsigned)at);
    socket->pool->writes++;
    tcp_socket_guard(socket->pool);
    if (uv_write(&write->request, (uv_stream_t *)&socket->handle, &buffer, 1, write_done) != 0) {
        socket->pool->writes--;
        write_free(write);
        socket_break(socket);
    }
}

void tcp_socket_send(void *transport, const struct iwarp_span *spans, size_t count)
{
    struct tcp_socket *socket = transport;
    size_t octets = 0;
    size_t taken = 0;

    if (socket->broken || socket->cut || count > OUTPUT_BATCH_SPANS)
        return;
    for (size_t i = 0; i < count; i++)
        octets += spans[i].count;
    if (socket->handle.write_queue_size == 0)
        taken = send_now(socket, spans, count);
    if (taken != octets && !socket->cut)
        send_later(socket, spans, count, taken, octets);
}

size_t tcp_socket_room(void *transport)
{
    const struct tcp_socket *socket = transport;

    /* What the kernel does not take is copied: nothing more until that is gone. */
    return socket->handle.write_queue_size == 0 ? TCP_SOCKET_TURN : 0;
}

static void shutdown_done(uv_shutdown_t *request, int status)
{
    struct tcp_socket *socket = request->data;

    (void)status;
    socket->shutting = false;
    if (socket->release_later)
        socket_close(socket, false);
}

void tcp_socket_shutdown(void *transport)
{
    struct tcp_socket *socket = transport;

    socket->request.shutdown.data = socket;
    socket->shutting = uv_shutdown(&socket->request.shutdown, (uv_stream_t *)&socket->handle, shutdown_done) == 0;
}

void tcp_socket_abort(void *transport)
{
    socket_close(transport, true);
}

/* Closing at once would throw away what libuv still holds. */
void tcp_socket_release(void *transport)
{
    struct tcp_socket *socket = transport;

    socket->owner = NULL;
    socket->release_later = socket->shutting;
    if (!socket->shutting)
        socket_close(socket, false);
}

const struct carrier_ops tcp_socket_carrier = {
    .shutdown = tcp_socket_shutdown,
    .abort = tcp_socket_abort,
    .release = tcp_socket_release,
    .emss = tcp_socket_emss,
    .unacknowledged = tcp_socket_unacknowledged,
    .ends = tcp_socket_ends,
};
