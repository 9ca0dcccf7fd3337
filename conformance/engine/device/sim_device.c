/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/device/sim_device.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/device/sim_cm.h"
#include "generator/tcp/tcp.h"
#include "reference-stack/peer/peer.h"

enum { RECEIVE_OCTETS = 65536, FIRST_FREE_PORT = 20000 };

/* What a script may make one device hold: the script host does not see it. */
#define MEMORY_MAX (UINT64_C(128) << 20)

struct sim_device {
    struct sim_device_config config;
    struct tcp_stack *tcp;
    struct peer *peer;
    struct sim_cm *cm;
    uint16_t next_port;
    unsigned opened;                  /* connections to it */
    uint8_t received[RECEIVE_OCTETS]; /* on its way from TCP to the peer */
};

/* What the peer calls a transport. */
struct sim_transport {
    struct sim_device *device;
    struct tcp_connection *connection;
    struct peer_stream *stream;
};

static struct sim_transport *transport_new(struct sim_device *device, struct tcp_connection *connection)
{
    struct sim_transport *transport = calloc(1, sizeof(*transport));

    if (transport != NULL) {
        transport->device = device;
        transport->connection = connection;
        tcp_set_user(connection, transport);
    }
    return transport;
}

/* TCP keeps the connection until it is done; no event reports it any more. */
static void transport_free(struct sim_transport *transport)
{
    tcp_set_user(transport->connection, NULL);
    tcp_release(transport->connection);
    free(transport);
}

/* The options that the peer sets for its TCP. */
static struct tcp_options tcp_options_of(const struct sim_device *device)
{
    struct peer_config peer = {.seed = PEER_SEED, .defects = device->config.defects};
    struct tcp_settings settings;

    peer_tcp(&peer, &settings);
    return (struct tcp_options){.choose_iss = settings.choose_iss,
                                .iss = settings.iss,
                                .choose_window = settings.window != 0,
                                .window = settings.window,
                                .fragmentable = settings.fragmentable,
                                .delay_acks = settings.delay_acks,
                                .acks_late_ns = settings.acks_late_ns,
                                .mss = settings.mss,
                                .sack = true,
                                .sack_silent = settings.sack_silent,
                                .sack_shifted = settings.sack_shifted,
                                .octets_after_fin = settings.octets_after_fin,
                                .take_repeats = settings.take_repeats};
}

static int peer_op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    struct sim_device *device = context;
    struct tcp_options options = tcp_options_of(device);

    if (port == 0)
        port = device->next_port++;
    return tcp_listen(device->tcp, port, &options, NULL) == 0 ? port : iwarp_sentence_set(why, "it is in use");
}

static void peer_op_unlisten(void *context, uint16_t port)
{
    struct sim_device *device = context;

    tcp_unlisten(device->tcp, port);
}

static void *peer_op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    struct sim_device *device = context;
    struct tcp_connection *connection;
    struct sim_transport *transport;
    struct tcp_options options = tcp_options_of(device);
    struct net_address peer;

    if (net_address_parse(&peer, address) != 0)
        return NULL;
    connection = tcp_connect(device->tcp, &peer, port, &options, NULL);
    if (connection == NULL)
        return NULL;
    transport = transport_new(device, connection);
    if (transport == NULL)
        tcp_release(connection);
    else
        transport->stream = stream;
    return transport;
}

static void peer_op_send(void *transport, const uint8_t *octets, size_t count)
{
    struct sim_transport *to = transport;

    (void)tcp_send(to->connection, octets, count);
}

static void peer_op_shutdown(void *transport)
{
    struct sim_transport *to = transport;

    (void)tcp_shutdown(to->connection);
}

static void peer_op_abort(void *transport)
{
    struct sim_transport *to = transport;

    tcp_set_user(to->connection, NULL);
    tcp_abort(to->connection);
    tcp_release(to->connection);
    free(to);
}

static void peer_op_release(void *transport)
{
    transport_free(transport);
}

static size_t peer_op_emss(void *transport)
{
    struct sim_transport *to = transport;

    return tcp_status(to->connection)->mss;
}

static void set_end(struct connection_end *end, const struct net_address *address, uint16_t port)
{
    (void)net_address_format(address, end->address, sizeof(end->address));
    end->port = port;
}

