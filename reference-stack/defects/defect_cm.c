/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the CM agent: the table of judgements, contents of MADs that are sent, and events for the ULP. */
#include <string.h>

#include "reference-stack/cm/cm_internal.h"
#include "reference-stack/defects/defect_internal.h"

enum { ADDRESS_OCTETS = 16, IPV4_AT = 12, SOURCE_AT = 4, DESTINATION_AT = 20, TCP_PROTOCOL = 6 };

static bool behaves(const struct cm_agent *agent, enum defect_behaviour behaviour)
{
    return defect_behaves(agent_set(agent), behaviour);
}

/* --- Judgement (A11.6, A11.7) ------------------------------------------------------------------------------------- */

static bool is_entry(const struct cm_validation *entry, const char *name)
{
    return strcmp(entry->name, name) == 0;
}

static bool holds_all_of(const struct cm_subject *subject)
{
    const struct ip_cm_private *ip = &subject->message->ip;

    return ip->major != 0 || ip->minor != 0 || (ip->ip_version != 4 && ip->ip_version != 6);
}

static bool holds(const struct cm_validation *entry, const struct cm_subject *subject)
{
    const struct cm_agent *agent = subject->agent;
    const struct ip_cm_private *ip = &subject->message->ip;
    bool version = entry->stage == CM_STAGE_VERSION, field = entry->stage == CM_STAGE_FIELDS, good;

    if (state_cm_judge(entry, subject, &good))
        return good;
    if ((version || field) && behaves(agent, DEFECT_CM_UNFORMATTED_TAKEN) && holds_all_of(subject))
        return true;
    if (version && behaves(agent, DEFECT_CM_IPV_BEFORE_VERSION) && ip->ip_version != 4 && ip->ip_version != 6)
        return true;
    if (is_entry(entry, "minor") && behaves(agent, DEFECT_CM_MINOR_EQUAL))
        return ip->minor == subject->config->minor;
    if (is_entry(entry, "minor") && behaves(agent, DEFECT_CM_MINOR_WITHOUT_ZERO) && subject->config->minor != 0 &&
        ip->minor == 0)
        return false;
    if (is_entry(entry, "ip-version") && behaves(agent, DEFECT_CM_IPV_DEFAULT_6) && ip->ip_version != 4)
        return (subject->config->families & CM_FAMILY_6) != 0;
    if (is_entry(entry, "ip-version") && ip->reserved != 0 &&
        (behaves(agent, DEFECT_CM_IPV_OCTET) || behaves(agent, DEFECT_CM_RES_REFUSED)))
        return false;
    return entry->holds(subject);
}

/* What follows when the entry does not hold. True: nothing does, and the next entry is tried. */
static bool change_verdict(const struct cm_subject *subject, struct cm_verdict *verdict)
{
    const struct cm_agent *agent = subject->agent;
    size_t entry = (size_t)(verdict->entry - cm_validation_table);
    const struct defect_cm_override *override = &agent_set(agent)->cm[entry];

    defect_note_cm(agent_set(agent), entry);
    state_cm_verdict(agent, verdict);
    if (is_entry(verdict->entry, "ip-version") && behaves(agent, DEFECT_CM_RES_REFUSED))
        verdict->code = IP_CM_ARI_UNSPECIFIED;
    agent_state(agent)->silent = false;
    switch (override->kind) {
    case CM_OVERRIDE_OFF:
        /* Without a listener there is nobody who could accept the REQ: it is not answered. */
        agent_state(agent)->silent = subject->listener == NULL && is_entry(verdict->entry, "listener");
        return !agent_state(agent)->silent;
    case CM_OVERRIDE_SILENT: agent_state(agent)->silent = true; break;
    case CM_OVERRIDE_REASON: verdict->reason = override->value; break;
    case CM_OVERRIDE_CODE: verdict->code = (uint8_t) override->value; break;
    case CM_OVERRIDE_NONE:
    default: break;
    }
    return false;
}

bool seam_cm_judge(const struct cm_validation *entry, const struct cm_subject *subject, struct cm_verdict *verdict)
{
    if (holds(entry, subject))
        return true;
    *verdict = (struct cm_verdict){entry, entry->reason, entry->code};
    return change_verdict(subject, verdict);
}

bool seam_cm_listens(const struct cm_agent *agent, const struct cm_listener *listener, uint64_t service_id)
{
    uint16_t port = (uint16_t)listener->service_id;

    if (state_cm_listens(agent, listener))
        return true;
    if (behaves(agent, DEFECT_CM_PORT_ALONE) && port == (uint16_t)service_id)
        return true;
    if (behaves(agent, DEFECT_CM_PORT_SWAPPED) && listener->service_id >> 16 == service_id >> 16 &&
        port == __builtin_bswap16((uint16_t)service_id))
        return true;
    return listener->service_id == service_id;
}

bool seam_cm_input(struct cm_agent *agent, const struct cm_message *message)
{
    if (state_cm_input(agent, message))
        return true;
    if (message->attribute != CM_REQ || !message->has_ip || !behaves(agent, DEFECT_CM_CONSUMER_JUDGED))
        return false;
    for (size_t i = 0; i < message->ip.consumer_octets; i++)
        if (message->ip.consumer[i] != 0)
            return true;
    return false;
}

/* --- Events for the ULP ------------------------------------------------------------------------------------------- */

void seam_cm_event(struct cm_agent *agent, struct cm_event *event)
{
    state_cm_event(agent, event);
    if (event->kind == CM_EVENT_REQUEST && event->in_service && behaves(agent, DEFECT_CM_CONSUMER_CLEARED))
        memset(event->data, 0, event->octets);
    if (event->kind == CM_EVENT_REQUEST && !event->in_service && behaves(agent, DEFECT_CM_HEADER_ALWAYS) &&
        event->octets > IP_CM_PRIVATE_OCTETS) {
        event->octets -= IP_CM_PRIVATE_OCTETS;
        memmove(event->data, event->data + IP_CM_PRIVATE_OCTETS, event->octets);
    }
    if (event->kind == CM_EVENT_REJECTED && behaves(agent, DEFECT_CM_REJECT_PROVES))
        event->service_proven = event->reason == CM_REASON_CONSUMER;
}

/* --- What is sent ------------------------------------------------------------------------------------------------- */

static void change_addresses(const struct cm_agent *agent, uint8_t *data)
{
    uint8_t *field[2] = {data + SOURCE_AT, data + DESTINATION_AT};
    uint8_t kept[ADDRESS_OCTETS];

    if (behaves(agent, DEFECT_CM_ADDRESSES_SWAPPED)) {
        memcpy(kept, field[0], ADDRESS_OCTETS);
        memcpy(field[0], field[1], ADDRESS_OCTETS);
        memcpy(field[1], kept, ADDRESS_OCTETS);
    }
    for (size_t i = 0; i < 2 && ip_cm_private_get_IPV(data) == 4; i++) {
        if (behaves(agent, DEFECT_CM_IPV4_LEFT)) {
            memcpy(field[i], field[i] + IPV4_AT, 4);
            memset(field[i] + 4, 0, IPV4_AT);
        }
        if (behaves(agent, DEFECT_CM_IPV4_MAPPED))
            memset(field[i] + IPV4_AT - 2, 0xFF, 2);
        if (behaves(agent, DEFECT_CM_IPV4_DIRTY))
            memset(field[i] + 2, 0xAA, 6);
    }
}

static void change_request(struct cm_agent *agent, uint8_t *mad)
{
    uint8_t *body = mad + MAD_HEADER_OCTETS, *data = cm_private(mad);
    uint64_t service_id = cm_req_get_ServiceID(body);

    if (ip_cm_in_range(service_id)) {
        state_cm_request(agent, mad);
        service_id = cm_req_get_ServiceID(body);
        change_addresses(agent, data);
        if (behaves(agent, DEFECT_CM_SOURCE_UNSPECIFIED))
            memset(data + SOURCE_AT, 0, ADDRESS_OCTETS);
        if (behaves(agent, DEFECT_CM_DESTINATION_GID))
            memcpy(data + DESTINATION_AT, cm_req_at_PrimaryRemoteGID(body), ADDRESS_OCTETS);
        if (behaves(agent, DEFECT_CM_SOURCE_PORT_HOST_ORDER))
            ip_cm_private_set_SourcePort(data, __builtin_bswap16((uint16_t)ip_cm_private_get_SourcePort(data)));
        if (behaves(agent, DEFECT_CM_SERVICE_ID_SWAPPED))
            cm_req_set_ServiceID(body, __builtin_bswap64(service_id));
        if (behaves(agent, DEFECT_CM_SERVICE_PORT_FIRST))
            cm_req_set_ServiceID(body, (service_id & IP_CM_SERVICE_MASK) | (service_id & 0xFFFF) << 8 |
                                           (service_id >> 16 & 0xFF));
        if (behaves(agent, DEFECT_CM_PROTOCOL_AS_TCP) &&
            wire_name_of(ip_cm_protocol_names, service_id >> 16 & 0xFF) == NULL)
            cm_req_set_ServiceID(body, ip_cm_service_id(TCP_PROTOCOL, (uint16_t)service_id));
        defect_change_header(agent_set(agent), agent_state(agent), TARGET_IP_CM_PRIVATE, data);
    }
    defect_change_header(agent_set(agent), agent_state(agent), TARGET_CM_REQ, body);
}

