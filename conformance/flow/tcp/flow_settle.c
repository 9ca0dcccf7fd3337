/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of a connection's octets. While nobody knows what it carries they are kept apart; as soon as it is an MPA
 * flow, or ends, they are counted.
 *
 * A connection is foreign when its start was captured and is no start-up frame (RFC 5044 7.1), or when nothing in it
 * can be an FPDU (flow_search.c). Another one that is no flow is unrecognised: nobody can say that it is not iWARP.
 */
#include "conformance/flow/tcp/flow_tcp_internal.h"
#include "conformance/flow/mpa/flow_search.h"

/*
 * That of one in a guessed tunnel. Two networks may have the same addresses and ports in tunnels between the same ends,
 * so that it is foreign only as long as nothing shows another connection on its addresses and ports: no octets
 * contradict others, were refused, or came from afar.
 */
static enum flow_row row_of_guessed(const struct flow_connection *connection, enum flow_row row)
{
    static const enum flow_pending signs[] = {PENDING_NOT_ACCEPTED, PENDING_CONFLICT,  PENDING_UNCOMPARED, PENDING_HELD,
                                              PENDING_MEMORY,       PENDING_OVERTAKEN, PENDING_UNANSWERED};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (connection->pending[signs[i]] != 0)
            return FLOW_ROW_TUNNEL;
    return row == FLOW_ROW_TCP || row == FLOW_ROW_TCP_EMPTY ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TUNNEL;
}

/*
 * Nothing but keep-alives (RFC 9293 3.8.4): no side has sent more than one octet, and that again after it was
 * acknowledged.
 */
static bool is_kept_alive(const struct flow_connection *connection)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct flow_side *side = &connection->side[i];

        if (side->seq_known && (side->next > side->floor + 1 || side->tcp->queue != NULL))
            return false;
    }
    return connection->pending[PENDING_AGAIN] != 0;
}

/* The row of a connection that is no flow, with that many octets captured. */
static enum flow_row row_of(const struct flow_connection *connection, uint64_t octets, bool evicted)
{
    if (octets == 0 && connection->pending[PENDING_GAP] == 0 && connection->pending[PENDING_SNAPPED] == 0)
        return FLOW_ROW_TCP_EMPTY;
    if (connection->foreign && !connection->key_seen)
        return FLOW_ROW_TCP;
    if (is_kept_alive(connection))
        return FLOW_ROW_TCP_EMPTY;
    return evicted ? FLOW_ROW_EVICTED : FLOW_ROW_UNRECOGNISED;
}

/*
 * Octets after all that was captured of a side, which the other side has acknowledged: the capture has not got them,
 * and no later segment says so. One may be a FIN.
 */
static uint64_t count_tail(const struct flow_side *side)
{
    uint64_t known = side->seq_known ? side->next : side->tcp->first_acked; /* nothing at all was captured */

    if (!side->acked_known || side->closed || side->reset)
        return 0;
    return side->acked > known + 1 ? side->acked - known - 1 : 0;
}

void flow_settle_end(struct flow_common *common, struct flow_connection *connection, bool evicted)
{
    struct flow_account *account = &common->totals.account;
    uint64_t octets = 0;
    enum flow_row row = FLOW_ROW_IWARP;

    if (connection->flow == NULL) {
        if (!connection->foreign && !connection->key_seen &&
            flow_records_prove(connection->side, flow_search_paired(connection)))
            flow_settle_foreign(connection);
        for (unsigned i = 0; i < PENDING_OCTETS; i++)
            octets += connection->pending[i];
        row = row_of(connection, octets, evicted);
        if (connection->key.tunnel.guessed != 0)
            row = row_of_guessed(connection, row);
    }
    for (unsigned i = 0; connection->flow != NULL && i < 2; i++)
        account->row[FLOW_ROW_GAP].octets += count_tail(&connection->side[i]);
    account->row[FLOW_ROW_UNORDERED].items +=
        connection->flow != NULL && (connection->flow->unordered || connection->flow->tcp->unmatched);
    flow_account_count(account, row, connection->tcp->frames, octets);
    if (row == FLOW_ROW_UNRECOGNISED || row == FLOW_ROW_TCP)
        account->row[row].items++;
    if (evicted && row != FLOW_ROW_TCP && row != FLOW_ROW_TCP_EMPTY && connection->key.tunnel.guessed == 0)
        (row == FLOW_ROW_EVICTED ? flow_removed_count : flow_removed_note)(common, &connection->key,
                                                                           sizeof(connection->key));
}
