/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs fill in for Atomic Operations and Immediate Data; wire/atomic.h has their headers. */
#ifndef IWARP_WIRE_ATOMIC_OPCODE_H
#define IWARP_WIRE_ATOMIC_OPCODE_H

#ifdef __cplusplus
extern "C" {
#endif

enum iwarp_atomic_opcode {
    IWARP_ATOMIC_FETCH_ADD = 0,
    IWARP_ATOMIC_SWAP = 1, /* draft-ietf-storm-rdmap-ext-03 only; reserved in RFC 7306 */
    IWARP_ATOMIC_COMPARE_SWAP = 2,
};

enum { IWARP_IMMEDIATE_OCTETS = 8 }; /* RFC 7306 6.3 */

#ifdef __cplusplus
}
#endif

#endif
