/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect_cm_state.h"

#include <string.h>

#include "reference-stack/cm/cm_internal.h"
#include "reference-stack/defects/defect_internal.h"

enum { SOMETIMES = 3, OTHER_VALUE = 0x0F, MRA_TIMEOUT = 10 };

static bool behaves(const struct cm_agent *agent, enum defect_behaviour behaviour)
{
    return defect_behaves(agent_set(agent), behaviour);
}

/* --- A REQ comes -------------------------------------------------------------------------------------------------- */

bool state_cm_input(struct cm_agent *agent, const struct cm_message *message)
{
    struct cm_left *left = agent_left(agent);

    if (message->attribute != CM_REQ)
        return false;
    left->again =
        left->requests != 0 && left->transaction == message->transaction && left->local_id == message->local_id;
    left->requests += !left->again;
    left->transaction = message->transaction;
    left->local_id = message->local_id;
    return !left->again && behaves(agent, DEFECT_CM_FIRST_LOST);
}

static bool refuses_now(const struct cm_agent *agent)
{
    return agent_left(agent)->requests % SOMETIMES == 0 && behaves(agent, DEFECT_CM_SOMETIMES_REFUSES);
}

/* True: *holds is what the entry finds. */
bool state_cm_judge(const struct cm_validation *entry, const struct cm_subject *subject, bool *holds)
{
    const struct cm_agent *agent = subject->agent;
    bool version = entry->stage == CM_STAGE_VERSION, field = entry->stage == CM_STAGE_FIELDS;

    *holds = true;
    if ((version || field) && agent_left(agent)->again && behaves(agent, DEFECT_CM_REPEAT_TAKEN))
        return true;
    if (version && agent_left(agent)->accepted && behaves(agent, DEFECT_CM_VERSIONS_ONCE))
        return true;
    *holds = false;
    if (field && subject->message->ip.ip_version == 6 && strcmp(entry->name, "ip-version") == 0 &&
        behaves(agent, DEFECT_CM_IPV6_REFUSED))
        return true;
    return field && refuses_now(agent);
}

void state_cm_verdict(const struct cm_agent *agent, struct cm_verdict *verdict)
{
    if (verdict->entry->stage == CM_STAGE_FIELDS && refuses_now(agent))
        verdict->code = IP_CM_ARI_UNSPECIFIED;
    if (agent_left(agent)->code_known && behaves(agent, DEFECT_CM_CODE_STAYS))
        verdict->code = agent_left(agent)->code;
}

bool state_cm_listens(const struct cm_agent *agent, const struct cm_listener *listener)
{
    return agent_left(agent)->accepted && listener->service_id == agent_left(agent)->service_id &&
           behaves(agent, DEFECT_CM_LISTENER_STAYS);
}

/* --- Events for the ULP ------------------------------------------------------------------------------------------- */

/* Octets of `data` from the last that is not zero on are those of a longer one before, which is kept. */
static void leave(uint8_t *kept, uint8_t *data, size_t octets, bool faulty)
{
    size_t last = octets;

    while (last != 0 && data[last - 1] == 0)
        last--;
    if (faulty)
        memcpy(data + last, kept + last, octets - last);
    memcpy(kept, data, octets);
}

void state_cm_event(struct cm_agent *agent, struct cm_event *event)
{
    struct cm_left *left = agent_left(agent);

    if (event->kind == CM_EVENT_REQUEST && event->in_service) {
        left->accepted = true;
        left->service_id = event->service_id;
        leave(left->consumer, event->data, event->octets, behaves(agent, DEFECT_CM_CONSUMER_STAYS));
        if (left->tuple_known && behaves(agent, DEFECT_CM_TUPLE_OF_FIRST))
            event->tuple = left->tuple;
        left->tuple = event->tuple;
        left->tuple_known = true;
    }
    if (event->kind == CM_EVENT_ESTABLISHED && event->octets <= sizeof(left->reported))
        leave(left->reported, event->data, event->octets, behaves(agent, DEFECT_CM_REPLY_TOLD_STAYS));
}

/* --- What is sent ------------------------------------------------------------------------------------------------- */

