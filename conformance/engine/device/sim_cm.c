/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/device/sim_cm.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/device/sim_cm_internal.h"
#include "generator/cm/roce_frame.h"
#include "generator/tcp/tcp.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/peer/cm_event_json.h"

enum { TCP_PROTOCOL = 6, ULP_INFO = 7 };

/* --- Frames ------------------------------------------------------------------------------------------------------- */

static const struct net_address *own_of(const struct sim_cm *cm, unsigned family)
{
    return family == 4 ? &cm->config.ipv4 : &cm->config.ipv6;
}

/* False: the MAC is being asked for; the MAD waits. */
static bool emit(struct sim_cm *cm, const struct cm_output *output)
{
    struct net_address to = {.family = output->to.family};
    struct roce_ends ends = {.source = *own_of(cm, output->to.family)};
    uint8_t frame[ROCE_FRAME_MAX];
    size_t octets;

    memcpy(to.octets, output->to.address, sizeof(to.octets));
    ends.destination = to;
    if (!tcp_stack_neighbour(cm->config.tcp, &to, ends.destination_mac))
        return false;
    memcpy(ends.source_mac, cm->config.mac, sizeof(ends.source_mac));
    ends.psn = cm->psn++;
    octets = roce_frame_build(frame, sizeof(frame), &ends, output->mad);
    if (octets != 0)
        (void)sim_send(cm->config.sim, cm->config.end, frame, octets);
    return true;
}

static void emit_all(struct sim_cm *cm)
{
    for (;;) {
        if (!cm->output_waits && !cm_agent_output(cm->agent, &cm->output))
            return;
        cm->output_waits = !emit(cm, &cm->output);
        if (cm->output_waits)
            return;
    }
}

/* --- The ULP ------------------------------------------------------------------------------------------------------ */

static void keep_event(struct sim_cm *cm, const struct cm_event *event)
{
    char *text = json_array_size(cm->events) < SIM_CM_EVENTS_MAX ? cm_event_json(event) : NULL;
    json_t *json = text != NULL ? json_loads(text, 0, NULL) : NULL;

    if (json != NULL)
        (void)json_array_append_new(cm->events, json);
    free(text);
}

static void accept_request(struct sim_cm *cm, uint32_t id, uint64_t now)
{
    const struct sim_cm_reply *reply = &cm->replies[cm->accepted++ % cm->reply_count];

    (void)cm_agent_accept(cm->agent, id, reply->data, reply->octets, now, NULL);
}

/* The ULP decides as it was configured, and gets every event. */
static void handle_events(struct sim_cm *cm, uint64_t now)
{
    struct cm_refusal refusal = {
        .reason = CM_REASON_CONSUMER, .layer = IP_CM_LAYER_ULP, .info = {ULP_INFO}, .info_octets = 1};
    struct cm_event event;

    while (cm_agent_poll(cm->agent, &event)) {
        keep_event(cm, &event);
        if (event.kind == CM_EVENT_REQUEST && cm->answer == CM_ANSWER_ACCEPT)
            accept_request(cm, event.id, now);
        else if (event.kind == CM_EVENT_REQUEST && cm->answer == CM_ANSWER_REJECT)
            (void)cm_agent_reject(cm->agent, event.id, &refusal, now, NULL);
    }
}

void sim_cm_serve(struct sim_cm *cm, uint64_t now)
{
    handle_events(cm, now);
    emit_all(cm);
}

void sim_cm_input(struct sim_cm *cm, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct cm_place from = {.port = ROCE_V2_PORT};
    struct roce_frame roce;

    emit_all(cm); /* a MAC may be known from this frame */
    if (!roce_frame_parse(&roce, frame, octets) || !roce.icrc_good ||
        !net_address_equal(&roce.destination, own_of(cm, roce.destination.family)))
        return;
    from.family = roce.source.family;
    memcpy(from.address, roce.source.octets, sizeof(from.address));
    (void)tcp_stack_add_neighbour(cm->config.tcp, &roce.source, roce.source_mac);
    cm_agent_input(cm->agent, &from, roce.mad, MAD_OCTETS, now);
    sim_cm_serve(cm, now);
}

uint64_t sim_cm_deadline(const struct sim_cm *cm)
{
    return cm_agent_deadline(cm->agent);
}

void sim_cm_tick(struct sim_cm *cm, uint64_t now)
{
    cm_agent_tick(cm->agent, now);
    sim_cm_serve(cm, now);
}

/* --- The agent ---------------------------------------------------------------------------------------------------- */

static void set_address(struct cm_address *out, const struct net_address *address)
{
    out->family = address->family;
    memcpy(out->octets, address->octets, sizeof(out->octets));
}

struct cm_agent *sim_cm_agent(struct sim_cm *cm, struct cm_agent_config *config, struct iwarp_sentence *error)
{
    struct cm_address own[2];

    set_address(&own[0], &cm->config.ipv4);
    set_address(&own[1], &cm->config.ipv6);
    config->own = own;
    config->own_count = 2;
    config->seed = cm->config.seed + cm->renewed++;
    config->faults = defect_set_cm_faults(cm->config.defects);
    return cm_agent_new(config, error);
}

void sim_cm_renew(struct sim_cm *cm, struct cm_agent *agent)
{
    cm_agent_free(cm->agent);
    cm->agent = agent;
    cm->output_waits = false;
}

struct sim_cm *sim_cm_new(const struct sim_cm_config *config, struct iwarp_sentence *error)
{
    struct cm_listener listener = {.protocol = TCP_PROTOCOL, .port = config->port, .answer = CM_ANSWER_ASK};
    struct sim_cm *cm = calloc(1, sizeof(*cm));
    struct cm_agent_config agent;

    if (cm == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a simulated device's CM");
        return NULL;
    }
    cm->config = *config;
    cm->events = json_array();
    cm_agent_config_default(&agent);
    cm->reply_count = 1;
    cm->agent = sim_cm_agent(cm, &agent, error);
    if (cm->events != NULL && cm->agent != NULL && cm_agent_listen(cm->agent, &listener, error) == 0)
        return cm;
    sim_cm_free(cm);
    return NULL;
}

void sim_cm_free(struct sim_cm *cm)
{
    if (cm == NULL)
        return;
    cm_agent_free(cm->agent);
    json_decref(cm->events);
    free(cm);
}
