/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RPC-over-RDMA version 1, the transport of NFS over RDMA (RFC 8166), and what it says in Private Data (RFC 8797). Its
 * messages are the payload of RDMAP Sends, in XDR: numbers of 32 bits, the most significant octet first.
 *
 *     Fixed header, 16 octets                   RDMA segment, 16 octets (a read segment: Position in front)
 *     +---------------------------------------+ +---------------------------------------+
 *   0 |                  XID                  | |                Handle                 | 0
 *   4 |                Version                | |                Length                 | 4
 *   8 |                Credits                | |              Offset (64)              | 8
 *  12 |               Procedure               | +---------------------------------------+
 *     +---------------------------------------+
 *     after it RDMA_MSG and RDMA_NOMSG have     Private Data, 8 octets
 *       Read list   (1, read segment)* 0        +---------------------------------------+
 *       Write list  (1, count, segment*)* 0     |           Format Identifier           | 0
 *       Reply chunk 0, or 1, count, segment*    +---------+---------+---------+---------+
 *     and RDMA_MSG then the RPC message         | Version | Flags R |SendSize |RecvSize | 4
 *                                               +---------+---------+---------+---------+
 */
#ifndef WIRE_RPCRDMA_H
#define WIRE_RPCRDMA_H

#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RPCRDMA_HEADER_OCTETS = 16,
    RPCRDMA_SEGMENT_OCTETS = 16,
    RPCRDMA_READ_SEGMENT_OCTETS = 20,
    RPCRDMA_PRIVATE_OCTETS = 8,
    RPCRDMA_CALL_OCTETS = 12, /* the beginning of an RPC Call, up to its RPC version */
    RPCRDMA_VERSION = 1,
    RPCRDMA_RPC_VERSION = 2,     /* RFC 5531 9 */
    RPCRDMA_RPC_CALL = 0,        /* message type of RPC */
    RPCRDMA_RPC_REPLY = 1,       /* the other one */
    RPCRDMA_INLINE_LEAST = 1024, /* 3.3.3: the inline threshold unless something else is known */
};

#define RPCRDMA_PRIVATE_FORMAT UINT32_C(0xF6AB0E18) /* RFC 8797 4 */

/* 4.2.4 */
enum rpcrdma_procedure {
    RPCRDMA_MSG = 0,
    RPCRDMA_NOMSG = 1,
    RPCRDMA_MSGP = 2, /* not to be used: 4.6.1 */
    RPCRDMA_DONE = 3, /* not to be used: 4.6.2 */
    RPCRDMA_ERROR = 4,
    RPCRDMA_PROCEDURES
};

/* 4.5 */
enum rpcrdma_error_code { RPCRDMA_ERR_VERS = 1, RPCRDMA_ERR_CHUNK = 2 };

extern const struct wire_name rpcrdma_procedure_names[];
extern const struct wire_name rpcrdma_error_names[];

/* clang-format off */
#define RPCRDMA_HEADER_FIELDS(F, O, layout) \
    F(layout, XID,              "XID",               0,   32, WIRE_HEX,      NULL, "RFC 8166 4.2.1", "transaction: that of the RPC message") \
    F(layout, Version,          "Version",           32,  32, WIRE_NUMBER,   NULL, "RFC 8166 4.2.2", "of RPC-over-RDMA: 1") \
    F(layout, Credits,          "Credits",           64,  32, WIRE_NUMBER,   NULL, "RFC 8166 4.2.3", "asked for in a Call, granted in a Reply") \
    F(layout, Procedure,        "Procedure",         96,  32, WIRE_NUMBER,   rpcrdma_procedure_names, "RFC 8166 4.2.4", "what follows")

#define RPCRDMA_SEGMENT_FIELDS(F, O, layout) \
    F(layout, Handle,           "Handle",            0,   32, WIRE_HEX,      NULL, "RFC 8166 3.4.3", "the memory's STag") \
    F(layout, Length,           "Length",            32,  32, WIRE_NUMBER,   NULL, "RFC 8166 3.4.3", "its octets") \
    F(layout, Offset,           "Offset",            64,  64, WIRE_HEX,      NULL, "RFC 8166 3.4.3", "its Tagged Offset")

#define RPCRDMA_READ_SEGMENT_FIELDS(F, O, layout) \
    F(layout, Position,         "Position",          0,   32, WIRE_NUMBER,   NULL, "RFC 8166 3.4.5", "octet of the RPC message at which the data belong") \
    F(layout, Handle,           "Handle",            32,  32, WIRE_HEX,      NULL, "RFC 8166 3.4.3", "the memory's STag") \
    F(layout, Length,           "Length",            64,  32, WIRE_NUMBER,   NULL, "RFC 8166 3.4.3", "its octets") \
    F(layout, Offset,           "Offset",            96,  64, WIRE_HEX,      NULL, "RFC 8166 3.4.3", "its Tagged Offset")

