/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/driver_tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "reference-stack/driver_internal.h"

struct driver_listener {
    uv_tcp_t handle;
    struct driver *driver;
    struct driver_listener *next;
    uint16_t port;
};

/* A connection, from its first call to the last of libuv's callbacks. */
struct connection {
    uv_tcp_t handle;
    uv_connect_t connect;
    uv_shutdown_t shutdown;
    struct driver *driver;
    struct peer_stream *stream; /* NULL once the peer is done with it */
    bool closing;
    bool shutting;      /* a FIN is on its way behind the queued pieces */
    bool release_later; /* close when it is out */
};

/* One piece on its way, its octets behind it. */
struct write {
    uv_write_t request;
    struct connection *connection;
    uint8_t octets[];
};

uint64_t driver_now(const struct driver *driver)
{
    (void)driver;
    return uv_hrtime();
}

struct peer *driver_peer(struct driver *driver)
{
    return driver->peer;
}

/* --- Closing ----------------------------------------------------------------------------------------------------- */

static void connection_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void connection_close(struct connection *connection, bool reset)
{
    if (connection->closing)
        return;
    connection->closing = true;
    connection->stream = NULL;
    if (!reset || uv_tcp_close_reset(&connection->handle, connection_closed) != 0)
        uv_close((uv_handle_t *)&connection->handle, connection_closed);
}

/* The connection is lost: the peer is told, once, and the socket goes. */
static void connection_lost(struct connection *connection)
{
    struct peer_stream *stream = connection->stream;

    if (connection->closing)
        return;
    connection_close(connection, false);
    if (stream != NULL)
        peer_input_reset(stream, driver_now(connection->driver));
}

/* --- Reading ----------------------------------------------------------------------------------------------------- */

static void read_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct connection *connection = handle->data;

    (void)suggested;
    *buffer = uv_buf_init((char *)connection->driver->read_buffer, sizeof(connection->driver->read_buffer));
}

static void read_done(uv_stream_t *handle, ssize_t count, const uv_buf_t *buffer)
{
    struct connection *connection = handle->data;
    uint64_t now = driver_now(connection->driver);

    if (count == 0 || connection->stream == NULL)
        return;
    if (count > 0) {
        peer_input(connection->stream, (const uint8_t *)buffer->base, (size_t)count, now);
    } else if (count == UV_EOF) {
        (void)uv_read_stop(handle);
        peer_input_fin(connection->stream, now);
    } else {
        connection_lost(connection);
    }
}

static struct connection *connection_new(struct driver *driver)
{
    struct connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL)
        return NULL;
    connection->driver = driver;
    if (uv_tcp_init(&driver->loop, &connection->handle) != 0) {
        free(connection);
        return NULL;
    }
    connection->handle.data = connection;
    return connection;
}

static void connection_ready(struct connection *connection)
{
    (void)uv_tcp_nodelay(&connection->handle, 1);
    connection->driver->had_stream = true;
}

static void connection_read(struct connection *connection)
{
    if (!connection->closing && uv_read_start((uv_stream_t *)&connection->handle, read_room, read_done) != 0)
        connection_lost(connection);
}

/* --- What the peer asks of its transport --------------------------------------------------------------------------- */

static void write_done(uv_write_t *request, int status)
{
    struct write *write = request->data;
    struct connection *connection = write->connection;

    free(write);
    if (connection->closing)
        return;
    if (status < 0)
        connection_lost(connection);
    else if (connection->stream != NULL && connection->handle.write_queue_size < DRIVER_QUEUE_MAX)
        peer_writable(connection->stream, driver_now(connection->driver));
}

/* One piece: at once where the socket takes it, queued where it does not. */
static void op_send(void *transport, const uint8_t *octets, size_t count)
{
    struct connection *connection = transport;
    uv_stream_t *handle = (uv_stream_t *)&connection->handle;
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)octets, (unsigned)count);
    struct write *write;
    int taken = handle->write_queue_size == 0 ? uv_try_write(handle, &buffer, 1) : 0;
    size_t left = taken > 0 ? count - (size_t)taken : count;

    if (left == 0)
        return;
    write = malloc(sizeof(*write) + left);
    if (write == NULL)
        return; /* the peer will find its stream stuck, and its limits end it */
    memcpy(write->octets, octets + (count - left), left);
    write->connection = connection;
    write->request.data = write;
    buffer = uv_buf_init((char *)write->octets, (unsigned)left);
    if (uv_write(&write->request, handle, &buffer, 1, write_done) != 0)
        free(write);
}

