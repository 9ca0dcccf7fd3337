/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/show/dump_json_sctp.h"

static int set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value);
}

static void set_name(json_t *object, const char *key, const char *name)
{
    if (name != NULL)
        set(object, key, json_string(name));
}

json_t *dump_json_sctp(const struct flow_sctp *sctp)
{
    static const char *const checksums[] = {"unchecked", "good", "adler32", "bad"};
    json_t *object = json_object();

    set_name(object, "chunk", sctp->name);
    set(object, "type", json_integer(sctp->chunk.type));
    set(object, "length", json_integer(sctp->chunk.length));
    set(object, "checksum", json_string(checksums[sctp->checksum]));
    if (sctp->init != NULL) {
        set(object, sctp_init_layout.id, dump_json_header(&sctp_init_layout, sctp->chunk.start));
        if (sctp->init->has_adaptation)
            set(object, "adaptation", json_integer(sctp->init->adaptation));
        set(object, "addresses", json_integer(sctp->init->addresses));
    }
    if (sctp->data != NULL) {
        if (!sctp->data->interleaved)
            set(object, sctp_data_layout.id, dump_json_header(&sctp_data_layout, sctp->chunk.start));
        set(object, "user_octets", json_integer((json_int_t)sctp->data->user_octets));
        set(object, "duplicate", json_boolean(sctp->duplicate));
        set(object, "foreign", json_boolean(sctp->foreign));
    }
    return object;
}

json_t *dump_json_session(const struct flow_session *session)
{
    const struct ddp_sctp_message *message = &session->message;
    json_t *object = json_object();
    bool draft = message->kind == DDP_SCTP_DRAFT_CONTROL;

    set(object, "result", dump_json_result(session->result));
    set(object, "ppid", json_integer(session->ppid));
    set(object, "code", json_integer(message->code));
    set_name(object, "name", draft ? wire_name_of(ddp_sctp_draft_names, message->code) : message->row->name);
    if (message->has_ssn)
        set(object, "ssn", json_integer(message->ssn));
    set(object, "private_octets", json_integer((json_int_t)message->private_octets));
    if (message->has_word)
        set(object, mpa_enhanced_layout.id, dump_json_header(&mpa_enhanced_layout, message->private_data));
    return object;
}

static void set_private(json_t *object, const struct cm_message *message)
{
    set(object, ip_cm_service_layout.id,
        dump_json_header(&ip_cm_service_layout, message->body + (message->attribute == CM_SIDR_REP ? 12 : 8)));
    if (message->has_ip)
        set(object, ip_cm_private_layout.id, dump_json_header(&ip_cm_private_layout, message->private_data));
}

json_t *dump_json_cm(const struct flow_cm *cm)
{
    static const char *const icrcs[] = {"unchecked", "good", "bad"};
    static const char *const carriers[] = {"RoCEv2", "RoCEv1", "InfiniBand"};
    const struct cm_message *message = &cm->message;
    const struct wire_layout *layout = cm_layout(message->attribute);
    json_t *object = json_object();

    set_name(object, "name", message->row->name);
    set(object, "carrier", json_string(carriers[cm->carrier]));
    set(object, "icrc", json_string(icrcs[cm->icrc]));
    set(object, "result", dump_json_result(cm->result));
    set(object, "again", json_boolean(cm->again));
    set(object, mad_layout.id, dump_json_header(&mad_layout, cm->mad));
    if (message->body_octets >= layout->octets)
        set(object, layout->id, dump_json_header(layout, message->body));
    if (message->has_service && ip_cm_in_range(message->service_id))
        set_private(object, message);
    if (message->attribute == CM_REJ)
        set_name(object, "reason", wire_name_of(cm_reason_names, message->reason));
    if (message->has_ari && message->info_octets >= IP_CM_ARI_HEADER_OCTETS)
        set(object, ip_cm_ari_layout.id, dump_json_header(&ip_cm_ari_layout, message->ari_octets));
    return object;
}
