/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enhanced start-up frames (RFC 6581 6, 9 and 10). Relations between Reply and Request are judged only when both are
 * well-formed: what a Responder makes of a broken Request is another matter.
 */
#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"

/* The Reply that the event is, when both it and the Request before it carry the enhanced word. */
static const struct iwarp_mpa_start *enhanced_reply(const struct rule_context *ctx,
                                                    const struct iwarp_mpa_start **request)
{
    const struct flow_start *reply = ctx->event->start;

    *request = start_with_word(ctx, FLOW_FROM_INITIATOR);
    if (!start_is(ctx, IWARP_MPA_REPLY) || reply->result != WIRE_OK || *request == NULL ||
        !iwarp_mpa_start_has_word(&reply->frame))
        return NULL;
    return &reply->frame;
}

/* The same for an accepting Reply. */
static const struct iwarp_mpa_start *enhanced_accept(const struct rule_context *ctx,
                                                     const struct iwarp_mpa_start **request)
{
    const struct iwarp_mpa_start *reply = enhanced_reply(ctx, request);

    return reply != NULL && !reply->rejected ? reply : NULL;
}

/* RFC 6581 6: the four bits of Res that are left are zero on sending. */
void start_reserved_enhanced(struct rule_context *ctx)
{
    unsigned flags = start_flags(ctx);

    if (!start_whole_header(ctx) || start_revision(ctx) < MPA_REV_2)
        return;
    if (flags & 0x0F)
        rule_fail(ctx, "octet 16 AND 0x0F = 0", rule_text(ctx, "octet 16 = 0x%02x", flags),
                  "Reserved bits are set in a start-up frame (RFC 6581 6)");
    else
        rule_pass(ctx);
}

static void judge_revision(struct rule_context *ctx, enum iwarp_mpa_start_kind kind)
{
    if (!start_is(ctx, kind) || !(start_flags(ctx) & START_S))
        return;
    if (start_revision(ctx) < MPA_REV_2)
        rule_fail(ctx, "Rev >= 2 with S = 1", rule_text(ctx, "Rev = %u with S = 1", start_revision(ctx)),
                  "S is set in a frame whose revision has no enhanced features (RFC 6581 6)");
    else
        rule_pass(ctx);
}

/* RFC 6581 6: a Request with S = 1 has Rev 2 or more. */
void enhanced_request_revision(struct rule_context *ctx)
{
    judge_revision(ctx, IWARP_MPA_REQUEST);
}

/* RFC 6581 6: so has a Reply. */
void enhanced_reply_revision(struct rule_context *ctx)
{
    judge_revision(ctx, IWARP_MPA_REPLY);
}

/* RFC 6581 6: with S the Private Data begins with the four octets of the word. */
void enhanced_word_present(struct rule_context *ctx)
{
    unsigned length;

    if (!start_whole_header(ctx) || !(start_flags(ctx) & START_S) || start_revision(ctx) < MPA_REV_2)
        return;
    length = octets_get16(ctx->event->start->octets + 18);
    if (length < MPA_ENHANCED_OCTETS)
        rule_fail(ctx, "PD_Length >= 4", rule_text(ctx, "PD_Length = %u", length),
                  "S is set, but the Private Data has no room for the enhanced word (RFC 6581 6)");
    else
        rule_pass(ctx);
}

/* RFC 6581 6 and RFC 5044 7.1.2: a Request with S = 1 and no room for the word is not accepted; R = 1 is tolerated. */
void wordless_request_refused(struct rule_context *ctx)
{
    if (!start_is(ctx, IWARP_MPA_REPLY) || start_seen(ctx, FLOW_FROM_INITIATOR) == NULL)
        return;
    if (!ctx->peer->word_missing) {
        if (start_with_word(ctx, FLOW_FROM_INITIATOR) != NULL)
            rule_pass(ctx);
    } else if (start_flags(ctx) & START_R)
        rule_ambiguous(ctx, "TCP closed, or MPA Reply with R = 1", "MPA Reply with R = 1",
                       "A Request with S = 1 and less than four octets of Private Data was rejected by a Reply");
    else
        rule_fail(ctx, "TCP closed, or MPA Reply with R = 1", "MPA Reply with R = 0",
                  "A Request with S = 1 and no room for the enhanced word was accepted (RFC 6581 6)");
}