static size_t op_room(void *transport)
{
    const struct connection *connection = transport;
    size_t queued = connection->handle.write_queue_size;

    return queued < DRIVER_QUEUE_MAX ? DRIVER_QUEUE_MAX - queued : 0;
}

static void shutdown_done(uv_shutdown_t *request, int status)
{
    struct connection *connection = request->data;

    (void)status;
    connection->shutting = false;
    if (connection->release_later)
        connection_close(connection, false);
}

static void op_shutdown(void *transport)
{
    struct connection *connection = transport;

    connection->shutdown.data = connection;
    connection->shutting = uv_shutdown(&connection->shutdown, (uv_stream_t *)&connection->handle, shutdown_done) == 0;
}

static void op_abort(void *transport)
{
    connection_close(transport, true);
}

/* Closing at once would throw away what libuv still holds. */
static void op_release(void *transport)
{
    struct connection *connection = transport;

    connection->stream = NULL;
    connection->release_later = connection->shutting;
    if (!connection->shutting)
        connection_close(connection, false);
}

/* TCP_INFO knows what options take off the MSS; TCP_MAXSEG is the next best. */
static size_t op_emss(void *transport)
{
    struct connection *connection = transport;
    struct tcp_info info;
    socklen_t octets = sizeof(info);
    uv_os_fd_t fd;
    int mss = 0;

    if (uv_fileno((uv_handle_t *)&connection->handle, &fd) != 0)
        return 0;
    memset(&info, 0, sizeof(info));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &octets) == 0 && info.tcpi_snd_mss != 0)
        return info.tcpi_snd_mss;
    octets = sizeof(mss);
    return getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &octets) == 0 && mss > 0 ? (size_t)mss : 0;
}

/* --- Listening and connecting -------------------------------------------------------------------------------------- */

int driver_parse_address(const char *address, uint16_t port, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (uv_ip4_addr(address, port, (struct sockaddr_in *)out) == 0)
        return 0;
    return uv_ip6_addr(address, port, (struct sockaddr_in6 *)out) == 0 ? 0 : -1;
}

static void accepted(uv_stream_t *server, int status)
{
    struct driver_listener *listener = server->data;
    struct connection *connection;

    if (status < 0)
        return;
    connection = connection_new(listener->driver);
    if (connection == NULL)
        return;
    if (uv_accept(server, (uv_stream_t *)&connection->handle) != 0) {
        connection_close(connection, false);
        return;
    }
    connection_ready(connection);
    connection->stream =
        peer_accepted(listener->driver->peer, listener->port, connection, driver_now(listener->driver));
    if (connection->stream == NULL)
        connection_close(connection, true);
    else
        connection_read(connection);
}

static void listener_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static int listener_open(struct driver_listener *listener, uint16_t port)
{
    struct driver *driver = listener->driver;
    const char *address = driver->config.bind_address;
    struct sockaddr_storage name;
    int octets = sizeof(name);

    if (driver_parse_address(address != NULL       ? address
                             : driver->config.ipv6 ? "::"
                                                   : "0.0.0.0",
                             port, &name) != 0 ||
        uv_tcp_bind(&listener->handle, (const struct sockaddr *)&name, 0) != 0 ||
        uv_listen((uv_stream_t *)&listener->handle, DRIVER_BACKLOG, accepted) != 0 ||
        uv_tcp_getsockname(&listener->handle, (struct sockaddr *)&name, &octets) != 0)
        return -1;
    return ntohs(name.ss_family == AF_INET ? ((const struct sockaddr_in *)&name)->sin_port
                                           : ((const struct sockaddr_in6 *)&name)->sin6_port);
}

static int op_listen(void *context, uint16_t port)
{
    struct driver *driver = context;
    struct driver_listener *listener = calloc(1, sizeof(*listener));
    int opened;

    if (listener == NULL)
        return -1;
    listener->driver = driver;
    if (uv_tcp_init(&driver->loop, &listener->handle) != 0) {
        free(listener);
        return -1;
    }
    listener->handle.data = listener;
    opened = listener_open(listener, port);
    if (opened <= 0) {
        uv_close((uv_handle_t *)&listener->handle, listener_closed);
        return -1;
    }
    listener->port = (uint16_t)opened;
    listener->next = driver->listeners;
    driver->listeners = listener;
    return opened;
}

static void op_unlisten(void *context, uint16_t port)
{
    struct driver *driver = context;

    for (struct driver_listener **at = &driver->listeners; *at != NULL; at = &(*at)->next) {
        struct driver_listener *listener = *at;

        if (listener->port == port) {
            *at = listener->next;
            uv_close((uv_handle_t *)&listener->handle, listener_closed);
            return;
        }
    }
}

