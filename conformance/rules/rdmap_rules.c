/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMAP's octets in every segment: version, reserved bits, opcode, buffer model and queue (RFC 5040 4.1, 5; RFC
 * 6580).
 */
#include "conformance/rules/rule_context.h"

enum { OPCODE_EXPERIMENT = 0xF };

static const struct ddp_segment *segment_of(const struct rule_context *ctx)
{
    return &ctx->event->ddp->segment;
}

/* RFC 5040 4.1: RV is 01b. Connections of Rev 0 have version 0 (RFC 5044 C.1). */
void rdmap_version(struct rule_context *ctx)
{
    if (ctx->flow->revision == MPA_REV_RDMAC)
        return;
    rule_because(ctx, HINT_VERSION);
    rule_judge_number(ctx, RDMAP_VERSION, ctx->event->rdmap->message.version, "RV", "RFC 5040 4.1");
}

/* RFC 5040 4.1: the two bits after RV are zero on sending. */
void rdmap_reserved_zero(struct rule_context *ctx)
{
    if (ctx->event->rdmap->message.reserved != 0)
        rule_fail(ctx, "octet 1 AND 0x30 = 0", rule_text(ctx, "octet 1 = 0x%02x", segment_of(ctx)->control),
                  "Reserved bits of the RDMAP control octet are set (RFC 5040 4.1)");
    else
        rule_pass(ctx);
}

/* RFC 5040 4.1: the Invalidate STag field is zero in Send, Send with SE, Read Request and Terminate. */
void invalidate_stag_zero(struct rule_context *ctx)
{
    if (!segment_of(ctx)->tagged)
        rule_judge_number(ctx, 0, segment_of(ctx)->ulp_word, "Invalidate STag of a message that invalidates nothing",
                          "RFC 5040 4.1");
}

/* RFC 6580 3.4: opcodes are 0 to 7, and 8 to B by RFC 7306; F is for experiments that both sides have agreed to. */
void opcode_registered(struct rule_context *ctx)
{
    unsigned opcode = ctx->event->rdmap->message.opcode;

    if (rdmap_opcode_rows[opcode].name != NULL)
        rule_pass(ctx);
    else if (opcode == OPCODE_EXPERIMENT)
        rule_warn(ctx, "opcode 0 to B", "opcode F", "The opcode for experiments is in use (RFC 6580 3.4)");
    else
        rule_fail(ctx, "opcode 0 to B", rule_text(ctx, "opcode %X", opcode),
                  "An opcode that no document assigns was sent (RFC 6580 3.4)");
}

static void judge_model(struct rule_context *ctx, bool tagged)
{
    if (segment_of(ctx)->tagged != tagged)
        rule_fail(ctx, tagged ? "T = 1" : "T = 0", tagged ? "T = 0" : "T = 1", "%s goes to %s buffer (RFC 5040 4.1, 5)",
                  ctx->event->rdmap->message.row->name, tagged ? "a tagged" : "an untagged");
    else
        rule_pass(ctx);
}

/* RFC 5040 5.1: an RDMA Write is tagged. */
void write_is_tagged(struct rule_context *ctx)
{
    judge_model(ctx, true);
}

/* RFC 5040 5.2.1: a Read Request is untagged. */
void read_request_is_untagged(struct rule_context *ctx)
{
    judge_model(ctx, false);
}

/* RFC 5040 5.2.2: a Read Response is tagged. */
void read_response_is_tagged(struct rule_context *ctx)
{
    judge_model(ctx, true);
}

/* RFC 5040 5.3: the Send types are untagged. */
void send_is_untagged(struct rule_context *ctx)
{
    judge_model(ctx, false);
}

/* RFC 5040 5.4: a Terminate is untagged. */
void terminate_is_untagged(struct rule_context *ctx)
{
    judge_model(ctx, false);
}

static void judge_queue(struct rule_context *ctx, uint32_t qn, const char *section)
{
    if (!segment_of(ctx)->tagged)
        rule_judge_number(ctx, qn, segment_of(ctx)->qn, "QN", section);
}

/* RFC 5040 5.2.1: a Read Request goes to QN 1. */
void read_request_queue(struct rule_context *ctx)
{
    judge_queue(ctx, DDP_QN_READ_REQUEST, "RFC 5040 5.2.1");
}

/* RFC 5040 5.3: the Send types go to QN 0. */
void send_queue(struct rule_context *ctx)
{
    judge_queue(ctx, DDP_QN_SEND, "RFC 5040 5.3");
}

/* RFC 5040 5.4: a Terminate goes to QN 2. */
void terminate_on_its_queue(struct rule_context *ctx)
{
    judge_queue(ctx, DDP_QN_TERMINATE, "RFC 5040 5.4");
}

/* RFC 5040 5.4: nothing is sent after a Terminate. Kept when the side closes, or the flow ends, without more. */
void nothing_behind_terminate(struct rule_context *ctx)
{
    if (!ctx->side->terminated)
        return;
    if (ctx->event->kind != FLOW_ULPDU) {
        rule_pass(ctx);
        return;
    }
    rule_because(ctx, HINT_GOES_ON);
    rule_fail(ctx, "nothing after the Terminate", "another FPDU",
              "A side that has sent a Terminate sent a further message (RFC 5040 5.4)");
}
