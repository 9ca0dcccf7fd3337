/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: rdma_cm's identifiers, their queue pairs, and its events. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/labs/linux/agent/agent.h"

enum { RESOLVE_MILLISECONDS = 3000, BACKLOG = 128 };

struct agent_stream *agent_stream_of(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    uint64_t number = 0;

    if (agent_number(command, "stream", &number, INT64_MAX, reply) != 0)
        return NULL;
    for (struct agent_stream *stream = agent->streams; stream != NULL; stream = stream->next)
        if ((uint64_t)stream->number == number)
            return stream;
    (void)agent_refuse(reply, "there is no stream %llu", (unsigned long long)number);
    return NULL;
}

static struct agent_stream *stream_new(struct agent *agent, const struct agent_config *config)
{
    struct agent_stream *stream = calloc(1, sizeof(*stream));

    if (stream == NULL)
        return NULL;
    stream->agent = agent;
    stream->config = *config;
    stream->number = ++agent->last_stream;
    stream->next = agent->streams;
    agent->streams = stream;
    return stream;
}

/* What verbs hold of the stream goes; its number stays, for the events that name it. */
static void stream_release(struct agent_stream *stream)
{
    if (stream->id != NULL && stream->id->qp != NULL)
        rdma_destroy_qp(stream->id);
    if (stream->cq != NULL) {
        agent_handle_completions(stream);
        (void)ibv_destroy_cq(stream->cq);
        stream->cq = NULL;
    }
    stream->waiting = NULL;
    while (stream->work != NULL)
        agent_work_free(stream->work);
    if (stream->id != NULL)
        (void)rdma_destroy_id(stream->id);
    stream->id = NULL;
}

static int make_queue_pair(struct agent_stream *stream, struct agent_reply *reply)
{
    struct agent *agent = stream->agent;
    struct ibv_pd *domain = agent_domain(agent, stream->config.pd, reply);
    struct ibv_qp_init_attr attributes = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = AGENT_SEND_DEPTH,
                .max_recv_wr = AGENT_RECEIVE_DEPTH,
                .max_send_sge = 1,
                .max_recv_sge = 1},
    };

    if (domain == NULL)
        return -1;
    stream->cq = ibv_create_cq(agent->device, AGENT_SEND_DEPTH + AGENT_RECEIVE_DEPTH, stream, agent->completions, 0);
    if (stream->cq == NULL || ibv_req_notify_cq(stream->cq, 0) != 0)
        return agent_refuse(reply, "no completion queue: %s", strerror(errno));
    attributes.send_cq = attributes.recv_cq = stream->cq;
    if (rdma_create_qp(stream->id, domain, &attributes) != 0)
        return agent_refuse(reply, "no queue pair: %s", strerror(errno));
    return agent_post_receives(stream, stream->config.receive_octets, stream->config.receives, NULL, reply);
}

static struct rdma_conn_param parameters(const struct agent_stream *stream)
{
    return (struct rdma_conn_param){
        .private_data = stream->config.private_octets > 0 ? stream->config.private_data : NULL,
        .private_data_len = stream->config.private_octets,
        .responder_resources = (uint8_t)stream->config.ird,
        .initiator_depth = (uint8_t)stream->config.ord,
        .rnr_retry_count = 7,
    };
}

static int accept_stream(struct agent_stream *stream, struct agent_reply *reply)
{
    struct rdma_conn_param param = parameters(stream);

    stream->state = STREAM_STARTING;
    if (make_queue_pair(stream, reply) != 0) {
        (void)rdma_reject(stream->id, NULL, 0); /* else the peer waits for a Reply that nobody will send */
        return -1;
    }
    if (rdma_accept(stream->id, &param) != 0)
        return agent_refuse(reply, "rdma_accept: %s", strerror(errno));
    return 0;
}

static int reject_stream(struct agent_stream *stream, struct agent_reply *reply)
{
    stream->state = STREAM_CLOSED;
    if (rdma_reject(stream->id, stream->config.private_octets > 0 ? stream->config.private_data : NULL,
                    stream->config.private_octets) != 0)
        return agent_refuse(reply, "rdma_reject: %s", strerror(errno));
    agent_event(stream->agent, stream, "reject_sent", NULL);
    return 0;
}

