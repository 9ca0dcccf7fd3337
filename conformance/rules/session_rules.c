/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP streams over SCTP: session control messages, DDP-SSNs, legal patterns (RFC 5043 5.2 and 6, RFC 6581 7), and the
 * draft's Stream Reset. Events come in the order of DDP-SSNs, as RFC 5043 6.1 wants them judged.
 */
#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/rules/session_pattern.h"

static const struct flow_sctp_state *state_of(const struct rule_context *ctx)
{
    return ctx->flow->sctp;
}

static bool is_draft(const struct rule_context *ctx)
{
    return ctx->flow->kind == FLOW_STREAM && state_of(ctx)->profile == IWARP_SCTP_DRAFT02;
}

static bool is_5043(const struct rule_context *ctx)
{
    return ctx->flow->kind == FLOW_STREAM && state_of(ctx)->profile != IWARP_SCTP_DRAFT02;
}

/* The message of a FLOW_SESSION event when it is one of RFC 5043, else NULL. */
static const struct ddp_sctp_message *control_of(const struct rule_context *ctx)
{
    const struct flow_session *session = ctx->event->session;

    return session != NULL && session->message.kind == DDP_SCTP_CONTROL ? &session->message : NULL;
}

static const struct ddp_sctp_message *reset_of(const struct rule_context *ctx)
{
    const struct flow_session *session = ctx->event->session;

    return session != NULL && session->message.kind == DDP_SCTP_DRAFT_CONTROL ? &session->message : NULL;
}

static bool is_whole(const struct rule_context *ctx)
{
    return session_is_whole(ctx->flow);
}

/* The event's step in its session; OPEN for what is not judged by the patterns. */
static enum session_step step_of(const struct rule_context *ctx, const char **wanted)
{
    *wanted = NULL;
    if (!is_5043(ctx) || !is_whole(ctx) || (ctx->event->kind == FLOW_SESSION && control_of(ctx) == NULL))
        return SESSION_OPEN;
    return session_step(ctx->event, ctx->side, ctx->peer, wanted);
}

static bool is_enhanced(uint32_t code)
{
    return code >= DDP_SCTP_ENHANCED_INITIATE && code <= DDP_SCTP_ENHANCED_REJECT;
}

/* The event is an Initiate that crosses the other side's, or comes after such a one. */
static bool crosses(const struct rule_context *ctx)
{
    const char *wanted;

    return ctx->side->crossed || ctx->peer->crossed || step_of(ctx, &wanted) == SESSION_CROSSING;
}

static const char *name_of(struct rule_context *ctx, const struct ddp_sctp_message *message)
{
    return message->row->name != NULL ? message->row->name : rule_text(ctx, "function code 0x%04x", message->code);
}

static uint16_t ssn_of(const struct rule_context *ctx)
{
    return ctx->event->ulpdu->message->message.ssn;
}

/* ---- the draft --------------------------------------------------------------------------------------------------- */

void reset_code(struct rule_context *ctx)
{
    const struct ddp_sctp_message *reset = reset_of(ctx);

    if (reset != NULL && ctx->event->session->result == WIRE_OK)
        rule_judge_number(ctx, DDP_SCTP_STREAM_RESET, reset->code, "the function code",
                          "draft-stewart-rddp-sctp-02 2.2");
}

void reset_length(struct rule_context *ctx)
{
    if (reset_of(ctx) != NULL)
        rule_judge_number(ctx, DDP_SCTP_DRAFT_CONTROL_OCTETS, ctx->event->session->count, "the Stream Reset's length",
                          "draft-stewart-rddp-sctp-02 2.2");
}

/* Draft 2.2 names drafts whose version was 0 (RFC 5044 Appendix C); the RFCs have 1. One pair for all segments. */
void draft_versions(struct rule_context *ctx)
{
    unsigned ddp, rdmap;

    if (!is_draft(ctx))
        return;
    ddp = ctx->event->ddp->segment.version;
    rdmap = ctx->event->rdmap->message.version;
    if (ddp == 1 && rdmap == 1)
        rule_pass(ctx);
    else if (ddp == 0 && rdmap == 0)
        rule_ambiguous(ctx, "DV = 1, RV = 1 as in the RFCs", "DV = 0, RV = 0 as in older drafts",
                       "The versions are those of older drafts (draft-stewart-rddp-sctp-02 2.2)");
    else
        rule_fail(ctx, "DV = RV", rule_text(ctx, "DV = %u, RV = %u", ddp, rdmap),
                  "DV and RV are of different profiles (draft-stewart-rddp-sctp-02 2.2)");
}

