/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic Operations and Immediate Data (RFC 7306 4 to 6; draft-ietf-storm-rdmap-ext-03 says the same of what is judged
 * here). Which profile a stream follows does not show on the wire, so nothing here depends on it.
 */
#include "conformance/rules/rule_context.h"

static const struct ddp_segment *segment_of(const struct rule_context *ctx)
{
    return &ctx->event->ddp->segment;
}

static const struct rdmap_opcode_row *row_of(const struct rule_context *ctx)
{
    return ctx->event->rdmap->message.row;
}

/*
 * The version of DDP and RDMAP that is due: 1. By the draft over SCTP a device may speak that of older drafts, in all of
 * its segments (SCTP-2.2-08).
 */
static unsigned version_due(const struct rule_context *ctx)
{
    bool draft = ctx->flow->sctp != NULL && ctx->flow->sctp->profile == IWARP_SCTP_DRAFT02;

    return draft && segment_of(ctx)->version == 0 ? 0 : RDMAP_VERSION;
}

/* --- Every one of the four (RFC 7306 4) --------------------------------------------------------------------------- */

/* RFC 7306 4.1: RV, Rsv and Opcode from the most significant bit of octet 1 on. */
void extension_control_order(struct rule_context *ctx)
{
    unsigned control = segment_of(ctx)->control;

    if (control >> 4 != version_due(ctx) << 2)
        rule_fail(ctx, "octet 1 = 0x48 to 0x4b", rule_text(ctx, "octet 1 = 0x%02x", control),
                  "The control octet of %s does not begin with RV 01b and Rsv 00b (RFC 7306 4.1)", row_of(ctx)->name);
    else
        rule_pass(ctx);
}

/* RFC 7306 4.1: all four are untagged, on QN 0, 0, 1 and 3. */
void extension_model_and_queue(struct rule_context *ctx)
{
    const struct ddp_segment *segment = segment_of(ctx);

    if (segment->tagged)
        rule_fail(ctx, "T = 0", "T = 1", "%s goes to a tagged buffer (RFC 7306 4.1)", row_of(ctx)->name);
    else
        rule_judge_number(ctx, row_of(ctx)->qn, segment->qn, "QN", "RFC 7306 4.1");
}

/* RFC 7306 4.1: RDMA version 01b in all four. */
void extension_version(struct rule_context *ctx)
{
    rule_because(ctx, HINT_VERSION);
    rule_judge_number(ctx, version_due(ctx), ctx->event->rdmap->message.version, "RV", "RFC 7306 4.1");
}

/* RFC 7306 4.1: the Invalidate STag field is zero. */
void extension_word_zero(struct rule_context *ctx)
{
    if (!segment_of(ctx)->tagged)
        rule_judge_number(ctx, 0, segment_of(ctx)->ulp_word, "Invalidate STag of a message that invalidates nothing",
                          "RFC 7306 4.1");
}

/* RFC 7306 4.1: all other control fields as RFC 5040 and 5041 have them: DV 01b, reserved bits zero. */
void extension_other_fields(struct rule_context *ctx)
{
    const struct ddp_segment *segment = segment_of(ctx);

    if (segment->reserved != 0 || segment->version != version_due(ctx) || ctx->event->rdmap->message.reserved != 0)
        rule_fail(ctx, "octet 0 AND 0x3f = 1, octet 1 AND 0x30 = 0",
                  rule_text(ctx, "octets %02x %02x", segment->header[0], segment->control),
                  "Reserved bits or the DDP version of %s do not have the values that RFC 7306 4.1 defines",
                  row_of(ctx)->name);
    else
        rule_pass(ctx);
}

/* A message in one segment, as everybody sends these; a split by DDP is legal, and not judged. */
static bool is_whole(const struct rule_context *ctx)
{
    return !segment_of(ctx)->tagged && segment_of(ctx)->last && segment_of(ctx)->mo == 0;
}

/* RFC 7306 4.2: each carries its header. */
void extension_has_header(struct rule_context *ctx)
{
    size_t octets = segment_of(ctx)->payload_octets;

    if (!is_whole(ctx))
        return;
    if (octets < row_of(ctx)->header_octets)
        rule_fail(ctx, rule_text(ctx, "%u octets", row_of(ctx)->header_octets), rule_text(ctx, "%zu octets", octets),
                  "%s does not hold its whole header (RFC 7306 4.2)", row_of(ctx)->name);
    else
        rule_pass(ctx);
}

/* RFC 7306 4.2: and no ULP payload. */
void extension_has_no_payload(struct rule_context *ctx)
{
    size_t octets = segment_of(ctx)->payload_octets;

    if (!is_whole(ctx) || octets < row_of(ctx)->header_octets)
        return;
    rule_judge_number(ctx, row_of(ctx)->header_octets, octets, "octets after the DDP header", "RFC 7306 4.2");
}

static void judge_untagged(struct rule_context *ctx, const char *section)
{
    if (segment_of(ctx)->tagged)
        rule_fail(ctx, "T = 0", "T = 1", "%s goes to a tagged buffer (%s)", row_of(ctx)->name, section);
    else
        rule_pass(ctx);
}

