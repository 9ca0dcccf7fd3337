/* SPDX-License-Identifier: BSD-2-Clause */
/* The server: a REQ is judged, then the listener or the ULP decides (IBTA 12.9.6, A11.6). */
#include <string.h>

#include "reference-stack/cm/cm_internal.h"

enum { IPV4_AT = 12 };

static void read_address(struct cm_address *address, unsigned family, const uint8_t field[16])
{
    memset(address, 0, sizeof(*address));
    address->family = (uint8_t)family;
    memcpy(address->octets, field + (family == 4 ? IPV4_AT : 0), family == 4 ? 4 : 16);
}

static void read_tuple(struct cm_tuple *tuple, const struct cm_message *message)
{
    tuple->protocol = (uint8_t)(message->service_id >> 16);
    tuple->destination_port = (uint16_t)message->service_id;
    tuple->source_port = message->ip.source_port;
    read_address(&tuple->source, message->ip.ip_version, message->ip.source);
    read_address(&tuple->destination, message->ip.ip_version, message->ip.destination);
}

/* The listener's REQs have the service's header (A11.4), and this agent reads it. */
static bool reads_header(const struct cm_agent *agent, const struct cm_message *message,
                         const struct cm_listener *listener)
{
    return agent->config.service && message->has_ip && !listener->plain;
}

/* The IDs and the transaction that a REJ of the REQ contains. */
static struct cm_rejected rejection_of(struct cm_agent *agent, const struct cm_place *from,
                                       const struct cm_message *message)
{
    uint32_t own = agent->config.own_id_in_rejections ? (uint32_t)cm_noise(agent) : 0;

    return (struct cm_rejected){from, NULL, message->transaction, own, message->local_id, 0};
}

static void tell_refused(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message,
                         const char *requirement, uint16_t reason, uint8_t layer, uint8_t code)
{
    struct cm_event *event = cm_event_new(agent, CM_EVENT_REFUSED, NULL);

    if (event == NULL)
        return;
    event->peer = *from;
    event->service_id = message->service_id;
    event->in_service = message->has_ip;
    if (message->has_ip)
        read_tuple(&event->tuple, message);
    event->requirement = requirement;
    event->reason = reason;
    event->has_ari = reason == CM_REASON_CONSUMER;
    event->layer = layer;
    event->code = code;
    cm_event_done(agent, event);
}

/* --- The answers -------------------------------------------------------------------------------------------------- */

static void send_reply(struct cm_agent *agent, struct cm_exchange *exchange, const uint8_t *data, size_t octets)
{
    uint8_t mad[MAD_OCTETS];
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_begin_answer(mad, CM_REP, exchange->transaction, exchange->local_id, exchange->peer.id);
    cm_rep_set_QPN(body, exchange->qpn);
    cm_rep_set_PSN(body, cm_noise(agent) & 0xFFFFFF);
    cm_rep_set_Resources(body, 1);
    cm_rep_set_Depth(body, 1);
    cm_rep_set_FlowControl(body, 1);
    cm_rep_set_RNRRetry(body, 7);
    cm_rep_set_CAGUID(body, agent->config.ca_guid);
    if (octets != 0)
        memcpy(cm_private(mad), data, octets); /* the ULP's alone: the service has no part of a REP (A11.4) */
    cm_send(agent, &exchange->peer.place, exchange, mad);
    exchange->state = CM_REP_SENT;
    cm_exchange_wait(agent, exchange, exchange->wait_ns, exchange->left);
}

static void ask(struct cm_agent *agent, struct cm_exchange *exchange, const struct cm_message *message,
                const struct cm_listener *listener)
{
    struct cm_event *event = cm_event_new(agent, CM_EVENT_REQUEST, exchange);
    bool header = reads_header(agent, message, listener);

    if (event == NULL) {
        cm_exchange_free(agent, exchange);
        return;
    }
    cm_event_data(event, header ? message->ip.consumer : message->private_data,
                  header ? message->ip.consumer_octets : message->private_octets);
    cm_event_done(agent, event);
    /* `wait_ns` and `left` stay those of the REP to come. */
    deadlines_set(&agent->deadlines, &exchange->deadline, time_after(agent->now, agent->config.ask_ns));
}

