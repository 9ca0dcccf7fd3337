/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device's CM (docs/upper-tester.md, "The device's CM") as rdma_cm shows it. The kernel has the RDMA IP CM Service,
 * versions and rejections of its own, and nobody can change those; a ULP chooses where it listens and what it answers.
 * rdma_cm hands the Private Data of a REJ to the ULP, its reason, and no ARI.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/labs/linux/agent/agent.h"

enum {
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_IB = 0x3F, /* RDMA_PS_IB: a protocol number that no IP protocol of rdma_cm has */
    CONSUMER_OCTETS = 56,
    LISTENERS_MAX = 8,
    RESOLVE_MILLISECONDS = 3000,
};

/*
 * --- Events --------------------------------------------------------------------------------------------------------
 */

/* In hexadecimal, up to the last octet that is not zero: rdma_cm gives all that a message has room for. */
static json_t *trimmed(const struct rdma_conn_param *param)
{
    const uint8_t *octets = param->private_data;
    size_t count = octets != NULL ? param->private_data_len : 0;

    while (count > 0 && octets[count - 1] == 0)
        count--;
    return upper_hex(octets, count);
}

void agent_cm_event(struct agent *agent, const struct agent_stream *stream, const char *name,
                    const struct rdma_cm_event *event)
{
    char service_id[32];
    json_t *more;

    if (json_array_size(agent->cm_events) >= AGENT_EVENTS_MAX)
        return;
    (void)snprintf(service_id, sizeof(service_id), "0x00000000%04x%04x", (unsigned)stream->space, stream->service_port);
    more = json_pack("{s:s, s:I, s:s, s:i}", "event", name, "exchange", stream->number, "service_id", service_id,
                     "protocol", (int)(stream->space & 0xFF));
    /* Of a REP, rdma_cm has as many octets as have room there; of an RTU none. */
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST || event->event == RDMA_CM_EVENT_REJECTED ||
        (event->event == RDMA_CM_EVENT_ESTABLISHED && event->param.conn.private_data_len != 0))
        json_object_set_new(more, "data", trimmed(&event->param.conn));
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        agent_set_end(more, "source", "source_port", rdma_get_peer_addr(event->id));
        agent_set_end(more, "destination", "destination_port", rdma_get_local_addr(event->id));
        json_object_set_new(more, "source_port", json_integer(ntohs(rdma_get_dst_port(event->id))));
    }
    if (event->event == RDMA_CM_EVENT_REJECTED)
        json_object_set_new(more, "reason", json_integer(event->status));
    json_array_append_new(agent->cm_events, more);
}

int agent_cm_poll(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    (void)command;
    json_object_set_new(reply->json, "events", agent->cm_events);
    agent->cm_events = json_array();
    return 0;
}

/*
 * --- Configuration -------------------------------------------------------------------------------------------------
 */

/* What the kernel does anyway may be asked for, nothing else. */
static int check_fixed(const json_t *command, struct agent_reply *reply)
{
    static const struct {
        const char *name;
        bool does;
    } flags[] = {{"service", true}, {"suggest", false}, {"check", true}, {"mra", false}, {"unspecified", false}};
    uint64_t minor = 0;

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        bool wanted = flags[i].does;

        if (agent_flag(command, flags[i].name, &wanted, reply) != 0)
            return -1;
        if (wanted != flags[i].does)
            return agent_unsupported(reply, "rdma_cm has no way to ask for \"%s\": %s", flags[i].name,
                                     wanted ? "true" : "false");
    }
    if (agent_number(command, "minor", &minor, 15, reply) != 0)
        return -1;
    return minor == 0 ? 0 : agent_unsupported(reply, "rdma_cm knows version 0.0 alone");
}

