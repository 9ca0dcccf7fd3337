/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Terminate Message: its control word and the parts after it (RFC 5040 4.2, 4.8; RFC 6580 3; RFC 6581 8).
 *
 * A control word whose bits stand in the order of a little-endian compiler's bit-fields is found once, by
 * terminate_control_layout(); all other rules read it with the order put right.
 */
#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"

static const struct terminate *terminate_of(const struct rule_context *ctx)
{
    return &ctx->terminate.read;
}

/* The Terminate is whole: all octets of its payload were captured, and the fixed part is there. */
static bool readable(const struct rule_context *ctx)
{
    return ctx->event->ddp->payload_have == ctx->event->ddp->segment.payload_octets &&
           ctx->terminate.count >= TERMINATE_OCTETS && !ctx->event->ddp->segment.tagged;
}

static const char *describe(struct rule_context *ctx)
{
    char text[128];

    return rule_text(ctx, "%s", iwarp_terminate_describe(terminate_of(ctx)->triple, text, sizeof(text)));
}

/* RFC 5040 4.2: a Terminate Header stands right after the DDP header. */
void terminate_has_header(struct rule_context *ctx)
{
    if (ctx->event->ddp->segment.tagged || ctx->event->ddp->segment.mo != 0)
        return;
    if (ctx->event->ddp->segment.payload_octets < TERMINATE_OCTETS)
        rule_fail(ctx, "at least 4 octets", rule_text(ctx, "%zu octets", ctx->event->ddp->segment.payload_octets),
                  "The Terminate has no Terminate Header (RFC 5040 4.2)");
    else
        rule_pass(ctx);
}

/* RFC 5040 4.2: nothing but that header. Zeros in place of absent parts are another matter (RDMAP-7.1-03). */
void terminate_has_no_payload(struct rule_context *ctx)
{
    size_t excess = terminate_of(ctx)->excess;

    if (!readable(ctx) || ctx->terminate.result != WIRE_OK)
        return;
    for (size_t i = ctx->terminate.count - excess; i < ctx->terminate.count; i++) {
        if (ctx->terminate.octets[i] == 0)
            continue;
        rule_fail(ctx, rule_text(ctx, "%zu octets", ctx->terminate.count - excess),
                  rule_text(ctx, "%zu octets more", excess),
                  "Octets follow the parts that M, D and R announce (RFC 5040 4.2)");
        return;
    }
    rule_pass(ctx);
}

/* RFC 5040 7.1 has unused fields "set to zero", 4.8 leaves them out. */
void terminate_absent_parts(struct rule_context *ctx)
{
    size_t excess = terminate_of(ctx)->excess;

    if (!readable(ctx) || ctx->terminate.result != WIRE_OK)
        return;
    for (size_t i = ctx->terminate.count - excess; i < ctx->terminate.count; i++)
        if (ctx->terminate.octets[i] != 0)
            return;
    if (excess == 0)
        rule_pass(ctx);
    else
        rule_ambiguous(ctx, "unused parts absent, or zero", rule_text(ctx, "%zu octets of zeros", excess),
                       "Parts that are not announced are sent as zeros (RFC 5040 7.1 against 4.8)");
}

/* RFC 5040 4.8, Figure 8: bit 0 of the control word is the most significant. */
void terminate_control_layout(struct rule_context *ctx)
{
    if (!readable(ctx))
        return;
    if (ctx->terminate.swapped)
        rule_fail(ctx,
                  rule_text(ctx, "%s, %s", rule_octets(ctx, ctx->terminate.octets, TERMINATE_OCTETS), describe(ctx)),
                  rule_octets(ctx, ctx->event->ddp->segment.payload, TERMINATE_OCTETS),
                  "Terminate Control has its nibbles swapped: Layer, EType, M, D and R stand where a little-endian "
                  "compiler puts bit-fields (RFC 5040 4.8, Figure 8)");
    else
        rule_pass(ctx);
}

