/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Communication Management messages (IBTA volume 1, 12.6) and the RDMA IP CM Service on top of them (Annex A11). The
 * tables below count from the octet after the MAD header (wire/infiniband.h). A message has 232 octets.
 *
 *     Private Data of a REQ whose Service ID is in the service's range (A11 Table 1), 92 octets
 *     +----+----+----+----+-----------------+
 *   0 |MajV|MinV| IPV|Res |   Source Port   |
 *     +----+----+----+----+-----------------+
 *   4 /   Source IP Address (16 octets)     /    IPv4 in the last four octets, the twelve before are zero
 *  20 /   Destination IP Address (16)       /
 *  36 /   Consumer Private Data (56)        /
 *     +-------------------------------------+
 *
 *     Service ID (A11 Table 2)                      ARI of a REJ by the service (A11 Tables 3 to 5)
 *     +----+--------+----+----------+-------+       +-------+------+--------+--------+-------------------+
 *     | 00 | 000000 | 01 | protocol | port  |       | layer | code | length | filler | suggested value   |
 *     +----+--------+----+----------+-------+       +-------+------+--------+--------+-------------------+
 */
#ifndef WIRE_CM_H
#define WIRE_CM_H

#include "wire/field.h"
#include "wire/infiniband.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CM_MESSAGE_OCTETS = MAD_OCTETS - MAD_HEADER_OCTETS,
    CM_ARI_OCTETS = 72,
    CM_REASON_NO_RESOURCES = 3,
    CM_REASON_TIMEOUT = 4,
    CM_REASON_INVALID_ID = 6,
    CM_REASON_INVALID_SERVICE_ID = 8,
    CM_REASON_STALE = 10,
    CM_REASON_CONSUMER = 28,
    CM_REASON_DUPLICATE_ID = 30,
    CM_SIDR_NO_SERVICE = 1,    /* Status of a SIDR_REP */
    IP_CM_PRIVATE_OCTETS = 36, /* A11 Table 1 up to the consumer's part */
    IP_CM_CONSUMER_OCTETS = 56,
    IP_CM_LAYER_SERVICE = 0, /* Rejection Layer, A11 Table 3 */
    IP_CM_LAYER_ULP = 1,
    IP_CM_ARI_HEADER_OCTETS = 4,
    IP_CM_ARI_UNSPECIFIED = 0, /* A11 Table 5 */
    IP_CM_ARI_MAJOR = 1,
    IP_CM_ARI_MINOR = 2,
    IP_CM_ARI_IPV = 3,
    IP_CM_ARI_SOURCE = 4,
    IP_CM_ARI_DESTINATION = 5,
    IP_CM_ARI_UNKNOWN = 6,
};

#define IP_CM_SERVICE_PREFIX UINT64_C(0x0000000001000000)
#define IP_CM_SERVICE_MASK   UINT64_C(0xFFFFFFFFFF000000)

/* clang-format off */
/* A(identifier, attribute, name, octet of the Private Data in the message, its octets, section) */
#define CM_ATTRIBUTES(A) \
    A(CM_REQ,      0x0010, "REQ",      140, 92,  "IBTA 12.6.5") \
    A(CM_MRA,      0x0011, "MRA",      10,  222, "IBTA 12.6.6") \
    A(CM_REJ,      0x0012, "REJ",      84,  148, "IBTA 12.6.7") \
    A(CM_REP,      0x0013, "REP",      36,  196, "IBTA 12.6.8") \
    A(CM_RTU,      0x0014, "RTU",      8,   224, "IBTA 12.6.9") \
    A(CM_DREQ,     0x0015, "DREQ",     12,  220, "IBTA 12.6.10") \
    A(CM_DREP,     0x0016, "DREP",     8,   224, "IBTA 12.6.11") \
    A(CM_SIDR_REQ, 0x0017, "SIDR_REQ", 16,  216, "IBTA 12.11.1") \
    A(CM_SIDR_REP, 0x0018, "SIDR_REP", 96,  136, "IBTA 12.11.2") \
    A(CM_LAP,      0x0019, "LAP",      64,  168, "IBTA 12.8.1") \
    A(CM_APR,      0x001A, "APR",      84,  148, "IBTA 12.8.2")

