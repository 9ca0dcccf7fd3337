/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMAP headers (RFC 5040 4). RDMAP lives in the octets that DDP keeps for its ULP:
 *
 *     octet 1 of every DDP Segment        octets 1-5 of an untagged one
 *     +---+---+-------+                   +---+---+-------+-----------------------------+
 *     |RV |Rsv|Opcode |                   |RV |Rsv|Opcode |  Invalidate STag (32 bits)  |
 *     +---+---+-------+                   +---+---+-------+-----------------------------+
 *
 *     RDMA Read Request Header, 28 octets after the untagged DDP header
 *     +---------------------------------------------------------------+
 *   0 |                           SinkSTag                            |
 *   4 |                            SinkTO (64 bits)                   |
 *  12 |                           RDMARDSZ                            |
 *  16 |                            SrcSTag                            |
 *  20 |                            SrcTO (64 bits)                    |
 *     +---------------------------------------------------------------+
 */
#ifndef WIRE_RDMAP_H
#define WIRE_RDMAP_H

#include "wire/ddp.h"
#include "wire/field.h"
#include "wire/rdmap_opcode.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RDMAP_VERSION = 1,
    RDMAP_VERSION_SHIFT = 6,
    RDMAP_CONTROL_OCTETS = 1,
    RDMAP_UNTAGGED_OCTETS = 5,
    READ_REQUEST_OCTETS = 28,
};

/* clang-format off */
/*
 * P(opcode, name, tagged, QN, octets of RDMAP header after the DDP header, ULP payload, Invalidate STag,
 * section)
 */
#define RDMAP_OPCODES(P) \
    P(IWARP_RDMAP_WRITE,              "RDMA Write",                  true,  0, 0,  true,  false, "RFC 5040 4.2") \
    P(IWARP_RDMAP_READ_REQUEST,       "RDMA Read Request",           false, 1, 28, false, false, "RFC 5040 4.4") \
    P(IWARP_RDMAP_READ_RESPONSE,      "RDMA Read Response",          true,  0, 0,  true,  false, "RFC 5040 4.5") \
    P(IWARP_RDMAP_SEND,               "Send",                        false, 0, 0,  true,  false, "RFC 5040 4.6") \
    P(IWARP_RDMAP_SEND_INVALIDATE,    "Send with Invalidate",        false, 0, 0,  true,  true,  "RFC 5040 4.6") \
    P(IWARP_RDMAP_SEND_SE,            "Send with Solicited Event",   false, 0, 0,  true,  false, "RFC 5040 4.6") \
    P(IWARP_RDMAP_SEND_SE_INVALIDATE, "Send with Solicited Event and Invalidate", false, 0, 0, true, true, "RFC 5040 4.6") \
    P(IWARP_RDMAP_TERMINATE,          "Terminate",                   false, 2, 4,  false, false, "RFC 5040 4.8") \
    P(IWARP_RDMAP_IMMEDIATE,          "Immediate Data",              false, 0, 8,  false, false, "RFC 7306 6.3") \
    P(IWARP_RDMAP_IMMEDIATE_SE,       "Immediate Data with Solicited Event", false, 0, 8, false, false, "RFC 7306 6.3") \
    P(IWARP_RDMAP_ATOMIC_REQUEST,     "Atomic Request",              false, 1, 52, false, false, "RFC 7306 5.2.1") \
    P(IWARP_RDMAP_ATOMIC_RESPONSE,    "Atomic Response",             false, 3, 12, false, false, "RFC 7306 5.2.2")

#define RDMAP_CONTROL_FIELDS(F, O, layout) \
    F(layout, RV,     "RV",     0, 2, WIRE_NUMBER,   NULL,               "RFC 5040 4.1", "RDMAP version, 1") \
    F(layout, Rsv,    "Rsv",    2, 2, WIRE_RESERVED, NULL,               "RFC 5040 4.1", "zero on sending, not checked on receipt") \
    F(layout, Opcode, "Opcode", 4, 4, WIRE_HEX,      rdmap_opcode_names, "RFC 5040 4.1", "the RDMA Message")

