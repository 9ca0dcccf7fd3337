/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMB Direct, the transport of SMB over RDMA ([MS-SMBD] 2.2). Its messages are the payload of RDMAP Sends; numbers are
 * little-endian.
 *
 *     Negotiate Request, 20 octets              Negotiate Response, 32 octets
 *     +-------------------+-------------------+ +-------------------+-------------------+
 *   0 |    MinVersion     |    MaxVersion     | |    MinVersion     |    MaxVersion     |
 *   4 |     Reserved      | CreditsRequested  | | NegotiatedVersion |     Reserved      |
 *   8 |           PreferredSendSize           | | CreditsRequested  |  CreditsGranted   |
 *  12 |            MaxReceiveSize             | |                Status                 |
 *  16 |           MaxFragmentedSize           | |           MaxReadWriteSize            |
 *     +---------------------------------------+ |           PreferredSendSize           | 20
 *                                               |            MaxReceiveSize             | 24
 *     Data Transfer, 20 octets, then padding    |           MaxFragmentedSize           | 28
 *     and data                                  +---------------------------------------+
 *     +-------------------+-------------------+
 *   0 | CreditsRequested  |  CreditsGranted   | Buffer Descriptor V1, 16 octets
 *   4 |       Flags       |     Reserved      | +---------------------------------------+
 *   8 |          RemainingDataLength          | |              Offset (64)              | 0
 *  12 |              DataOffset               | |                 Token                 | 8
 *  16 |              DataLength               | |                Length                 | 12
 *     +---------------------------------------+ +---------------------------------------+
 */
#ifndef WIRE_SMBD_H
#define WIRE_SMBD_H

#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SMBD_REQUEST_OCTETS = 20,
    SMBD_RESPONSE_OCTETS = 32,
    SMBD_DATA_OCTETS = 20,
    SMBD_DESCRIPTOR_OCTETS = 16,
    SMBD_VERSION = 0x0100,           /* 1.7: the only one */
    SMBD_RECEIVE_MIN = 128,          /* 3.1.5.6, 3.1.5.7: MaxReceiveSize */
    SMBD_FRAGMENTED_MIN = 128 << 10, /* MaxFragmentedSize */
    SMBD_RESPONSE_REQUESTED = 0x0001,
    SMBD_DATA_ALIGNMENT = 8, /* 3.1.5.8: of DataOffset */
    SMBD_DEPTHS_OCTETS = 8,
    SMBD_DEPTH_MAX = 0x3FFE, /* as in the word that came after it (RFC 6581 6) */
};

/*
 * What SMB Direct's peers say in their Private Data, because MPA had no fields for it before RFC 6581 ([MS-SMBD]
 * appendix A): how many Reads they serve at once and have open at once, in two numbers of 32 bits in network order. Some
 * Linux clients send them least octet first.
 */
struct smbd_depths {
    uint16_t ird, ord;
    bool little;
};

/* True: the Private Data are these, and nothing else can be said against it than that all numbers are small ones. */
bool smbd_depths_read(const uint8_t *octets, size_t count, struct smbd_depths *depths);

/* clang-format off */
#define SMBD_REQUEST_FIELDS(F, O, layout) \
    F(layout, MinVersion,          "MinVersion",          0,   16, WIRE_HEX,      NULL, "MS-SMBD 2.2.1", "lowest version that is spoken") \
    F(layout, MaxVersion,          "MaxVersion",          16,  16, WIRE_HEX,      NULL, "MS-SMBD 2.2.1", "highest version that is spoken") \
    F(layout, Reserved,            "Reserved",            32,  16, WIRE_RESERVED, NULL, "MS-SMBD 2.2.1", "zero on sending, not checked on receipt") \
    F(layout, CreditsRequested,    "CreditsRequested",    48,  16, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.1", "Send Credits that are asked for") \
    F(layout, PreferredSendSize,   "PreferredSendSize",   64,  32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.1", "octets of the longest message that the sender would send") \
    F(layout, MaxReceiveSize,      "MaxReceiveSize",      96,  32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.1", "octets of the longest message that the sender can receive") \
    F(layout, MaxFragmentedSize,   "MaxFragmentedSize",   128, 32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.1", "octets of upper-layer data that it puts together from fragments")