static int listen_family(struct agent *agent, struct agent_listener *listener, int family, struct agent_reply *reply)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(listener->place.port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(listener->place.port)};
    struct sockaddr *address = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    struct rdma_cm_id **id = &listener->ids[family == AF_INET6];
    int only = 1;

    if (rdma_create_id(agent->cm, id, listener, listener->place.space) != 0) {
        *id = NULL;
        return agent_refuse(reply, "rdma_create_id: %s", strerror(errno));
    }
    if (family == AF_INET6)
        (void)rdma_set_option(*id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof(only));
    if (rdma_bind_addr(*id, address) != 0 || rdma_listen(*id, BACKLOG) != 0)
        return agent_refuse(reply, "cannot listen on port %u: %s", listener->place.port, strerror(errno));
    listener->place.port = ntohs(rdma_get_src_port(*id));
    return 0;
}

static void listener_free(struct agent *agent, struct agent_listener *listener)
{
    for (struct agent_listener **link = &agent->listeners; *link != NULL; link = &(*link)->next)
        if (*link == listener) {
            *link = listener->next;
            break;
        }
    for (int i = 0; i < 2; i++)
        if (listener->ids[i] != NULL)
            (void)rdma_destroy_id(listener->ids[i]);
    free(listener);
}

static struct agent_listener *listener_of(struct agent *agent, uint16_t port)
{
    for (struct agent_listener *listener = agent->listeners; listener != NULL; listener = listener->next)
        if (listener->place.port == port)
            return listener;
    return NULL;
}

struct agent_listener *agent_listen_at(struct agent *agent, struct agent_place *place,
                                       const struct agent_config *config, struct agent_reply *reply)
{
    struct agent_listener *listener = calloc(1, sizeof(*listener));

    if (listener == NULL) {
        (void)agent_refuse(reply, "out of memory");
        return NULL;
    }
    listener->place = *place;
    listener->config = *config;
    listener->next = agent->listeners;
    agent->listeners = listener;
    if (((place->families & AGENT_IPV4) != 0 && listen_family(agent, listener, AF_INET, reply) != 0) ||
        ((place->families & AGENT_IPV6) != 0 && listen_family(agent, listener, AF_INET6, reply) != 0)) {
        listener_free(agent, listener);
        return NULL;
    }
    place->port = listener->place.port;
    return listener;
}

int agent_listen(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_place place = {.space = RDMA_PS_TCP, .families = AGENT_IPV4 | AGENT_IPV6};
    struct agent_listener *listener;
    struct agent_config config;
    uint64_t port = 0;

    if (agent_number(command, "port", &port, UINT16_MAX, reply) != 0 ||
        agent_config_read(agent, &config, command, false, reply) != 0)
        return -1;
    place.port = (uint16_t)port;
    listener = port != 0 ? listener_of(agent, place.port) : NULL;
    if (listener == NULL) {
        listener = agent_listen_at(agent, &place, &config, reply);
        if (listener == NULL)
            return -1;
    }
    listener->config = config;
    agent->usual_port = listener->place.port;
    json_object_set_new(reply->json, "port", json_integer(listener->place.port));
    return 0;
}

int agent_unlisten(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_listener *listener;
    uint64_t port = 0;

    if (agent_number(command, "port", &port, UINT16_MAX, reply) != 0)
        return -1;
    listener = listener_of(agent, (uint16_t)port);
    if (listener == NULL)
        return agent_refuse(reply, "nobody listens on port %llu", (unsigned long long)port);
    listener_free(agent, listener);
    return 0;
}

/* The port that the connection comes from, whatever the address. */
static int bind_port(struct rdma_cm_id *id, int family, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

    if (port == 0)
        return 0;
    return rdma_bind_addr(id, family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6);
}

