/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/tester_sctp.h"

#include <string.h>

#include "conformance/engine/rig/rig.h"
#include "generator/sctp/sctp_ip.h"

enum { ANSWER_SECONDS = 10 };
#define SECOND UINT64_C(1000000000)

static struct tester_sctp *sctp_of(const struct tester *tester)
{
    return (struct tester_sctp *)tester;
}

/* False: nobody knows the device's MAC yet; the rig's TCP has asked for it. */
static bool mac_of_device(struct tester_sctp *sctp, uint8_t mac[6])
{
    static const uint8_t unknown[6];
    struct rig *rig = sctp->config.rig;

    memcpy(mac, sctp->config.peer_mac, 6);
    return memcmp(mac, unknown, 6) != 0 || tcp_stack_neighbour(rig->tcp.stack, &rig->dut, mac);
}

static void send_frame(struct tester_sctp *sctp, const uint8_t *frame, size_t octets)
{
    struct rig *rig = sctp->config.rig;

    if (octets == 0 || link_send(rig->link, frame, octets) == 0)
        return;
    rig->link->send_failed = true;
    rig->failure = rig->link->error;
}

/* False: the packet is not longer than a fragment. */
static bool send_fragments(struct tester_sctp *sctp, const uint8_t *frame, size_t octets)
{
    size_t size = sctp->fragment_octets, count = size == 0 ? 0 : packet_fragments(frame, octets, size);
    uint8_t fragment[LINK_FRAME_CAPACITY];

    for (size_t i = 0; i < count; i++) {
        size_t index = sctp->last_fragment_first ? count - 1 - i : i;

        send_frame(sctp, fragment,
                   packet_fragment(fragment, sizeof(fragment), frame, octets, size, index, sctp->identification));
    }
    return count != 0;
}

static void send_packet(struct tester_sctp *sctp, const uint8_t mac[6], const uint8_t *packet, size_t octets)
{
    struct rig *rig = sctp->config.rig;
    const struct sctp_ip_ports ports = {sctp->config.own_udp_port, sctp->config.dut_udp_port};
    struct packet_ip ip = {.source = rig->own, .destination = rig->dut, .identification = sctp->identification++};
    uint8_t frame[PACKET_ETHERNET_OCTETS + PACKET_IPV6_OCTETS + PACKET_UDP_OCTETS + SCTP_PACKET_MAX];
    size_t count;

    memcpy(ip.ethernet_source, sctp->config.own_mac, 6);
    memcpy(ip.ethernet_destination, mac, 6);
    count = sctp_ip_build(frame, sizeof(frame), &ip, &ports, packet, octets);
    if (!send_fragments(sctp, frame, count))
        send_frame(sctp, frame, count);
}

static void emit(void *context, const uint8_t *packet, size_t octets)
{
    struct tester_sctp *sctp = context;
    uint8_t mac[6];

    if (mac_of_device(sctp, mac)) {
        send_packet(sctp, mac, packet, octets);
    } else if (octets <= sizeof(sctp->waiting)) {
        memcpy(sctp->waiting, packet, octets);
        sctp->waiting_octets = octets;
    }
}

static void send_waiting(struct tester_sctp *sctp)
{
    uint8_t mac[6];

    if (sctp->waiting_octets == 0 || !mac_of_device(sctp, mac))
        return;
    send_packet(sctp, mac, sctp->waiting, sctp->waiting_octets);
    sctp->waiting_octets = 0;
}

/* Each tester sees each frame, the rig's TCP first: it may know the MAC from this frame. */
static void input(struct tester *tester, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct tester_sctp *sctp = sctp_of(tester);
    struct sctp_datagram datagram;
    const uint8_t *whole;

    send_waiting(sctp);
    whole = sctp_ip_whole(&sctp->reassembly, frame, &octets);
    if (whole == NULL)
        return;
    sctp_host_fragmented(sctp->host, whole != frame);
    frame = whole;
    if (sctp_ip_open(frame, octets, sctp->config.own_udp_port, &datagram) &&
        net_address_equal(&datagram.destination, &sctp->config.rig->own) &&
        net_address_equal(&datagram.source, &sctp->config.rig->dut))
        sctp_host_input(sctp->host, datagram.packet, datagram.octets, now);
}

static uint64_t deadline(const struct tester *tester)
{
    uint64_t due = sctp_host_deadline(sctp_of(tester)->host);

    return due == SCTP_HOST_NEVER ? LINK_NEVER : due;
}

static void tick(struct tester *tester, uint64_t now)
{
    sctp_host_tick(sctp_of(tester)->host, now);
}

/* The round trip is that of INIT and INIT ACK. */
static int measure(struct tester *tester, struct rig *rig, struct tester_exchange *exchange,
                   struct iwarp_sentence *error)
{
    struct tester_sctp *sctp = sctp_of(tester);
    uint64_t until = rig_now(rig) + ANSWER_SECONDS * SECOND;
    struct sctp_assoc *assoc;
    const struct sctp_assoc_status *status;
    char address[64];
    int pumped = 1;

    sctp_host_set_time(sctp->host, rig_now(rig));
    assoc = sctp_assoc_connect(sctp->host, rig->port, NULL, error);
    if (assoc == NULL)
        return -1;
    status = sctp_assoc_status(assoc);
    while (pumped > 0 && status->state < SCTP_ASSOC_ESTABLISHED)
        pumped = rig_pump(rig, until);
    exchange->round_trip_ns = status->round_trip_ns;
    exchange->refused = status->cause == SCTP_ASSOC_ABORTED && status->established_ns == 0;
    if (pumped < 0)
        (void)iwarp_sentence_set(error, "%s", rig->failure.text);
    else if (status->established_ns == 0)
        (void)iwarp_sentence_set(error, "the device at %s port %u did not set up an SCTP association: %s",
                                 net_address_format(&rig->dut, address, sizeof(address)), rig->port,
                                 status->cause == SCTP_ASSOC_OPEN ? "no answer" : sctp_assoc_cause_name(status->cause));
    pumped = pumped < 0 || status->established_ns == 0 ? -1 : 0;
    sctp_assoc_abort(assoc);
    sctp_assoc_release(assoc);
    return pumped;
}

static bool owns(const struct tester *tester, const struct net_address *peer, uint16_t own_port, uint16_t peer_port)
{
    const struct tester_sctp *sctp = sctp_of(tester);

    return net_address_equal(peer, &sctp->config.rig->dut) && sctp_host_has(sctp->host, own_port, peer_port);
}

static const struct tester_ops ops = {
    .input = input, .deadline = deadline, .tick = tick, .measure = measure, .owns = owns};

int tester_sctp_open(struct tester_sctp *sctp, const struct tester_sctp_config *config, struct iwarp_sentence *error)
{
    struct sctp_host_config host = {.seed = config->seed, .emit = emit, .context = sctp};

    sctp->tester = (struct tester){.ops = &ops};
    sctp->config = *config;
    host.now = rig_now(config->rig);
    sctp->host = sctp_host_new(&host, error);
    return sctp->host != NULL ? 0 : -1;
}

void tester_sctp_close(struct tester_sctp *sctp)
{
    sctp_host_free(sctp->host);
    sctp->host = NULL;
    packet_reassembly_free(sctp->reassembly);
    sctp->reassembly = NULL;
}
