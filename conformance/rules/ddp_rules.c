/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP Segments (RFC 5041 4 and 5). Continuity is judged against the flow's state before the segment, and only while
 * nothing of the sender is missing. A sender that goes on from a wrong number is found once: the state follows it.
 *
 * Segments of a message may come in any order (5.3: a SHOULD); what they must add up to is judged at the last one.
 */
#include "conformance/rules/ddp_state.h"

static const struct ddp_segment *segment_of(const struct rule_context *ctx)
{
    return &ctx->event->ddp->segment;
}

/* RFC 5041 4: a segment holds a whole header. */
void segment_has_header(struct rule_context *ctx)
{
    const struct flow_ulpdu *ulpdu = ctx->event->ulpdu;
    unsigned length = ulpdu->length;

    if (!flow_crc_ok(ulpdu) || (length != 0 && ulpdu->have == 0))
        return;
    if (length < DDP_TAGGED_OCTETS || (!(ulpdu->octets[0] & 0x80) && length < DDP_UNTAGGED_OCTETS))
        rule_fail(ctx, "a DDP header: 14 octets tagged, 18 untagged", rule_text(ctx, "a ULPDU of %u octets", length),
                  "The ULPDU is too short for its DDP header (RFC 5041 4)");
    else
        rule_pass(ctx);
}

/* RFC 5041 4.1: Rsvd is zero on sending. */
void ddp_reserved_zero(struct rule_context *ctx)
{
    if (segment_of(ctx)->reserved != 0)
        rule_fail(ctx, "octet 0 AND 0x3c = 0", rule_text(ctx, "octet 0 = 0x%02x", segment_of(ctx)->header[0]),
                  "Reserved bits of the DDP control octet are set (RFC 5041 4.1)");
    else
        rule_pass(ctx);
}

/* RFC 5041 4.1: DV is 1. Connections of Rev 0 have version 0 (RFC 5044 C.1). */
void ddp_version(struct rule_context *ctx)
{
    if (ctx->flow->revision == MPA_REV_RDMAC)
        return;
    rule_because(ctx, HINT_VERSION);
    rule_judge_number(ctx, DDP_VERSION, segment_of(ctx)->version, "DV", "RFC 5041 4.1");
}

/* RFC 5041 4.1: DV is the same in all segments of a stream. */
void ddp_version_constant(struct rule_context *ctx)
{
    if (ctx->side->version_known)
        rule_judge_number(ctx, ctx->side->version, segment_of(ctx)->version, "DV, as in the first segment,",
                          "RFC 5041 4.1");
}

/* The MSN continues the count of the sender's untagged messages on all queues, and so did the message before. */
static bool msn_counts_all_queues(const struct rule_context *ctx)
{
    uint64_t messages = 0, latest = 0;

    for (unsigned i = 0; i < FLOW_QUEUES; i++) {
        const struct flow_queue *queue = &ctx->half->queue[i];
        uint32_t msn = queue->open ? queue->next_msn : queue->next_msn - 1;

        if (!queue->seen)
            continue;
        messages += queue->messages + queue->open;
        if (msn > latest)
            latest = msn;
    }
    return latest == messages && segment_of(ctx)->msn == messages + 1;
}

/* One counter for all queues gives wrong MSNs on each of them, which are one fault. */
static void judge_msn(struct rule_context *ctx, uint32_t expected, const char *what)
{
    if (segment_of(ctx)->msn != expected && msn_counts_all_queues(ctx))
        rule_because(ctx, HINT_MSN_SHARED);
    rule_judge_number(ctx, expected, segment_of(ctx)->msn, what, "RFC 5041 4.3");
}

/* RFC 5041 4.3: MSN begins at 1 on each queue of a stream. */
void msn_begins_at_one(struct rule_context *ctx)
{
    const struct flow_queue *queue = ddp_queue(ctx);

    /* Over SCTP by the draft, whether MSNs restart with a Stream Reset is left open: SCTP-7.2-14. */
    if (queue == NULL || queue->seen || !rule_from_start(ctx, ctx->direction) ||
        (ctx->flow->kind == FLOW_STREAM && ctx->flow->sctp->resets[ctx->direction] != 0))
        return;
    judge_msn(ctx, DDP_FIRST_MSN, "the queue's first MSN");
}

/* RFC 5041 4.3: MSN grows by one with each message of its queue. */
void msn_counts_messages(struct rule_context *ctx)
{
    const struct flow_queue *queue = ddp_queue(ctx);

    if (queue == NULL || !queue->seen || queue->open || ddp_after_last(ctx))
        return;
    judge_msn(ctx, queue->next_msn, "MSN of the queue's next message");
}

/* RFC 5041 4.3: MSN is the same in all segments of a message. */
void msn_constant(struct rule_context *ctx)
{
    const struct flow_queue *queue = ddp_queue(ctx);

    if (queue == NULL || !queue->open || ddp_last_missing(ctx) || ctx->side->queue[segment_of(ctx)->qn].mixed)
        return;
    rule_judge_number(ctx, queue->next_msn, segment_of(ctx)->msn, "MSN inside a message", "RFC 5041 4.3");
}

/* RFC 5041 4.1: L is set on the last segment of every message. */
void last_segment_marked(struct rule_context *ctx)
{
    const struct flow_queue *queue = ddp_queue(ctx);

    if (queue == NULL || !queue->open)
        return;
    if (ddp_last_missing(ctx))
        rule_fail(
            ctx, "L = 1 in the last segment of a message",
            rule_text(ctx, "MSN %u begins, but no segment of MSN %u had L", segment_of(ctx)->msn, queue->next_msn),
            "A new message begins on the queue before the previous one had its L bit (RFC 5041 4.1)");
    else if (segment_of(ctx)->last)
        rule_pass(ctx);
}

/* RFC 5041 4.1: the segment with L = 1 goes after all others of its message. */
void nothing_behind_last(struct rule_context *ctx)
{
    const struct flow_queue *queue = ddp_queue(ctx);

    if (queue == NULL || !queue->seen || queue->open)
        return;
    if (ddp_after_last(ctx))
        rule_fail(ctx, rule_text(ctx, "MSN %u, MO 0", queue->next_msn),
                  rule_text(ctx, "MSN %u, MO %u", segment_of(ctx)->msn, segment_of(ctx)->mo),
                  "A segment follows the one that had L = 1 in its message (RFC 5041 4.1)");
    else
        rule_pass(ctx);
}

/* RFC 5041 4.1: the segment with L = 1 has the highest MO of its message. */
void last_has_highest_mo(struct rule_context *ctx)
{
    struct ddp_offsets offsets;

    if (!ddp_message_ends(ctx, false, &offsets) || offsets.single)
        return;
    if (offsets.highest > (int64_t)segment_of(ctx)->mo + (int64_t)segment_of(ctx)->payload_octets)
        rule_fail(ctx, "L = 1 in the segment with the highest MO", rule_text(ctx, "MO = %u", segment_of(ctx)->mo),
                  "The last segment does not reach the end of its message (RFC 5041 4.1)");
    else
        rule_pass(ctx);
}

/* RFC 5041 4.3: the segment with the message's first octet has MO 0. */
void message_begins_at_zero(struct rule_context *ctx)
{
    struct ddp_offsets offsets;

    if (!ddp_message_ends(ctx, false, &offsets))
        return;
    if (offsets.lowest != 0)
        rule_fail(ctx, "MO = 0 in the first segment", rule_text(ctx, "lowest MO = %lld", (long long)offsets.lowest),
                  "No segment of the message has MO 0 (RFC 5041 4.3)");
    else
        rule_pass(ctx);
}

/* RFC 5041 5.2: MO counts the octets of the message before this segment. */
void mo_counts_octets(struct rule_context *ctx)
{
    struct ddp_offsets offsets;

    if (!ddp_message_ends(ctx, false, &offsets) || offsets.single || offsets.lowest != 0)
        return;
    if (offsets.highest != (int64_t)offsets.octets)
        rule_fail(ctx, rule_text(ctx, "%llu octets up to MO + payload", (unsigned long long)offsets.octets),
                  rule_text(ctx, "%lld", (long long)offsets.highest),
                  "MO of the message's segments does not count its octets (RFC 5041 5.2)");
    else
        rule_pass(ctx);
}

/* RFC 5041 5.2: TO grows by the octets of the message before this segment. */
void to_counts_octets(struct rule_context *ctx)
{
    struct ddp_offsets offsets;
    uint64_t range;

    if (!ddp_message_ends(ctx, true, &offsets) || offsets.single)
        return;
    range = (uint64_t)offsets.highest - (uint64_t)offsets.lowest; /* may be more than an int64_t holds */
    if (range != offsets.octets)
        rule_fail(ctx, rule_text(ctx, "a range of %llu octets", (unsigned long long)offsets.octets),
                  rule_text(ctx, "TO from first to last covers %llu", (unsigned long long)range),
                  "TO of the message's segments does not count its octets (RFC 5041 5.2)");
    else
        rule_pass(ctx);
}

