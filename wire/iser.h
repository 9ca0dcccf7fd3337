/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iSER, iSCSI extensions for RDMA (RFC 7145 9). Its messages are the payload of RDMAP Sends: a header of 28 octets, and
 * behind that of a control-type PDU the PDU itself, whose first 48 octets are its Basic Header Segment (RFC 7143 11).
 *
 *     iSCSI control-type PDU                    Hello (HelloReply)
 *     +----+-+-+------------------------------+ +----+----+------+------+--------------+
 *   0 |  1 |W|R|         Reserved             | |  2 |Rsvd|MaxVer|MinVer|   iSER-IRD   | 0
 *     +----+-+-+------------------------------+ |  3 |  |J|MaxVer|CurVer|   iSER-ORD   |
 *   4 |              Write STag               | +----+----+------+------+--------------+
 *   8 |         Write Base Offset (64)        | |             Reserved (192)           | 4
 *  16 |               Read STag               | +--------------------------------------+
 *  20 |         Read Base Offset (64)         |
 *     +---------------------------------------+ Basic Header Segment, 48 octets
 *  28 |         Basic Header Segment          | +-+-+------+-+-------------------------+
 *  76 |  Additional Header Segments, data     | |.|I|Opcode|F|   specific to the PDU   | 0
 *     +---------------------------------------+ +-+-+------+-+-------------------------+
 *                                               |TotalAHSLength|   DataSegmentLength   | 4
 *                                               |    LUN, or specific to the PDU (64)  | 8
 *                                               |          Initiator Task Tag          | 16
 *                                               |    specific to the PDU (32)          | 20
 *                                               |   CmdSN         (a target's: StatSN) | 24
 *                                               |   ExpStatSN   (a target's: ExpCmdSN) | 28
 *                                               |          specific to the PDU         | 32
 *                                               +--------------------------------------+
 */
#ifndef WIRE_ISER_H
#define WIRE_ISER_H

#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ISER_HEADER_OCTETS = 28,
    ISCSI_BHS_OCTETS = 48,
    ISER_PRIVATE_OCTETS = 4,
    ISER_PDU_OCTETS = ISER_HEADER_OCTETS + ISCSI_BHS_OCTETS, /* the shortest message with a PDU */
    ISER_VERSION = 10,                                       /* RFC 7145 9.3, 9.4 */
    ISER_VERSION_DRAWN = 1,                                  /* in the figures of its Appendix B */
    ISCSI_OF_TARGET = 0x20,                                  /* bit of an opcode */
    ISCSI_TAG_NONE = -1,                                     /* 0xFFFFFFFF */
    ISCSI_TASK_REASSIGN = 8,                                 /* function of a Task Management Function Request */
    ISCSI_FULL_FEATURE = 3,                                  /* stage of a login */
};

/* RFC 7145 9.1 */
enum iser_opcode { ISER_CONTROL = 1, ISER_HELLO = 2, ISER_HELLO_REPLY = 3 };

/* RFC 7143 11.2.1.2 */
enum iscsi_opcode {
    ISCSI_NOP_OUT = 0x00,
    ISCSI_COMMAND = 0x01,
    ISCSI_TASK_REQUEST = 0x02,
    ISCSI_LOGIN_REQUEST = 0x03,
    ISCSI_TEXT_REQUEST = 0x04,
    ISCSI_DATA_OUT = 0x05,
    ISCSI_LOGOUT_REQUEST = 0x06,
    ISCSI_SNACK = 0x10,
    ISCSI_NOP_IN = 0x20,
    ISCSI_RESPONSE = 0x21,
    ISCSI_TASK_RESPONSE = 0x22,
    ISCSI_LOGIN_RESPONSE = 0x23,
    ISCSI_TEXT_RESPONSE = 0x24,
    ISCSI_DATA_IN = 0x25,
    ISCSI_LOGOUT_RESPONSE = 0x26,
    ISCSI_R2T = 0x31,
    ISCSI_ASYNC = 0x32,
    ISCSI_REJECT = 0x3F,
};

extern const struct wire_name iser_opcode_names[];
extern const struct wire_name iscsi_opcode_names[];

/* clang-format off */
#define ISER_CONTROL_FIELDS(F, O, layout) \
    F(layout, Opcode,           "Opcode",            0,   4,  WIRE_NUMBER,   iser_opcode_names, "RFC 7145 9.1", "kind of the message") \
    F(layout, WSV,              "WSV",               4,   1,  WIRE_FLAG,     NULL, "RFC 7145 9.2", "Write STag and Write Base Offset are valid") \
    F(layout, RSV,              "RSV",               5,   1,  WIRE_FLAG,     NULL, "RFC 7145 9.2", "Read STag and Read Base Offset are valid") \
    F(layout, Reserved,         "Reserved",          6,   26, WIRE_RESERVED, NULL, "RFC 7145 9.2", "zero on sending, not checked on receipt") \
    F(layout, WriteSTag,        "Write STag",        32,  32, WIRE_HEX,      NULL, "RFC 7145 9.2", "of the buffer that a SCSI Write is read from") \
    F(layout, WriteBaseOffset,  "Write Base Offset", 64,  64, WIRE_HEX,      NULL, "RFC 7145 9.2", "its Tagged Offset") \
    F(layout, ReadSTag,         "Read STag",         128, 32, WIRE_HEX,      NULL, "RFC 7145 9.2", "of the buffer that a SCSI Read is written to") \
    F(layout, ReadBaseOffset,   "Read Base Offset",  160, 64, WIRE_HEX,      NULL, "RFC 7145 9.2", "its Tagged Offset")

#define ISER_HELLO_FIELDS(F, O, layout) \
    F(layout, Opcode,           "Opcode",            0,   4,  WIRE_NUMBER,   iser_opcode_names, "RFC 7145 9.1", "kind of the message") \
    F(layout, Reserved,         "Reserved",          4,   4,  WIRE_RESERVED, NULL, "RFC 7145 9.3", "zero on sending, not checked on receipt") \
    F(layout, MaxVer,           "MaxVer",            8,   4,  WIRE_NUMBER,   NULL, "RFC 7145 9.3", "highest version that is spoken") \
    F(layout, MinVer,           "MinVer",            12,  4,  WIRE_NUMBER,   NULL, "RFC 7145 9.3", "lowest version that is spoken") \
    F(layout, IRD,              "iSER-IRD",          16,  16, WIRE_NUMBER,   NULL, "RFC 7145 9.3", "RDMA Reads that the initiator answers at once") \
    O(layout, Reserved2,        "Reserved2",         4,   24,                     "RFC 7145 9.3", "zero on sending, not checked on receipt")

#define ISER_HELLO_REPLY_FIELDS(F, O, layout) \
    F(layout, Opcode,           "Opcode",            0,   4,  WIRE_NUMBER,   iser_opcode_names, "RFC 7145 9.1", "kind of the message") \
    F(layout, Reserved,         "Reserved",          4,   3,  WIRE_RESERVED, NULL, "RFC 7145 9.4", "zero on sending, not checked on receipt") \
    F(layout, REJ,              "REJ",               7,   1,  WIRE_FLAG,     NULL, "RFC 7145 9.4", "the target rejects the connection") \
    F(layout, MaxVer,           "MaxVer",            8,   4,  WIRE_NUMBER,   NULL, "RFC 7145 9.4", "highest version that is spoken") \
    F(layout, CurVer,           "CurVer",            12,  4,  WIRE_NUMBER,   NULL, "RFC 7145 9.4", "the version of this connection") \
    F(layout, ORD,              "iSER-ORD",          16,  16, WIRE_NUMBER,   NULL, "RFC 7145 9.4", "RDMA Reads that the target has open at once") \
    O(layout, Reserved2,        "Reserved2",         4,   24,                     "RFC 7145 9.4", "zero on sending, not checked on receipt")

#define ISCSI_REQUEST_FIELDS(F, O, layout) \
    F(layout, Reserved,         "Reserved",          0,   1,  WIRE_RESERVED, NULL, "RFC 7143 11.2.1", "zero") \
    F(layout, Immediate,        "I",                 1,   1,  WIRE_FLAG,     NULL, "RFC 7143 11.2.1.1", "for immediate delivery") \
    F(layout, Opcode,           "Opcode",            2,   6,  WIRE_HEX,      iscsi_opcode_names, "RFC 7143 11.2.1.2", "kind of the PDU") \
    F(layout, Flags,            "Flags",             8,   8,  WIRE_HEX,      NULL, "RFC 7143 11.2.1.3", "0x80 Final; of a SCSI Command 0x40 Read, 0x20 Write") \
    F(layout, Specific,         "Specific",          16,  16, WIRE_HEX,      NULL, "RFC 7143 11.2.1.4", "specific to the opcode") \
    F(layout, TotalAHSLength,   "TotalAHSLength",    32,  8,  WIRE_NUMBER,   NULL, "RFC 7143 11.2.1.5", "words of Additional Header Segments") \
    F(layout, DataSegmentLength, "DataSegmentLength", 40, 24, WIRE_NUMBER,   NULL, "RFC 7143 11.2.1.6", "octets of the data segment") \
    F(layout, LUN,              "LUN",               64,  64, WIRE_HEX,      NULL, "RFC 7143 11.2.1.7", "logical unit; specific to some opcodes") \
    F(layout, InitiatorTaskTag, "Initiator Task Tag", 128, 32, WIRE_HEX,     NULL, "RFC 7143 11.2.1.8", "the task") \
    F(layout, ExpectedLength,   "Expected Data Transfer Length", 160, 32, WIRE_NUMBER, NULL, "RFC 7143 11.3.4", "of a SCSI Command; a tag in other PDUs") \
    F(layout, CmdSN,            "CmdSN",             192, 32, WIRE_NUMBER,   NULL, "RFC 7143 11.3.5", "number of the command") \
    F(layout, ExpStatSN,        "ExpStatSN",         224, 32, WIRE_NUMBER,   NULL, "RFC 7143 11.3.6", "the StatSN that is expected next") \
    O(layout, Rest,             "Rest",              32,  16,                     "RFC 7143 11.3.7", "the CDB of a SCSI Command, or specific to the opcode")

#define ISCSI_RESPONSE_FIELDS(F, O, layout) \
    F(layout, Reserved,         "Reserved",          0,   2,  WIRE_RESERVED, NULL, "RFC 7143 11.2.1", "zero") \
    F(layout, Opcode,           "Opcode",            2,   6,  WIRE_HEX,      iscsi_opcode_names, "RFC 7143 11.2.1.2", "kind of the PDU") \
    F(layout, Flags,            "Flags",             8,   8,  WIRE_HEX,      NULL, "RFC 7143 11.2.1.3", "0x80 Final; others are specific to the opcode") \
    F(layout, Response,         "Response",          16,  8,  WIRE_HEX,      NULL, "RFC 7143 11.4.3", "of a SCSI Response: 0 completed at the target") \
    F(layout, Status,           "Status",            24,  8,  WIRE_HEX,      NULL, "RFC 7143 11.4.2", "of a SCSI Response: SCSI's status") \
    F(layout, TotalAHSLength,   "TotalAHSLength",    32,  8,  WIRE_NUMBER,   NULL, "RFC 7143 11.2.1.5", "words of Additional Header Segments") \
    F(layout, DataSegmentLength, "DataSegmentLength", 40, 24, WIRE_NUMBER,   NULL, "RFC 7143 11.2.1.6", "octets of the data segment") \
    F(layout, LUN,              "LUN",               64,  64, WIRE_HEX,      NULL, "RFC 7143 11.2.1.7", "logical unit; specific to some opcodes") \
    F(layout, InitiatorTaskTag, "Initiator Task Tag", 128, 32, WIRE_HEX,     NULL, "RFC 7143 11.2.1.8", "the task") \
    F(layout, Tag,              "Tag",               160, 32, WIRE_HEX,      NULL, "RFC 7143 11.4", "SNACK Tag, or Target Transfer Tag") \
    F(layout, StatSN,           "StatSN",            192, 32, WIRE_NUMBER,   NULL, "RFC 7143 11.4.8", "number of the status") \
    F(layout, ExpCmdSN,         "ExpCmdSN",          224, 32, WIRE_NUMBER,   NULL, "RFC 7143 11.4.9", "the CmdSN that is expected next") \
    F(layout, MaxCmdSN,         "MaxCmdSN",          256, 32, WIRE_NUMBER,   NULL, "RFC 7143 11.4.10", "the last CmdSN that is admitted") \
    O(layout, Rest,             "Rest",              36,  12,                     "RFC 7143 11.4", "specific to the opcode")

#define ISER_PRIVATE_FIELDS(F, O, layout) \
    F(layout, ZBVA_not_used, "ZBVA not used",        0,   1,  WIRE_FLAG,     NULL, "IBTA A12", "the sender uses no zero-based virtual addresses") \
    F(layout, Send_Invalidate_not_used, "Send with Invalidate not used", 1, 1, WIRE_FLAG, NULL, "IBTA A12", "the sender uses no Send with Invalidate") \
    F(layout, Reserved,         "Reserved",          2,   30, WIRE_RESERVED, NULL, "IBTA A12", "zero on sending, not checked on receipt")
/* clang-format on */

WIRE_LAYOUT_DECLARE(iser_control, ISER_CONTROL_FIELDS);
WIRE_LAYOUT_DECLARE(iser_hello, ISER_HELLO_FIELDS);
WIRE_LAYOUT_DECLARE(iser_hello_reply, ISER_HELLO_REPLY_FIELDS);
WIRE_LAYOUT_DECLARE(iscsi_request, ISCSI_REQUEST_FIELDS);
WIRE_LAYOUT_DECLARE(iscsi_response, ISCSI_RESPONSE_FIELDS);
WIRE_LAYOUT_DECLARE(iser_private, ISER_PRIVATE_FIELDS);

/* What a side says in its start-up frame. */
struct iser_private {
    bool zbva_not_used, invalidate_not_used;
};

/* False: it is no such Private Data (another length, neither flag, reserved bits that are not 0). */
bool iser_private_read(const uint8_t *octets, size_t count, struct iser_private *said);

/* The header at the beginning of a message, by its opcode; NULL: there is none that is known, or too little of it. */
const struct wire_layout *iser_layout(const uint8_t *octets, size_t have);

/* The Basic Header Segment behind it; NULL likewise. */
const struct wire_layout *iscsi_layout(const uint8_t *octets, size_t have);

/* What is behind the iSER header of a control-type PDU. */
struct iscsi_pdu {
    uint8_t opcode; /* enum iscsi_opcode */
    bool immediate;
    uint8_t flags;
    uint32_t head_octets; /* of both headers and Additional Header Segments */
    uint32_t data_octets;
    uint32_t task;     /* Initiator Task Tag */
    uint32_t word;     /* Expected Data Transfer Length, or a tag */
    uint32_t number;   /* CmdSN; a target's StatSN */
    uint32_t expected; /* ExpStatSN; a target's ExpCmdSN */
};

/* `octets`: ISER_PDU_OCTETS, the iSER header first. */
void iscsi_pdu_read(const uint8_t *octets, struct iscsi_pdu *pdu);

static inline bool iscsi_reads(const struct iscsi_pdu *pdu)
{
    return pdu->opcode == ISCSI_COMMAND && (pdu->flags & 0x40) != 0;
}

static inline bool iscsi_writes(const struct iscsi_pdu *pdu)
{
    return pdu->opcode == ISCSI_COMMAND && (pdu->flags & 0x20) != 0;
}

/*
 * Octets that the Read buffer of a bidirectional command has, by its Additional Header Segment (RFC 7143 11.2.2.4).
 * `octets`: the message. False: it is not there.
 */
bool iscsi_bidirectional_read(const uint8_t *octets, size_t have, const struct iscsi_pdu *pdu, uint32_t *length);

/* The number of a key in "Key=Value" texts, ended by 0 each (RFC 7143 6.1). False: it is not there, or no number. */
bool iscsi_key_number(const uint8_t *text, size_t count, const char *key, uint32_t *value);

#ifdef __cplusplus
}
#endif

#endif
