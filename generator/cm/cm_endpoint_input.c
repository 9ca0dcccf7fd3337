/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes to the CM endpoint: whose exchange it belongs to, whether it is new, and what it makes of the exchange. */
#include <string.h>

#include "generator/cm/cm_endpoint_internal.h"
#include "base/digest.h"

/* A MAD that is repeated is the same octet for octet (IBTA 12.9.8.6). */
static bool seen_before(struct cm_exchange *exchange, const uint8_t *mad)
{
    uint64_t digest = digest_octets(DIGEST_START, mad, MAD_OCTETS);
    unsigned known = exchange->seen_count < CM_ENDPOINT_SEEN ? exchange->seen_count : CM_ENDPOINT_SEEN;

    for (unsigned i = 0; i < known; i++)
        if (exchange->seen[i] == digest)
            return true;
    exchange->seen[exchange->seen_count++ % CM_ENDPOINT_SEEN] = digest;
    return false;
}

static struct cm_exchange *find(struct cm_endpoint *endpoint, const struct net_address *from, const uint8_t *mad)
{
    bool request = mad_get_AttributeID(mad) == CM_REQ;
    uint32_t local = (uint32_t)cm_ids_get_LocalID(mad + MAD_HEADER_OCTETS);
    uint32_t remote = (uint32_t)cm_ids_get_RemoteID(mad + MAD_HEADER_OCTETS);

    for (struct cm_exchange *e = endpoint->exchanges; e != NULL; e = e->next) {
        if (!net_address_equal(&e->status.peer, from))
            continue;
        if (request ? !e->status.client && e->status.remote_id == local &&
                          e->status.transaction == mad_get_TransactionID(mad)
                    : e->status.local_id == remote)
            return e;
        /* A client that gives up before it knows our ID names its own alone (IBTA 12.6.7). */
        if (!request && remote == 0 && !e->status.client && e->status.remote_id == local)
            return e;
    }
    return NULL;
}

static void follow_reply(struct cm_exchange *exchange, const uint8_t *mad)
{
    struct cm_exchange_status *status = &exchange->status;

    if (!status->client || status->state != CM_EXCHANGE_REQUESTED)
        return;
    status->state = CM_EXCHANGE_REPLIED;
    status->remote_id = (uint32_t)cm_rep_get_LocalID(mad + MAD_HEADER_OCTETS);
    exchange->peer_qpn = (uint32_t)cm_rep_get_QPN(mad + MAD_HEADER_OCTETS);
}

/* What a MAD that came makes of its exchange. */
static void follow(struct cm_exchange *exchange, const uint8_t *mad)
{
    struct cm_exchange_status *status = &exchange->status;

    switch (mad_get_AttributeID(mad)) {
    case CM_REP: follow_reply(exchange, mad); break;
    case CM_RTU:
        if (!status->client && status->state == CM_EXCHANGE_REPLIED)
            status->state = CM_EXCHANGE_ESTABLISHED;
        break;
    case CM_DREQ:
        if (!exchange->released && status->state == CM_EXCHANGE_REPLIED && !status->client)
            status->state = CM_EXCHANGE_ESTABLISHED;
        break;
    case CM_REJ:
    case CM_DREP: status->state = CM_EXCHANGE_ENDED; break;
    default: break;
    }
}

/* An MRA is no answer: it says how much longer one may take (IBTA 12.6.6). */
static void prolong(struct cm_exchange *exchange, const uint8_t *mad)
{
    uint64_t more = cm_time_ns((unsigned)cm_mra_get_Timeout(mad + MAD_HEADER_OCTETS));

    if (!exchange->status.waiting || more > UINT64_MAX / 2 - exchange->endpoint->now)
        return;
    exchange->left = 0;
    exchange->deadline = exchange->endpoint->now + more + exchange->sending.interval_ns;
}

static void answered(struct cm_exchange *exchange, const uint8_t *mad)
{
    struct cm_exchange_status *status = &exchange->status;

    if (status->attempts == 1 && status->answered_ns == 0)
        status->answered_ns = exchange->endpoint->now - exchange->begun;
    if (mad_get_AttributeID(mad) == CM_MRA) {
        prolong(exchange, mad);
        return;
    }
    status->waiting = false;
    exchange->left = 0;
    exchange->deadline = CM_ENDPOINT_NEVER;
}

/* Nobody reads this exchange: the peer shall come to its end all the same. */
static void receive_released(struct cm_exchange *exchange, const uint8_t *mad)
{
    switch (mad_get_AttributeID(mad)) {
    case CM_REP: cm_exchange_end(exchange, CM_REJ, 1); break; /* it came too late */
    case CM_REQ:
        if (exchange->has_last)
            cm_exchange_emit(exchange, exchange->last, 0);
        break;
    case CM_DREQ: cm_exchange_end(exchange, CM_DREP, 0); break;
    default: break;
    }
}

static void keep(struct cm_exchange *exchange, const uint8_t *mad, bool icrc_good)
{
    struct cm_received *received;

    if (exchange->count == CM_EXCHANGE_QUEUE) {
        exchange->status.lost++;
        return;
    }
    received = &exchange->queue[(exchange->first + exchange->count++) % CM_EXCHANGE_QUEUE];
    memcpy(received->mad, mad, MAD_OCTETS);
    received->icrc_good = icrc_good;
    received->time_ns = exchange->endpoint->now;
}

/* REJ, RTU, DREP and MRA are not answered, so a repeated one does not mean that an answer was lost. */
static bool is_answered(const uint8_t *mad)
{
    unsigned attribute = (unsigned)mad_get_AttributeID(mad);

    return attribute == CM_REQ || attribute == CM_REP || attribute == CM_DREQ;
}

void cm_endpoint_input(struct cm_endpoint *endpoint, const struct net_address *from, const uint8_t mad[MAD_OCTETS],
                       bool icrc_good, uint64_t now)
{
    struct cm_exchange *exchange;

    cm_endpoint_set_time(endpoint, now);
    if (mad_get_MgmtClass(mad) != MAD_CLASS_CM) {
        endpoint->strangers++;
        return;
    }
    exchange = find(endpoint, from, mad);
    if (exchange == NULL && mad_get_AttributeID(mad) == CM_REQ)
        exchange = cm_endpoint_request(endpoint, from, mad);
    if (exchange == NULL) {
        endpoint->strangers++;
        return;
    }
    if (seen_before(exchange, mad)) {
        exchange->status.repeated++;
        if (exchange->released)
            receive_released(exchange, mad);
        else if (is_answered(mad) && exchange->has_last && !exchange->status.waiting)
            cm_exchange_emit(exchange, exchange->last, 0); /* the peer has not seen the answer */
        return;
    }
    answered(exchange, mad);
    follow(exchange, mad);
    if (exchange->released)
        receive_released(exchange, mad);
    else
        keep(exchange, mad, icrc_good);
}

bool cm_exchange_next(struct cm_exchange *exchange, struct cm_received *received)
{
    if (exchange->count == 0)
        return false;
    *received = exchange->queue[exchange->first];
    exchange->first = (exchange->first + 1) % CM_EXCHANGE_QUEUE;
    exchange->count--;
    return true;
}
