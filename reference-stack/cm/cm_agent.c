/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent as a whole: configuration, listeners, time, input, and events for the ULP. */
#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"
#include "reference-stack/cm/cm_internal.h"

enum { LISTENERS_MAX = 1024 };

/* ns */
#define ASK_TIME    UINT64_C(30000000000)
#define LINGER_TIME UINT64_C(8000000000)
#define WAIT_LEAST  UINT64_C(10000000)
#define WAIT_MOST   UINT64_C(70000000000)

void cm_agent_config_default(struct cm_agent_config *config)
{
    *config = (struct cm_agent_config){
        .service = true,
        .families = CM_FAMILY_4 | CM_FAMILY_6,
        .check_formats = true,
        .check_destination = true,
        .mra_timeout = 20,
        .remote_timeout = 18,
        .local_timeout = 18,
        .retries = 7,
        .ask_ns = ASK_TIME,
        .linger_ns = LINGER_TIME,
        .wait_least_ns = WAIT_LEAST,
        .wait_most_ns = WAIT_MOST,
        .mras_max = 4,
        .exchanges_max = 4096,
        .outputs_max = 4096,
        .events_max = 4096,
        .ca_guid = UINT64_C(0x0200000000000001),
        .seed = 1,
    };
}

static int check_config(const struct cm_agent_config *config, struct iwarp_sentence *sentence)
{
    if (config->major > 15 || config->minor > 15 || config->client_minor > 15)
        return iwarp_sentence_set(sentence, "cm_agent_new: a version has 4 bits, got %u.%u", config->major,
                                  config->minor);
    if (config->retries > 15 || config->mra_timeout > 31 || config->remote_timeout > 31 || config->local_timeout > 31)
        return iwarp_sentence_set(sentence, "cm_agent_new: retries go up to 15, timeouts up to 31");
    if (config->families == 0 || (config->families & ~(unsigned)(CM_FAMILY_4 | CM_FAMILY_6)) != 0)
        return iwarp_sentence_set(sentence, "cm_agent_new: families are CM_FAMILY_4, CM_FAMILY_6 or both");
    if (config->own_count != 0 && config->own == NULL)
        return misuse_null(sentence, "cm_agent_new", "own addresses");
    if (config->wait_least_ns > config->wait_most_ns)
        return iwarp_sentence_set(sentence, "cm_agent_new: wait_least_ns is above wait_most_ns");
    return 0;
}

struct cm_agent *cm_agent_new(const struct cm_agent_config *config, struct iwarp_sentence *sentence)
{
    struct cm_agent *agent;

    if (config == NULL) {
        (void)misuse_null(sentence, "cm_agent_new", "a configuration");
        return NULL;
    }
    if (check_config(config, sentence) != 0)
        return NULL;
    agent = calloc(1, sizeof(*agent));
    if (agent != NULL)
        agent->own = calloc(config->own_count + 1, sizeof(*agent->own));
    if (agent == NULL || agent->own == NULL) {
        (void)iwarp_sentence_set(sentence, "cm_agent_new: out of memory");
        free(agent);
        return NULL;
    }
    agent->config = *config;
    if (config->own_count != 0)
        memcpy(agent->own, config->own, config->own_count * sizeof(*agent->own));
    agent->config.own = agent->own;
    agent->noise = config->seed;
    agent->secret = cm_noise(agent);
    ring_init(&agent->outputs, sizeof(struct cm_output));
    ring_init(&agent->events, sizeof(struct cm_event));
    if (config->faults == NULL)
        return agent;
    agent->faults = config->faults->ops->agent_new(agent, config->faults);
    if (agent->faults != NULL)
        return agent;
    (void)iwarp_sentence_set(sentence, "cm_agent_new: out of memory");
    cm_agent_free(agent);
    return NULL;
}

const struct cm_agent_config *cm_agent_configuration(const struct cm_agent *agent)
{
    return &agent->config;
}

