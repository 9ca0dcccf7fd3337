/* SPDX-License-Identifier: BSD-2-Clause */
/* The opcodes of RDMA Messages (RFC 5040 4.3, RFC 7306 4); wire/rdmap.h has their table. */
#ifndef IWARP_WIRE_RDMAP_OPCODE_H
#define IWARP_WIRE_RDMAP_OPCODE_H

#ifdef __cplusplus
extern "C" {
#endif

enum iwarp_rdmap_opcode {
    IWARP_RDMAP_WRITE = 0x0,
    IWARP_RDMAP_READ_REQUEST = 0x1,
    IWARP_RDMAP_READ_RESPONSE = 0x2,
    IWARP_RDMAP_SEND = 0x3,
    IWARP_RDMAP_SEND_INVALIDATE = 0x4,
    IWARP_RDMAP_SEND_SE = 0x5,
    IWARP_RDMAP_SEND_SE_INVALIDATE = 0x6,
    IWARP_RDMAP_TERMINATE = 0x7,
    IWARP_RDMAP_IMMEDIATE = 0x8,
    IWARP_RDMAP_IMMEDIATE_SE = 0x9,
    IWARP_RDMAP_ATOMIC_REQUEST = 0xA,
    IWARP_RDMAP_ATOMIC_RESPONSE = 0xB,
};

#ifdef __cplusplus
}
#endif

#endif
