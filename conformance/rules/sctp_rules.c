/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Associations that carry DDP: checksum, INIT, DATA chunks (draft-stewart-rddp-sctp-02, RFC 5043). Which profile an
 * association keeps is known from an indication of 2 or from its first PPID; before that only what both say is judged.
 */
#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/rules/rule_context.h"

/* The number that stands there in the other octet order. */
static uint32_t turned(uint32_t value)
{
    return __builtin_bswap32(value);
}

static bool is_draft_ppid(uint32_t ppid)
{
    return ppid == DDP_SCTP_PPID_DRAFT_SEGMENT || ppid == DDP_SCTP_PPID_DRAFT_CONTROL;
}

static bool is_5043_ppid(uint32_t ppid)
{
    return ppid == DDP_SCTP_PPID_SEGMENT || ppid == DDP_SCTP_PPID_CONTROL;
}

/* The profile of the association; this event may be the first that shows it. */
static enum iwarp_sctp_profile profile_of(const struct rule_context *ctx)
{
    const struct flow_sctp *sctp = ctx->event->sctp;
    enum iwarp_sctp_profile profile = ctx->flow->sctp->profile;

    if (profile != IWARP_SCTP_UNDECIDED)
        return profile;
    if (sctp->init != NULL && sctp->init->has_adaptation)
        return sctp->init->adaptation == DDP_SCTP_INDICATION_DDP_RDMA ? IWARP_SCTP_DRAFT02
               : sctp->init->adaptation == DDP_SCTP_INDICATION_DDP    ? IWARP_SCTP_RFC5043
                                                                      : IWARP_SCTP_UNDECIDED;
    if (sctp->data == NULL || !sctp->data->first)
        return IWARP_SCTP_UNDECIDED;
    return is_draft_ppid(sctp->data->ppid) ? IWARP_SCTP_DRAFT02 : IWARP_SCTP_RFC5043;
}

static bool has_data(const struct rule_context *ctx, enum iwarp_sctp_profile profile)
{
    const struct flow_sctp *sctp = ctx->event->sctp;

    return sctp->data != NULL && !sctp->duplicate && profile_of(ctx) == profile;
}

static bool has_init(const struct rule_context *ctx, enum iwarp_sctp_profile profile)
{
    return ctx->event->sctp->init != NULL && profile_of(ctx) == profile;
}

/* RFC 2960 had Adler-32; DDP asks for at least CRC32c (RFC 5041 3). */
void draft_checksum_crc32c(struct rule_context *ctx)
{
    if (profile_of(ctx) != IWARP_SCTP_DRAFT02)
        return;
    if (ctx->event->sctp->checksum == FLOW_CHECKSUM_ADLER32)
        rule_ambiguous(ctx, "CRC32c (RFC 3309, RFC 4960)", "Adler-32 (RFC 2960 as printed)",
                       "The packet's checksum is Adler-32, which RFC 5041 3 does not allow under DDP");
    else if (ctx->event->sctp->checksum == FLOW_CHECKSUM_GOOD)
        rule_pass(ctx);
}

/* Draft 2.1: a whole association is in one mode. */
void draft_ppids_only(struct rule_context *ctx)
{
    uint32_t ppid;

    if (!has_data(ctx, IWARP_SCTP_DRAFT02) || !ctx->event->sctp->data->first)
        return;
    ppid = ctx->event->sctp->data->ppid;
    if (!is_draft_ppid(ppid) && !is_5043_ppid(ppid) && !is_draft_ppid(turned(ppid)))
        rule_fail(
            ctx, "PPID 1 or 2", rule_text(ctx, "PPID %u on stream %u", ppid, ctx->event->sctp->data->sid),
            "User data of another protocol were sent in an association with DDP (draft-stewart-rddp-sctp-02 2.1)");
    else
        rule_pass(ctx);
}

/* Draft 2.1: C0 06, length 8, the value in network order. */
void draft_indication_form(struct rule_context *ctx)
{
    const struct sctp_init *init = ctx->event->sctp->init;

    if (init == NULL || init->adaptation_at == NULL || profile_of(ctx) != IWARP_SCTP_DRAFT02)
        return;
    if (init->adaptation_length != SCTP_ADAPTATION_OCTETS || turned(init->adaptation) == DDP_SCTP_INDICATION_DDP ||
        turned(init->adaptation) == DDP_SCTP_INDICATION_DDP_RDMA)
        rule_fail(ctx, "c0 06 00 08 00 00 00 0v",
                  rule_octets(ctx, init->adaptation_at,
                              init->has_adaptation ? SCTP_ADAPTATION_OCTETS : SCTP_PARAMETER_OCTETS),
                  "The Adaptation Layer Indication is not laid out as it should be (draft-stewart-rddp-sctp-02 2.1)");
    else
        rule_pass(ctx);
}

/* The sender of DDP's chunks has announced DDP in its INIT or INIT ACK. */
static void judge_indication(struct rule_context *ctx, uint32_t most, const char *expected, const char *section)
{
    const struct flow_sctp_state *state = ctx->flow->sctp;

    if (!state->init_seen[ctx->direction] || !ctx->event->sctp->data->first || ctx->event->sctp->foreign)
        return;
    if (!state->has_indication[ctx->direction] || state->indication[ctx->direction] == 0 ||
        state->indication[ctx->direction] > most)
        rule_fail(ctx, expected,
                  state->has_indication[ctx->direction]
                      ? rule_text(ctx, "indication %u", state->indication[ctx->direction])
                      : "none",
                  "A sender of DDP's chunks did not indicate DDP in INIT or INIT ACK (%s)", section);
    else
        rule_pass(ctx);
}

void draft_indication_value(struct rule_context *ctx)
{
    if (has_data(ctx, IWARP_SCTP_DRAFT02))
        judge_indication(ctx, DDP_SCTP_INDICATION_DDP_RDMA, "indication 1 or 2", "draft-stewart-rddp-sctp-02 2.1");
}

void indication_value(struct rule_context *ctx)
{
    if (has_data(ctx, IWARP_SCTP_RFC5043))
        judge_indication(ctx, DDP_SCTP_INDICATION_DDP, "indication 1", "RFC 5043 5.1");
}

/* Draft 2.2: PPID 1 for segments, 2 for control. */
void draft_ppid_values(struct rule_context *ctx)
{
    uint32_t ppid;

    if (!has_data(ctx, IWARP_SCTP_DRAFT02) || !ctx->event->sctp->data->first)
        return;
    ppid = ctx->event->sctp->data->ppid;
    if (is_5043_ppid(ppid) || is_draft_ppid(turned(ppid)))
        rule_fail(ctx, "PPID 1 or 2", rule_text(ctx, "PPID 0x%08x", ppid),
                  "The PPID is not the one that the draft assigns to DDP (draft-stewart-rddp-sctp-02 2.2)");
    else if (is_draft_ppid(ppid))
        rule_pass(ctx);
}

static uint16_t smaller(uint16_t one, uint16_t other)
{
    return one < other ? one : other;
}

/*
 * An INIT asks for equal numbers; an INIT ACK leaves those equal that both sides can use. To unequal ones it may answer
 * in any way: what counts then is which streams are used.
 */
static void judge_streams(struct rule_context *ctx, const char *section)
{
    const struct sctp_init *init = ctx->event->sctp->init;
    const struct flow_sctp_state *state = ctx->flow->sctp;
    uint16_t out = init->outbound, in = init->inbound;

    if (ctx->event->sctp->chunk.type == SCTP_INIT_ACK) {
        if (!state->init_seen[FLOW_FROM_INITIATOR] ||
            state->outbound[FLOW_FROM_INITIATOR] != state->inbound[FLOW_FROM_INITIATOR])
            return;
        out = smaller(out, state->inbound[FLOW_FROM_INITIATOR]);
        in = smaller(in, state->outbound[FLOW_FROM_INITIATOR]);
    }
    if (out != in)
        rule_fail(ctx, "as many outbound as inbound streams", rule_text(ctx, "%u outbound, %u inbound", out, in),
                  "The association has unequal numbers of streams in its two directions (%s)", section);
    else
        rule_pass(ctx);
}

void draft_equal_streams(struct rule_context *ctx)
{
    if (has_init(ctx, IWARP_SCTP_DRAFT02))
        judge_streams(ctx, "draft-stewart-rddp-sctp-02 4");
}

void equal_streams(struct rule_context *ctx)
{
    if (has_init(ctx, IWARP_SCTP_RFC5043))
        judge_streams(ctx, "RFC 5043 8");
}

static void judge_addresses(struct rule_context *ctx, const char *section)
{
    unsigned addresses = ctx->event->sctp->init->addresses;

    if (addresses > 1)
        rule_fail(ctx, "at most one address", rule_text(ctx, "%u addresses", addresses),
                  "The endpoint is bound to more than one address (%s)", section);
    else
        rule_pass(ctx);
}

void draft_one_address(struct rule_context *ctx)
{
    if (has_init(ctx, IWARP_SCTP_DRAFT02))
        judge_addresses(ctx, "draft-stewart-rddp-sctp-02 3.2");
}

void one_address(struct rule_context *ctx)
{
    if (has_init(ctx, IWARP_SCTP_RFC5043))
        judge_addresses(ctx, "RFC 5043 7.2");
}

/* Draft 5: fragmentation is disabled. */
void draft_not_fragmented(struct rule_context *ctx)
{
    const struct sctp_data *data = ctx->event->sctp->data;

    if (!has_data(ctx, IWARP_SCTP_DRAFT02))
        return;
    if (!data->first || !data->last)
        rule_fail(ctx, "B = 1, E = 1", rule_text(ctx, "B = %d, E = %d", data->first, data->last),
                  "SCTP has fragmented a user message (draft-stewart-rddp-sctp-02 5)");
    else
        rule_pass(ctx);
}

/*
 * RFC 5043 9: fragments only where IP would have to make some. No length is promised to pass any path but 68 octets
 * (RFC 791 3.2): a packet with a fragment of a message shows what the sender takes its path for, and it would have held
 * the message.
 */
void not_fragmented(struct rule_context *ctx)
{
    const struct flow_sctp *sctp = ctx->event->sctp;
    size_t whole;

    if (!has_data(ctx, IWARP_SCTP_RFC5043))
        return;
    if (sctp->data->first && sctp->data->last) {
        rule_pass(ctx);
        return;
    }
    whole = sctp->network_octets - sctp->packet_octets + SCTP_COMMON_OCTETS + SCTP_DATA_OCTETS + sctp->message_octets;
    if (sctp->message_octets != 0 && sctp->network_octets != 0 && whole <= sctp->message_network_octets)
        rule_fail(ctx, "B = 1, E = 1",
                  rule_text(ctx, "a message of %zu octets in fragments, one of them in a packet of %zu octets",
                            sctp->message_octets, sctp->message_network_octets),
                  "SCTP has fragmented a user message that fits the path MTU (RFC 5043 9)");
}

static void judge_unordered(struct rule_context *ctx, const char *section)
{
    if (!ctx->event->sctp->data->unordered)
        rule_fail(ctx, "U = 1", rule_text(ctx, "U = 0, SSN %u", ctx->event->sctp->data->ssn),
                  "A DATA chunk is sent ordered (%s)", section);
    else
        rule_pass(ctx);
}

void draft_unordered(struct rule_context *ctx)
{
    if (has_data(ctx, IWARP_SCTP_DRAFT02))
        judge_unordered(ctx, "draft-stewart-rddp-sctp-02 6");
}

void unordered(struct rule_context *ctx)
{
    if (has_data(ctx, IWARP_SCTP_RFC5043))
        judge_unordered(ctx, "RFC 5043 10");
}

/* RFC 5043 5.1: all streams are DDP's. */
void ppids_only(struct rule_context *ctx)
{
    uint32_t ppid;

    if (!has_data(ctx, IWARP_SCTP_RFC5043) || !ctx->event->sctp->data->first)
        return;
    ppid = ctx->event->sctp->data->ppid;
    if (!is_5043_ppid(ppid) && !is_5043_ppid(turned(ppid)))
        rule_fail(ctx, "PPID 16 or 17", rule_text(ctx, "PPID %u on stream %u", ppid, ctx->event->sctp->data->sid),
                  "User data of another protocol in an association with DDP (RFC 5043 5.1)");
    else
        rule_pass(ctx);
}

/* RFC 5043 5.2: in network order, though SCTP's interface takes the PPID as it is given. */
void ppid_values(struct rule_context *ctx)
{
    uint32_t ppid;

    if (!has_data(ctx, IWARP_SCTP_RFC5043) || !ctx->event->sctp->data->first)
        return;
    ppid = ctx->event->sctp->data->ppid;
    if (is_5043_ppid(turned(ppid)))
        rule_fail(ctx, rule_text(ctx, "PPID 0x%08x", turned(ppid)), rule_text(ctx, "PPID 0x%08x", ppid),
                  "The PPID is not in network order (RFC 5043 5.2)");
    else if (is_5043_ppid(ppid))
        rule_pass(ctx);
}
