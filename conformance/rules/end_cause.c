/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/end_cause.h"

#include <inttypes.h>
#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/rules/session_pattern.h"
#include "wire/cm.h"
#include "wire/terminate_meant.h"

const char *end_kind_name(enum end_kind kind)
{
    static const char *const names[END_KINDS] = {
        [END_TERMINATE] = "terminate", [END_RESET] = "reset", [END_REJECT] = "reject"};

    return names[kind];
}

/* ---- what a Terminate quotes ------------------------------------------------------------------------------------- */

static bool is_tagged(const struct flow_sent *sent)
{
    return (sent->head[0] & 0x80) != 0;
}

static size_t header_octets(const struct flow_sent *sent)
{
    return is_tagged(sent) ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
}

/* A DDP Segment whose header is kept whole. */
static bool is_segment(const struct flow_sent *sent)
{
    return (sent->flags & (FLOW_SENT_START | FLOW_SENT_BAD)) == 0 && sent->head_octets != 0 &&
           sent->head_octets >= header_octets(sent);
}

/* How long ago the segment with this header was sent, as flow_sent_last() counts; -1: not remembered. */
static int64_t find_header(const struct flow_half *half, const uint8_t *header, size_t octets)
{
    uint64_t kept = flow_sent_kept(half);

    for (uint64_t i = 0; i < kept; i++) {
        const struct flow_sent *sent = flow_sent_last(half, i);

        if (is_segment(sent) && header_octets(sent) == octets && memcmp(sent->head, header, octets) == 0)
            return (int64_t)i;
    }
    return -1;
}

/* Segments of one message: by QN and MSN; tagged ones by opcode and STag. */
static bool same_message(const struct flow_sent *a, const struct flow_sent *b)
{
    if (!is_segment(b) || is_tagged(a) != is_tagged(b) || (a->head[1] & 0xF) != (b->head[1] & 0xF))
        return false;
    return is_tagged(a) ? memcmp(a->head + 2, b->head + 2, 4) == 0 : memcmp(a->head + 6, b->head + 6, 8) == 0;
}

static bool is_last(const struct flow_sent *sent)
{
    return (sent->head[0] & 0x40) != 0;
}

static void add_segment(struct end_quoted *quoted, const struct flow_sent *sent)
{
    if (quoted->segments == 0 || sent->first_frame < quoted->first_frame)
        quoted->first_frame = sent->first_frame;
    if (sent->frame > quoted->frame)
        quoted->frame = sent->frame;
    quoted->whole |= is_last(sent);
    quoted->octets += sent->ulpdu_length > header_octets(sent) ? sent->ulpdu_length - header_octets(sent) : 0;
    quoted->segments++;
}

/* The whole message of the i-th last unit: from it back to the segment after the last L, and on to its own L. */
static void measure(const struct flow_half *half, uint64_t i, struct end_quoted *quoted)
{
    const struct flow_sent *quote = flow_sent_last(half, i);
    const struct rdmap_opcode_row *row = &rdmap_opcode_rows[quote->head[1] & 0xF];
    uint64_t kept = flow_sent_kept(half);

    quoted->opcode = quote->head[1] & 0xF;
    quoted->message = row->name;
    quoted->segment_frame = quote->frame;
    add_segment(quoted, quote);
    for (uint64_t before = i + 1; before < kept; before++) {
        const struct flow_sent *sent = flow_sent_last(half, before);

        if (same_message(quote, sent) && is_last(sent))
            break;
        if (same_message(quote, sent))
            add_segment(quoted, sent);
    }
    for (uint64_t after = i; after > 0 && !is_last(quote); after--) {
        const struct flow_sent *sent = flow_sent_last(half, after - 1);

        if (!same_message(quote, sent))
            continue;
        add_segment(quoted, sent);
        if (is_last(sent))
            break;
    }
}

