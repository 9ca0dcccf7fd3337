/* SPDX-License-Identifier: BSD-2-Clause */
/* An Ethernet frame out of any octets, as the tester's IPsec sees it on the wire: ESP, IKE, or neither. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/ipsec/ipsec_frames.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ipsec_packet packet = ipsec_packet_of(data, size);
    uint8_t *copy;

    if (packet.kind == IPSEC_PACKET_OTHER)
        return 0;
    FUZZ_HOLDS(packet.begin + 8 <= size);
    FUZZ_HOLDS(packet.udp == 0 || packet.udp + 8 <= packet.begin);
    copy = malloc(size);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    ipsec_packet_prepare(copy, &packet, true);
    FUZZ_HOLDS(ipsec_packet_of(copy, size).kind == packet.kind);
    free(copy);
    return 0;
}
