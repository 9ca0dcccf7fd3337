/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet frames of strangers, as the tester and the simulated device look for SCTP in them. */
#include "generator/sctp/sctp.h"
#include "generator/sctp/sctp_ip.h"
#include "tests/fuzz/fuzz.h"

enum { ROOM = 2048 };

/* The packet in a frame of our own is found again, whoever made the first one. */
static void again(const struct sctp_datagram *found, uint16_t udp_port)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
    const struct sctp_ip_ports ports = {udp_port, udp_port};
    struct packet_ip ip = {.source = found->source, .destination = found->destination};
    struct sctp_datagram second;
    uint8_t frame[ROOM];
    size_t count;

    memcpy(ip.ethernet_source, mac, sizeof(mac));
    count = sctp_ip_build(frame, sizeof(frame), &ip, &ports, found->packet, found->octets);
    if (count == 0)
        return; /* longer than the room */
    FUZZ_HOLDS(count <= sizeof(frame));
    FUZZ_HOLDS(sctp_ip_open(frame, count, udp_port, &second));
    FUZZ_HOLDS(net_address_equal(&second.source, &found->source));
    FUZZ_HOLDS(net_address_equal(&second.destination, &found->destination));
    FUZZ_HOLDS(memcmp(second.ethernet_source, mac, sizeof(mac)) == 0);
    FUZZ_HOLDS(second.octets == found->octets && memcmp(second.packet, found->packet, found->octets) == 0);
}

static void look(const uint8_t *frame, size_t size, uint16_t udp_port)
{
    struct sctp_datagram found;

    if (!sctp_ip_open(frame, size, udp_port, &found))
        return;
    FUZZ_HOLDS(found.source.family == found.destination.family);
    FUZZ_HOLDS(found.source.family == 4 || found.source.family == 6);
    FUZZ_HOLDS(found.packet >= frame + PACKET_ETHERNET_OCTETS + PACKET_IPV4_OCTETS);
    FUZZ_HOLDS(found.octets <= size && found.packet + found.octets <= frame + size);
    fuzz_touch(found.packet, found.octets);
    fuzz_touch(found.ethernet_source, 6);
    again(&found, udp_port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *frame = fuzz_copy(data, size);

    look(frame, size, 0);
    look(frame, size, SCTP_UDP_PORT);
    free(frame);
    return 0;
}
