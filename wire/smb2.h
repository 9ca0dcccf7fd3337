/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMB2 messages above SMB Direct ([MS-SMB2]), as far as they name memory: a READ or WRITE request has SMB Direct's Buffer
 * Descriptors of the client's memory, which the server writes or reads. Numbers are little-endian.
 *
 *     Header (2.2.1), 64 octets                  Behind it, of a request
 *     +-------------------+-------------------+        READ (2.2.19)   WRITE (2.2.21)
 *   0 |             0xFE 'S' 'M' 'B'          |     64  StructureSize   StructureSize, 49
 *   4 |   StructureSize   |  CreditCharge     |     96                  Channel
 *   8 |         Status of a response          |    100  Channel
 *  12 |      Command      |      Credits      |    104                  WriteChannelInfoOffset, -Length
 *  16 |                 Flags                 |    108  ReadChannelInfoOffset, -Length
 *  20 |              NextCommand              |
 *  24 |             MessageId (64)            |  Offsets count from the header. Several messages in a row are a
 *  32 |   TreeId, SessionId, Signature ...    |  compound: NextCommand is the distance to the next header.
 *     +---------------------------------------+
 */
#ifndef WIRE_SMB2_H
#define WIRE_SMB2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SMB2_HEADER_OCTETS = 64,
    SMB2_READ = 8,
    SMB2_WRITE = 9,
    SMB2_STATUS_PENDING = 0x103, /* the response proper comes later */
    SMB2_CHANNEL_NONE = 0,
    SMB2_CHANNEL_RDMA = 1,
    SMB2_CHANNEL_INVALIDATE = 2, /* and the response is asked to invalidate */
};

struct smb2_message {
    bool response;
    uint16_t command;
    uint32_t status; /* of a response */
    uint64_t message_id;
    uint32_t channel;           /* of a READ or WRITE request; SMB2_CHANNEL_NONE: of no other, or it names no memory */
    const uint8_t *descriptors; /* Buffer Descriptors V1 (wire/smbd.h) in the octets that were read */
    size_t descriptor_count;
};

/*
 * Reads the message that begins at *p and sets *p to the next one of its compound, NULL after the last. False: no SMB2
 * in clear begins there, or its header or what it says of memory is not all there or of an unknown kind.
 */
bool smb2_message_read(const uint8_t **p, const uint8_t *end, struct smb2_message *message);

#ifdef __cplusplus
}
#endif

#endif
