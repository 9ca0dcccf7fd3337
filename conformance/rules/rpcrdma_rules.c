/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RPC-over-RDMA version 1 (RFC 8166, RFC 8797): what messages say, credits, inline thresholds. Judged only where
 * conformance/flow/ulp recognised it. rpcrdma_chunk_rules.c has chunk lists and the tagged messages to them.
 */
#include "conformance/flow/ulp/flow_rpcrdma.h"
#include "conformance/rules/rule_context.h"

typedef const struct flow_rpcrdma_message message;

static message *message_of(const struct rule_context *ctx)
{
    return &ctx->event->rdmap->rpcrdma;
}

static bool is(const struct rule_context *ctx, enum flow_rpcrdma_kind kind)
{
    return message_of(ctx)->kind == kind;
}

/* A message whose fixed header is there. */
static bool has_header(message *said)
{
    return said->kind != FLOW_RPCRDMA_NONE && said->kind != FLOW_RPCRDMA_SHORT;
}

static const struct flow_rpcrdma_side *requester_side(const struct rule_context *ctx, enum flow_direction direction)
{
    return &ctx->flow->ulp->rpcrdma->side[direction];
}

/* Calls and Replies so far are known, as far as the capture shows. */
static bool whole(const struct rule_context *ctx)
{
    return flow_rpcrdma_whole(ctx->flow) && !ctx->side->unsure && !ctx->peer->unsure;
}

/* ---- credits (3.3.1, 3.3.3) -------------------------------------------------------------------------------------- */

/* What the Requester was granted at most by what it may have received. */
static uint32_t granted_to(const struct rule_context *ctx, const struct flow_rpcrdma_side *side)
{
    bool reduced = ctx->event->received != 0 && ctx->event->received >= side->reduced_at;
    uint32_t granted = side->granted_before > side->granted && !reduced ? side->granted_before : side->granted;

    return granted != 0 ? granted : 1;
}

static bool is_new_call(const struct rule_context *ctx)
{
    return is(ctx, FLOW_RPCRDMA_CALL) && whole(ctx) &&
           flow_rpcrdma_waiting(flow_rpcrdma_of(ctx->flow), ctx->direction, message_of(ctx)->header.xid) == NULL;
}

void rpcrdma_credits_held(struct rule_context *ctx)
{
    const struct flow_rpcrdma_side *side;
    uint32_t granted;

    if (!is_new_call(ctx))
        return;
    side = requester_side(ctx, ctx->direction);
    if (side->replies == 0)
        return;
    granted = granted_to(ctx, side);
    if (side->waiting < granted)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, rule_text(ctx, "at most %u Calls without a Reply", granted),
                              rule_text(ctx, "%u", side->waiting + 1),
                              "A Call is sent although as many wait for a Reply as the Responder has granted credits "
                              "(RFC 8166 3.3.1)");
}

/* Of the Initiator: no text says what a Responder may send at first when it calls (RFC 8167 4.1). */
void rpcrdma_first_credit(struct rule_context *ctx)
{
    const struct flow_rpcrdma_side *side;

    if (!is_new_call(ctx))
        return;
    side = requester_side(ctx, ctx->direction);
    if (side->replies != 0)
        return;
    if (side->waiting == 0)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "one Call before the first Reply", rule_text(ctx, "%u", side->waiting + 1),
                              "A Call is sent before a Reply to the first one has told how many credits there are "
                              "(RFC 8166 3.3.3)");
}

void rpcrdma_grant_not_zero(struct rule_context *ctx)
{
    if (!is(ctx, FLOW_RPCRDMA_REPLY))
        return;
    if (message_of(ctx)->header.credits != 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Credits >= 1", "Credits = 0",
                  "A Reply grants no credits, so that no Call may follow (RFC 8166 3.3.1)");
}

/* ---- inline thresholds (3.3.2, 3.3.3; RFC 8797) ------------------------------------------------------------------ */

/* Found in the segment that exceeds it. */
static void judge_inline(struct rule_context *ctx, const char *section)
{
    const struct flow_rdmap *rdmap = ctx->event->rdmap;
    uint32_t most = flow_rpcrdma_of(ctx->flow)->inline_max[ctx->direction];
    uint64_t before = rdmap->message_octets - ctx->event->ddp->segment.payload_octets;

    if (most == 0 || !rule_continuous(ctx))
        return;
    if (rdmap->message_octets > most && before <= most)
        rule_fail(
            ctx, rule_text(ctx, "at most %u octets", most),
            rule_text(ctx, "%llu octets%s", (unsigned long long)rdmap->message_octets, rdmap->last ? "" : " and more"),
            "The Send is longer than the inline threshold (%s)", section);
    else if (rdmap->last && rdmap->message_octets <= most)
        rule_pass(ctx);
}

