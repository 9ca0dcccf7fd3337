/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/rule_access.h"

bool rule_buffers_known(const struct rule_context *ctx)
{
    return flow_buffers_known(ctx->flow) && !ctx->side->unsure && !ctx->peer->unsure;
}

bool rule_access_is_wrong(struct rule_context *ctx, const struct rule_access *judged, enum flow_buffer_answer wrong,
                          struct flow_access *access, const struct flow_buffer **found)
{
    enum flow_buffer_answer answer;

    if (ctx->flow->ulp == NULL || ctx->flow->ulp->kind != judged->ulp || !rule_buffers_known(ctx) ||
        !flow_access_read(ctx->event, access) || (access->access & judged->kinds) == 0)
        return false;
    answer = flow_buffers_find(ctx->flow->ulp->buffers, access, found);
    if (answer == FLOW_BUFFER_INSIDE)
        rule_pass(ctx);
    return answer == wrong;
}

const char *rule_access_text(struct rule_context *ctx, const struct flow_access *access)
{
    return rule_text(ctx, "%s of %llu octets at 0x%llx of STag 0x%08x",
                     access->access == FLOW_BUFFER_READ ? "a Read" : "a Write", (unsigned long long)access->octets,
                     (unsigned long long)access->to, access->stag);
}

void rule_access_advertised(struct rule_context *ctx, const struct rule_access *judged, const char *by)
{
    const struct flow_buffer *found;
    struct flow_access access;
    bool reads;

    if (!rule_access_is_wrong(ctx, judged, FLOW_BUFFER_UNKNOWN, &access, &found))
        return;
    reads = access.access == FLOW_BUFFER_READ;
    rule_fail_unless_lost(ctx,
                          rule_text(ctx, "an STag that %s has advertised%s", by,
                                    found == NULL ? ""
                                    : reads       ? " for reading"
                                                  : " for writing"),
                          rule_access_text(ctx, &access), "Memory is %s that %s has not advertised for that (%s)",
                          reads ? "read" : "written", by, judged->section);
}

void rule_access_inside(struct rule_context *ctx, const struct rule_access *judged)
{
    const struct flow_buffer *found;
    struct flow_access access;

    if (rule_access_is_wrong(ctx, judged, FLOW_BUFFER_BEYOND, &access, &found))
        rule_fail_unless_lost(ctx,
                              rule_text(ctx, "within %u octets from 0x%llx, as frame %llu says", found->octets,
                                        (unsigned long long)found->to, (unsigned long long)found->frame),
                              rule_access_text(ctx, &access), "The access goes beyond the advertised %s (%s)",
                              judged->ulp == FLOW_ULP_RPCRDMA ? "segment" : "buffer", judged->section);
}

void rule_access_in_time(struct rule_context *ctx, const struct rule_access *judged, const char *end)
{
    const struct flow_buffer *found;
    struct flow_access access;

    if (rule_access_is_wrong(ctx, judged, FLOW_BUFFER_ENDED, &access, &found))
        rule_fail_unless_lost(
            ctx,
            rule_text(ctx, "before %s of frame %llu", found->invalidated ? "the Send with Invalidate" : end,
                      (unsigned long long)found->ended_by),
            rule_access_text(ctx, &access), "The access comes after its exchange is over (%s)", judged->section);
}
