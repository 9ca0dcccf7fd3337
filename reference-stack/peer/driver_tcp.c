/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/driver_tcp.h"

#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/peer_faults.h"
#include "reference-stack/peer/driver_internal.h"
#include "reference-stack/transport/tcp_listener.h"

struct driver_listener {
    struct tcp_listener *tcp;
    struct driver *driver;
    struct driver_listener *next;
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

/*
 * --- Events of sockets, and the peer's requests to them ------------------------------------------------------------
 */

static uint64_t stream_now(void *stream)
{
    (void)stream;
    return uv_hrtime();
}

static void socket_connected(void *stream)
{
    peer_connected(stream, stream_now(stream));
}

static void socket_connect_failed(void *stream, const char *why)
{
    peer_connect_failed(stream, why, stream_now(stream));
}

static void socket_input(void *stream, const uint8_t *octets, size_t count)
{
    peer_input(stream, octets, count, stream_now(stream));
}

static void socket_fin(void *stream)
{
    peer_input_fin(stream, stream_now(stream));
}

static void socket_lost(void *stream)
{
    peer_input_reset(stream, stream_now(stream));
}

static void socket_writable(void *stream)
{
    peer_writable(stream, stream_now(stream));
}

static const struct tcp_socket_ops socket_ops = {
    .connected = socket_connected,
    .connect_failed = socket_connect_failed,
    .input = socket_input,
    .fin = socket_fin,
    .lost = socket_lost,
    .writable = socket_writable,
};

/*
 * --- Listening and connecting --------------------------------------------------------------------------------------
 */

void driver_refuse(struct driver *driver, enum driver_refusal refusal)
{
    static const char *const what[] = {
        [DRIVER_REFUSED_CONNECTION] = "a connection was refused: so many are open as may be (--max-connections)",
        [DRIVER_REFUSED_CONTROL] = "a control client was refused: so many are connected as may be (--max-controls)",
        [DRIVER_REFUSED_MEMORY] = "memory was refused: the limit is reached (--max-memory)",
        [DRIVER_OUT_OF_MEMORY] = "memory was refused: the system has none left",
    };

    if ((driver->refusals & refusal) != 0 || driver->config.refused == NULL)
        return;
    driver->refusals |= refusal;
    driver->config.refused(driver->config.context, what[refusal]);
}

void driver_refuse_memory(struct driver *driver, uint64_t before)
{
    bool by_limit = peer_budget(driver->peer)->refused != before;

    driver_refuse(driver, by_limit ? DRIVER_REFUSED_MEMORY : DRIVER_OUT_OF_MEMORY);
}

static void accepted(void *owner, struct tcp_socket *socket)
{
    const struct driver_listener *listener = owner;
    struct driver *driver = listener->driver;
    struct peer_stream *stream;
    uint64_t refused;

    driver->had_stream = true;
    refused = peer_budget(driver->peer)->refused;
    stream = peer_accepted(driver->peer, tcp_listener_port(listener->tcp), socket, driver_now(driver));
    if (stream == NULL) {
        if (peer_is_full(driver->peer))
            driver_refuse(driver, DRIVER_REFUSED_CONNECTION);
        else
            driver_refuse_memory(driver, refused);
        tcp_socket_abort(socket);
    } else if (peer_stream_transport(stream) == socket && tcp_socket_own(socket, stream) != 0)
        peer_input_reset(stream, driver_now(driver));
}

static int op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    struct driver *driver = context;
    const char *any = driver->config.ipv6 ? "::" : "0.0.0.0";
    const char *address = driver->config.bind_address != NULL ? driver->config.bind_address : any;
    struct driver_listener *listener;
    struct sockaddr_storage name;

    if (socket_name_parse(address, port, &name) != 0)
        return iwarp_sentence_set(why, "'%.60s' is no numeric address", address);
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL)
        return iwarp_sentence_set(why, "out of memory");
    listener->driver = driver;
    listener->tcp = tcp_listener_open(&driver->pool, &name, accepted, listener, why);
    if (listener->tcp == NULL) {
        free(listener);
        return -1;
    }
    listener->next = driver->listeners;
    driver->listeners = listener;
    return tcp_listener_port(listener->tcp);
}

static void op_unlisten(void *context, uint16_t port)
{
    struct driver *driver = context;

    for (struct driver_listener **at = &driver->listeners; *at != NULL; at = &(*at)->next) {
        struct driver_listener *listener = *at;

        if (tcp_listener_port(listener->tcp) == port) {
            *at = listener->next;
            tcp_listener_close(listener->tcp);
            free(listener);
            return;
        }
    }
}

static void *op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    struct driver *driver = context;
    struct sockaddr_storage name;

    driver->had_stream = true;
    return socket_name_parse(address, port, &name) != 0 ? NULL : tcp_socket_connect(&driver->pool, &name, stream);
}

static const struct peer_transport_ops ops = {
    .listen = op_listen,
    .unlisten = op_unlisten,
    .connect = op_connect,
    .send_spans = tcp_socket_send,
    .carrier = {.shutdown = tcp_socket_shutdown,
                .abort = tcp_socket_abort,
                .release = tcp_socket_release,
                .emss = tcp_socket_emss,
                .unacknowledged = tcp_socket_unacknowledged,
                .ends = tcp_socket_ends},
    .room = tcp_socket_room,
};

