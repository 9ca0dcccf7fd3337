/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a Terminate says about the message in error: the length, the quoted headers, and whether they bear the error out
 * (RFC 5040 4.8, RFC 5041 7). The quote is looked for among the segments that the other side was seen to send.
 */
#include <string.h>

#include "conformance/rules/rule_context.h"

static const struct terminate *terminate_of(const struct rule_context *ctx)
{
    return &ctx->terminate.read;
}

static bool readable(const struct rule_context *ctx)
{
    return ctx->event->ddp->payload_have == ctx->event->ddp->segment.payload_octets &&
           ctx->terminate.count >= TERMINATE_OCTETS && !ctx->event->ddp->segment.tagged;
}

static size_t header_octets(const uint8_t *header)
{
    return header[0] & 0x80 ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
}

/*
 * Every segment of the other side is remembered: one that is not found was not sent, and is not on its way in pieces.
 */
static bool all_heard(const struct rule_context *ctx)
{
    return (ctx->other->tcp == NULL || ctx->other->tcp->begun == 0) &&
           flow_sent_kept(ctx->other) == ctx->other->sent_count && !ctx->peer->unsure && !ctx->flow->late &&
           !flow_is_unmatched(ctx->flow) && flow_start_of(ctx->flow, flow_reverse(ctx->direction)) != NULL;
}

/* The i-th segment remembered whose header begins with these octets, NULL when there are no more. */
static const struct flow_sent *heard(const struct rule_context *ctx, const uint8_t *header, size_t i)
{
    uint64_t count = flow_sent_kept(ctx->other);
    size_t octets = header_octets(header);

    for (uint64_t at = 0; at < count; at++) {
        const struct flow_sent *sent = &ctx->other->sent[at];

        if ((sent->flags & FLOW_SENT_HEARD) != 0 && memcmp(sent->head, header, octets) == 0 && i-- == 0)
            return sent;
    }
    return NULL;
}

/* What the DDP Segment Length may mean. */
enum length_reading { LENGTH_UNKNOWN, LENGTH_WHOLE, LENGTH_PAYLOAD, LENGTH_NEITHER };

static enum length_reading reading_of_length(const struct rule_context *ctx, unsigned *expected)
{
    const struct terminate *terminate = terminate_of(ctx);
    enum length_reading reading = LENGTH_UNKNOWN;
    const struct flow_sent *segment;

    if (!readable(ctx) || !terminate->m || terminate->ddp_header == NULL)
        return LENGTH_UNKNOWN;
    for (size_t i = 0; (segment = heard(ctx, terminate->ddp_header, i)) != NULL; i++) {
        if (segment->ulpdu_length == terminate->ddp_segment_length)
            return LENGTH_WHOLE;
        *expected = segment->ulpdu_length;
        if (segment->ulpdu_length - terminate->ddp_header_octets == terminate->ddp_segment_length)
            reading = LENGTH_PAYLOAD;
        else if (reading == LENGTH_UNKNOWN)
            reading = LENGTH_NEITHER;
    }
    return reading;
}

/* RFC 5040 4.8: with M the DDP Segment Length is valid. */
void terminate_length_valid(struct rule_context *ctx)
{
    unsigned expected = 0;

    switch (reading_of_length(ctx, &expected)) {
    case LENGTH_WHOLE:
    case LENGTH_PAYLOAD: rule_pass(ctx); break;
    case LENGTH_NEITHER:
        rule_fail(ctx, rule_text(ctx, "DDP Segment Length = %u", expected),
                  rule_text(ctx, "DDP Segment Length = %u", terminate_of(ctx)->ddp_segment_length),
                  "M is set, but the length is not that of the quoted segment (RFC 5040 4.8)");
        break;
    case LENGTH_UNKNOWN: break;
    }
}

/* RFC 5040 calls it the DDP Segment Length in 4.8 and ULP PDU Length in 7.1; some send the payload's length. */
void terminate_length_meaning(struct rule_context *ctx)
{
    unsigned expected = 0;

    switch (reading_of_length(ctx, &expected)) {
    case LENGTH_WHOLE: rule_pass(ctx); break;
    case LENGTH_PAYLOAD:
        rule_ambiguous(ctx, rule_text(ctx, "%u: header and payload", expected),
                       rule_text(ctx, "%u: payload alone", terminate_of(ctx)->ddp_segment_length),
                       "DDP Segment Length does not count the DDP header (RFC 5040 4.8, 7.1)");
        break;
    default: break;
    }
}

