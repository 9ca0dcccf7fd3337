/* SPDX-License-Identifier: BSD-2-Clause */
/* What ULPs are read out of. */
#ifndef FLOW_FLOW_ULP_SEND_H
#define FLOW_FLOW_ULP_SEND_H

#include "conformance/flow/event/flow.h"

/* MSN of a side's first message: of its second where the first one is an empty RTR message (RFC 6581 9.2). */
enum { FLOW_FIRST_MSN_MAX = 2 };

/* A segment of a Send, whose octets can be judged. */
static inline bool flow_ulp_is_send(const struct flow_event *event)
{
    return event->kind == FLOW_RDMAP && !event->ulpdu->unverified && !event->ddp->segment.tagged &&
           event->ddp->segment.qn == DDP_QN_SEND && rdmap_is_send(event->rdmap->message.opcode);
}

#endif