static void judge_placement(struct rule_context *ctx, const char *section)
{
    const struct flow_ulpdu *ulpdu = ctx->event->ulpdu;
    const uint8_t *segment = ulpdu->octets;

    if (ulpdu->have < DDP_TAGGED_OCTETS)
        return;
    if ((segment[0] & 0x3F) == DDP_VERSION)
        rule_pass(ctx);
    else if (segment[0] == 0 && segment[1] == 0 && (segment[2] & 0x3F) == DDP_VERSION)
        rule_fail(ctx, "the DDP Segment at octet 2", rule_octets(ctx, ulpdu->message->octets, 6),
                  "There are octets between the DDP-SSN and the DDP Segment (%s)", section);
}

void draft_segment_behind_ssn(struct rule_context *ctx)
{
    if (is_draft(ctx))
        judge_placement(ctx, "draft-stewart-rddp-sctp-02 6");
}

void segment_behind_ssn(struct rule_context *ctx)
{
    if (is_5043(ctx))
        judge_placement(ctx, "RFC 5043 5.2.2");
}

void draft_ssn_begins_at_one(struct rule_context *ctx)
{
    if (is_draft(ctx) && is_whole(ctx) && state_of(ctx)->segments[ctx->direction] == 0)
        rule_judge_number(ctx, DDP_SCTP_DRAFT_FIRST_SSN, ssn_of(ctx), "the first DDP-SSN",
                          "draft-stewart-rddp-sctp-02 6");
}

static void fail_repeat(struct rule_context *ctx, const char *section)
{
    rule_fail(ctx, "each DDP-SSN once", rule_text(ctx, "DDP-SSN %llu again", (unsigned long long)ctx->event->position),
              "A new chunk repeats the DDP-SSN of an earlier one (%s)", section);
}

static void fail_hole(struct rule_context *ctx, const char *section)
{
    const struct flow_gap *gap = ctx->event->gap;

    rule_fail(ctx, rule_text(ctx, "DDP-SSN %u", gap->first),
              rule_text(ctx, "DDP-SSN %u", (unsigned)(uint16_t)(gap->first + gap->messages)),
              "DDP-SSNs are missing, although all of the sender's TSNs were captured (%s)", section);
}

void draft_ssn_counts(struct rule_context *ctx)
{
    if (!is_draft(ctx) || ctx->flow->late)
        return;
    if (ctx->event->kind == FLOW_UNDECODED) {
        if (ctx->event->reason == FLOW_REASON_SSN_AGAIN)
            fail_repeat(ctx, "draft-stewart-rddp-sctp-02 6");
    } else if (ctx->event->kind == FLOW_GAP) {
        if (ctx->event->gap->not_sent)
            fail_hole(ctx, "draft-stewart-rddp-sctp-02 6");
    } else if (state_of(ctx)->segments[ctx->direction] != 0) {
        rule_pass(ctx);
    }
}

/* Draft 7.2 says of a Stream Reset that the stream is for a new DDP Stream; of MSNs it says nothing. */
void msn_restarts_after_reset(struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;

    if (!is_draft(ctx) || state_of(ctx)->resets[ctx->direction] == 0 || segment->tagged || segment->qn >= FLOW_QUEUES ||
        ctx->half->queue[segment->qn].seen || !is_whole(ctx))
        return;
    if (segment->msn == DDP_FIRST_MSN)
        rule_pass(ctx);
    else
        rule_ambiguous(ctx, "MSN 1 on a new DDP Stream",
                       rule_text(ctx, "MSN %u: only the DDP-SSN restarts", segment->msn),
                       "MSNs continue after a Stream Reset (draft-stewart-rddp-sctp-02 7.2)");
}

