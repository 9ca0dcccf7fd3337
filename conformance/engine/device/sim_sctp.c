/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/device/sim_sctp.h"

#include <netinet/in.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "generator/sctp/sctp.h"
#include "generator/sctp/sctp_ip.h"
#include "reference-stack/peer/peer.h"
#include "reference-stack/transport/sctp_hub.h"

enum { MTU = 1500, RTO_MS = 1000, RETRANSMISSIONS = 8, PACKET_MAX = 9000 };

/* What a script may make one device hold: the script host does not see it. */
#define MEMORY_MAX (UINT64_C(288) << 20) /* each association is charged with the most that it can hold: so 32 of them */

struct sim_sctp {
    struct sim_sctp_config config;
    struct sctp_hub *hub;
    struct peer *peer;
    uint64_t tick;           /* when libusrsctp's timers are due */
    uint16_t identification; /* of the next IPv4 datagram */
    struct packet_reassembly *reassembly;
    bool drop_fragments; /* a fault: packets in IP fragments are not put together */
};

/* What the peer calls a transport, and the hub a user. */
struct sim_path {
    struct sim_sctp *device;
    struct peer_association *owner;
    struct sctp_path *path;
};

/* --- Packets ----------------------------------------------------------------------------------------------------- */

/*
 * What the wire does not take as it is goes in fragments: the adaptation thinks that the path is wider (RFC 5043 9,
 * draft 5).
 */
static void send_fragments(const struct sim_sctp *device, const uint8_t *frame, size_t octets, uint16_t identification)
{
    enum { FRAGMENT = 1440 }; /* octets, a multiple of 8, after the longest IP header */
    size_t count = packet_fragments(frame, octets, FRAGMENT);
    uint8_t fragment[PACKET_ETHERNET_OCTETS + MTU];

    for (size_t i = 0; i < count; i++) {
        size_t length = packet_fragment(fragment, sizeof(fragment), frame, octets, FRAGMENT, i, identification);

        (void)sim_send(device->config.sim, device->config.end, fragment, length);
    }
}

static void on_send(void *owner, void *link, const struct sockaddr_storage *to, const uint8_t *packet, size_t octets)
{
    struct sim_sctp *device = owner;
    struct packet_ip ip = {.source = device->config.own,
                           .destination = device->config.peer,
                           .protocol = SCTP_PROTOCOL,
                           .identification = device->identification++};
    uint8_t frame[PACKET_ETHERNET_OCTETS + PACKET_MAX];
    size_t count;

    (void)link;
    (void)to; /* there is one other end */
    memcpy(ip.ethernet_source, device->config.mac, 6);
    memcpy(ip.ethernet_destination, device->config.peer_mac, 6);
    count = packet_build_ip(frame, sizeof(frame), &ip, packet, octets);
    if (count > PACKET_ETHERNET_OCTETS + MTU)
        send_fragments(device, frame, count, ip.identification);
    else if (count != 0)
        (void)sim_send(device->config.sim, device->config.end, frame, count);
}

/* The other end as a socket address, by which the hub identifies places. */
static void place_of(const struct net_address *address, struct sockaddr_storage *place)
{
    memset(place, 0, sizeof(*place));
    if (address->family == 6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)place;

        six->sin6_family = AF_INET6;
        memcpy(&six->sin6_addr, address->octets, 16);
    } else {
        struct sockaddr_in *four = (struct sockaddr_in *)place;

        four->sin_family = AF_INET;
        memcpy(&four->sin_addr, address->octets, 4);
    }
}

static struct sim_path *sim_path_new(struct sim_sctp *device, struct peer_association *owner, struct sctp_path *path)
{
    struct sim_path *carrier = calloc(1, sizeof(*carrier));

    if (carrier != NULL)
        *carrier = (struct sim_path){device, owner, path};
    return carrier;
}

static size_t on_leaving(void *owner, uint8_t *packet, size_t octets, size_t room)
{
    const struct sim_sctp *device = owner;
    const struct peer_config peer = {.seed = PEER_SEED, .defects = device->config.defects};

    return peer_sctp_leaving(&peer, packet, octets, room);
}

static struct iwarp_association *on_incoming(void *owner, uint16_t port, struct sctp_path *path, void **user)
{
    struct sim_sctp *device = owner;
    struct sim_path *carrier = sim_path_new(device, NULL, path);
    struct iwarp_association *association = NULL;

    if (carrier != NULL)
        association =
            peer_association_incoming(device->peer, port, carrier, &carrier->owner, sim_now(device->config.sim));
    if (association == NULL) {
        free(carrier);
        carrier = NULL;
    }
    *user = carrier;
    return association;
}

static void on_changed(void *user)
{
    struct sim_path *carrier = user;

    peer_association_changed(carrier->owner, sim_now(carrier->device->config.sim));
}

/* --- What the peer calls ----------------------------------------------------------------------------------------- */

static int op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    struct sim_sctp *device = context;

    return sctp_hub_listen(device->hub, port, why);
}

static void op_unlisten(void *context, uint16_t port)
{
    struct sim_sctp *device = context;

    sctp_hub_unlisten(device->hub, port);
}

static void *op_connect(void *context, const struct peer_sctp_place *place, struct iwarp_association *association,
                        struct peer_association *owner, struct iwarp_sentence *why)
{
    struct sim_sctp *device = context;
    struct sockaddr_storage to;
    struct net_address address;
    struct sim_path *carrier;

