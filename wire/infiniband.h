/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of a CM message over InfiniBand and RoCE (IBTA volume 1, 7.7, 8.3, 9.2, 9.3 and 13.4): LRH and GRH (or IP and
 * UDP port 4791 in their place), BTH, DETH, then the 256 octets of a MAD, then the ICRC.
 *
 *     LRH, 8 octets                                 GRH, 40 octets: laid out as an IPv6 header
 *     +----+----+----+--+---+-------------------+   +----+--------+--------------------------+
 *   0 | VL |LVer| SL |  |LNH|       DLID        |   |Ver | TClass |        Flow Label        |
 *     +-----+---+----+--+---+-------------------+   +----+--------+--+-----------+-----------+
 *   4 |     |     PktLen    |       SLID        |   |    PayLen      |  NxtHdr   | Hop Limit |
 *     +-----+---------------+-------------------+   +----------------+-----------+-----------+
 *                                                   /    SGID (16 octets), DGID (16 octets)  /
 *     BTH, 12 octets                                +----------------------------------------+
 *     +--------+--+--+---+----+-----------------+
 *   0 | OpCode |SE|M |Pad|TVer|      P_Key      |   DETH, 8 octets
 *     +--------+--+--+---+----+-----------------+   +-----------------------------+
 *   4 |  resv  |            DestQP              |   |            Q_Key            |
 *     +-+------+--------------------------------+   +--------+--------------------+
 *   8 |A|      |             PSN                |   |  resv  |       SrcQP        |
 *     +-+------+--------------------------------+   +--------+--------------------+
 */
#ifndef WIRE_INFINIBAND_H
#define WIRE_INFINIBAND_H

#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LRH_OCTETS = 8,
    GRH_OCTETS = 40,
    BTH_OCTETS = 12,
    DETH_OCTETS = 8,
    ICRC_OCTETS = 4,
    MAD_OCTETS = 256,
    LID_PERMISSIVE = 0xFFFF, /* no LID: RoCE */
    MAD_HEADER_OCTETS = 24,
    LRH_LNH_LOCAL = 2,  /* BTH follows */
    LRH_LNH_GLOBAL = 3, /* GRH follows */
    GRH_NEXT_BTH = 0x1B,
    BTH_UD_SEND_ONLY = 0x64,
    BTH_QP_GSI = 1,
    BTH_P_KEY_DEFAULT = 0xFFFF,
    ROCE_V2_PORT = 4791,
    ROCE_V1_ETHERTYPE = 0x8915,
    MAD_BASE_VERSION = 1,
    MAD_CLASS_CM = 0x07,
    MAD_CM_VERSION = 2,
    MAD_METHOD_SEND = 0x03,
};

#define DETH_Q_KEY_GSI UINT32_C(0x80010000) /* of queue pair 1 */

/* clang-format off */
#define LRH_FIELDS(F, O, layout) \
    F(layout, VL,     "VL",     0,  4,  WIRE_NUMBER,   NULL, "IBTA 7.7", "virtual lane") \
    F(layout, LVer,   "LVer",   4,  4,  WIRE_NUMBER,   NULL, "IBTA 7.7", "0") \
    F(layout, SL,     "SL",     8,  4,  WIRE_NUMBER,   NULL, "IBTA 7.7", "service level") \
    F(layout, Reserved1, "Reserved 1", 12, 2, WIRE_RESERVED, NULL, "IBTA 7.7", "not used here") \
    F(layout, LNH,    "LNH",    14, 2,  WIRE_NUMBER,   NULL, "IBTA 7.7", "2: BTH follows, 3: GRH") \
    F(layout, DLID,   "DLID",   16, 16, WIRE_HEX,      NULL, "IBTA 7.7", "local identifier of the destination") \
    F(layout, Reserved2, "Reserved 2", 32, 5, WIRE_RESERVED, NULL, "IBTA 7.7", "not used here") \
    F(layout, PktLen, "PktLen", 37, 11, WIRE_NUMBER,   NULL, "IBTA 7.7", "words from LRH up to the VCRC") \
    F(layout, SLID,   "SLID",   48, 16, WIRE_HEX,      NULL, "IBTA 7.7", "local identifier of the source")

