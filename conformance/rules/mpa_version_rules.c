/* SPDX-License-Identifier: BSD-2-Clause */
/* The version that start-up settles, in the headers of DDP and RDMAP (RFC 5044 3 and C.1). */
#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"

/* DV or RV of the event: of a DDP event the one, of an RDMAP event the other. */
static unsigned version_of(const struct rule_context *ctx, const char **name)
{
    bool rdmap = ctx->event->kind == FLOW_RDMAP;

    *name = rdmap ? "RV" : "DV";
    return rdmap ? ctx->event->rdmap->message.version : ctx->event->ddp->segment.version;
}

/* RFC 5044 3: MPA passes the negotiated version to DDP, and DDP writes it into its headers. */
void version_given_to_ddp(struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request = start_good(ctx, FLOW_FROM_INITIATOR);
    const struct iwarp_mpa_start *reply = start_good(ctx, FLOW_FROM_RESPONDER);
    const char *name;
    unsigned version = version_of(ctx, &name);

    if (request == NULL || reply == NULL || request->revision == MPA_REV_RDMAC || reply->revision == MPA_REV_RDMAC)
        return;
    rule_because(ctx, HINT_VERSION);
    if (version != DDP_VERSION)
        rule_fail(ctx, rule_text(ctx, "%s = 1", name), rule_text(ctx, "%s = %u", name, version),
                  "Start-up settled Rev %u, but %s is %u (RFC 5044 3)", reply->revision, name, version);
    else
        rule_pass(ctx);
}

/* RFC 5044 C.1: DDP and RDMAP have the same version, in both directions. */
void version_same_both_ways(struct rule_context *ctx)
{
    unsigned expected = ctx->flow->revision == MPA_REV_RDMAC ? 0 : DDP_VERSION;
    const char *name;
    unsigned version = version_of(ctx, &name);

    rule_because(ctx, HINT_VERSION);
    if (version == expected)
        rule_pass(ctx);
    else if (ctx->event->kind == FLOW_RDMAP && version != ctx->event->ddp->segment.version)
        rule_fail(ctx, "DV = RV", rule_text(ctx, "DV = %u, RV = %u", ctx->event->ddp->segment.version, version),
                  "DDP and RDMAP have different versions (RFC 5044 C.1)");
    else if (ctx->peer->version_known && version != ctx->peer->version)
        rule_fail(ctx, rule_text(ctx, "%s = %u, as in the other direction", name, ctx->peer->version),
                  rule_text(ctx, "%s = %u", name, version),
                  "The two directions of the connection have different versions (RFC 5044 C.1)");
}