/*
 * RFC 6581 10: an enhanced Request is answered by an enhanced Reply, rejects included. A Reply of Rev 1 comes from a
 * Responder that knows RFC 5044 alone: it should have closed instead (EMPA-10-08, -10).
 */
void enhanced_request_answered(struct rule_context *ctx)
{
    if (!start_is(ctx, IWARP_MPA_REPLY) || start_with_word(ctx, FLOW_FROM_INITIATOR) == NULL)
        return;
    if (start_flags(ctx) & START_S)
        rule_pass(ctx);
    else if (start_revision(ctx) >= MPA_REV_2)
        rule_fail(ctx, "S = 1", "S = 0",
                  "A Rev 2 Responder answered an enhanced Request with a Reply that is not enhanced (RFC 6581 10)");
    else
        rule_warn(ctx, "S = 1, or TCP closed", rule_text(ctx, "S = 0, Rev = %u", start_revision(ctx)),
                  "A Responder without RFC 6581 answered an enhanced Request instead of closing (RFC 6581 10)");
}

/* RFC 6581 10: a Request without S is answered without S. */
void plain_request_answered(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request = start_good(ctx, FLOW_FROM_INITIATOR);

    if (!start_is(ctx, IWARP_MPA_REPLY) || request == NULL || request->enhanced)
        return;
    if (start_flags(ctx) & START_S)
        rule_fail(ctx, "S = 0", "S = 1", "The Reply has S = 1, but the Request had no enhanced word (RFC 6581 10)");
    else
        rule_pass(ctx);
}

/* RFC 6581 6 does not fix the Rev of a Reply to a Request with Rev 2 and S = 0: it records which one was taken. */
void plain_reply_revision(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request = start_good(ctx, FLOW_FROM_INITIATOR);

    if (!start_is(ctx, IWARP_MPA_REPLY) || request == NULL || request->enhanced || request->revision != MPA_REV_2)
        return;
    if (!(start_flags(ctx) & START_S) && (start_revision(ctx) == MPA_REV_1 || start_revision(ctx) == MPA_REV_2))
        rule_ambiguous(ctx, "Rev = 1 or Rev = 2", rule_text(ctx, "Rev = %u", start_revision(ctx)),
                       "Reply to a Request with Rev 2 and S = 0: no text fixes its revision");
    else
        rule_fail(ctx, "S = 0, Rev = 1 or 2",
                  rule_text(ctx, "S = %d, Rev = %u", (start_flags(ctx) & START_S) != 0, start_revision(ctx)),
                  "Reply to a Request with Rev 2 and S = 0 (RFC 6581 10)");
}

/*
 * RFC 6581 9.1: after a successful negotiation the Responder's IRD is the Initiator's ORD or more. A smaller one is for
 * the Initiator to live with (EMPA-9.1-05), so it is no more than a warning.
 */
void reply_ird_suffices(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply == NULL || request->ord == MPA_DEPTH_NOT_NEGOTIATED || reply->ird == MPA_DEPTH_NOT_NEGOTIATED)
        return;
    if (reply->ird < request->ord)
        rule_warn(ctx, rule_text(ctx, "IRD >= %u", request->ord), rule_text(ctx, "IRD = %u", reply->ird),
                  "The Responder's IRD is below the Initiator's ORD (RFC 6581 9.1)");
    else
        rule_pass(ctx);
}

/*
 * RFC 6581 9.1: the Responder's ORD is at most the Initiator's IRD: once a SHOULD (EMPA-9.1-10), two sentences later a
 * MUST.
 */
void reply_ord_at_most(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply == NULL || request->ird == MPA_DEPTH_NOT_NEGOTIATED || reply->ord == MPA_DEPTH_NOT_NEGOTIATED)
        return;
    if (reply->ord > request->ird)
        rule_fail(ctx, rule_text(ctx, "ORD <= %u", request->ird), rule_text(ctx, "ORD = %u", reply->ord),
                  "The Responder's ORD is above the Initiator's IRD (RFC 6581 9.1)");
    else
        rule_pass(ctx);
}

/* RFC 6581 9.1: ORD 0x3FFF in the Request is answered by IRD 0x3FFF. */
void reply_ird_not_negotiated(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply != NULL && request->ord == MPA_DEPTH_NOT_NEGOTIATED)
        rule_judge_number(ctx, MPA_DEPTH_NOT_NEGOTIATED, reply->ird, "IRD of the Reply to ORD 0x3FFF", "RFC 6581 9.1");
}

