/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/kept_event.h"

#include <string.h>

double kept_event_seconds(const struct flow_event *event)
{
    return event->time_ns > event->flow->first_ns ? (double)(event->time_ns - event->flow->first_ns) / 1e9 : 0;
}

const char *kept_event_from(enum flow_direction direction, unsigned judged)
{
    return direction == judged ? "dut" : "tester";
}

void kept_event_release(struct kept_event *kept)
{
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        json_decref(kept->step[i]);
        kept->step[i] = NULL;
    }
}

/* The part of a ULPDU's event; `octets` is where its ULPDU lay, `count` how many of them are kept. */
static void keep_ulpdu(struct kept_event *kept, const struct flow_event *event, const uint8_t *octets, size_t count)
{
    kept->ulpdu = *event->ulpdu;
    kept->ulpdu.octets = kept->octets;
    kept->ulpdu.have = count;
    kept->ulpdu.message = NULL;
    if (event->ulpdu->mpa != NULL) {
        kept->fpdu = *event->ulpdu->mpa;
        kept->fpdu.fpdu.start = NULL;
        kept->fpdu.fpdu.ulpdu = kept->octets;
        kept->ulpdu.mpa = &kept->fpdu;
    }
    kept->event.ulpdu = &kept->ulpdu;
    if (event->ddp != NULL) {
        const uint8_t *payload = event->ddp->segment.payload;
        size_t header = payload != NULL && (size_t)(payload - octets) < count ? (size_t)(payload - octets) : count;

        kept->ddp = *event->ddp;
        kept->ddp.segment.header = kept->octets;
        kept->ddp.segment.payload = kept->octets + header;
        if (kept->ddp.payload_have > count - header)
            kept->ddp.payload_have = count - header;
        kept->event.ddp = &kept->ddp;
    }
    if (event->rdmap != NULL) {
        kept->rdmap = *event->rdmap;
        kept->rdmap.request = NULL;
        if (kept->rdmap.header == FLOW_HEADER_TERMINATE)
            kept->rdmap.terminate.ddp_header = kept->rdmap.terminate.rdmap_header = NULL;
        kept->event.rdmap = &kept->rdmap;
    }
}

/*
 * Copies what an event of a TCP connection points to. False: it points to something else, which only its text can keep.
 */
static bool keep_event(struct kept_event *kept, const struct flow_event *event)
{
    kept->event = (struct flow_event){
        .kind = event->kind,
        .direction = event->direction,
        .flow = event->flow,
        .frame = event->frame,
        .first_frame = event->first_frame,
        .time_ns = event->time_ns,
        .position = event->position,
        .reason = event->reason,
    };
    switch (event->kind) {
    case FLOW_TCP_OPEN:
        kept->open = *event->open;
        kept->event.open = &kept->open;
        return true;
    case FLOW_TCP_CLOSE:
        kept->close = *event->close;
        kept->event.close = &kept->close;
        return true;
    case FLOW_GAP:
        kept->gap = *event->gap;
        kept->event.gap = &kept->gap;
        return true;
    case FLOW_UNDECODED: return true;
    case FLOW_MPA_START:
        kept->start = *event->start;
        kept->start.octets = kept->octets;
        kept->start.octet_count = kept->shown.count;
        kept->start.frame.private_data = NULL;
        kept->event.start = &kept->start;
        return true;
    case FLOW_ULPDU:
    case FLOW_DDP:
    case FLOW_RDMAP: keep_ulpdu(kept, event, event->ulpdu->octets, kept->shown.count); return true;
    default: return false;
    }
}

void kept_event_copy(struct kept_event *kept, const struct flow_event *event)
{
    kept_event_release(kept);
    event_shown(event, &kept->shown);
    if (kept->shown.count > KEPT_EVENT_OCTETS)
        kept->shown.count = KEPT_EVENT_OCTETS;
    if (kept->shown.count != 0)
        memcpy(kept->octets, kept->shown.octets, kept->shown.count);
    kept->shown.octets = kept->octets;
    kept->seconds = kept_event_seconds(event);
    kept->direction = event->direction;
    kept->has_text = !keep_event(kept, event);
    if (kept->has_text)
        notation_event(event, kept->text, sizeof(kept->text));
}

json_t *kept_event_step(struct kept_event *kept, unsigned judged)
{
    if (!kept->has_text)
        notation_event(&kept->event, kept->text, sizeof(kept->text));
    kept->has_text = true;
    if (kept->step[judged] == NULL)
        kept->step[judged] = event_shown_step(&kept->shown, kept->text, kept->seconds,
                                              kept_event_from(kept->direction, judged), KEPT_EVENT_SHOWN);
    return kept->step[judged];
}
