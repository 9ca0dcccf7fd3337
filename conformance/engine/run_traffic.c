/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run_traffic.h"

#include <string.h>

#include "wire/rdmap.h"

void run_traffic_add(struct run_summary *summary, const struct flow_totals *flow)
{
    summary->frames += flow->frames;
    summary->fpdus += flow->fpdus;
    summary->ddp_segments += flow->ddp_segments;
    summary->crc_errors += flow->crc_errors;
    for (unsigned opcode = 0; opcode < 16; opcode++)
        if (flow->messages[opcode] != 0 && rdmap_opcode_rows[opcode].name != NULL)
            summary_add_messages(summary, rdmap_opcode_rows[opcode].name, flow->messages[opcode]);
}

void run_traffic_finish(struct run_summary *summary, const struct run_summary *traffic)
{
    struct run_summary counters = *traffic;

    for (unsigned opcode = 0; opcode < 16; opcode++)
        for (size_t i = 0; rdmap_opcode_rows[opcode].name != NULL && i < traffic->message_count; i++)
            if (strcmp(traffic->messages[i].name, rdmap_opcode_rows[opcode].name) == 0)
                summary_add_messages(summary, traffic->messages[i].name, traffic->messages[i].count);
    counters.message_count = 0;
    summary_add_traffic(summary, &counters);
}
