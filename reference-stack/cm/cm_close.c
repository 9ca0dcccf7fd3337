/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a connection: DREQ and DREP (IBTA 12.9.8). */
#include "reference-stack/cm/cm_internal.h"

static void tell_disconnected(struct cm_agent *agent, const struct cm_exchange *exchange,
                              const struct cm_message *message)
{
    struct cm_event *event = cm_event_new(agent, CM_EVENT_DISCONNECTED, exchange);

    if (event != NULL)
        cm_event_data(event, message->private_data, message->private_octets);
    cm_event_done(agent, event);
}

int cm_agent_disconnect(struct cm_agent *agent, uint32_t id, uint64_t now, struct iwarp_sentence *sentence)
{
    struct cm_exchange *exchange;
    uint8_t mad[MAD_OCTETS];

    if (agent == NULL)
        return misuse_null(sentence, "cm_agent_disconnect", "an agent");
    HASH_FIND(by_local, agent->by_local, &id, sizeof(id), exchange);
    if (exchange == NULL || exchange->state != CM_ESTABLISHED)
        return iwarp_sentence_set(sentence, "cm_agent_disconnect: no connection has the number 0x%08x", id);
    agent->now = now;
    agent->counts.established--;
    exchange->state = CM_DREQ_SENT;
    exchange->closing = cm_noise(agent);
    cm_begin_answer(mad, CM_DREQ, exchange->closing, exchange->local_id, exchange->peer.id);
    cm_dreq_set_RemoteQPN(mad + MAD_HEADER_OCTETS, exchange->remote_qpn);
    cm_send(agent, &exchange->peer.place, exchange, mad);
    cm_exchange_wait(agent, exchange, cm_time_ns(agent->config.remote_timeout), agent->config.retries);
    return 0;
}

/*
 * Every DREQ is answered by a DREP, also a repeated one or one for an unknown exchange (IBTA 12.9.8.3.2).
 */
void cm_handle_disconnect(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    struct cm_exchange *exchange = cm_exchange_find(agent, from, message->remote_id);
    bool known = exchange != NULL && exchange->peer.id == message->local_id;
    uint8_t mad[MAD_OCTETS];

    cm_begin_answer(mad, CM_DREP, message->transaction, message->remote_id, message->local_id);
    if (!known) {
        cm_send(agent, from, NULL, mad);
        return;
    }
    cm_send(agent, from, exchange, mad);
    if (exchange->state == CM_LINGERS || exchange->state == CM_REQ_SENT || exchange->state == CM_ASKED)
        return;
    tell_disconnected(agent, exchange, message);
    cm_exchange_linger(agent, exchange);
}

void cm_handle_disconnected(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    struct cm_exchange *exchange = cm_exchange_find(agent, from, message->remote_id);

    if (exchange == NULL || exchange->state != CM_DREQ_SENT || exchange->peer.id != message->local_id ||
        exchange->closing != message->transaction)
        return;
    tell_disconnected(agent, exchange, message);
    cm_exchange_linger(agent, exchange);
}