static void read_terminate(const struct flow_event *event, struct end_cause *cause)
{
    const struct flow_half *other = &event->flow->half[flow_reverse(event->direction)];
    struct terminate_meant meant;
    int64_t found;

    cause->kind = END_TERMINATE;
    terminate_read_meant(event->ddp->segment.payload, event->ddp->payload_have, &meant);
    if (meant.count < TERMINATE_OCTETS)
        return;
    cause->readable = true;
    cause->swapped = meant.swapped;
    cause->error = meant.read.triple;
    if (meant.read.ddp_header == NULL)
        return;
    found = find_header(other, meant.read.ddp_header, meant.read.ddp_header_octets);
    cause->quote = found < 0 ? END_QUOTES_UNKNOWN : END_QUOTES_SENT;
    if (found >= 0)
        measure(other, (uint64_t)found, &cause->quoted);
    else
        cause->quoted.message = rdmap_opcode_rows[meant.read.ddp_header[1] & 0xF].name;
}

/* ---- rejects ----------------------------------------------------------------------------------------------------- */

static void read_reject(const struct flow_event *event, struct end_cause *cause)
{
    const struct flow_start *request = flow_start_of(event->flow, FLOW_FROM_INITIATOR);

    struct end_quoted *quoted = &cause->quoted;

    cause->kind = END_REJECT;
    if (event->direction != FLOW_FROM_RESPONDER)
        return;
    if (event->kind == FLOW_MPA_START) {
        if (request == NULL || flow_is_unmatched(event->flow))
            return;
        quoted->message = "Request";
        quoted->first_frame = request->first_octet_frame;
        quoted->frame = request->frame_number;
    } else {
        bool asked = event->kind == FLOW_CM ? event->flow->cm->seen[FLOW_FROM_INITIATOR] != 0
                                            : event->flow->sctp->opening[FLOW_FROM_INITIATOR] != 0;

        if (!asked)
            return;
        quoted->message = event->kind == FLOW_CM ? "REQ" : "Initiate";
        quoted->first_frame = quoted->frame = event->flow->first_frame;
    }
    cause->quote = END_QUOTES_START;
    quoted->segment_frame = quoted->frame;
}

static bool is_terminate(const struct flow_event *event)
{
    return event->rdmap->message.opcode == IWARP_RDMAP_TERMINATE && event->rdmap->first &&
           !event->ddp->segment.tagged && !event->ulpdu->unverified && event->flow->half != NULL;
}

static bool is_reject(const struct flow_event *event)
{
    return event->start->frame.kind == IWARP_MPA_REPLY && event->start->result == WIRE_OK &&
           event->start->frame.rejected;
}

bool end_cause_read(const struct flow_event *event, struct end_cause *cause)
{
    switch (event->kind) {
    case FLOW_RDMAP:
        if (!is_terminate(event))
            return false;
        break;
    case FLOW_TCP_CLOSE:
        if (!event->close->reset)
            return false;
        break;
    case FLOW_MPA_START:
        if (!is_reject(event))
            return false;
        break;
    case FLOW_SCTP:
        if (event->sctp->chunk.type != SCTP_ABORT || event->sctp->checksum == FLOW_CHECKSUM_BAD)
            return false;
        break;
    case FLOW_SESSION:
        if (event->session->result != WIRE_OK || !session_is_reject(event->session->message.code))
            return false;
        break;
    case FLOW_CM:
        if (event->cm->message.attribute != CM_REJ || event->cm->icrc == FLOW_ICRC_BAD || event->cm->again)
            return false;
        break;
    default: return false;
    }
    *cause = (struct end_cause){.kind = END_RESET, .direction = event->direction, .frame = event->frame};
    if (event->kind == FLOW_RDMAP)
        read_terminate(event, cause);
    else if (event->kind != FLOW_TCP_CLOSE && event->kind != FLOW_SCTP)
        read_reject(event, cause);
    if (event->kind == FLOW_SESSION)
        cause->code = event->session->message.code;
    if (event->kind == FLOW_CM)
        cause->code = event->cm->message.reason;
    return true;
}
