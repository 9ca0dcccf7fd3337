/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/smb2.h"

#include <string.h>

#include "base/octets.h"
#include "wire/smbd.h"

/* Where fields stand, by octet from the header, and what they say. */
enum {
    STRUCTURE_SIZE = 4,
    STATUS = 8,
    COMMAND = 12,
    FLAGS = 16,
    NEXT = 20,
    MESSAGE_ID = 24,
    READ_CHANNEL = 100,
    READ_INFO = 108,
    WRITE_CHANNEL = 96,
    WRITE_INFO = 104,
    INFO_OCTETS = 4, /* an offset and a length */
    IS_RESPONSE = 1,
};

/* Of a request that may name memory; `octets`: from its header to the next one, or to the end. */
static bool read_channel(const uint8_t *header, size_t octets, struct smb2_message *message)
{
    bool reads = message->command == SMB2_READ;
    size_t info = reads ? READ_INFO : WRITE_INFO, offset, length;

    if (octets < info + INFO_OCTETS)
        return false;
    message->channel = octets_get32_little(header + (reads ? READ_CHANNEL : WRITE_CHANNEL));
    if (message->channel == SMB2_CHANNEL_NONE)
        return true;
    offset = octets_get16_little(header + info);
    length = octets_get16_little(header + info + 2);
    if (message->channel > SMB2_CHANNEL_INVALIDATE || offset < SMB2_HEADER_OCTETS || offset > octets ||
        length > octets - offset || length == 0 || length % SMBD_DESCRIPTOR_OCTETS != 0)
        return false;
    message->descriptors = header + offset;
    message->descriptor_count = length / SMBD_DESCRIPTOR_OCTETS;
    return true;
}

bool smb2_message_read(const uint8_t **p, const uint8_t *end, struct smb2_message *message)
{
    static const uint8_t protocol[] = {0xFE, 'S', 'M', 'B'};
    const uint8_t *header = *p;
    size_t octets = (size_t)(end - header);
    uint32_t next;

    if (octets < SMB2_HEADER_OCTETS || memcmp(header, protocol, sizeof(protocol)) != 0 ||
        octets_get16_little(header + STRUCTURE_SIZE) != SMB2_HEADER_OCTETS)
        return false;
    next = octets_get32_little(header + NEXT);
    if (next != 0 && (next < SMB2_HEADER_OCTETS || next >= octets))
        return false;
    *message = (struct smb2_message){
        .response = (header[FLAGS] & IS_RESPONSE) != 0,
        .command = octets_get16_little(header + COMMAND),
        .status = octets_get32_little(header + STATUS),
        .message_id = octets_get32_little(header + MESSAGE_ID) | (uint64_t)octets_get32_little(header + MESSAGE_ID + 4)
                                                                     << 32,
    };
    *p = next != 0 ? header + next : NULL;
    if (message->response || (message->command != SMB2_READ && message->command != SMB2_WRITE))
        return true;
    return read_channel(header, next != 0 ? next : octets, message);
}