int agent_connect_to(struct agent *agent, const struct agent_target *target, const struct agent_config *config,
                     const char *name, struct agent_reply *reply)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    struct agent_stream *stream;
    char service[8];
    int status;

    (void)snprintf(service, sizeof(service), "%u", target->port);
    if (getaddrinfo(target->address, service, &hints, &address) != 0)
        return agent_refuse(reply, "\"address\" and \"port\": a number and a port were expected");
    stream = stream_new(agent, config);
    status = stream == NULL || rdma_create_id(agent->cm, &stream->id, stream, target->space) != 0 ||
             bind_port(stream->id, address->ai_family, target->source_port) != 0 ||
             rdma_resolve_addr(stream->id, NULL, address->ai_addr, RESOLVE_MILLISECONDS) != 0;
    freeaddrinfo(address);
    if (status != 0)
        return agent_refuse(reply, "cannot connect: %s", strerror(errno));
    stream->space = target->space;
    stream->service_port = target->port;
    json_object_set_new(reply->json, name, json_integer(stream->number));
    return 0;
}

int agent_connect(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_target target = {.address = json_string_value(json_object_get(command, "address")),
                                  .space = RDMA_PS_TCP};
    struct agent_config config;
    uint64_t port = 0;

    if (agent_number(command, "port", &port, UINT16_MAX, reply) != 0 ||
        agent_config_read(agent, &config, command, true, reply) != 0)
        return -1;
    if (target.address == NULL || port == 0)
        return agent_refuse(reply, "\"address\" and \"port\": a number and a port were expected");
    target.port = (uint16_t)port;
    return agent_connect_to(agent, &target, &config, "stream", reply);
}

static struct agent_stream *requested(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = agent_stream_of(agent, command, reply);
    uint8_t *octets;
    size_t count;

    if (stream == NULL)
        return NULL;
    if (stream->state != STREAM_REQUESTED) {
        (void)agent_refuse(reply, "no Request waits on this stream");
        return NULL;
    }
    if (agent_octets(command, "private_data", &octets, &count, reply) != 0)
        return NULL;
    if (count > AGENT_PRIVATE_MAX) {
        (void)agent_unsupported(reply, "rdma_cm takes at most %d octets of private data", AGENT_PRIVATE_MAX);
        stream = NULL;
    } else if (octets != NULL) {
        memcpy(stream->config.private_data, octets, count);
        stream->config.private_octets = (uint8_t)count;
    }
    free(octets);
    return stream;
}

int agent_accept(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = requested(agent, command, reply);
    uint64_t ird, ord;

    if (stream == NULL)
        return -1;
    ird = stream->config.ird;
    ord = stream->config.ord;
    if (agent_number(command, "ird", &ird, (uint64_t)agent->limits.max_qp_rd_atom, reply) != 0 ||
        agent_number(command, "ord", &ord, (uint64_t)agent->limits.max_qp_init_rd_atom, reply) != 0)
        return -1;
    stream->config.ird = (unsigned)ird;
    stream->config.ord = (unsigned)ord;
    return accept_stream(stream, reply);
}

int agent_reject(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = requested(agent, command, reply);

    return stream != NULL ? reject_stream(stream, reply) : -1;
}

int agent_disconnect(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = agent_stream_of(agent, command, reply);

    if (stream == NULL)
        return -1;
    if (stream->state == STREAM_REQUESTED && stream->id != NULL) {
        stream_release(stream); /* to the peer, as after every Request without an answer of the ULP's: a rejection */
        stream->state = STREAM_CLOSED;
        return 0;
    }
    if (stream->id == NULL || rdma_disconnect(stream->id) != 0)
        return agent_refuse(reply, "rdma_disconnect: %s", strerror(errno));
    return 0;
}

int agent_status(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    static const char *const names[] = {"connecting", "requested", "starting", "open", "closed"};
    struct agent_stream *stream = agent_stream_of(agent, command, reply);

    if (stream == NULL)
        return -1;
    json_object_set_new(reply->json, "state", json_string(names[stream->state]));
    json_object_set_new(reply->json, "ird", json_integer(stream->config.ird));
    json_object_set_new(reply->json, "ord", json_integer(stream->config.ord));
    return 0;
}

/* Events of rdma_cm. */

