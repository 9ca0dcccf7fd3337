/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps struct rule_side up to date: called after the rules for each event. */
#ifndef CONFORMANCE_RULES_TRACK_H
#define CONFORMANCE_RULES_TRACK_H

#include "conformance/rules/rule_context.h"

/* Initialises the sides of a new flow. */
void track_begin(struct rule_side sides[FLOW_DIRECTIONS]);

/*
 * Called before the rules: they need to know how the first FPDU of a side is framed, and where a side begins a new DDP
 * stream.
 */
void track_before(struct rule_side *side, const struct flow_event *event);

/* Updates `side`, which sent the event. */
void track_event(struct rule_side *side, const struct flow_event *event);

/* A message of a DDP Stream Session: does it leave the legal sequences? Called before track_event(). */
void track_session(struct rule_side sides[FLOW_DIRECTIONS], const struct flow_event *event);

/* The update for FPDUs and segments that take the shortcut: only what later events need. */
static inline void track_quick_ulpdu(struct rule_side *side, const struct flow_ulpdu *ulpdu)
{
    side->fpdus++;
    if (ulpdu->mpa == NULL)
        return;
    side->aligned += ulpdu->mpa->at_segment_start;
    side->split += ulpdu->mpa->segments > 1;
}

/* Updates the message that a segment belongs to; `flow` is the state before the segment. */
void track_segment(struct rule_side *side, const struct flow *flow, enum flow_direction direction,
                   const struct ddp_segment *segment);

static inline void track_quick_segment(struct rule_side *side, const struct ddp_segment *segment)
{
    if (segment->tagged) {
        side->tagged.control = segment->control;
        side->tagged.last = segment->to;
    } else {
        side->queue[segment->qn].control = segment->control;
        side->queue[segment->qn].last = segment->mo;
    }
}

#endif
