/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVMe over RDMA (NVM Express over Fabrics 1.1, 7.3) as far as it concerns RDMA: capsules, the queue, keyed SGLs and the
 * tagged messages to them. Judged only where conformance/flow/ulp recognised it. The Initiator is the host.
 */
#include "conformance/flow/ulp/flow_nvme.h"
#include "conformance/rules/rule_access.h"

typedef const struct flow_nvme_message message;

static message *message_of(const struct rule_context *ctx)
{
    return &ctx->event->rdmap->nvme;
}

/* Commands and responses so far are known, as far as the capture shows. */
static bool whole(const struct rule_context *ctx)
{
    const struct flow_nvme *nvme = flow_nvme_of(ctx->flow);

    return nvme != NULL && !nvme->lost && rule_is_whole(ctx);
}

/* ---- capsules ---------------------------------------------------------------------------------------------------- */

void nvme_command_whole(struct rule_context *ctx)
{
    uint64_t octets = ctx->event->rdmap->message_octets;

    if (message_of(ctx)->kind == FLOW_NVME_NONE || ctx->direction != FLOW_FROM_INITIATOR || !ctx->event->rdmap->last)
        return;
    if (octets >= NVME_COMMAND_OCTETS)
        rule_pass(ctx);
    else
        rule_fail(ctx, "at least 64 octets", rule_text(ctx, "%llu octets", (unsigned long long)octets),
                  "The message is too short for a command capsule (NVMe-oF 7.3)");
}

void nvme_response_whole(struct rule_context *ctx)
{
    uint64_t octets = ctx->event->rdmap->message_octets;

    if (message_of(ctx)->kind == FLOW_NVME_NONE || ctx->direction == FLOW_FROM_INITIATOR || !ctx->event->rdmap->last)
        return;
    if (octets == NVME_RESPONSE_OCTETS)
        rule_pass(ctx);
    else
        rule_fail(ctx, "16 octets", rule_text(ctx, "%llu octets", (unsigned long long)octets),
                  "The message is no response capsule (NVMe-oF 7.3)");
}

void nvme_command_has_sgl(struct rule_context *ctx)
{
    message *said = message_of(ctx);

    if (said->kind != FLOW_NVME_COMMAND)
        return;
    if ((said->flags & NVME_PSDT_MASK) != 0)
        rule_pass(ctx);
    else
        rule_fail(ctx, "PSDT = 1, an SGL", "PSDT = 0, PRPs",
                  "A command points to its data by PRPs, which have no meaning at the other side (NVMe-oF 7.3)");
}

/* A descriptor with octets is keyed, or says where they are in the capsule; a list of them is in the capsule too. */
void nvme_descriptor_kind(struct rule_context *ctx)
{
    const struct nvme_descriptor *data = &message_of(ctx)->data;
    bool good;

    if (message_of(ctx)->kind != FLOW_NVME_COMMAND || data->length == 0)
        return;
    good = data->type == NVME_SGL_KEYED ? data->subtype == NVME_SGL_ADDRESS || data->subtype == NVME_SGL_INVALIDATE
                                        : data->type != NVME_SGL_DATA || data->subtype == NVME_SGL_OFFSET;
    if (good)
        rule_pass(ctx);
    else
        rule_fail(ctx, "SGL type 0x40, 0x4f or an offset in the capsule",
                  rule_text(ctx, "type 0x%x%x", data->type, data->subtype),
                  "The descriptor of a command names no memory that RDMA reaches (NVMe-oF 7.3)");
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

/* The queue is full with one entry left, which hosts that count their commands alone do not know: no FAIL. */
void nvme_queue_depth(struct rule_context *ctx)
{
    const struct flow_nvme *nvme = flow_nvme_of(ctx->flow);
    const char *due, *actual;
    uint64_t used;

    if (message_of(ctx)->kind != FLOW_NVME_COMMAND || !whole(ctx))
        return;
    used = nvme->sent - nvme->freed + 1;
    if (used < nvme->entries) {
        rule_pass(ctx);
        return;
    }
    due = rule_text(ctx, "at most %u entries in use, as Connect of frame %llu has it", nvme->entries - 1,
                    (unsigned long long)nvme->frame);
    actual = rule_text(ctx, "%llu", (unsigned long long)used);
    if (used == nvme->entries)
        rule_warn(ctx, due, actual, "The last entry of the submission queue is used, which stays free (NVMe-oF 7.3)");
    else
        rule_fail_unless_lost(ctx, due, actual,
                              "A command is sent although the submission queue is full (NVMe-oF 7.3)");
}

void nvme_response_due(struct rule_context *ctx)
{
    if (message_of(ctx)->kind != FLOW_NVME_RESPONSE || !whole(ctx))
        return;
    if (flow_nvme_waits(flow_nvme_of(ctx->flow), message_of(ctx)->cid))
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "the identifier of a command that waits",
                              rule_text(ctx, "CID 0x%04x", message_of(ctx)->cid),
                              "The response is to no command that waits (NVMe-oF 7.3)");
}

/* ---- remote invalidation ----------------------------------------------------------------------------------------- */

void nvme_invalidate_asked(struct rule_context *ctx)
{
    uint32_t stag = ctx->event->ddp->segment.ulp_word;

    if (message_of(ctx)->kind != FLOW_NVME_RESPONSE || !rule_buffers_known(ctx) || !whole(ctx) ||
        !flow_nvme_waits(flow_nvme_of(ctx->flow), message_of(ctx)->cid))
        return;
    if (flow_buffers_list(ctx->flow->ulp->buffers, FLOW_FROM_INITIATOR, message_of(ctx)->cid, NVME_SGL_INVALIDATE,
                          stag))
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, "an STag of the command, with SGL type 0x4f", rule_text(ctx, "STag 0x%08x", stag),
                              "The response invalidates an STag for which its command did not ask that (NVMe-oF 7.3)");
}

/* ---- tagged messages --------------------------------------------------------------------------------------------- */

#define BOTH (FLOW_BUFFER_READ | FLOW_BUFFER_WRITE)

void nvme_host_accesses_not(struct rule_context *ctx)
{
    struct flow_access access;

    if (flow_nvme_of(ctx->flow) == NULL || !flow_access_read(ctx->event, &access))
        return;
    if (ctx->direction != FLOW_FROM_INITIATOR)
        rule_pass(ctx);
    else
        rule_fail(ctx, "no RDMA Write and no Read Request by the host", rule_access_text(ctx, &access),
                  "The host accesses memory of the controller (NVMe-oF 7.3)");
}

static bool by_controller(const struct rule_context *ctx)
{
    return ctx->direction != FLOW_FROM_INITIATOR;
}

void nvme_access_advertised(struct rule_context *ctx)
{
    if (by_controller(ctx))
        rule_access_advertised(ctx, &(struct rule_access){FLOW_ULP_NVME, BOTH, "NVMe-oF 7.3"}, "a command");
}

void nvme_access_inside(struct rule_context *ctx)
{
    if (by_controller(ctx))
        rule_access_inside(ctx, &(struct rule_access){FLOW_ULP_NVME, BOTH, "NVMe-oF 7.3"});
}

void nvme_access_in_time(struct rule_context *ctx)
{
    if (by_controller(ctx))
        rule_access_in_time(ctx, &(struct rule_access){FLOW_ULP_NVME, BOTH, "NVMe-oF 7.3"}, "the response");
}
