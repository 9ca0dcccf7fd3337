/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/notation/notation.h"

#include <inttypes.h>

#include "conformance/flow/notation/notation_line.h"
#include "conformance/flow/ulp/flow_smbd.h"
#include "wire/private_data.h"
#include "wire/smb2.h"

/*
 * Every DDP Segment of a capture has its line, so its numbers are written by hand: vsnprintf() takes several times as
 * long. A word, and after it the number; in hexadecimal with `digits` digits or more.
 */
static void add_number(struct line *line, const char *word, uint64_t number)
{
    char text[20 + 1], *at = text + sizeof(text) - 1; /* 2^64 - 1 */

    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    add_words(line, word);
    add_words(line, at);
}

static void add_hex(struct line *line, const char *word, unsigned digits, uint64_t number)
{
    char text[16 + 1], *end = text + sizeof(text) - 1, *at = end;

    *at = '\0';
    do {
        *--at = "0123456789abcdef"[number & 0xF];
        number >>= 4;
    } while (number != 0 || at > end - digits);
    add_words(line, word);
    add_words(line, at);
}

void notation_depth(struct line *line, const char *name, uint16_t depth)
{
    if (depth == MPA_DEPTH_NOT_NEGOTIATED)
        add(line, " %s not-negotiated", name);
    else
        add(line, " %s %u", name, depth);
}

void notation_rtr(struct line *line, bool peer_to_peer, bool by_send, bool by_write, bool by_read)
{
    if (peer_to_peer)
        add(line, " p2p");
    if (!by_send && !by_write && !by_read)
        return;
    add(line, " rtr=%s%s%s%s%s", by_send ? "send" : "", by_send && (by_write || by_read) ? "," : "",
        by_write ? "write" : "", by_write && by_read ? "," : "", by_read ? "read" : "");
}

static void add_word(struct line *line, const struct iwarp_mpa_start *start)
{
    notation_depth(line, "ird", start->ird);
    notation_depth(line, "ord", start->ord);
    notation_rtr(line, start->peer_to_peer, start->rtr_send, start->rtr_write, start->rtr_read);
}

void notation_private(struct line *line, const uint8_t *octets, size_t count, bool answers, bool has_word)
{
    struct private_data said;
    char text[PRIVATE_DATA_TEXT];

    if (octets != NULL && private_data_read(octets, count, answers, has_word, &said))
        add(line, ": %s", private_data_text(&said, text));
}

const char *notation_start(const struct iwarp_mpa_start *start, char *text, size_t room)
{
    struct line line = {text, room, 0};
    const uint8_t *octets = NULL;
    size_t count = 0;

    text[0] = '\0';
    add(&line, "MPA %s rev%u%s%s%s%s%s", start->kind == IWARP_MPA_REQUEST ? "Request" : "Reply", start->revision,
        start->revision == MPA_REV_ERDMA ? " (erdma's)" : "", start->enhanced ? " S" : "", start->markers ? " M" : "",
        start->crc ? " C" : "", start->rejected ? " R" : "");
    if (start->reserved != 0)
        add(&line, " Res 0x%x", start->reserved);
    if (iwarp_mpa_start_has_word(start))
        add_word(&line, start);
    add(&line, ", %u octets private data", start->private_octets);
    if (start->private_data != NULL)
        octets = iwarp_mpa_start_ulp_data(start, &count);
    notation_private(&line, octets, count, start->kind == IWARP_MPA_REPLY, iwarp_mpa_start_has_word(start));
    return text;
}

/*
 * The error that is meant, and what announces the parts; "swapped": the control word says so in the wrong order of
 * bits.
 */
static void add_terminate(struct line *line, const uint8_t *payload, size_t octets)
{
    struct terminate_meant meant;
    char words[160];

    if (octets < TERMINATE_OCTETS) {
        add(line, " cut after %zu octets", octets);
        return;
    }
    terminate_read_meant(payload, octets, &meant);
    add(line, " %s%s%s%s%s", iwarp_terminate_describe(meant.read.triple, words, sizeof(words)),
        meant.read.m ? " M" : "", meant.read.d ? " D" : "", meant.read.r ? " R" : "", meant.swapped ? " swapped" : "");
}

static void add_atomic_request(struct line *line, const uint8_t *payload, size_t octets)
{
    const uint8_t *p = payload;
    struct atomic_request request;
    const char *name;

    if (atomic_request_parse(&p, payload + octets, &request) != WIRE_OK)
        return;
    name = wire_name_of(atomic_opcode_names, request.opcode);
    if (name != NULL)
        add(line, " %s", name);
    else
        add(line, " AOpCode %u", request.opcode);
    add(line, " id %" PRIu32 " stag 0x%08" PRIx32 " to 0x%" PRIx64, request.id, request.stag, request.to);
}