/* RFC 5041 5.3: segments of an untagged message go in rising MO order. */
void mo_rises(struct rule_context *ctx)
{
    const struct flow_queue *queue = ddp_queue(ctx);
    const struct rule_message *message;

    if (queue == NULL || !queue->open || segment_of(ctx)->msn != queue->next_msn)
        return;
    message = &ctx->side->queue[segment_of(ctx)->qn];
    if (message->mixed)
        return;
    if (segment_of(ctx)->mo < message->last)
        rule_fail(ctx, rule_text(ctx, "MO > %llu", (unsigned long long)message->last),
                  rule_text(ctx, "MO = %u", segment_of(ctx)->mo),
                  "The segments of a message do not go in rising MO order (RFC 5041 5.3)");
    else
        rule_pass(ctx);
}

/* RFC 5041 5.3: segments of a tagged message go in rising TO order. */
void to_rises(struct rule_context *ctx)
{
    const struct flow_tagged *tagged = ddp_tagged(ctx);

    if (tagged == NULL || !tagged->open || segment_of(ctx)->stag != tagged->stag || ctx->side->tagged.mixed)
        return;
    if ((int64_t)(segment_of(ctx)->to - ctx->side->tagged.last) < 0)
        rule_fail(ctx, rule_text(ctx, "TO > 0x%llx", (unsigned long long)ctx->side->tagged.last),
                  rule_text(ctx, "TO = 0x%llx", (unsigned long long)segment_of(ctx)->to),
                  "The segments of a message do not go in rising TO order (RFC 5041 5.3)");
    else
        rule_pass(ctx);
}

/* RFC 5041 4.2: STag is the same in all segments of a tagged message. */
void stag_constant(struct rule_context *ctx)
{
    const struct flow_tagged *tagged = ddp_tagged(ctx);

    if (tagged == NULL || !tagged->open)
        return;
    if (segment_of(ctx)->stag != tagged->stag)
        rule_fail(ctx, rule_text(ctx, "STag 0x%08x", tagged->stag),
                  rule_text(ctx, "STag 0x%08x", segment_of(ctx)->stag),
                  "STag changes inside a tagged message (RFC 5041 4.2)");
    else
        rule_pass(ctx);
}

/*
 * RFC 5041 4.2: RsvdULP is the same in all segments of a tagged message. Only the L bit shows where a tagged message
 * ends: a segment before it belongs to the same message.
 */
void tagged_rsvdulp_constant(struct rule_context *ctx)
{
    const struct ddp_segment *segment = segment_of(ctx);
    const struct flow_tagged *tagged = ddp_tagged(ctx);
    uint8_t control = ctx->side->tagged.control;

    if (tagged == NULL || (!ctx->half->write.open && !ctx->half->read_response.open))
        return;
    if (segment->control != control)
        rule_fail(ctx, rule_text(ctx, "RsvdULP 0x%02x", control), rule_text(ctx, "RsvdULP 0x%02x", segment->control),
                  "RsvdULP changes before the tagged message had its last segment (RFC 5041 4.2)");
    else
        rule_pass(ctx);
}

/* RFC 5041 4.3: all 40 bits of RsvdULP are the same in all segments of an untagged message. */
void untagged_rsvdulp_constant(struct rule_context *ctx)
{
    const struct ddp_segment *segment = segment_of(ctx);
    const struct flow_queue *queue = ddp_queue(ctx);
    uint8_t control;

    if (queue == NULL || !queue->open || segment->msn != queue->next_msn || ctx->side->queue[segment->qn].mixed)
        return;
    control = ctx->side->queue[segment->qn].control;
    if (segment->control != control || segment->ulp_word != queue->stag)
        rule_fail(ctx, rule_text(ctx, "RsvdULP 0x%02x%08x", control, queue->stag),
                  rule_text(ctx, "RsvdULP 0x%02x%08x", segment->control, segment->ulp_word),
                  "RsvdULP changes inside an untagged message (RFC 5041 4.3)");
    else
        rule_pass(ctx);
}

/* RFC 5041 5.2: a zero-length message is exactly one segment. */
void empty_message_is_one_segment(struct rule_context *ctx)
{
    struct ddp_offsets offsets;

    if (!ddp_message_ends(ctx, segment_of(ctx)->tagged, &offsets) || offsets.octets != 0)
        return;
    if (!offsets.single)
        rule_fail(ctx, "one segment", "several", "A zero-length message was sent in several segments (RFC 5041 5.2)");
    else
        rule_pass(ctx);
}
