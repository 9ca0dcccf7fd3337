/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_traffic.h"

#include <string.h>

#include "wire/rdmap.h"

/* Rows that say that the program came to its limits, and nothing of the traffic. */
static bool is_own_limit(enum flow_row row)
{
    return row == FLOW_ROW_DROPPED || row == FLOW_ROW_EVICTED || row == FLOW_ROW_MEMORY ||
           row == FLOW_ROW_HELD_TOO_MUCH || row == FLOW_ROW_FRAGMENT_ROOM;
}

/*
 * The link of a live run sees everything. What rules could not judge there are the checks' stimuli, and what devices
 * answer to them: FPDUs that break off, start-up frames that are none. The checks judge those; octets that are missing
 * were never sent.
 */
static void fold_stimuli(struct flow_account *account)
{
    for (unsigned i = 0; i < FLOW_ROWS; i++) {
        struct flow_count *count = &account->row[i];
        enum flow_account_kind kind = flow_account_row((enum flow_row)i)->kind;

        if (kind < FLOW_UNJUDGED || is_own_limit((enum flow_row)i))
            continue;
        if (kind == FLOW_UNJUDGED)
            flow_account_count(account, FLOW_ROW_BY_CHECK, count->frames, count->octets);
        *count = (struct flow_count){0};
    }
}

void run_traffic_add(struct run_summary *summary, const struct flow_totals *flow)
{
    struct flow_account account = flow->account;

    fold_stimuli(&account);
    flow_account_add(&summary->account, &account);
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