/* The error with Layer and EType in each other's place is registered, and another one. */
static bool registered_exchanged(wire_result triple)
{
    unsigned layer = wire_error_layer(triple), etype = wire_error_etype(triple);

    return layer != etype && terminate_error_find(IWARP_TERMINATE_TRIPLE(etype, layer, triple & 0xFF)) != NULL;
}

static void judge_registered(struct rule_context *ctx, const char *section)
{
    wire_result triple = terminate_of(ctx)->triple;

    if (terminate_error_find(triple) != NULL) {
        rule_pass(ctx);
        return;
    }
    rule_because(ctx, registered_exchanged(triple) ? HINT_TERMINATE_ORDER : HINT_NONE);
    rule_fail(ctx, "a registered error", describe(ctx), "The Terminate's error is not registered (%s)", section);
}

/* RFC 5040 4.8, Figure 9: Layer, EType and Error Code have one of the values defined. */
void terminate_error_defined(struct rule_context *ctx)
{
    if (readable(ctx))
        judge_registered(ctx, "RFC 5040 4.8, Figure 9");
}

/* RFC 6580 3.1: errors of Layer 0. */
void terminate_rdmap_registered(struct rule_context *ctx)
{
    if (readable(ctx) && wire_error_layer(terminate_of(ctx)->triple) == 0)
        judge_registered(ctx, "RFC 6580 3.1");
}

/* RFC 6580 3.2: errors of Layer 1. */
void terminate_ddp_registered(struct rule_context *ctx)
{
    if (readable(ctx) && wire_error_layer(terminate_of(ctx)->triple) == 1)
        judge_registered(ctx, "RFC 6580 3.2");
}

/* RFC 6580 3.3: errors of Layer 2. */
void terminate_mpa_registered(struct rule_context *ctx)
{
    if (readable(ctx) && wire_error_layer(terminate_of(ctx)->triple) == 2)
        judge_registered(ctx, "RFC 6580 3.3");
}

/* RFC 6581 8: codes 5 to 7 belong to enhanced start-up; 6 and 7 make no sense without it. */
void terminate_startup_codes(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request = start_good(ctx, FLOW_FROM_INITIATOR);
    wire_result triple = terminate_of(ctx)->triple;

    if (!readable(ctx) || request == NULL || wire_error_layer(triple) != 2 || wire_error_etype(triple) != 0)
        return;
    if (triple < TERM_MPA_CONNECTION_LOST || triple > TERM_MPA_NO_MATCHING_RTR) {
        if (request->enhanced)
            rule_fail(ctx, "code 1 to 7", describe(ctx), "MPA has no error with this code (RFC 6581 8)");
        return;
    }
    if (request->enhanced || triple < TERM_MPA_CATASTROPHIC)
        rule_pass(ctx);
    else if (triple == TERM_MPA_CATASTROPHIC)
        rule_warn(ctx, "an error of RFC 5044", describe(ctx),
                  "A code of RFC 6581 without enhanced start-up (RFC 6581 8)");
    else if ((ctx->other->fpdus != 0 || ctx->flow->unordered || ctx->peer->unsure) && registered_exchanged(triple))
        /*
         * After FPDUs of the other side it is more likely an RDMAP error of a stack that RDMAP-4.8-02 finds fault with.
         */
        rule_ambiguous(ctx, "an error of RFC 5044", "Layer and EType exchanged: an error of RDMAP",
                       "A code of enhanced start-up on a connection that had none, or RDMAP's with swapped nibbles");
    else
        rule_fail(ctx, "an error of RFC 5044", describe(ctx),
                  "A code of enhanced start-up on a connection that had none (RFC 6581 8)");
}

/* RFC 5040 4.8: the 13 bits after HdrCt are zero on sending. */
void terminate_reserved_zero(struct rule_context *ctx)
{
    if (!readable(ctx))
        return;
    if (terminate_of(ctx)->reserved != 0)
        rule_fail(ctx, "13 reserved bits of zero", rule_text(ctx, "0x%04x", terminate_of(ctx)->reserved),
                  "Reserved bits of the Terminate Control are set (RFC 5040 4.8)");
    else
        rule_pass(ctx);
}

/* ---- Figure 10: which parts go with which error ------------------------------------------------------------------ */

