/* SPDX-License-Identifier: BSD-2-Clause */
/* ULPDUs -> DDP Segments and RDMA Messages, and the state of DDP and RDMAP that rules see: of MPA and of SCTP alike. */
#ifndef FLOW_FLOW_DDP_H
#define FLOW_FLOW_DDP_H

#include "conformance/flow/event/flow_common.h"

/* flow_header.c */
/* How many things contradict the texts in a ULPDU's first `have` octets: 0 for a header, 1 for one with a mistake. */
unsigned flow_header_faults(const uint8_t *ulpdu, size_t have, size_t length, unsigned revision);
/* The same from ULPDU_Length on; 0 while the two control octets are not there. */
unsigned flow_header_faults_at(const uint8_t *octets, size_t count, unsigned revision);
/* A header of DDP and RDMAP that makes sense; `have` octets of a ULPDU of `length` are there. */
bool flow_header_plausible(const uint8_t *ulpdu, size_t have, size_t length, unsigned revision);

/* flow_rdmap.c: sends a FLOW_ULPDU event with what the ULPDU carries, and brings the state up to date. */
void flow_rdmap_ulpdu(struct flow_common *common, struct flow *flow, struct flow_event *event);
void flow_sent_grow(struct flow_half *half);

/* Room for the next unit that the side sends, the oldest one's when there is no other; NULL: without memory. */
static inline struct flow_sent *flow_sent_add(struct flow_half *half)
{
    if (half->sent_count == half->sent_room && half->sent_room < FLOW_SENT_MAX)
        flow_sent_grow(half);
    half->sent_count++;
    return half->sent_room == 0 ? NULL : &half->sent[(half->sent_count - 1) & (half->sent_room - 1)];
}

/* Forgets what cannot be known after a gap. */
void flow_rdmap_gap(struct flow *flow, enum flow_direction direction);
/* What one side had received when it sent is not known any more: see flow->unordered. */
void flow_rdmap_unordered(struct flow *flow);

#endif
