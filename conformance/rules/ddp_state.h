/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions of the rules on DDP Segments about the sender's state. The answer is NULL or false if the earlier segments
 * are not known.
 */
#ifndef CONFORMANCE_RULES_DDP_STATE_H
#define CONFORMANCE_RULES_DDP_STATE_H

#include "conformance/rules/rule_context.h"

/* The queue of an untagged segment. NULL for a tagged one, an unknown queue, or if the queue's state is not known. */
static inline const struct flow_queue *ddp_queue(const struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;

    if (segment->tagged || segment->qn >= FLOW_QUEUES || !rule_continuous(ctx))
        return NULL;
    return &ctx->half->queue[segment->qn];
}

/*
 * The state of tagged messages of the segment's kind (Write or Read Response). NULL for all other segments, or if the
 * state is not known.
 */
static inline const struct flow_tagged *ddp_tagged(const struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;
    unsigned opcode = segment->control & 0xF;

    if (!segment->tagged || !rule_continuous(ctx))
        return NULL;
    return opcode == IWARP_RDMAP_WRITE           ? &ctx->half->write
           : opcode == IWARP_RDMAP_READ_RESPONSE ? &ctx->half->read_response
                                                 : NULL;
}

/*
 * True for one more segment of the message that has just ended with L = 1. A whole new message with that MSN begins at
 * MO 0 and is another fault.
 */
static inline bool ddp_after_last(const struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;
    const struct flow_queue *queue = ddp_queue(ctx);

    return queue != NULL && queue->seen && !queue->open && segment->msn == queue->next_msn - 1 && segment->mo != 0;
}

/* True if the next message begins before the open one has ended. */
static inline bool ddp_last_missing(const struct rule_context *ctx)
{
    const struct ddp_segment *segment = &ctx->event->ddp->segment;
    const struct flow_queue *queue = ddp_queue(ctx);

    return queue != NULL && queue->open && segment->msn == queue->next_msn + 1 && segment->mo == 0;
}

/* What the offsets of a whole message add up to. */
struct ddp_offsets {
    bool single;     /* one segment */
    int64_t lowest;  /* untagged: MO; tagged: TO less that of the first segment sent */
    int64_t highest; /* end of the segment that reaches farthest */
    uint64_t octets; /* payload of all segments */
};

/* True when the event ends a message of that model whose segments were all captured; fills in `offsets`. */
bool ddp_message_ends(const struct rule_context *ctx, bool tagged, struct ddp_offsets *offsets);

#endif