/* Reasons of a REJ (IBTA 12.6.7.2): R(reason, name) */
#define CM_REASONS(R) \
    R(1,  "No QP available") R(2, "No EEC available") R(3, "No resources available") R(4, "Timeout") \
    R(5,  "Unsupported request") R(6, "Invalid Communication ID") R(7, "Invalid Communication Instance") \
    R(8,  "Invalid Service ID") R(9, "Invalid Transport Service Type") R(10, "Stale connection") \
    R(11, "RDC does not exist") R(12, "Primary Remote Port GID rejected") R(13, "Primary Remote Port LID rejected") \
    R(14, "Invalid Primary SL") R(15, "Invalid Primary Traffic Class") R(16, "Invalid Primary Hop Limit") \
    R(17, "Invalid Primary Packet Rate") R(18, "Alternate Remote Port GID rejected") \
    R(19, "Alternate Remote Port LID rejected") R(20, "Invalid Alternate SL") R(21, "Invalid Alternate Traffic Class") \
    R(22, "Invalid Alternate Hop Limit") R(23, "Invalid Alternate Packet Rate") R(24, "Port and CM Redirection") \
    R(25, "Port Redirection") R(26, "Invalid Path MTU") R(27, "Insufficient Responder Resources") \
    R(28, "Consumer Reject") R(29, "RNR Retry Count Reject") R(30, "Duplicate Local Communication ID") \
    R(31, "Invalid Class Version") R(32, "Invalid Primary Flow Label") R(33, "Invalid Alternate Flow Label")

/* Codes of the service's ARI (A11 Table 5): R(code, name) */
#define IP_CM_ARI_CODES(R) \
    R(0, "Unspecified") R(1, "Major Version") R(2, "Minor Version") R(3, "IPV") R(4, "Source IP Address") \
    R(5, "Destination IP Address") R(6, "Unknown IP Address")

/* Most messages begin with both Communication IDs. */
#define CM_IDS_FIELDS(F, O, layout) \
    F(layout, LocalID,     "Local Communication ID",  0,   32, WIRE_HEX,    NULL, "IBTA 12.6", "of the sender") \
    F(layout, RemoteID,    "Remote Communication ID", 32,  32, WIRE_HEX,    NULL, "IBTA 12.6", "of the receiver")