void state_cm_request(struct cm_agent *agent, uint8_t *mad)
{
    struct cm_left *left = agent_left(agent);
    uint8_t *body = mad + MAD_HEADER_OCTETS, *data = cm_private(mad);
    uint64_t service_id = cm_req_get_ServiceID(body);

    leave(left->sent, data + IP_CM_PRIVATE_OCTETS, IP_CM_CONSUMER_OCTETS, behaves(agent, DEFECT_CM_CLIENT_DATA_STAYS));
    if (!left->asked) {
        left->asked = true;
        left->protocol = (uint8_t)(service_id >> 16);
        left->source_port = (uint16_t)ip_cm_private_get_SourcePort(data);
    }
    if (behaves(agent, DEFECT_CM_PROTOCOL_STAYS))
        cm_req_set_ServiceID(body, ip_cm_service_id(left->protocol, (uint16_t)service_id));
    if (behaves(agent, DEFECT_CM_SOURCE_PORT_STAYS))
        ip_cm_private_set_SourcePort(data, left->source_port);
}

void state_cm_reply(struct cm_agent *agent, uint8_t *mad)
{
    leave(agent_left(agent)->replied, cm_private(mad), sizeof(agent_left(agent)->replied),
          behaves(agent, DEFECT_CM_REPLY_DATA_STAYS));
}

static void without_ari(uint8_t *body)
{
    memset(body + (cm_rej_at_ARI(body) - body), 0, CM_ARI_OCTETS);
    cm_rej_set_InfoLength(body, 0);
}

/* A REJ with reason 28 and an ARI. */
void state_cm_rejection(struct cm_agent *agent, uint8_t *mad)
{
    struct cm_left *left = agent_left(agent);
    uint8_t *body = mad + MAD_HEADER_OCTETS;
    uint8_t *ari = body + (cm_rej_at_ARI(body) - body);

    if (ip_cm_ari_get_Layer(ari) == IP_CM_LAYER_SERVICE) {
        if (!left->code_known)
            left->code = (uint8_t)ip_cm_ari_get_Code(ari);
        left->code_known = true;
        if (left->ulp_rejected && behaves(agent, DEFECT_CM_ULP_LAYER_STAYS))
            ip_cm_ari_set_Layer(ari, IP_CM_LAYER_ULP);
    } else {
        left->ulp_rejected = true;
    }
    if (left->again && behaves(agent, DEFECT_CM_REPEAT_WITHOUT_ARI))
        without_ari(body);
}

/* --- Legal ways --------------------------------------------------------------------------------------------------- */

/* A value of one octet or two is suggested for a version or IPV. */
static void suggest(const struct cm_agent *agent, uint8_t *body, uint8_t *ari)
{
    unsigned code = (unsigned)ip_cm_ari_get_Code(ari);
    bool two = behaves(agent, DEFECT_CM_SUGGEST_LONG);
    uint8_t *value = ari + IP_CM_ARI_HEADER_OCTETS;

    if (code < IP_CM_ARI_MAJOR || code > IP_CM_ARI_IPV || (!two && !behaves(agent, DEFECT_CM_SUGGEST_OTHER)))
        return;
    value[0] = two ? (code == IP_CM_ARI_IPV ? 4 : agent->config.major) : OTHER_VALUE;
    value[1] = two ? (code == IP_CM_ARI_IPV ? 6 : agent->config.minor) : 0;
    ip_cm_ari_set_SuggestedLength(ari, two ? 2 : 1);
    cm_rej_set_InfoLength(body, IP_CM_ARI_HEADER_OCTETS + (two ? 2 : 1));
}

void variant_cm_rejection(const struct cm_agent *agent, uint8_t *mad)
{
    uint8_t *body = mad + MAD_HEADER_OCTETS;
    uint8_t *ari = body + (cm_rej_at_ARI(body) - body);

    if (ip_cm_ari_get_Layer(ari) == IP_CM_LAYER_SERVICE) {
        suggest(agent, body, ari);
        return;
    }
    if (behaves(agent, DEFECT_CM_ULP_BARE))
        without_ari(body);
    if (behaves(agent, DEFECT_CM_ULP_WHOLE))
        cm_rej_set_InfoLength(body, CM_ARI_OCTETS);
}

/* An RTU is about to go out. */
void variant_cm_ready(struct cm_agent *agent, const uint8_t *mad)
{
    uint32_t id = (uint32_t)cm_ids_get_LocalID(mad + MAD_HEADER_OCTETS);
    const struct cm_exchange *exchange;
    uint8_t more[MAD_OCTETS];

    HASH_FIND(by_local, agent->by_local, &id, sizeof(id), exchange);
    if (exchange == NULL || !behaves(agent, DEFECT_CM_CLIENT_MRA))
        return;
    cm_begin_answer(more, CM_MRA, exchange->transaction, exchange->local_id, exchange->peer.id);
    cm_mra_set_Message(more + MAD_HEADER_OCTETS, 1);
    cm_mra_set_Timeout(more + MAD_HEADER_OCTETS, MRA_TIMEOUT);
    cm_send(agent, &exchange->peer.place, NULL, more);
}
