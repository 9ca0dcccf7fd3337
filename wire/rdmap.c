/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/rdmap.h"

#include <string.h>

#define OPCODE_NAME(opcode, name, tagged, qn, header, payload, invalidate, section) {opcode, name},
const struct wire_name rdmap_opcode_names[] = {RDMAP_OPCODES(OPCODE_NAME){0, NULL}};

#define OPCODE_ROW(opcode, name, tagged, qn, header, payload, invalidate, section)                                     \
    [opcode] = {name, tagged, qn, header, payload, invalidate, section},
const struct rdmap_opcode_row rdmap_opcode_rows[16] = {RDMAP_OPCODES(OPCODE_ROW)};

WIRE_LAYOUT_DEFINE(rdmap_control, RDMAP_CONTROL_FIELDS, "RDMAP Control Field", "RFC 5040 4.1", RDMAP_CONTROL_OCTETS);
WIRE_LAYOUT_DEFINE(rdmap_untagged, RDMAP_UNTAGGED_FIELDS, "RDMAP Control Field and Invalidate STag", "RFC 5040 4.1",
                   RDMAP_UNTAGGED_OCTETS);
WIRE_LAYOUT_DEFINE(read_request, READ_REQUEST_FIELDS, "RDMA Read Request Header", "RFC 5040 4.4", READ_REQUEST_OCTETS);

wire_result rdmap_parse(const struct ddp_segment *segment, struct rdmap_message *message)
{
    const struct rdmap_opcode_row *row;

    message->version = segment->control >> 6;
    message->reserved = segment->control >> 4 & 0x3;
    message->opcode = segment->control & 0xF;
    message->invalidate_stag = segment->ulp_word;
    message->row = row = &rdmap_opcode_rows[message->opcode];

    if (message->version != RDMAP_VERSION)
        return TERM_RDMAP_VERSION;
    if (row->name == NULL || row->tagged != segment->tagged || (!row->tagged && row->qn != segment->qn))
        return TERM_RDMAP_OPCODE;
    if (!row->tagged && segment->payload_octets < row->header_octets)
        return WIRE_MORE;
    return WIRE_OK;
}

wire_result read_request_parse(const uint8_t **p, const uint8_t *end, struct read_request *request)
{
    const uint8_t *header = *p;

    if (end - header < READ_REQUEST_OCTETS)
        return WIRE_MORE;
    request->sink_stag = (uint32_t)read_request_get_SinkSTag(header);
    request->sink_to = read_request_get_SinkTO(header);
    request->octets = (uint32_t)read_request_get_RDMARDSZ(header);
    request->source_stag = (uint32_t)read_request_get_SrcSTag(header);
    request->source_to = read_request_get_SrcTO(header);
    *p = header + READ_REQUEST_OCTETS;
    return WIRE_OK;
}

void read_request_pack(const struct read_request *request, uint8_t *out)
{
    read_request_set_SinkSTag(out, request->sink_stag);
    read_request_set_SinkTO(out, request->sink_to);
    read_request_set_RDMARDSZ(out, request->octets);
    read_request_set_SrcSTag(out, request->source_stag);
    read_request_set_SrcTO(out, request->source_to);
}