static void connect_done(uv_connect_t *request, int status)
{
    struct connection *connection = request->data;
    struct peer_stream *stream = connection->stream;
    uint64_t now = driver_now(connection->driver);

    if (connection->closing)
        return;
    if (status < 0) {
        connection_close(connection, false);
        peer_connect_failed(stream, uv_strerror(status), now);
        return;
    }
    connection_ready(connection);
    peer_connected(stream, now);
    connection_read(connection);
}

static void *op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    struct connection *connection;
    struct sockaddr_storage name;

    if (driver_parse_address(address, port, &name) != 0)
        return NULL;
    connection = connection_new(context);
    if (connection == NULL)
        return NULL;
    connection->stream = stream;
    connection->connect.data = connection;
    if (uv_tcp_connect(&connection->connect, &connection->handle, (const struct sockaddr *)&name, connect_done) != 0) {
        connection_close(connection, false);
        return NULL;
    }
    return connection;
}

static const struct peer_transport_ops ops = {
    .listen = op_listen,
    .unlisten = op_unlisten,
    .connect = op_connect,
    .send = op_send,
    .shutdown = op_shutdown,
    .abort = op_abort,
    .release = op_release,
    .emss = op_emss,
    .room = op_room,
};

/* --- The loop ------------------------------------------------------------------------------------------------------ */

/* Time limits are seconds: a look every DRIVER_TICK_MS costs less than a timer moved with each FPDU. */
static void tick(uv_timer_t *timer)
{
    struct driver *driver = timer->data;

    peer_tick(driver->peer, driver_now(driver));
    if (driver->once && driver->had_stream && peer_stream_count(driver->peer) == 0)
        driver_stop(driver);
}

struct driver *driver_new(const struct driver_config *config, struct sentence *sentence)
{
    struct driver *driver = calloc(1, sizeof(*driver));
    int result;

    if (driver == NULL) {
        (void)sentence_set(sentence, "driver: out of memory");
        return NULL;
    }
    if (config != NULL)
        driver->config = *config;
    result = uv_loop_init(&driver->loop);
    if (result != 0) {
        (void)sentence_set(sentence, "driver: no event loop: %s", uv_strerror(result));
        free(driver);
        return NULL;
    }
    driver->loop_open = true;
    (void)uv_timer_init(&driver->loop, &driver->timer);
    driver->timer.data = driver;
    (void)uv_timer_start(&driver->timer, tick, DRIVER_TICK_MS, DRIVER_TICK_MS);
    driver->peer = peer_new(&driver->config.peer, &ops, driver, sentence);
    if (driver->peer == NULL) {
        driver_free(driver);
        return NULL;
    }
    return driver;
}

/* What is left when peer and control sockets are gone: connections on their way out, the timer, signals. */
static void close_handle(uv_handle_t *handle, void *driver)
{
    (void)driver;
    if (uv_is_closing(handle))
        return;
    if (handle->type == UV_TIMER || handle->type == UV_SIGNAL)
        uv_close(handle, NULL);
    else
        connection_close(handle->data, false);
}

void driver_free(struct driver *driver)
{
    if (driver == NULL)
        return;
    peer_free(driver->peer);
    driver->peer = NULL;
    driver_control_free(driver);
    uv_walk(&driver->loop, close_handle, driver);
    while (uv_run(&driver->loop, UV_RUN_DEFAULT) != 0) {
    }
    (void)uv_loop_close(&driver->loop);
    free(driver);
}

int driver_run(struct driver *driver, bool once, struct sentence *sentence)
{
    int result;

    driver->once = once;
    driver->stopping = false;
    result = uv_run(&driver->loop, UV_RUN_DEFAULT);
    if (result < 0)
        return sentence_set(sentence, "driver: the event loop failed: %s", uv_strerror(result));
    return 0;
}

void driver_stop(struct driver *driver)
{
    driver->stopping = true;
    uv_stop(&driver->loop);
}

static void signalled(uv_signal_t *handle, int signal_number)
{
    (void)signal_number;
    driver_stop(handle->data);
}

int driver_stop_on(struct driver *driver, int signal_number, struct sentence *sentence)
{
    uv_signal_t *handle;

    if (driver->signal_count == sizeof(driver->signals) / sizeof(driver->signals[0]))
        return sentence_set(sentence, "driver: no more signals");
    handle = &driver->signals[driver->signal_count++];
    if (uv_signal_init(&driver->loop, handle) != 0)
        return sentence_set(sentence, "driver: signal %d cannot be caught", signal_number);
    handle->data = driver;
    if (uv_signal_start(handle, signalled, signal_number) != 0)
        return sentence_set(sentence, "driver: signal %d cannot be caught", signal_number);
    return 0;
}