static const char *parts(struct rule_context *ctx, bool m, bool d, bool r)
{
    return rule_text(ctx, "M = %d, D = %d, R = %d", m, d, r);
}

/* The opcode in the quoted DDP header, or -1. */
static int quoted_opcode(const struct rule_context *ctx)
{
    return terminate_of(ctx)->ddp_header == NULL ? -1 : terminate_of(ctx)->ddp_header[1] & 0xF;
}

/* The octets after the control word fit other bits M, D and R than these: the bits are wrong, and not the parts. */
static void suspect_bits(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);
    const struct flow_ddp *ddp = ctx->event->ddp;
    unsigned bits = (terminate->m ? TERMINATE_BIT_M : 0) | (terminate->d ? TERMINATE_BIT_D : 0) |
                    (terminate->r ? TERMINATE_BIT_R : 0);
    struct hint hint;

    if (ddp->payload_have >= TERMINATE_OCTETS && ddp->payload_have == ddp->segment.payload_octets &&
        hint_terminate(ddp->segment.payload + TERMINATE_OCTETS, ddp->payload_have - TERMINATE_OCTETS, bits, &hint))
        rule_because(ctx, hint.kind);
}

static void judge_parts(struct rule_context *ctx, bool right, const char *expected)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (right) {
        rule_pass(ctx);
        return;
    }
    if (ctx->cause == NULL)
        suspect_bits(ctx);
    rule_fail(ctx, expected, parts(ctx, terminate->m, terminate->d, terminate->r),
              "The parts of the Terminate are not those of Figure 10 for %s (RFC 5040 4.8)", describe(ctx));
}

static bool error_is(const struct rule_context *ctx, unsigned layer, unsigned etype)
{
    wire_result triple = terminate_of(ctx)->triple;

    return readable(ctx) && wire_error_layer(triple) == layer && wire_error_etype(triple) == etype;
}

/* RFC 5040 4.8, Figure 10: Local Catastrophic: neither header. */
void terminate_catastrophic_parts(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (error_is(ctx, 0, 0))
        judge_parts(ctx, !terminate->m && !terminate->d && !terminate->r, "M = 0, D = 0, R = 0");
}

/*
 * RFC 5040 4.8, Figure 10: Remote Protection: length and DDP header, and the RDMA header, which 4.8 wants for a Read
 * Request only (RDMAP-4.8-42: both readings for the Sends that invalidate).
 */
void terminate_protection_parts(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);
    bool read = quoted_opcode(ctx) == IWARP_RDMAP_READ_REQUEST;

    if (error_is(ctx, 0, 1))
        judge_parts(ctx, terminate->m && terminate->d && (!read || terminate->r),
                    read ? "M = 1, D = 1, R = 1" : "M = 1, D = 1");
}

/* RFC 5040 4.8, Figure 10: Remote Operation: length and DDP header "if possible", no RDMA header. */
void terminate_operation_parts(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (error_is(ctx, 0, 2) && !(terminate->r && quoted_opcode(ctx) == IWARP_RDMAP_READ_REQUEST))
        judge_parts(ctx, !terminate->r && terminate->m == terminate->d, "M = 1, D = 1, R = 0");
}

/* RFC 5040 7.1 (3) includes the RDMA header for any error of a Read Request, Figure 10 not for Remote Operation. */
void terminate_operation_on_read(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (error_is(ctx, 0, 2) && quoted_opcode(ctx) == IWARP_RDMAP_READ_REQUEST)
        rule_ambiguous(
            ctx, "R = 0 by Figure 10, R = 1 by 7.1", terminate->r ? "R = 1" : "R = 0",
            "The RFC does not settle whether a Remote Operation Error quotes the Read Request Header (RFC 5040)");
}

/* The other side has sent a ULPDU that ends within its DDP header: there is no header that could be quoted. */
static bool header_cut(const struct rule_context *ctx)
{
    uint64_t count = flow_sent_kept(ctx->other);

    for (uint64_t i = 0; i < count; i++) {
        const struct flow_sent *sent = &ctx->other->sent[i];
        bool tagged = sent->head_octets != 0 && (sent->head[0] & 0x80) != 0;

        if ((sent->flags & FLOW_SENT_START) == 0 &&
            sent->ulpdu_length < (tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS))
            return true;
    }
    return false;
}

