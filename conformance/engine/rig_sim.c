/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated rig: end A of the wire is the lower tester's link, end B a node made of our TCP with its defaults and the
 * reference stack above it. Nothing here knows time but the world's.
 */
#include "conformance/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/upper_tester.h"
#include "generator/link_sim.h"
#include "reference-stack/peer.h"

/* SEND_ROOM: what the device's TCP takes at once, as a kernel's does; a peer that shuts its window holds the rest back. */
enum { RECEIVE_OCTETS = 65536, SEND_ROOM = 262144, FIRST_FREE_PORT = 20000 };

static const uint8_t dut_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x02};
static const uint8_t own_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x03};

struct sim_rig {
    struct rig rig;
    struct sim *sim;
    struct tcp_stack *dut_tcp;
    struct peer *peer;
    const struct defect_set *defects;
    uint64_t seed;
    uint16_t next_port;
    unsigned generation;              /* counts resets, for the device's ISS and ports */
    uint8_t received[RECEIVE_OCTETS]; /* on its way from TCP to the peer */
};

/* What the peer calls a transport. */
struct sim_transport {
    struct sim_rig *sim;
    struct tcp_connection *connection;
    struct peer_stream *stream;
};

static struct sim_transport *transport_new(struct sim_rig *sim, struct tcp_connection *connection)
{
    struct sim_transport *transport = calloc(1, sizeof(*transport));

    if (transport != NULL) {
        transport->sim = sim;
        transport->connection = connection;
        tcp_set_user(connection, transport);
    }
    return transport;
}

/* The connection lives on in TCP until it is done; nobody hears of it any more. */
static void transport_free(struct sim_transport *transport)
{
    tcp_set_user(transport->connection, NULL);
    tcp_release(transport->connection);
    free(transport);
}

static int peer_op_listen(void *context, uint16_t port)
{
    struct sim_rig *sim = context;

    if (port == 0)
        port = sim->next_port++;
    return tcp_listen(sim->dut_tcp, port, NULL, NULL) == 0 ? port : -1;
}

static void peer_op_unlisten(void *context, uint16_t port)
{
    struct sim_rig *sim = context;

    tcp_unlisten(sim->dut_tcp, port);
}

static void *peer_op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    struct sim_rig *sim = context;
    struct tcp_connection *connection;
    struct sim_transport *transport;
    struct net_address peer;

    if (net_address_parse(&peer, address) != 0)
        return NULL;
    connection = tcp_connect(sim->dut_tcp, &peer, port, NULL, NULL);
    if (connection == NULL)
        return NULL;
    transport = transport_new(sim, connection);
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

static void peer_op_forget(void *transport)
{
    struct sim_transport *to = transport;

    tcp_forget(to->connection);
}

static size_t peer_op_room(void *transport)
{
    struct sim_transport *to = transport;
    size_t waiting = tcp_unacknowledged(to->connection);

    return waiting < SEND_ROOM ? SEND_ROOM - waiting : 0;
}

static const struct peer_transport_ops transport_ops = {
    .listen = peer_op_listen,
    .unlisten = peer_op_unlisten,
    .connect = peer_op_connect,
    .send = peer_op_send,
    .shutdown = peer_op_shutdown,
    .abort = peer_op_abort,
    .release = peer_op_release,
    .emss = peer_op_emss,
    .room = peer_op_room,
    .forget = peer_op_forget,
};

static void on_established(struct sim_rig *sim, struct tcp_connection *connection, uint64_t now)
{
    struct sim_transport *transport = tcp_user(connection);

    if (transport != NULL) {
        peer_connected(transport->stream, now);
        return;
    }
    const struct tcp_status *status = tcp_status(connection);

    if (tcp_accept(sim->dut_tcp, status->local_port) != connection)
        return;
    transport = transport_new(sim, connection);
    if (transport == NULL) {
        tcp_abort(connection);
        tcp_release(connection);
        return;
    }
    transport->stream = peer_accepted(sim->peer, status->local_port, transport, now);
    if (transport->stream == NULL)
        peer_op_abort(transport);
}

static void on_data(struct sim_rig *sim, struct sim_transport *transport, uint64_t now)
{
    const uint8_t *octets;
    size_t count;

    tcp_received(transport->connection, &octets, &count);
    if (count > sizeof(sim->received))
        count = sizeof(sim->received);
    memcpy(sim->received, octets, count);
    tcp_consume(transport->connection, count);
    peer_input(transport->stream, sim->received, count, now); /* may end the transport */
}

/* The simulated device's TCP is MPA-aware: what it holds ahead of a gap goes to MPA at once (RFC 5044 A.3). */
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
    struct sim_rig *sim = context;
    struct sim_transport *transport = tcp_user(connection);
    uint64_t now = sim_now(sim->sim);

    if (event == TCP_EVENT_ESTABLISHED) {
        on_established(sim, connection, now);
        return;
    }
    if (transport == NULL)
        return;
    switch (event) {
    case TCP_EVENT_DATA: on_data(sim, transport, now); break;
    case TCP_EVENT_EARLY: on_early(transport, now); break;
    case TCP_EVENT_ACKNOWLEDGED: peer_writable(transport->stream, now); break;
    case TCP_EVENT_PEER_FIN: peer_input_fin(transport->stream, now); break;
    case TCP_EVENT_CLOSED: on_closed(transport, now); break;
    default: break;
    }
}