void cm_agent_free(struct cm_agent *agent)
{
    struct cm_exchange *exchange, *next;

    if (agent == NULL)
        return;
    HASH_ITER (by_local, agent->by_local, exchange, next) {
        cm_exchange_free(agent, exchange);
    }
    for (size_t i = 0; i < agent->listener_count; i++)
        free(agent->listeners[i]);
    free(agent->listeners);
    deadlines_free(&agent->deadlines);
    ring_free(&agent->outputs);
    ring_free(&agent->events);
    free(agent->own);
    CM_SEAM(agent, release(agent->faults));
    free(agent);
}

uint64_t cm_noise(struct cm_agent *agent)
{
    return splitmix_next(&agent->noise);
}

/* --- Listeners ---------------------------------------------------------------------------------------------------- */

const struct cm_listener *cm_listener_of(const struct cm_agent *agent, uint64_t service_id)
{
    for (size_t i = 0; i < agent->listener_count; i++) {
        const struct cm_listener *listener = agent->listeners[i];

        if (CM_SEAM_VALUE(agent, listener->service_id == service_id, listens(agent, listener, service_id)))
            return listener;
    }
    return NULL;
}

static int check_listener(const struct cm_listener *listener, struct iwarp_sentence *sentence)
{
    if (listener->reply_octets > sizeof(listener->reply))
        return iwarp_sentence_set(sentence,
                                  "cm_agent_listen: at most %zu octets of Private Data fit into a REP, got %u",
                                  sizeof(listener->reply), listener->reply_octets);
    if (listener->refusal.info_octets > CM_ULP_INFO_OCTETS ||
        listener->refusal.private_octets > sizeof(listener->refusal.private_data))
        return iwarp_sentence_set(sentence,
                                  "cm_agent_listen: at most %d octets of ARI and %zu of Private Data fit into a REJ",
                                  CM_ULP_INFO_OCTETS, sizeof(listener->refusal.private_data));
    return 0;
}

int cm_agent_listen(struct cm_agent *agent, const struct cm_listener *listener, struct iwarp_sentence *sentence)
{
    uint64_t service_id;
    struct cm_listener **more, *copy;

    if (agent == NULL || listener == NULL)
        return misuse_null(sentence, "cm_agent_listen", "an agent and a listener");
    if (check_listener(listener, sentence) != 0)
        return -1;
    service_id = listener->plain ? listener->service_id : ip_cm_service_id(listener->protocol, listener->port);
    for (size_t i = 0; i < agent->listener_count; i++)
        if (agent->listeners[i]->service_id == service_id)
            return iwarp_sentence_set(sentence, "cm_agent_listen: the Service ID 0x%016llx has a listener",
                                      (unsigned long long)service_id);
    if (agent->listener_count == LISTENERS_MAX)
        return iwarp_sentence_set(sentence, "cm_agent_listen: there are %d listeners, which is the most",
                                  LISTENERS_MAX);
    more = realloc(agent->listeners, (agent->listener_count + 1) * sizeof(*more));
    if (more != NULL)
        agent->listeners = more;
    copy = more == NULL ? NULL : malloc(sizeof(*copy));
    if (copy == NULL)
        return iwarp_sentence_set(sentence, "cm_agent_listen: out of memory");
    *copy = *listener;
    copy->service_id = service_id;
    agent->listeners[agent->listener_count++] = copy;
    return 0;
}