/* A REQ that is good: an exchange of its own begins. */
static void begin(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message,
                  const struct cm_listener *listener)
{
    struct cm_exchange *exchange = cm_exchange_new(agent, from);
    struct cm_rejected rejected = rejection_of(agent, from, message);
    unsigned retries = (unsigned)cm_req_get_MaxRetries(message->body);

    if (exchange != NULL && cm_exchange_key(agent, exchange, message->local_id) != 0) {
        cm_exchange_free(agent, exchange);
        exchange = NULL;
    }
    if (exchange == NULL) {
        agent->counts.refused++;
        cm_send_reason(agent, &rejected, CM_REASON_NO_RESOURCES);
        return;
    }
    exchange->state = CM_ASKED;
    exchange->transaction = message->transaction;
    exchange->remote_qpn = (uint32_t)cm_req_get_QPN(message->body);
    exchange->qpn = (uint32_t)cm_noise(agent) & 0xFFFFFF;
    exchange->service_id = message->service_id;
    exchange->in_service = reads_header(agent, message, listener);
    if (exchange->in_service) {
        read_tuple(&exchange->tuple, message);
        exchange->minor = message->ip.minor; /* the highest that both know: it is not above this side's (A11.2) */
    }
    exchange->wait_ns = cm_within(&agent->config, cm_time_ns((unsigned)cm_req_get_LocalTimeout(message->body)));
    exchange->left = retries < agent->config.retries ? retries : agent->config.retries;
    if (agent->config.mra_first)
        cm_send_mra(agent, exchange, agent->config.mra_timeout);
    if (listener->answer == CM_ANSWER_ACCEPT)
        send_reply(agent, exchange, listener->reply, listener->reply_octets);
    else
        ask(agent, exchange, message, listener);
}

/*
 * --- What comes ----------------------------------------------------------------------------------------------------
 */

/* The sender's ID is known: he repeats himself, or uses it a second time. */
static void receive_repeated_data(struct cm_agent *agent, struct cm_exchange *exchange,
                                  const struct cm_message *message)
{
    struct cm_rejected rejected = rejection_of(agent, &exchange->peer.place, message);

    if (exchange->transaction != message->transaction) {
        cm_send_reason(agent, &rejected, CM_REASON_DUPLICATE_ID);
        return;
    }
    switch (exchange->state) {
    case CM_ASKED:
        if (agent->config.mra_first)
            cm_send_mra(agent, exchange, agent->config.mra_timeout);
        break;
    case CM_REP_SENT: cm_resend(agent, exchange); break;
    case CM_LINGERS:
        /* The answer was lost, and may be once more. */
        deadlines_set(&agent->deadlines, &exchange->deadline, time_after(agent->now, agent->config.linger_ns));
        if (mad_get_AttributeID(exchange->last) == CM_REJ)
            cm_resend(agent, exchange);
        else
            cm_send_reason(agent, &rejected, CM_REASON_STALE);
        break;
    case CM_REQ_SENT:
    case CM_ESTABLISHED:
    case CM_DREQ_SENT:
    default: break;
    }
}

void cm_handle_request(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    const struct cm_listener *listener = cm_listener_of(agent, message->service_id);
    struct cm_subject subject = {agent, &agent->config, message, listener};
    struct cm_exchange *known = cm_exchange_of_peer(agent, from, message->local_id);
    struct cm_rejected rejected;
    struct cm_verdict verdict;

    if (known != NULL) {
        receive_repeated_data(agent, known, message);
        return;
    }
    if (!cm_validation_run(&subject, &verdict)) {
        rejected = rejection_of(agent, from, message);
        cm_send_verdict(agent, &rejected, &verdict, message);
        tell_refused(agent, from, message, verdict.entry->requirement, verdict.reason, IP_CM_LAYER_SERVICE,
                     verdict.code);
    } else if (listener->answer == CM_ANSWER_SILENT) {
        agent->counts.ignored++;
    } else if (listener->answer == CM_ANSWER_REJECT) {
        rejected = rejection_of(agent, from, message);
        cm_send_refusal(agent, &rejected, &listener->refusal);
        tell_refused(agent, from, message, NULL, listener->refusal.reason, listener->refusal.layer,
                     listener->refusal.code);
    } else {
        begin(agent, from, message, listener);
    }
}