/* The port space of "protocol". That of UDP has datagrams alone: one can listen there, and no REQ is accepted. */
static int read_space(const json_t *command, bool listens, int *space, struct agent_reply *reply)
{
    static const struct {
        uint64_t protocol;
        int space;
        bool connects;
    } spaces[] = {
        {PROTOCOL_TCP, RDMA_PS_TCP, true}, {PROTOCOL_UDP, RDMA_PS_UDP, false}, {PROTOCOL_IB, RDMA_PS_IB, true}};
    uint64_t protocol = PROTOCOL_TCP;

    if (json_object_get(command, "service_id") != NULL)
        return agent_unsupported(reply, "rdma_cm has no Service IDs outside of the service's range");
    if (agent_number(command, "protocol", &protocol, UINT8_MAX, reply) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (protocol == spaces[i].protocol && (spaces[i].connects || listens)) {
            *space = spaces[i].space;
            return 0;
        }
    return agent_unsupported(reply, "rdma_cm has no %s of protocol %d", listens ? "listeners" : "connections",
                             (int)protocol);
}

static int read_families(const json_t *command, unsigned *families, struct agent_reply *reply)
{
    const json_t *list = json_object_get(command, "families"), *family;
    size_t i;

    *families = 0;
    json_array_foreach(list, i, family)
    {
        if (json_integer_value(family) != 4 && json_integer_value(family) != 6)
            return agent_refuse(reply, "\"families\": a list of 4 and 6 was expected");
        *families |= json_integer_value(family) == 4 ? AGENT_IPV4 : AGENT_IPV6;
    }
    if (*families == 0 && list != NULL)
        return agent_refuse(reply, "\"families\": a list of 4 and 6 was expected");
    if (*families == 0)
        *families = AGENT_IPV4 | AGENT_IPV6;
    return 0;
}

static int read_answer(const json_t *command, unsigned *accept, struct agent_reply *reply)
{
    static const char *const words[] = {"accept", "silent", "reject", NULL}; /* as enum upper_accept has them */
    struct iwarp_sentence why;

    *accept = UPPER_ACCEPT_AUTO;
    return upper_word(command, "answer", words, accept, &why) == 0 ? 0 : agent_refuse(reply, "%s", why.text);
}

/* Where to listen: `listen`, or the port that the device listened on last. Returns how many, or -1. */
static int read_listeners(const struct agent *agent, const json_t *command, struct agent_place places[LISTENERS_MAX],
                          struct agent_reply *reply)
{
    const json_t *list = json_object_get(command, "listen"), *entry;
    size_t i;

    places[0] = (struct agent_place){.port = agent->usual_port, .space = RDMA_PS_TCP};
    if (list == NULL)
        return agent->usual_port != 0 ? 1 : 0;
    if (!json_is_array(list) || json_array_size(list) > LISTENERS_MAX)
        return agent_refuse(reply, "\"listen\": a list of at most %d places was expected", LISTENERS_MAX);
    json_array_foreach(list, i, entry)
    {
        uint64_t port = agent->usual_port;

        if (read_space(entry, true, &places[i].space, reply) != 0 ||
            agent_number(entry, "port", &port, UINT16_MAX, reply) != 0)
            return -1;
        places[i].port = (uint16_t)port;
    }
    return (int)json_array_size(list);
}

int agent_cm_configure(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_place places[LISTENERS_MAX];
    struct agent_config config;
    json_t *nothing = json_object();
    unsigned families;
    int count, status = agent_config_read(agent, &config, nothing, false, reply);

    json_decref(nothing);
    if (status != 0 || check_fixed(command, reply) != 0 || read_families(command, &families, reply) != 0 ||
        read_answer(command, &config.accept, reply) != 0 || (count = read_listeners(agent, command, places, reply)) < 0)
        return -1;
    agent_streams_reset(agent);
    json_array_clear(agent->cm_events);
    for (int i = 0; i < count; i++) {
        places[i].families = families;
        if (agent_listen_at(agent, &places[i], &config, reply) == NULL)
            return -1;
    }
    return 0;
}

/*
 * --- The client ----------------------------------------------------------------------------------------------------
 */

static int read_target(const json_t *command, struct agent_target *target, struct agent_reply *reply)
{
    const char *address = json_string_value(json_object_get(command, "address"));
    uint64_t port = 0, source = 0;

    if (agent_number(command, "port", &port, UINT16_MAX, reply) != 0 ||
        agent_number(command, "source_port", &source, UINT16_MAX, reply) != 0)
        return -1;
    if (address == NULL || port == 0)
        return agent_refuse(reply, "\"address\" and \"port\": a number and a port were expected");
    *target = (struct agent_target){.address = address, .port = (uint16_t)port, .source_port = (uint16_t)source};
    return read_space(command, false, &target->space, reply);
}

int agent_cm_connect(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    json_t *nothing = json_object();
    struct agent_target target;
    struct agent_config config;
    uint8_t *data = NULL;
    size_t count = 0;
    int status = agent_config_read(agent, &config, nothing, true, reply);

    json_decref(nothing);
    if (status != 0 || read_target(command, &target, reply) != 0 ||
        agent_octets(command, "data", &data, &count, reply) != 0)
        return -1;
    if (count > CONSUMER_OCTETS) {
        free(data);
        return agent_refuse(reply, "\"data\": the ULP has %d octets, got %zu", CONSUMER_OCTETS, count);
    }
    if (data != NULL)
        memcpy(config.private_data, data, count);
    config.private_octets = (uint8_t)count;
    free(data);
    return agent_connect_to(agent, &target, &config, "exchange", reply);
}
