/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/rule_reads.h"

void rule_judge_reads_open(struct rule_context *ctx, uint32_t most, const char *sentence)
{
    uint32_t open = 1;

    if (ctx->half->requests_lost || ctx->event->rdmap->header != FLOW_HEADER_READ_REQUEST)
        return;
    for (uint32_t i = 0; i < ctx->half->request_count; i++)
        open += flow_request_at(ctx->half, i)->opcode == IWARP_RDMAP_READ_REQUEST &&
                !flow_request_at(ctx->half, i)->doubted;
    if (open <= most)
        rule_pass(ctx);
    else
        rule_fail_unless_lost(ctx, rule_text(ctx, "at most %u Reads open", most), rule_text(ctx, "%u", open), "%s",
                              sentence);
}
