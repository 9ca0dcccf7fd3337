/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What belongs together in one flow: segments of a message, request and response, a Terminate and what it quotes, a
 * unit and the frames that carry its octets. First pass only; what is found goes into items.
 */
#ifndef DISSECTOR_WARP_FLOW_H
#define DISSECTOR_WARP_FLOW_H

#include "dissector/warp.h"

#include "wire/marker.h"

/* A message in progress. */
struct warp_message {
    wmem_array_t *octets; /* NULL: none kept */
    wmem_array_t *items;  /* of its segments: struct warp_item * */
    uint32_t first_frame;
    bool broken; /* something is missing: not to be reassembled */
    uint64_t first_to;
    uint32_t stag, msn; /* that its segments have in common: the one or the other */
};

enum { WARP_QUOTES = 256, WARP_MESSAGE_MAX = 16 << 20, WARP_PENDING_MAX = 1024 };

/* A DDP header that a Terminate may quote. */
struct warp_quote {
    uint8_t header[DDP_UNTAGGED_OCTETS];
    uint8_t octets;
    struct warp_item *item;
};

struct warp_half {
    struct warp_message queue[FLOW_QUEUES];
    struct warp_message tagged[2]; /* RDMA Write, RDMA Read Response */
    struct warp_quote *quotes;     /* WARP_QUOTES, a ring */
    uint32_t quote_count;          /* ever */
    wmem_map_t *requests;          /* MSN on QN 1 -> struct warp_item, until answered */
    wmem_array_t *pending;         /* struct warp_record *: frames whose last octets are of a unit not yet whole */
};

struct warp_flow {
    struct warp_agreement agreement;
    bool closed; /* both sides have closed: rules that decide at the end were asked */
    struct warp_finding *at_end;
    struct warp_half halves[FLOW_DIRECTIONS];
};

struct warp_flow *warp_flow_new(void);
void warp_flow_free(struct warp_flow *flow);

/* A FLOW_RDMAP event, and the item made of its FPDU. */
void warp_flow_message(struct warp_flow *flow, const struct flow_event *event, struct warp_item *item, bool sends,
                       bool tagged);

/* A frame with payload of this direction has been seen. */
void warp_flow_pending(struct warp_flow *flow, enum flow_direction direction, struct warp_record *record);
/* A unit from frame `first` on is whole in frame `last`. */
void warp_flow_complete(struct warp_flow *flow, enum flow_direction direction, uint32_t first, uint32_t last);

#endif
