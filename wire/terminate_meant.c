/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/terminate_meant.h"

#include <string.h>

static uint8_t swap_nibbles(uint8_t octet)
{
    return (uint8_t)(octet << 4 | octet >> 4);
}

/* M, D and R from the low bits, where a little-endian host's compiler puts the first bit-fields of an octet. */
static uint8_t raise_flags(uint8_t octet)
{
    return (uint8_t)((octet & 1) << 7 | (octet & 2) << 5 | (octet & 4) << 3);
}

/*
 * A Terminate that is well-formed: registered, reserved bits zero, all announced parts there, nothing after but zeros.
 * A DDP error with an RDMA header is not, nor is an LLP error with any part (RFC 5040 4.8, Figure 10): it may be an
 * RDMAP error with its nibbles swapped.
 */
static bool is_regular(const uint8_t *octets, size_t count)
{
    const uint8_t *p = octets;
    struct terminate terminate;

    if (terminate_parse(&p, octets + count, &terminate) != WIRE_OK || terminate.reserved != 0 ||
        terminate_error_find(terminate.triple) == NULL || (wire_error_layer(terminate.triple) == 1 && terminate.r) ||
        (wire_error_layer(terminate.triple) == 2 && (terminate.m || terminate.d || terminate.r)))
        return false;
    for (size_t i = count - terminate.excess; i < count; i++)
        if (octets[i] != 0)
            return false;
    return true;
}

/*
 * Layer 2, EType 0 in the right order: with a wrong code it is more likely that than an RDMAP error with swapped
 * nibbles.
 */
enum { LLP_ERROR = 0x20 };

void terminate_read_meant(const uint8_t *payload, size_t count, struct terminate_meant *meant)
{
    uint8_t *octets = meant->octets;
    const uint8_t *p = octets;
    uint8_t first, flags;

    memset(meant, 0, sizeof(*meant));
    meant->count = count < sizeof(meant->octets) ? count : sizeof(meant->octets);
    if (meant->count != 0)
        memcpy(octets, payload, meant->count);
    if (meant->count >= TERMINATE_OCTETS && !is_regular(octets, meant->count)) {
        first = octets[0];
        flags = octets[2];
        for (unsigned kind = 1; kind < 4 && !meant->swapped; kind++) {
            if ((kind & 2) && (flags == 0 || (flags & 0xF8) != 0))
                continue;
            if (kind == 1 && first == LLP_ERROR)
                continue;
            octets[0] = kind & 1 ? swap_nibbles(first) : first;
            octets[2] = kind & 2 ? raise_flags(flags) : flags;
            meant->swapped = (octets[0] != first || octets[2] != flags) && is_regular(octets, meant->count);
        }
        if (!meant->swapped) {
            octets[0] = first;
            octets[2] = flags;
        }
    }
    meant->result = terminate_parse(&p, octets + meant->count, &meant->read);
}
