/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP packets (RFC 9260 3), as far as DDP over SCTP goes: the common header, chunks, and the parameters of INIT and
 * INIT ACK that indicate the use of the association (RFC 5061 4.2.6).
 *
 *     Common header, 12 octets
 *     +-------------------------------+-------------------------------+
 *   0 |          Source Port          |       Destination Port        |
 *     +-------------------------------+-------------------------------+
 *   4 |                       Verification Tag                        |
 *     +---------------------------------------------------------------+
 *   8 |                 Checksum (CRC32c, low octet first)            |
 *     +---------------------------------------------------------------+
 *
 *     Chunk header, 4 octets; chunks are padded to a multiple of four, the length does not count the pad
 *     +---------------+---------------+-------------------------------+
 *     |     Type      |     Flags     |            Length             |
 *     +---------------+---------------+-------------------------------+
 *
 *     DATA (type 0)                                 I-DATA (type 64, RFC 8260 2.1)
 *     +---------------+---------+-+-+-+-+---------+ the same, with Reserved (16 bits) for SSN, then
 *   0 |   Type = 0    |   Res   |I|U|B|E| Length  | MID (32 bits), then PPID when B, else FSN
 *     +---------------+---------+-+-+-+-+---------+
 *   4 |                    TSN                    |
 *     +---------------------+---------------------+
 *   8 |         SID         |         SSN         |
 *     +---------------------+---------------------+
 *  12 |                   PPID                    |
 *     +-------------------------------------------+
 *  16 /               user data                   /
 *
 *     INIT (1), INIT ACK (2)                        Adaptation Layer Indication, parameter 0xC006
 *   4 |               Initiate Tag                | +---------------------+---------------------+
 *   8 |    Advertised Receiver Window Credit      | |       0xC006        |     Length = 8      |
 *  12 | Outbound Streams    |   Inbound Streams   | +---------------------+---------------------+
 *  16 |                Initial TSN                | |               indication                  |
 *  20 /                parameters                 / +-------------------------------------------+
 */
#ifndef WIRE_SCTP_H
#define WIRE_SCTP_H

#include "wire/crc32c.h"
#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SCTP_UDP_PORT = 9899, /* SCTP in UDP datagrams (RFC 6951 5.1) */
    SCTP_PROTOCOL = 132,
    SCTP_COMMON_OCTETS = 12,
    SCTP_CHECKSUM_AT = 8,
    SCTP_CHUNK_OCTETS = 4,
    SCTP_DATA_OCTETS = 16,
    SCTP_IDATA_OCTETS = 20,
    SCTP_INIT_OCTETS = 20,
    SCTP_SHUTDOWN_OCTETS = 8,  /* chunk header, Cumulative TSN Ack (RFC 9260 3.3.8) */
    SCTP_GAP_BLOCK_OCTETS = 4, /* Start, End: less the Cumulative TSN Ack (RFC 9260 3.3.4) */
    SCTP_PARAMETER_OCTETS = 4,
    SCTP_ADAPTATION_OCTETS = 8,
    SCTP_PARAMETER_IPV4 = 5,
    SCTP_PARAMETER_IPV6 = 6,
    SCTP_PARAMETER_COOKIE = 7,
    SCTP_PARAMETER_HOST_NAME = 11,
    SCTP_PARAMETER_OUTGOING_RESET = 13, /* RFC 6525 4.1 */
    SCTP_PARAMETER_INCOMING_RESET = 14,
    SCTP_PARAMETER_ZERO_CHECKSUM = 0x8001, /* RFC 9653 4 */
    SCTP_PARAMETER_ADAPTATION = 0xC006,
    SCTP_FLAG_E = 0x01, /* last fragment */
    SCTP_FLAG_B = 0x02, /* first fragment */
    SCTP_FLAG_U = 0x04, /* unordered */
    SCTP_FLAG_I = 0x08,
    SCTP_FLAG_T = 0x01, /* ABORT, SHUTDOWN COMPLETE: the Verification Tag is the sender's own (RFC 9260 8.5.1) */
    SCTP_UNKNOWN_SKIPPED =
        0x80, /* in a chunk's type: a receiver that does not know it skips the chunk; else it stops there (3.2) */
};