/* ---- RFC 5043 ---------------------------------------------------------------------------------------------------- */

void segment_in_session(struct rule_context *ctx)
{
    const char *wanted;
    enum session_step step = step_of(ctx, &wanted);

    if (step == SESSION_NO_SESSION)
        rule_fail(ctx, wanted, rule_text(ctx, "a segment on stream %u, no session", state_of(ctx)->sid),
                  "A DDP Segment is sent on a stream without a session (RFC 5043 2)");
    else if (step == SESSION_LEGAL)
        rule_pass(ctx);
}

void ssn_not_repeated(struct rule_context *ctx)
{
    if (!is_5043(ctx) || ctx->flow->late)
        return;
    if (ctx->event->kind == FLOW_UNDECODED) {
        if (ctx->event->reason == FLOW_REASON_SSN_AGAIN)
            fail_repeat(ctx, "RFC 5043 5.2.1");
    } else if (state_of(ctx)->chunks[ctx->direction] != 0) {
        rule_pass(ctx);
    }
}

void ssn_without_gaps(struct rule_context *ctx)
{
    if (!is_5043(ctx) || ctx->flow->late)
        return;
    if (ctx->event->kind == FLOW_GAP) {
        if (ctx->event->gap->not_sent)
            fail_hole(ctx, "RFC 5043 6");
    } else if (state_of(ctx)->chunks[ctx->direction] != 0) {
        rule_pass(ctx);
    }
}

void session_codes(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);
    int side;

    if (message == NULL)
        return;
    side = ctx->direction == FLOW_FROM_INITIATOR;
    if (message->row->name == NULL)
        rule_fail(ctx, "function code 1 to 7", rule_text(ctx, "0x%04x", message->code),
                  "The function code is not registered (RFC 5043 5.2.3)");
    else if (crosses(ctx)) /* either side is the active one, and the passive one */
        return;
    else if (!ctx->flow->roles_known || message->row->active < 0 || message->row->active == side)
        rule_pass(ctx);
    else if (is_whole(ctx)) /* else it may be of a session whose Initiate was not captured */
        rule_fail(ctx,
                  side ? "Initiate or Terminate of the active side" : "Accept, Reject or Terminate of the passive side",
                  message->row->name, "The function code is the other side's (RFC 5043 5.2.3)");
}

static void judge_terminate(struct rule_context *ctx, const struct ddp_sctp_message *message, const char *section)
{
    if (message->private_octets != 0)
        rule_fail(ctx, "4 octets", rule_text(ctx, "%zu octets of Private Data", message->private_octets),
                  "A Terminate has Private Data (%s)", section);
    else
        rule_pass(ctx);
}

void terminate_without_data(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    if (message != NULL && message->code == DDP_SCTP_TERMINATE)
        judge_terminate(ctx, message, "RFC 5043 5.2.3");
}

void ssn_begins_at_zero(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    if (message != NULL && is_whole(ctx) && state_of(ctx)->chunks[ctx->direction] == 0)
        rule_judge_number(ctx, DDP_SCTP_FIRST_SSN, message->ssn, "the session's first DDP-SSN", "RFC 5043 6.1");
}

/*
 * The side that the Function Code of the message belongs to is the other one, or the code is not registered:
 * session_codes() says so.
 */
static bool code_is_wrong(const struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    return message != NULL &&
           (message->row->name == NULL || (ctx->flow->roles_known && message->row->active >= 0 &&
                                           message->row->active != (ctx->direction == FLOW_FROM_INITIATOR)));
}

/* It opens with something else than an Initiate: session_opens_with_initiate() says so. */
static bool opens_otherwise(const struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    return message != NULL && ctx->direction == FLOW_FROM_INITIATOR &&
           state_of(ctx)->chunks[FLOW_FROM_INITIATOR] == 0 && !session_is_initiate(message->code);
}