/* RFC 5040 4.8: the length field is there whenever D is set, so that the DDP header stands at octet 6. */
void terminate_length_with_header(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);
    const uint8_t *octets = ctx->terminate.octets;
    size_t count = ctx->terminate.count;

    if (!readable(ctx) || !terminate->d || count < TERMINATE_OCTETS + DDP_TAGGED_OCTETS)
        return;
    if (terminate->ddp_header != NULL && heard(ctx, terminate->ddp_header, 0) != NULL)
        rule_pass(ctx);
    else if (count - TERMINATE_OCTETS >= header_octets(octets + TERMINATE_OCTETS) &&
             heard(ctx, octets + TERMINATE_OCTETS, 0) != NULL)
        rule_fail(ctx, "DDP Segment Length, then the DDP header", "the DDP header at octet 4",
                  "The DDP Segment Length is missing before the quoted header (RFC 5040 4.8)");
}

/* RFC 5040 4.8: the DDP header is there whenever D is set. */
void terminate_ddp_header_present(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (!readable(ctx) || !terminate->d)
        return;
    if (terminate->ddp_header != NULL)
        rule_pass(ctx);
    else
        rule_fail(ctx, "14 or 18 octets of DDP header", rule_text(ctx, "%zu octets in all", ctx->terminate.count),
                  "D is set, but the Terminate ends before the DDP header does (RFC 5040 4.8)");
}

/* RFC 5040 4.8: the RDMA header is there whenever R is set. An Atomic Request's has another length (RFC 7306). */
void terminate_rdma_header_present(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (!readable(ctx) || !terminate->r || (terminate->d && terminate->ddp_header == NULL))
        return;
    if (terminate->rdmap_header != NULL)
        rule_pass(ctx);
    else
        rule_fail(ctx, "28 octets of RDMA header", rule_text(ctx, "%zu octets in all", ctx->terminate.count),
                  "R is set, but the Terminate ends before the RDMA header does (RFC 5040 4.8)");
}

/* RFC 5040 4.8: the quoted DDP header is that of the message in error, as received. */
void terminate_quotes_ddp_header(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (!readable(ctx) || terminate->ddp_header == NULL)
        return;
    if (heard(ctx, terminate->ddp_header, 0) != NULL)
        rule_pass(ctx);
    else if (all_heard(ctx))
        rule_fail_unless_lost(ctx, "the DDP header of a received segment",
                              rule_octets(ctx, terminate->ddp_header, terminate->ddp_header_octets),
                              "The quoted DDP header is not that of any segment of the other side (RFC 5040 4.8)");
}

/* RFC 5040 4.8: the RDMA header is returned for a Read Request only (an Atomic Request's: RFC 7306). */
void terminate_rdma_header_for_read(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);
    unsigned opcode;

    if (!readable(ctx) || terminate->ddp_header == NULL || terminate->rdmap_header == NULL)
        return;
    opcode = terminate->ddp_header[1] & 0xF;
    for (size_t i = 0; i < terminate->rdmap_header_octets; i++) {
        if (terminate->rdmap_header[i] == 0 || opcode == IWARP_RDMAP_READ_REQUEST ||
            opcode == IWARP_RDMAP_ATOMIC_REQUEST)
            continue;
        rule_fail(ctx, "R = 0", rule_text(ctx, "R = 1 with a header, opcode %X quoted", opcode),
                  "An RDMA header is returned for a message that has none (RFC 5040 4.8)");
        return;
    }
    rule_pass(ctx);
}

/* ---- the quoted Read Request ------------------------------------------------------------------------------------- */

/* The Read Request that the Terminate quotes, as it was sent and while it is open; NULL when that is not known. */
static const struct flow_request *quoted_request(const struct rule_context *ctx, struct read_request *quoted)
{
    const struct terminate *terminate = terminate_of(ctx);
    const uint8_t *p = terminate->rdmap_header;
    uint32_t msn;

    if (!readable(ctx) || terminate->ddp_header == NULL || p == NULL || terminate->ddp_header[0] & 0x80 ||
        (terminate->ddp_header[1] & 0xF) != IWARP_RDMAP_READ_REQUEST || ctx->other->requests_lost ||
        ctx->peer->requests_unsure || ctx->side->unsure || ctx->peer->unsure)
        return NULL;
    (void)read_request_parse(&p, p + READ_REQUEST_OCTETS, quoted);
    msn = (uint32_t)ddp_untagged_get_MSN(terminate->ddp_header);
    for (uint32_t i = 0; i < ctx->other->request_count; i++) {
        const struct flow_request *request = flow_request_at(ctx->other, i);

        if (request->opcode == IWARP_RDMAP_READ_REQUEST && request->msn == msn)
            return request->doubted ? NULL : request;
    }
    return NULL;
}

/* RFC 5040 4.8: before the first octet was read, the header is returned as it came. */
void terminate_returns_request(struct rule_context *ctx)
{
    struct read_request quoted;
    const struct flow_request *request = quoted_request(ctx, &quoted);
    uint8_t sent[READ_REQUEST_OCTETS];

    if (request == NULL || request->answered != 0)
        return;
    read_request_pack(&request->read, sent);
    if (memcmp(sent, terminate_of(ctx)->rdmap_header, sizeof(sent)) == 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_octets(ctx, sent, sizeof(sent)),
                  rule_octets(ctx, terminate_of(ctx)->rdmap_header, sizeof(sent)),
                  "The returned Read Request Header is not the one that was sent (RFC 5040 4.8)");
}