    if (net_address_parse(&address, place->address) != 0 || !net_address_equal(&address, &device->config.peer)) {
        (void)iwarp_sentence_set(why, "there is nobody at '%.60s'", place->address);
        return NULL;
    }
    carrier = sim_path_new(device, owner, NULL);
    if (carrier == NULL) {
        (void)iwarp_sentence_set(why, "out of memory");
        return NULL;
    }
    place_of(&device->config.peer, &to);
    carrier->path =
        sctp_hub_connect(device->hub, &to, place->port, association, carrier, sim_now(device->config.sim), why);
    if (carrier->path != NULL)
        return carrier;
    free(carrier);
    return NULL;
}

static void op_run(void *transport, uint64_t now)
{
    const struct sim_path *carrier = transport;

    sctp_path_run(carrier->path, now);
}

static void op_release(void *transport)
{
    struct sim_path *carrier = transport;

    sctp_path_release(carrier->path);
    free(carrier);
}

static void op_set_packet_max(void *transport, size_t octets)
{
    const struct sim_path *carrier = transport;

    sctp_path_set_packet_max(carrier->path, octets);
}

static const struct peer_sctp_ops sctp_ops = {
    .connect = op_connect, .run = op_run, .release = op_release, .set_packet_max = op_set_packet_max};

static const struct peer_transport_ops transport_ops = {
    .sctp = &sctp_ops, .listen = op_listen, .unlisten = op_unlisten};

/* --- The node ---------------------------------------------------------------------------------------------------- */

/* Timers run while there are associations. */
static void wind(struct sim_sctp *device, uint64_t now)
{
    if (!sctp_hub_busy(device->hub))
        device->tick = UINT64_MAX;
    else if (device->tick == UINT64_MAX)
        device->tick = now + SCTP_HUB_TICK;
}

static void node_frame(void *node, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct sim_sctp *device = node;
    struct sctp_datagram datagram;
    struct sockaddr_storage from;
    const uint8_t *whole;

    whole = sctp_ip_whole(&device->reassembly, frame, &octets);
    if (whole == NULL || (whole != frame && device->drop_fragments))
        return;
    if (!sctp_ip_open(whole, octets, 0, &datagram) || !net_address_equal(&datagram.destination, &device->config.own) ||
        !net_address_equal(&datagram.source, &device->config.peer))
        return;
    place_of(&device->config.peer, &from);
    sctp_hub_input(device->hub, &from, datagram.packet, datagram.octets, now);
    wind(device, now);
}

static uint64_t node_deadline(void *node)
{
    const struct sim_sctp *device = node;
    uint64_t peer = peer_deadline(device->peer);

    return device->tick < peer ? device->tick : peer;
}

static void node_tick(void *node, uint64_t now)
{
    struct sim_sctp *device = node;

    if (device->tick <= now) {
        device->tick = UINT64_MAX;
        sctp_hub_tick(device->hub, now);
    }
    peer_tick(device->peer, now);
    wind(device, now);
}

static const struct sim_node_ops node_ops = {.frame = node_frame, .deadline = node_deadline, .tick = node_tick};

struct sim_sctp *sim_sctp_new(const struct sim_sctp_config *config, struct iwarp_sentence *error)
{
    struct peer_config peer = {.seed = PEER_SEED, .defects = config->defects, .memory_max = MEMORY_MAX};
    size_t network = config->own.family == 4 ? PACKET_IPV4_OCTETS : PACKET_IPV6_OCTETS;
    struct sctp_hub_config hub = {.fragments = config->profile == IWARP_SCTP_RFC5043,
                                  .rto_ms = RTO_MS,
                                  .retransmissions = RETRANSMISSIONS,
                                  .send = on_send,
                                  .leaving = peer.defects != NULL ? on_leaving : NULL,
                                  .incoming = on_incoming,
                                  .changed = on_changed};
    struct sim_sctp *device = calloc(1, sizeof(*device));
    struct sctp_settings settings;
    struct tcp_settings tcp;

    if (device == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a simulated device");
        return NULL;
    }
    device->config = *config;
    device->tick = UINT64_MAX;
    peer_tcp(&peer, &tcp);
    device->drop_fragments = tcp.drop_fragments;
    iwarp_association_config_default(&peer.association, config->profile);
    peer.association.mtu = MTU;
    peer.association.network_octets = network;
    peer_sctp(&peer, &settings);
    hub.owner = device;
    hub.packet_max = peer.association.mtu - network;
    hub.sack_delay_ms = settings.sack_delay_ms;
    hub.sack_packets = settings.sack_packets;
    hub.window = settings.window;
    hub.send_buffer = SIM_SCTP_SEND_ROOM;
    hub.chunk_max = settings.chunk_max;
    device->hub = sctp_hub_new(&hub, error);
    if (device->hub != NULL)
        device->peer = peer_new(&peer, &transport_ops, device, error);
    if (device->peer == NULL) {
        sim_sctp_free(device);
        return NULL;
    }
    sim_attach(config->sim, config->end, &node_ops, device);
    return device;
}

void sim_sctp_free(struct sim_sctp *device)
{
    if (device == NULL)
        return;
    peer_free(device->peer);
    sctp_hub_free(device->hub);
    packet_reassembly_free(device->reassembly);
    free(device);
}

json_t *sim_sctp_answer(struct sim_sctp *device, const json_t *request)
{
    uint64_t now = sim_now(device->config.sim);
    json_t *answer = peer_answer(device->peer, request, now);

    wind(device, now);
    return answer;
}

char *sim_sctp_command(struct sim_sctp *device, const char *request)
{
    uint64_t now = sim_now(device->config.sim);
    char *answer = peer_command(device->peer, request, now);

    wind(device, now);
    return answer;
}