static void judge_queue(struct rule_context *ctx, const char *section)
{
    if (!segment_of(ctx)->tagged)
        rule_judge_number(ctx, row_of(ctx)->qn, segment_of(ctx)->qn, "QN", section);
}

/* The MSN continues its queue, or begins it. */
static void judge_msn(struct rule_context *ctx, uint32_t qn, const char *section)
{
    const struct flow_queue *queue = &ctx->half->queue[qn];

    if (segment_of(ctx)->tagged || segment_of(ctx)->qn != qn || !ctx->event->rdmap->first || !rule_continuous(ctx) ||
        (!queue->seen && !rule_from_start(ctx, ctx->direction)))
        return;
    rule_judge_number(ctx, queue->seen ? queue->next_msn : DDP_FIRST_MSN, segment_of(ctx)->msn,
                      "MSN of the queue's next message", section);
}

/* --- Atomic Requests (RFC 7306 5.2, 5.2.1) ------------------------------------------------------------------------ */

/* RFC 7306 5.2.1: the request references an untagged buffer. */
void atomic_request_is_untagged(struct rule_context *ctx)
{
    judge_untagged(ctx, "RFC 7306 5.2.1");
}

/* draft-ietf-storm-rdmap-ext-03 5.2.1: on QN 1. */
void atomic_request_queue(struct rule_context *ctx)
{
    judge_queue(ctx, "draft-ietf-storm-rdmap-ext-03 5.2.1");
}

/* RFC 7306 5.2: the same, as a MUST of its own. */
void atomic_request_queue_rfc(struct rule_context *ctx)
{
    judge_queue(ctx, "RFC 7306 5.2");
}

/* RFC 7306 5.2.1: one request takes one buffer: QN 1 counts it once, Reads before and after it. */
void atomic_request_takes_one(struct rule_context *ctx)
{
    judge_msn(ctx, DDP_QN_READ_REQUEST, "RFC 7306 5.2.1");
}

static const struct atomic_request *request_of(const struct rule_context *ctx)
{
    return ctx->event->rdmap->header == FLOW_HEADER_ATOMIC_REQUEST ? &ctx->event->rdmap->atomic_request : NULL;
}

/* RFC 7306 5.2.1: the 28 reserved bits are zero on sending. */
void atomic_request_reserved_zero(struct rule_context *ctx)
{
    if (request_of(ctx) != NULL)
        rule_judge_number(ctx, 0, request_of(ctx)->reserved, "reserved bits before AOpCode", "RFC 7306 5.2.1");
}

/* RFC 7306 5.2.1: FetchAdd 0, CmpSwap 2; the draft has Swap at 1. Neither gives 3 to 15 a meaning. */
void atomic_request_opcode(struct rule_context *ctx)
{
    unsigned opcode = request_of(ctx) != NULL ? request_of(ctx)->opcode : IWARP_ATOMIC_FETCH_ADD;

    if (opcode > IWARP_ATOMIC_COMPARE_SWAP)
        rule_fail(ctx, "AOpCode 0 (FetchAdd), 1 (Swap of the draft) or 2 (CmpSwap)",
                  rule_text(ctx, "AOpCode %u", opcode),
                  "An Atomic Request has an AOpCode that neither RFC 7306 nor the draft defines (RFC 7306 5.2.1)");
    else
        rule_pass(ctx);
}

/* Compare Data and Compare Mask have no use in FetchAdd and in the draft's Swap. */
static bool compares_nothing(const struct rule_context *ctx)
{
    return request_of(ctx) != NULL && request_of(ctx)->opcode <= IWARP_ATOMIC_SWAP;
}

/* RFC 7306 5.2.1: Compare Data is zero then. */
void atomic_compare_data_zero(struct rule_context *ctx)
{
    if (compares_nothing(ctx))
        rule_judge_number(ctx, 0, request_of(ctx)->compare_data, "Compare Data without a comparison", "RFC 7306 5.2.1");
}

/* RFC 7306 5.2.1: and Compare Mask is all ones. The RFC only says that it "is", the draft that it MUST be. */
void atomic_compare_mask_ones(struct rule_context *ctx)
{
    if (!compares_nothing(ctx))
        return;
    if (request_of(ctx)->compare_mask != UINT64_MAX)
        rule_warn(ctx, "Compare Mask 0xffffffffffffffff",
                  rule_text(ctx, "0x%016llx", (unsigned long long)request_of(ctx)->compare_mask),
                  "Compare Mask is not all ones in an operation that compares nothing (RFC 7306 5.2.1)");
    else
        rule_pass(ctx);
}

/* --- Atomic Responses (RFC 7306 5, 5.2.2) ------------------------------------------------------------------------- */

/* RFC 7306 5.2.2: identifier and value, 12 octets. */
void atomic_response_header(struct rule_context *ctx)
{
    if (is_whole(ctx))
        rule_judge_number(ctx, ATOMIC_RESPONSE_OCTETS, segment_of(ctx)->payload_octets,
                          "octets of the Atomic Response Header", "RFC 7306 5.2.2");
}