static void add_atomic_response(struct line *line, const uint8_t *payload, size_t octets)
{
    const uint8_t *p = payload;
    struct atomic_response response;

    if (atomic_response_parse(&p, payload + octets, &response) == WIRE_OK)
        add(line, " id %" PRIu32 " value 0x%" PRIx64, response.id, response.value);
}

static void add_read_request(struct line *line, const uint8_t *payload, size_t octets)
{
    const uint8_t *p = payload;
    struct read_request read;

    if (read_request_parse(&p, payload + octets, &read) != WIRE_OK)
        return;
    add(line, " sink 0x%08" PRIx32 "+0x%" PRIx64 " size %" PRIu32 " source 0x%08" PRIx32 "+0x%" PRIx64, read.sink_stag,
        read.sink_to, read.octets, read.source_stag, read.source_to);
}

const char *notation_segment(const struct ddp_segment *segment, char *text, size_t room)
{
    struct line line = {text, room, 0};
    struct rdmap_message message;
    wire_result result = rdmap_parse(segment, &message);

    text[0] = '\0';
    if (message.row->name != NULL)
        add_words(&line, message.row->name);
    else
        add(&line, "opcode 0x%x", message.opcode);
    if (segment->tagged) {
        add_hex(&line, " stag 0x", 8, segment->stag);
        add_hex(&line, " to 0x", 1, segment->to);
    } else {
        add_number(&line, " qn ", segment->qn);
        add_number(&line, " msn ", segment->msn);
        add_number(&line, " mo ", segment->mo);
    }
    if (segment->last)
        add_words(&line, " L");
    if (segment->version != DDP_VERSION)
        add(&line, " DV %u", segment->version);
    if (message.version != RDMAP_VERSION)
        add(&line, " RV %u", message.version);
    if (message.row->invalidates)
        add(&line, " invalidate 0x%08" PRIx32, message.invalidate_stag);
    if (result == WIRE_OK && message.opcode == IWARP_RDMAP_TERMINATE)
        add_terminate(&line, segment->payload, segment->payload_octets);
    else if (result == WIRE_OK && message.opcode == IWARP_RDMAP_READ_REQUEST)
        add_read_request(&line, segment->payload, segment->payload_octets);
    else if (result == WIRE_OK && message.opcode == IWARP_RDMAP_ATOMIC_REQUEST)
        add_atomic_request(&line, segment->payload, segment->payload_octets);
    else if (result == WIRE_OK && message.opcode == IWARP_RDMAP_ATOMIC_RESPONSE)
        add_atomic_response(&line, segment->payload, segment->payload_octets);
    else
        add_number(&line, " len ", segment->payload_octets);
    return text;
}

static void add_ulpdu(struct line *line, const struct flow_ulpdu *ulpdu)
{
    const struct fpdu *fpdu = ulpdu->mpa != NULL ? &ulpdu->mpa->fpdu : NULL;

    add(line, "FPDU ULPDU_Length %u", ulpdu->length);
    if (fpdu != NULL && ulpdu->result == TERM_MPA_CRC)
        add(line, ", CRC 0x%08" PRIx32 " is not 0x%08" PRIx32, fpdu->crc, fpdu->crc_expected);
    if (fpdu != NULL && ulpdu->result == TERM_MPA_MARKER)
        add(line, ", Marker %zu has FPDUPTR 0x%04x", fpdu->bad_marker, fpdu->bad_pointer);
}

/* The segment with no more payload than the capture has, where what it carries is read. */
static struct ddp_segment segment_there(const struct flow_ddp *ddp)
{
    struct ddp_segment segment = ddp->segment;
    unsigned opcode = segment.control & 0xF;

    bool reads = opcode == IWARP_RDMAP_TERMINATE || opcode == IWARP_RDMAP_READ_REQUEST ||
                 opcode == IWARP_RDMAP_ATOMIC_REQUEST || opcode == IWARP_RDMAP_ATOMIC_RESPONSE;

    if (reads && segment.payload_octets > ddp->payload_have)
        segment.payload_octets = ddp->payload_have;
    return segment;
}