static void emit_from_dut(void *context, const uint8_t *frame, size_t octets)
{
    struct sim_rig *sim = context;

    (void)sim_send_from_node(sim->sim, frame, octets);
}

static void emit_from_tester(void *context, const uint8_t *frame, size_t octets)
{
    struct sim_rig *sim = context;

    (void)link_send(sim->rig.link, frame, octets);
}

static void node_frame(void *node, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct sim_rig *sim = node;

    tcp_stack_input(sim->dut_tcp, frame, octets, now);
}

static uint64_t node_deadline(void *node)
{
    struct sim_rig *sim = node;
    uint64_t tcp = tcp_stack_deadline(sim->dut_tcp);
    uint64_t peer = peer_deadline(sim->peer);

    return tcp < peer ? tcp : peer;
}

static void node_tick(void *node, uint64_t now)
{
    struct sim_rig *sim = node;

    tcp_stack_tick(sim->dut_tcp, now);
    peer_tick(sim->peer, now);
}

static const struct sim_node_ops node_ops = {.frame = node_frame, .deadline = node_deadline, .tick = node_tick};

static struct tcp_stack *stack_new(struct sim_rig *sim, bool dut, struct sentence *error)
{
    struct tcp_stack_config config = {
        .seed = sim->seed * 2 + dut + sim->generation * UINT64_C(0x9E3779B97F4A7C15),
        .now = sim_now(sim->sim),
        .emit = dut ? emit_from_dut : emit_from_tester,
        .event = dut ? on_tcp_event : NULL,
        .context = sim,
    };

    memcpy(config.mac, dut ? dut_mac : own_mac, sizeof(config.mac));
    (void)net_address_parse(&config.ipv4, dut ? "10.77.0.2" : "10.77.0.3");
    (void)net_address_parse(&config.ipv6, dut ? "fd77::2" : "fd77::3");
    return tcp_stack_new(&config, error);
}

/* Power-on of the device: a new TCP, a new stack, listening. */
static int power_on(struct sim_rig *sim, struct sentence *error)
{
    struct peer_config config = {.defects = sim->defects, .out_of_order = true};

    sim->generation++;
    sim->next_port = FIRST_FREE_PORT;
    sim->dut_tcp = stack_new(sim, true, error);
    if (sim->dut_tcp == NULL)
        return -1;
    sim->peer = peer_new(&config, &transport_ops, sim, error);
    if (sim->peer == NULL)
        return -1;
    return upper_tester_listen(&sim->rig, sim->rig.port, error);
}

static void power_off(struct sim_rig *sim)
{
    peer_free(sim->peer);
    tcp_stack_free(sim->dut_tcp);
    sim->peer = NULL;
    sim->dut_tcp = NULL;
}

static char *sim_command(struct rig *rig, const char *request, struct sentence *error)
{
    struct sim_rig *sim = (struct sim_rig *)rig;
    char *answer;

    tcp_stack_set_time(sim->dut_tcp, sim_now(sim->sim));
    answer = peer_command(sim->peer, request, sim_now(sim->sim));
    if (answer == NULL)
        (void)sentence_set(error, "the simulated device ran out of memory");
    return answer;
}

static int sim_reset_dut(struct rig *rig, struct sentence *error)
{
    struct sim_rig *sim = (struct sim_rig *)rig;

    power_off(sim);
    return power_on(sim, error);
}

static void sim_rig_free(struct rig *rig)
{
    struct sim_rig *sim = (struct sim_rig *)rig;

    if (sim->peer != NULL)
        power_off(sim);
    tcp_stack_free(rig->tcp);
    sim_free(sim->sim);
    free(sim);
}

static const struct rig_ops sim_rig_ops = {.command = sim_command, .reset = sim_reset_dut, .free = sim_rig_free};

struct rig *rig_sim_new(const struct rig_sim_config *config, struct sentence *error)
{
    struct sim_rig *sim = calloc(1, sizeof(*sim));
    struct sim_config world = {.seed = config->seed};

    if (sim == NULL) {
        (void)sentence_set(error, "out of memory for a simulated rig");
        return NULL;
    }
    sim->rig.ops = &sim_rig_ops;
    sim->rig.simulated = true;
    sim->rig.upper_tester = true;
    sim->rig.port = RIG_PORT;
    sim->seed = config->seed;
    sim->defects = config->defects;
    (void)net_address_parse(&sim->rig.dut, config->ipv6 ? "fd77::2" : "10.77.0.2");
    (void)net_address_parse(&sim->rig.own, config->ipv6 ? "fd77::3" : "10.77.0.3");
    sim->sim = sim_new(&world);
    if (sim->sim == NULL) {
        (void)sentence_set(error, "out of memory for a simulated wire");
        goto failed;
    }
    sim->rig.link = sim_link(sim->sim);
    sim->rig.tcp = stack_new(sim, false, error);
    if (sim->rig.tcp == NULL || power_on(sim, error) != 0)
        goto failed;
    sim_attach(sim->sim, SIM_END_B, &node_ops, sim);
    return &sim->rig;

failed:
    sim_rig_free(&sim->rig);
    return NULL;
}
