/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Ready To Receive message: the first FPDU of an Initiator in the peer-to-peer model (RFC 6581 9.2, 9.3). All of
 * these look at the first FPDU after an accepting Reply with A = 1 to a Request with A = 1.
 */
#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"

/* The Reply in force when the event is the Initiator's first FPDU in the peer-to-peer model; else NULL. */
static const struct iwarp_mpa_start *peer_to_peer(const struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request = start_with_word(ctx, FLOW_FROM_INITIATOR);
    const struct iwarp_mpa_start *reply = start_with_word(ctx, FLOW_FROM_RESPONDER);

    if (request == NULL || reply == NULL || reply->rejected || !request->peer_to_peer || !reply->peer_to_peer)
        return NULL;
    if (ctx->event->ulpdu->index != 0 || !rule_from_start(ctx, FLOW_FROM_INITIATOR))
        return NULL;
    return reply;
}

static bool is_empty_message(const struct rule_context *ctx)
{
    const struct flow_rdmap *rdmap = ctx->event->rdmap;

    if (rdmap->message.opcode == IWARP_RDMAP_READ_REQUEST)
        return rdmap->header == FLOW_HEADER_READ_REQUEST && rdmap->header_result == WIRE_OK &&
               rdmap->read_request.octets == 0;
    return (rdmap->message.opcode == IWARP_RDMAP_SEND || rdmap->message.opcode == IWARP_RDMAP_WRITE) &&
           ctx->event->ddp->segment.payload_octets == 0;
}

static bool names_some(const struct iwarp_mpa_start *reply)
{
    return reply->rtr_send || reply->rtr_write || reply->rtr_read;
}

static bool selected(const struct iwarp_mpa_start *reply, unsigned opcode)
{
    return opcode == IWARP_RDMAP_SEND    ? reply->rtr_send
           : opcode == IWARP_RDMAP_WRITE ? reply->rtr_write
                                         : reply->rtr_read;
}

/* The capture cut the message before it says how much is read. */
static bool is_cut(const struct rule_context *ctx)
{
    return ctx->event->rdmap->message.opcode == IWARP_RDMAP_READ_REQUEST && ctx->event->ulpdu->cut &&
           ctx->event->rdmap->header == FLOW_HEADER_NONE;
}

/* RFC 6581 5: no other FPDU goes before the RTR message. A Terminate may come in its place (9.2, 9.3). */
void rtr_comes_first(struct rule_context *ctx)
{
    const struct flow_rdmap *rdmap = ctx->event->rdmap;

    if (peer_to_peer(ctx) == NULL || is_cut(ctx))
        return;
    if (is_empty_message(ctx))
        rule_pass(ctx);
    else if (rdmap->message.opcode != IWARP_RDMAP_TERMINATE)
        rule_fail(ctx, "a zero-length Send, RDMA Write or RDMA Read",
                  rule_text(ctx, "%s, %zu octets of payload",
                            rdmap->message.row->name == NULL ? "unknown opcode" : rdmap->message.row->name,
                            ctx->event->ddp->segment.payload_octets),
                  "The Initiator's first FPDU is not the RTR message that was negotiated (RFC 6581 5)");
}

/* RFC 6581 9.2: it is one of the kinds that the Reply names. */
void rtr_is_negotiated_kind(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *reply = peer_to_peer(ctx);
    unsigned opcode = ctx->event->rdmap->message.opcode;

    if (reply == NULL || !is_empty_message(ctx) || !names_some(reply)) /* EMPA-9.2-12: the Responder names none */
        return;
    if (selected(reply, opcode))
        rule_pass(ctx);
    else
        rule_fail(ctx,
                  rule_text(ctx, "one of:%s%s%s", reply->rtr_send ? " Send" : "", reply->rtr_write ? " RDMA Write" : "",
                            reply->rtr_read ? " RDMA Read" : ""),
                  ctx->event->rdmap->message.row->name,
                  "The Reply does not name this kind of RTR message (RFC 6581 9.2)");
}

/* RFC 6581 9.2 and RFC 5040: a zero-length Send, one segment on QN 0 with MSN 1 and MO 0. */
void rtr_send_form(struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;

    if (peer_to_peer(ctx) == NULL || ctx->event->rdmap->message.opcode != IWARP_RDMAP_SEND || !is_empty_message(ctx))
        return;
    if (segment->tagged || !segment->last || segment->qn != DDP_QN_SEND || segment->msn != DDP_FIRST_MSN ||
        segment->mo != 0)
        rule_fail(ctx, "T = 0, L = 1, QN 0, MSN 1, MO 0",
                  rule_text(ctx, "T = %d, L = %d, QN %u, MSN %u, MO %u", segment->tagged, segment->last, segment->qn,
                            segment->msn, segment->mo),
                  "The RTR Send has not the form of a zero-length message (RFC 6581 9.2)");
    else
        rule_pass(ctx);
}

/* RFC 6581 9.2: a zero-length RDMA Write, one segment; STag and TO are free (RFC 5041 5.2). */
void rtr_write_form(struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;

    if (peer_to_peer(ctx) == NULL || ctx->event->rdmap->message.opcode != IWARP_RDMAP_WRITE || !is_empty_message(ctx))
        return;
    if (!segment->tagged || !segment->last)
        rule_fail(ctx, "T = 1, L = 1", rule_text(ctx, "T = %d, L = %d", segment->tagged, segment->last),
                  "The RTR Write has not the form of a zero-length message (RFC 6581 9.2)");
    else
        rule_pass(ctx);
}

/* RFC 6581 9.2: an RDMA Read Request on QN 1 with MSN 1 and size 0. */
void rtr_read_form(struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;

    if (peer_to_peer(ctx) == NULL || ctx->event->rdmap->message.opcode != IWARP_RDMAP_READ_REQUEST ||
        !is_empty_message(ctx))
        return;
    if (segment->tagged || !segment->last || segment->qn != DDP_QN_READ_REQUEST || segment->msn != DDP_FIRST_MSN ||
        segment->mo != 0 || segment->payload_octets != READ_REQUEST_OCTETS)
        rule_fail(ctx, "T = 0, L = 1, QN 1, MSN 1, MO 0, 28 octets",
                  rule_text(ctx, "T = %d, L = %d, QN %u, MSN %u, MO %u, %zu octets", segment->tagged, segment->last,
                            segment->qn, segment->msn, segment->mo, segment->payload_octets),
                  "The RTR Read has not the form of a zero-length Read (RFC 6581 9.2)");
    else
        rule_pass(ctx);
}