static void on_request(struct agent *agent, struct rdma_cm_event *event)
{
    struct agent_listener *listener = event->listen_id->context;
    struct agent_stream *stream = stream_new(agent, &listener->config);
    struct agent_reply reply = {.json = json_object()};

    if (stream == NULL) {
        (void)rdma_reject(event->id, NULL, 0);
        (void)rdma_destroy_id(event->id);
        json_decref(reply.json);
        return;
    }
    stream->id = event->id;
    stream->id->context = stream;
    stream->port = stream->service_port = listener->place.port;
    stream->space = listener->place.space;
    stream->state = STREAM_REQUESTED;
    agent_cm_event(agent, stream, "request", event);
    agent_event(
        agent, stream, "accepted",
        json_pack("{s:i, s:i}", "port", (int)stream->port, "peer_port", (int)ntohs(rdma_get_dst_port(stream->id))));
    stream->peer = agent_peer_of(event, false);
    agent_event(agent, stream, "connect_request", json_copy(stream->peer));
    if (stream->config.accept == UPPER_ACCEPT_AUTO && accept_stream(stream, &reply) != 0)
        agent_event(agent, stream, "connect_failed",
                    json_pack("{s:O}", "reason", json_object_get(reply.json, "error")));
    else if (stream->config.accept == UPPER_ACCEPT_REJECT)
        (void)reject_stream(stream, &reply);
    json_decref(reply.json);
}

static void failed(struct agent_stream *stream, const char *reason)
{
    stream->state = STREAM_CLOSED;
    agent_event(stream->agent, stream, "connect_failed", json_pack("{s:s}", "reason", reason));
}

static void on_route(struct agent_stream *stream)
{
    struct agent_reply reply = {.json = json_object()};
    struct rdma_conn_param param = parameters(stream);

    stream->state = STREAM_STARTING;
    if (make_queue_pair(stream, &reply) != 0)
        failed(stream, json_string_value(json_object_get(reply.json, "error")));
    else if (rdma_connect(stream->id, &param) != 0)
        failed(stream, strerror(errno));
    json_decref(reply.json);
}

static void on_established(struct agent_stream *stream, const struct rdma_cm_event *event)
{
    json_t *more = stream->peer != NULL ? json_copy(stream->peer) : agent_peer_of(event, true);

    stream->state = STREAM_OPEN;
    stream->opened = true;
    json_object_set_new(more, "ird", json_integer(stream->config.ird));
    json_object_set_new(more, "ord", json_integer(stream->config.ord));
    agent_event(stream->agent, stream, "established", more);
    agent_post_waiting(stream);
}

static void on_end(struct agent_stream *stream)
{
    if (stream->state != STREAM_CLOSED)
        agent_event(stream->agent, stream, "closed", NULL);
    stream->state = STREAM_CLOSED;
    (void)rdma_disconnect(stream->id); /* the queue pair goes to Error: what was posted is flushed */
}

static void handle_event(struct agent *agent, struct rdma_cm_event *event)
{
    struct agent_stream *stream = event->id->context;

    switch (event->event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST: on_request(agent, event); break;
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (rdma_resolve_route(stream->id, RESOLVE_MILLISECONDS) != 0)
            failed(stream, strerror(errno));
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED: on_route(stream); break;
    case RDMA_CM_EVENT_ESTABLISHED:
        agent_cm_event(agent, stream, "established", event);
        on_established(stream, event);
        break;
    case RDMA_CM_EVENT_REJECTED:
        agent_cm_event(agent, stream, "rejected", event);
        stream->state = STREAM_CLOSED;
        agent_event(agent, stream, "rejected", agent_peer_of(event, true));
        break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE: failed(stream, rdma_event_str(event->event)); break;
    case RDMA_CM_EVENT_DISCONNECTED: on_end(stream); break;
    default: break;
    }
}

void agent_handle_cm_events(struct agent *agent)
{
    struct rdma_cm_event *event;

    while (rdma_get_cm_event(agent->cm, &event) == 0) {
        handle_event(agent, event);
        (void)rdma_ack_cm_event(event);
    }
}

void agent_streams_reset(struct agent *agent)
{
    while (agent->listeners != NULL)
        listener_free(agent, agent->listeners);
    agent_handle_cm_events(agent); /* Requests that were waiting: their streams end below */
    for (struct agent_stream *stream = agent->streams; stream != NULL; stream = stream->next)
        stream_release(stream);
    while (agent->streams != NULL) {
        struct agent_stream *stream = agent->streams;

        agent->streams = stream->next;
        json_decref(stream->peer);
        free(stream);
    }
}
