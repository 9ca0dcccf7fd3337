/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic Operations and Immediate Data (RFC 7306 5.2 and 6.3; draft-ietf-storm-rdmap-ext-03 where it differs).
 *
 *     Atomic Request Header, 52 octets            Atomic Response Header, 12 octets
 *     +-------------------------------+-------+   +---------------------------------------+
 *   0 |           Reserved (28)       |AOpCode| 0 |      Original Request Identifier      |
 *   4 |           Request Identifier          | 4 |   Original Remote Data Value (64)     |
 *   8 |              Remote STag              |   +---------------------------------------+
 *  12 |            Remote TO (64)             |
 *  20 |        Add or Swap Data (64)          |   Immediate Data, 8 octets
 *  28 |        Add or Swap Mask (64)          |   +---------------------------------------+
 *  36 |          Compare Data (64)            | 0 |          Immediate Data (64)          |
 *  44 |          Compare Mask (64)            |   +---------------------------------------+
 *     +---------------------------------------+
 */
#ifndef WIRE_ATOMIC_H
#define WIRE_ATOMIC_H

#include "wire/atomic_opcode.h"
#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ATOMIC_REQUEST_OCTETS = 52,
    ATOMIC_RESPONSE_OCTETS = 12,
    ATOMIC_TARGET_OCTETS = 8,
};

extern const struct wire_name atomic_opcode_names[];

/* clang-format off */
#define ATOMIC_REQUEST_FIELDS(F, O, layout) \
    F(layout, Reserved,     "Reserved",           0,   28, WIRE_RESERVED, NULL,                "RFC 7306 5.2.1", "zero on sending, not checked on receipt") \
    F(layout, AOpCode,      "AOpCode",            28,  4,  WIRE_NUMBER,   atomic_opcode_names, "RFC 7306 5.2.1", "FetchAdd, CmpSwap (and the draft's Swap)") \
    F(layout, RequestId,    "Request Identifier", 32,  32, WIRE_NUMBER,   NULL,                "RFC 7306 5.2.1", "echoed in the response") \
    F(layout, STag,         "Remote STag",        64,  32, WIRE_HEX,      NULL,                "RFC 7306 5.2.1", "the target's STag") \
    F(layout, TO,           "Remote TO",          96,  64, WIRE_HEX,      NULL,                "RFC 7306 5.2.1", "the target's Tagged Offset; its address is 64-bit aligned") \
    F(layout, Data,         "Add or Swap Data",   160, 64, WIRE_HEX,      NULL,                "RFC 7306 5.2.1", "operand") \
    F(layout, Mask,         "Add or Swap Mask",   224, 64, WIRE_HEX,      NULL,                "RFC 7306 5.2.1", "field boundaries of an add, bits to swap") \
    F(layout, CompareData,  "Compare Data",       288, 64, WIRE_HEX,      NULL,                "RFC 7306 5.2.1", "CmpSwap: value to compare with") \
    F(layout, CompareMask,  "Compare Mask",       352, 64, WIRE_HEX,      NULL,                "RFC 7306 5.2.1", "CmpSwap: bits to compare")

#define ATOMIC_RESPONSE_FIELDS(F, O, layout) \
    F(layout, RequestId,    "Original Request Identifier", 0, 32, WIRE_NUMBER, NULL,           "RFC 7306 5.2.2", "identifier of the request answered") \
    F(layout, Value,        "Original Remote Data Value", 32, 64, WIRE_HEX,    NULL,           "RFC 7306 5.2.2", "the target before the operation")

#define IMMEDIATE_FIELDS(F, O, layout) \
    F(layout, Data,         "Immediate Data",     0,   64, WIRE_HEX,      NULL,                "RFC 7306 6.3",   "eight octets for the ULP")
/* clang-format on */

WIRE_LAYOUT_DECLARE(atomic_request, ATOMIC_REQUEST_FIELDS);
WIRE_LAYOUT_DECLARE(atomic_response, ATOMIC_RESPONSE_FIELDS);
WIRE_LAYOUT_DECLARE(immediate, IMMEDIATE_FIELDS);

struct atomic_request {
    uint32_t reserved;
    uint8_t opcode;
    uint32_t id;
    uint32_t stag;
    uint64_t to;
    uint64_t data, mask;
    uint64_t compare_data, compare_mask;
};

struct atomic_response {
    uint32_t id;
    uint64_t value;
};

/* Each parses its fixed header at *p and advances *p. WIRE_MORE: the header is incomplete. */
wire_result atomic_request_parse(const uint8_t **p, const uint8_t *end, struct atomic_request *request);
wire_result atomic_response_parse(const uint8_t **p, const uint8_t *end, struct atomic_response *response);

/* Write ATOMIC_REQUEST_OCTETS and ATOMIC_RESPONSE_OCTETS octets. */
void atomic_request_pack(const struct atomic_request *request, uint8_t *out);
void atomic_response_pack(const struct atomic_response *response, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif
