/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first pass, as warp_record.c (segments and events) and warp_item.c (what is kept of them) share it. */
#ifndef DISSECTOR_WARP_PASS_H
#define DISSECTOR_WARP_PASS_H

#include "dissector/warp_flow.h"

struct warp_pass {
    struct flow_decoder *decoder;
    struct rule_engine *rules;
    wmem_map_t *records; /* frame -> struct warp_record */
    wmem_map_t *flows;   /* number -> struct warp_flow */
    uint32_t greatest;   /* number of a flow */
    /* the segment that the decoder is working on */
    struct warp_record *record; /* NULL until something is kept for this frame */
    uint32_t frame;
    const uint8_t *payload;
    size_t payload_octets;
    size_t placed; /* up to here items were found in the payload */
    /* the event that is being delivered */
    const struct flow_event *event;
    struct warp_item *item; /* made of it; NULL: none yet */
};

extern struct warp_pass warp_pass;

/* The record of the segment that the decoder is working on, made if need be. */
struct warp_record *warp_record_now(void);

/* An item of the present event; `_at`: whose first and last octets are in these frames. */
struct warp_item *warp_item_add(enum warp_kind kind);
struct warp_item *warp_item_add_at(enum warp_kind kind, uint32_t first_frame, uint32_t last_frame);

/* Where an item's octets are: in this frame's payload, else a copy of them. */
void warp_item_place(struct warp_item *item, const uint8_t *octets, size_t count);

/* A unit that is whole: its record says where the octets in the frames before are shown. */
void warp_item_link(struct warp_flow *flow, const struct warp_item *item);

/* What is kept of a flow, made if need be. */
struct warp_flow *warp_flow_of(const struct flow *flow);

#endif
