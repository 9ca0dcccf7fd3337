/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVMe over RDMA (NVM Express over Fabrics, RDMA transport). A host sends command capsules, which may have data behind
 * the command, a controller response capsules, both as the payload of RDMAP Sends; numbers are little-endian.
 *
 *     Command, 64 octets                        Response, 16 octets
 *     +---------+---------+-------------------+ +---------------------------------------+
 *   0 | Opcode  |  Flags  |        CID        | |         specific to the command       | 0
 *   4 |  NSID (Fabrics: FCTYPE, reserved)     | |                                       | 4
 *   8 |           CDW2, CDW3, MPTR            | |        SQHD       |        SQID       | 8
 *     +---------------------------------------+ |        CID        |       Status      | 12
 *  24 |              Address (64)             | +-------------------+-------------------+
 *  32 |         Length (24)         |   Key   |
 *  36 |        of the SGL (32)      |  Type   | Private Data, 32 octets: of the Request RECFMT, QID, HRQSIZE, HSQSIZE,
 *     +---------------------------------------+ CNTLID, of the Reply RECFMT, CRQSIZE, 16 bits each, then reserved
 *  40 |            CDW10 to CDW15             |
 *     +---------------------------------------+
 */
#ifndef WIRE_NVME_H
#define WIRE_NVME_H

#include "wire/field.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NVME_COMMAND_OCTETS = 64,
    NVME_RESPONSE_OCTETS = 16,
    NVME_PRIVATE_OCTETS = 32,
    NVME_DESCRIPTOR_AT = 24, /* the SGL descriptor of a command */
    NVME_DESCRIPTOR_OCTETS = 16,
    NVME_FABRICS = 0x7F, /* opcode: FCTYPE says which command */
    NVME_FABRICS_CONNECT = 0x01,
    NVME_CONNECT_DATA = 1024,    /* octets */
    NVME_FLOW_CONTROL_OFF = 0x4, /* CATTR of Connect */
    NVME_PSDT_MASK = 0xC0,       /* of Flags: which kind of pointer the command has */
    NVME_PSDT_SGL = 0x40,
};

/* Type of an SGL descriptor, its upper four bits; and subtype, the lower ones. */
enum nvme_sgl_type { NVME_SGL_DATA = 0x0, NVME_SGL_LAST_SEGMENT = 0x3, NVME_SGL_KEYED = 0x4 };
enum nvme_sgl_subtype { NVME_SGL_ADDRESS = 0x0, NVME_SGL_OFFSET = 0x1, NVME_SGL_INVALIDATE = 0xF };

/* clang-format off */
#define NVME_COMMAND_FIELDS(F, O, layout) \
    F(layout, Opcode,   "Opcode",        0,   8,  WIRE_HEX,    NULL, "NVMe-oF 7.3", "of the command; 0x7f: a Fabrics command") \
    F(layout, Flags,    "Flags",         8,   8,  WIRE_HEX,    NULL, "NVMe-oF 7.3", "0x40: the command has an SGL descriptor") \
    F(layout, CID,      "Command Identifier", 16, 16, WIRE_HEX, NULL, "NVMe-oF 7.3", "the response has it too") \
    F(layout, NSID,     "Namespace Identifier", 32, 32, WIRE_HEX, NULL, "NVMe-oF 7.3", "of a Fabrics command FCTYPE in the lowest octet") \
    F(layout, CDW2,     "CDW2",          64,  32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, CDW3,     "CDW3",          96,  32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, MPTR,     "MPTR",          128, 64, WIRE_HEX,    NULL, "NVMe-oF 7.3", "pointer to metadata") \
    F(layout, Address,  "Address",       192, 64, WIRE_HEX,    NULL, "NVMe-oF 7.3", "of the data: a Tagged Offset, or an offset in the capsule") \
    F(layout, Length,   "Length",        256, 24, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "octets of the data") \
    F(layout, Key,      "Key",           280, 32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "the STag") \
    F(layout, Type,     "SGL Type",      312, 8,  WIRE_HEX,    NULL, "NVMe-oF 7.3", "0x40 keyed, 0x4f keyed and to be invalidated, 0x01 in the capsule") \
    F(layout, CDW10,    "CDW10",         320, 32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, CDW11,    "CDW11",         352, 32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, CDW12,    "CDW12",         384, 32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, CDW13,    "CDW13",         416, 32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, CDW14,    "CDW14",         448, 32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, CDW15,    "CDW15",         480, 32, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command")

#define NVME_RESPONSE_FIELDS(F, O, layout) \
    F(layout, Result,   "Result",        0,   64, WIRE_HEX,    NULL, "NVMe-oF 7.3", "specific to the command") \
    F(layout, SQHD,     "SQ Head Pointer", 64, 16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "the command that the controller takes next") \
    F(layout, SQID,     "SQ Identifier", 80,  16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "reserved over Fabrics") \
    F(layout, CID,      "Command Identifier", 96, 16, WIRE_HEX, NULL, "NVMe-oF 7.3", "of the command that ends") \
    F(layout, Status,   "Status",        112, 16, WIRE_HEX,    NULL, "NVMe-oF 7.3", "0: success")

#define NVME_HOST_PRIVATE_FIELDS(F, O, layout) \
    F(layout, RECFMT,   "RECFMT",        0,   16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "format of the Private Data: 0") \
    F(layout, QID,      "QID",           16,  16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "the queue that the connection is for; 0: that of the administrator") \
    F(layout, HRQSIZE,  "HRQSIZE",       32,  16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "entries of the host's receive queue") \
    F(layout, HSQSIZE,  "HSQSIZE",       48,  16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "entries of the host's send queue, less one") \
    F(layout, CNTLID,   "CNTLID",        64,  16, WIRE_HEX,    NULL, "NVMe-oF 7.3", "the controller that a queue of data belongs to; 0 in older versions") \
    O(layout, Reserved, "Reserved",      10,  22,                    "NVMe-oF 7.3", "zero")

#define NVME_CONTROLLER_PRIVATE_FIELDS(F, O, layout) \
    F(layout, RECFMT,   "RECFMT",        0,   16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "format of the Private Data: 0") \
    F(layout, CRQSIZE,  "CRQSIZE",       16,  16, WIRE_NUMBER, NULL, "NVMe-oF 7.3", "entries of the controller's receive queue") \
    O(layout, Reserved, "Reserved",      4,   28,                    "NVMe-oF 7.3", "zero")
/* clang-format on */

WIRE_LITTLE_DECLARE(nvme_command, NVME_COMMAND_FIELDS);
WIRE_LITTLE_DECLARE(nvme_response, NVME_RESPONSE_FIELDS);
WIRE_LITTLE_DECLARE(nvme_host_private, NVME_HOST_PRIVATE_FIELDS);
WIRE_LITTLE_DECLARE(nvme_controller_private, NVME_CONTROLLER_PRIVATE_FIELDS);

/* What a host says in the Private Data of its Request. */
struct nvme_private {
    uint16_t qid, hrqsize, hsqsize;
};

/* False: it is no such Private Data (another length or format, sizes of 0, reserved octets that are not 0). */
bool nvme_private_read(const uint8_t *octets, size_t count, struct nvme_private *said);

/* The same of a controller's, in its Reply: the entries of its receive queue. */
bool nvme_controller_private_read(const uint8_t *octets, size_t count, uint16_t *crqsize);

struct nvme_descriptor {
    uint64_t address;
    uint32_t length, key;
    uint8_t type, subtype; /* enum nvme_sgl_type, enum nvme_sgl_subtype */
};

/* `octets`: NVME_DESCRIPTOR_OCTETS of an SGL. */
void nvme_descriptor_read(const uint8_t *octets, struct nvme_descriptor *descriptor);

/* Does a command move data to the controller, and from it? By the lowest two bits of its opcode, or FCTYPE. */
bool nvme_moves_in(const uint8_t *command);
bool nvme_moves_out(const uint8_t *command);

/* A Connect command of that queue, which nothing else is by chance. `command`: NVME_COMMAND_OCTETS. */
bool nvme_is_connect(const uint8_t *command, uint16_t qid);

/* SQSIZE and CATTR of a Connect command. */
uint16_t nvme_connect_size(const uint8_t *command);
uint8_t nvme_connect_attributes(const uint8_t *command);

#ifdef __cplusplus
}
#endif

#endif
