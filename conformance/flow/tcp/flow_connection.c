/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP connections: which one a segment belongs to, and which ones are forgotten when there are too many. What is closed
 * goes first, then what is certainly not MPA, then what was idle longest; an MPA flow that goes before it is closed is
 * counted as evicted.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/tcp/flow_tcp_internal.h"
#include "conformance/flow/mpa/flow_search.h"

enum {
    CLOSED_KEPT = 2048, /* a closed connection's segments may come again */
    EVICT_CANDIDATES = 8,
};

static unsigned cache_slot(const struct flow_key *key)
{
    uint32_t a, b;

    memcpy(&a, key->address[0] + (key->family == 4 ? 0 : 12), sizeof(a));
    memcpy(&b, key->address[1] + (key->family == 4 ? 0 : 12), sizeof(b));
    a ^= b * 31u ^ (uint32_t)key->port[0] * 2654435761u ^ (uint32_t)key->port[1] * 40503u;
    return (a ^ a >> 12 ^ a >> 24) % FLOW_CACHE;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void list_unlink(struct tcp_connections *tcp, struct tcp_connection *connection)
{
    struct flow_ages *ages = &tcp->ages[connection->list];

    DL_DELETE2(ages->oldest, connection, older, newer);
    ages->count--;
}

static void list_newest(struct tcp_connections *tcp, struct tcp_connection *connection, enum flow_list list)
{
    struct flow_ages *ages = &tcp->ages[list];

    connection->list = list;
    DL_APPEND2(ages->oldest, connection, older, newer);
    ages->count++;
}

static bool is_closed(const struct flow_connection *connection)
{
    return connection->side[0].reset || connection->side[1].reset ||
           (connection->side[0].closed && connection->side[1].closed);
}

static enum flow_list list_of(const struct flow_connection *connection)
{
    return is_closed(connection)      ? FLOW_LIST_CLOSED
           : connection->flow != NULL ? FLOW_LIST_MPA
           : connection->foreign      ? FLOW_LIST_FOREIGN
                                      : FLOW_LIST_UNDECIDED;
}

/* ---- the end of one ---------------------------------------------------------------------------------------------- */

static void free_connection(struct tcp_connections *tcp, struct tcp_connection *connection)
{
    unsigned slot = cache_slot(&connection->shared.key);

    if (tcp->cache[slot] == connection)
        tcp->cache[slot] = NULL;
    HASH_DEL(tcp->all, connection);
    list_unlink(tcp, connection);
    tcp->count--;
    for (unsigned i = 0; i < 2; i++) {
        flow_tcp_release(tcp->common, &connection->shared.side[i]);
        flow_mpa_release(tcp->common, &connection->shared.side[i]);
        flow_search_release(&connection->shared.side[i]);
        flow_records_release(&connection->shared.side[i]);
        flow_proof_release(&connection->shared.side[i]);
    }
    flow_free(connection->shared.flow);
    free(connection);
}

static void end_connection(struct tcp_connections *tcp, struct flow_connection *connection, enum flow_reason reason)
{
    unsigned first = connection->flow != NULL ? connection->swap : connection->first_side;
    struct flow_context context =
        flow_context_of(tcp->common, connection, first, connection->last_frame, connection->last_ns);

    flow_tcp_flush(&context);
    for (unsigned i = 0; i < 2; i++) {
        context = flow_context_of(tcp->common, connection, i, connection->last_frame, connection->last_ns);
        flow_mpa_end(&context);
    }
    flow_settle_end(tcp->common, connection, reason == FLOW_REASON_EVICTED || reason == FLOW_REASON_IDLE);
    if (connection->flow != NULL) {
        struct flow_event event;

        context =
            flow_context_of(tcp->common, connection, connection->swap, connection->last_frame, connection->last_ns);
        event = flow_event_make(&context, FLOW_END);
        event.reason = reason;
        flow_event_send(tcp->common, &event);
    }
    free_connection(tcp, connection->tcp);
}

void flow_connections_finish(struct tcp_connections *tcp)
{
    while (tcp->all != NULL) /* in the order in which they began */
        end_connection(tcp, &tcp->all->shared, FLOW_REASON_COUNT);
}

void flow_connections_time(struct tcp_connections *tcp)
{
    struct tcp_connection *next, *more;

    HASH_ITER (hh, tcp->all, next, more) {
        struct flow_connection *connection = &next->shared;
        bool over = next->list == FLOW_LIST_CLOSED;

        if (flow_is_due(tcp->common, connection->last_ns, over)) {
            end_connection(tcp, connection, over ? FLOW_REASON_COUNT : FLOW_REASON_IDLE);
        } else if (next->side[0].queue != NULL || next->side[1].queue != NULL) {
            struct flow_context context =
                flow_context_of(tcp->common, connection, 0, connection->last_frame, connection->last_ns);

            flow_queue_drain(&context);
        }
    }
}

void flow_connections_dropped(struct tcp_connections *tcp)
{
    for (struct tcp_connection *next = tcp->all; next != NULL; next = next->hh.next)
        flow_dropped(tcp->common, next->shared.flow);
}

struct tcp_connections *flow_connections_new(struct flow_common *common)
{
    struct tcp_connections *tcp = calloc(1, sizeof(*tcp));

    if (tcp != NULL)
        tcp->common = common;
    return tcp;
}

void flow_connections_free(struct tcp_connections *tcp)
{
    while (tcp != NULL && tcp->all != NULL)
        free_connection(tcp, tcp->all);
    free(tcp);
}

/* ---- too many ---------------------------------------------------------------------------------------------------- */

/*
 * Ends one of a list: of the first few the one that has been idle longest goes, the others go to its end. Comes close
 * to "least recently used" without a list to mend at every frame. `spared` stays.
 */
static void evict(struct tcp_connections *tcp, enum flow_list list, const struct tcp_connection *spared)
{
    struct tcp_connection *candidates[EVICT_CANDIDATES], *victim = NULL;
    size_t count = 0;

    for (struct tcp_connection *next = tcp->ages[list].oldest; next != NULL && count < EVICT_CANDIDATES;
         next = next->newer) {
        if (next == spared)
            continue;
        candidates[count++] = next;
        if (victim == NULL || next->shared.last_frame < victim->shared.last_frame)
            victim = next;
    }
    if (victim == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == victim)
            continue;
        list_unlink(tcp, candidates[i]);
        list_newest(tcp, candidates[i], list);
    }
    end_connection(tcp, &victim->shared, list == FLOW_LIST_CLOSED ? FLOW_REASON_COUNT : FLOW_REASON_EVICTED);
}

