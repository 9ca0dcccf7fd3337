/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet frames of strangers, as the tester and the simulated device look for SCTP in them. */
#include "generator/sctp/sctp.h"
#include "generator/sctp/sctp_ip.h"
#include "tests/fuzz/fuzz.h"

enum { ROOM = 2048 };

/* The packet in a frame of our own is found again, whoever made the first one. */
static void again(const struct sctp_datagram *found)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
    struct packet_ip ip = {.source = found->source, .destination = found->destination, .protocol = SCTP_PROTOCOL};
    struct sctp_datagram second;
    uint8_t frame[ROOM];
    size_t count;

    memcpy(ip.ethernet_source, mac, sizeof(mac));
    count = packet_build_ip(frame, sizeof(frame), &ip, found->packet, found->octets);
    if (count == 0)
        return; /* longer than the room */
    FUZZ_HOLDS(count <= sizeof(frame));
    FUZZ_HOLDS(sctp_ip_open(frame, count, &second));
    FUZZ_HOLDS(net_address_equal(&second.source, &found->source));
    FUZZ_HOLDS(net_address_equal(&second.destination, &found->destination));
    FUZZ_HOLDS(memcmp(second.ethernet_source, mac, sizeof(mac)) == 0);
    FUZZ_HOLDS(second.octets == found->octets && memcmp(second.packet, found->packet, found->octets) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *frame = fuzz_copy(data, size);
    struct sctp_datagram found;

    if (sctp_ip_open(frame, size, &found)) {
        FUZZ_HOLDS(found.source.family == found.destination.family);
        FUZZ_HOLDS(found.source.family == 4 || found.source.family == 6);
        FUZZ_HOLDS(found.packet >= frame + PACKET_ETHERNET_OCTETS + PACKET_IPV4_OCTETS);
        FUZZ_HOLDS(found.octets <= size && found.packet + found.octets <= frame + size);
        fuzz_touch(found.packet, found.octets);
        fuzz_touch(found.ethernet_source, 6);
        again(&found);
    }
    free(frame);
    return 0;
}
