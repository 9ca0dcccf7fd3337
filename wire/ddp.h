/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP Segment headers (RFC 5041 4).
 *
 *     Tagged Buffer Model, 14 octets
 *     +-+-+-------+---+---------------+-------------------------------+
 *     |T|L| Rsvd  |DV |    RsvdULP    |             STag              |
 *     +-+-+-------+---+---------------+-------------------------------+
 *     |             STag              |                               |
 *     +-------------------------------+              TO               +
 *     |                                                               |
 *     +                               +-------------------------------+
 *     |                               |
 *     +-------------------------------+
 *
 *     Untagged Buffer Model, 18 octets
 *     +-+-+-------+---+-----------------------------------------------+
 *     |T|L| Rsvd  |DV |                 RsvdULP (40 bits)             |
 *     +-+-+-------+---+---------------+-------------------------------+
 *     |            RsvdULP            |              QN               |
 *     +-------------------------------+-------------------------------+
 *     |              QN               |              MSN              |
 *     +-------------------------------+-------------------------------+
 *     |              MSN              |              MO               |
 *     +-------------------------------+-------------------------------+
 *     |              MO               |
 *     +-------------------------------+
 */
#ifndef WIRE_DDP_H
#define WIRE_DDP_H

#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DDP_TAGGED_OCTETS = 14,
    DDP_UNTAGGED_OCTETS = 18,
    DDP_VERSION = 1,
    DDP_QN_SEND = 0,         /* Sends and Immediate Data */
    DDP_QN_READ_REQUEST = 1, /* RDMA Read and Atomic Requests */
    DDP_QN_TERMINATE = 2,
    DDP_QN_ATOMIC_RESPONSE = 3, /* RFC 7306 5 */
    DDP_QUEUES = 4,             /* that RDMAP knows: RFC 5040 7.2, RFC 7306 5 */
    DDP_FIRST_MSN = 1,
};

/* clang-format off */
/* The first octet is the same in both models. */
#define DDP_CONTROL_FIELDS(F, layout) \
    F(layout, T,     "T",     0, 1, WIRE_FLAG,     ddp_model_names, "RFC 5041 4.1", "tagged (1) or untagged (0) buffer model") \
    F(layout, L,     "L",     1, 1, WIRE_FLAG,     NULL, "RFC 5041 4.1", "last segment of its DDP Message") \
    F(layout, Rsvd,  "Rsvd",  2, 4, WIRE_RESERVED, NULL, "RFC 5041 4.1", "zero on sending, not checked on receipt") \
    F(layout, DV,    "DV",    6, 2, WIRE_NUMBER,   NULL, "RFC 5041 4.1", "DDP version, 1")

#define DDP_TAGGED_FIELDS(F, O, layout) \
    DDP_CONTROL_FIELDS(F, layout) \
    F(layout, RsvdULP, "RsvdULP", 8,  8,  WIRE_HEX,    NULL, "RFC 5041 4.2", "opaque to DDP: RDMAP's control octet") \
    F(layout, STag,    "STag",    16, 32, WIRE_HEX,    NULL, "RFC 5041 4.2", "the data sink's tagged buffer") \
    F(layout, TO,      "TO",      48, 64, WIRE_HEX,    NULL, "RFC 5041 4.2", "Tagged Offset of the first payload octet")

#define DDP_UNTAGGED_FIELDS(F, O, layout) \
    DDP_CONTROL_FIELDS(F, layout) \
    F(layout, RsvdULP, "RsvdULP", 8,  40, WIRE_HEX,    NULL, "RFC 5041 4.3", "opaque to DDP: RDMAP's control octet and Invalidate STag") \
    F(layout, QN,      "QN",      48, 32, WIRE_NUMBER, NULL, "RFC 5041 4.3", "Queue Number at the data sink") \
    F(layout, MSN,     "MSN",     80, 32, WIRE_NUMBER, NULL, "RFC 5041 4.3", "Message Sequence Number on that queue, from 1") \
    F(layout, MO,      "MO",      112, 32, WIRE_NUMBER, NULL, "RFC 5041 4.3", "Message Offset of the first payload octet")
/* clang-format on */

extern const struct wire_name ddp_model_names[]; /* of T */
WIRE_LAYOUT_DECLARE(ddp_tagged, DDP_TAGGED_FIELDS);
WIRE_LAYOUT_DECLARE(ddp_untagged, DDP_UNTAGGED_FIELDS);

/* A DDP Segment in host form. Pointers are borrowed from the octets parsed. */
struct ddp_segment {
    bool tagged;
    bool last;
    uint8_t reserved;  /* Rsvd, 4 bits */
    uint8_t version;   /* DV */
    uint8_t control;   /* first octet of RsvdULP: the RDMAP control octet */
    uint32_t ulp_word; /* untagged: octets 2-5, RDMAP's Invalidate STag */
    uint32_t stag;     /* tagged */
    uint64_t to;
    uint32_t qn; /* untagged */
    uint32_t msn;
    uint32_t mo;
    const uint8_t *header;
    size_t header_octets;
    const uint8_t *payload;
    size_t payload_octets;
};

/*
 * Parses one DDP Segment that fills [*p, end). WIRE_MORE: the header is incomplete (the RFC has no error number for
 * this). TERM_DDP_TAGGED_VERSION or TERM_DDP_UNTAGGED_VERSION: DV is not 1; `segment` is still filled in, for tools
 * that continue to decode. *p becomes `end` unless WIRE_MORE.
 */
wire_result ddp_parse(const uint8_t **p, const uint8_t *end, struct ddp_segment *segment);

/* Writes the header alone (14 or 18 octets) from the host form; returns its octets. `out` holds 18. */
size_t ddp_pack_header(const struct ddp_segment *segment, uint8_t *out);

/* True when [to, to + octets) exceeds 2^64. An end of exactly 2^64 is not a wrap (RFC 5041 7.1, DDP-7.1-27). */
static inline bool ddp_to_wraps(uint64_t to, uint64_t octets)
{
    return octets != 0 && to + (octets - 1) < to;
}

#ifdef __cplusplus
}
#endif

#endif