/* An answer without an Initiate. Reported at the end: in a capture the answer may stand before the Initiate. */
static void judge_unasked(struct rule_context *ctx)
{
    const struct flow_sctp_state *state = state_of(ctx);
    uint32_t opening = state->opening[FLOW_FROM_RESPONDER];

    if (!is_5043(ctx) || !is_whole(ctx) || ctx->direction != FLOW_FROM_RESPONDER || ctx->other->tail_unknown ||
        state->chunks[FLOW_FROM_INITIATOR] != 0)
        return;
    if (session_is_accept(opening) || session_is_reject(opening) || opening == DDP_SCTP_TERMINATE)
        rule_fail(ctx, "an Initiate before it", ddp_sctp_session_row(opening)->name,
                  "The session on stream %u has no Initiate (RFC 5043 6.1)", state->sid);
}

void session_pattern(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);
    const char *wanted;
    enum session_step step;

    if (ctx->event->kind == FLOW_END) {
        judge_unasked(ctx);
        return;
    }
    step = step_of(ctx, &wanted);
    if (step == SESSION_LEGAL)
        rule_pass(ctx);
    else if (step == SESSION_ILLEGAL && !code_is_wrong(ctx) && !opens_otherwise(ctx))
        rule_fail(ctx, wanted, message == NULL ? "a DDP Segment" : name_of(ctx, message),
                  "The session follows none of the legal patterns (RFC 5043 6.1)");
}

/*
 * If the Initiates of both sides cross, no pattern fits (6.4-05). The next message of the side that has to answer shows
 * how that side reads the text.
 */
void crossing_initiates(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    if (message == NULL || !is_5043(ctx) || !is_whole(ctx) || (!ctx->side->crossed && !ctx->peer->crossed))
        return;
    if (message->code == DDP_SCTP_TERMINATE || session_is_accept(message->code) || session_is_reject(message->code))
        rule_ambiguous(ctx, "Terminate, as no pattern has two Initiates", name_of(ctx, message),
                       "Initiates of both sides crossed on stream %u (RFC 5043 6.1, 6.4)", state_of(ctx)->sid);
}

void session_opens_with_initiate(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    if (!is_5043(ctx) || !is_whole(ctx) || message == NULL || ctx->direction != FLOW_FROM_INITIATOR ||
        state_of(ctx)->chunks[FLOW_FROM_INITIATOR] != 0)
        return;
    if (!session_is_initiate(message->code))
        rule_fail(ctx, "an Initiate", name_of(ctx, message),
                  "The active side does not open the session with an Initiate (RFC 5043 6.2)");
    else
        rule_pass(ctx);
}

/* RFC 5043 6.2: an accepted session ends with a Terminate of one side at least. Judged is who left it without. */
void session_is_terminated(struct rule_context *ctx)
{
    const struct flow_sctp_state *state = state_of(ctx);
    bool ended = state->ended[FLOW_FROM_INITIATOR] != 0 || state->ended[FLOW_FROM_RESPONDER] != 0;

    if (!is_5043(ctx) || !is_whole(ctx) || ctx->side->out_of_pattern || ctx->peer->out_of_pattern ||
        !session_is_initiate(state->opening[FLOW_FROM_INITIATOR]) ||
        !session_is_accept(state->opening[FLOW_FROM_RESPONDER]))
        return;
    if (ended && state->ended[ctx->direction] != 0)
        rule_pass(ctx);
    else if (!ended && state->left_by[ctx->direction] && !ctx->half->tail_unknown && !ctx->other->tail_unknown)
        rule_fail(ctx, "Terminate of one side", "none",
                  "The side left the session on stream %u, and neither had sent a Terminate (RFC 5043 6.2)",
                  state->sid);
}

/*
 * RFC 5043 6.6: no segment of the active side may come before its Initiate. The finding is made when the SACK that
 * shows it has come.
 */
