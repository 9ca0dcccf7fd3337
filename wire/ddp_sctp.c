/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/ddp_sctp.h"

#include <string.h>

#define SESSION_NAME_(id, code, name, word, data, active, section) {code, name},
const struct wire_name ddp_sctp_session_names[] = {DDP_SCTP_SESSIONS(SESSION_NAME_){0, NULL}};
const struct wire_name ddp_sctp_draft_names[] = {{DDP_SCTP_STREAM_RESET, "DDP Stream Reset"}, {0, NULL}};
const struct wire_name ddp_sctp_ppid_names[] = {
    {DDP_SCTP_PPID_SEGMENT, "DDP Segment"}, {DDP_SCTP_PPID_CONTROL, "DDP Stream Session Control"}, {0, NULL}};
const struct wire_name ddp_sctp_indication_names[] = {
    {DDP_SCTP_INDICATION_DDP, "DDP"}, {DDP_SCTP_INDICATION_DDP_RDMA, "DDP+RDMA (draft)"}, {0, NULL}};

WIRE_LAYOUT_DEFINE(ddp_sctp_segment, DDP_SCTP_SEGMENT_FIELDS, "DDP Segment chunk", "RFC 5043 5.2.2",
                   DDP_SCTP_SSN_OCTETS);
WIRE_LAYOUT_DEFINE(ddp_sctp_control, DDP_SCTP_CONTROL_FIELDS, "DDP Stream Session Control chunk", "RFC 5043 5.2.3",
                   DDP_SCTP_CONTROL_OCTETS);
WIRE_LAYOUT_DEFINE(ddp_sctp_draft_control, DDP_SCTP_DRAFT_CONTROL_FIELDS, "Adaptation layer control chunk",
                   "draft-stewart-rddp-sctp-02 2.2", DDP_SCTP_DRAFT_CONTROL_OCTETS);

#define SESSION_ROW_(id, code, name, word, data, active, section) [code] = {name, word, data, active, section},
static const struct ddp_sctp_session_row session_rows[] = {[0] = {NULL, false, true, -1, "RFC 5043 5.2.3"},
                                                           DDP_SCTP_SESSIONS(SESSION_ROW_)};

const struct ddp_sctp_session_row *ddp_sctp_session_row(uint32_t code)
{
    return &session_rows[code < sizeof(session_rows) / sizeof(session_rows[0]) ? code : 0];
}

static void read_word(struct ddp_sctp_message *message)
{
    const uint8_t *word = message->private_data;

    message->has_word = true;
    message->peer_to_peer = mpa_enhanced_get_A(word);
    message->rtr_send = mpa_enhanced_get_B(word);
    message->ird = (uint16_t)mpa_enhanced_get_IRD(word);
    message->rtr_write = mpa_enhanced_get_C(word);
    message->rtr_read = mpa_enhanced_get_D(word);
    message->ord = (uint16_t)mpa_enhanced_get_ORD(word);
}

static wire_result parse_control(const uint8_t *octets, size_t count, struct ddp_sctp_message *message)
{
    if (count < DDP_SCTP_CONTROL_OCTETS)
        return WIRE_MORE;
    message->code = (uint32_t)ddp_sctp_control_get_Code(octets);
    message->row = ddp_sctp_session_row(message->code);
    message->private_octets = count - DDP_SCTP_CONTROL_OCTETS;
    message->private_data = message->private_octets != 0 ? octets + DDP_SCTP_CONTROL_OCTETS : NULL;
    if (!message->row->has_word)
        return WIRE_OK;
    if (message->private_octets < MPA_ENHANCED_OCTETS)
        return WIRE_MORE;
    read_word(message);
    return WIRE_OK;
}

static wire_result parse_draft_control(const uint8_t *octets, size_t count, struct ddp_sctp_message *message)
{
    message->kind = DDP_SCTP_DRAFT_CONTROL;
    if (count < DDP_SCTP_DRAFT_CONTROL_OCTETS)
        return WIRE_MORE;
    message->code = (uint32_t)ddp_sctp_draft_control_get_Code(octets);
    message->private_octets = count - DDP_SCTP_DRAFT_CONTROL_OCTETS;
    message->private_data = message->private_octets != 0 ? octets + DDP_SCTP_DRAFT_CONTROL_OCTETS : NULL;
    return WIRE_OK;
}

wire_result ddp_sctp_parse(uint32_t ppid, const uint8_t *octets, size_t count, struct ddp_sctp_message *message)
{
    memset(message, 0, sizeof(*message));
    message->row = ddp_sctp_session_row(0);
    if (ppid != DDP_SCTP_PPID_DRAFT_SEGMENT && ppid != DDP_SCTP_PPID_DRAFT_CONTROL && ppid != DDP_SCTP_PPID_SEGMENT &&
        ppid != DDP_SCTP_PPID_CONTROL)
        return WIRE_OK;
    message->profile =
        ppid == DDP_SCTP_PPID_SEGMENT || ppid == DDP_SCTP_PPID_CONTROL ? IWARP_SCTP_RFC5043 : IWARP_SCTP_DRAFT02;
    /* The draft's text gives a Stream Reset PPID 1: only its length distinguishes it from a segment. */
    if (ppid == DDP_SCTP_PPID_DRAFT_CONTROL ||
        (ppid == DDP_SCTP_PPID_DRAFT_SEGMENT && count == DDP_SCTP_DRAFT_CONTROL_OCTETS))
        return parse_draft_control(octets, count, message);
    message->kind = ppid == DDP_SCTP_PPID_CONTROL ? DDP_SCTP_CONTROL : DDP_SCTP_SEGMENT;
    if (count < DDP_SCTP_SSN_OCTETS)
        return WIRE_MORE;
    message->has_ssn = true;
    message->ssn = (uint16_t)ddp_sctp_segment_get_SSN(octets);
    if (message->kind == DDP_SCTP_CONTROL)
        return parse_control(octets, count, message);
    message->segment = octets + DDP_SCTP_SSN_OCTETS;
    message->segment_octets = count - DDP_SCTP_SSN_OCTETS;
    return WIRE_OK;
}

size_t ddp_sctp_pack_control(const struct ddp_sctp_message *message, uint8_t *out, size_t room)
{
    size_t word = message->has_word ? MPA_ENHANCED_OCTETS : 0;
    size_t octets = DDP_SCTP_CONTROL_OCTETS + word + message->private_octets;

    if (octets > room)
        return 0;
    memset(out, 0, DDP_SCTP_CONTROL_OCTETS + word);
    ddp_sctp_control_set_SSN(out, message->ssn);
    ddp_sctp_control_set_Code(out, message->code);
    out += DDP_SCTP_CONTROL_OCTETS;
    if (message->has_word) {
        mpa_enhanced_set_A(out, message->peer_to_peer);
        mpa_enhanced_set_B(out, message->rtr_send);
        mpa_enhanced_set_IRD(out, message->ird);
        mpa_enhanced_set_C(out, message->rtr_write);
        mpa_enhanced_set_D(out, message->rtr_read);
        mpa_enhanced_set_ORD(out, message->ord);
    }
    if (message->private_octets != 0)
        memcpy(out + word, message->private_data, message->private_octets);
    return octets;
}