/* WARN: another mechanism than RFC 8797's may have named a larger one, which 3.3.3 permits and no frame shows. */
void rpcrdma_inline_least(struct rule_context *ctx)
{
    const struct flow_rpcrdma *rpcrdma = flow_rpcrdma_of(ctx->flow);

    if (rpcrdma != NULL && !rpcrdma->agreed)
        judge_inline(ctx, "RFC 8166 3.3.3: 1024 octets, as the start-up frames tell of no other");
}

void rpcrdma_inline_agreed(struct rule_context *ctx)
{
    const struct flow_rpcrdma *rpcrdma = flow_rpcrdma_of(ctx->flow);

    if (rpcrdma != NULL && rpcrdma->agreed)
        judge_inline(ctx, "RFC 8797 4.2: the sender's Send Size, the receiver's Receive Size");
}

/* ---- Private Data (RFC 8797) ------------------------------------------------------------------------------------- */

/* With the side's first message: before, nothing shows whose Private Data it is. */
void rpcrdma_private_reserved(struct rule_context *ctx)
{
    const struct flow_rpcrdma_side *side;

    if (flow_rpcrdma_of(ctx->flow) == NULL || is(ctx, FLOW_RPCRDMA_NONE))
        return;
    side = requester_side(ctx, ctx->direction);
    if (side->spoke || !side->has_private)
        return;
    if (!side->said.reserved_set)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Reserved = 0", "bits of Reserved are set",
                  "The Private Data of this side has bits set that are reserved (RFC 8797 4)");
}

/* ---- the fixed header (4.2) -------------------------------------------------------------------------------------- */

void rpcrdma_version(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (!has_header(said) || said->kind == FLOW_RPCRDMA_ERROR)
        return;
    if (said->header.version == RPCRDMA_VERSION)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Version = 1", rule_text(ctx, "Version = %u", said->header.version),
                  "The message is of another version than those before it (RFC 8166 4.2.2)");
}

void rpcrdma_xid(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (said->kind == FLOW_RPCRDMA_NONE || !said->has_rpc)
        return;
    if (said->rpc_xid == said->header.xid)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "XID 0x%08x", said->rpc_xid), rule_text(ctx, "XID 0x%08x", said->header.xid),
                  "The XID differs from that of the RPC message (RFC 8166 4.2.1)");
}

/* Says whether a procedure that is not to be used is not. */
static void judge_procedure(struct rule_context *ctx, uint32_t procedure, const char *section)
{
    message *said = message_of(ctx);

    if (!has_header(said))
        return;
    if (said->header.procedure != procedure)
        rule_pass(ctx);
    else
        rule_fail(ctx, "RDMA_MSG, RDMA_NOMSG or RDMA_ERROR", wire_name_of(rpcrdma_procedure_names, procedure),
                  "%s is not to be sent (RFC 8166 %s)", wire_name_of(rpcrdma_procedure_names, procedure), section);
}

void rpcrdma_no_msgp(struct rule_context *ctx)
{
    judge_procedure(ctx, RPCRDMA_MSGP, "4.6.1");
}

void rpcrdma_no_done(struct rule_context *ctx)
{
    judge_procedure(ctx, RPCRDMA_DONE, "4.6.2");
}

void rpcrdma_procedure_defined(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (!has_header(said))
        return;
    if (said->header.procedure < RPCRDMA_PROCEDURES)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Procedure 0 to 4", rule_text(ctx, "Procedure %u", said->header.procedure),
                  "The procedure is not defined (RFC 8166 4.1.2)");
}

/* ---- RDMA_ERROR (4.2.4, 4.5) ------------------------------------------------------------------------------------- */

void rpcrdma_error_by_responder(struct rule_context *ctx)
{
    if (!is(ctx, FLOW_RPCRDMA_ERROR) || !whole(ctx))
        return;
    if (requester_side(ctx, flow_reverse(ctx->direction))->calls != 0)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "RDMA_ERROR answers a Call of the other side", "the other side has sent none",
                              "A Requester sends an RDMA_ERROR (RFC 8166 4.2.4)");
}

void rpcrdma_error_version(struct rule_context *ctx)
{
    message *said = message_of(ctx);
    const struct flow_rpcrdma_call *call;

    if (said->kind != FLOW_RPCRDMA_ERROR)
        return;
    call = flow_rpcrdma_waiting(flow_rpcrdma_of(ctx->flow), flow_reverse(ctx->direction), said->header.xid);
    if (call != NULL)
        rule_judge_number(ctx, call->version, said->header.version, "Version", "RFC 8166 4.5: that of the request");
}

void rpcrdma_error_code(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (said->kind != FLOW_RPCRDMA_ERROR || !said->has_error)
        return;
    if (wire_name_of(rpcrdma_error_names, said->error) != NULL)
        rule_pass(ctx);
    else
        rule_fail(ctx, "ERR_VERS (1) or ERR_CHUNK (2)", rule_text(ctx, "%u", said->error),
                  "The RDMA_ERROR has an error code that is not defined (RFC 8166 4.5)");
}
