/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a Terminate whose control word has the bit order of a little-endian compiler's bit-fields: Layer and EType are
 * exchanged in the first octet, or M, D and R are in the low bits of the third (RFC 5040 4.8, Figure 8). Linux siw
 * sends these. Rules, notation and the Wireshark plugin all use this function, so that their results agree.
 */
#ifndef WIRE_TERMINATE_MEANT_H
#define WIRE_TERMINATE_MEANT_H

#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TERMINATE_MEANT_OCTETS = IWARP_TERMINATE_MAX + 64 }; /* kept of a payload */

struct terminate_meant {
    bool swapped;                           /* the bits had the other order; `read` and `octets` are corrected */
    wire_result result;                     /* terminate_parse()'s */
    struct terminate read;                  /* its pointers point into `octets` */
    uint8_t octets[TERMINATE_MEANT_OCTETS]; /* the payload, as far as it fits */
    size_t count;
};

/*
 * Reads `count` octets of a Terminate's payload (what follows the untagged DDP header) into *meant. The bit order is
 * corrected only if the octets are not a well-formed Terminate, but are one after the correction.
 */
void terminate_read_meant(const uint8_t *payload, size_t count, struct terminate_meant *meant);

#ifdef __cplusplus
}
#endif

#endif
