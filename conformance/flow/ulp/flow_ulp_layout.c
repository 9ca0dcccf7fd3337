/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ulp/flow_ulp_layout.h"

#include "conformance/flow/ulp/flow_smbd.h"

const struct wire_layout *flow_ulp_layout(const struct flow_event *event)
{
    enum flow_rpcrdma_kind kind = event->rdmap->rpcrdma.kind;

    if (kind != FLOW_RPCRDMA_NONE && kind != FLOW_RPCRDMA_SHORT)
        return &rpcrdma_header_layout;
    if (event->rdmap->iser.kind != FLOW_ISER_NONE)
        return iser_layout(event->ddp->segment.payload, event->ddp->payload_have);
    if (event->rdmap->nvme.kind == FLOW_NVME_COMMAND)
        return &nvme_command_layout;
    if (event->rdmap->nvme.kind == FLOW_NVME_RESPONSE)
        return &nvme_response_layout;
    return flow_smbd_layout(flow_smbd_message(event));
}