static bool peer_op_ends(void *transport, struct connection_end *own, struct connection_end *peer)
{
    const struct sim_transport *of = transport;
    const struct tcp_status *status = tcp_status(of->connection);

    set_end(own, &status->local, status->local_port);
    set_end(peer, &status->peer, status->peer_port);
    return true;
}

static void peer_op_forget(void *transport)
{
    struct sim_transport *to = transport;

    tcp_forget(to->connection);
}

static size_t peer_op_room(void *transport)
{
    struct sim_transport *to = transport;
    size_t waiting = tcp_unacknowledged(to->connection);

    return waiting < SIM_DEVICE_SEND_ROOM ? SIM_DEVICE_SEND_ROOM - waiting : 0;
}

static const struct peer_transport_ops transport_ops = {
    .listen = peer_op_listen,
    .unlisten = peer_op_unlisten,
    .connect = peer_op_connect,
    .send = peer_op_send,
    .carrier.shutdown = peer_op_shutdown,
    .carrier.abort = peer_op_abort,
    .carrier.release = peer_op_release,
    .carrier.emss = peer_op_emss,
    .carrier.ends = peer_op_ends,
    .room = peer_op_room,
    .forget = peer_op_forget,
};

static void on_established(struct sim_device *device, struct tcp_connection *connection, uint64_t now)
{
    struct sim_transport *transport = tcp_user(connection);

    if (transport != NULL) {
        peer_connected(transport->stream, now);
        return;
    }
    const struct tcp_status *status = tcp_status(connection);

    if (tcp_accept(device->tcp, status->local_port) != connection)
        return;
    device->opened++;
    transport = device->config.resets_every != 0 && device->opened % device->config.resets_every == 0
                    ? NULL
                    : transport_new(device, connection);
    if (transport == NULL) {
        tcp_abort(connection);
        tcp_release(connection);
        return;
    }
    transport->stream = peer_accepted(device->peer, status->local_port, transport, now);
    if (transport->stream == NULL)
        peer_op_abort(transport);
}

static void on_data(struct sim_device *device, struct sim_transport *transport, uint64_t now)
{
    const uint8_t *octets;
    size_t count;

    tcp_received(transport->connection, &octets, &count);
    if (count > sizeof(device->received))
        count = sizeof(device->received);
    memcpy(device->received, octets, count);
    tcp_consume(transport->connection, count);
    peer_input(transport->stream, device->received, count, now); /* may end the transport */
}

/* Its TCP is MPA-aware: what it holds after a gap goes to MPA at once (RFC 5044 A.3). */
static void on_early(struct sim_transport *transport, uint64_t now)
{
    const uint8_t *octets;
    size_t gap, count;

    for (unsigned i = 0; tcp_early(transport->connection, i, &gap, &octets, &count) != 0; i++)
        peer_input_early(transport->stream, gap, octets, count, now);
    peer_writable(transport->stream, now);
}

static void on_closed(struct sim_transport *transport, uint64_t now)
{
    const struct tcp_status *status = tcp_status(transport->connection);
    enum tcp_cause cause = status->cause;
    struct peer_stream *stream = transport->stream;
    bool opened = status->established_ns != 0;

    if (cause == TCP_CAUSE_PEER_FIN || cause == TCP_CAUSE_LOCAL_FIN)
        return; /* both FINs: the peer knows */
    transport_free(transport);
    if (opened)
        peer_input_reset(stream, now);
    else
        peer_connect_failed(stream, tcp_cause_name(cause), now);
}

static void on_tcp_event(void *context, struct tcp_connection *connection, enum tcp_event event)
{
    struct sim_device *device = context;
    struct sim_transport *transport = tcp_user(connection);
    uint64_t now = sim_now(device->config.sim);

    if (event == TCP_EVENT_ESTABLISHED) {
        on_established(device, connection, now);
        return;
    }
    if (transport == NULL)
        return;
    switch (event) {
    case TCP_EVENT_DATA: on_data(device, transport, now); break;
    case TCP_EVENT_EARLY: on_early(transport, now); break;
    case TCP_EVENT_ACKNOWLEDGED: peer_writable(transport->stream, now); break;
    case TCP_EVENT_PEER_FIN: peer_input_fin(transport->stream, now); break;
    case TCP_EVENT_CLOSED: on_closed(transport, now); break;
    default: break;
    }
}