/* clang-format off */
/* C(identifier, type, name, section) */
#define SCTP_CHUNKS(C) \
    C(SCTP_DATA,              0x00, "DATA",              "RFC 9260 3.3.1") \
    C(SCTP_INIT,              0x01, "INIT",              "RFC 9260 3.3.2") \
    C(SCTP_INIT_ACK,          0x02, "INIT ACK",          "RFC 9260 3.3.3") \
    C(SCTP_SACK,              0x03, "SACK",              "RFC 9260 3.3.4") \
    C(SCTP_HEARTBEAT,         0x04, "HEARTBEAT",         "RFC 9260 3.3.5") \
    C(SCTP_HEARTBEAT_ACK,     0x05, "HEARTBEAT ACK",     "RFC 9260 3.3.6") \
    C(SCTP_ABORT,             0x06, "ABORT",             "RFC 9260 3.3.7") \
    C(SCTP_SHUTDOWN,          0x07, "SHUTDOWN",          "RFC 9260 3.3.8") \
    C(SCTP_SHUTDOWN_ACK,      0x08, "SHUTDOWN ACK",      "RFC 9260 3.3.9") \
    C(SCTP_ERROR,             0x09, "ERROR",             "RFC 9260 3.3.10") \
    C(SCTP_COOKIE_ECHO,       0x0A, "COOKIE ECHO",       "RFC 9260 3.3.11") \
    C(SCTP_COOKIE_ACK,        0x0B, "COOKIE ACK",        "RFC 9260 3.3.12") \
    C(SCTP_ECNE,              0x0C, "ECNE",              "RFC 9260 Appendix A") \
    C(SCTP_CWR,               0x0D, "CWR",               "RFC 9260 Appendix A") \
    C(SCTP_SHUTDOWN_COMPLETE, 0x0E, "SHUTDOWN COMPLETE", "RFC 9260 3.3.13") \
    C(SCTP_AUTH,              0x0F, "AUTH",              "RFC 4895 4.1") \
    C(SCTP_IDATA,             0x40, "I-DATA",            "RFC 8260 2.1") \
    C(SCTP_ASCONF_ACK,        0x80, "ASCONF-ACK",        "RFC 5061 4.1.2") \
    C(SCTP_RE_CONFIG,         0x82, "RE-CONFIG",         "RFC 6525 3.1") \
    C(SCTP_PAD,               0x84, "PAD",               "RFC 4820 3") \
    C(SCTP_FORWARD_TSN,       0xC0, "FORWARD TSN",       "RFC 3758 3.2") \
    C(SCTP_ASCONF,            0xC1, "ASCONF",            "RFC 5061 4.1.1") \
    C(SCTP_I_FORWARD_TSN,     0xC2, "I-FORWARD-TSN",     "RFC 8260 2.3.1")

#define SCTP_COMMON_FIELDS(F, O, layout) \
    F(layout, SourcePort,      "Source Port",      0,  16, WIRE_NUMBER, NULL, "RFC 9260 3.1", "port of the sender") \
    F(layout, DestinationPort, "Destination Port", 16, 16, WIRE_NUMBER, NULL, "RFC 9260 3.1", "port of the receiver") \
    F(layout, VerificationTag, "Verification Tag", 32, 32, WIRE_HEX,    NULL, "RFC 9260 3.1", "the receiver's Initiate Tag; 0 with INIT") \
    F(layout, Checksum,        "Checksum",         64, 32, WIRE_HEX,    NULL, "RFC 9260 3.1", "CRC32c of the packet with this field zero, low octet first")

#define SCTP_CHUNK_FIELDS(F, O, layout) \
    F(layout, Type,   "Type",   0,  8,  WIRE_HEX,    sctp_chunk_names, "RFC 9260 3.2", "what the chunk is") \
    F(layout, Flags,  "Flags",  8,  8,  WIRE_HEX,    NULL,             "RFC 9260 3.2", "meaning depends on the type") \
    F(layout, Length, "Length", 16, 16, WIRE_NUMBER, NULL,             "RFC 9260 3.2", "octets of header and value, without the pad")

