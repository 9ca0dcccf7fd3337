/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands: a line of JSON in, a line of JSON out (docs/upper-tester.md). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/labs/linux/agent/agent.h"

/* A sentence may quote a command, and break it off in the middle of a character: JSON takes whole ones alone. */
static json_t *quotable(char *text)
{
    json_t *string = json_string(text);

    for (char *at = text; string == NULL && *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    return string != NULL ? string : json_string(text);
}

int agent_refuse(struct agent_reply *reply, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!reply->failed)
        json_object_set_new(reply->json, "error", quotable(text));
    reply->failed = true;
    return -1;
}

int agent_unsupported(struct agent_reply *reply, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!reply->failed)
        json_object_set_new(reply->json, "unsupported", json_true());
    return agent_refuse(reply, "%s", text);
}

void agent_event(struct agent *agent, const struct agent_stream *stream, const char *name, json_t *more)
{
    if (more == NULL)
        more = json_object();
    json_object_set_new(more, "stream", json_integer(stream->number));
    json_object_set_new(more, "event", json_string(name));
    if (json_array_size(agent->events) < AGENT_EVENTS_MAX) {
        json_array_append_new(agent->events, more);
    } else {
        agent->lost++;
        json_decref(more);
    }
}

void agent_handle_everything(struct agent *agent)
{
    struct ibv_cq *cq;
    void *context;
    struct ibv_async_event event;

    agent_handle_cm_events(agent);
    while (ibv_get_cq_event(agent->completions, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
        (void)ibv_req_notify_cq(cq, 0);
    }
    for (struct agent_stream *stream = agent->streams; stream != NULL; stream = stream->next)
        agent_handle_completions(stream);
    while (ibv_get_async_event(agent->device, &event) == 0)
        ibv_ack_async_event(&event);
}

/* The events that the agent reports: verbs have no word for the peer's FIN, nor for a Terminate. */
static const char *const event_names[] = {
    "connect_request", "established", "rejected", "reject_sent", "connect_failed", "receive", "send_done",
    "write_done",      "read_done",   "flushed",  "closed",      "accepted",       "error"};

static int verb_capabilities(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    const struct agent_traits *traits = &agent->traits;
    json_t *rtr = json_array(), *events = json_array();

    (void)command;
    for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++)
        json_array_append_new(events, json_string(event_names[i]));
    if (traits->rtr_send)
        json_array_append_new(rtr, json_string("send"));
    if (traits->rtr_write)
        json_array_append_new(rtr, json_string("write"));
    if (traits->rtr_read)
        json_array_append_new(rtr, json_string("read"));
    json_object_update_new(
        reply->json,
        json_pack("{s:s, s:i, s:[i], s:b, s:b, s:b, s:b, s:o, s:i, s:i, s:i, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:o}",
                  "name", ibv_get_device_name(agent->device->device), "protocol", 1, "rev", traits->rev, "enhanced",
                  traits->enhanced, "markers", traits->markers, "crc_off", !traits->crc, "p2p", traits->p2p, "rtr", rtr,
                  "ird_max", agent->limits.max_qp_rd_atom, "ord_max", agent->limits.max_qp_init_rd_atom,
                  "private_data_max", AGENT_PRIVATE_MAX, "atomics", 0, "immediate", 0, "local_invalidate", 0,
                  "ready_event", 1, "stream_memory", 0, "terminate_events", 0, "terminate_swapped",
                  traits->terminate_swapped, "events", events));
    return 0;
}

static int verb_poll(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    (void)command;
    json_object_set_new(reply->json, "events", agent->events);
    json_object_set_new(reply->json, "lost", json_integer(agent->lost));
    agent->events = json_array();
    agent->lost = 0;
    return 0;
}

static int verb_reset(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    (void)command;
    (void)reply;
    agent_streams_reset(agent);
    agent_memory_reset(agent);
    json_array_clear(agent->events);
    json_array_clear(agent->cm_events);
    agent->lost = 0;
    return 0;
}