/* RFC 6581 9.1: IRD 0x3FFF in the Request is answered by ORD 0x3FFF. */
void reply_ord_not_negotiated(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply != NULL && request->ird == MPA_DEPTH_NOT_NEGOTIATED)
        rule_judge_number(ctx, MPA_DEPTH_NOT_NEGOTIATED, reply->ord, "ORD of the Reply to IRD 0x3FFF", "RFC 6581 9.1");
}

/* RFC 6581 9.1 leaves open whether 0x3FFF may answer a number. */
void reply_refuses_negotiation(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply == NULL)
        return;
    if ((reply->ird == MPA_DEPTH_NOT_NEGOTIATED && request->ord != MPA_DEPTH_NOT_NEGOTIATED) ||
        (reply->ord == MPA_DEPTH_NOT_NEGOTIATED && request->ird != MPA_DEPTH_NOT_NEGOTIATED))
        rule_warn(ctx, "IRD and ORD as numbers", rule_text(ctx, "IRD 0x%04x, ORD 0x%04x", reply->ird, reply->ord),
                  "The Reply answers a numeric depth with 0x3FFF: the RFC does not say whether this is allowed (RFC "
                  "6581 9.1)");
    else
        rule_pass(ctx);
}

/* RFC 6581 9.2: A = 1 is answered by A = 1. */
void reply_echoes_peer_to_peer(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply != NULL && request->peer_to_peer)
        rule_judge_number(ctx, 1, reply->peer_to_peer, "A of the Reply to a Request with A = 1", "RFC 6581 9.2");
}

/* RFC 6581 9.2: A = 0 is answered by A = 0. */
void reply_echoes_client_server(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply != NULL && !request->peer_to_peer)
        rule_judge_number(ctx, 0, reply->peer_to_peer, "A of the Reply to a Request with A = 0", "RFC 6581 9.2");
}

static void judge_no_kinds(struct rule_context *ctx, const struct iwarp_mpa_start *start)
{
    if (start->rtr_send || start->rtr_write || start->rtr_read)
        rule_fail(ctx, "B = C = D = 0",
                  rule_text(ctx, "B = %d, C = %d, D = %d", start->rtr_send, start->rtr_write, start->rtr_read),
                  "With A = 0 the flags for RTR messages are zero (RFC 6581 9.2)");
    else
        rule_pass(ctx);
}

/* RFC 6581 9.2: in a Request with A = 0 the flags B, C and D are zero. */
void request_without_kinds(struct rule_context *ctx)
{
    const struct flow_start *start = ctx->event->start;

    if (start_is(ctx, IWARP_MPA_REQUEST) && start->result == WIRE_OK && iwarp_mpa_start_has_word(&start->frame) &&
        !start->frame.peer_to_peer)
        judge_no_kinds(ctx, &start->frame);
}

/* RFC 6581 9.2: in a Reply too; what they mean in a rejecting one is not defined (EMPA-9.2-32). */
void reply_without_kinds(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply != NULL && !reply->peer_to_peer)
        judge_no_kinds(ctx, reply);
}

/* RFC 6581 9.2 does not forbid a Request with A = 1 that offers nothing. */
void request_offers_kinds(struct rule_context *ctx)
{
    const struct flow_start *start = ctx->event->start;

    if (!start_is(ctx, IWARP_MPA_REQUEST) || start->result != WIRE_OK || !iwarp_mpa_start_has_word(&start->frame) ||
        !start->frame.peer_to_peer)
        return;
    if (start->frame.rtr_send || start->frame.rtr_write || start->frame.rtr_read)
        rule_pass(ctx);
    else
        rule_ambiguous(ctx, "A = 1 with at least one of B, C, D", "A = 1, B = C = D = 0",
                       "The Request asks for the peer-to-peer model and offers no RTR message (RFC 6581 9.2)");
}

/* RFC 6581 9.2: a Responder supports at least one RTR message, and says which when it answers A = 1. */
void reply_selects_kinds(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request, *reply = enhanced_accept(ctx, &request);

    if (reply == NULL || !request->peer_to_peer || !reply->peer_to_peer)
        return;
    if (reply->rtr_send || reply->rtr_write || reply->rtr_read)
        rule_pass(ctx);
    else
        rule_fail(ctx, "at least one of B, C, D", "B = C = D = 0",
                  "The Reply confirms the peer-to-peer model and names no RTR message (RFC 6581 9.2)");
}
