/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rules on start-up frames share. */
#ifndef CONFORMANCE_RULES_START_FRAME_H
#define CONFORMANCE_RULES_START_FRAME_H

#include "conformance/rules/rule_context.h"

enum { START_M = 0x80, START_C = 0x40, START_R = 0x20, START_S = 0x10 };

/* A FLOW_MPA_START with the right Key and all 20 octets of its fixed part. */
static inline bool start_whole_header(const struct rule_context *ctx)
{
    const struct flow_start *start = ctx->event->start;

    return start->octets != NULL && start->octet_count >= MPA_START_OCTETS &&
           mpa_start_kind_of(start->octets, start->octet_count) == (int)start->frame.kind;
}

static inline bool start_is(const struct rule_context *ctx, enum iwarp_mpa_start_kind kind)
{
    return start_whole_header(ctx) && ctx->event->start->frame.kind == kind;
}

/* Octets 16 and 17; only when start_whole_header(). */
static inline unsigned start_flags(const struct rule_context *ctx)
{
    return start_whole_header(ctx) ? ctx->event->start->octets[16] : 0;
}

static inline unsigned start_revision(const struct rule_context *ctx)
{
    return start_whole_header(ctx) ? ctx->event->start->octets[17] : 0;
}

/* A start-up frame of the sender, or one of the other side that certainly belongs to the same connection; else NULL. */
static inline const struct flow_start *start_seen(const struct rule_context *ctx, enum flow_direction direction)
{
    return direction == ctx->direction || !flow_is_unmatched(ctx->flow) ? flow_start_of(ctx->flow, direction) : NULL;
}

/* The start-up frame of a direction when it was captured whole and is well-formed; else NULL. */
static inline const struct iwarp_mpa_start *start_good(const struct rule_context *ctx, enum flow_direction direction)
{
    const struct flow_start *start = start_seen(ctx, direction);

    return start != NULL && start->result == WIRE_OK ? &start->frame : NULL;
}

/*
 * True if the event's sender had not received the other side's start-up frame, and so cannot obey it. Another rule
 * finds that the sender did not wait for it.
 */
static inline bool start_not_received(const struct rule_context *ctx)
{
    const struct flow_start *start = start_seen(ctx, flow_reverse(ctx->direction));

    return start != NULL && rule_not_received(ctx, start->end);
}

/* start_good() when it carries the enhanced word. */
static inline const struct iwarp_mpa_start *start_with_word(const struct rule_context *ctx,
                                                            enum flow_direction direction)
{
    const struct iwarp_mpa_start *start = start_good(ctx, direction);

    return start != NULL && iwarp_mpa_start_has_word(start) ? start : NULL;
}

#endif
