/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records by frame, the items in them, and the flows that these belong to: what the first pass keeps. */
#define _GNU_SOURCE /* memmem() */
#include "dissector/warp_pass.h"

#include <string.h>

struct warp_pass warp_pass;

const struct warp_record *warp_record_of(uint32_t frame)
{
    return warp_pass.records == NULL ? NULL : wmem_map_lookup(warp_pass.records, GUINT_TO_POINTER(frame));
}

uint32_t warp_record_flows(void)
{
    return warp_pass.greatest;
}

static struct warp_record *record_for(uint32_t frame)
{
    struct warp_record *record = wmem_map_lookup(warp_pass.records, GUINT_TO_POINTER(frame));

    if (record != NULL)
        return record;
    record = wmem_new0(wmem_file_scope(), struct warp_record);
    record->frame = frame;
    record->items_end = &record->items;
    record->home_end = &record->home;
    wmem_map_insert(warp_pass.records, GUINT_TO_POINTER(frame), record);
    return record;
}

struct warp_record *warp_record_now(void)
{
    if (warp_pass.record == NULL)
        warp_pass.record = record_for(warp_pass.frame);
    return warp_pass.record;
}

struct warp_item *warp_item_add_at(enum warp_kind kind, uint32_t first_frame, uint32_t last_frame)
{
    const struct flow_event *event = warp_pass.event;
    struct warp_record *record = warp_record_now();
    struct warp_item *item = wmem_new0(wmem_file_scope(), struct warp_item);

    item->kind = kind;
    item->direction = event->direction;
    item->roles_known = event->flow->roles_known;
    item->flow = (uint32_t)event->flow->number;
    item->decoded_in = warp_pass.frame;
    item->first_frame = first_frame;
    item->last_frame = last_frame;
    item->offset = -1;
    item->findings_end = &item->findings;
    *record->items_end = item;
    record->items_end = &item->next;
    if (item->last_frame != warp_pass.frame) {
        struct warp_record *home = record_for(item->last_frame);

        *home->home_end = item;
        home->home_end = &item->next_home;
    }
    warp_pass.item = item;
    return item;
}

struct warp_item *warp_item_add(enum warp_kind kind)
{
    return warp_item_add_at(kind, (uint32_t)warp_pass.event->first_frame, (uint32_t)warp_pass.event->frame);
}

/* Octets that lie in this frame alone, and were copied since; NULL: nowhere. */
static const uint8_t *find_in_payload(const struct warp_item *item, const uint8_t *octets, size_t count)
{
    if (item->first_frame != item->last_frame || item->last_frame != warp_pass.frame || count == 0 ||
        warp_pass.payload == NULL)
        return NULL;
    return memmem(warp_pass.payload + warp_pass.placed, warp_pass.payload_octets - warp_pass.placed, octets, count);
}

void warp_item_place(struct warp_item *item, const uint8_t *octets, size_t count)
{
    size_t tail = warp_pass.payload_octets - count;
    const uint8_t *copied;

    item->count = (uint32_t)count;
    if (octets >= warp_pass.payload && octets + count <= warp_pass.payload + warp_pass.payload_octets)
        item->offset = (int)(octets - warp_pass.payload);
    else if (item->first_frame == warp_pass.frame && count != 0 && count <= warp_pass.payload_octets &&
             memcmp(warp_pass.payload + tail, octets, count) == 0)
        item->offset = (int)tail; /* cut by the end of the frame */
    else if ((copied = find_in_payload(item, octets, count)) != NULL)
        item->offset = (int)(copied - warp_pass.payload);
    else
        item->octets = wmem_memdup(wmem_file_scope(), octets, count);
    if (item->offset >= 0)
        warp_pass.placed = (size_t)item->offset + count;
}

struct warp_flow *warp_flow_of(const struct flow *flow)
{
    struct warp_flow *own = wmem_map_lookup(warp_pass.flows, GUINT_TO_POINTER((guint)flow->number));

    if (own == NULL) {
        own = warp_flow_new();
        if (flow->number > warp_pass.greatest)
            warp_pass.greatest = (uint32_t)flow->number;
        wmem_map_insert(warp_pass.flows, GUINT_TO_POINTER((guint)flow->number), own);
    }
    return own;
}

void warp_item_link(struct warp_flow *flow, const struct warp_item *item)
{
    struct warp_record *first;

    if (item->first_frame == item->last_frame)
        return;
    record_for(item->last_frame)->begun_in = item->first_frame;
    first = record_for(item->first_frame);
    if (first->completed_in == 0)
        first->completed_in = item->last_frame;
    warp_flow_complete(flow, item->direction, item->first_frame, item->last_frame);
}