void cm_handle_ready(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    struct cm_exchange *exchange = cm_exchange_find(agent, from, message->remote_id);
    struct cm_event *event;

    if (exchange == NULL || exchange->state != CM_REP_SENT || exchange->peer.id != message->local_id)
        return;
    exchange->state = CM_ESTABLISHED;
    agent->counts.established++;
    deadlines_set(&agent->deadlines, &exchange->deadline, UINT64_MAX);
    event = cm_event_new(agent, CM_EVENT_ESTABLISHED, exchange);
    if (event != NULL)
        cm_event_data(event, message->private_data, message->private_octets);
    cm_event_done(agent, event);
}

/* No datagram service is offered here (IBTA 12.11): the Service ID is not supported. */
void cm_handle_datagram_request(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message)
{
    uint8_t mad[MAD_OCTETS];
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_begin(mad, CM_SIDR_REP, message->transaction);
    cm_sidr_rep_set_RequestID(body, message->local_id);
    cm_sidr_rep_set_Status(body, CM_SIDR_NO_SERVICE);
    cm_sidr_rep_set_ServiceID(body, message->service_id);
    cm_send(agent, from, NULL, mad);
}

/*
 * --- What the ULP decides ------------------------------------------------------------------------------------------
 */

static struct cm_exchange *exchange_to_decide(struct cm_agent *agent, const char *function, uint32_t id,
                                              struct iwarp_sentence *sentence)
{
    struct cm_exchange *exchange;

    if (agent == NULL) {
        (void)misuse_null(sentence, function, "an agent");
        return NULL;
    }
    HASH_FIND(by_local, agent->by_local, &id, sizeof(id), exchange);
    if (exchange != NULL && exchange->state == CM_ASKED)
        return exchange;
    (void)iwarp_sentence_set(sentence, "%s: no request with the number 0x%08x waits for a decision", function, id);
    return NULL;
}

int cm_agent_accept(struct cm_agent *agent, uint32_t id, const uint8_t *data, size_t octets, uint64_t now,
                    struct iwarp_sentence *sentence)
{
    struct cm_exchange *exchange = exchange_to_decide(agent, "cm_agent_accept", id, sentence);
    size_t most = cm_attribute_row(CM_REP)->private_octets;

    if (exchange == NULL)
        return -1;
    if (octets > most || (octets != 0 && data == NULL))
        return iwarp_sentence_set(sentence, "cm_agent_accept: at most %zu octets of Private Data fit, got %zu", most,
                                  octets);
    agent->now = now;
    send_reply(agent, exchange, data, octets);
    return 0;
}

int cm_agent_reject(struct cm_agent *agent, uint32_t id, const struct cm_refusal *refusal, uint64_t now,
                    struct iwarp_sentence *sentence)
{
    struct cm_exchange *exchange = exchange_to_decide(agent, "cm_agent_reject", id, sentence);
    struct cm_rejected rejected;

    if (exchange == NULL)
        return -1;
    if (refusal == NULL)
        return misuse_null(sentence, "cm_agent_reject", "a refusal");
    if (refusal->info_octets > CM_ULP_INFO_OCTETS || refusal->private_octets > sizeof(refusal->private_data))
        return iwarp_sentence_set(sentence, "cm_agent_reject: at most %d octets of ARI and %zu of Private Data fit",
                                  CM_ULP_INFO_OCTETS, sizeof(refusal->private_data));
    agent->now = now;
    rejected = (struct cm_rejected){&exchange->peer.place, exchange,          exchange->transaction,
                                    exchange->local_id,    exchange->peer.id, 0};
    cm_send_refusal(agent, &rejected, refusal);
    cm_exchange_linger(agent, exchange);
    return 0;
}

int cm_agent_delay(struct cm_agent *agent, uint32_t id, uint8_t service_timeout, uint64_t now,
                   struct iwarp_sentence *sentence)
{
    struct cm_exchange *exchange = exchange_to_decide(agent, "cm_agent_delay", id, sentence);

    if (exchange == NULL)
        return -1;
    agent->now = now;
    cm_send_mra(agent, exchange, service_timeout);
    return 0;
}
