/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RPC-over-RDMA version 1 above DDP (RFC 8166): recognised by an RDMA_MSG with a whole RPC Call: version 1, chunk lists
 * that end where an RPC header begins, the same XID in both headers, message type CALL and RPC version 2, some 200 bits
 * that nothing else has by chance. Both sides may call (RFC 8167). If that Call is the first message of the flow, what
 * depends on all messages before is known: credits, and which buffers are advertised.
 */
#ifndef FLOW_FLOW_RPCRDMA_H
#define FLOW_FLOW_RPCRDMA_H

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_ulp.h"

/* What the flow's ULP is, if it is RPC-over-RDMA; else NULL. */
static inline const struct flow_rpcrdma *flow_rpcrdma_of(const struct flow *flow)
{
    return flow->ulp != NULL ? flow->ulp->rpcrdma : NULL;
}

/* Fills event->rdmap->rpcrdma of a FLOW_RDMAP event before it is sent; makes flow->ulp when the ULP is recognised. */
void flow_rpcrdma_read(struct flow *flow, const struct flow_event *event, struct flow_rpcrdma_message *message);

/* Brings flow->ulp up to date after the event. */
void flow_rpcrdma_update(struct flow *flow, const struct flow_event *event);

/* A Call of `requester` that waits; NULL: none has that XID. */
const struct flow_rpcrdma_call *flow_rpcrdma_waiting(const struct flow_rpcrdma *rpcrdma, enum flow_direction requester,
                                                     uint32_t xid);

/* Begins with the chunk lists of a message whose fixed header is there: RDMA_MSG, RDMA_NOMSG. */
static inline void flow_rpcrdma_walk_begin(const struct flow_event *event, struct rpcrdma_walk *walk)
{
    const uint8_t *p = event->ddp->segment.payload;

    rpcrdma_walk_begin(walk, p + RPCRDMA_HEADER_OCTETS, p + event->ddp->payload_have);
}

/* Nothing is missing that would change what is known of Calls and buffers. */
bool flow_rpcrdma_whole(const struct flow *flow);

#endif