/* RFC 5040 4.8: after n octets, SinkTO is returned with n added. */
void terminate_returns_sink_to(struct rule_context *ctx)
{
    struct read_request quoted;
    const struct flow_request *request = quoted_request(ctx, &quoted);

    if (request != NULL && request->answered != 0)
        rule_judge_number(ctx, request->read.sink_to + request->answered, quoted.sink_to,
                          "SinkTO of the returned Read Request Header", "RFC 5040 4.8");
}

/* RFC 5040 4.8: and the size is what is left to transfer. */
void terminate_returns_size(struct rule_context *ctx)
{
    struct read_request quoted;
    const struct flow_request *request = quoted_request(ctx, &quoted);

    if (request != NULL && request->answered != 0)
        rule_judge_number(ctx, request->read.octets - request->answered, quoted.octets,
                          "RDMARDSZ of the returned Read Request Header", "RFC 5040 4.8");
}

/* ---- does the quote bear the error out? -------------------------------------------------------------------------- */

/* A quoted header that was really sent, by a message whose buffer model is that of its opcode. */
static const uint8_t *evidence(const struct rule_context *ctx)
{
    const uint8_t *header = terminate_of(ctx)->ddp_header;
    const struct rdmap_opcode_row *row;

    if (!readable(ctx) || header == NULL || heard(ctx, header, 0) == NULL)
        return NULL;
    row = &rdmap_opcode_rows[header[1] & 0xF];
    return row->name != NULL && row->tagged == (header[0] >> 7 != 0) ? header : NULL;
}

/*
 * By the draft over SCTP a device speaks version 1, or that of older drafts (SCTP-2.2-08): its Terminate has it, too.
 */
static unsigned version_in_force(const struct rule_context *ctx)
{
    bool draft = ctx->flow->sctp != NULL && ctx->flow->sctp->profile == IWARP_SCTP_DRAFT02;

    return draft ? ctx->event->ddp->segment.version : DDP_VERSION;
}

/*
 * RFC 5041 7.1 leaves the order of checks free, so that any error may be reported that is truly there
 * (DDP-7.1-23). Judged are those that the quoted header decides alone.
 */
void terminate_ddp_error_true(struct rule_context *ctx)
{
    const uint8_t *header = evidence(ctx);
    wire_result triple = terminate_of(ctx)->triple;
    bool tagged, holds;
    char text[128];

    if (header == NULL || wire_error_layer(triple) != 1 || wire_error_etype(triple) == 0)
        return;
    tagged = header[0] >> 7;
    /* Queue 3 is there with the extensions alone (RFC 7306 5), and whether these are in force no octet says. */
    if (!tagged && triple == TERM_DDP_INVALID_QN && octets_get32(header + 6) == DDP_QN_ATOMIC_RESPONSE)
        return;
    holds = wire_error_etype(triple) == (tagged ? 1u : 2u);
    if (triple == TERM_DDP_TAGGED_VERSION || triple == TERM_DDP_UNTAGGED_VERSION)
        holds = holds && (header[0] & 3) != version_in_force(ctx);
    else if (triple == TERM_DDP_INVALID_QN) /* also for an opcode that belongs on another queue (RDMAP-4.1-16) */
        holds = holds && octets_get32(header + 6) != rdmap_opcode_rows[header[1] & 0xF].qn;
    if (holds)
        rule_pass(ctx);
    else
        rule_fail(ctx, "an error that the quoted segment has",
                  rule_text(ctx, "%s", iwarp_terminate_describe(triple, text, sizeof(text))),
                  "The quoted DDP header (%s) has not the error that is reported (RFC 5041 7)",
                  rule_octets(ctx, header, tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS));
}

/* RFC 5040 4.8, Figure 9: "Invalid RDMAP version" means that RV was not valid. */
void terminate_version_error_true(struct rule_context *ctx)
{
    const uint8_t *header = evidence(ctx);

    if (header == NULL || terminate_of(ctx)->triple != TERM_RDMAP_VERSION)
        return;
    /* A device may quote the first segment of a message, whichever of them has the error (RDMAP-4.8-51). */
    if ((header[0] & 0x40) == 0)
        return;
    if (header[1] >> 6 != version_in_force(ctx))
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "a quoted header with another RV than %u", version_in_force(ctx)),
                  rule_text(ctx, "control octet 0x%02x", header[1]),
                  "Invalid RDMAP version is reported for a message whose version is right (RFC 5040 4.8)");
}
