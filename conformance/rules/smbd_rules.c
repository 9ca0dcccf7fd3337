/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMB Direct as far as it concerns RDMA ([MS-SMBD]): what is negotiated, sizes of messages, Send Credits, fragments.
 * Judged only where conformance/flow/ulp recognised it. What a receiver must verify, its sender must keep: it would
 * lose the connection.
 */
#include "conformance/flow/ulp/flow_smbd.h"
#include "conformance/rules/rule_context.h"
#include "conformance/rules/rule_reads.h"
#include "conformance/rules/start_frame.h"

static bool is(const struct rule_context *ctx, enum flow_smbd_message message)
{
    return flow_smbd_message(ctx->event) == message;
}

/* The event is that Negotiate message, and a Response does not refuse: *said is what it says. */
static bool says(const struct rule_context *ctx, enum flow_smbd_message message, struct smbd_negotiate *said)
{
    const struct flow_ddp *ddp = ctx->event->ddp;
    const uint8_t *p = ddp->segment.payload, *end = p + ddp->payload_have;

    if (!is(ctx, message))
        return false;
    if (message == FLOW_SMBD_REQUEST)
        return smbd_request_parse(&p, end, said) == WIRE_OK;
    return smbd_response_parse(&p, end, said) == WIRE_OK && said->status == 0;
}

/* A number of the message, by its name in the table of wire/smbd.h, has a least value. */
static void judge_least(struct rule_context *ctx, enum flow_smbd_message message, const char *field, uint32_t least,
                        const char *section)
{
    struct smbd_negotiate said;
    uint32_t is;

    if (!says(ctx, message, &said))
        return;
    is =
        (uint32_t)wire_field_get(wire_layout_field(flow_smbd_layout(message), field), ctx->event->ddp->segment.payload);
    if (is >= least)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "%s >= %u", field, least), rule_text(ctx, "%s = %u", field, is),
                  "%s of the Negotiate message is too small, and its receiver ends the connection ([MS-SMBD] %s)",
                  field, section);
}

/* ---- negotiation ------------------------------------------------------------------------------------------------- */

void smbd_request_credits(struct rule_context *ctx)
{
    judge_least(ctx, FLOW_SMBD_REQUEST, "CreditsRequested", 1, "3.1.5.6");
}

void smbd_request_receive_size(struct rule_context *ctx)
{
    judge_least(ctx, FLOW_SMBD_REQUEST, "MaxReceiveSize", SMBD_RECEIVE_MIN, "3.1.5.6");
}

void smbd_request_fragmented_size(struct rule_context *ctx)
{
    judge_least(ctx, FLOW_SMBD_REQUEST, "MaxFragmentedSize", SMBD_FRAGMENTED_MIN, "3.1.5.6");
}

void smbd_response_version(struct rule_context *ctx)
{
    struct smbd_negotiate said;

    if (says(ctx, FLOW_SMBD_RESPONSE, &said))
        rule_judge_number(ctx, SMBD_VERSION, said.negotiated_version, "NegotiatedVersion", "[MS-SMBD] 3.1.5.7");
}

void smbd_response_receive_size(struct rule_context *ctx)
{
    judge_least(ctx, FLOW_SMBD_RESPONSE, "MaxReceiveSize", SMBD_RECEIVE_MIN, "3.1.5.7");
}

void smbd_response_fragmented_size(struct rule_context *ctx)
{
    judge_least(ctx, FLOW_SMBD_RESPONSE, "MaxFragmentedSize", SMBD_FRAGMENTED_MIN, "3.1.5.7");
}

void smbd_response_grants(struct rule_context *ctx)
{
    judge_least(ctx, FLOW_SMBD_RESPONSE, "CreditsGranted", 1, "3.1.5.7");
}

void smbd_response_credits(struct rule_context *ctx)
{
    judge_least(ctx, FLOW_SMBD_RESPONSE, "CreditsRequested", 1, "3.1.5.7");
}

