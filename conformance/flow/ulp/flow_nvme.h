/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVMe over RDMA: recognised by the Private Data of the Request (32 octets of format 0, reserved ones zero) together with
 * the Initiator's first Send, which is a Connect command of the queue that they name. More than 300 bits, that nothing
 * else has by chance. A capture that begins later is not recognised: nothing is judged then.
 */
#ifndef FLOW_FLOW_NVME_H
#define FLOW_FLOW_NVME_H

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_ulp.h"

/* What the flow's ULP is, if it is NVMe over RDMA; else NULL. */
static inline const struct flow_nvme *flow_nvme_of(const struct flow *flow)
{
    return flow->ulp != NULL ? flow->ulp->nvme : NULL;
}

/* Fills event->rdmap->nvme of a FLOW_RDMAP event before it is sent; makes flow->ulp when the ULP is recognised. */
void flow_nvme_read(struct flow *flow, const struct flow_event *event, struct flow_nvme_message *message);

/* Brings flow->ulp up to date after the event. */
void flow_nvme_update(struct flow *flow, const struct flow_event *event);

/* Does a command with that identifier wait for its response? */
bool flow_nvme_waits(const struct flow_nvme *nvme, uint16_t cid);

#endif
