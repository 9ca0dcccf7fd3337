/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iSER (RFC 7145): headers, Hello, what PDUs are sent, sizes and unexpected PDUs. Judged only where
 * conformance/flow/ulp recognised it. iser_buffer_rules.c has STags and the tagged messages to them.
 */
#include "conformance/flow/ulp/flow_iser.h"
#include "conformance/rules/rule_access.h"
#include "conformance/rules/rule_reads.h"

typedef const struct flow_iser_message message;

static message *message_of(const struct rule_context *ctx)
{
    return &ctx->event->rdmap->iser;
}

static bool is(const struct rule_context *ctx, enum flow_iser_kind kind)
{
    return message_of(ctx)->kind == kind;
}

static bool is_initiator(const struct rule_context *ctx)
{
    return (uint8_t)ctx->direction == flow_iser_of(ctx->flow)->initiator;
}

/* A control-type PDU whose Basic Header Segment is there. */
static bool has_pdu(const struct rule_context *ctx)
{
    return is(ctx, FLOW_ISER_CONTROL) && message_of(ctx)->has_pdu;
}

static bool is_login(const struct rule_context *ctx)
{
    return flow_iser_is_login(message_of(ctx));
}

/* All messages so far are known, as far as the capture shows. */
static bool whole(const struct rule_context *ctx)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);

    return iser != NULL && iser->from_start && rule_is_whole(ctx);
}

/* ---- the header (9) ---------------------------------------------------------------------------------------------- */

void iser_header_present(struct rule_context *ctx)
{
    message *said = message_of(ctx);
    const struct flow_rdmap *rdmap = ctx->event->rdmap;

    if (said->kind == FLOW_ISER_NONE)
        return;
    if (said->kind != FLOW_ISER_SHORT)
        rule_pass(ctx);
    else if (rdmap->last && rdmap->message_octets < ISER_HEADER_OCTETS)
        rule_fail(ctx, "a header of 28 octets",
                  rule_text(ctx, "%llu octets", (unsigned long long)rdmap->message_octets),
                  "The message is too short for the iSER header (RFC 7145 9.1)");
}

void iser_opcode_assigned(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (said->kind == FLOW_ISER_NONE || said->kind == FLOW_ISER_SHORT)
        return;
    if (said->kind != FLOW_ISER_OTHER)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Opcode 1 to 3", rule_text(ctx, "Opcode %u", said->opcode),
                  "The iSER header has an opcode that is not assigned (RFC 7145 9.1)");
}

/* Fields of an STag that is not valid, in an iSER header. */
static void judge_unused(struct rule_context *ctx, const char *which, uint32_t stag, uint64_t to)
{
    if (stag == 0 && to == 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "%s STag and Base Offset = 0", which),
                  rule_text(ctx, "0x%08x and 0x%llx", stag, (unsigned long long)to),
                  "The iSER header has a %s STag that it says is not valid (RFC 7145 9.2)", which);
}

void iser_write_unused(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (is(ctx, FLOW_ISER_CONTROL) && !said->writes)
        judge_unused(ctx, "Write", said->write_stag, said->write_to);
}

void iser_read_unused(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (is(ctx, FLOW_ISER_CONTROL) && !said->reads)
        judge_unused(ctx, "Read", said->read_stag, said->read_to);
}

/* Reserved fields of that kind of message. */
static void judge_reserved(struct rule_context *ctx, enum flow_iser_kind kind, const char *section)
{
    if (!is(ctx, kind))
        return;
    if (!message_of(ctx)->reserved_set)
        rule_pass(ctx);
    else
        rule_fail(ctx, "Reserved = 0", "bits of Reserved are set",
                  "The iSER header has bits set that are reserved (RFC 7145 %s)", section);
}

void iser_control_reserved(struct rule_context *ctx)
{
    judge_reserved(ctx, FLOW_ISER_CONTROL, "9.2");
}

void iser_hello_reserved(struct rule_context *ctx)
{
    judge_reserved(ctx, FLOW_ISER_HELLO, "9.3");
}

void iser_reply_reserved(struct rule_context *ctx)
{
    judge_reserved(ctx, FLOW_ISER_HELLO_REPLY, "9.4");
}

/* At a message's end its length is known; which PDU it is, in its first segment. */
void iser_pdu_whole(struct rule_context *ctx)
{
    message *said = message_of(ctx);
    uint64_t octets = ctx->event->rdmap->message_octets, due = ISER_PDU_OCTETS;

    if (!is(ctx, FLOW_ISER_CONTROL) || !ctx->event->rdmap->last)
        return;
    if (said->has_pdu)
        due = (uint64_t)said->pdu.head_octets + said->pdu.data_octets;
    else if (octets >= ISER_PDU_OCTETS)
        return; /* the capture has too little of it */
    if (octets >= due)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "at least %llu octets", (unsigned long long)due),
                  rule_text(ctx, "%llu octets", (unsigned long long)octets),
                  "The message ends before the PDU that it has (RFC 7145 9.2)");
}

