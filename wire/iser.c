/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/iser.h"

#include <string.h>

#include "base/octets.h"

enum {
    AHS_HEAD = 3,          /* AHSLength, AHSType */
    AHS_BIDIRECTIONAL = 2, /* RFC 7143 11.2.2.4 */
    AHS_BIDIRECTIONAL_OCTETS = 8,
};

const struct wire_name iser_opcode_names[] = {
    {ISER_CONTROL, "control-type PDU"}, {ISER_HELLO, "Hello"}, {ISER_HELLO_REPLY, "HelloReply"}, {0, NULL}};
const struct wire_name iscsi_opcode_names[] = {{ISCSI_NOP_OUT, "NOP-Out"},
                                               {ISCSI_COMMAND, "SCSI Command"},
                                               {ISCSI_TASK_REQUEST, "Task Management Function Request"},
                                               {ISCSI_LOGIN_REQUEST, "Login Request"},
                                               {ISCSI_TEXT_REQUEST, "Text Request"},
                                               {ISCSI_DATA_OUT, "SCSI Data-Out"},
                                               {ISCSI_LOGOUT_REQUEST, "Logout Request"},
                                               {ISCSI_SNACK, "SNACK Request"},
                                               {ISCSI_NOP_IN, "NOP-In"},
                                               {ISCSI_RESPONSE, "SCSI Response"},
                                               {ISCSI_TASK_RESPONSE, "Task Management Function Response"},
                                               {ISCSI_LOGIN_RESPONSE, "Login Response"},
                                               {ISCSI_TEXT_RESPONSE, "Text Response"},
                                               {ISCSI_DATA_IN, "SCSI Data-In"},
                                               {ISCSI_LOGOUT_RESPONSE, "Logout Response"},
                                               {ISCSI_R2T, "R2T"},
                                               {ISCSI_ASYNC, "Asynchronous Message"},
                                               {ISCSI_REJECT, "Reject"},
                                               {0, NULL}};

WIRE_LAYOUT_DEFINE(iser_control, ISER_CONTROL_FIELDS, "iSER header", "RFC 7145 9.2", ISER_HEADER_OCTETS);
WIRE_LAYOUT_DEFINE(iser_hello, ISER_HELLO_FIELDS, "iSER Hello", "RFC 7145 9.3", ISER_HEADER_OCTETS);
WIRE_LAYOUT_DEFINE(iser_hello_reply, ISER_HELLO_REPLY_FIELDS, "iSER HelloReply", "RFC 7145 9.4", ISER_HEADER_OCTETS);
WIRE_LAYOUT_DEFINE(iscsi_request, ISCSI_REQUEST_FIELDS, "iSCSI PDU of an initiator", "RFC 7143 11.2", ISCSI_BHS_OCTETS);
WIRE_LAYOUT_DEFINE(iscsi_response, ISCSI_RESPONSE_FIELDS, "iSCSI PDU of a target", "RFC 7143 11.2", ISCSI_BHS_OCTETS);
WIRE_LAYOUT_DEFINE(iser_private, ISER_PRIVATE_FIELDS, "iSER's Private Data", "IBTA A12", ISER_PRIVATE_OCTETS);

const struct wire_layout *iser_layout(const uint8_t *octets, size_t have)
{
    if (have < ISER_HEADER_OCTETS)
        return NULL;
    switch (iser_control_get_Opcode(octets)) {
    case ISER_CONTROL: return &iser_control_layout;
    case ISER_HELLO: return &iser_hello_layout;
    case ISER_HELLO_REPLY: return &iser_hello_reply_layout;
    default: return NULL;
    }
}

const struct wire_layout *iscsi_layout(const uint8_t *octets, size_t have)
{
    if (have < ISER_PDU_OCTETS || iser_control_get_Opcode(octets) != ISER_CONTROL)
        return NULL;
    return (octets[ISER_HEADER_OCTETS] & ISCSI_OF_TARGET) != 0 ? &iscsi_response_layout : &iscsi_request_layout;
}

void iscsi_pdu_read(const uint8_t *octets, struct iscsi_pdu *pdu)
{
    const uint8_t *bhs = octets + ISER_HEADER_OCTETS;

    *pdu = (struct iscsi_pdu){
        .opcode = (uint8_t)iscsi_request_get_Opcode(bhs),
        .immediate = iscsi_request_get_Immediate(bhs) != 0,
        .flags = (uint8_t)iscsi_request_get_Flags(bhs),
        .head_octets = ISER_PDU_OCTETS + 4 * (uint32_t)iscsi_request_get_TotalAHSLength(bhs),
        .data_octets = (uint32_t)iscsi_request_get_DataSegmentLength(bhs),
        .task = (uint32_t)iscsi_request_get_InitiatorTaskTag(bhs),
        .word = (uint32_t)iscsi_request_get_ExpectedLength(bhs),
        .number = (uint32_t)iscsi_request_get_CmdSN(bhs),
        .expected = (uint32_t)iscsi_request_get_ExpStatSN(bhs),
    };
}

bool iscsi_bidirectional_read(const uint8_t *octets, size_t have, const struct iscsi_pdu *pdu, uint32_t *length)
{
    const uint8_t *at = octets + ISER_PDU_OCTETS, *end = octets + pdu->head_octets;

    if (have < pdu->head_octets)
        return false;
    while (end - at >= AHS_HEAD) {
        size_t whole = ((size_t)octets_get16(at) + AHS_HEAD + 3) / 4 * 4;

        if ((size_t)(end - at) < whole)
            return false;
        if ((at[2] & 0x3F) == AHS_BIDIRECTIONAL && whole >= AHS_BIDIRECTIONAL_OCTETS) {
            *length = octets_get32(at + 4);
            return true;
        }
        at += whole;
    }
    return false;
}

static int digit(uint8_t c, unsigned base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;

    return value < (int)base ? value : -1;
}

/* A decimal or hexadecimal constant of 32 bits that ends where the octets do (RFC 7143 6.1). */
static bool number_of(const uint8_t *p, const uint8_t *end, uint32_t *value)
{
    unsigned base = end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? 16 : 10;
    uint64_t number = 0;

    p += base == 16 ? 2 : 0;
    if (p == end)
        return false;
    for (; p < end; p++) {
        if (digit(*p, base) < 0 || number > UINT32_MAX)
            return false;
        number = number * base + (unsigned)digit(*p, base);
    }
    *value = (uint32_t)number;
    return number <= UINT32_MAX;
}

bool iscsi_key_number(const uint8_t *text, size_t count, const char *key, uint32_t *value)
{
    const uint8_t *at = text, *end = text + count;
    size_t octets = strlen(key);

    while (at < end) {
        const uint8_t *stop = memchr(at, '\0', (size_t)(end - at));

        if (stop == NULL)
            return false;
        if ((size_t)(stop - at) > octets && memcmp(at, key, octets) == 0 && at[octets] == '=')
            return number_of(at + octets + 1, stop, value);
        at = stop + 1;
    }
    return false;
}

bool iser_private_read(const uint8_t *octets, size_t count, struct iser_private *said)
{
    if (count != ISER_PRIVATE_OCTETS || iser_private_get_Reserved(octets) != 0)
        return false;
    *said = (struct iser_private){.zbva_not_used = iser_private_get_ZBVA_not_used(octets) != 0,
                                  .invalidate_not_used = iser_private_get_Send_Invalidate_not_used(octets) != 0};
    return said->zbva_not_used || said->invalidate_not_used;
}
