/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RPC-over-RDMA version 1 (RFC 8166, RFC 8797): chunk lists, and tagged messages to the buffers that they advertise. A
 * Responder reads and writes what the Call names, and does so before its Reply.
 */
#include "conformance/flow/ulp/flow_rpcrdma.h"
#include "conformance/rules/rule_access.h"

typedef const struct flow_rpcrdma_message message;

static message *message_of(const struct rule_context *ctx)
{
    return &ctx->event->rdmap->rpcrdma;
}

/* ---- lists of one message ---------------------------------------------------------------------------------------- */

void rpcrdma_lists_end(struct rule_context *ctx)
{
    message *said = message_of(ctx);
    const struct flow_ddp *ddp = ctx->event->ddp;
    bool all = ctx->event->rdmap->last && ddp->payload_have == ddp->segment.payload_octets;

    if (said->kind == FLOW_RPCRDMA_NONE)
        return;
    if (said->lists == RPCRDMA_ENDED)
        rule_pass(ctx);
    else if (said->kind == FLOW_RPCRDMA_SHORT && all)
        rule_fail(ctx, "a header of 16 octets", rule_text(ctx, "%zu octets", ddp->payload_have),
                  "The message is too short for the fixed header (RFC 8166 4)");
    else if (said->lists == RPCRDMA_BROKEN)
        rule_fail(ctx, "0 or 1 in front of each element", "another word",
                  "The chunk lists are not encoded as their XDR says (RFC 8166 4, 4.7)");
    else if (said->lists == RPCRDMA_CUT && all)
        rule_fail(ctx, "chunk lists that end within the message", "they reach beyond it",
                  "The chunk lists are longer than the message (RFC 8166 4, 4.7)");
}

void rpcrdma_position_aligned(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (said->kind == FLOW_RPCRDMA_NONE || said->segments[RPCRDMA_READ_LIST] == 0)
        return;
    if (said->odd_position == 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Position is a multiple of 4", rule_text(ctx, "Position = %u", said->odd_position),
                  "The Position of a read segment is not aligned to 4 octets (RFC 8166 3.4.5)");
}

void rpcrdma_reply_reads_nothing(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (said->kind != FLOW_RPCRDMA_REPLY || said->lists != RPCRDMA_ENDED)
        return;
    if (said->segments[RPCRDMA_READ_LIST] == 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, "an empty Read list", rule_text(ctx, "%u read segments", said->segments[RPCRDMA_READ_LIST]),
                  "The Read list of a Reply is not empty (RFC 8166 4.3.1)");
}

/* What conveys the RPC message that an RDMA_NOMSG does not have. */
void rpcrdma_nomsg_holds(struct rule_context *ctx)
{
    message *said = message_of(ctx);
    bool calls = said->kind == FLOW_RPCRDMA_CALL;

    if ((!calls && said->kind != FLOW_RPCRDMA_REPLY) || said->header.procedure != RPCRDMA_NOMSG ||
        said->lists != RPCRDMA_ENDED)
        return;
    if (calls ? said->zero_octets != 0 : said->reply_octets != 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, calls ? "a Read chunk of Position 0" : "a Reply chunk with octets", "none",
                  "No chunk of the RDMA_NOMSG holds the RPC message (RFC 8166 4.2.4, 3.5.3)");
}

/* ---- lists of a Reply against those of its Call (3.4.6, 4.3.3) --------------------------------------------------- */

/* The Call that a Reply answers, where both have lists that could be read. */
static const struct flow_rpcrdma_call *answered(const struct rule_context *ctx)
{
    message *said = message_of(ctx);
    const struct flow_rpcrdma_call *call;

    if (said->kind != FLOW_RPCRDMA_REPLY || said->lists != RPCRDMA_ENDED || !rule_buffers_known(ctx))
        return NULL;
    call = flow_rpcrdma_waiting(flow_rpcrdma_of(ctx->flow), flow_reverse(ctx->direction), said->header.xid);
    return call != NULL && call->listed ? call : NULL;
}

