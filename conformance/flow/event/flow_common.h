/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all rooms of the decoder work with: its limits, its sink and its counts; and how flows are made and events sent.
 * The state of each room is its own, and refers to this.
 */
#ifndef FLOW_FLOW_COMMON_H
#define FLOW_FLOW_COMMON_H

#include "conformance/flow/event/flow.h"
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
    uint64_t now_ns;
    uint64_t secret;  /* that no sender knows: distinguishes copies of SCTP chunks */
    uint8_t *scratch; /* FPDU_SCRATCH_OCTETS for Markers */
};

/* A flow with its scratch octets, numbered; both directions at their beginning. NULL without memory. */
struct flow *flow_make(struct flow_common *common, enum flow_kind kind, uint64_t frame, uint64_t time_ns);
void flow_free(struct flow *flow); /* NULL is allowed */
/* To the sink, if the event has a flow. */
void flow_event_send(struct flow_common *common, const struct flow_event *event);

#endif
