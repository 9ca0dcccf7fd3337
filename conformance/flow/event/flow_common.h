/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all rooms of the decoder work with: its limits, its sink and its counts; and how flows are made and events sent.
 * The state of each room is its own, and refers to this.
 */
#ifndef FLOW_FLOW_COMMON_H
#define FLOW_FLOW_COMMON_H

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_mapping.h"
#include "conformance/flow/event/flow_removed.h"
#include "base/hash.h"

#include <utlist.h> /* lists by age, the oldest first: their members are `older` and `newer` */

struct flow_common {
    struct flow_config config;
    flow_sink sink;
    void *ctx;
    struct flow_totals totals;
    size_t held; /* octets in queues and unit buffers */
    struct flow_removed removed;
    struct flow_mappings mappings;
    uint64_t now_ns;
    uint64_t secret;  /* that no sender knows: distinguishes copies of SCTP chunks */
    uint8_t *scratch; /* FPDU_SCRATCH_OCTETS for Markers */
};

/* A flow with its scratch octets, numbered; both directions at their beginning. NULL without memory. */
struct flow *flow_make(struct flow_common *common, enum flow_kind kind, uint64_t frame, uint64_t time_ns);
void flow_free(struct flow *flow); /* NULL is allowed */
/* The capture lost frames, which may be the flow's: it has a gap, and its rules learn of it. NULL is allowed. */
void flow_dropped(struct flow_common *common, struct flow *flow);
/* How long ago that was, and 0 when it is to come: clocks are set back. */
static inline uint64_t flow_age_ns(const struct flow_common *common, uint64_t time_ns)
{
    return common->now_ns > time_ns ? common->now_ns - time_ns : 0;
}
/* Whether what had its last frame then has been idle too long; what is over need not wait for that. */
static inline bool flow_is_due(const struct flow_common *common, uint64_t last_ns, bool over)
{
    const uint64_t second = UINT64_C(1000000000);
    uint64_t age = flow_age_ns(common, last_ns), idle = common->config.idle_ns;

    return (idle != 0 && age > idle) || (over && age > FLOW_CLOSED_SECONDS * second);
}
/* To the sink, if the event has a flow. */
void flow_event_send(struct flow_common *common, const struct flow_event *event);

#endif
