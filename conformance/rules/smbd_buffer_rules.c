/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMB Direct: tagged messages to the memory that SMB2 READ and WRITE requests advertise by Buffer Descriptors, and its
 * remote invalidation ([MS-SMBD] 2.2.3.1, 3.1.4). Where SMB2 is encrypted or compressed, nothing is known of buffers.
 */
#include "conformance/flow/ulp/flow_smbd.h"
#include "conformance/rules/rule_access.h"
#include "wire/smb2.h"

#define ACCESS(section) (&(struct rule_access){FLOW_ULP_SMBD, FLOW_BUFFER_READ | FLOW_BUFFER_WRITE, section})

void smbd_access_advertised(struct rule_context *ctx)
{
    rule_access_advertised(ctx, ACCESS("[MS-SMBD] 2.2.3.1"), "an SMB2 request");
}

void smbd_access_inside(struct rule_context *ctx)
{
    rule_access_inside(ctx, ACCESS("[MS-SMBD] 2.2.3.1"));
}

void smbd_access_in_time(struct rule_context *ctx)
{
    rule_access_in_time(ctx, ACCESS("[MS-SMBD] 3.1.4.4"), "the SMB2 response");
}

void smbd_invalidates_asked(struct rule_context *ctx)
{
    uint32_t stag = ctx->event->ddp->segment.ulp_word;
    struct smb2_message said;
    const uint8_t *p, *end;

    if (flow_smbd_message(ctx->event) != FLOW_SMBD_DATA || !rule_buffers_known(ctx) ||
        !flow_smbd_data(ctx->event, &p, &end) || !smb2_message_read(&p, end, &said) || p != NULL)
        return;
    if (said.response && flow_buffers_list(ctx->flow->ulp->buffers, flow_reverse(ctx->direction),
                                           (uint32_t)said.message_id, SMB2_CHANNEL_INVALIDATE, stag))
        rule_pass(ctx);
    else
        rule_fail_unless_lost(
            ctx, "an STag of the request that is answered, with SMB2_CHANNEL_RDMA_V1_INVALIDATE",
            rule_text(ctx, "STag 0x%08x", stag),
            "A Send with Invalidate names an STag for which no SMB2 request asked that ([MS-SMBD] 3.1.4.2)");
}