#define SMBD_RESPONSE_FIELDS(F, O, layout) \
    F(layout, MinVersion,          "MinVersion",          0,   16, WIRE_HEX,      NULL, "MS-SMBD 2.2.2", "lowest version that is spoken") \
    F(layout, MaxVersion,          "MaxVersion",          16,  16, WIRE_HEX,      NULL, "MS-SMBD 2.2.2", "highest version that is spoken") \
    F(layout, NegotiatedVersion,   "NegotiatedVersion",   32,  16, WIRE_HEX,      NULL, "MS-SMBD 2.2.2", "the version of this connection") \
    F(layout, Reserved,            "Reserved",            48,  16, WIRE_RESERVED, NULL, "MS-SMBD 2.2.2", "zero on sending, not checked on receipt") \
    F(layout, CreditsRequested,    "CreditsRequested",    64,  16, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.2", "Send Credits that are asked for") \
    F(layout, CreditsGranted,      "CreditsGranted",      80,  16, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.2", "Send Credits that are granted") \
    F(layout, Status,              "Status",              96,  32, WIRE_HEX,      NULL, "MS-SMBD 2.2.2", "0, or why the connection fails") \
    F(layout, MaxReadWriteSize,    "MaxReadWriteSize",    128, 32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.2", "octets of one RDMA Write or Read") \
    F(layout, PreferredSendSize,   "PreferredSendSize",   160, 32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.2", "octets of the longest message that the sender would send") \
    F(layout, MaxReceiveSize,      "MaxReceiveSize",      192, 32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.2", "octets of the longest message that the sender can receive") \
    F(layout, MaxFragmentedSize,   "MaxFragmentedSize",   224, 32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.2", "octets of upper-layer data that it puts together from fragments")

#define SMBD_DATA_FIELDS(F, O, layout) \
    F(layout, CreditsRequested,    "CreditsRequested",    0,   16, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.3", "Send Credits that are asked for in all") \
    F(layout, CreditsGranted,      "CreditsGranted",      16,  16, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.3", "Send Credits that are granted beyond those before") \
    F(layout, Flags,               "Flags",               32,  16, WIRE_HEX,      NULL, "MS-SMBD 2.2.3", "1: an answer is asked for at once") \
    F(layout, Reserved,            "Reserved",            48,  16, WIRE_RESERVED, NULL, "MS-SMBD 2.2.3", "zero on sending, not checked on receipt") \
    F(layout, RemainingDataLength, "RemainingDataLength", 64,  32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.3", "octets of upper-layer data in the fragments after this one") \
    F(layout, DataOffset,          "DataOffset",          96,  32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.3", "of the data, from the message's beginning; a multiple of 8") \
    F(layout, DataLength,          "DataLength",          128, 32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.3", "octets of upper-layer data here")

#define SMBD_DESCRIPTOR_FIELDS(F, O, layout) \
    F(layout, Offset,              "Offset",              0,   64, WIRE_HEX,      NULL, "MS-SMBD 2.2.3.1", "the buffer's Tagged Offset") \
    F(layout, Token,               "Token",               64,  32, WIRE_HEX,      NULL, "MS-SMBD 2.2.3.1", "its STag") \
    F(layout, Length,              "Length",              96,  32, WIRE_NUMBER,   NULL, "MS-SMBD 2.2.3.1", "its octets")
/* clang-format on */

WIRE_LITTLE_DECLARE(smbd_request, SMBD_REQUEST_FIELDS);
WIRE_LITTLE_DECLARE(smbd_response, SMBD_RESPONSE_FIELDS);
WIRE_LITTLE_DECLARE(smbd_data, SMBD_DATA_FIELDS);
WIRE_LITTLE_DECLARE(smbd_descriptor, SMBD_DESCRIPTOR_FIELDS);

/* What both Negotiate messages say. */
struct smbd_negotiate {
    uint16_t min_version, max_version;
    uint16_t negotiated_version, credits_granted; /* 0 in a Request */
    uint16_t credits_requested;
    uint32_t status, max_read_write; /* 0 in a Request */
    uint32_t preferred_send, max_receive, max_fragmented;
};

struct smbd_data {
    uint16_t credits_requested, credits_granted, flags;
    uint32_t remaining, offset, length;
};

/* Each parses its fixed part at *p and advances *p. WIRE_MORE: it is incomplete. */
wire_result smbd_request_parse(const uint8_t **p, const uint8_t *end, struct smbd_negotiate *request);
wire_result smbd_response_parse(const uint8_t **p, const uint8_t *end, struct smbd_negotiate *response);
wire_result smbd_data_parse(const uint8_t **p, const uint8_t *end, struct smbd_data *data);

#ifdef __cplusplus
}
#endif

#endif