/* The memory that SMB2 requests name, and the responses that end that. */
static void add_smb2(struct line *line, const struct flow_event *event)
{
    struct smb2_message said;
    const uint8_t *p, *end;

    if (!flow_smbd_data(event, &p, &end))
        return;
    while (p != NULL && smb2_message_read(&p, end, &said)) {
        if ((said.command != SMB2_READ && said.command != SMB2_WRITE) ||
            (!said.response && said.channel == SMB2_CHANNEL_NONE))
            continue;
        add(line, ", SMB2 %s %s %" PRIu64, said.command == SMB2_READ ? "READ" : "WRITE",
            said.response ? "response" : "request", said.message_id);
        if (said.response)
            add(line, " status 0x%08" PRIx32, said.status);
        for (size_t i = 0; i < said.descriptor_count; i++) {
            const uint8_t *descriptor = said.descriptors + i * SMBD_DESCRIPTOR_OCTETS;

            add(line, " %" PRIu64 " octets at 0x%" PRIx64 " of STag 0x%08" PRIx64 "%s",
                smbd_descriptor_get_Length(descriptor), smbd_descriptor_get_Offset(descriptor),
                smbd_descriptor_get_Token(descriptor),
                said.channel == SMB2_CHANNEL_INVALIDATE ? ", to be invalidated" : "");
        }
    }
}

/* What SMB Direct says in a Send, after the Send. */
static void add_smbd(struct line *line, const struct flow_event *event)
{
    const uint8_t *p = event->ddp->segment.payload, *end = p + event->ddp->payload_have;
    enum flow_smbd_message message = flow_smbd_message(event);
    struct smbd_negotiate said;
    struct smbd_data data;

    if ((message == FLOW_SMBD_REQUEST && smbd_request_parse(&p, end, &said) == WIRE_OK) ||
        (message == FLOW_SMBD_RESPONSE && smbd_response_parse(&p, end, &said) == WIRE_OK))
        add(line,
            ", SMB Direct Negotiate %s credits %u+%u send %" PRIu32 " receive %" PRIu32 " fragmented %" PRIu32
            " status 0x%" PRIx32,
            message == FLOW_SMBD_REQUEST ? "Request" : "Response", said.credits_requested, said.credits_granted,
            said.preferred_send, said.max_receive, said.max_fragmented, said.status);
    else if (message == FLOW_SMBD_DATA && smbd_data_parse(&p, end, &data) == WIRE_OK) {
        add(line, ", SMB Direct Data credits %u+%u%s data %" PRIu32 " at %" PRIu32 " remaining %" PRIu32,
            data.credits_requested, data.credits_granted, data.flags & SMBD_RESPONSE_REQUESTED ? " answer" : "",
            data.length, data.offset, data.remaining);
        add_smb2(line, event);
    }
}

/* What RPC-over-RDMA says in a Send, after the Send. */
static void add_rpcrdma(struct line *line, const struct flow_rpcrdma_message *said)
{
    static const char *const kinds[] = {[FLOW_RPCRDMA_CALL] = " Call",
                                        [FLOW_RPCRDMA_REPLY] = " Reply",
                                        [FLOW_RPCRDMA_ERROR] = "",
                                        [FLOW_RPCRDMA_OTHER] = ""};
    const char *procedure = wire_name_of(rpcrdma_procedure_names, said->header.procedure);

    if (said->kind == FLOW_RPCRDMA_NONE)
        return;
    if (said->kind == FLOW_RPCRDMA_SHORT) {
        add(line, ", RPC-over-RDMA without a header");
        return;
    }
    add(line, ", RPC-over-RDMA%s XID 0x%08" PRIx32 " credits %" PRIu32, kinds[said->kind], said->header.xid,
        said->header.credits);
    if (said->header.version != RPCRDMA_VERSION)
        add(line, " version %" PRIu32, said->header.version);
    if (procedure != NULL)
        add(line, " %s", procedure);
    else
        add(line, " procedure %" PRIu32, said->header.procedure);
    if (said->has_error)
        add(line, " error %" PRIu32, said->error);
    if (said->segments[RPCRDMA_READ_LIST] != 0)
        add(line, " reads %" PRIu32, said->segments[RPCRDMA_READ_LIST]);
    if (said->chunks != 0)
        add(line, " writes %" PRIu32 " in %" PRIu32, said->segments[RPCRDMA_WRITE_LIST], said->chunks);
    if (said->replies)
        add(line, " reply chunk %" PRIu64 " octets", said->reply_octets);
}

static void add_pdu(struct line *line, const struct flow_iser_message *said)
{
    const struct iscsi_pdu *pdu = &said->pdu;
    const char *name = wire_name_of(iscsi_opcode_names, pdu->opcode);

    if (name != NULL)
        add(line, " %s", name);
    else
        add(line, " PDU 0x%02x", pdu->opcode);
    add(line, "%s task 0x%08" PRIx32 " data %" PRIu32, pdu->immediate ? " immediate" : "", pdu->task, pdu->data_octets);
    if (pdu->opcode == ISCSI_COMMAND)
        add(line, "%s%s %" PRIu32 " octets", iscsi_reads(pdu) ? " reads" : "", iscsi_writes(pdu) ? " writes" : "",
            pdu->word);
}

