/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA start-up frames and the order in which start-up goes (RFC 5044 7.1). */
#include <string.h>

#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"

static void judge_key(struct rule_context *ctx, enum iwarp_mpa_start_kind kind, const char *key, const char *section)
{
    const struct flow_start *start = ctx->event->start;
    size_t count = start->octet_count < MPA_KEY_OCTETS ? start->octet_count : MPA_KEY_OCTETS;

    if (start->frame.kind != kind || start->octets == NULL || count == 0)
        return;
    if (memcmp(start->octets, key, count) != 0)
        rule_fail(ctx, key, rule_octets(ctx, start->octets, count), "The start-up frame's Key is not \"%s\" (%s)", key,
                  section);
    else if (count == MPA_KEY_OCTETS)
        rule_pass(ctx);
}

/* RFC 5044 7.1.1: the Initiator's Key is "MPA ID Req Frame". */
void request_key(struct rule_context *ctx)
{
    judge_key(ctx, IWARP_MPA_REQUEST, MPA_KEY_REQUEST, "RFC 5044 7.1.1");
}

/* RFC 5044 7.1.1: the Responder's Key is "MPA ID Rep Frame". */
void reply_key(struct rule_context *ctx)
{
    judge_key(ctx, IWARP_MPA_REPLY, MPA_KEY_REPLY, "RFC 5044 7.1.1");
}

/* RFC 5044 7.1.1: R is zero in a Request. */
void request_not_rejected(struct rule_context *ctx)
{
    if (!start_is(ctx, IWARP_MPA_REQUEST))
        return;
    if (start_flags(ctx) & START_R)
        rule_fail(ctx, "R = 0", "R = 1", "R is set in an MPA Request (RFC 5044 7.1.1)");
    else
        rule_pass(ctx);
}

/*
 * RFC 5044 7.1.1: Res is zero on sending; all five bits in a Rev 1 frame. RFC 6581 6 made the first of them S from
 * Rev 2
 * on (start_reserved_enhanced()). Rev 0 is of the RDMA Consortium and not judged.
 */
void start_reserved(struct rule_context *ctx)
{
    unsigned flags = start_flags(ctx);

    if (!start_whole_header(ctx) || start_revision(ctx) != MPA_REV_1)
        return;
    if (flags & 0x1F)
        rule_fail(ctx, "octet 16 AND 0x1F = 0", rule_text(ctx, "octet 16 = 0x%02x", flags),
                  "Reserved bits are set in a Rev 1 start-up frame (RFC 5044 7.1.1)");
    else
        rule_pass(ctx);
}

/*
 * RFC 5044 C.1, C.2.4, C.2.5: Rev 0 belongs to a sender that has Markers and CRCs: M and C of a Request, M of a Reply.
 * Without them the frame is neither the RDMA Consortium's nor RFC 5044's. Whether such a sender is an RDMAC one, nobody
 * says.
 */
static void judge_revision_0(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *start = &ctx->event->start->frame;
    bool request = start->kind == IWARP_MPA_REQUEST;

    if (!start->markers || (request && !start->crc))
        rule_fail(ctx, request ? "Rev = 1, or Rev = 0 with M = 1 C = 1" : "Rev = 1, or Rev = 0 with M = 1",
                  rule_text(ctx, "Rev = 0 with M = %d C = %d", start->markers, start->crc),
                  "A start-up frame of Rev 0 has not the bits of an RDMA Consortium's (RFC 5044 7.1.1, C.1)");
}

/*
 * RFC 5044 7.1.1: Rev is 1. With RFC 6581, Rev 2 without S is legal in a Request (EMPA-6-08) and in the Reply to one
 * (EMPA-6-15); frames with S are RFC 6581's. A Reply may differ in Rev only downwards (RFC 5044 C.1).
 */
void start_revision_plain(struct rule_context *ctx)
{
    const struct flow_start *request = start_seen(ctx, FLOW_FROM_INITIATOR);
    unsigned revision = start_revision(ctx);

    if (!start_whole_header(ctx) || (start_flags(ctx) & START_S))
        return;
    if (revision == MPA_REV_RDMAC) {
        judge_revision_0(ctx);
        return;
    }
    if (ctx->event->start->frame.kind == IWARP_MPA_REPLY) {
        if (request == NULL || request->result != WIRE_OK || request->frame.enhanced)
            return;
        if (revision > MPA_REV_1 && revision > request->frame.revision) {
            rule_fail(ctx, rule_text(ctx, "Rev = %u", request->frame.revision), rule_text(ctx, "Rev = %u", revision),
                      "The Reply's Rev is above that of the Request that it answers (RFC 5044 7.1.1)");
            return;
        }
    } else if (revision == MPA_REV_ERDMA) {
        rule_fail(ctx, "Rev = 1", "Rev = 129, which is erdma's",
                  "The Request begins the start-up of Alibaba's erdma, which no text defines (RFC 5044 7.1.1)");
        return;
    } else if (revision > MPA_REV_2) {
        rule_fail(ctx, "Rev = 1", rule_text(ctx, "Rev = %u", revision),
                  "A Request without S has a revision that no text defines (RFC 5044 7.1.1)");
        return;
    }
    rule_pass(ctx);
}