static void node_frame(void *node, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct sim_device *device = node;

    tcp_stack_input(device->tcp, frame, octets, now);
    sim_cm_input(device->cm, frame, octets, now);
}

static uint64_t node_deadline(void *node)
{
    struct sim_device *device = node;
    uint64_t tcp = tcp_stack_deadline(device->tcp);
    uint64_t peer = peer_deadline(device->peer);
    uint64_t cm = sim_cm_deadline(device->cm);
    uint64_t first = tcp < peer ? tcp : peer;

    return first < cm ? first : cm;
}

static void node_tick(void *node, uint64_t now)
{
    struct sim_device *device = node;

    tcp_stack_tick(device->tcp, now);
    peer_tick(device->peer, now);
    sim_cm_tick(device->cm, now);
}

static const struct sim_node_ops node_ops = {.frame = node_frame, .deadline = node_deadline, .tick = node_tick};

static void emit(void *context, const uint8_t *frame, size_t octets)
{
    struct sim_device *device = context;

    (void)sim_send(device->config.sim, device->config.end, frame, octets);
}

static struct sim_cm *cm_new(const struct sim_device *device, const struct tcp_stack_config *tcp,
                             struct iwarp_sentence *error)
{
    struct sim_cm_config config = {.sim = device->config.sim,
                                   .end = device->config.end,
                                   .ipv4 = tcp->ipv4,
                                   .ipv6 = tcp->ipv6,
                                   .tcp = device->tcp,
                                   .port = device->config.port,
                                   .seed = device->config.seed,
                                   .defects = device->config.defects};

    memcpy(config.mac, device->config.mac, sizeof(config.mac));
    return sim_cm_new(&config, error);
}

struct sim_device *sim_device_new(const struct sim_device_config *config, struct iwarp_sentence *error)
{
    struct peer_config peer = {
        .seed = PEER_SEED, .defects = config->defects, .out_of_order = true, .memory_max = MEMORY_MAX};
    struct tcp_settings settings;
    struct tcp_stack_config tcp = {
        .seed = config->seed, .now = sim_now(config->sim), .emit = emit, .event = on_tcp_event};
    struct sim_device *device = calloc(1, sizeof(*device));

    if (device == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a simulated device");
        return NULL;
    }
    device->config = *config;
    device->next_port = FIRST_FREE_PORT;
    peer_tcp(&peer, &settings);
    tcp.drop_fragments = settings.drop_fragments;
    tcp.context = device;
    memcpy(tcp.mac, config->mac, sizeof(tcp.mac));
    (void)net_address_parse(&tcp.ipv4, config->ipv4);
    (void)net_address_parse(&tcp.ipv6, config->ipv6);
    device->tcp = tcp_stack_new(&tcp, error);
    if (device->tcp != NULL)
        device->peer = peer_new(&peer, &transport_ops, device, error);
    if (device->peer != NULL)
        device->cm = cm_new(device, &tcp, error);
    if (device->cm == NULL) {
        sim_device_free(device);
        return NULL;
    }
    sim_attach(config->sim, config->end, &node_ops, device);
    return device;
}

void sim_device_free(struct sim_device *device)
{
    if (device == NULL)
        return;
    sim_cm_free(device->cm);
    peer_free(device->peer);
    tcp_stack_free(device->tcp);
    free(device);
}

json_t *sim_device_answer(struct sim_device *device, const json_t *request)
{
    uint64_t now = sim_now(device->config.sim);
    json_t *answer = NULL;

    tcp_stack_set_time(device->tcp, now);
    if (sim_cm_answer(device->cm, request, now, &answer))
        return answer;
    return peer_answer(device->peer, request, now);
}

char *sim_device_command(struct sim_device *device, const char *request)
{
    uint64_t now = sim_now(device->config.sim);
    char *answer = NULL;

    tcp_stack_set_time(device->tcp, now);
    if (sim_cm_command(device->cm, request, now, &answer))
        return answer;
    return peer_command(device->peer, request, now);
}
