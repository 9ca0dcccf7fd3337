/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets of a connection of which nobody knows yet what it carries are counted apart; as soon as it is an MPA flow,
 * they are counted with the others.
 */
#include "conformance/flow/mpa/flow_mpa_internal.h"
#include "conformance/flow/mpa/flow_search.h"

static const enum flow_row pending_rows[PENDINGS] = {
    [PENDING_LATE] = FLOW_ROW_LATE,           [PENDING_ULP] = FLOW_ROW_ULP,
    [PENDING_AGAIN] = FLOW_ROW_AGAIN,         [PENDING_NOT_ACCEPTED] = FLOW_ROW_NOT_ACCEPTED,
    [PENDING_CONFLICT] = FLOW_ROW_CONFLICT,   [PENDING_UNCOMPARED] = FLOW_ROW_UNCOMPARED,
    [PENDING_HELD] = FLOW_ROW_HELD_TOO_MUCH,  [PENDING_MEMORY] = FLOW_ROW_MEMORY,
    [PENDING_OVERTAKEN] = FLOW_ROW_OVERTAKEN, [PENDING_UNANSWERED] = FLOW_ROW_UNANSWERED,
    [PENDING_IP_LENGTH] = FLOW_ROW_IP_LENGTH, [PENDING_GAP] = FLOW_ROW_GAP,
    [PENDING_SNAPPED] = FLOW_ROW_SNAPPED,
};

static enum flow_pending pending_of(enum flow_row row)
{
    unsigned i = 0;

    while (i < PENDINGS && pending_rows[i] != row)
        i++;
    return i < PENDINGS ? (enum flow_pending)i : PENDING_LATE;
}

void flow_octets(const struct flow_context *context, enum flow_row row, uint64_t octets)
{
    if (context->connection->flow != NULL)
        context->common->totals.account.row[row].octets += octets;
    else
        context->connection->pending[pending_of(row)] += octets;
}

void flow_settle_flow(struct flow_common *common, struct flow_connection *connection)
{
    for (unsigned i = 0; i < PENDINGS; i++) {
        common->totals.account.row[pending_rows[i]].octets += connection->pending[i];
        connection->pending[i] = 0;
    }
}

/* A start-up frame may follow all the same (RFC 5044 7.1: streaming mode), and nothing else that is MPA. */
void flow_settle_foreign(struct flow_connection *connection)
{
    connection->foreign = true;
    connection->pending[PENDING_ULP] += connection->pending[PENDING_LATE];
    connection->pending[PENDING_LATE] = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (connection->side[i].state == SIDE_LATE)
            connection->side[i].state = SIDE_STREAMING;
        flow_search_release(&connection->side[i]);
        flow_records_release(&connection->side[i]);
    }
}