#define CM_REQ_FIELDS(F, O, layout) \
    F(layout, LocalID,     "Local Communication ID",  0,   32, WIRE_HEX,    NULL, "IBTA 12.6.5", "of the sender") \
    F(layout, Reserved1, "Reserved 1", 32, 32, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, ServiceID,   "Service ID",              64,  64, WIRE_HEX,    NULL, "IBTA 12.6.5", "0x0000000001ppPPPP: protocol pp, port PPPP (A11.5)") \
    F(layout, CAGUID,      "Local CA GUID",           128, 64, WIRE_HEX,    NULL, "IBTA 12.6.5", "of the sender's adapter") \
    F(layout, Reserved2, "Reserved 2", 192, 32, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, QKey,        "Local Q_Key",             224, 32, WIRE_HEX,    NULL, "IBTA 12.6.5", "datagrams only") \
    F(layout, QPN,         "Local QPN",               256, 24, WIRE_HEX,    NULL, "IBTA 12.6.5", "queue pair of the sender") \
    F(layout, Resources,   "Responder Resources",     280, 8,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "RDMA Reads and Atomics that the sender can serve at once") \
    F(layout, Reserved3, "Reserved 3", 288, 24, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, Depth,       "Initiator Depth",         312, 8,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "RDMA Reads and Atomics that the sender wants to have outstanding") \
    F(layout, Reserved4, "Reserved 4", 320, 24, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, RemoteTimeout, "Remote CM Response Timeout", 344, 5, WIRE_NUMBER, NULL, "IBTA 12.6.5", "4.096 us times 2 to this power") \
    F(layout, ServiceType, "Transport Service Type",  349, 2,  WIRE_NUMBER, cm_service_type_names, "IBTA 12.6.5", "RC, UC, RD") \
    F(layout, FlowControl, "End-to-End Flow Control", 351, 1,  WIRE_FLAG,   NULL, "IBTA 12.6.5", "implemented by the sender") \
    F(layout, PSN,         "Starting PSN",            352, 24, WIRE_NUMBER, NULL, "IBTA 12.6.5", "of the sender") \
    F(layout, LocalTimeout, "Local CM Response Timeout", 376, 5, WIRE_NUMBER, NULL, "IBTA 12.6.5", "4.096 us times 2 to this power") \
    F(layout, Retry,       "Retry Count",             381, 3,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "of the queue pair") \
    F(layout, P_Key,       "P_Key",                   384, 16, WIRE_HEX,    NULL, "IBTA 12.6.5", "partition of the connection") \
    F(layout, MTU,         "Path Packet Payload MTU", 400, 4,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "1: 256 to 5: 4096") \
    F(layout, Reserved5, "Reserved 5", 404, 1, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, RNRRetry,    "RNR Retry Count",         405, 3,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "of the queue pair") \
    F(layout, MaxRetries,  "Max CM Retries",          408, 4,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "how often the REQ may be sent again") \
    F(layout, SRQ,         "SRQ",                     412, 1,  WIRE_FLAG,   NULL, "IBTA 12.6.5", "shared receive queue") \
    F(layout, Reserved6, "Reserved 6", 413, 3, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, PrimaryLocalLID,  "Primary Local Port LID",  416, 16, WIRE_HEX, NULL, "IBTA 12.6.5", "of the sender") \
    F(layout, PrimaryRemoteLID, "Primary Remote Port LID", 432, 16, WIRE_HEX, NULL, "IBTA 12.6.5", "of the receiver") \
    O(layout, PrimaryLocalGID,  "Primary Local Port GID",  56, 16,             "IBTA 12.6.5", "of the sender") \
    O(layout, PrimaryRemoteGID, "Primary Remote Port GID", 72, 16,             "IBTA 12.6.5", "of the receiver") \
    F(layout, PrimaryFlowLabel, "Primary Flow Label", 704, 20, WIRE_HEX,     NULL, "IBTA 12.6.5", "of packets with a GRH") \
    F(layout, Reserved7, "Reserved 7", 724, 6, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, PrimaryRate, "Primary Packet Rate",     730, 6,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "the highest of the path; 2: 2.5 Gb/s, 3: 10 Gb/s") \
    F(layout, PrimaryTrafficClass, "Primary Traffic Class", 736, 8, WIRE_HEX, NULL, "IBTA 12.6.5", "of packets with a GRH") \
    F(layout, PrimaryHopLimit, "Primary Hop Limit",   744, 8,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "of packets with a GRH") \
    F(layout, PrimarySL,   "Primary SL",              752, 4,  WIRE_NUMBER, NULL, "IBTA 12.6.5", "service level") \
    F(layout, PrimarySubnetLocal, "Primary Subnet Local", 756, 1, WIRE_FLAG, NULL, "IBTA 12.6.5", "both ports are in one subnet: packets have no GRH") \
    F(layout, Reserved8, "Reserved 8", 757, 3, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here") \
    F(layout, PrimaryACKTimeout, "Primary Local ACK Timeout", 760, 5, WIRE_NUMBER, NULL, "IBTA 12.6.5", "4.096 us times 2 to this power") \
    F(layout, Reserved9, "Reserved 9", 765, 3, WIRE_RESERVED, NULL, "IBTA 12.6.5", "not used here")

#define CM_REP_FIELDS(F, O, layout) \
    CM_IDS_FIELDS(F, O, layout) \
    F(layout, QKey,        "Local Q_Key",             64,  32, WIRE_HEX,    NULL, "IBTA 12.6.8", "datagrams only") \
    F(layout, QPN,         "Local QPN",               96,  24, WIRE_HEX,    NULL, "IBTA 12.6.8", "queue pair of the sender") \
    F(layout, Reserved1, "Reserved 1", 120, 8, WIRE_RESERVED, NULL, "IBTA 12.6.8", "not used here") \
    F(layout, Reserved2, "Reserved 2", 128, 32, WIRE_RESERVED, NULL, "IBTA 12.6.8", "not used here") \
    F(layout, PSN,         "Starting PSN",            160, 24, WIRE_NUMBER, NULL, "IBTA 12.6.8", "of the sender") \
    F(layout, Reserved3, "Reserved 3", 184, 8, WIRE_RESERVED, NULL, "IBTA 12.6.8", "not used here") \
    F(layout, Resources,   "Responder Resources",     192, 8,  WIRE_NUMBER, NULL, "IBTA 12.6.8", "RDMA Reads and Atomics that the sender can serve at once") \
    F(layout, Depth,       "Initiator Depth",         200, 8,  WIRE_NUMBER, NULL, "IBTA 12.6.8", "RDMA Reads and Atomics that the sender wants to have outstanding") \
    F(layout, AckDelay,    "Target ACK Delay",        208, 5,  WIRE_NUMBER, NULL, "IBTA 12.6.8", "4.096 us times 2 to this power") \
    F(layout, Failover,    "Failover Accepted",       213, 2,  WIRE_NUMBER, NULL, "IBTA 12.6.8", "0: the alternate path is accepted") \
    F(layout, FlowControl, "End-to-End Flow Control", 215, 1,  WIRE_FLAG,   NULL, "IBTA 12.6.8", "implemented by the sender") \
    F(layout, RNRRetry,    "RNR Retry Count",         216, 3,  WIRE_NUMBER, NULL, "IBTA 12.6.8", "of the queue pair") \
    F(layout, SRQ,         "SRQ",                     219, 1,  WIRE_FLAG,   NULL, "IBTA 12.6.8", "shared receive queue") \
    F(layout, Reserved4, "Reserved 4", 220, 4, WIRE_RESERVED, NULL, "IBTA 12.6.8", "not used here") \
    F(layout, CAGUID,      "Local CA GUID",           224, 64, WIRE_HEX,    NULL, "IBTA 12.6.8", "of the sender's adapter")

#define CM_MRA_FIELDS(F, O, layout) \
    CM_IDS_FIELDS(F, O, layout) \
    F(layout, Message,     "Message MRAed",           64,  2,  WIRE_NUMBER, cm_message_names, "IBTA 12.6.6", "that is acknowledged") \
    F(layout, Reserved1, "Reserved 1", 66, 6, WIRE_RESERVED, NULL, "IBTA 12.6.6", "not used here") \
    F(layout, Timeout,     "Service Timeout",         72,  5,  WIRE_NUMBER, NULL, "IBTA 12.6.6", "4.096 us times 2 to this power") \
    F(layout, Reserved2, "Reserved 2", 77, 3, WIRE_RESERVED, NULL, "IBTA 12.6.6", "not used here")

#define CM_REJ_FIELDS(F, O, layout) \
    CM_IDS_FIELDS(F, O, layout) \
    F(layout, Message,     "Message REJected",        64,  2,  WIRE_NUMBER, cm_message_names, "IBTA 12.6.7", "that is rejected") \
    F(layout, Reserved1, "Reserved 1", 66, 6, WIRE_RESERVED, NULL, "IBTA 12.6.7", "not used here") \
    F(layout, InfoLength,  "Reject Info Length",      72,  7,  WIRE_NUMBER, NULL, "IBTA 12.6.7", "octets of ARI that are valid") \
    F(layout, Reserved2, "Reserved 2", 79, 1, WIRE_RESERVED, NULL, "IBTA 12.6.7", "not used here") \
    F(layout, Reason,      "Reason",                  80,  16, WIRE_NUMBER, cm_reason_names, "IBTA 12.6.7", "why") \
    O(layout, ARI,         "ARI",                     12,  72,                    "IBTA 12.6.7", "Additional Rejection Information; A11.7 divides it between the service and the ULP")

#define CM_DREQ_FIELDS(F, O, layout) \
    CM_IDS_FIELDS(F, O, layout) \
    F(layout, RemoteQPN,   "Remote QPN",              64,  24, WIRE_HEX,    NULL, "IBTA 12.6.10", "queue pair of the receiver") \
    F(layout, Reserved1, "Reserved 1", 88, 8, WIRE_RESERVED, NULL, "IBTA 12.6.10", "not used here")

#define CM_SIDR_REQ_FIELDS(F, O, layout) \
    F(layout, RequestID,   "Request ID",              0,   32, WIRE_HEX,    NULL, "IBTA 12.11.1", "the same in the answer") \
    F(layout, P_Key,       "P_Key",                   32,  16, WIRE_HEX,    NULL, "IBTA 12.11.1", "partition") \
    F(layout, Reserved1, "Reserved 1", 48, 16, WIRE_RESERVED, NULL, "IBTA 12.11.1", "not used here") \
    F(layout, ServiceID,   "Service ID",              64,  64, WIRE_HEX,    NULL, "IBTA 12.11.1", "as in a REQ")

#define CM_SIDR_REP_FIELDS(F, O, layout) \
    F(layout, RequestID,   "Request ID",              0,   32, WIRE_HEX,    NULL, "IBTA 12.11.2", "of the SIDR_REQ") \
    F(layout, Status,      "Status",                  32,  8,  WIRE_NUMBER, cm_sidr_status_names, "IBTA 12.11.2", "0: the QPN is valid") \
    F(layout, Reserved1, "Reserved 1", 40, 24, WIRE_RESERVED, NULL, "IBTA 12.11.2", "not used here") \
    F(layout, QPN,         "QPN",                     64,  24, WIRE_HEX,    NULL, "IBTA 12.11.2", "queue pair to be used") \
    F(layout, Reserved2, "Reserved 2", 88, 8, WIRE_RESERVED, NULL, "IBTA 12.11.2", "not used here") \
    F(layout, ServiceID,   "Service ID",              96,  64, WIRE_HEX,    NULL, "IBTA 12.11.2", "as in the SIDR_REQ") \
    F(layout, QKey,        "Q_Key",                   160, 32, WIRE_HEX,    NULL, "IBTA 12.11.2", "of that queue pair")

#define IP_CM_PRIVATE_FIELDS(F, O, layout) \
    F(layout, MajV,        "MajV",                    0,   4,  WIRE_NUMBER, NULL, "A11.4.1", "major version, 0") \
    F(layout, MinV,        "MinV",                    4,   4,  WIRE_NUMBER, NULL, "A11.4.2", "minor version, 0") \
    F(layout, IPV,         "IPV",                     8,   4,  WIRE_NUMBER, NULL, "A11.4.3", "4 or 6: how the addresses are read") \
    F(layout, Res,         "Res",                     12,  4,  WIRE_RESERVED, NULL, "A11.4.4", "zero on transmit, ignored on receive") \
    F(layout, SourcePort,  "Source Port",             16,  16, WIRE_NUMBER, NULL, "A11.4.5", "the client's port; the protocol is in the Service ID") \
    O(layout, Source,      "Source IP Address",       4,   16,              "A11.4.6", "IPv4 in the last four octets") \
    O(layout, Destination, "Destination IP Address",  20,  16,              "A11.4.6", "IPv4 in the last four octets")

#define IP_CM_SERVICE_FIELDS(F, O, layout) \
    F(layout, Prefix,      "Prefix",                  0,   40, WIRE_HEX,    NULL, "A11.5", "0x0000000001") \
    F(layout, Protocol,    "Protocol",                40,  8,  WIRE_NUMBER, ip_cm_protocol_names, "A11.5", "IP protocol number") \
    F(layout, Port,        "Destination Port",        48,  16, WIRE_NUMBER, NULL, "A11.5", "of the ULP")

#define IP_CM_ARI_FIELDS(F, O, layout) \
    F(layout, Layer,       "Rejection Layer",         0,   8,  WIRE_NUMBER, ip_cm_layer_names, "A11.7", "0: RDMA IP CM Service, 1: ULP") \
    F(layout, Code,        "ARI",                     8,   8,  WIRE_NUMBER, ip_cm_ari_names,   "A11.7", "which field was refused") \
    F(layout, SuggestedLength, "Suggested Value Length", 16, 8, WIRE_NUMBER, NULL,             "A11.7", "0: no suggestion") \
    F(layout, Filler,      "Filler",                  24,  8,  WIRE_RESERVED, NULL,            "A11.7", "for alignment")
/* clang-format on */

#define CM_ATTRIBUTE_ENUM_(id, attribute, name, data, octets, section) id = attribute,
enum cm_attribute { CM_ATTRIBUTES(CM_ATTRIBUTE_ENUM_) };

extern const struct wire_name cm_reason_names[], cm_message_names[], cm_service_type_names[], cm_sidr_status_names[];
extern const struct wire_name ip_cm_protocol_names[], ip_cm_layer_names[], ip_cm_ari_names[];
WIRE_LAYOUT_DECLARE(cm_ids, CM_IDS_FIELDS);
WIRE_LAYOUT_DECLARE(cm_req, CM_REQ_FIELDS);
WIRE_LAYOUT_DECLARE(cm_rep, CM_REP_FIELDS);
WIRE_LAYOUT_DECLARE(cm_mra, CM_MRA_FIELDS);
WIRE_LAYOUT_DECLARE(cm_rej, CM_REJ_FIELDS);
WIRE_LAYOUT_DECLARE(cm_dreq, CM_DREQ_FIELDS);
WIRE_LAYOUT_DECLARE(cm_sidr_req, CM_SIDR_REQ_FIELDS);
WIRE_LAYOUT_DECLARE(cm_sidr_rep, CM_SIDR_REP_FIELDS);
WIRE_LAYOUT_DECLARE(ip_cm_private, IP_CM_PRIVATE_FIELDS);
WIRE_LAYOUT_DECLARE(ip_cm_service, IP_CM_SERVICE_FIELDS);
WIRE_LAYOUT_DECLARE(ip_cm_ari, IP_CM_ARI_FIELDS);

struct cm_attribute_row {
    uint16_t attribute;
    const char *name; /* NULL: not a CM message */
    uint16_t private_at, private_octets;
    const char *section;
};

/* The layout of a message's own fields; that of the two Communication IDs when it has no other. */
const struct wire_layout *cm_layout(uint16_t attribute);

/* The row of an attribute; one with name NULL when it is no CM message. */
const struct cm_attribute_row *cm_attribute_row(uint16_t attribute);

static inline bool ip_cm_in_range(uint64_t service_id)
{
    return (service_id & IP_CM_SERVICE_MASK) == IP_CM_SERVICE_PREFIX;
}

/* The service's part of a REQ's (or SIDR_REQ's) Private Data. */
struct ip_cm_private {
    uint8_t major, minor, ip_version, reserved;
    uint16_t source_port;
    const uint8_t *source, *destination; /* 16 octets each */
    const uint8_t *consumer;
    size_t consumer_octets;
};

/* WIRE_MORE: fewer than 36 octets. */
wire_result ip_cm_private_parse(const uint8_t *octets, size_t count, struct ip_cm_private *data);

/* ARI of a REJ with reason 28, as A11.7 divides it. */
struct ip_cm_ari {
    uint8_t layer, code, suggested_octets, filler;
    const uint8_t *suggested; /* NULL: none */
};

/* `count`: Reject Info Length, or fewer if the MAD is cut. WIRE_MORE: layer, code or suggested value is incomplete. */
wire_result ip_cm_ari_parse(const uint8_t *octets, size_t count, struct ip_cm_ari *ari);

/* A MAD of the class CM in host form; pointers are borrowed. */
struct cm_message {
    uint8_t base_version, class_version, method;
    uint16_t status, class_specific, attribute;
    uint64_t transaction;
    uint32_t modifier;
    const struct cm_attribute_row *row;
    const uint8_t *body;          /* after the MAD header */
    size_t body_octets;           /* that are there, at most CM_MESSAGE_OCTETS */
    uint32_t local_id, remote_id; /* SIDR: the Request ID in local_id */
    bool has_service;             /* REQ, SIDR_REQ, SIDR_REP */
    uint64_t service_id;
    const uint8_t *private_data; /* NULL: cut before it */
    size_t private_octets;       /* that are there */
    bool has_ip;                 /* REQ, SIDR_REQ with a Service ID in range, and its header there */
    struct ip_cm_private ip;
    uint8_t rejected;          /* REJ: Message REJected; MRA: Message MRAed */
    uint8_t info_octets;       /* REJ: Reject Info Length */
    uint16_t reason;           /* REJ */
    const uint8_t *ari_octets; /* REJ: 72; NULL: cut */
    bool has_ari;              /* REJ with reason 28: as A11.7 reads it */
    struct ip_cm_ari ari;
};

/*
 * Reads a MAD of `count` octets. WIRE_MORE: it has fewer than 256 octets. It is still read as far as possible: fields
 * in missing parts are zero, and if the header is incomplete, `row` has no name. TERM_DDP_CATASTROPHIC (the wire has no
 * number for this case): the class is not CM.
 */
wire_result cm_parse(const uint8_t *mad, size_t count, struct cm_message *message);

#ifdef __cplusplus
}
#endif

#endif