static void change_rejection(struct cm_agent *agent, uint8_t *mad)
{
    uint8_t *body = mad + MAD_HEADER_OCTETS;
    uint8_t *ari = body + (cm_rej_at_ARI(body) - body);
    size_t octets = ip_cm_ari_get_SuggestedLength(ari);
    bool service = ip_cm_ari_get_Layer(ari) == IP_CM_LAYER_SERVICE;

    if (cm_rej_get_Reason(body) == CM_REASON_CONSUMER && cm_rej_get_InfoLength(body) != 0) {
        if (service && octets != 0 && octets < CM_ARI_OCTETS - IP_CM_ARI_HEADER_OCTETS &&
            behaves(agent, DEFECT_CM_SUGGESTED_AT_3)) {
            memmove(ari + IP_CM_ARI_HEADER_OCTETS - 1, ari + IP_CM_ARI_HEADER_OCTETS, octets);
            ari[IP_CM_ARI_HEADER_OCTETS - 1 + octets] = 0xEE;
        }
        if (service && ip_cm_ari_get_Code(ari) == IP_CM_ARI_UNSPECIFIED &&
            behaves(agent, DEFECT_CM_LENGTH_WITH_UNSPECIFIED))
            ip_cm_ari_set_SuggestedLength(ari, 9);
        variant_cm_rejection(agent, mad);
        state_cm_rejection(agent, mad);
        if (cm_rej_get_InfoLength(body) != 0)
            defect_change_header(agent_set(agent), agent_state(agent), TARGET_IP_CM_ARI, ari);
    }
    defect_change_header(agent_set(agent), agent_state(agent), TARGET_CM_REJ, body);
}

/* The header of the REQ that the REP answers, once more. */
static void write_header(const struct cm_tuple *tuple, unsigned minor, uint8_t *data)
{
    memset(data, 0, IP_CM_PRIVATE_OCTETS);
    ip_cm_private_set_MinV(data, minor);
    ip_cm_private_set_IPV(data, tuple->source.family);
    ip_cm_private_set_SourcePort(data, tuple->source_port);
    ip_cm_set_address(data + SOURCE_AT, tuple->source.family, tuple->source.octets);
    ip_cm_set_address(data + DESTINATION_AT, tuple->destination.family, tuple->destination.octets);
}

static void change_reply(struct cm_agent *agent, uint8_t *mad)
{
    uint32_t id = (uint32_t)cm_ids_get_LocalID(mad + MAD_HEADER_OCTETS);
    size_t room = cm_attribute_row(CM_REP)->private_octets;
    struct cm_exchange *exchange;
    uint8_t *data = cm_private(mad);

    state_cm_reply(agent, mad);
    HASH_FIND(by_local, agent->by_local, &id, sizeof(id), exchange);
    if (exchange != NULL && exchange->in_service && behaves(agent, DEFECT_CM_REPLY_HEADER)) {
        memmove(data + IP_CM_PRIVATE_OCTETS, data, room - IP_CM_PRIVATE_OCTETS);
        write_header(&exchange->tuple, exchange->minor, data);
    }
    defect_change_header(agent_set(agent), agent_state(agent), TARGET_CM_REP, mad + MAD_HEADER_OCTETS);
}

bool seam_cm_send(struct cm_agent *agent, uint8_t *mad)
{
    static const struct {
        uint16_t attribute;
        enum defect_target target;
    } others[] = {
        {CM_MRA, TARGET_CM_MRA}, {CM_RTU, TARGET_CM_RTU}, {CM_DREQ, TARGET_CM_DREQ}, {CM_DREP, TARGET_CM_DREP}};
    uint16_t attribute = (uint16_t)mad_get_AttributeID(mad);

    if (attribute == CM_REJ && agent_state(agent)->silent) {
        agent_state(agent)->silent = false;
        return true;
    }
    switch (attribute) {
    case CM_REQ: change_request(agent, mad); break;
    case CM_REJ: change_rejection(agent, mad); break;
    case CM_REP: change_reply(agent, mad); break;
    case CM_RTU: variant_cm_ready(agent, mad); break;
    default: break;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].attribute == attribute)
            defect_change_header(agent_set(agent), agent_state(agent), others[i].target, mad + MAD_HEADER_OCTETS);
    defect_change_header(agent_set(agent), agent_state(agent), TARGET_MAD, mad);
    return false;
}
