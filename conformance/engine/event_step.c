/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/event_step.h"

#include "conformance/flow/flow_cm.h"
#include "conformance/flow/flow_sctp.h"
#include "reports/result.h"

static const char *step_kind(const struct flow_event *event)
{
    switch (event->kind) {
    case FLOW_TCP_OPEN:
    case FLOW_TCP_CLOSE: return "tcp";
    case FLOW_SCTP: return "tcp";
    case FLOW_SESSION:
    case FLOW_CM:
    case FLOW_MPA_START: return "mpa";
    case FLOW_RDMAP: return event->rdmap->message.opcode == RDMAP_TERMINATE ? "terminate" : "fpdu";
    case FLOW_GAP:
    case FLOW_UNDECODED:
    case FLOW_END: return "note";
    default: return "fpdu";
    }
}

void event_octets(const struct flow_event *event, const uint8_t **octets, size_t *count)
{
    *octets = NULL;
    *count = 0;
    if (event->kind == FLOW_MPA_START) {
        *octets = event->start->octets;
        *count = event->start->octet_count;
    } else if (event->sctp != NULL) {
        *octets = event->sctp->chunk.start;
        *count = event->sctp->chunk.octets;
    } else if (event->session != NULL) {
        *octets = event->session->octets;
        *count = event->session->have;
    } else if (event->cm != NULL) {
        *octets = event->cm->mad;
        *count = event->cm->have;
    } else if (event->fpdu != NULL) {
        *octets = event->fpdu->fpdu.ulpdu;
        *count = event->fpdu->ulpdu_have;
    }
}

json_t *event_step(const struct flow_event *event, const char *text, double seconds, const char *from, size_t room)
{
    const uint8_t *octets;
    size_t count, whole;
    json_t *step;

    event_octets(event, &octets, &count);
    whole = event->fpdu != NULL ? event->fpdu->fpdu.ulpdu_length : count;
    step = result_step(seconds, from, step_kind(event), text, event->frame, octets, count < room ? count : room);
    if (step != NULL && count != 0 && whole > (count < room ? count : room) &&
        json_object_set_new(step, "length", json_integer((json_int_t)whole)) != 0) {
        json_decref(step);
        return NULL;
    }
    return step;
}
