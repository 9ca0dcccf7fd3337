/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/event_step.h"

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "reports/results/result.h"

static const char *step_kind(const struct flow_event *event)
{
    switch (event->kind) {
    case FLOW_TCP_OPEN:
    case FLOW_TCP_CLOSE: return "tcp";
    case FLOW_SCTP: return "tcp";
    case FLOW_SESSION:
    case FLOW_CM:
    case FLOW_MPA_START: return "mpa";
    case FLOW_RDMAP: return event->rdmap->message.opcode == IWARP_RDMAP_TERMINATE ? "terminate" : "fpdu";
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
    } else if (event->ulpdu != NULL) {
        *octets = event->ulpdu->octets;
        *count = event->ulpdu->have;
    }
}

void event_shown(const struct flow_event *event, struct event_shown *shown)
{
    event_octets(event, &shown->octets, &shown->count);
    shown->whole = event->ulpdu != NULL ? event->ulpdu->length : shown->count;
    shown->kind = step_kind(event);
    shown->frame = event->frame;
}

json_t *event_shown_step(const struct event_shown *shown, const char *text, double seconds, const char *from,
                         size_t room)
{
    size_t count = shown->count < room ? shown->count : room;
    json_t *step = result_step(seconds, from, shown->kind, text, shown->frame, shown->octets, count);

    if (step != NULL && count != 0 && shown->whole > count &&
        json_object_set_new(step, "length", json_integer((json_int_t)shown->whole)) != 0) {
        json_decref(step);
        return NULL;
    }
    return step;
}

json_t *event_step(const struct flow_event *event, const char *text, double seconds, const char *from, size_t room)
{
    struct event_shown shown;

    event_shown(event, &shown);
    return event_shown_step(&shown, text, seconds, from, room);
}