bool cm_agent_unlisten(struct cm_agent *agent, uint64_t service_id)
{
    for (size_t i = 0; i < agent->listener_count; i++) {
        if (agent->listeners[i]->service_id != service_id)
            continue;
        free(agent->listeners[i]);
        agent->listeners[i] = agent->listeners[--agent->listener_count];
        return true;
    }
    return false;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

struct cm_event *cm_event_new(struct cm_agent *agent, enum cm_event_kind kind, const struct cm_exchange *exchange)
{
    struct cm_event *event = ring_push(&agent->events);

    if (event == NULL)
        return NULL;
    memset(event, 0, sizeof(*event));
    event->kind = kind;
    if (exchange == NULL)
        return event;
    event->id = exchange->local_id;
    event->peer = exchange->peer.place;
    event->service_id = exchange->service_id;
    event->in_service = exchange->in_service;
    event->tuple = exchange->tuple;
    event->major = agent->config.major;
    event->minor = exchange->minor;
    return event;
}

void cm_event_data(struct cm_event *event, const uint8_t *octets, size_t count)
{
    if (octets == NULL)
        return;
    event->octets = count < sizeof(event->data) ? count : sizeof(event->data);
    memcpy(event->data, octets, event->octets);
}

void cm_event_done(struct cm_agent *agent, struct cm_event *event)
{
    if (event != NULL)
        CM_SEAM(agent, event(agent, event));
}

bool cm_agent_poll(struct cm_agent *agent, struct cm_event *event)
{
    const struct cm_event *oldest = ring_at(&agent->events, 0);

    if (oldest == NULL)
        return false;
    *event = *oldest;
    ring_pop(&agent->events);
    return true;
}

bool cm_agent_output(struct cm_agent *agent, struct cm_output *output)
{
    const struct cm_output *oldest = ring_at(&agent->outputs, 0);

    if (oldest == NULL)
        return false;
    *output = *oldest;
    ring_pop(&agent->outputs);
    return true;
}

void cm_agent_counts(const struct cm_agent *agent, struct cm_agent_counts *counts)
{
    *counts = agent->counts;
}

/* --- What comes, and time ----------------------------------------------------------------------------------------- */

static const struct {
    uint16_t attribute;
    void (*handle)(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
} handlers[] = {
    {CM_REQ, cm_handle_request},       {CM_MRA, cm_handle_mra},
    {CM_REJ, cm_handle_rejection},     {CM_REP, cm_handle_reply},
    {CM_RTU, cm_handle_ready},         {CM_DREQ, cm_handle_disconnect},
    {CM_DREP, cm_handle_disconnected}, {CM_SIDR_REQ, cm_handle_datagram_request},
};

/* A MAD of the CM as IBTA 13.4.3 and 12.6 have it: anything else has no meaning that one could act on. */
static bool is_cm(const struct cm_message *message, wire_result result)
{
    return result == WIRE_OK && message->base_version == MAD_BASE_VERSION && message->class_version == MAD_CM_VERSION &&
           message->method == MAD_METHOD_SEND;
}

void cm_agent_input(struct cm_agent *agent, const struct cm_place *from, const uint8_t *mad, size_t count, uint64_t now)
{
    struct cm_place place = cm_place_of(from);
    struct cm_message message;
    bool known = is_cm(&message, cm_parse(mad, count, &message));

    cm_agent_tick(agent, now);
    /* A ULP that does not look at its events gets no more to decide; who waits for an answer asks again. */
    if (known && message.attribute == CM_REQ && agent->events.count >= agent->config.events_max) {
        agent->counts.refused++;
        return;
    }
    for (size_t i = 0; known && i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        if (handlers[i].attribute != message.attribute)
            continue;
        if (!CM_SEAM_IF(agent, input(agent, &message)))
            handlers[i].handle(agent, &place, &message);
        return;
    }
    agent->counts.ignored++;
}

void cm_agent_tick(struct cm_agent *agent, uint64_t now)
{
    struct deadline *first;

    if (now > agent->now)
        agent->now = now;
    while ((first = deadlines_first(&agent->deadlines)) != NULL && first->when <= agent->now)
        cm_exchange_expire(agent, exchange_of(first));
}

uint64_t cm_agent_deadline(const struct cm_agent *agent)
{
    const struct deadline *first = deadlines_first(&agent->deadlines);

    return first == NULL ? UINT64_MAX : first->when;
}