/* What the Call advertised at a segment's place. */
static const struct flow_buffer *provided(const struct rule_context *ctx, const struct rpcrdma_segment *segment)
{
    struct flow_buffer place = {.owner = (uint8_t)flow_reverse(ctx->direction),
                                .exchange = message_of(ctx)->header.xid,
                                .list = (uint8_t)segment->list,
                                .chunk = (uint16_t)segment->chunk,
                                .index = (uint16_t)segment->index};

    return flow_buffers_at(ctx->flow->ulp->buffers, &place);
}

/* Goes through the segments of one list of the Reply: the first that is not as the Call's, or says more than moved. */
static bool find_odd(const struct rule_context *ctx, enum rpcrdma_list list, bool moved, struct rpcrdma_segment *odd)
{
    struct rpcrdma_walk walk;

    flow_rpcrdma_walk_begin(ctx->event, &walk);
    while (rpcrdma_walk_next(&walk, odd)) {
        const struct flow_buffer *buffer = odd->list == list ? provided(ctx, odd) : NULL;

        if (odd->list != list || (buffer == NULL && moved))
            continue;
        if (buffer == NULL ||
            (moved ? odd->octets > buffer->moved
                   : odd->stag != buffer->stag || odd->to != buffer->to || odd->octets > buffer->octets))
            return true;
    }
    return false;
}

/* The Reply has the list's segments as the Call has them. */
static void judge_copied(struct rule_context *ctx, enum rpcrdma_list list, const char *what, const char *section)
{
    const struct flow_rpcrdma_call *call = answered(ctx);
    message *said = message_of(ctx);
    struct rpcrdma_segment odd;
    bool writes = list == RPCRDMA_WRITE_LIST;
    uint32_t due, is;

    if (call == NULL)
        return;
    due = writes ? call->chunks : call->replies;
    is = writes ? said->chunks : said->replies;
    if (due == 0 && is == 0)
        return;
    if (due != is || call->segments[list] != said->segments[list])
        rule_fail(ctx, rule_text(ctx, "%u, of %u segments", due, call->segments[list]),
                  rule_text(ctx, "%u, of %u segments", is, said->segments[list]),
                  "The %s of the Reply is not that of its Call (RFC 8166 %s)", what, section);
    else if (!find_odd(ctx, list, false, &odd))
        rule_pass(ctx);
    else
        rule_fail(
            ctx, "Handle and Offset of the Call, and no greater Length",
            rule_text(ctx, "Handle 0x%08x Offset 0x%llx Length %u", odd.stag, (unsigned long long)odd.to, odd.octets),
            "The %s of the Reply is not that of its Call (RFC 8166 %s)", what, section);
}

void rpcrdma_write_list_copied(struct rule_context *ctx)
{
    judge_copied(ctx, RPCRDMA_WRITE_LIST, "Write list", "3.4.6");
}

void rpcrdma_reply_chunk_copied(struct rule_context *ctx)
{
    judge_copied(ctx, RPCRDMA_REPLY_CHUNK, "Reply chunk", "4.3.3");
}

/* A length says what is returned: so much was written before. */
static void judge_written(struct rule_context *ctx, enum rpcrdma_list list, const char *section)
{
    const struct flow_rpcrdma_call *call = answered(ctx);
    const struct flow_buffer *buffer;
    struct rpcrdma_segment odd;

    if (call == NULL || message_of(ctx)->segments[list] == 0)
        return;
    if (!find_odd(ctx, list, true, &odd)) {
        rule_pass(ctx);
        return;
    }
    buffer = provided(ctx, &odd);
    rule_fail(ctx, rule_text(ctx, "%u octets written to Handle 0x%08x", odd.octets, odd.stag),
              rule_text(ctx, "%llu", (unsigned long long)(buffer != NULL ? buffer->moved : 0)),
              "The Reply says that more octets are returned than were written (RFC 8166 %s)", section);
}