/* RFC 7306 4 speaks of 32 octets "per Figure 5", Figure 6 shows 12: a sender that followed section 4 is found here. */
void atomic_response_not_32(struct rule_context *ctx)
{
    enum { BY_THE_TEXT = 32 };

    if (!is_whole(ctx))
        return;
    if (segment_of(ctx)->payload_octets == BY_THE_TEXT)
        rule_fail(ctx, "12 octets", "32 octets",
                  "The Atomic Response Header has the wrong length that the text of RFC 7306 4 gives; Figure 6 shows "
                  "12 octets");
    else if (segment_of(ctx)->payload_octets == ATOMIC_RESPONSE_OCTETS)
        rule_pass(ctx);
}

/* RFC 7306 5.2.2: the response references an untagged buffer. */
void atomic_response_is_untagged(struct rule_context *ctx)
{
    judge_untagged(ctx, "RFC 7306 5.2.2");
}

/* draft-ietf-storm-rdmap-ext-03 5.2.2: on QN 3. */
void atomic_response_queue(struct rule_context *ctx)
{
    judge_queue(ctx, "draft-ietf-storm-rdmap-ext-03 5.2.2");
}

/* RFC 7306 5.2: the same, as a MUST of its own. */
void atomic_response_queue_rfc(struct rule_context *ctx)
{
    judge_queue(ctx, "RFC 7306 5.2");
}

/* RFC 7306 5: untagged model and QN 3. */
void atomic_response_model(struct rule_context *ctx)
{
    if (segment_of(ctx)->tagged)
        judge_untagged(ctx, "RFC 7306 5");
    else
        judge_queue(ctx, "RFC 7306 5");
}

/* RFC 7306 5.2.2: responses have a count of their own, from 1. */
void atomic_response_msn(struct rule_context *ctx)
{
    judge_msn(ctx, DDP_QN_ATOMIC_RESPONSE, "RFC 7306 5.2.2");
}

/* The oldest Atomic Request of the other side that waits, when all of them are known; else NULL. */
static const struct flow_request *oldest_atomic(const struct rule_context *ctx)
{
    if (!rule_from_start(ctx, FLOW_FROM_INITIATOR) || !rule_from_start(ctx, FLOW_FROM_RESPONDER) ||
        ctx->other->requests_lost || ctx->side->unsure || ctx->peer->unsure ||
        ctx->event->rdmap->header != FLOW_HEADER_ATOMIC_RESPONSE)
        return NULL;
    for (uint32_t i = 0; i < ctx->other->request_count; i++)
        if (flow_request_at(ctx->other, i)->opcode == IWARP_RDMAP_ATOMIC_REQUEST)
            return flow_request_at(ctx->other, i);
    return NULL;
}

/* Not the oldest request, but another one has the response's identifier. */
static bool answers_later(const struct rule_context *ctx, const struct flow_request *oldest)
{
    const struct flow_request *request = ctx->event->rdmap->request;

    return request != NULL && request != oldest && request->atomic_id == ctx->event->rdmap->atomic_response.id;
}

/* RFC 7306 5.2.2: Original Request Identifier is that of the request. */
void atomic_response_echoes_id(struct rule_context *ctx)
{
    const struct flow_request *oldest = oldest_atomic(ctx);

    if (oldest != NULL && !answers_later(ctx, oldest))
        rule_judge_number(ctx, oldest->atomic_id, ctx->event->rdmap->atomic_response.id, "Original Request Identifier",
                          "RFC 7306 5.2.2");
}

/* RFC 7306 5.2.2: responses go in the order of their requests. */
void atomic_responses_in_order(struct rule_context *ctx)
{
    const struct flow_request *oldest = oldest_atomic(ctx);
    uint32_t id = ctx->event->rdmap->atomic_response.id;

    if (oldest == NULL)
        return;
    if (answers_later(ctx, oldest))
        rule_fail(ctx, rule_text(ctx, "identifier 0x%08x", oldest->atomic_id),
                  rule_text(ctx, "identifier 0x%08x of a later request", id),
                  "An Atomic Response overtakes another one (RFC 7306 5.2.2)");
    else if (oldest->atomic_id == id)
        rule_pass(ctx);
}

/* --- Immediate Data (RFC 7306 6.3) -------------------------------------------------------------------------------- */

/* RFC 7306 6.3: Immediate Data references an untagged buffer. */
void immediate_is_untagged(struct rule_context *ctx)
{
    judge_untagged(ctx, "RFC 7306 6.3");
}

/* RFC 7306 6.3: on QN 0, where Sends are counted too. */
void immediate_queue(struct rule_context *ctx)
{
    judge_queue(ctx, "RFC 7306 6.3");
}

/* RFC 7306 6.3: eight octets, no more and no less. */
void immediate_is_eight(struct rule_context *ctx)
{
    if (is_whole(ctx))
        rule_judge_number(ctx, IWARP_IMMEDIATE_OCTETS, segment_of(ctx)->payload_octets, "octets of Immediate Data",
                          "RFC 7306 6.3");
}