/* Shown where none is demanded, or once more. */
static int verb_token(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    (void)agent;
    (void)command;
    (void)reply;
    return 0;
}

static int verb_unsupported(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    (void)agent;
    return agent_unsupported(reply, "verbs have no way to ask for \"%s\"",
                             json_string_value(json_object_get(command, "verb")));
}

#define CONFIG                                                                                                         \
    "rev enhanced markers crc ird ord p2p rtr private_data accept pd receives receive_octets repost echo hold_open "   \
    "emss "                                                                                                            \
    "startup_ms linger_ms"

static const struct verb {
    const char *name;
    int (*run)(struct agent *agent, const json_t *command, struct agent_reply *reply);
    const char *members;
} verbs[] = {
    {"capabilities", verb_capabilities, ""},
    {"listen", agent_listen, "port " CONFIG},
    {"unlisten", agent_unlisten, "port"},
    {"connect", agent_connect, "address port " CONFIG},
    {"accept", agent_accept, "stream private_data ird ord"},
    {"reject", agent_reject, "stream private_data"},
    {"reg_mr", agent_reg_mr, "length base access pd stream stag fill data mapping"},
    {"dereg", agent_dereg, "stag"},
    {"invalidate", agent_invalidate, "stag"},
    {"mem_read", agent_mem_read, "stag offset length"},
    {"mem_write", agent_mem_write, "stag offset data"},
    {"post_recv", agent_post_recv, "stream length count id"},
    {"send", agent_send, "stream data length solicited invalidate fence id"},
    {"write", agent_write, "stream stag to data length fence id"},
    {"read", agent_read, "stream source_stag source_to sink_stag sink_to length id"},
    {"atomic", verb_unsupported, NULL},
    {"immediate", verb_unsupported, NULL},
    {"terminate", verb_unsupported, NULL},
    {"abort", verb_unsupported, NULL},
    {"disconnect", agent_disconnect, "stream"},
    {"poll", verb_poll, ""},
    {"status", agent_status, "stream"},
    {"reset", verb_reset, ""},
    {"token", verb_token, "token"},
    {"cm_configure", agent_cm_configure, "service minor families suggest check mra unspecified answer listen"},
    {"cm_connect", agent_cm_connect, "address protocol port source_port data"},
    {"cm_poll", agent_cm_poll, ""},
};

static bool accepts_member(const struct verb *verb, const char *member)
{
    return verb->members == NULL || strcmp(member, "verb") == 0 || strcmp(member, "tag") == 0 ||
           upper_in_list(verb->members, member);
}

static void obey(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    const char *name = json_string_value(json_object_get(command, "verb"));
    const char *member;
    json_t *value;

    for (size_t i = 0; name != NULL && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(name, verbs[i].name) != 0)
            continue;
        json_object_foreach((json_t *)(uintptr_t)command, member, value)
        {
            if (!accepts_member(&verbs[i], member)) {
                (void)agent_unsupported(reply, "\"%.40s\" knows no member \"%.40s\"", name, member);
                return;
            }
        }
        agent_handle_everything(agent);
        (void)verbs[i].run(agent, command, reply);
        return;
    }
    (void)agent_unsupported(reply, "unknown verb \"%.40s\"", name != NULL ? name : "");
}

char *agent_obey(void *context, const char *line, size_t octets)
{
    struct agent *agent = context;
    struct agent_reply reply = {.json = json_object()};
    json_error_t where;
    json_t *command = json_loadb(line, octets, JSON_REJECT_DUPLICATES, &where);
    char *text;

    if (json_is_object(command))
        obey(agent, command, &reply);
    else
        (void)agent_refuse(&reply, "a command is a JSON object: %.200s", where.text);
    json_object_set_new(reply.json, "ok", json_boolean(!reply.failed));
    if (json_object_get(command, "tag") != NULL)
        json_object_set(reply.json, "tag", json_object_get(command, "tag"));
    text = json_dumps(reply.json, JSON_COMPACT);
    json_decref(command);
    json_decref(reply.json);
    return text;
}