#define SCTP_DATA_FIELDS(F, O, layout) \
    F(layout, Type,   "Type",   0,  8,  WIRE_HEX,      sctp_chunk_names, "RFC 9260 3.3.1", "0") \
    F(layout, Res,    "Res",    8,  4,  WIRE_RESERVED, NULL,             "RFC 9260 3.3.1", "zero on sending, ignored on receipt") \
    F(layout, I,      "I",      12, 1,  WIRE_FLAG,     NULL,             "RFC 9260 3.3.1", "acknowledge at once") \
    F(layout, U,      "U",      13, 1,  WIRE_FLAG,     NULL,             "RFC 9260 3.3.1", "unordered: all of DDP's chunks are (RFC 5043 10)") \
    F(layout, B,      "B",      14, 1,  WIRE_FLAG,     NULL,             "RFC 9260 3.3.1", "first fragment of the user message") \
    F(layout, E,      "E",      15, 1,  WIRE_FLAG,     NULL,             "RFC 9260 3.3.1", "last fragment of the user message") \
    F(layout, Length, "Length", 16, 16, WIRE_NUMBER,   NULL,             "RFC 9260 3.3.1", "16 and the octets of user data") \
    F(layout, TSN,    "TSN",    32, 32, WIRE_NUMBER,   NULL,             "RFC 9260 3.3.1", "Transmission Sequence Number") \
    F(layout, SID,    "SID",    64, 16, WIRE_NUMBER,   NULL,             "RFC 9260 3.3.1", "Stream Identifier") \
    F(layout, SSN,    "SSN",    80, 16, WIRE_NUMBER,   NULL,             "RFC 9260 3.3.1", "Stream Sequence Number; no meaning when U is set") \
    F(layout, PPID,   "PPID",   96, 32, WIRE_NUMBER,   ddp_sctp_ppid_names, "RFC 9260 3.3.1", "Payload Protocol Identifier")

#define SCTP_INIT_FIELDS(F, O, layout) \
    F(layout, Type,        "Type",                 0,   8,  WIRE_HEX,    sctp_chunk_names, "RFC 9260 3.3.2", "1 INIT, 2 INIT ACK") \
    F(layout, Flags,       "Flags",                8,   8,  WIRE_RESERVED, NULL, "RFC 9260 3.3.2", "zero") \
    F(layout, Length,      "Length",               16,  16, WIRE_NUMBER, NULL, "RFC 9260 3.3.2", "octets of the chunk") \
    F(layout, InitiateTag, "Initiate Tag",         32,  32, WIRE_HEX,    NULL, "RFC 9260 3.3.2", "Verification Tag of packets to the sender") \
    F(layout, a_rwnd,      "a_rwnd",               64,  32, WIRE_NUMBER, NULL, "RFC 9260 3.3.2", "octets that the sender has room for") \
    F(layout, OS,          "OS",                   96,  16, WIRE_NUMBER, NULL, "RFC 9260 3.3.2", "outbound streams wanted") \
    F(layout, MIS,         "MIS",                  112, 16, WIRE_NUMBER, NULL, "RFC 9260 3.3.2", "inbound streams at most") \
    F(layout, InitialTSN,  "Initial TSN",          128, 32, WIRE_NUMBER, NULL, "RFC 9260 3.3.2", "TSN of the first DATA chunk")

#define SCTP_ADAPTATION_FIELDS(F, O, layout) \
    F(layout, Type,       "Type",       0,  16, WIRE_HEX,    NULL, "RFC 5061 4.2.6", "0xC006") \
    F(layout, Length,     "Length",     16, 16, WIRE_NUMBER, NULL, "RFC 5061 4.2.6", "8") \
    F(layout, Indication, "Indication", 32, 32, WIRE_HEX,    ddp_sctp_indication_names, "RFC 5043 5.1", "what is carried: 1 DDP; draft: 2 DDP+RDMA")

#define SCTP_SACK_FIELDS(F, O, layout) \
    F(layout, Type,       "Type",               0,  8,  WIRE_HEX,    sctp_chunk_names, "RFC 9260 3.3.4", "3") \
    F(layout, Flags,      "Flags",              8,  8,  WIRE_RESERVED, NULL, "RFC 9260 3.3.4", "zero") \
    F(layout, Length,     "Length",             16, 16, WIRE_NUMBER, NULL, "RFC 9260 3.3.4", "octets of the chunk") \
    F(layout, Cumulative, "Cumulative TSN Ack", 32, 32, WIRE_NUMBER, NULL, "RFC 9260 3.3.4", "all up to this TSN has come") \
    F(layout, a_rwnd,     "a_rwnd",             64, 32, WIRE_NUMBER, NULL, "RFC 9260 3.3.4", "octets that the sender has room for") \
    F(layout, Gaps,       "Gap Ack Blocks",     96, 16, WIRE_NUMBER, NULL, "RFC 9260 3.3.4", "ranges after a hole that have come") \
    F(layout, Duplicates, "Duplicate TSNs",     112, 16, WIRE_NUMBER, NULL, "RFC 9260 3.3.4", "that came twice")
/* clang-format on */