/*
 * RFC 5044 7.1.1: PD_Length, big-endian, counts the octets that follow. The rule finds a wrong octet order if the
 * octets that came with the frame fit the number with its two octets exchanged, and do not fit the number as sent.
 */
void private_data_length(struct rule_context *ctx)
{
    const struct flow_start *start = ctx->event->start;
    unsigned length, exchanged;
    size_t came;

    if (!start_whole_header(ctx) || ctx->side->unsure)
        return;
    length = octets_get16(start->octets + 18);
    exchanged = (length >> 8 | length << 8) & 0xFFFF;
    came = start->octet_count - MPA_START_OCTETS + start->trailing;
    if (length != exchanged && exchanged <= IWARP_MPA_PRIVATE_DATA_MAX && came == exchanged && came != length)
        rule_fail(ctx, rule_text(ctx, "PD_Length = 0x%04x", exchanged), rule_text(ctx, "PD_Length = 0x%04x", length),
                  "PD_Length has its octets exchanged: the frame has %zu octets of Private Data (RFC 5044 7.1.1)",
                  came);
    else if (start->result == WIRE_OK && start->trailing == 0)
        rule_pass(ctx);
}

/* RFC 5044 7.1.1: at most 512 octets of Private Data. */
void private_data_limit(struct rule_context *ctx)
{
    unsigned length;

    if (!start_whole_header(ctx))
        return;
    length = octets_get16(ctx->event->start->octets + 18);
    if (length > IWARP_MPA_PRIVATE_DATA_MAX)
        rule_fail(ctx, "PD_Length <= 512", rule_text(ctx, "PD_Length = %u", length),
                  "A start-up frame announces more than 512 octets of Private Data (RFC 5044 7.1.1)");
    else
        rule_pass(ctx);
}

/* The event's sender had received fewer octets than a start-up frame of the other side has. */
static bool nothing_received(const struct rule_context *ctx, uint64_t received)
{
    return received != 0 && ctx->other->tcp->syn->seen &&
           (uint32_t)received - (ctx->other->tcp->syn->isn + 1) < MPA_START_OCTETS;
}

/* RFC 5044 7.1.2 rule 2: the Responder answers a Request that it has received. */
void reply_after_request(struct rule_context *ctx)
{
    const struct flow_start *request = start_seen(ctx, FLOW_FROM_INITIATOR);
    bool whole = request != NULL && request->result == WIRE_OK;

    if (!start_is(ctx, IWARP_MPA_REPLY) || ctx->event->received == 0 || flow_is_unmatched(ctx->flow))
        return;
    if (nothing_received(ctx, ctx->event->received) || (whole && rule_not_received(ctx, request->end)))
        rule_fail(ctx, "MPA Request, then MPA Reply", "MPA Reply first",
                  "The Responder sent its Reply before it had the whole Request (RFC 5044 7.1.2 rule 2)");
    else if (whole)
        rule_pass(ctx);
}

/* RFC 5044 7.1.2 rule 2: an improperly formatted Request closes the connection; it is never accepted with R = 0. */
void bad_request_refused(struct rule_context *ctx)
{
    if (!start_is(ctx, IWARP_MPA_REPLY) || start_seen(ctx, FLOW_FROM_INITIATOR) == NULL || ctx->peer->unsure)
        return;
    if (!ctx->peer->start_bad)
        rule_pass(ctx);
    else if (!(start_flags(ctx) & START_R) && !ctx->peer->word_missing)
        rule_fail(ctx, "TCP closed", "MPA Reply with R = 0",
                  "An improperly formatted Request was accepted (RFC 5044 7.1.2 rule 2)");
}

/* RFC 5044 7.1.2: the Initiator sends nothing after its Request before it has the Reply. */
void initiator_waits_for_reply(struct rule_context *ctx)
{
    const struct flow_start *reply = start_seen(ctx, FLOW_FROM_RESPONDER);
    const char *expected = "nothing between MPA Request and MPA Reply";

    if (ctx->side->unsure)
        return;
    if (ctx->event->kind == FLOW_MPA_START) {
        unsigned length;

        if (!start_is(ctx, IWARP_MPA_REQUEST) || ctx->event->start->trailing == 0 ||
            !nothing_received(ctx, ctx->event->start->trailing_received))
            return;
        length = octets_get16(ctx->event->start->octets + 18);
        if (length + ctx->event->start->trailing == ((length >> 8 | length << 8) & 0xFFFF))
            return; /* private_data_length() says it better */
        rule_fail(ctx, expected, rule_text(ctx, "%zu octets more", ctx->event->start->trailing),
                  "Octets follow the Request in its own TCP segment (RFC 5044 7.1.2)");
    } else if (ctx->event->ulpdu->index == 0 && reply != NULL && reply->result == WIRE_OK &&
               ctx->event->received != 0 && rule_from_start(ctx, ctx->direction)) {
        if (rule_not_received(ctx, reply->end))
            rule_fail(ctx, expected,
                      rule_text(ctx, "an FPDU in frame %llu, the Reply in frame %llu",
                                (unsigned long long)ctx->event->first_frame, (unsigned long long)reply->frame_number),
                      "The Initiator sent an FPDU before it had the Reply (RFC 5044 7.1.2)");
        else
            rule_pass(ctx);
    }
}

