/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire/sctp.h, wire/ddp_sctp.h and wire/cm.h on any octets. Octet 0 chooses: 0 chunks of an SCTP packet, 1 a user
 * message (octet 1 is the PPID), 2 a MAD. What is accepted lies inside the input, and control messages come back from
 * the packer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "wire/cm.h"
#include "wire/ddp_sctp.h"
#include "wire/sctp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(const uint8_t *octets, size_t count, const uint8_t *data, size_t size)
{
    return octets == NULL || (octets >= data && octets + count <= data + size);
}

static void read_packet(const uint8_t *data, size_t size)
{
    const uint8_t *p = data, *end = data + size;
    struct sctp_chunk chunk;
    struct sctp_data user;
    struct sctp_init init;

    while (p < end) {
        const uint8_t *before = p;
        wire_result result = sctp_chunk_parse(&p, end, &chunk);

        if (chunk.start == NULL || wire_is_error(result))
            return;
        FUZZ_HOLDS(p > before && inside(chunk.start, chunk.octets, data, size) && chunk.octets <= chunk.length);
        if (sctp_data_parse(&chunk, &user) == WIRE_OK)
            FUZZ_HOLDS(inside(user.user, user.user_have, data, size) && user.user_have <= user.user_octets);
        if (sctp_init_parse(&chunk, &init) == WIRE_OK) {
            for (unsigned i = 0; i < init.addresses && i < SCTP_ADDRESSES_MAX; i++)
                FUZZ_HOLDS(inside(init.address[i].octets, init.address[i].family == 4 ? 4 : 16, data, size));
            FUZZ_HOLDS(!init.has_adaptation || inside(init.adaptation_at, SCTP_ADAPTATION_OCTETS, data, size));
        }
        if (result != WIRE_OK)
            return;
    }
}

static void read_user(uint32_t ppid, const uint8_t *data, size_t size)
{
    struct ddp_sctp_message message;
    wire_result result = ddp_sctp_parse(ppid, data, size, &message);
    uint8_t *packed;
    size_t octets;

    FUZZ_HOLDS(inside(message.private_data, message.private_octets, data, size));
    FUZZ_HOLDS(inside(message.segment, message.segment_octets, data, size));
    if (result != WIRE_OK || message.kind != DDP_SCTP_CONTROL)
        return;
    packed = malloc(size + 1);
    FUZZ_HOLDS(packed != NULL);
    message.private_data = ddp_sctp_ulp_data(&message, &octets);
    message.private_octets = octets;
    FUZZ_HOLDS(ddp_sctp_pack_control(&message, packed, size) == size && memcmp(packed, data, size) == 0);
    free(packed);
}

static void read_mad(const uint8_t *data, size_t size)
{
    struct cm_message message;

    cm_parse(data, size, &message);
    FUZZ_HOLDS(message.row != NULL && message.body_octets <= CM_MESSAGE_OCTETS);
    FUZZ_HOLDS(inside(message.body, message.body_octets, data, size));
    FUZZ_HOLDS(inside(message.private_data, message.private_octets, data, size));
    if (message.has_ip)
        FUZZ_HOLDS(inside(message.ip.source, 16, data, size) && inside(message.ip.destination, 16, data, size) &&
                   inside(message.ip.consumer, message.ip.consumer_octets, data, size));
    if (message.has_ari)
        FUZZ_HOLDS(inside(message.ari.suggested, message.ari.suggested_octets, data, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (size < 2)
        return 0;
    copy = malloc(size - 2 != 0 ? size - 2 : 1); /* so that a step too far is seen */
    FUZZ_HOLDS(copy != NULL);
    memcpy(copy, data + 2, size - 2);
    switch (data[0] % 3) {
    case 0: read_packet(copy, size - 2); break;
    case 1: read_user(data[1], copy, size - 2); break;
    default: read_mad(copy, size - 2); break;
    }
    free(copy);
    return 0;
}
