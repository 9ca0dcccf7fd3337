/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/cm/cm_endpoint_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"

#define LINGER_NS UINT64_C(20000000000) /* a peer repeats what it has sent so long: 15 times about a second */

static uint64_t noise(struct cm_endpoint *endpoint)
{
    return splitmix_next(&endpoint->noise);
}

struct cm_endpoint *cm_endpoint_new(const struct cm_endpoint_config *config, struct iwarp_sentence *error)
{
    struct cm_endpoint *endpoint = calloc(1, sizeof(*endpoint));

    if (endpoint == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a CM endpoint");
        return NULL;
    }
    endpoint->config = *config;
    endpoint->noise = config->seed;
    endpoint->next_id = (uint32_t)noise(endpoint) | 1;
    endpoint->next_transaction = noise(endpoint);
    endpoint->next_qpn = (uint32_t)noise(endpoint);
    endpoint->ca_guid = UINT64_C(0x0200000000000000) | (noise(endpoint) >> 16);
    return endpoint;
}

static void unlink_exchange(struct cm_exchange *exchange)
{
    struct cm_exchange **at = &exchange->endpoint->exchanges;

    while (*at != exchange)
        at = &(*at)->next;
    *at = exchange->next;
    exchange->endpoint->count--;
    free(exchange);
}

void cm_endpoint_free(struct cm_endpoint *endpoint)
{
    if (endpoint == NULL)
        return;
    while (endpoint->exchanges != NULL)
        unlink_exchange(endpoint->exchanges);
    free(endpoint);
}

/* Exchanges that were released make room for new ones before their time. */
static bool make_room(struct cm_endpoint *endpoint)
{
    struct cm_exchange *oldest = NULL;

    if (endpoint->count < CM_ENDPOINT_EXCHANGES)
        return true;
    for (struct cm_exchange *e = endpoint->exchanges; e != NULL; e = e->next)
        if (e->released)
            oldest = e; /* the list begins with the newest */
    if (oldest != NULL)
        unlink_exchange(oldest);
    return oldest != NULL;
}

static struct cm_exchange *exchange_new(struct cm_endpoint *endpoint, const struct net_address *peer)
{
    struct cm_exchange *exchange = make_room(endpoint) ? calloc(1, sizeof(*exchange)) : NULL;

    if (exchange == NULL)
        return NULL;
    exchange->endpoint = endpoint;
    exchange->deadline = exchange->until = CM_ENDPOINT_NEVER;
    exchange->status.peer = *peer;
    exchange->status.local_id = endpoint->next_id++;
    if (endpoint->next_id == 0)
        endpoint->next_id = 1;
    exchange->status.qpn = endpoint->next_qpn++ & 0xFFFFFF;
    if (exchange->status.qpn < 2) /* those of management */
        exchange->status.qpn = 2;
    exchange->status.psn = (uint32_t)noise(endpoint) & 0xFFFFFF;
    exchange->status.ca_guid = endpoint->ca_guid;
    exchange->next = endpoint->exchanges;
    endpoint->exchanges = exchange;
    endpoint->count++;
    return exchange;
}

struct cm_exchange *cm_exchange_open(struct cm_endpoint *endpoint, const struct net_address *peer,
                                     struct iwarp_sentence *error)
{
    struct cm_exchange *exchange = exchange_new(endpoint, peer);

    if (exchange == NULL) {
        (void)iwarp_sentence_set(error, "no room for another CM exchange");
        return NULL;
    }
    exchange->status.client = true;
    exchange->status.transaction = endpoint->next_transaction++;
    return exchange;
}

struct cm_exchange *cm_endpoint_request(struct cm_endpoint *endpoint, const struct net_address *peer,
                                        const uint8_t *mad)
{
    struct cm_exchange *exchange;
    unsigned waiting = 0;

    for (struct cm_exchange *e = endpoint->exchanges; e != NULL; e = e->next)
        waiting += e->offered;
    exchange = waiting < CM_ENDPOINT_ACCEPTS ? exchange_new(endpoint, peer) : NULL;
    if (exchange == NULL)
        return NULL;
    exchange->offered = true;
    exchange->status.state = CM_EXCHANGE_REQUESTED;
    exchange->status.remote_id = (uint32_t)cm_req_get_LocalID(mad + MAD_HEADER_OCTETS);
    exchange->status.transaction = mad_get_TransactionID(mad);
    exchange->peer_qpn = (uint32_t)cm_req_get_QPN(mad + MAD_HEADER_OCTETS);
    return exchange;
}

struct cm_exchange *cm_endpoint_accept(struct cm_endpoint *endpoint)
{
    struct cm_exchange *oldest = NULL;

    for (struct cm_exchange *e = endpoint->exchanges; e != NULL; e = e->next)
        if (e->offered)
            oldest = e;
    if (oldest != NULL)
        oldest->offered = false;
    return oldest;
}

void cm_endpoint_forget(struct cm_endpoint *endpoint)
{
    struct cm_exchange *exchange;

    while ((exchange = cm_endpoint_accept(endpoint)) != NULL)
        cm_exchange_release(exchange);
}

uint64_t cm_endpoint_strangers(const struct cm_endpoint *endpoint)
{
    return endpoint->strangers;
}

/*
 * --- Sending -------------------------------------------------------------------------------------------------------
 */

