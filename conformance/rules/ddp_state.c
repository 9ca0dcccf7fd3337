/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/ddp_state.h"

#include "conformance/rules/track.h"

/* The sums of a message that is open, up to the segment before. */
static struct rule_message sums_so_far(const struct rule_message *message, int64_t end, uint64_t octets)
{
    struct rule_message sums = *message;

    if (!message->out_of_order) {
        sums.lowest = 0;
        sums.highest = end;
        sums.octets = octets;
    }
    return sums;
}

/* TO may lie anywhere in 64 bits: the greatest there is, rather than beyond it. */
static int64_t end_of(int64_t offset, size_t octets)
{
    return offset > INT64_MAX - (int64_t)octets ? INT64_MAX : offset + (int64_t)octets;
}

static void add_segment(struct rule_message *sums, int64_t offset, size_t octets)
{
    int64_t end = end_of(offset, octets);

    sums->lowest = offset < sums->lowest ? offset : sums->lowest;
    sums->highest = end > sums->highest ? end : sums->highest;
    sums->octets += octets;
}

static void set_single(struct ddp_offsets *offsets, int64_t offset, size_t octets)
{
    *offsets = (struct ddp_offsets){true, offset, end_of(offset, octets), octets};
}

static bool tagged_ends(const struct rule_context *ctx, struct ddp_offsets *offsets)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;
    const struct flow_tagged *tagged = ddp_tagged(ctx);
    struct rule_message sums;

    if (tagged == NULL || ctx->side->tagged.mixed)
        return false;
    if (!tagged->open) {
        set_single(offsets, 0, segment->payload_octets);
        return true;
    }
    if (segment->stag != tagged->stag || segment->control != ctx->side->tagged.control)
        return false;
    sums = sums_so_far(&ctx->side->tagged, (int64_t)(tagged->next_to - tagged->first_to), tagged->octets);
    add_segment(&sums, (int64_t)(segment->to - tagged->first_to), segment->payload_octets);
    *offsets = (struct ddp_offsets){false, sums.lowest, sums.highest, sums.octets};
    return true;
}

static bool untagged_ends(const struct rule_context *ctx, struct ddp_offsets *offsets)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;
    const struct flow_queue *queue = ddp_queue(ctx);
    struct rule_message sums;

    if (queue == NULL || ddp_after_last(ctx))
        return false;
    if (!queue->open && !queue->seen && !rule_from_start(ctx, ctx->direction))
        return false; /* the message may have begun before the capture did */
    if (!queue->open) {
        set_single(offsets, segment->mo, segment->payload_octets);
        return true;
    }
    if (segment->msn != queue->next_msn || ctx->side->queue[segment->qn].mixed)
        return false;
    sums = sums_so_far(&ctx->side->queue[segment->qn], queue->next_mo, queue->octets);
    add_segment(&sums, segment->mo, segment->payload_octets);
    *offsets = (struct ddp_offsets){false, sums.lowest, sums.highest, sums.octets};
    return true;
}

bool ddp_message_ends(const struct rule_context *ctx, bool tagged, struct ddp_offsets *offsets)
{
    if (!ctx->event->ddp->segment.last || ctx->event->ddp->segment.tagged != tagged)
        return false;
    return tagged ? tagged_ends(ctx, offsets) : untagged_ends(ctx, offsets);
}

static void track_message(struct rule_message *message, uint8_t control, bool open, bool follows, bool foreign,
                          const struct rule_message *sums, int64_t offset, const struct ddp_segment *segment)
{
    if (!open) {
        *message = (struct rule_message){.control = control, .out_of_order = !follows, .mixed = message->unknown};
        message->lowest = offset;
        message->highest = end_of(offset, segment->payload_octets);
        message->octets = segment->payload_octets;
    } else if (foreign) {
        message->mixed = true;
    } else if (!follows || message->out_of_order) {
        struct rule_message now = *sums;

        add_segment(&now, offset, segment->payload_octets);
        now.out_of_order = true;
        *message = now;
    }
    message->last = segment->tagged ? segment->to : segment->mo;
    if (segment->last)
        message->out_of_order = message->mixed = false;
}

void track_segment(struct rule_side *side, const struct flow *flow, enum flow_direction direction,
                   const struct ddp_segment *segment)
{
    const struct flow_half *half = &flow->half[direction];
    struct rule_message sums;
    unsigned odd = 0;

    if (segment->tagged) {
        bool response = (segment->control & 0xF) == IWARP_RDMAP_READ_RESPONSE;
        const struct flow_tagged *tagged = response ? &half->read_response : &half->write;

        sums = sums_so_far(&side->tagged, (int64_t)(tagged->next_to - tagged->first_to), tagged->octets);
        track_message(&side->tagged, segment->control, tagged->open, !tagged->open || segment->to == tagged->next_to,
                      segment->stag != tagged->stag || segment->control != side->tagged.control, &sums,
                      tagged->open ? (int64_t)(segment->to - tagged->first_to) : 0, segment);
    } else if (segment->qn < FLOW_QUEUES) {
        const struct flow_queue *queue = &half->queue[segment->qn];
        struct rule_message *message = &side->queue[segment->qn];

        sums = sums_so_far(message, queue->next_mo, queue->octets);
        track_message(message, segment->control, queue->open, segment->mo == (queue->open ? queue->next_mo : 0),
                      segment->msn != queue->next_msn, &sums, segment->mo, segment);
        if (!queue->seen && !segment->last &&
            (flow->late || side->unsure || (flow->kind == FLOW_CONNECTION && flow_start_of(flow, direction) == NULL)))
            message->mixed = true; /* where it began is not known */
    }
    for (unsigned i = 0; i < FLOW_QUEUES; i++)
        odd += side->queue[i].out_of_order || side->queue[i].mixed;
    side->odd_messages = odd + (side->tagged.out_of_order || side->tagged.mixed);
}
