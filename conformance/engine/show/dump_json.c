/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/show/dump_json.h"
#include "conformance/engine/show/dump_json_sctp.h"
#include "conformance/flow/ulp/flow_rpcrdma.h"
#include "conformance/flow/ulp/flow_ulp_layout.h"

#include <inttypes.h>
#include <stdio.h>

static int set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value);
}

static json_t *hex(uint64_t value, unsigned bits)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "0x%0*" PRIx64, (int)(bits + 3) / 4, value);
    return json_string(text);
}

static json_t *field_value(const struct wire_field *field, const uint8_t *header)
{
    uint64_t value = wire_field_get(field, header);

    switch (field->kind) {
    case WIRE_FLAG: return json_boolean(value);
    case WIRE_HEX: return hex(value, field->bits);
    default: return json_integer((json_int_t)value);
    }
}

/* Every number field of a header, by the layout's identifiers. */
json_t *dump_json_header(const struct wire_layout *layout, const uint8_t *header)
{
    json_t *object = json_object();

    for (size_t i = 0; i < layout->field_count; i++)
        if (layout->fields[i].kind != WIRE_OCTETS)
            set(object, layout->fields[i].id, field_value(&layout->fields[i], header));
    return object;
}

/* "ok", "short", or the error's identifier. */
json_t *dump_json_result(wire_result result)
{
    const struct terminate_error *error = terminate_error_find(result);

    if (error != NULL)
        return json_string(error->id);
    return json_string(result == WIRE_OK ? "ok" : "short");
}

static json_t *start_object(const struct flow_start *start)
{
    json_t *object = json_object();

    set(object, "kind", json_string(start->frame.kind == IWARP_MPA_REQUEST ? "Request" : "Reply"));
    set(object, "result", dump_json_result(start->result));
    set(object, "octets", json_integer((json_int_t)start->octet_count));
    if (start->octet_count < MPA_START_OCTETS)
        return object;
    set(object, mpa_start_layout.id, dump_json_header(&mpa_start_layout, start->octets));
    if (start->result == WIRE_OK && iwarp_mpa_start_has_word(&start->frame))
        set(object, mpa_enhanced_layout.id, dump_json_header(&mpa_enhanced_layout, start->octets + MPA_START_OCTETS));
    return object;
}

static json_t *ulpdu_object(const struct flow_ulpdu *ulpdu)
{
    json_t *object = json_object();
    const struct flow_fpdu *mpa = ulpdu->mpa;
    bool judged = mpa != NULL && mpa->framing.crc && !ulpdu->cut;

    set(object, "ULPDU_Length", json_integer(ulpdu->length));
    set(object, "octets", json_integer((json_int_t)(mpa != NULL ? mpa->fpdu.octets : ulpdu->message->count)));
    if (mpa != NULL)
        set(object, "markers", json_integer((json_int_t)mpa->fpdu.markers));
    set(object, "result", dump_json_result(ulpdu->result));
    set(object, "cut", json_boolean(ulpdu->cut));
    if (!ulpdu->cut && mpa != NULL) {
        set(object, "crc", hex(mpa->fpdu.crc, 32));
        set(object, "pad_zero", json_boolean(mpa->fpdu.pad_zero));
    }
    set(object, "crc_ok", judged ? json_boolean(mpa->fpdu.crc_ok) : json_null());
    return object;
}

static json_t *ddp_object(const struct flow_ddp *ddp)
{
    const struct ddp_segment *segment = &ddp->segment;
    const struct wire_layout *layout = segment->tagged ? &ddp_tagged_layout : &ddp_untagged_layout;
    json_t *object = ddp->result == WIRE_MORE ? json_object() : dump_json_header(layout, segment->header);

    set(object, "result", dump_json_result(ddp->result));
    if (ddp->result != WIRE_MORE)
        set(object, "payload_octets", json_integer((json_int_t)segment->payload_octets));
    return object;
}

static void set_terminate(json_t *object, const struct terminate *terminate, const uint8_t *payload)
{
    set(object, terminate_layout.id, dump_json_header(&terminate_layout, payload));
    if (terminate->has_length)
        set(object, "ddp_segment_length", json_integer(terminate->ddp_segment_length));
    if (terminate->ddp_header != NULL)
        set(object, "terminated_ddp",
            dump_json_header(ddp_tagged_get_T(terminate->ddp_header) ? &ddp_tagged_layout : &ddp_untagged_layout,
                             terminate->ddp_header));
    if (terminate->rdmap_header != NULL)
        set(object, "terminated_rdmap", dump_json_header(&read_request_layout, terminate->rdmap_header));
}

/* What the ULP says here: its header, of iSER the PDU, and of RPC-over-RDMA the segments of its chunk lists. */
static void set_ulp(json_t *object, const struct flow_event *event)
{
    const struct wire_layout *layout = flow_ulp_layout(event);
    const uint8_t *payload = event->ddp->segment.payload;
    const struct wire_layout *second;
    struct rpcrdma_segment segment;
    struct rpcrdma_walk walk;
    json_t *lists;

    if (layout == NULL || event->ddp->payload_have < layout->octets)
        return;
    set(object, layout->id, dump_json_header(layout, payload));
    second = layout == &iser_control_layout ? iscsi_layout(payload, event->ddp->payload_have) : NULL;
    if (second != NULL)
        set(object, second->id, dump_json_header(second, payload + ISER_HEADER_OCTETS));
    if (event->rdmap->rpcrdma.kind == FLOW_RPCRDMA_NONE || event->rdmap->rpcrdma.lists != RPCRDMA_ENDED)
        return;
    lists = json_array();
    flow_rpcrdma_walk_begin(event, &walk);
    while (rpcrdma_walk_next(&walk, &segment)) {
        bool reads = segment.list == RPCRDMA_READ_LIST;
        const struct wire_layout *shape = reads ? &rpcrdma_read_segment_layout : &rpcrdma_segment_layout;
        json_t *one = dump_json_header(shape, walk.p - shape->octets);

        set(one, "list", json_string(reads ? "read" : segment.list == RPCRDMA_WRITE_LIST ? "write" : "reply"));
        if (json_array_append_new(lists, one) != 0)
            break;
    }
    set(object, "rpcrdma_segments", lists);
}

static json_t *rdmap_object(const struct flow_event *event)
{
    static const struct wire_layout *const headers[] = {
        [FLOW_HEADER_READ_REQUEST] = &read_request_layout,
        [FLOW_HEADER_ATOMIC_REQUEST] = &atomic_request_layout,
        [FLOW_HEADER_ATOMIC_RESPONSE] = &atomic_response_layout,
        [FLOW_HEADER_IMMEDIATE] = &immediate_layout,
    };
    const struct ddp_segment *segment = &event->ddp->segment;
    const struct flow_rdmap *rdmap = event->rdmap;
    json_t *object =
        dump_json_header(segment->tagged ? &rdmap_control_layout : &rdmap_untagged_layout, segment->header + 1);

    set(object, "result", dump_json_result(rdmap->result));
    if (rdmap->message.row->name != NULL)
        set(object, "name", json_string(rdmap->message.row->name));
    set_ulp(object, event);
    if (rdmap->header == FLOW_HEADER_NONE)
        return object;
    set(object, "header_result", dump_json_result(rdmap->header_result));
    if (rdmap->header == FLOW_HEADER_TERMINATE) {
        if (event->ddp->payload_have >= TERMINATE_OCTETS)
            set_terminate(object, &rdmap->terminate, segment->payload);
    } else if (event->ddp->payload_have >= headers[rdmap->header]->octets) {
        set(object, headers[rdmap->header]->id, dump_json_header(headers[rdmap->header], segment->payload));
    }
    return object;
}

int dump_json_extend(json_t *object, const struct flow_event *event)
{
    if (event->kind == FLOW_DDP)
        return set(object, "ddp", ddp_object(event->ddp));
    if (event->kind == FLOW_RDMAP)
        return set(object, "rdmap", rdmap_object(event));
    return 0;
}

static void set_own(json_t *object, const struct flow_event *event)
{
    switch (event->kind) {
    case FLOW_TCP_OPEN:
        set(object, "ack", json_boolean(event->open->ack));
        set(object, "mss", json_integer(event->open->mss));
        break;
    case FLOW_TCP_CLOSE: set(object, "reset", json_boolean(event->close->reset)); break;
    case FLOW_MPA_START:
        set(object, "start", start_object(event->start));
        if (event->flow->tcp->mapping.service != 0)
            set(object, "mapped_from_port", json_integer(event->flow->tcp->mapping.service));
        break;
    case FLOW_ULPDU:
        set(object, "position", json_integer((json_int_t)event->position));
        set(object, "fpdu", ulpdu_object(event->ulpdu));
        break;
    case FLOW_GAP:
        if (event->flow->kind == FLOW_STREAM)
            set(object, "messages", json_integer(event->gap->messages));
        else
            set(object, "octets", json_integer((json_int_t)event->gap->octets));
        break;
    case FLOW_SCTP: set(object, "sctp", dump_json_sctp(event->sctp)); break;
    case FLOW_SESSION: set(object, "session", dump_json_session(event->session)); break;
    case FLOW_CM: set(object, "cm", dump_json_cm(event->cm)); break;
    case FLOW_UNDECODED: set(object, "reason", json_string(flow_reason_text(event->reason))); break;
    default: break;
    }
}

json_t *dump_json_event(const struct flow_event *event)
{
    static const char *const kinds[] = {
        [FLOW_TCP_OPEN] = "tcp_open",
        [FLOW_TCP_CLOSE] = "tcp_close",
        [FLOW_MPA_START] = "mpa_start",
        [FLOW_ULPDU] = "fpdu",
        [FLOW_DDP] = "ddp",
        [FLOW_RDMAP] = "rdmap",
        [FLOW_GAP] = "gap",
        [FLOW_UNDECODED] = "undecoded",
        [FLOW_SCTP] = "sctp",
        [FLOW_SESSION] = "session",
        [FLOW_CM] = "cm",
        [FLOW_END] = "end",
    };
    json_t *object = json_object();
    const char *role = flow_role(event->flow, event->direction);
    char name[FLOW_NAME_MAX];

    if (object == NULL)
        return NULL;
    set(object, "type", json_string(kinds[event->kind]));
    set(object, "frame", json_integer((json_int_t)event->frame));
    set(object, "first_frame", json_integer((json_int_t)event->first_frame));
    set(object, "flow", json_string(flow_name(event->flow, event->direction, name, sizeof(name))));
    if (event->flow->kind != FLOW_CONNECTION)
        set(object, "flow_kind", json_string(flow_kind_text(event->flow->kind)));
    set(object, "sender", role != NULL ? json_string(role) : json_null());
    set_own(object, event);
    return object;
}

json_t *dump_json_port_mapper(const struct flow_port_mapper *said)
{
    json_t *object = json_object();
    char name[FLOW_NAME_MAX];

    if (object == NULL)
        return NULL;
    set(object, "type", json_string("port_mapper"));
    set(object, "frame", json_integer((json_int_t)said->frame));
    set(object, "first_frame", json_integer((json_int_t)said->frame));
    set(object, "flow", json_string(flow_port_mapper_name(said, name, sizeof(name))));
    set(object, "name", json_string(wire_name_of(port_mapper_type_names, said->message.type)));
    set(object, port_mapper_layout.id, dump_json_header(&port_mapper_layout, said->octets));
    return object;
}
