/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iSER (RFC 7145): the STags that SCSI Commands advertise, and tagged messages to them. A target writes what a SCSI Read
 * returns, reads what a SCSI Write takes, and does neither after its SCSI Response.
 */
#include "conformance/flow/ulp/flow_iser.h"
#include "conformance/rules/rule_access.h"

/* ---- commands (7.3.1) -------------------------------------------------------------------------------------------- */

static bool is_pdu(const struct rule_context *ctx, uint8_t opcode)
{
    const struct flow_iser_message *said = &ctx->event->rdmap->iser;

    return said->kind == FLOW_ISER_CONTROL && said->has_pdu && said->pdu.opcode == opcode;
}

void iser_read_advertises(struct rule_context *ctx)
{
    const struct flow_iser_message *said = &ctx->event->rdmap->iser;

    if (!is_pdu(ctx, ISCSI_COMMAND) || !iscsi_reads(&said->pdu) || iscsi_writes(&said->pdu) || said->pdu.word == 0)
        return;
    if (said->reads)
        rule_pass(ctx);
    else
        rule_fail(ctx, "RSV = 1", "RSV = 0", "A SCSI Read advertises no Read STag (RFC 7145 7.3.1)");
}

/* Without Data-Outs to come (Final), what is not here is to be solicited. */
void iser_write_advertises(struct rule_context *ctx)
{
    const struct flow_iser_message *said = &ctx->event->rdmap->iser;

    if (!is_pdu(ctx, ISCSI_COMMAND) || !iscsi_writes(&said->pdu) || (said->pdu.flags & 0x80) == 0 ||
        said->pdu.word <= said->pdu.data_octets)
        return;
    if (said->writes)
        rule_pass(ctx);
    else
        rule_fail(ctx, "WSV = 1", "WSV = 0",
                  "A SCSI Write with data to be solicited advertises no Write STag (RFC 7145 7.3.1)");
}

/* ---- responses (7.3.2) ------------------------------------------------------------------------------------------- */

static const struct flow_buffer *advertised(const struct rule_context *ctx, uint8_t list)
{
    struct flow_buffer place = {
        .owner = flow_iser_of(ctx->flow)->initiator, .exchange = ctx->event->rdmap->iser.pdu.task, .list = list};

    return flow_buffers_at(ctx->flow->ulp->buffers, &place);
}

void iser_invalidates_own(struct rule_context *ctx)
{
    const struct flow_buffer *due;
    uint32_t stag = ctx->event->ddp->segment.ulp_word;

    if (!is_pdu(ctx, ISCSI_RESPONSE) || !rule_buffers_known(ctx) ||
        (uint8_t)ctx->direction == flow_iser_of(ctx->flow)->initiator ||
        !rdmap_opcode_rows[ctx->event->rdmap->message.opcode].invalidates)
        return;
    due = advertised(ctx, FLOW_ISER_READ_BUFFER);
    due = due != NULL ? due : advertised(ctx, FLOW_ISER_WRITE_BUFFER);
    if (due != NULL && due->stag == stag)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(
            ctx,
            due == NULL ? "a Send without Invalidate, as no STag stands"
                        : rule_text(ctx, "STag 0x%08x, as frame %llu says", due->stag, (unsigned long long)due->frame),
            rule_text(ctx, "STag 0x%08x", stag),
            "The SCSI Response invalidates another STag than its command advertised: the Read STag, "
            "without one the Write STag (RFC 7145 7.3.2)");
}

/* ---- tagged messages (1.5, 7.3) ---------------------------------------------------------------------------------- */

/* The initiator writes and reads no memory of the target. */
static void judge_initiator(struct rule_context *ctx, enum flow_buffer_access kind, const char *what)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);
    struct flow_access access;

    if (iser == NULL || !flow_access_read(ctx->event, &access) || access.access != kind)
        return;
    if ((uint8_t)ctx->direction != iser->initiator)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "no %s by the initiator", what), rule_access_text(ctx, &access),
                  "The initiator sends an %s (RFC 7145 %s)", what, kind == FLOW_BUFFER_WRITE ? "1.5.3" : "1.5.4");
}

void iser_initiator_writes_not(struct rule_context *ctx)
{
    judge_initiator(ctx, FLOW_BUFFER_WRITE, "RDMA Write");
}

void iser_initiator_reads_not(struct rule_context *ctx)
{
    judge_initiator(ctx, FLOW_BUFFER_READ, "RDMA Read Request");
}

/* Of a target: what an initiator does is judged above. */
static bool is_target(const struct rule_context *ctx)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);

    return iser != NULL && (uint8_t)ctx->direction != iser->initiator;
}

void iser_write_advertised(struct rule_context *ctx)
{
    if (is_target(ctx))
        rule_access_advertised(ctx, &(struct rule_access){FLOW_ULP_ISER, FLOW_BUFFER_WRITE, "RFC 7145 7.3.5"},
                               "a SCSI Command");
}

void iser_write_inside(struct rule_context *ctx)
{
    if (is_target(ctx))
        rule_access_inside(ctx, &(struct rule_access){FLOW_ULP_ISER, FLOW_BUFFER_WRITE, "RFC 7145 7.3.5"});
}

void iser_read_advertised(struct rule_context *ctx)
{
    if (is_target(ctx))
        rule_access_advertised(ctx, &(struct rule_access){FLOW_ULP_ISER, FLOW_BUFFER_READ, "RFC 7145 7.3.6"},
                               "a SCSI Command");
}

void iser_read_inside(struct rule_context *ctx)
{
    if (is_target(ctx))
        rule_access_inside(ctx, &(struct rule_access){FLOW_ULP_ISER, FLOW_BUFFER_READ, "RFC 7145 7.3.6"});
}

void iser_access_in_time(struct rule_context *ctx)
{
    if (is_target(ctx))
        rule_access_in_time(
            ctx, &(struct rule_access){FLOW_ULP_ISER, FLOW_BUFFER_READ | FLOW_BUFFER_WRITE, "RFC 7145 7.3.2"},
            "the SCSI Response");
}
