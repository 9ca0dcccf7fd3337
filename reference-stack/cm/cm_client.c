/* SPDX-License-Identifier: BSD-2-Clause */
/* The client: a REQ goes out, and REP, REJ or MRA come back (IBTA 12.9.5, A11.4). */
#include <string.h>

#include "reference-stack/cm/cm_internal.h"

enum { PLAIN_OCTETS = IP_CM_PRIVATE_OCTETS + IP_CM_CONSUMER_OCTETS, MTU_1024 = 3 };

/* A11 Tables 1 and 2. */
static void write_service(uint8_t mad[MAD_OCTETS], const struct cm_agent *agent, const struct cm_connect *connect)
{
    const struct cm_tuple *tuple = &connect->tuple;
    uint8_t *data = cm_private(mad);

    cm_req_set_ServiceID(mad + MAD_HEADER_OCTETS, ip_cm_service_id(tuple->protocol, tuple->destination_port));
    ip_cm_private_set_MajV(data, agent->config.major);
    ip_cm_private_set_MinV(data, agent->config.client_minor);
    ip_cm_private_set_IPV(data, tuple->source.family);
    ip_cm_private_set_SourcePort(data, tuple->source_port);
    ip_cm_set_address(data + (ip_cm_private_at_Source(data) - data), tuple->source.family, tuple->source.octets);
    ip_cm_set_address(data + (ip_cm_private_at_Destination(data) - data), tuple->destination.family,
                      tuple->destination.octets);
    if (connect->octets != 0)
        memcpy(data + IP_CM_PRIVATE_OCTETS, connect->data, connect->octets);
}

static void write_request(struct cm_agent *agent, struct cm_exchange *exchange, const struct cm_connect *connect,
                          uint8_t mad[MAD_OCTETS])
{
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_begin(mad, CM_REQ, exchange->transaction);
    cm_req_set_LocalID(body, exchange->local_id);
    cm_req_set_ServiceID(body, connect->service_id);
    cm_req_set_CAGUID(body, agent->config.ca_guid);
    cm_req_set_QPN(body, exchange->qpn);
    cm_req_set_Resources(body, 1);
    cm_req_set_Depth(body, 1);
    cm_req_set_RemoteTimeout(body, agent->config.remote_timeout);
    cm_req_set_FlowControl(body, 1);
    cm_req_set_PSN(body, cm_noise(agent) & 0xFFFFFF);
    cm_req_set_LocalTimeout(body, agent->config.local_timeout);
    cm_req_set_Retry(body, 7);
    cm_req_set_P_Key(body, BTH_P_KEY_DEFAULT);
    cm_req_set_MTU(body, MTU_1024);
    cm_req_set_RNRRetry(body, 7);
    cm_req_set_MaxRetries(body, agent->config.retries);
    cm_req_set_path(mad, connect->from.family, connect->from.octets, connect->to.address);
    if (!connect->plain)
        write_service(mad, agent, connect);
    else if (connect->octets != 0)
        memcpy(cm_private(mad), connect->data, connect->octets);
}

static int check_connect(const struct cm_connect *connect, struct iwarp_sentence *sentence)
{
    size_t most = connect->plain ? PLAIN_OCTETS : IP_CM_CONSUMER_OCTETS;
    const struct cm_tuple *tuple = &connect->tuple;

    if (connect->octets > most || (connect->octets != 0 && connect->data == NULL))
        return iwarp_sentence_set(sentence, "cm_agent_connect: at most %zu octets of the consumer fit, got %zu", most,
                                  connect->octets);
    if (!connect->plain &&
        (tuple->source.family != tuple->destination.family || (tuple->source.family != 4 && tuple->source.family != 6)))
        return iwarp_sentence_set(sentence,
                                  "cm_agent_connect: source and destination have to be both IPv4 or both IPv6");
    return 0;
}

int cm_agent_connect(struct cm_agent *agent, const struct cm_connect *connect, uint64_t now, uint32_t *id,
                     struct iwarp_sentence *sentence)
{
    struct cm_exchange *exchange;
    uint8_t mad[MAD_OCTETS];
    struct cm_place to;

    if (agent == NULL || connect == NULL || id == NULL)
        return misuse_null(sentence, "cm_agent_connect", "an agent, what to connect, and where its number goes");
    if (check_connect(connect, sentence) != 0)
        return -1;
    to = cm_place_of(&connect->to);
    exchange = cm_exchange_new(agent, &to);
    if (exchange == NULL)
        return iwarp_sentence_set(sentence, "cm_agent_connect: %zu exchanges are open, there is no room for another",
                                  agent->counts.exchanges);
    agent->now = now;
    exchange->client = true;
    exchange->state = CM_REQ_SENT;
    exchange->transaction = cm_noise(agent);
    exchange->qpn = (uint32_t)cm_noise(agent) & 0xFFFFFF;
    exchange->in_service = !connect->plain;
    exchange->tuple = connect->tuple;
    exchange->minor = agent->config.client_minor;
    write_request(agent, exchange, connect, mad);
    exchange->service_id = cm_req_get_ServiceID(mad + MAD_HEADER_OCTETS);
    cm_send(agent, &exchange->peer.place, exchange, mad);
    cm_exchange_wait(agent, exchange, cm_time_ns(agent->config.remote_timeout), agent->config.retries);
    *id = exchange->local_id;
    return 0;
}

