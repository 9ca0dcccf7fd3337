/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/device/sim_cm_internal.h"

enum { CONSUMER_MAX = 92, PROTOCOL_TCP = 6, CLIENT_PORT = 49152 };

static bool flag(const json_t *request, const char *name, bool otherwise)
{
    const json_t *member = json_object_get(request, name);

    return json_is_boolean(member) ? json_is_true(member) : otherwise;
}

static unsigned number(const json_t *request, const char *name, unsigned otherwise, unsigned most)
{
    const json_t *member = json_object_get(request, name);
    json_int_t value = json_integer_value(member);

    return json_is_integer(member) && value >= 0 && value <= (json_int_t)most ? (unsigned)value : otherwise;
}

static bool service_id_of(const json_t *request, uint64_t *service_id)
{
    const char *text = json_string_value(json_object_get(request, "service_id"));
    char *end = NULL;

    if (text == NULL)
        return false;
    *service_id = strtoull(text, &end, 16);
    return *end == '\0';
}

static enum cm_answer answer_of(const json_t *request)
{
    const char *text = json_string_value(json_object_get(request, "answer"));

    if (text != NULL && strcmp(text, "reject") == 0)
        return CM_ANSWER_REJECT;
    return text != NULL && strcmp(text, "silent") == 0 ? CM_ANSWER_SILENT : CM_ANSWER_ACCEPT;
}

static uint8_t families_of(const json_t *request)
{
    const json_t *list = json_object_get(request, "families"), *family;
    unsigned families = 0;
    size_t i;

    json_array_foreach(list, i, family)
    {
        families |= json_integer_value(family) == 6 ? CM_FAMILY_6 : CM_FAMILY_4;
    }
    return (uint8_t)(families != 0 ? families : CM_FAMILY_4 | CM_FAMILY_6);
}

static int listen_all(const struct sim_cm *cm, struct cm_agent *agent, const json_t *request,
                      struct iwarp_sentence *error)
{
    const json_t *list = json_object_get(request, "listen"), *entry;
    struct cm_listener usual = {.protocol = PROTOCOL_TCP, .port = cm->config.port, .answer = CM_ANSWER_ASK};
    size_t i;

    json_array_foreach(list, i, entry)
    {
        struct cm_listener listener = {.answer = CM_ANSWER_ASK};

        listener.plain = service_id_of(entry, &listener.service_id);
        listener.protocol = (uint8_t)number(entry, "protocol", PROTOCOL_TCP, UINT8_MAX);
        listener.port = (uint16_t)number(entry, "port", cm->config.port, UINT16_MAX);
        if (cm_agent_listen(agent, &listener, error) != 0)
            return -1;
    }
    return list != NULL ? 0 : cm_agent_listen(agent, &usual, error);
}

static size_t read_hex(const char *text, uint8_t *out, size_t room)
{
    size_t count = 0;

    while (text != NULL && count < room && text[0] != '\0' && text[1] != '\0') {
        char digits[3] = {text[0], text[1], '\0'};

        out[count++] = (uint8_t)strtoul(digits, NULL, 16);
        text += 2;
    }
    return count;
}

/* Is the agent as it was asked to be? One whose vendor has decided otherwise cannot be. */
static bool is_as_asked(const struct cm_agent *agent, const json_t *request, const struct cm_agent_config *asked)
{
    const struct cm_agent_config *config = cm_agent_configuration(agent);

    return (json_object_get(request, "minor") == NULL || config->minor == asked->minor) &&
           (json_object_get(request, "families") == NULL || config->families == asked->families) &&
           (json_object_get(request, "service") == NULL || config->service == asked->service) &&
           (json_object_get(request, "suggest") == NULL || config->suggest == asked->suggest) &&
           (json_object_get(request, "mra") == NULL || config->mra_first == asked->mra_first) &&
           (json_object_get(request, "unspecified") == NULL || config->unspecified == asked->unspecified);
}

static void read_reply(struct sim_cm_reply *reply, const json_t *text)
{
    reply->octets = read_hex(json_string_value(text), reply->data, sizeof(reply->data));
}

static void read_replies(struct sim_cm *cm, const json_t *given)
{
    memset(cm->replies, 0, sizeof(cm->replies));
    cm->accepted = cm->reply_count = 0;
    if (!json_is_array(given))
        read_reply(&cm->replies[cm->reply_count++], given);
    for (size_t i = 0; i < json_array_size(given) && cm->reply_count < SIM_CM_REPLIES_MAX; i++)
        read_reply(&cm->replies[cm->reply_count++], json_array_get(given, i));
    cm->reply_count += cm->reply_count == 0;
}