/* RFC 5040 4.8, Figure 10: DDP errors: length and DDP header, no RDMA header. */
void terminate_ddp_parts(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (!terminate->m && !terminate->d && !terminate->r && header_cut(ctx))
        return;
    if (error_is(ctx, 1, 1) || error_is(ctx, 1, 2))
        judge_parts(ctx, terminate->m && terminate->d && !terminate->r, "M = 1, D = 1, R = 0");
}

/* RFC 5040 4.8, Figure 10: LLP errors: no parts. */
void terminate_llp_parts(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (readable(ctx) && wire_error_layer(terminate->triple) == 2)
        judge_parts(ctx, !terminate->m && !terminate->d && !terminate->r, "M = 0, D = 0, R = 0");
}

/* RFC 5040 4.8: SCTP defines no codes of its own. What RFC 6581 8 adds for start-up is tolerated there (EMPA-8-05). */
void terminate_llp_undefined(struct rule_context *ctx)
{
    wire_result triple = terminate_of(ctx)->triple;

    if (ctx->flow->kind != FLOW_STREAM || !readable(ctx))
        return;
    if (wire_error_layer(triple) == 2 && (triple < TERM_MPA_CATASTROPHIC || triple > TERM_MPA_NO_MATCHING_RTR))
        rule_fail(ctx, "an error of RDMAP or DDP", describe(ctx),
                  "The LLP is SCTP, for which no error of layer 2 is defined (RFC 5040 4.8)");
    else
        rule_pass(ctx);
}

/*
 * RFC 6581 8: the same for what start-up reports. One that quotes an FPDU of the other side, as RDMAP's errors do, has
 * the Layer of these for its EType.
 */
void terminate_startup_parts(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (terminate->triple < TERM_MPA_CATASTROPHIC || terminate->triple > TERM_MPA_NO_MATCHING_RTR)
        return;
    if (terminate->m && terminate->d && ctx->other->fpdus != 0 && registered_exchanged(terminate->triple))
        rule_because(ctx, HINT_TERMINATE_ORDER);
    terminate_llp_parts(ctx);
}

/* RFC 5040 4.8, Figure 10: what causes a Remote Protection Error. A Write without right has no code of its own. */
void terminate_protection_cause(struct rule_context *ctx)
{
    int opcode = quoted_opcode(ctx);
    wire_result triple = terminate_of(ctx)->triple;

    if (!error_is(ctx, 0, 1) || opcode < 0)
        return;
    if (opcode == IWARP_RDMAP_READ_REQUEST || opcode == IWARP_RDMAP_SEND_INVALIDATE ||
        opcode == IWARP_RDMAP_SEND_SE_INVALIDATE || opcode == IWARP_RDMAP_ATOMIC_REQUEST ||
        (opcode == IWARP_RDMAP_WRITE && (triple == TERM_RDMAP_ACCESS || triple == TERM_RDMAP_PROTECTION_OTHER)))
        rule_pass(ctx);
    else
        rule_fail(ctx, "Read Request, Send with Invalidate, Send with SE and Invalidate",
                  rdmap_opcode_rows[opcode].name == NULL ? "unknown opcode" : rdmap_opcode_rows[opcode].name,
                  "This message cannot cause a Remote Protection Error (RFC 5040 4.8, Figure 10)");
}

/* RFC 5040 4.8 lets M and D differ, Figure 10 does not. */
void terminate_m_with_d(struct rule_context *ctx)
{
    const struct terminate *terminate = terminate_of(ctx);

    if (!readable(ctx))
        return;
    if (terminate->m == terminate->d)
        rule_pass(ctx);
    else
        rule_ambiguous(ctx, "M = D", parts(ctx, terminate->m, terminate->d, terminate->r),
                       "M and D differ: the text of 4.8 allows it, Figure 10 does not (RFC 5040)");
}