void segments_wait_for_sack(struct rule_context *ctx)
{
    const struct flow_sctp_state *state = state_of(ctx);
    const struct flow_event *event = ctx->event;
    struct flow_event shown = *event;

    if (!is_5043(ctx) || !is_whole(ctx) || ctx->direction != FLOW_FROM_INITIATOR ||
        state->segments[FLOW_FROM_INITIATOR] == 0 || !session_is_initiate(state->opening[FLOW_FROM_INITIATOR]))
        return;
    if (state->early_segment == 0) {
        if (session_is_accept(state->opening[FLOW_FROM_RESPONDER]))
            rule_pass(ctx);
        return;
    }
    shown.frame = state->early_segment;
    ctx->event = &shown;
    rule_fail(ctx, "segments after the SACK of the Initiate, or its answer", "a segment before both",
              "The active side sent a segment that could be received before its Initiate (RFC 5043 6.6)");
    ctx->event = event;
}

/*
 * RFC 5043 5.2.3: at most 512 octets of Private Data. With the enhanced word the limit is RFC 6581's:
 * enhanced_data_limit().
 */
void private_data_at_most(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);
    size_t octets;

    if (message == NULL || is_enhanced(message->code) || ctx->event->session->count < DDP_SCTP_CONTROL_OCTETS)
        return;
    octets = ctx->event->session->count - DDP_SCTP_CONTROL_OCTETS;
    if (octets > DDP_SCTP_PRIVATE_DATA_MAX)
        rule_fail(ctx, "at most 512 octets", rule_text(ctx, "%zu octets", octets),
                  "Private Data is longer than 512 octets (RFC 5043 5.2.3)");
    else if (message->row->has_private)
        rule_pass(ctx);
}

/* Judged only if the side's first message opens its part of the session; other segments: segment_in_session(). */
void segments_begin_at_one(struct rule_context *ctx)
{
    if (is_5043(ctx) && is_whole(ctx) && state_of(ctx)->segments[ctx->direction] == 0 &&
        state_of(ctx)->opening[ctx->direction] != 0)
        rule_judge_number(ctx, 1, ssn_of(ctx), "the first segment's DDP-SSN", "RFC 5043 6.2");
}

/* ---- RFC 6581 7 -------------------------------------------------------------------------------------------------- */

void enhanced_word_in_session(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    if (message == NULL || !message->row->has_word || ctx->event->session->have < ctx->event->session->count)
        return;
    if (!message->has_word)
        rule_fail(ctx, "the word of 4 octets", rule_text(ctx, "%zu octets of Private Data", message->private_octets),
                  "An %s has no room for IRD and ORD (RFC 6581 7)", message->row->name);
    else
        rule_pass(ctx);
}

void enhanced_codes(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);
    uint32_t opening;

    if (message == NULL || !is_enhanced(message->code) || !is_whole(ctx) || crosses(ctx))
        return;
    opening = state_of(ctx)->opening[FLOW_FROM_INITIATOR];
    if (message->code != DDP_SCTP_ENHANCED_INITIATE && state_of(ctx)->chunks[FLOW_FROM_INITIATOR] == 0)
        return; /* the Initiate was not captured */
    if (message->code == DDP_SCTP_ENHANCED_INITIATE
            ? ctx->direction != FLOW_FROM_INITIATOR
            : ctx->direction != FLOW_FROM_RESPONDER || opening != DDP_SCTP_ENHANCED_INITIATE)
        rule_fail(ctx, "5 of the active side, then 6 or 7 of the passive one", message->row->name,
                  "The function code does not fit its role (RFC 6581 7)");
    else
        rule_pass(ctx);
}

void enhanced_data_limit(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);
    size_t octets;

    if (message == NULL || !is_enhanced(message->code))
        return;
    octets = ctx->event->session->count - DDP_SCTP_CONTROL_OCTETS;
    if (octets > DDP_SCTP_PRIVATE_DATA_MAX)
        rule_fail(ctx, "at most 512 octets", rule_text(ctx, "%zu octets", octets),
                  "Private Data with the enhanced word is longer than 512 octets (RFC 6581 7)");
    else
        rule_pass(ctx);
}

void enhanced_terminate_empty(struct rule_context *ctx)
{
    const struct ddp_sctp_message *message = control_of(ctx);

    if (message != NULL && message->code == DDP_SCTP_TERMINATE &&
        state_of(ctx)->opening[FLOW_FROM_INITIATOR] == DDP_SCTP_ENHANCED_INITIATE)
        judge_terminate(ctx, message, "RFC 6581 7");
}