static json_t *configure(struct sim_cm *cm, const json_t *request, uint64_t now, struct iwarp_sentence *error)
{
    struct cm_agent_config config;
    struct cm_agent *agent;
    bool check;

    (void)now;
    cm_agent_config_default(&config);
    check = flag(request, "check", config.check_formats);
    config.service = flag(request, "service", config.service);
    config.minor = (uint8_t)number(request, "minor", config.minor, 15);
    config.families = families_of(request);
    config.suggest = flag(request, "suggest", config.suggest);
    config.check_formats = config.check_destination = check;
    config.mra_first = flag(request, "mra", config.mra_first);
    config.unspecified = flag(request, "unspecified", config.unspecified);
    agent = sim_cm_agent(cm, &config, error);
    if (agent == NULL)
        return NULL;
    if (!is_as_asked(agent, request, &config)) {
        cm_agent_free(agent);
        return json_pack("{s:b, s:b, s:s}", "ok", 0, "unsupported", 1, "error", "this CM cannot be configured so");
    }
    if (listen_all(cm, agent, request, error) != 0) {
        cm_agent_free(agent);
        return NULL;
    }
    sim_cm_renew(cm, agent);
    cm->answer = answer_of(request);
    read_replies(cm, json_object_get(request, "reply"));
    return json_pack("{s:b}", "ok", 1);
}

static json_t *connect_to(struct sim_cm *cm, const json_t *request, uint64_t now, struct iwarp_sentence *error)
{
    const char *address = json_string_value(json_object_get(request, "address"));
    struct cm_connect connect = {.to.port = ROCE_V2_PORT}; /* where its answers come from */
    uint8_t data[CONSUMER_MAX];
    struct net_address to;
    const struct net_address *own;
    uint32_t id;

    if (address == NULL || net_address_parse(&to, address) != 0) {
        (void)iwarp_sentence_set(error, "cm_connect: address is an IPv4 or IPv6 address");
        return NULL;
    }
    own = to.family == 4 ? &cm->config.ipv4 : &cm->config.ipv6;
    connect.to.family = connect.from.family = to.family;
    memcpy(connect.to.address, to.octets, sizeof(to.octets));
    memcpy(connect.from.octets, own->octets, sizeof(own->octets));
    connect.tuple.protocol = (uint8_t)number(request, "protocol", PROTOCOL_TCP, UINT8_MAX);
    connect.tuple.source = connect.from;
    connect.tuple.destination.family = to.family;
    memcpy(connect.tuple.destination.octets, to.octets, sizeof(to.octets));
    connect.tuple.source_port = (uint16_t)number(request, "source_port", CLIENT_PORT, UINT16_MAX);
    connect.tuple.destination_port = (uint16_t)number(request, "port", cm->config.port, UINT16_MAX);
    connect.plain = service_id_of(request, &connect.service_id);
    connect.octets = read_hex(json_string_value(json_object_get(request, "data")), data, sizeof(data));
    connect.data = data;
    if (cm_agent_connect(cm->agent, &connect, now, &id, error) != 0)
        return NULL;
    return json_pack("{s:b, s:I}", "ok", 1, "exchange", (json_int_t)id);
}

static json_t *poll_events(struct sim_cm *cm, const json_t *request, uint64_t now, struct iwarp_sentence *error)
{
    json_t *answer = json_pack("{s:b, s:O}", "ok", 1, "events", cm->events), *fresh = json_array();

    (void)request;
    (void)now;
    (void)error;
    if (answer == NULL || fresh == NULL) {
        json_decref(fresh);
        return answer;
    }
    json_decref(cm->events);
    cm->events = fresh;
    return answer;
}

static const struct {
    const char *verb;
    json_t *(*act)(struct sim_cm *cm, const json_t *request, uint64_t now, struct iwarp_sentence *error);
} verbs[] = {{"cm_configure", configure}, {"cm_connect", connect_to}, {"cm_poll", poll_events}};

bool sim_cm_answer(struct sim_cm *cm, const json_t *request, uint64_t now, json_t **answer)
{
    const char *verb = json_string_value(json_object_get(request, "verb"));
    struct iwarp_sentence error = {{0}};
    bool known = false;

    *answer = NULL;
    for (size_t i = 0; verb != NULL && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(verb, verbs[i].verb) != 0)
            continue;
        known = true;
        *answer = verbs[i].act(cm, request, now, &error);
        sim_cm_serve(cm, now);
    }
    if (known && *answer == NULL)
        *answer = json_pack("{s:b, s:s}", "ok", 0, "error", error.text);
    return known;
}

bool sim_cm_command(struct sim_cm *cm, const char *request, uint64_t now, char **answer)
{
    json_t *json = json_loads(request, 0, NULL), *reply;
    bool known = sim_cm_answer(cm, json, now, &reply);

    if (known)
        *answer = reply != NULL ? json_dumps(reply, JSON_COMPACT) : NULL;
    json_decref(reply);
    json_decref(json);
    return known;
}