/* The first FPDU of the Responder, of a connection that was captured from its start on. */
static bool is_first_answer(const struct rule_context *ctx)
{
    return ctx->event->ulpdu->index == 0 && ctx->event->received != 0 && rule_from_start(ctx, FLOW_FROM_INITIATOR) &&
           rule_from_start(ctx, FLOW_FROM_RESPONDER);
}

/*
 * RFC 5044 7.1.2 rule 4: the Responder sends no FPDU before it has received and validated one. A Terminate that
 * early is
 * not settled by the texts (MPA-7.1.2-33, EMPA-8-04).
 */
void responder_waits_for_fpdu(struct rule_context *ctx)
{
    static const char expected[] = "no FPDU before the Initiator's first";
    static const char message[] =
        "The Responder sent an FPDU before it had one of the Initiator (RFC 5044 7.1.2 rule 4)";
    const struct flow_ulpdu *ulpdu = ctx->event->ulpdu;
    uint64_t first_fpdu_end = ctx->other->tcp->first_fpdu_end;

    if (!is_first_answer(ctx))
        return;
    if (first_fpdu_end != 0 && !rule_not_received(ctx, first_fpdu_end))
        rule_pass(ctx);
    else if (ulpdu->have >= 2 && (ulpdu->octets[1] & 0xF) == IWARP_RDMAP_TERMINATE)
        return;
    else if (first_fpdu_end != 0)
        rule_fail(ctx, expected, "an FPDU", message);
    else
        rule_fail_unless_lost(ctx, expected, "an FPDU", message);
}

/* RFC 5044 7.1.2 rule 4: nor a Marker, alone or in front of that FPDU. */
void responder_marker_waits(struct rule_context *ctx)
{
    static const char expected[] = "no Marker before the Initiator's first FPDU";
    static const char message[] =
        "The Responder sent a Marker before it had an FPDU of the Initiator (RFC 5044 7.1.2 rule 4)";
    uint64_t first_fpdu_end = ctx->other->tcp->first_fpdu_end;
    const char *actual;

    if (!ctx->event->ulpdu->mpa->framing.markers || !is_first_answer(ctx))
        return;
    actual = rule_text(ctx, "a Marker in frame %llu", (unsigned long long)ctx->event->first_frame);
    if (first_fpdu_end != 0 && !rule_not_received(ctx, first_fpdu_end))
        rule_pass(ctx);
    else if (first_fpdu_end != 0)
        rule_fail(ctx, expected, actual, message);
    else
        rule_fail_unless_lost(ctx, expected, actual, message);
}

/* ---- what nobody asked for --------------------------------------------------------------------------------------- */

/*
 * RFC 5044 7.1.2 rule 1: a stream of FPDUs begins with a Request. The finding is made at the first FPDU of a connection
 * that has no Request.
 */
void initiator_sends_request(struct rule_context *ctx)
{
    if (ctx->event->ulpdu->index != 0)
        return;
    if (ctx->flow->tcp->unstarted) {
        if (ctx->other->fpdus == 0)
            rule_fail(ctx, "an MPA Request first", "FPDUs with right CRCs, and no start-up frame",
                      "FPDUs are sent on a connection that never had a start-up frame (RFC 5044 7.1.2)");
    } else if (ctx->flow->roles_known && ctx->direction == FLOW_FROM_INITIATOR &&
               start_good(ctx, FLOW_FROM_INITIATOR) != NULL) {
        rule_pass(ctx);
    }
}

/* The Reply had R = 1, and no other exchange was begun since. */
static bool is_rejected(const struct rule_context *ctx)
{
    const struct iwarp_mpa_start *reply = start_good(ctx, FLOW_FROM_RESPONDER);

    return reply != NULL && reply->rejected;
}

/* RFC 5044 7.1.2 rule 2: after R = 1 the Responder leaves MPA: it sends neither another Reply nor FPDUs. */
void responder_leaves_after_rejection(struct rule_context *ctx)
{
    if (!is_rejected(ctx) || (ctx->event->kind == FLOW_MPA_START && !start_is(ctx, IWARP_MPA_REPLY)))
        return;
    if (ctx->peer->holes || ctx->flow->unordered)
        return; /* another Request may be what is missing */
    rule_fail(ctx, "nothing of MPA after R = 1", ctx->event->kind == FLOW_MPA_START ? "another MPA Reply" : "an FPDU",
              "The Responder goes on with MPA after it has rejected (RFC 5044 7.1.2 rule 2)");
}

/* RFC 5044 7.1.2 rule 3: so does the Initiator. */
void initiator_leaves_after_rejection(struct rule_context *ctx)
{
    if (is_rejected(ctx) && !start_not_received(ctx))
        rule_fail(ctx, "no FPDU after R = 1", "an FPDU",
                  "The Initiator goes on with MPA although it was rejected (RFC 5044 7.1.2 rule 3)");
}
