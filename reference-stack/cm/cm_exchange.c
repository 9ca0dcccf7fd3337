/* SPDX-License-Identifier: BSD-2-Clause */
/* Exchanges: found by either side's Communication ID, bounded in number, and each with one time limit. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "reference-stack/cm/cm_internal.h"

static bool same_place(const struct cm_place *one, const struct cm_place *other)
{
    return one->family == other->family && one->port == other->port &&
           memcmp(one->address, other->address, sizeof(one->address)) == 0;
}

struct cm_exchange *cm_exchange_find(struct cm_agent *agent, const struct cm_place *from, uint32_t local_id)
{
    struct cm_exchange *exchange;

    HASH_FIND(by_local, agent->by_local, &local_id, sizeof(local_id), exchange);
    /* An ID that another agent uses is none of his. */
    return exchange != NULL && same_place(&exchange->peer.place, from) ? exchange : NULL;
}

static void set_key(const struct cm_agent *agent, struct cm_peer_key *key, const struct cm_place *place, uint32_t id)
{
    memset(key, 0, sizeof(*key)); /* it is compared with its padding */
    key->secret = agent->secret;
    memcpy(&key->place, place, sizeof(key->place));
    key->id = id;
}

struct cm_exchange *cm_exchange_of_peer(struct cm_agent *agent, const struct cm_place *from, uint32_t peer_id)
{
    struct cm_peer_key key;
    struct cm_exchange *exchange;

    set_key(agent, &key, from, peer_id);
    HASH_FIND(by_peer, agent->by_peer, &key, sizeof(key), exchange);
    return exchange;
}

static uint32_t fresh_id(struct cm_agent *agent)
{
    struct cm_exchange *taken;
    uint32_t id;

    do {
        id = (uint32_t)cm_noise(agent);
        HASH_FIND(by_local, agent->by_local, &id, sizeof(id), taken);
    } while (id == 0 || taken != NULL);
    return id;
}

struct cm_exchange *cm_exchange_new(struct cm_agent *agent, const struct cm_place *peer)
{
    struct cm_exchange *exchange;

    if (agent->counts.exchanges >= agent->config.exchanges_max && agent->lingering != NULL)
        cm_exchange_free(agent, agent->lingering);
    if (agent->counts.exchanges >= agent->config.exchanges_max)
        return NULL;
    exchange = calloc(1, sizeof(*exchange));
    if (exchange == NULL || deadlines_join(&agent->deadlines) != 0) {
        free(exchange);
        return NULL;
    }
    exchange->local_id = fresh_id(agent);
    set_key(agent, &exchange->peer, peer, 0);
    HASH_ADD(by_local, agent->by_local, local_id, sizeof(exchange->local_id), exchange);
    if (exchange->by_local.tbl == NULL) {
        deadlines_leave(&agent->deadlines, &exchange->deadline);
        free(exchange);
        return NULL;
    }
    agent->counts.exchanges++;
    return exchange;
}

int cm_exchange_key(struct cm_agent *agent, struct cm_exchange *exchange, uint32_t peer_id)
{
    exchange->peer.id = peer_id;
    HASH_ADD(by_peer, agent->by_peer, peer, sizeof(exchange->peer), exchange);
    return exchange->by_peer.tbl == NULL ? -1 : 0;
}

void cm_exchange_free(struct cm_agent *agent, struct cm_exchange *exchange)
{
    if (exchange->state == CM_LINGERS)
        DL_DELETE2(agent->lingering, exchange, older, newer);
    agent->counts.established -= exchange->state == CM_ESTABLISHED;
    HASH_DELETE(by_local, agent->by_local, exchange);
    if (exchange->by_peer.tbl != NULL)
        HASH_DELETE(by_peer, agent->by_peer, exchange);
    deadlines_leave(&agent->deadlines, &exchange->deadline);
    agent->counts.exchanges--;
    free(exchange);
}

/* --- Time -------------------------------------------------------------------------------------------------------- */

uint64_t cm_within(const struct cm_agent_config *config, uint64_t wait_ns)
{
    if (wait_ns < config->wait_least_ns)
        return config->wait_least_ns;
    return wait_ns > config->wait_most_ns ? config->wait_most_ns : wait_ns;
}

void cm_exchange_wait(struct cm_agent *agent, struct cm_exchange *exchange, uint64_t wait_ns, unsigned repetitions)
{
    exchange->wait_ns = wait_ns;
    exchange->left = repetitions;
    exchange->mras = 0;
    deadlines_set(&agent->deadlines, &exchange->deadline, time_after(agent->now, wait_ns));
}

void cm_exchange_linger(struct cm_agent *agent, struct cm_exchange *exchange)
{
    agent->counts.established -= exchange->state == CM_ESTABLISHED;
    if (exchange->state != CM_LINGERS)
        DL_APPEND2(agent->lingering, exchange, older, newer);
    exchange->state = CM_LINGERS;
    deadlines_set(&agent->deadlines, &exchange->deadline, time_after(agent->now, agent->config.linger_ns));
}

void cm_exchange_prolong(struct cm_agent *agent, struct cm_exchange *exchange, const struct cm_message *message)
{
    uint64_t more = cm_within(&agent->config, cm_time_ns((unsigned)cm_mra_get_Timeout(message->body)));

    if (exchange->mras >= agent->config.mras_max)
        return;
    exchange->mras++;
    deadlines_set(&agent->deadlines, &exchange->deadline, time_after(agent->now, time_after(more, exchange->wait_ns)));
}

/*
 * Ends an exchange that timed out: the peer has not answered, or the ULP has not decided. The peer gets a REJ with
 * reason 4 if one can be sent; a server repeats it for a REQ that arrives late.
 */
static void give_up(struct cm_agent *agent, struct cm_exchange *exchange)
{
    bool closing = exchange->state == CM_DREQ_SENT, server = !exchange->client && !closing;
    struct cm_rejected rejected = {&exchange->peer.place, server ? exchange : NULL, exchange->transaction,
                                   exchange->local_id,    exchange->peer.id,        exchange->state == CM_REP_SENT};
    struct cm_event *event;

    if (!closing)
        cm_send_reason(agent, &rejected, CM_REASON_TIMEOUT);
    event = cm_event_new(agent, closing ? CM_EVENT_DISCONNECTED : CM_EVENT_TIMEOUT, exchange);
    cm_event_done(agent, event);
    if (server)
        cm_exchange_linger(agent, exchange);
    else
        cm_exchange_free(agent, exchange);
}

void cm_exchange_expire(struct cm_agent *agent, struct cm_exchange *exchange)
{
    if (exchange->state == CM_LINGERS) {
        cm_exchange_free(agent, exchange);
    } else if (exchange->left == 0 || exchange->state == CM_ASKED) {
        give_up(agent, exchange);
    } else {
        exchange->left--;
        cm_resend(agent, exchange);
        deadlines_set(&agent->deadlines, &exchange->deadline, time_after(agent->now, exchange->wait_ns));
    }
}
