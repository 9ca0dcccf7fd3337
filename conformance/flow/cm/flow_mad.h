/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of InfiniBand and RoCE -> MADs -> exchanges of CM messages: what decoder.c calls, and what the room shares.
 */
#ifndef FLOW_FLOW_MAD_H
#define FLOW_FLOW_MAD_H

#include "conformance/flow/event/flow_common.h"
#include "conformance/flow/event/flow_packet.h"

struct cm_exchange;

/* What the room keeps of a decoder. */
struct cm_decoder {
    struct flow_common *common;
    struct cm_exchange *exchanges;
    struct cm_exchange *oldest, *oldest_closed; /* by when a message came last: open ones, and those that are over */
    size_t count, closed_count;
};

/* flow_infiniband.c: UDP, InfiniBand, RoCE. */
void flow_infiniband_packet(struct cm_decoder *cm, const struct flow_datagram *datagram,
                            const struct flow_carrier_frames *carrier);
/* flow_cm.c */
/* NULL without memory. */
struct cm_decoder *flow_cm_new(struct flow_common *common);
/* Ends every exchange, with events. */
/* Time has gone on to common->now_ns: what is over, or idle too long, ends. The capture lost frames, of whatever is open. */
void flow_cm_time(struct cm_decoder *cm);
void flow_cm_dropped(struct cm_decoder *cm);
void flow_cm_finish(struct cm_decoder *cm);
/* Frees, without events. `cm` may be NULL. */
void flow_cm_free(struct cm_decoder *cm);

/* flow_cm.c: one MAD of the class CM. `octets` has `captured` of it (at most 256). */
struct flow_mad {
    const struct flow_address *source, *destination; /* without ports */
    struct flow_tunnel tunnel;
    const uint8_t *octets;
    size_t captured;
    unsigned carrier; /* enum flow_carrier */
    unsigned icrc;    /* enum flow_icrc */
    uint64_t frame, time_ns;
};

/* FLOW_ROW_IWARP when an event was sent of it; else the row that the message is counted in. */
enum flow_row flow_cm_mad(struct cm_decoder *cm, const struct flow_mad *mad);

#endif