#define RDMAP_UNTAGGED_FIELDS(F, O, layout) \
    RDMAP_CONTROL_FIELDS(F, O, layout) \
    F(layout, InvalidateSTag, "Invalidate STag", 8, 32, WIRE_HEX, NULL,  "RFC 5040 4.1", "Send with Invalidate only; zero otherwise and ignored")

#define READ_REQUEST_FIELDS(F, O, layout) \
    F(layout, SinkSTag, "SinkSTag", 0,   32, WIRE_HEX,    NULL, "RFC 5040 4.4", "where the requester wants the data: its STag") \
    F(layout, SinkTO,   "SinkTO",   32,  64, WIRE_HEX,    NULL, "RFC 5040 4.4", "and Tagged Offset") \
    F(layout, RDMARDSZ, "RDMARDSZ", 96,  32, WIRE_NUMBER, NULL, "RFC 5040 4.4", "octets to read, 0 to 2^32-1") \
    F(layout, SrcSTag,  "SrcSTag",  128, 32, WIRE_HEX,    NULL, "RFC 5040 4.4", "the data source's STag") \
    F(layout, SrcTO,    "SrcTO",    160, 64, WIRE_HEX,    NULL, "RFC 5040 4.4", "and Tagged Offset")
/* clang-format on */

extern const struct wire_name rdmap_opcode_names[];
WIRE_LAYOUT_DECLARE(rdmap_control, RDMAP_CONTROL_FIELDS);
WIRE_LAYOUT_DECLARE(rdmap_untagged, RDMAP_UNTAGGED_FIELDS);
WIRE_LAYOUT_DECLARE(read_request, READ_REQUEST_FIELDS);

struct rdmap_opcode_row {
    const char *name; /* NULL: opcode not assigned */
    bool tagged;
    uint8_t qn;            /* untagged only */
    uint8_t header_octets; /* RDMAP header after the DDP header; a Terminate's is the least */
    bool has_payload;      /* ULP payload follows */
    bool invalidates;
    const char *section;
};

/* Indexed by the 4-bit opcode: 16 rows. */
extern const struct rdmap_opcode_row rdmap_opcode_rows[16];

/* The control octet of a message sent by the book: RV 1, Rsv 0. */
static inline uint8_t rdmap_control(enum iwarp_rdmap_opcode opcode)
{
    return (uint8_t)(RDMAP_VERSION << RDMAP_VERSION_SHIFT | opcode);
}

static inline bool rdmap_is_send(unsigned opcode)
{
    return opcode >= IWARP_RDMAP_SEND && opcode <= IWARP_RDMAP_SEND_SE_INVALIDATE;
}

/* RDMAP's part of a DDP Segment, in host form. */
struct rdmap_message {
    uint8_t version; /* RV */
    uint8_t reserved;
    uint8_t opcode;
    uint32_t invalidate_stag; /* untagged segments */
    const struct rdmap_opcode_row *row;
};

/*
 * Reads RDMAP's octets of a segment. TERM_RDMAP_VERSION: RV not 1 (RFC 5040 7.1); TERM_RDMAP_OPCODE: opcode not
 * assigned, or its buffer model or queue is not the one that RFC 5040 Figure 4 gives it. WIRE_MORE: an untagged message
 * with a fixed header is shorter than that header. `message` is filled in all the same.
 */
wire_result rdmap_parse(const struct ddp_segment *segment, struct rdmap_message *message);

struct read_request {
    uint32_t sink_stag;
    uint64_t sink_to;
    uint32_t octets; /* RDMARDSZ */
    uint32_t source_stag;
    uint64_t source_to;
};

/* Parses the 28-octet header at *p, which advances; WIRE_MORE when it is cut. */
wire_result read_request_parse(const uint8_t **p, const uint8_t *end, struct read_request *request);

/* Writes READ_REQUEST_OCTETS octets. */
void read_request_pack(const struct read_request *request, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif
