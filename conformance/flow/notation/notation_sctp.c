/* SPDX-License-Identifier: BSD-2-Clause */
/* The notation of SCTP chunks, session control messages and CM messages. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/flow/notation/notation_line.h"

/* ---- SCTP -------------------------------------------------------------------------------------------------------- */

static void add_init(struct line *line, const struct sctp_init *init)
{
    const char *name = wire_name_of(ddp_sctp_indication_names, init->adaptation);

    if (init->has_adaptation)
        add(line, " adaptation %" PRIu32 "%s%s%s", init->adaptation, name != NULL ? " (" : "", name != NULL ? name : "",
            name != NULL ? ")" : "");
    add(line, " streams %u/%u", init->outbound, init->inbound);
    if (init->addresses != 0)
        add(line, ", %u addresses", init->addresses);
}

static void add_data(struct line *line, const struct flow_sctp *sctp)
{
    const struct sctp_data *data = sctp->data;

    add(line, " sid %u tsn %" PRIu32 " ppid %" PRIu32 "%s%s%s len %zu%s%s", data->sid, data->tsn, data->ppid,
        data->unordered ? " U" : "", data->first ? " B" : "", data->last ? " E" : "", data->user_octets,
        sctp->duplicate ? ", came before" : "", sctp->foreign ? ", not DDP's" : "");
}

static void add_sctp(struct line *line, const struct flow_sctp *sctp)
{
    if (sctp->name != NULL)
        add(line, "SCTP %s", sctp->name);
    else
        add(line, "SCTP chunk type %u", sctp->chunk.type);
    if (sctp->init != NULL)
        add_init(line, sctp->init);
    if (sctp->data != NULL)
        add_data(line, sctp);
    if (sctp->checksum == FLOW_CHECKSUM_ADLER32)
        add(line, ", checksum is Adler-32");
}

bool notation_shows_sctp(const struct flow_event *event)
{
    const struct flow_sctp *sctp = event->sctp;

    if (sctp->data == NULL)
        return true;
    return sctp->duplicate || sctp->foreign || !sctp->data->unordered || !sctp->data->first || !sctp->data->last;
}

static void add_session(struct line *line, const struct flow_session *session)
{
    const struct ddp_sctp_message *message = &session->message;
    size_t octets = 0;
    const uint8_t *data = message->private_octets != 0 ? ddp_sctp_ulp_data(message, &octets) : NULL;

    if (message->kind == DDP_SCTP_DRAFT_CONTROL) {
        add(line, "SCTP DDP Stream Reset");
        if (message->code != DDP_SCTP_STREAM_RESET)
            add(line, " with function code 0x%" PRIx32, message->code);
        if (session->result == WIRE_MORE)
            add(line, ", cut after %zu octets", session->have);
        return;
    }
    if (message->row->name != NULL)
        add(line, "SCTP DDP %s", message->row->name);
    else
        add(line, "SCTP DDP function code 0x%04" PRIx32, message->code);
    add(line, " ssn %u", message->ssn);
    if (message->has_word) {
        notation_depth(line, "ird", message->ird);
        notation_depth(line, "ord", message->ord);
        notation_rtr(line, message->peer_to_peer, message->rtr_send, message->rtr_write, message->rtr_read);
    }
    if (session->result == WIRE_MORE)
        add(line, ", cut after %zu octets", session->have);
    else if (data != NULL) {
        add(line, ", %zu octets private data", octets);
        notation_private(line, data, octets, message->row->active == 0, message->has_word);
    }
}

static void add_gap(struct line *line, const struct flow_gap *gap)
{
    add(line, "DDP-SSN %u", gap->first);
    if (gap->messages > 1)
        add(line, " to %u", (unsigned)(uint16_t)(gap->first + gap->messages - 1));
    add(line, "%s", gap->not_sent ? " never sent" : " missing");
}

/* ---- CM ---------------------------------------------------------------------------------------------------------- */

static void add_end(struct line *line, const struct ip_cm_private *ip, const uint8_t *address)
{
    char text[INET6_ADDRSTRLEN] = "?";

    inet_ntop(ip->ip_version == 4 ? AF_INET : AF_INET6, ip->ip_version == 4 ? address + 12 : address, text,
              sizeof(text));
    add(line, "%s%s%s", ip->ip_version == 4 ? "" : "[", text, ip->ip_version == 4 ? "" : "]");
}

static void add_service(struct line *line, const struct cm_message *message)
{
    const char *protocol;
    unsigned port = (unsigned)(message->service_id & 0xFFFF);

    if (!message->has_service)
        return;
    if (!ip_cm_in_range(message->service_id)) {
        add(line, " service 0x%016" PRIx64, message->service_id);
        return;
    }
    protocol = wire_name_of(ip_cm_protocol_names, message->service_id >> 16 & 0xFF);
    if (protocol != NULL)
        add(line, " %s port %u", protocol, port);
    else
        add(line, " protocol %u port %u", (unsigned)(message->service_id >> 16 & 0xFF), port);
    if (!message->has_ip)
        return;
    add(line, " from ");
    add_end(line, &message->ip, message->ip.source);
    add(line, ":%u to ", message->ip.source_port);
    add_end(line, &message->ip, message->ip.destination);
    if (message->ip.major != 0 || message->ip.minor != 0)
        add(line, " version %u.%u", message->ip.major, message->ip.minor);
    if (message->ip.ip_version != 4 && message->ip.ip_version != 6)
        add(line, " IPV %u", message->ip.ip_version);
}

static void add_reject(struct line *line, const struct cm_message *message)
{
    const char *reason = wire_name_of(cm_reason_names, message->reason), *code;

    add(line, " reason %u%s%s%s", message->reason, reason != NULL ? " (" : "", reason != NULL ? reason : "",
        reason != NULL ? ")" : "");
    if (message->reason != CM_REASON_CONSUMER)
        return;
    if (!message->has_ari) {
        add(line, ", no ARI");
        return;
    }
    if (message->ari.layer != IP_CM_LAYER_SERVICE) {
        if (message->ari.layer == IP_CM_LAYER_ULP)
            add(line, ", by the ULP");
        else
            add(line, ", ARI layer %u", message->ari.layer);
        return;
    }
    code = wire_name_of(ip_cm_ari_names, message->ari.code);
    if (code != NULL)
        add(line, ", ARI %u (%s)", message->ari.code, code);
    else
        add(line, ", ARI %u", message->ari.code);
    if (message->ari.suggested != NULL)
        add(line, " suggests %u octets", message->ari.suggested_octets);
}

static void add_cm(struct line *line, const struct flow_cm *cm)
{
    const struct cm_message *message = &cm->message;

    add(line, "CM %s", message->row->name);
    add_service(line, message);
    if (message->attribute == CM_REQ && message->body_octets >= cm_req_layout.octets)
        add(line, " ird %u ord %u", (unsigned)cm_req_get_Resources(message->body),
            (unsigned)cm_req_get_Depth(message->body));
    else if (message->attribute == CM_REP && message->body_octets >= cm_rep_layout.octets)
        add(line, " ird %u ord %u", (unsigned)cm_rep_get_Resources(message->body),
            (unsigned)cm_rep_get_Depth(message->body));
    else if (message->attribute == CM_REJ)
        add_reject(line, message);
    else if (message->attribute == CM_SIDR_REP && message->body_octets >= cm_sidr_rep_layout.octets)
        add(line, " status %u", (unsigned)cm_sidr_rep_get_Status(message->body));
    if (cm->again)
        add(line, ", again");
    if (cm->icrc == FLOW_ICRC_BAD)
        add(line, ", ICRC is wrong");
    if (cm->result == WIRE_MORE)
        add(line, ", cut after %zu octets", cm->have);
}

const char *notation_other(const struct flow_event *event, char *text, size_t room)
{
    struct line line = {text, room, 0};

    text[0] = '\0';
    switch (event->kind) {
    case FLOW_SCTP: add_sctp(&line, event->sctp); break;
    case FLOW_SESSION: add_session(&line, event->session); break;
    case FLOW_GAP: add_gap(&line, event->gap); break;
    case FLOW_CM: add_cm(&line, event->cm); break;
    default: break;
    }
    return text;
}