/* Before one more is made. */
static void make_room(struct tcp_connections *tcp)
{
    if (tcp->ages[FLOW_LIST_CLOSED].count > CLOSED_KEPT)
        evict(tcp, FLOW_LIST_CLOSED, NULL);
    if (tcp->count < tcp->common->config.connections_max)
        return;
    for (unsigned list = 0; list < FLOW_LISTS; list++)
        if (tcp->ages[list].count != 0) {
            evict(tcp, (enum flow_list)list, NULL);
            return;
        }
}

/* After a segment that may have changed what the connection is. */
static void settle_list(struct tcp_connections *tcp, struct tcp_connection *connection)
{
    enum flow_list list = list_of(&connection->shared);

    if (list == connection->list)
        return;
    list_unlink(tcp, connection);
    list_newest(tcp, connection, list);
    if (list == FLOW_LIST_MPA && tcp->ages[list].count > tcp->common->config.flows_max)
        evict(tcp, list, connection);
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static struct flow_connection *new_connection(struct tcp_connections *tcp, const struct flow_segment *segment,
                                              const struct flow_frame *frame)
{
    struct tcp_connection *connection = calloc(1, sizeof(*connection));
    struct flow_connection *shared;

    if (connection == NULL)
        return NULL;
    make_room(tcp);
    shared = &connection->shared;
    shared->key = segment->key;
    shared->tcp = connection;
    shared->first_side = segment->side;
    shared->first_frame = frame->number;
    shared->first_ns = frame->time_ns;
    for (unsigned i = 0; i < 2; i++) {
        shared->side[i].state = SIDE_LATE;
        shared->side[i].tcp = &connection->side[i];
    }
    HASH_ADD(hh, tcp->all, shared.key, sizeof(shared->key), connection);
    if (hash_lost(connection)) {
        free(connection);
        return NULL;
    }
    list_newest(tcp, connection, FLOW_LIST_UNDECIDED);
    tcp->count++;
    tcp->common->totals.connections++;
    return shared;
}

static struct flow_connection *find_connection(struct tcp_connections *tcp, const struct flow_key *key)
{
    struct tcp_connection **cached = &tcp->cache[cache_slot(key)];
    struct tcp_connection *connection = *cached;

    if (connection == NULL || memcmp(&connection->shared.key, key, sizeof(*key)) != 0) {
        HASH_FIND(hh, tcp->all, key, sizeof(*key), connection);
        if (connection == NULL)
            return NULL;
        *cached = connection;
    }
    return &connection->shared;
}

/*
 * Another connection begins on the addresses and ports of this one, with the SYN that it has kept aside if there is
 * one.
 */
static struct flow_connection *restart_connection(struct tcp_connections *tcp, struct flow_connection *connection,
                                                  const struct flow_segment *segment, const struct flow_frame *frame)
{
    struct flow_rebirth rebirth = connection->tcp->rebirth;
    struct flow_syn answered = connection->side[1 - rebirth.syn.side].syn;
    struct flow_frame syn_frame = {.number = rebirth.frame, .time_ns = rebirth.time_ns};

    end_connection(tcp, connection, FLOW_REASON_COUNT);
    if (!rebirth.pending)
        return new_connection(tcp, segment, frame);
    connection = new_connection(tcp, &rebirth.syn, &syn_frame);
    if (connection == NULL)
        return NULL;
    flow_tcp_syn(&connection->side[rebirth.syn.side], &rebirth.syn, rebirth.frame, rebirth.time_ns);
    /* A SYN, ACK that answers a SYN of which nothing was decoded: that is of this connection, too. */
    if ((rebirth.syn.flags & TCP_BIT_ACK) != 0 && answered.seen && answered.isn + 1 == rebirth.syn.ack)
        flow_tcp_begin(&connection->side[1 - rebirth.syn.side], &answered);
    return connection;
}

/* A segment of no connection: without data it is counted as such. */
static struct flow_connection *begin(struct tcp_connections *tcp, const struct flow_segment *segment,
                                     const struct flow_carrier_frames *carrier)
{
    struct flow_account *account = &tcp->common->totals.account;
    struct flow_connection *connection;

    if (flow_removed_returns(tcp->common, &segment->key, sizeof(segment->key), (segment->flags & TCP_BIT_SYN) != 0))
        flow_removed_count(tcp->common, &segment->key, sizeof(segment->key));
    if (segment->length == 0 && (segment->flags & TCP_BIT_SYN) == 0) {
        account->row[segment->key.tunnel.guessed != 0 ? FLOW_ROW_TUNNEL_FOREIGN : FLOW_ROW_TCP_EMPTY].frames +=
            carrier->frames;
        return NULL;
    }
    connection = new_connection(tcp, segment, carrier->frame);
    if (connection == NULL)
        flow_account_count(account, FLOW_ROW_MEMORY, carrier->frames, segment->captured);
    return connection;
}

struct flow_connection *flow_connection_segment(struct tcp_connections *tcp, const struct flow_segment *segment,
                                                const struct flow_carrier_frames *carrier)
{
    struct flow_connection *connection = find_connection(tcp, &segment->key);
    const struct flow_frame *frame = carrier->frame;

    struct flow_context context;
    enum flow_life life = LIFE_SAME;

    if (connection != NULL)
        context = flow_context_of(tcp->common, connection, segment->side, frame->number, frame->time_ns);
    if (segment->broken) {
        if (connection == NULL) {
            flow_account_count(&tcp->common->totals.account, FLOW_ROW_IP_LENGTH, carrier->frames, carrier->octets);
            return NULL;
        }
        connection->tcp->frames += carrier->frames;
        flow_octets(&context, FLOW_ROW_IP_LENGTH, carrier->octets);
        return connection;
    }
    if (connection != NULL && ((segment->flags & TCP_BIT_SYN) != 0 || connection->tcp->rebirth.pending))
        life = flow_life_of(&context, segment);
    if (life == LIFE_NEW && (connection = restart_connection(tcp, connection, segment, frame)) == NULL)
        flow_account_count(&tcp->common->totals.account, FLOW_ROW_MEMORY, carrier->frames, segment->captured);
    else if (connection == NULL)
        connection = begin(tcp, segment, carrier);
    if (connection == NULL)
        return NULL;
    connection->last_frame = frame->number;
    connection->last_ns = frame->time_ns;
    connection->tcp->frames += carrier->frames;
    if (connection->flow != NULL) {
        connection->flow->last_frame = frame->number;
        connection->flow->last_ns = frame->time_ns;
    }
    if (life == LIFE_REFUSED)
        return connection;
    if (connection->tcp->list == FLOW_LIST_UNDECIDED && segment->length != 0)
        flow_search_segment(connection, segment);
    context = flow_context_of(tcp->common, connection, segment->side, frame->number, frame->time_ns);
    flow_tcp_segment(&context, segment);
    if (connection->tcp->list != FLOW_LIST_MPA || connection->side[segment->side].fin_known ||
        (segment->flags & (TCP_BIT_FIN | TCP_BIT_RST)) != 0)
        settle_list(tcp, connection->tcp);
    return connection;
}