static void judge_alone(struct rule_context *ctx, enum flow_iser_kind kind, const char *section)
{
    uint64_t octets = ctx->event->rdmap->message_octets;

    if (!is(ctx, kind))
        return;
    if (octets > ISER_HEADER_OCTETS)
        rule_fail(ctx, "28 octets", rule_text(ctx, "%llu octets", (unsigned long long)octets),
                  "The message has more than its header (RFC 7145 %s)", section);
    else if (ctx->event->rdmap->last)
        rule_pass(ctx);
}

void iser_hello_alone(struct rule_context *ctx)
{
    judge_alone(ctx, FLOW_ISER_HELLO, "9.3");
}

void iser_reply_alone(struct rule_context *ctx)
{
    judge_alone(ctx, FLOW_ISER_HELLO_REPLY, "9.4");
}

/* 9.3 and 9.4 say 10, the figures of Appendix B draw 1. */
static void judge_versions(struct rule_context *ctx, enum flow_iser_kind kind, const char *name, const char *section)
{
    message *said = message_of(ctx);
    const char *actual;

    if (!is(ctx, kind))
        return;
    if (said->max_version == ISER_VERSION && said->version == ISER_VERSION) {
        rule_pass(ctx);
        return;
    }
    actual = rule_text(ctx, "MaxVer = %u, %s = %u", said->max_version, name, said->version);
    if (said->max_version == ISER_VERSION_DRAWN && said->version == ISER_VERSION_DRAWN)
        rule_ambiguous(ctx, "10 (RFC 7145 9.3, 9.4)", actual,
                       "The versions are those of the figures in Appendix B, not of section %s", section);
    else
        rule_fail(ctx, rule_text(ctx, "MaxVer = 10, %s = 10", name), actual,
                  "The message is of another version of iSER (RFC 7145 %s)", section);
}

void iser_hello_versions(struct rule_context *ctx)
{
    judge_versions(ctx, FLOW_ISER_HELLO, "MinVer", "9.3");
}

void iser_reply_versions(struct rule_context *ctx)
{
    judge_versions(ctx, FLOW_ISER_HELLO_REPLY, "CurVer", "9.4");
}

/* ---- the Hello exchange (5.1.3, 8.2) ----------------------------------------------------------------------------- */

void iser_hello_first(struct rule_context *ctx)
{
    if (!is(ctx, FLOW_ISER_HELLO) || !whole(ctx))
        return;
    if (!flow_iser_of(ctx->flow)->spoke[ctx->direction])
        rule_pass(ctx);
    else
        rule_fail(ctx, "Hello as the first iSER message", "other messages before it",
                  "A Hello comes after other iSER messages (RFC 7145 5.1.3)");
}

void iser_hello_answered(struct rule_context *ctx)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);

    if (is(ctx, FLOW_ISER_NONE) || !whole(ctx) || is_login(ctx) || is_initiator(ctx) || !iser->hello ||
        iser->spoke[ctx->direction])
        return;
    if (is(ctx, FLOW_ISER_HELLO_REPLY))
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "a HelloReply as the first iSER message", "another message",
                              "The target answers the Hello by no HelloReply (RFC 7145 5.1.3)");
}

void iser_hello_depth(struct rule_context *ctx)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);
    message *said = message_of(ctx);

    if (!is(ctx, FLOW_ISER_HELLO_REPLY) || is_initiator(ctx) || !iser->hello || said->rejects)
        return;
    if (said->depth <= iser->ird)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "iSER-ORD <= %u", iser->ird), rule_text(ctx, "iSER-ORD = %u", said->depth),
                  "iSER-ORD of the HelloReply exceeds iSER-IRD of the Hello (RFC 7145 5.1.3)");
}

void iser_reads_open(struct rule_context *ctx)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);

    if (whole(ctx) && !is_initiator(ctx) && iser->replied)
        rule_judge_reads_open(ctx, iser->ord, "More Reads are open than the target's iSER-ORD (RFC 7145 8.2)");
}

/* ---- PDUs (5.1.2, 7.3) ------------------------------------------------------------------------------------------- */