void smbd_response_send_size(struct rule_context *ctx)
{
    struct smbd_negotiate said;
    uint32_t most;

    if (!says(ctx, FLOW_SMBD_RESPONSE, &said))
        return;
    most = ctx->flow->ulp->smbd[FLOW_FROM_INITIATOR].negotiate.max_receive;
    if (said.preferred_send <= most)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "PreferredSendSize <= %u", most),
                  rule_text(ctx, "PreferredSendSize = %u", said.preferred_send),
                  "PreferredSendSize exceeds the Request's MaxReceiveSize ([MS-SMBD] 3.1.5.7)");
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static bool is_transfer(const struct rule_context *ctx)
{
    enum flow_smbd_message message = flow_smbd_message(ctx->event);

    return (message == FLOW_SMBD_DATA || message == FLOW_SMBD_MORE) && rule_continuous(ctx);
}

/* [MS-SMBD] 3.1.5.6, 3.1.5.7: found in the segment that exceeds it. */
void smbd_message_size(struct rule_context *ctx)
{
    const struct flow_rdmap *rdmap = ctx->event->rdmap;
    uint64_t before;
    uint32_t most;

    if (!is_transfer(ctx))
        return;
    most = flow_smbd_send_max(ctx->flow->ulp, ctx->direction);
    before = rdmap->message_octets - ctx->event->ddp->segment.payload_octets;
    if (rdmap->message_octets > most && before <= most)
        rule_fail(
            ctx, rule_text(ctx, "at most %u octets", most),
            rule_text(ctx, "%llu octets%s", (unsigned long long)rdmap->message_octets, rdmap->last ? "" : " and more"),
            "The Send is longer than both sides negotiated: PreferredSendSize %u, MaxReceiveSize %u of the other "
            "side ([MS-SMBD] 3.1.5.6, 3.1.5.7)",
            ctx->flow->ulp->smbd[ctx->direction].negotiate.preferred_send,
            ctx->flow->ulp->smbd[flow_reverse(ctx->direction)].negotiate.max_receive);
    else if (rdmap->last && rdmap->message_octets <= most)
        rule_pass(ctx);
}

void smbd_data_header(struct rule_context *ctx)
{
    uint64_t octets = ctx->event->rdmap->message_octets;

    if (!is_transfer(ctx) || !ctx->event->rdmap->last)
        return;
    if (octets >= SMBD_DATA_OCTETS)
        rule_pass(ctx);
    else
        rule_fail(ctx, "at least 20 octets", rule_text(ctx, "%llu octets", (unsigned long long)octets),
                  "The message is too short for a Data Transfer ([MS-SMBD] 3.1.5.8)");
}

/* The header of a Data Transfer, in its first segment. */
static bool header_of(const struct rule_context *ctx, struct smbd_data *data)
{
    const struct flow_ddp *ddp = ctx->event->ddp;
    const uint8_t *p = ddp->segment.payload;

    return is(ctx, FLOW_SMBD_DATA) && smbd_data_parse(&p, p + ddp->payload_have, data) == WIRE_OK;
}

void smbd_data_credits(struct rule_context *ctx)
{
    struct smbd_data data;

    if (!header_of(ctx, &data))
        return;
    if (data.credits_requested != 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, "CreditsRequested >= 1", "CreditsRequested = 0",
                  "A Data Transfer asks for no credits, and its receiver ends the connection ([MS-SMBD] 3.1.5.8)");
}

void smbd_data_aligned(struct rule_context *ctx)
{
    struct smbd_data data;

    if (!header_of(ctx, &data))
        return;
    if (data.offset % SMBD_DATA_ALIGNMENT == 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, "DataOffset is a multiple of 8", rule_text(ctx, "DataOffset = %u", data.offset),
                  "DataOffset is not aligned to 8 octets ([MS-SMBD] 3.1.5.8)");
}