/* What a MAD that goes out makes of its exchange. */
static void follow_sent(struct cm_exchange *exchange, const uint8_t *mad)
{
    struct cm_exchange_status *status = &exchange->status;

    switch (mad_get_AttributeID(mad)) {
    case CM_REQ:
        if (status->client)
            status->state = CM_EXCHANGE_REQUESTED;
        break;
    case CM_REP:
        if (!status->client)
            status->state = CM_EXCHANGE_REPLIED;
        break;
    case CM_RTU:
        if (status->client && status->state == CM_EXCHANGE_REPLIED)
            status->state = CM_EXCHANGE_ESTABLISHED;
        break;
    case CM_DREQ: status->state = CM_EXCHANGE_CLOSING; break;
    case CM_REJ:
    case CM_DREP: status->state = CM_EXCHANGE_ENDED; break;
    default: break;
    }
}

void cm_exchange_emit(const struct cm_exchange *exchange, const uint8_t *mad, uint32_t icrc_flip)
{
    const struct cm_endpoint_config *config = &exchange->endpoint->config;

    config->emit(config->context, &exchange->status.peer, mad, icrc_flip);
}

static void attempt(struct cm_exchange *exchange)
{
    exchange->status.attempts++;
    exchange->left--;
    exchange->deadline = exchange->endpoint->now + exchange->sending.interval_ns;
    cm_exchange_emit(exchange, exchange->last, exchange->sending.icrc_flip);
}

void cm_exchange_send(struct cm_exchange *exchange, const uint8_t mad[MAD_OCTETS], const struct cm_sending *sending)
{
    memcpy(exchange->last, mad, MAD_OCTETS);
    exchange->has_last = true;
    exchange->sending = *sending;
    exchange->left = sending->attempts != 0 ? sending->attempts : 1;
    exchange->status.attempts = 0;
    exchange->status.answered_ns = 0;
    exchange->begun = exchange->endpoint->now;
    exchange->status.waiting = sending->interval_ns != 0;
    follow_sent(exchange, mad);
    attempt(exchange);
    if (!exchange->status.waiting)
        exchange->deadline = CM_ENDPOINT_NEVER;
}

static void send_once(struct cm_exchange *exchange, const uint8_t *mad)
{
    cm_exchange_send(exchange, mad, &(struct cm_sending){.attempts = 1});
}

void cm_exchange_end(struct cm_exchange *exchange, enum cm_attribute attribute, unsigned rejected)
{
    struct cm_exchange_status *status = &exchange->status;
    uint8_t mad[MAD_OCTETS];

    cm_begin_answer(mad, attribute, status->transaction, status->local_id, status->remote_id);
    if (attribute == CM_REJ) {
        cm_rej_set_Message(mad + MAD_HEADER_OCTETS, rejected);
        cm_rej_set_Reason(mad + MAD_HEADER_OCTETS, CM_REASON_CONSUMER);
        cm_rej_set_InfoLength(mad + MAD_HEADER_OCTETS, 1);
        ip_cm_ari_set_Layer(mad + MAD_HEADER_OCTETS + 12, IP_CM_LAYER_ULP);
    }
    if (attribute == CM_DREQ)
        cm_dreq_set_RemoteQPN(mad + MAD_HEADER_OCTETS, exchange->peer_qpn);
    send_once(exchange, mad);
}

void cm_exchange_release(struct cm_exchange *exchange)
{
    enum { MESSAGE_REQ = 0, MESSAGE_REP = 1, CLOSE_ATTEMPTS = 4 };
    const struct cm_exchange_status *status = &exchange->status;

    exchange->released = true;
    exchange->status.waiting = false;
    exchange->deadline = CM_ENDPOINT_NEVER;
    exchange->until = exchange->endpoint->now + LINGER_NS;
    if (status->state == CM_EXCHANGE_ESTABLISHED || (status->state == CM_EXCHANGE_REPLIED && !status->client)) {
        cm_exchange_end(exchange, CM_DREQ, 0);
        exchange->left = CLOSE_ATTEMPTS - 1;
        exchange->sending.interval_ns = CM_CLOSE_INTERVAL_NS;
        exchange->deadline = exchange->endpoint->now + CM_CLOSE_INTERVAL_NS;
        exchange->status.waiting = true;
    } else if (status->state == CM_EXCHANGE_REPLIED || (status->state == CM_EXCHANGE_REQUESTED && !status->client)) {
        cm_exchange_end(exchange, CM_REJ, status->client ? MESSAGE_REP : MESSAGE_REQ);
    }
}

/*
 * --- Time ----------------------------------------------------------------------------------------------------------
 */

void cm_endpoint_set_time(struct cm_endpoint *endpoint, uint64_t now)
{
    if (now > endpoint->now)
        endpoint->now = now;
}

uint64_t cm_endpoint_deadline(const struct cm_endpoint *endpoint)
{
    uint64_t first = CM_ENDPOINT_NEVER;

    for (const struct cm_exchange *e = endpoint->exchanges; e != NULL; e = e->next) {
        first = e->deadline < first ? e->deadline : first;
        first = e->until < first ? e->until : first;
    }
    return first;
}

void cm_endpoint_tick(struct cm_endpoint *endpoint, uint64_t now)
{
    struct cm_exchange *next;

    cm_endpoint_set_time(endpoint, now);
    for (struct cm_exchange *e = endpoint->exchanges; e != NULL; e = next) {
        next = e->next;
        if (e->deadline <= now) {
            if (e->left != 0) {
                attempt(e);
            } else {
                e->status.waiting = false;
                e->deadline = CM_ENDPOINT_NEVER;
            }
        }
        if (e->until <= now)
            unlink_exchange(e);
    }
}

void cm_exchange_status(const struct cm_exchange *exchange, struct cm_exchange_status *status)
{
    *status = exchange->status;
}