/* A PDU that is not to be sent, by that side of iSCSI. */
static void judge_absent(struct rule_context *ctx, bool of_initiator, uint8_t opcode, const char *due,
                         const char *section)
{
    message *said = message_of(ctx);

    if (!has_pdu(ctx) || is_initiator(ctx) != of_initiator)
        return;
    if (said->pdu.opcode != opcode)
        rule_pass(ctx);
    else
        rule_fail(ctx, due, rule_text(ctx, "%s in a Send", wire_name_of(iscsi_opcode_names, opcode)),
                  "A PDU is sent that iSER does not carry (RFC 7145 %s)", section);
}

void iser_no_snack(struct rule_context *ctx)
{
    judge_absent(ctx, true, ISCSI_SNACK, "no SNACK Request", "7.3.11");
}

void iser_no_data_in(struct rule_context *ctx)
{
    judge_absent(ctx, false, ISCSI_DATA_IN, "SCSI Data-In as an RDMA Write", "7.3.5");
}

void iser_no_r2t(struct rule_context *ctx)
{
    judge_absent(ctx, false, ISCSI_R2T, "R2T as an RDMA Read Request", "7.3.6");
}

/* What Linux does over every transport: its iSER logs in by Sends. */
void iser_login_in_stream(struct rule_context *ctx)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);

    if (!has_pdu(ctx) || ctx->flow->kind != FLOW_CONNECTION || !iser->from_start)
        return;
    if (!is_login(ctx))
        rule_pass(ctx);
    else if (!iser->full)
        rule_warn(ctx, "the login before the start-up frames, in byte stream mode", "a Login PDU in a Send",
                  "The login is done in iSER messages (RFC 7145 5.1.2, 7.3.9)");
}

void iser_login_over(struct rule_context *ctx)
{
    if (!has_pdu(ctx) || !whole(ctx) || !flow_iser_of(ctx->flow)->full)
        return;
    if (!is_login(ctx))
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "no Login PDU in the Full Feature Phase",
                              wire_name_of(iscsi_opcode_names, message_of(ctx)->pdu.opcode),
                              "A Login PDU is sent in the Full Feature Phase (RFC 7145 7.3.9)");
}

/* ---- sizes and unexpected PDUs (6.4, 6.5, 8.1) ------------------------------------------------------------------- */

static void judge_data(struct rule_context *ctx, bool of_initiator, const char *key)
{
    uint32_t most;

    if (!has_pdu(ctx) || is_login(ctx) || is_initiator(ctx) != of_initiator || !flow_iser_of(ctx->flow)->from_start)
        return;
    most = flow_iser_data_max(flow_iser_of(ctx->flow), ctx->direction);
    if (most == 0)
        return;
    if (message_of(ctx)->pdu.data_octets <= most)
        rule_pass(ctx);
    else
        rule_fail(ctx, rule_text(ctx, "DataSegmentLength <= %u", most),
                  rule_text(ctx, "DataSegmentLength = %u", message_of(ctx)->pdu.data_octets),
                  "The data segment is longer than %s (RFC 7145 %s)", key, of_initiator ? "6.4" : "6.5");
}

void iser_data_to_target(struct rule_context *ctx)
{
    judge_data(ctx, true, "TargetRecvDataSegmentLength");
}

void iser_data_to_initiator(struct rule_context *ctx)
{
    judge_data(ctx, false, "InitiatorRecvDataSegmentLength");
}

static void judge_unexpected(struct rule_context *ctx, bool of_initiator, const char *section)
{
    const struct flow_iser *iser = flow_iser_of(ctx->flow);
    const struct flow_iser_keys *said;
    uint32_t most, open;

    if (!has_pdu(ctx) || !whole(ctx) || is_initiator(ctx) != of_initiator || iser->unexpected[ctx->direction].lost ||
        !flow_iser_is_unexpected(iser, ctx->event))
        return;
    said = &iser->keys[flow_reverse(ctx->direction)];
    most = said->value[FLOW_ISER_UNEXPECTED];
    if (!said->known[FLOW_ISER_UNEXPECTED] || most == 0)
        return;
    open = iser->unexpected[ctx->direction].count + 1;
    if (open <= most)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, rule_text(ctx, "at most %u unexpected PDUs", most), rule_text(ctx, "%u", open),
                              "More unexpected PDUs stand than MaxOutstandingUnexpectedPDUs of the other side (RFC "
                              "7145 %s)",
                              section);
}

void iser_initiator_unexpected(struct rule_context *ctx)
{
    judge_unexpected(ctx, true, "8.1.1.3");
}

void iser_target_unexpected(struct rule_context *ctx)
{
    judge_unexpected(ctx, false, "8.1.2");
}