void rpcrdma_write_list_written(struct rule_context *ctx)
{
    judge_written(ctx, RPCRDMA_WRITE_LIST, "3.4.6");
}

void rpcrdma_reply_chunk_written(struct rule_context *ctx)
{
    judge_written(ctx, RPCRDMA_REPLY_CHUNK, "4.3.3");
}

/* ---- tagged messages (3.4.3 to 3.5.3) ---------------------------------------------------------------------------- */

void rpcrdma_access_advertised(struct rule_context *ctx)
{
    const struct rule_access judged = {FLOW_ULP_RPCRDMA, FLOW_BUFFER_READ | FLOW_BUFFER_WRITE, "RFC 8166 3.4.3"};
    const struct flow_buffer *found;
    struct flow_access access;

    if (rule_access_is_wrong(ctx, &judged, FLOW_BUFFER_UNKNOWN, &access, &found))
        rule_fail_unless_lost(ctx,
                              found == NULL                       ? "an STag that a Call has advertised"
                              : access.access == FLOW_BUFFER_READ ? "an STag of a Read list"
                                                                  : "an STag of a Write list or Reply chunk",
                              rule_access_text(ctx, &access),
                              "Memory is %s that no Call has advertised for that (RFC 8166 3.4.3)",
                              access.access == FLOW_BUFFER_READ ? "read" : "written");
}

void rpcrdma_access_inside(struct rule_context *ctx)
{
    rule_access_inside(ctx,
                       &(struct rule_access){FLOW_ULP_RPCRDMA, FLOW_BUFFER_READ | FLOW_BUFFER_WRITE, "RFC 8166 3.4.3"});
}

/* After the Reply the Requester may have released the memory, and an STag that was invalidated is no more. */
void rpcrdma_reads_before_reply(struct rule_context *ctx)
{
    rule_access_in_time(ctx, &(struct rule_access){FLOW_ULP_RPCRDMA, FLOW_BUFFER_READ, "RFC 8166 3.4.5.1"},
                        "the Reply");
}

void rpcrdma_writes_before_reply(struct rule_context *ctx)
{
    rule_access_in_time(ctx, &(struct rule_access){FLOW_ULP_RPCRDMA, FLOW_BUFFER_WRITE, "RFC 8166 3.5.2"}, "the Reply");
}

/* ---- remote invalidation (RFC 8797 4.1) -------------------------------------------------------------------------- */

static bool invalidates(const struct rule_context *ctx)
{
    return rdmap_opcode_rows[ctx->event->rdmap->message.opcode].invalidates;
}

void rpcrdma_invalidate_agreed(struct rule_context *ctx)
{
    const struct flow_rpcrdma *rpcrdma = flow_rpcrdma_of(ctx->flow);

    if (message_of(ctx)->kind != FLOW_RPCRDMA_REPLY || !rpcrdma->starts_known || rpcrdma->invalidates)
        return;
    if (!invalidates(ctx))
        rule_pass(ctx);
    else
        rule_fail(ctx, "a Send without Invalidate", "a Send with Invalidate",
                  "A Reply invalidates an STag although not both sides have said that they support it (RFC 8797 4.1)");
}

void rpcrdma_invalidate_own(struct rule_context *ctx)
{
    uint32_t stag = ctx->event->ddp->segment.ulp_word;

    if (!invalidates(ctx) || answered(ctx) == NULL)
        return;
    if (flow_buffers_name(ctx->flow->ulp->buffers, flow_reverse(ctx->direction), message_of(ctx)->header.xid, stag))
        rule_pass(ctx);
    else
        rule_fail(ctx, "an STag of the Call that is answered", rule_text(ctx, "STag 0x%08x", stag),
                  "The Reply invalidates an STag that belongs to no chunk of its Call (RFC 8797 4.1)");
}