#define RPCRDMA_PRIVATE_FIELDS(F, O, layout) \
    F(layout, Format,           "Format Identifier", 0,   32, WIRE_HEX,      NULL, "RFC 8797 4",     "0xf6ab0e18") \
    F(layout, Version,          "Version",           32,  8,  WIRE_NUMBER,   NULL, "RFC 8797 4",     "of this format: 1") \
    F(layout, Reserved,         "Reserved",          40,  7,  WIRE_RESERVED, NULL, "RFC 8797 4",     "zero on sending, not checked on receipt") \
    F(layout, R,                "R",                 47,  1,  WIRE_FLAG,     NULL, "RFC 8797 4.1",   "the sender supports remote invalidation") \
    F(layout, SendSize,         "Send Size",         48,  8,  WIRE_NUMBER,   NULL, "RFC 8797 4.2",   "octets of the longest Send / 1024 - 1") \
    F(layout, ReceiveSize,      "Receive Size",      56,  8,  WIRE_NUMBER,   NULL, "RFC 8797 4.2",   "octets of the longest Send that it can receive / 1024 - 1")
/* clang-format on */

WIRE_LAYOUT_DECLARE(rpcrdma_header, RPCRDMA_HEADER_FIELDS);
WIRE_LAYOUT_DECLARE(rpcrdma_segment, RPCRDMA_SEGMENT_FIELDS);
WIRE_LAYOUT_DECLARE(rpcrdma_read_segment, RPCRDMA_READ_SEGMENT_FIELDS);
WIRE_LAYOUT_DECLARE(rpcrdma_private, RPCRDMA_PRIVATE_FIELDS);

struct rpcrdma_header {
    uint32_t xid, version, credits, procedure;
};

/* Parses the fixed header at *p and advances *p. WIRE_MORE: it is incomplete. */
wire_result rpcrdma_header_parse(const uint8_t **p, const uint8_t *end, struct rpcrdma_header *header);

/* What a peer says of itself in Private Data; octets are not encoded here. */
struct rpcrdma_private {
    uint8_t version;
    bool reserved_set; /* bits of Reserved are */
    bool invalidates;  /* R */
    uint32_t send, receive;
};

/* Looks for it anywhere in Private Data (RFC 8797 5.2). NULL: it is not there, or breaks off; else its first octet. */
const uint8_t *rpcrdma_private_find(const uint8_t *octets, size_t count, struct rpcrdma_private *said);

/* ---- chunk lists (4.3) ------------------------------------------------------------------------------------------- */

enum rpcrdma_list { RPCRDMA_READ_LIST, RPCRDMA_WRITE_LIST, RPCRDMA_REPLY_CHUNK, RPCRDMA_LISTS };

struct rpcrdma_segment {
    enum rpcrdma_list list;
    uint32_t chunk;    /* which one of the Write list, from 0 */
    uint32_t index;    /* of its chunk, or of the Read list, from 0 */
    uint32_t position; /* of a read segment */
    uint32_t stag, octets;
    uint64_t to;
};

enum rpcrdma_walk_result {
    RPCRDMA_WALKING,
    RPCRDMA_ENDED,  /* `p` stands behind the lists */
    RPCRDMA_BROKEN, /* a word that says whether something follows is neither 0 nor 1 */
    RPCRDMA_CUT,    /* the lists reach beyond `end` */
};

/* Goes through the lists once, a segment at a time. Members are read only. */
struct rpcrdma_walk {
    const uint8_t *p, *end;
    enum rpcrdma_list list; /* where it is */
    enum rpcrdma_walk_result result;
    uint32_t left;                    /* segments of the chunk that are to come */
    uint32_t index;                   /* of the next one */
    uint32_t segments[RPCRDMA_LISTS]; /* seen so far */
    uint32_t chunks;                  /* of the Write list, begun so far; empty ones too */
    bool replies;                     /* there is a Reply chunk, if only an empty one */
};

/* `p`: behind the fixed header of an RDMA_MSG or RDMA_NOMSG. */
void rpcrdma_walk_begin(struct rpcrdma_walk *walk, const uint8_t *p, const uint8_t *end);

/* The next segment; false: there is none, and walk->result says why. */
bool rpcrdma_walk_next(struct rpcrdma_walk *walk, struct rpcrdma_segment *segment);

#ifdef __cplusplus
}
#endif

#endif
