/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Terminate Message (RFC 5040 4.8) and the error registries (RFC 6580 3, with RFC 6581's additions).
 *
 *     Terminate Control (octets 0-3 of the payload)
 *     +-------+-------+---------------+-+-+-+-------------------------+
 *     | Layer | EType |  Error Code   |M|D|R|        reserved         |
 *     +-------+-------+---------------+-+-+-+-------------------------+
 *     | DDP Segment Length (if M)     |  terminated DDP header (if D) |
 *     +-------------------------------+                               +
 *     /      14 octets (tagged) or 18 (untagged), as received         /
 *     +---------------------------------------------------------------+
 *     /      terminated RDMAP header (if R): 28 octets                /
 *     +---------------------------------------------------------------+
 */
#ifndef WIRE_TERMINATE_H
#define WIRE_TERMINATE_H

#include "wire/field.h"
#include "wire/terminate_triple.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The result of a parser: 0, "more octets are needed", or the Terminate triple for the error in the octets.
 */
typedef uint32_t wire_result;

enum {
    WIRE_OK = 0,
    WIRE_ERROR_BIT = IWARP_TERMINATE_TRIPLE(0, 0, 0),
    WIRE_MORE = 0x20000,
};

static inline bool wire_is_error(wire_result result)
{
    return (result & WIRE_ERROR_BIT) != 0;
}

/* The first two octets of the Terminate Control: layer, etype and code as one 16-bit number. */
static inline uint16_t wire_error_word(wire_result result)
{
    return (uint16_t)result;
}

static inline unsigned wire_error_layer(wire_result result)
{
    return result >> 12 & 0xF;
}

static inline unsigned wire_error_etype(wire_result result)
{
    return result >> 8 & 0xF;
}

static inline unsigned wire_error_code(wire_result result)
{
    return result & 0xFF;
}

/* clang-format off */
/*
 * E(identifier, layer, etype, code, error type, error, source) in the order of the registries; see
 * terminate_error_find() for "ALL" codes.
 */
#define TERMINATE_ERRORS(E) \
    E(TERM_RDMAP_CATASTROPHIC,         0x0, 0x0, 0x00, "Local Catastrophic Error", "",                                       "RFC 5040 4.8") \
    E(TERM_RDMAP_INVALID_STAG,         0x0, 0x1, 0x00, "Remote Protection Error",  "Invalid STag",                           "RFC 5040 4.8") \
    E(TERM_RDMAP_BOUNDS,               0x0, 0x1, 0x01, "Remote Protection Error",  "Base or bounds violation",               "RFC 5040 4.8") \
    E(TERM_RDMAP_ACCESS,               0x0, 0x1, 0x02, "Remote Protection Error",  "Access rights violation",                "RFC 5040 4.8") \
    E(TERM_RDMAP_NOT_ASSOCIATED,       0x0, 0x1, 0x03, "Remote Protection Error",  "STag not associated with RDMAP Stream",  "RFC 5040 4.8") \
    E(TERM_RDMAP_TO_WRAP,              0x0, 0x1, 0x04, "Remote Protection Error",  "TO wrap",                                "RFC 5040 4.8") \
    E(TERM_RDMAP_PROTECTION_INVALIDATE,0x0, 0x1, 0x09, "Remote Protection Error",  "STag cannot be Invalidated",             "RFC 5040 4.8") \
    E(TERM_RDMAP_PROTECTION_OTHER,     0x0, 0x1, 0xFF, "Remote Protection Error",  "Unspecified Error",                      "RFC 5040 4.8") \
    E(TERM_RDMAP_VERSION,              0x0, 0x2, 0x05, "Remote Operation Error",   "Invalid RDMAP version",                  "RFC 5040 4.8") \
    E(TERM_RDMAP_OPCODE,               0x0, 0x2, 0x06, "Remote Operation Error",   "Unexpected OpCode",                      "RFC 5040 4.8") \
    E(TERM_RDMAP_CATASTROPHIC_STREAM,  0x0, 0x2, 0x07, "Remote Operation Error",   "Catastrophic error, localized to RDMAP Stream", "RFC 5040 4.8") \
    E(TERM_RDMAP_CATASTROPHIC_GLOBAL,  0x0, 0x2, 0x08, "Remote Operation Error",   "Catastrophic error, global",             "RFC 5040 4.8") \
    E(TERM_RDMAP_OPERATION_INVALIDATE, 0x0, 0x2, 0x09, "Remote Operation Error",   "STag cannot be Invalidated",             "RFC 5040 4.8") \
    E(TERM_RDMAP_OPERATION_OTHER,      0x0, 0x2, 0xFF, "Remote Operation Error",   "Unspecified Error",                      "RFC 5040 4.8") \
    E(TERM_DDP_CATASTROPHIC,           0x1, 0x0, 0x00, "Local Catastrophic",       "",                                       "RFC 5041 7.2") \
    E(TERM_DDP_INVALID_STAG,           0x1, 0x1, 0x00, "Tagged Buffer Error",      "Invalid STag",                           "RFC 5041 7.2") \
    E(TERM_DDP_BOUNDS,                 0x1, 0x1, 0x01, "Tagged Buffer Error",      "Base or bounds violation",               "RFC 5041 7.2") \
    E(TERM_DDP_NOT_ASSOCIATED,         0x1, 0x1, 0x02, "Tagged Buffer Error",      "STag not associated with DDP Stream",    "RFC 5041 7.2") \
    E(TERM_DDP_TO_WRAP,                0x1, 0x1, 0x03, "Tagged Buffer Error",      "TO wrap",                                "RFC 5041 7.2") \
    E(TERM_DDP_TAGGED_VERSION,         0x1, 0x1, 0x04, "Tagged Buffer Error",      "Invalid DDP version",                    "RFC 5041 7.2") \
    E(TERM_DDP_INVALID_QN,             0x1, 0x2, 0x01, "Untagged Buffer Error",    "Invalid QN",                             "RFC 5041 7.2") \
    E(TERM_DDP_NO_BUFFER,              0x1, 0x2, 0x02, "Untagged Buffer Error",    "Invalid MSN - no buffer available",      "RFC 5041 7.2") \
    E(TERM_DDP_MSN_RANGE,              0x1, 0x2, 0x03, "Untagged Buffer Error",    "Invalid MSN - MSN range is not valid",   "RFC 5041 7.2") \
    E(TERM_DDP_INVALID_MO,             0x1, 0x2, 0x04, "Untagged Buffer Error",    "Invalid MO",                             "RFC 5041 7.2") \
    E(TERM_DDP_TOO_LONG,               0x1, 0x2, 0x05, "Untagged Buffer Error",    "DDP Message too long for available buffer", "RFC 5041 7.2") \
    E(TERM_DDP_UNTAGGED_VERSION,       0x1, 0x2, 0x06, "Untagged Buffer Error",    "Invalid DDP version",                    "RFC 5041 7.2") \
    E(TERM_MPA_CONNECTION_LOST,        0x2, 0x0, 0x01, "MPA Error",                "TCP connection closed, terminated, or lost", "RFC 5044 8") \
    E(TERM_MPA_CRC,                    0x2, 0x0, 0x02, "MPA Error",                "MPA CRC Error",                          "RFC 5044 8") \
    E(TERM_MPA_MARKER,                 0x2, 0x0, 0x03, "MPA Error",                "MPA Marker and ULPDU Length field mismatch", "RFC 5044 8") \
    E(TERM_MPA_START_FRAME,            0x2, 0x0, 0x04, "MPA Error",                "Invalid MPA Request Frame or MPA Response Frame", "RFC 5044 8") \
    E(TERM_MPA_CATASTROPHIC,           0x2, 0x0, 0x05, "MPA Error",                "Local catastrophic",                     "RFC 6581 8") \
    E(TERM_MPA_INSUFFICIENT_IRD,       0x2, 0x0, 0x06, "MPA Error",                "Insufficient IRD resources",             "RFC 6581 8") \
    E(TERM_MPA_NO_MATCHING_RTR,        0x2, 0x0, 0x07, "MPA Error",                "No matching RTR option",                 "RFC 6581 8")

/* F(layout, id, name, bit, bits, kind, names, section, meaning) */
#define TERMINATE_FIELDS(F, O, layout) \
    F(layout, Layer,     "Layer",      0,  4,  WIRE_NUMBER,   terminate_layer_names, "RFC 5040 4.8", "the layer that found the error") \
    F(layout, EType,     "EType",      4,  4,  WIRE_NUMBER,   NULL,                  "RFC 5040 4.8", "error type, numbered per layer") \
    F(layout, Code,      "Error Code", 8,  8,  WIRE_HEX,      NULL,                  "RFC 5040 4.8", "error code, numbered per layer and type") \
    F(layout, M,         "M",          16, 1,  WIRE_FLAG,     NULL,                  "RFC 5040 4.8", "DDP Segment Length is valid") \
    F(layout, D,         "D",          17, 1,  WIRE_FLAG,     NULL,                  "RFC 5040 4.8", "terminated DDP header is included") \
    F(layout, R,         "R",          18, 1,  WIRE_FLAG,     NULL,                  "RFC 5040 4.8", "terminated RDMAP header is included") \
    F(layout, Reserved,  "Reserved",   19, 13, WIRE_RESERVED, NULL,                  "RFC 5040 4.8", "zero on sending, not checked on receipt")

#define TERMINATE_LENGTH_FIELDS(F, O, layout) \
    F(layout, Length,    "DDP Segment Length", 0, 16, WIRE_NUMBER, NULL,             "RFC 5040 4.8", "octets of the DDP Segment that was in error")
/* clang-format on */

enum { TERMINATE_OCTETS = 4, TERMINATE_LENGTH_OCTETS = 2 };

extern const struct wire_name terminate_layer_names[];
WIRE_LAYOUT_DECLARE(terminate, TERMINATE_FIELDS);
WIRE_LAYOUT_DECLARE(terminate_length, TERMINATE_LENGTH_FIELDS);

#define TERMINATE_ENUM_(id, layer, etype, code, type_name, name, source)                                               \
    id = IWARP_TERMINATE_TRIPLE(layer, etype, code),
enum terminate_error_value { TERMINATE_ERRORS(TERMINATE_ENUM_) };

struct terminate_error {
    const char *id; /* identifier without TERM_: "DDP_INVALID_QN" */
    wire_result triple;
    const char *type; /* error type in words */
    const char *name; /* error in words; "" if the type is enough */
    const char *source;
};

extern const struct terminate_error terminate_errors[];
extern const size_t terminate_error_count;

/*
 * The registry's entry for a triple, or NULL when it is not registered. Layer 0 type 0 is registered with all codes
 * (RFC 6580 3.1); layer 1 type 3 is reserved for the LLP and has no entry.
 */
const struct terminate_error *terminate_error_find(wire_result triple);
const struct terminate_error *terminate_error_named(const char *id);

/* A Terminate Message's payload in host form; pointers are borrowed from the octets parsed. */
struct terminate {
    wire_result triple;
    bool m, d, r;
    uint16_t reserved;
    bool has_length;
    uint16_t ddp_segment_length;
    const uint8_t *ddp_header; /* NULL when absent */
    size_t ddp_header_octets;  /* 14 or 18 by its own T bit */
    const uint8_t *rdmap_header;
    size_t rdmap_header_octets;
    size_t excess; /* octets after the last part: zero-filled fields are tolerated (RFC 5040 7.1) */
};

/*
 * Parses a Terminate payload (what follows the untagged DDP header). WIRE_MORE when a part that the M, D or R bits
 * announce is cut off: parts before it are filled in.
 */
wire_result terminate_parse(const uint8_t **p, const uint8_t *end, struct terminate *terminate);

/*
 * Packs; `ddp_header` and `rdmap_header` go in when d and r are set. Returns octets written or 0 when `room` is short.
 */
size_t terminate_pack(const struct terminate *terminate, uint8_t *out, size_t room);

#ifdef __cplusplus
}
#endif

#endif