/* What iSER says in a Send, after the Send. */
static void add_iser(struct line *line, const struct flow_iser_message *said)
{
    bool hello = said->kind == FLOW_ISER_HELLO;

    switch (said->kind) {
    case FLOW_ISER_NONE: return;
    case FLOW_ISER_SHORT: add(line, ", iSER without a header"); return;
    case FLOW_ISER_OTHER: add(line, ", iSER opcode %u", said->opcode); return;
    case FLOW_ISER_HELLO:
    case FLOW_ISER_HELLO_REPLY:
        add(line, ", iSER %s%s version %u %s %u", hello ? "Hello" : "HelloReply", said->rejects ? " rejects" : "",
            said->max_version, hello ? "IRD" : "ORD", said->depth);
        return;
    case FLOW_ISER_CONTROL: break;
    }
    add(line, ", iSER");
    if (said->has_pdu)
        add_pdu(line, said);
    if (said->writes)
        add(line, " Write STag 0x%08" PRIx32 " at 0x%" PRIx64, said->write_stag, said->write_to);
    if (said->reads)
        add(line, " Read STag 0x%08" PRIx32 " at 0x%" PRIx64, said->read_stag, said->read_to);
}

/* What a capsule of NVMe says, after the Send. */
static void add_nvme(struct line *line, const struct flow_nvme_message *said)
{
    const struct nvme_descriptor *data = &said->data;

    switch (said->kind) {
    case FLOW_NVME_NONE: return;
    case FLOW_NVME_SHORT: add(line, ", NVMe without a capsule"); return;
    case FLOW_NVME_RESPONSE:
        add(line, ", NVMe response CID 0x%04x SQHD %u status 0x%04x", said->cid, said->head, said->status);
        return;
    case FLOW_NVME_COMMAND: break;
    }
    add(line, ", NVMe command CID 0x%04x opcode 0x%02x", said->cid, said->opcode);
    if (data->type == NVME_SGL_KEYED && data->length != 0)
        add(line, " %" PRIu32 " octets at 0x%" PRIx64 " of STag 0x%08" PRIx32 "%s", data->length, data->address,
            data->key, data->subtype == NVME_SGL_INVALIDATE ? ", to be invalidated" : "");
    else if (data->length != 0)
        add(line, " SGL type 0x%x%x %" PRIu32 " octets", data->type, data->subtype, data->length);
}

/* What the port stands for by the port mapper. */
static void add_mapping(struct line *line, const struct flow_mapping *mapping)
{
    if (mapping->service != 0)
        add(line, ", port %u is mapped from %u", mapping->mapped, mapping->service);
}

const char *notation_event(const struct flow_event *event, char *text, size_t room)
{
    struct line line = {text, room, 0};

    text[0] = '\0';
    if (!notation_shows(event))
        return text;
    switch (event->kind) {
    case FLOW_TCP_OPEN: add(&line, "TCP %s", event->open->ack ? "SYN, ACK" : "SYN"); break;
    case FLOW_TCP_CLOSE: add(&line, "TCP %s", event->close->reset ? "RST" : "FIN"); break;
    case FLOW_MPA_START:
        if (event->start->result == WIRE_OK) {
            (void)notation_start(&event->start->frame, text, room);
            line.used = strlen(text);
            add_mapping(&line, &event->flow->tcp->mapping);
            return text;
        }
        add(&line, "malformed MPA %s, %zu octets", event->start->frame.kind == IWARP_MPA_REQUEST ? "Request" : "Reply",
            event->start->octet_count);
        break;
    case FLOW_ULPDU: add_ulpdu(&line, event->ulpdu); break;
    case FLOW_DDP: add(&line, "DDP header cut after %zu octets", event->ulpdu->have); break;
    case FLOW_RDMAP: {
        struct ddp_segment segment = segment_there(event->ddp);

        (void)notation_segment(&segment, text, room);
        line.used = strlen(text);
        add_smbd(&line, event);
        add_rpcrdma(&line, &event->rdmap->rpcrdma);
        add_iser(&line, &event->rdmap->iser);
        add_nvme(&line, &event->rdmap->nvme);
        return text;
    }
    case FLOW_GAP:
        if (event->flow->kind == FLOW_STREAM)
            return notation_other(event, text, room);
        add(&line, "%" PRIu64 " octets are missing", event->gap->octets);
        break;
    case FLOW_UNDECODED: add(&line, "%s", flow_reason_text(event->reason)); break;
    case FLOW_SCTP:
    case FLOW_SESSION:
    case FLOW_CM: return notation_other(event, text, room);
    case FLOW_END: break;
    }
    return text;
}