/*
 * --- The loop ------------------------------------------------------------------------------------------------------
 */

static void tick(uv_timer_t *timer)
{
    struct driver *driver = timer->data;

    peer_tick(driver->peer, driver_now(driver));
    driver->armed = UINT64_MAX;
}

/* The last stream has ended. Over SCTP, associations end in order before the driver does. */
static void end_once(struct driver *driver)
{
    driver->had_stream = true;
    if (peer_stream_count(driver->peer) != 0)
        return;
    if (peer_association_count(driver->peer) != 0)
        peer_close_associations(driver->peer, driver_now(driver));
    if (peer_association_count(driver->peer) == 0)
        driver_stop(driver);
}

/* Before the loop sleeps: until when, and whether it is to go on. */
static void before_sleep(uv_prepare_t *handle)
{
    struct driver *driver = handle->data;
    uint64_t deadline;
    uint64_t now;

    if (driver->once && (driver->had_stream || peer_stream_count(driver->peer) != 0))
        end_once(driver);
    released_return(&driver->released, peer_budget(driver->peer));
    deadline = peer_deadline(driver->peer);
    if (deadline == driver->armed)
        return;
    driver->armed = deadline;
    now = driver_now(driver);
    if (deadline == UINT64_MAX)
        (void)uv_timer_stop(&driver->timer);
    else
        (void)uv_timer_start(&driver->timer, tick, deadline > now ? (deadline - now) / NS_PER_MS + 1 : 0, 0);
}

struct driver *driver_new(const struct driver_config *config, struct iwarp_sentence *sentence)
{
    struct driver *driver = calloc(1, sizeof(*driver));
    int result;

    if (driver == NULL) {
        (void)iwarp_sentence_set(sentence, "driver: out of memory");
        return NULL;
    }
    if (config != NULL)
        driver->config = *config;
    if (driver->config.controls_max == 0)
        driver->config.controls_max = DRIVER_CONTROLS_MAX;
    if (driver->config.unread_max == 0)
        driver->config.unread_max = DRIVER_UNREAD_MAX;
    result = uv_loop_init(&driver->loop);
    if (result != 0) {
        (void)iwarp_sentence_set(sentence, "driver: no event loop: %s", uv_strerror(result));
        free(driver);
        return NULL;
    }
    driver->loop_open = true;
    (void)uv_timer_init(&driver->loop, &driver->timer);
    driver->timer.data = driver;
    (void)uv_prepare_init(&driver->loop, &driver->prepare);
    driver->prepare.data = driver;
    (void)uv_prepare_start(&driver->prepare, before_sleep);
    driver->armed = UINT64_MAX;
    driver->pool.loop = &driver->loop;
    driver->pool.ops = &socket_ops;
    driver->pool.nagle = PEER_HOOK_IF(&driver->config.peer, hook_nagle(driver->config.peer.defects));
    driver->ops = &ops;
    if (!driver->config.sctp.on || driver_sctp_open(driver, sentence) == 0)
        driver->peer = peer_new(&driver->config.peer, driver->ops, driver, sentence);
    if (driver->peer == NULL) {
        driver_free(driver);
        return NULL;
    }
    driver->pool.budget = peer_budget(driver->peer);
    return driver;
}

/* What is left when peer and control sockets are gone: connections on their way out, the timer, signals. */
static void close_handle(uv_handle_t *handle, void *driver)
{
    (void)driver;
    if (uv_is_closing(handle))
        return;
    if (handle->type == UV_TIMER || handle->type == UV_SIGNAL || handle->type == UV_PREPARE)
        uv_close(handle, NULL);
    else
        tcp_socket_close_handle(handle);
}

void driver_free(struct driver *driver)
{
    if (driver == NULL)
        return;
    driver->pool.budget = NULL; /* the peer's */
    peer_free(driver->peer);
    driver->peer = NULL;
    sctp_udp_close(driver->sctp);
    kernel_sctp_close(driver->kernel);
    driver_control_free(driver);
    uv_walk(&driver->loop, close_handle, driver);
    while (uv_run(&driver->loop, UV_RUN_DEFAULT) != 0) {
    }
    (void)uv_loop_close(&driver->loop);
    free(driver);
}

int driver_run(struct driver *driver, bool once, struct iwarp_sentence *sentence)
{
    int result;

    driver->once = once;
    driver->stopping = false;
    result = uv_run(&driver->loop, UV_RUN_DEFAULT);
    if (result < 0)
        return iwarp_sentence_set(sentence, "driver: the event loop failed: %s", uv_strerror(result));
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

int driver_stop_on(struct driver *driver, int signal_number, struct iwarp_sentence *sentence)
{
    uv_signal_t *handle;

    if (driver->signal_count == sizeof(driver->signals) / sizeof(driver->signals[0]))
        return iwarp_sentence_set(sentence, "driver: no more signals");
    handle = &driver->signals[driver->signal_count++];
    if (uv_signal_init(&driver->loop, handle) != 0)
        return iwarp_sentence_set(sentence, "driver: signal %d cannot be caught", signal_number);
    handle->data = driver;
    if (uv_signal_start(handle, signalled, signal_number) != 0)
        return iwarp_sentence_set(sentence, "driver: signal %d cannot be caught", signal_number);
    return 0;
}
