/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/cm.h"

#include <string.h>

#define ATTRIBUTE_NAME_(id, attribute, name, data, octets, section) {attribute, name},
#define PAIR_(value, name)                                          {value, name},
const struct wire_name cm_attribute_names[] = {CM_ATTRIBUTES(ATTRIBUTE_NAME_){0, NULL}};
const struct wire_name cm_reason_names[] = {CM_REASONS(PAIR_){0, NULL}};
const struct wire_name ip_cm_ari_names[] = {IP_CM_ARI_CODES(PAIR_){0, NULL}};
const struct wire_name cm_message_names[] = {{0, "REQ"}, {1, "REP"}, {2, "other"}, {0, NULL}};
const struct wire_name cm_service_type_names[] = {{0, "RC"}, {1, "UC"}, {2, "RD"}, {3, "extended"}, {0, NULL}};
const struct wire_name cm_sidr_status_names[] = {
    {0, "QPN valid"},
    {1, "Service ID not supported"},
    {2, "rejected by the service provider"},
    {3, "no QP available"},
    {4, "redirected to another CM"},
    {5, "version not supported"},
    {0, NULL},
};
const struct wire_name ip_cm_protocol_names[] = {
    {1, "InfiniBand RDMA CM"}, {6, "TCP"}, {17, "UDP"}, {132, "SCTP"}, {0, NULL}};
const struct wire_name ip_cm_layer_names[] = {
    {IP_CM_LAYER_SERVICE, "RDMA IP CM Service"}, {IP_CM_LAYER_ULP, "RDMA-Aware ULP"}, {0, NULL}};

WIRE_LAYOUT_DEFINE(cm_ids, CM_IDS_FIELDS, "CM message", "IBTA 12.6", 8);
WIRE_LAYOUT_DEFINE(cm_req, CM_REQ_FIELDS, "CM REQ", "IBTA 12.6.5", 96);
WIRE_LAYOUT_DEFINE(cm_rep, CM_REP_FIELDS, "CM REP", "IBTA 12.6.8", 36);
WIRE_LAYOUT_DEFINE(cm_mra, CM_MRA_FIELDS, "CM MRA", "IBTA 12.6.6", 10);
WIRE_LAYOUT_DEFINE(cm_rej, CM_REJ_FIELDS, "CM REJ", "IBTA 12.6.7", 84);
WIRE_LAYOUT_DEFINE(cm_dreq, CM_DREQ_FIELDS, "CM DREQ", "IBTA 12.6.10", 12);
WIRE_LAYOUT_DEFINE(cm_sidr_req, CM_SIDR_REQ_FIELDS, "CM SIDR_REQ", "IBTA 12.11.1", 16);
WIRE_LAYOUT_DEFINE(cm_sidr_rep, CM_SIDR_REP_FIELDS, "CM SIDR_REP", "IBTA 12.11.2", 24);
WIRE_LAYOUT_DEFINE(ip_cm_private, IP_CM_PRIVATE_FIELDS, "RDMA IP CM Service Private Data", "A11.4",
                   IP_CM_PRIVATE_OCTETS);
WIRE_LAYOUT_DEFINE(ip_cm_service, IP_CM_SERVICE_FIELDS, "RDMA IP CM Service ID", "A11.5", 8);
WIRE_LAYOUT_DEFINE(ip_cm_ari, IP_CM_ARI_FIELDS, "RDMA IP CM Service ARI", "A11.7", IP_CM_ARI_HEADER_OCTETS);

const struct wire_layout *cm_layout(uint16_t attribute)
{
    switch (attribute) {
    case CM_REQ: return &cm_req_layout;
    case CM_REP: return &cm_rep_layout;
    case CM_MRA: return &cm_mra_layout;
    case CM_REJ: return &cm_rej_layout;
    case CM_DREQ: return &cm_dreq_layout;
    case CM_SIDR_REQ: return &cm_sidr_req_layout;
    case CM_SIDR_REP: return &cm_sidr_rep_layout;
    default: return &cm_ids_layout;
    }
}

const struct cm_attribute_row *cm_attribute_row(uint16_t attribute)
{
#define ATTRIBUTE_ROW_(id, attribute, name, data, octets, section) {attribute, name, data, octets, section},
    static const struct cm_attribute_row rows[] = {
        CM_ATTRIBUTES(ATTRIBUTE_ROW_){0, NULL, CM_MESSAGE_OCTETS, 0, "IBTA 12.6"}};
    size_t i = 0;

    while (rows[i].name != NULL && rows[i].attribute != attribute)
        i++;
    return &rows[i];
}

wire_result ip_cm_private_parse(const uint8_t *octets, size_t count, struct ip_cm_private *data)
{
    memset(data, 0, sizeof(*data));
    if (count < IP_CM_PRIVATE_OCTETS)
        return WIRE_MORE;
    data->major = (uint8_t)ip_cm_private_get_MajV(octets);
    data->minor = (uint8_t)ip_cm_private_get_MinV(octets);
    data->ip_version = (uint8_t)ip_cm_private_get_IPV(octets);
    data->reserved = (uint8_t)ip_cm_private_get_Res(octets);
    data->source_port = (uint16_t)ip_cm_private_get_SourcePort(octets);
    data->source = ip_cm_private_at_Source(octets);
    data->destination = ip_cm_private_at_Destination(octets);
    data->consumer = octets + IP_CM_PRIVATE_OCTETS;
    data->consumer_octets = count - IP_CM_PRIVATE_OCTETS;
    return WIRE_OK;
}

wire_result ip_cm_ari_parse(const uint8_t *octets, size_t count, struct ip_cm_ari *ari)
{
    memset(ari, 0, sizeof(*ari));
    if (count < 2)
        return WIRE_MORE;
    ari->layer = octets[0];
    ari->code = octets[1];
    if (ari->layer != IP_CM_LAYER_SERVICE || count < IP_CM_ARI_HEADER_OCTETS)
        return WIRE_OK;
    ari->suggested_octets = octets[2];
    ari->filler = octets[3];
    if (ari->suggested_octets == 0)
        return WIRE_OK;
    if (count - IP_CM_ARI_HEADER_OCTETS < ari->suggested_octets)
        return WIRE_MORE;
    ari->suggested = octets + IP_CM_ARI_HEADER_OCTETS;
    return WIRE_OK;
}

static void read_rej(const uint8_t *body, size_t have, struct cm_message *message)
{
    if (have < 12)
        return;
    message->rejected = (uint8_t)cm_rej_get_Message(body);
    message->info_octets = (uint8_t)cm_rej_get_InfoLength(body);
    message->reason = (uint16_t)cm_rej_get_Reason(body);
    if (have < 12 + CM_ARI_OCTETS)
        return;
    message->ari_octets = cm_rej_at_ARI(body);
    if (message->reason == CM_REASON_CONSUMER && message->info_octets >= 2)
        message->has_ari = ip_cm_ari_parse(message->ari_octets,
                                           message->info_octets < CM_ARI_OCTETS ? message->info_octets : CM_ARI_OCTETS,
                                           &message->ari) == WIRE_OK;
}

static void read_body(const uint8_t *body, size_t have, struct cm_message *message)
{
    bool sidr = message->attribute == CM_SIDR_REQ || message->attribute == CM_SIDR_REP;

    if (message->row->name == NULL)
        return;
    if (have >= 4)
        message->local_id = octets_get32(body);
    if (have >= 8 && !sidr && message->attribute != CM_REQ)
        message->remote_id = octets_get32(body + 4);
    if (message->attribute == CM_REQ || message->attribute == CM_SIDR_REQ) {
        message->has_service = have >= 16;
        message->service_id = message->has_service ? octets_get64(body + 8) : 0;
    } else if (message->attribute == CM_SIDR_REP) {
        message->has_service = have >= 20;
        message->service_id = message->has_service ? octets_get64(body + 12) : 0;
    } else if (message->attribute == CM_REJ) {
        read_rej(body, have, message);
    } else if (message->attribute == CM_MRA && have >= 10) {
        message->rejected = (uint8_t)cm_mra_get_Message(body);
    }
    if (have > message->row->private_at) {
        message->private_data = body + message->row->private_at;
        message->private_octets = have - message->row->private_at;
    }
    if (message->has_service && message->attribute != CM_SIDR_REP && ip_cm_in_range(message->service_id) &&
        message->private_data != NULL)
        message->has_ip = ip_cm_private_parse(message->private_data, message->private_octets, &message->ip) == WIRE_OK;
}

wire_result cm_parse(const uint8_t *octets, size_t count, struct cm_message *message)
{
    memset(message, 0, sizeof(*message));
    message->row = cm_attribute_row(0);
    if (count < MAD_HEADER_OCTETS)
        return WIRE_MORE;
    message->base_version = (uint8_t)mad_get_BaseVersion(octets);
    message->class_version = (uint8_t)mad_get_ClassVersion(octets);
    message->method = octets[3];
    message->status = (uint16_t)mad_get_Status(octets);
    message->class_specific = (uint16_t)mad_get_ClassSpecific(octets);
    message->transaction = mad_get_TransactionID(octets);
    message->attribute = (uint16_t)mad_get_AttributeID(octets);
    message->modifier = (uint32_t)mad_get_Modifier(octets);
    if (mad_get_MgmtClass(octets) != MAD_CLASS_CM)
        return TERM_DDP_CATASTROPHIC;
    message->row = cm_attribute_row(message->attribute);
    message->body = octets + MAD_HEADER_OCTETS;
    message->body_octets = count < MAD_OCTETS ? count - MAD_HEADER_OCTETS : CM_MESSAGE_OCTETS;
    read_body(message->body, message->body_octets, message);
    return count < MAD_OCTETS ? WIRE_MORE : WIRE_OK;
}