static void send_ready(struct cm_agent *agent, struct cm_exchange *exchange)
{
    uint8_t mad[MAD_OCTETS];

    cm_begin_answer(mad, CM_RTU, exchange->transaction, exchange->local_id, exchange->peer.id);
    cm_send(agent, &exchange->peer.place, exchange, mad);
}

/* A REP for what is not there any more: the server must learn that (IBTA 12.9.8.3). */
static void refuse_reply(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    struct cm_rejected rejected = {from, NULL, message->transaction, message->remote_id, message->local_id, 1};

    cm_send_reason(agent, &rejected, CM_REASON_INVALID_ID);
}

void cm_handle_reply(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    struct cm_exchange *exchange = cm_exchange_find(agent, from, message->remote_id);
    struct cm_event *event;

    if (exchange == NULL || !exchange->client || exchange->transaction != message->transaction) {
        refuse_reply(agent, from, message);
        return;
    }
    if (exchange->state == CM_ESTABLISHED && exchange->peer.id == message->local_id)
        cm_resend(agent, exchange); /* the RTU was lost */
    if (exchange->state != CM_REQ_SENT)
        return;
    exchange->peer.id = message->local_id;
    exchange->remote_qpn = (uint32_t)cm_rep_get_QPN(message->body);
    exchange->state = CM_ESTABLISHED;
    agent->counts.established++;
    deadlines_set(&agent->deadlines, &exchange->deadline, UINT64_MAX);
    send_ready(agent, exchange);
    event = cm_event_new(agent, CM_EVENT_ESTABLISHED, exchange);
    if (event != NULL)
        cm_event_data(event, message->private_data, message->private_octets);
    cm_event_done(agent, event);
}

/* --- REJ ---------------------------------------------------------------------------------------------------------- */

static void tell_rejected(struct cm_agent *agent, const struct cm_exchange *exchange, const struct cm_message *message)
{
    struct cm_event *event = cm_event_new(agent, CM_EVENT_REJECTED, exchange);
    const struct ip_cm_ari *ari = &message->ari;

    if (event == NULL)
        return;
    event->reason = message->reason;
    event->has_ari = message->has_ari;
    event->layer = ari->layer;
    event->code = ari->code;
    if (message->has_ari && ari->layer == IP_CM_LAYER_SERVICE && ari->suggested != NULL) {
        event->info_octets = ari->suggested_octets;
        memcpy(event->info, ari->suggested, ari->suggested_octets);
    } else if (message->has_ari && ari->layer != IP_CM_LAYER_SERVICE) {
        event->info_octets = message->info_octets < CM_ARI_OCTETS ? message->info_octets - 1 : CM_ARI_OCTETS - 1;
        memcpy(event->info, message->ari_octets + 1, event->info_octets);
    }
    /* Reason 28 with ARI 00 00 proves nothing, no more than any other reason (A11.6). */
    event->service_proven = message->has_ari && ari->layer == IP_CM_LAYER_SERVICE && ari->code != IP_CM_ARI_UNSPECIFIED;
    cm_event_data(event, message->private_data, message->private_octets);
    cm_event_done(agent, event);
}

void cm_handle_rejection(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    struct cm_exchange *exchange = cm_exchange_find(agent, from, message->remote_id);

    /* Who gives a REQ up may not know this side's ID. */
    if (exchange == NULL && message->remote_id == 0 && message->reason == CM_REASON_TIMEOUT)
        exchange = cm_exchange_of_peer(agent, from, message->local_id);
    if (exchange == NULL || exchange->transaction != message->transaction || exchange->state == CM_LINGERS)
        return;
    /*
     * A connection is there: it goes on, unless its client hears that the server, which lacks the RTU, has given it up.
     */
    if (exchange->state == CM_DREQ_SENT ||
        (exchange->state == CM_ESTABLISHED && !(exchange->client && message->rejected == 1)))
        return;
    tell_rejected(agent, exchange, message);
    cm_exchange_free(agent, exchange);
}

void cm_handle_mra(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    struct cm_exchange *exchange = cm_exchange_find(agent, from, message->remote_id);

    if (exchange == NULL || message->body_octets < 10)
        return;
    if ((message->rejected == 0 && exchange->state == CM_REQ_SENT) ||
        (message->rejected == 1 && exchange->state == CM_REP_SENT && exchange->peer.id == message->local_id))
        cm_exchange_prolong(agent, exchange, message);
}