/* At the message's end its length is known; the header of a message of several segments was kept. */
void smbd_data_inside(struct rule_context *ctx)
{
    uint64_t octets = ctx->event->rdmap->message_octets, end;
    struct smbd_data data;

    if (!is_transfer(ctx) || !ctx->event->rdmap->last)
        return;
    if (!header_of(ctx, &data)) {
        if (!ctx->flow->ulp->smbd[ctx->direction].has_open)
            return;
        data = ctx->flow->ulp->smbd[ctx->direction].open;
    }
    end = (uint64_t)data.offset + data.length;
    if (end <= octets)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "DataOffset + DataLength <= %llu", (unsigned long long)octets),
                  rule_text(ctx, "%u + %u", data.offset, data.length),
                  "The data reach beyond the message ([MS-SMBD] 3.1.5.8)");
}

void smbd_data_fragments(struct rule_context *ctx)
{
    struct smbd_data data;
    uint64_t octets;
    uint32_t most;

    if (!header_of(ctx, &data))
        return;
    octets = (uint64_t)data.length + data.remaining;
    most = ctx->flow->ulp->smbd[flow_reverse(ctx->direction)].negotiate.max_fragmented;
    if (octets <= most)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "DataLength + RemainingDataLength <= %u", most),
                  rule_text(ctx, "%u + %u", data.length, data.remaining),
                  "The fragments together exceed the other side's MaxFragmentedSize ([MS-SMBD] 3.1.5.8)");
}

void smbd_flags_defined(struct rule_context *ctx)
{
    struct smbd_data data;

    if (!header_of(ctx, &data))
        return;
    if ((data.flags & ~SMBD_RESPONSE_REQUESTED) == 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Flags = 0x0000 or 0x0001", rule_text(ctx, "Flags = 0x%04x", data.flags),
                  "Flags has bits that are not defined ([MS-SMBD] 2.2.3)");
}

/* ---- credits ----------------------------------------------------------------------------------------------------- */

/*
 * What a side holds at most is known while nothing is missing: a grant that was lost, or one that came after what it
 * allows in the capture, would make it more.
 */
static bool credits_known(const struct rule_context *ctx)
{
    return rule_is_whole(ctx);
}

void smbd_credit_held(struct rule_context *ctx)
{
    if (!is(ctx, FLOW_SMBD_DATA) || !credits_known(ctx))
        return;
    if (ctx->flow->ulp->smbd[ctx->direction].credits != 0)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "no message without a Send Credit", "a message, with every credit used",
                              "A Data Transfer is sent although all Send Credits are used ([MS-SMBD] 3.1.5.1)");
}

void smbd_last_credit(struct rule_context *ctx)
{
    struct smbd_data data;

    if (!header_of(ctx, &data) || !credits_known(ctx) || ctx->flow->ulp->smbd[ctx->direction].credits != 1)
        return;
    if (data.credits_granted != 0)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "CreditsGranted >= 1 with the last Send Credit", "CreditsGranted = 0",
                              "The last Send Credit is used without granting one, so that both sides may wait for ever "
                              "([MS-SMBD] 3.1.5.1)");
}

/* ---- depths (appendix A) ----------------------------------------------------------------------------------------- */

/* The depths of a side's start-up frame that has no word for them; false: it says none, or is not known. */
static bool depths_of(const struct rule_context *ctx, enum flow_direction direction, struct smbd_depths *depths)
{
    const struct iwarp_mpa_start *start = start_good(ctx, direction);

    return start != NULL && !iwarp_mpa_start_has_word(start) && start->private_data != NULL &&
           smbd_depths_read(start->private_data, start->private_octets, depths);
}

void smbd_reads_open(struct rule_context *ctx)
{
    struct smbd_depths own, other;

    if (ctx->flow->ulp == NULL || ctx->flow->ulp->kind != FLOW_ULP_SMBD || ctx->flow->late || ctx->side->unsure ||
        ctx->peer->unsure || !depths_of(ctx, ctx->direction, &own) ||
        !depths_of(ctx, flow_reverse(ctx->direction), &other))
        return;
    rule_judge_reads_open(
        ctx, other.ird,
        "More Reads are open than the IRD that the other side's Private Data says ([MS-SMBD] appendix A)");
}