#define SCTP_CHUNK_ENUM_(id, type, name, section) id = type,
enum sctp_chunk_type { SCTP_CHUNKS(SCTP_CHUNK_ENUM_) };

extern const struct wire_name sctp_chunk_names[];
extern const struct wire_name ddp_sctp_ppid_names[];       /* wire/ddp_sctp.h */
extern const struct wire_name ddp_sctp_indication_names[]; /* wire/ddp_sctp.h */
WIRE_LAYOUT_DECLARE(sctp_common, SCTP_COMMON_FIELDS);
WIRE_LAYOUT_DECLARE(sctp_chunk, SCTP_CHUNK_FIELDS);
WIRE_LAYOUT_DECLARE(sctp_data, SCTP_DATA_FIELDS);
WIRE_LAYOUT_DECLARE(sctp_init, SCTP_INIT_FIELDS);
WIRE_LAYOUT_DECLARE(sctp_adaptation, SCTP_ADAPTATION_FIELDS);
WIRE_LAYOUT_DECLARE(sctp_sack, SCTP_SACK_FIELDS);

/* A chunk (or parameter) as it lies in a packet; pointers are borrowed. */
struct sctp_chunk {
    uint16_t type; /* 8 bits of a chunk, 16 of a parameter */
    uint8_t flags;
    uint16_t length;      /* of its header: without the pad */
    const uint8_t *start; /* its header */
    size_t octets;        /* that are there, at most `length` */
};

/*
 * Reads the next chunk of [*p, end) and moves *p after its pad (an incomplete pad at the end of the packet is
 * tolerated). WIRE_OK. WIRE_MORE: fewer than 4 octets are left, or the chunk continues after `end`; if 4 octets are
 * there, *chunk is filled in, `octets` is the number of octets present, and *p becomes `end`. TERM_DDP_CATASTROPHIC
 * (the wire has no number for this case): Length is below 4.
 */
wire_result sctp_chunk_parse(const uint8_t **p, const uint8_t *end, struct sctp_chunk *chunk);

/* The same for parameters of INIT, INIT ACK and RE-CONFIG. */
wire_result sctp_parameter_parse(const uint8_t **p, const uint8_t *end, struct sctp_chunk *parameter);

/* A DATA or I-DATA chunk in host form. */
struct sctp_data {
    bool interleaved; /* I-DATA */
    bool unordered, first, last;
    uint8_t reserved; /* DATA: 4 bits */
    uint32_t tsn;
    uint16_t sid;
    uint16_t ssn;  /* DATA only */
    uint32_t mid;  /* I-DATA only */
    uint32_t ppid; /* I-DATA: of the first fragment; 0 in others */
    const uint8_t *user;
    size_t user_octets; /* by the chunk's length */
    size_t user_have;   /* octets that are there */
};

/* WIRE_MORE: the chunk is too short for its header. */
wire_result sctp_data_parse(const struct sctp_chunk *chunk, struct sctp_data *data);

enum { SCTP_ADDRESSES_MAX = 8 };

/* An INIT or INIT ACK in host form. */
struct sctp_init {
    uint32_t tag;
    uint32_t window;
    uint16_t outbound, inbound; /* OS, MIS */
    uint32_t initial_tsn;
    bool has_adaptation;
    uint32_t adaptation;
    const uint8_t *adaptation_at; /* its parameter; NULL: none */
    uint16_t adaptation_length;   /* of that parameter */
    unsigned adaptations;         /* such parameters */
    bool zero_checksum;           /* its sender takes packets with a Checksum of 0 (RFC 9653) */
    bool host_name;               /* it has a host name in place of addresses */
    unsigned addresses;           /* address parameters, also those beyond SCTP_ADDRESSES_MAX */
    struct {
        uint8_t family; /* 4 or 6 */
        const uint8_t *octets;
    } address[SCTP_ADDRESSES_MAX];
};

/* WIRE_MORE: the fixed part is incomplete. Parameters are read as far as they are present. */
wire_result sctp_init_parse(const struct sctp_chunk *chunk, struct sctp_init *init);

/* The right CRC32c for the packet's Checksum field, as sctp_common_get_Checksum() reads it. `octets` >= 12. */
uint32_t sctp_checksum(const uint8_t *packet, size_t octets);

/* The same with the Adler-32 of RFC 2960, which CRC32c replaced. */
uint32_t sctp_adler32(const uint8_t *packet, size_t octets);

#ifdef __cplusplus
}
#endif

#endif