#define BTH_FIELDS(F, O, layout) \
    F(layout, OpCode, "OpCode", 0,  8,  WIRE_HEX,      NULL, "IBTA 9.2", "0x64: UD Send Only") \
    F(layout, SE,     "SE",     8,  1,  WIRE_FLAG,     NULL, "IBTA 9.2", "solicited event") \
    F(layout, M,      "M",      9,  1,  WIRE_FLAG,     NULL, "IBTA 9.2", "migration state") \
    F(layout, Pad,    "Pad",    10, 2,  WIRE_NUMBER,   NULL, "IBTA 9.2", "octets of pad after the payload") \
    F(layout, TVer,   "TVer",   12, 4,  WIRE_NUMBER,   NULL, "IBTA 9.2", "0") \
    F(layout, P_Key,  "P_Key",  16, 16, WIRE_HEX,      NULL, "IBTA 9.2", "partition") \
    F(layout, Reserved1, "Reserved 1", 32, 8, WIRE_RESERVED, NULL, "IBTA 9.2", "not used here") \
    F(layout, DestQP, "DestQP", 40, 24, WIRE_HEX,      NULL, "IBTA 9.2", "queue pair of the destination; 1: general services") \
    F(layout, A,      "A",      64, 1,  WIRE_FLAG,     NULL, "IBTA 9.2", "acknowledgment wanted") \
    F(layout, Reserved2, "Reserved 2", 65, 7, WIRE_RESERVED, NULL, "IBTA 9.2", "not used here") \
    F(layout, PSN,    "PSN",    72, 24, WIRE_NUMBER,   NULL, "IBTA 9.2", "packet sequence number")

#define DETH_FIELDS(F, O, layout) \
    F(layout, Q_Key,  "Q_Key",  0,  32, WIRE_HEX,      NULL, "IBTA 9.3", "0x80010000 for QP 1") \
    F(layout, Reserved1, "Reserved 1", 32, 8, WIRE_RESERVED, NULL, "IBTA 9.3", "not used here") \
    F(layout, SrcQP,  "SrcQP",  40, 24, WIRE_HEX,      NULL, "IBTA 9.3", "queue pair of the source")

#define MAD_FIELDS(F, O, layout) \
    F(layout, BaseVersion,  "Base Version",       0,   8,  WIRE_NUMBER,   NULL, "IBTA 13.4.3", "1") \
    F(layout, MgmtClass,    "Management Class",   8,   8,  WIRE_HEX,      NULL, "IBTA 13.4.3", "0x07: Communication Management") \
    F(layout, ClassVersion, "Class Version",      16,  8,  WIRE_NUMBER,   NULL, "IBTA 13.4.3", "2") \
    F(layout, R,            "R",                  24,  1,  WIRE_FLAG,     NULL, "IBTA 13.4.3", "response") \
    F(layout, Method,       "Method",             25,  7,  WIRE_HEX,      NULL, "IBTA 13.4.3", "3: Send") \
    F(layout, Status,       "Status",             32,  16, WIRE_HEX,      NULL, "IBTA 13.4.3", "0") \
    F(layout, ClassSpecific,"Class Specific",     48,  16, WIRE_HEX,      NULL, "IBTA 13.4.3", "0") \
    F(layout, TransactionID,"Transaction ID",     64,  64, WIRE_HEX,      NULL, "IBTA 13.4.3", "the same in a request, its retries and its answer") \
    F(layout, AttributeID,  "Attribute ID",       128, 16, WIRE_HEX,      cm_attribute_names, "IBTA 12.6", "the CM message") \
    F(layout, Reserved1, "Reserved 1", 144, 16, WIRE_RESERVED, NULL, "IBTA 13.4.3", "not used here") \
    F(layout, Modifier,     "Attribute Modifier", 160, 32, WIRE_HEX,      NULL, "IBTA 13.4.3", "0")
/* clang-format on */

extern const struct wire_name cm_attribute_names[]; /* wire/cm.h */
WIRE_LAYOUT_DECLARE(lrh, LRH_FIELDS);
WIRE_LAYOUT_DECLARE(bth, BTH_FIELDS);
WIRE_LAYOUT_DECLARE(deth, DETH_FIELDS);
WIRE_LAYOUT_DECLARE(mad, MAD_FIELDS);

/*
 * CRC-32 of the invariant octets (IBTA 7.8.1), to be continued piece by piece; begin with ICRC_START, the finished
 * value is ~state and stands low octet first after the packet.
 */
#define ICRC_START UINT32_C(0xFFFFFFFF)
uint32_t icrc_update(uint32_t state, const uint8_t *octets, size_t count);

/*
 * The ICRC of a RoCEv2 packet (Annex A17): `ip` holds its IPv4 (20 octets, no options) or IPv6 header, `udp` the UDP
 * header and `count` octets in all from there on, ICRC not counted. As it stands on the wire, low octet first.
 */
uint32_t icrc_roce_v2(const uint8_t *ip, unsigned family, const uint8_t *udp, size_t count);

/* The ICRC of a native packet that begins with its LRH (IBTA 7.8.1); `count` octets up to the ICRC, which is not
 * counted. */
uint32_t icrc_native(const uint8_t *lrh, size_t count);

#ifdef __cplusplus
}
#endif

#endif
