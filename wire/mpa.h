/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA start-up frames (RFC 5044 7.1) and the enhanced word of RFC 6581.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +---------------------------------------------------------------+
 *   0 |                                                               |
 *     /              Key (16 octets): "MPA ID Req Frame"              /
 *     /                            or "MPA ID Rep Frame"              /
 *     +-+-+-+-+-------+---------------+-------------------------------+
 *  16 |M|C|R|S|  Res  |      Rev      |           PD_Length           |
 *     +-+-+-+-+-------+---------------+-------------------------------+
 *  20 /          Private Data (PD_Length octets, at most 512)         /
 *     +---------------------------------------------------------------+
 *
 * With Rev >= 2 and S = 1 the Private Data begins with the enhanced word:
 *
 *     +-+-+---------------------------+-+-+---------------------------+
 *     |A|B|            IRD            |C|D|            ORD            |
 *     +-+-+---------------------------+-+-+---------------------------+
 */
#ifndef WIRE_MPA_H
#define WIRE_MPA_H

#include "wire/depth.h"
#include "wire/field.h"
#include "wire/mpa_start.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MPA_KEY_REQUEST "MPA ID Req Frame"
#define MPA_KEY_REPLY   "MPA ID Rep Frame"

enum {
    MPA_KEY_OCTETS = 16,
    MPA_START_OCTETS = 20,
    MPA_ENHANCED_OCTETS = 4,
    MPA_START_MAX = MPA_START_OCTETS + IWARP_MPA_PRIVATE_DATA_MAX,
    MPA_REV_RDMAC = 0,
    MPA_REV_1 = 1,
    MPA_REV_2 = 2,
    MPA_REV_ERDMA = 129, /* of no text: that of Alibaba's erdma, with an extension of 8 octets */
    MPA_DEPTH_NOT_NEGOTIATED = DEPTH_NOT_NEGOTIATED,
};

/* clang-format off */
#define MPA_START_FIELDS(F, O, layout) \
    O(layout, key,         "Key",       0,  16,                         "RFC 5044 7.1", "tells a Request from a Reply, and MPA from anything else") \
    F(layout, M,           "M",         128, 1, WIRE_FLAG,     NULL,    "RFC 5044 7.1", "the sender of this frame wants Markers in what it receives") \
    F(layout, C,           "C",         129, 1, WIRE_FLAG,     NULL,    "RFC 5044 7.1", "CRC wanted; used both ways when either side sets it") \
    F(layout, R,           "R",         130, 1, WIRE_FLAG,     NULL,    "RFC 5044 7.1", "Reply only: connection rejected") \
    F(layout, S,           "S",         131, 1, WIRE_FLAG,     NULL,    "RFC 6581 6",   "Private Data begins with the enhanced word (Rev 2)") \
    F(layout, Res,         "Res",       132, 4, WIRE_RESERVED, NULL,    "RFC 5044 7.1", "zero on sending, not checked on receipt") \
    F(layout, Rev,         "Rev",       136, 8, WIRE_NUMBER,   NULL,    "RFC 5044 7.1", "revision of MPA") \
    F(layout, PD_Length,   "PD_Length", 144, 16, WIRE_NUMBER,  NULL,    "RFC 5044 7.1", "octets of Private Data that follow, at most 512")

#define MPA_ENHANCED_FIELDS(F, O, layout) \
    F(layout, A,           "A",         0,  1,  WIRE_FLAG,     NULL,    "RFC 6581 6",   "peer-to-peer model: an RTR message comes first") \
    F(layout, B,           "B",         1,  1,  WIRE_FLAG,     NULL,    "RFC 6581 6",   "zero-length Send as RTR") \
    F(layout, IRD,         "IRD",       2,  14, WIRE_NUMBER,   NULL,    "RFC 6581 6",   "inbound RDMA Read depth; 0x3FFF: not negotiated here") \
    F(layout, C,           "C",         16, 1,  WIRE_FLAG,     NULL,    "RFC 6581 6",   "zero-length RDMA Write as RTR") \
    F(layout, D,           "D",         17, 1,  WIRE_FLAG,     NULL,    "RFC 6581 6",   "zero-length RDMA Read as RTR") \
    F(layout, ORD,         "ORD",       18, 14, WIRE_NUMBER,   NULL,    "RFC 6581 6",   "outbound RDMA Read depth; 0x3FFF: not negotiated here")
/* clang-format on */

WIRE_LAYOUT_DECLARE(mpa_start, MPA_START_FIELDS);
WIRE_LAYOUT_DECLARE(mpa_enhanced, MPA_ENHANCED_FIELDS);

/*
 * Parses one start-up frame from *p, which advances after it on WIRE_OK. WIRE_MORE: the octets so far agree with a
 * start-up frame of `kind` but more are needed. TERM_MPA_START_FRAME: wrong Key, or PD_Length above 512 (RFC 5044
 * 7.1.2): returned as soon as the octets show it. The caller checks the revision: its configuration says which are
 * acceptable (RFC 5044 7.1.1). A frame with S = 1 whose Private Data cannot hold the word is TERM_MPA_START_FRAME too
 * (RFC 6581 6).
 */
wire_result mpa_start_parse(const uint8_t **p, const uint8_t *end, enum iwarp_mpa_start_kind kind,
                            struct iwarp_mpa_start *start);

/* The kind whose Key stands at `octets` (16 or more), or -1. */
int mpa_start_kind_of(const uint8_t *octets, size_t count);

/*
 * Packs the frame. `start->private_data` and `private_octets` are the ULP's alone here: with `enhanced` and
 * revision >= 2 the word is put in front, and PD_Length counts it. Returns the octets written, at most
 * MPA_START_MAX, or 0 when `room` or 512 octets do not hold it.
 */
size_t mpa_start_pack(const struct iwarp_mpa_start *start, uint8_t *out, size_t room);

#ifdef __cplusplus
}
#endif

#endif
