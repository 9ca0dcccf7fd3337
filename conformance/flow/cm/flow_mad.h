/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of InfiniBand and RoCE -> MADs -> exchanges of CM messages: what decoder.c calls, and what the room shares.
 */
#ifndef FLOW_FLOW_MAD_H
#define FLOW_FLOW_MAD_H

#include "conformance/flow/event/flow_decoder.h"
#include "conformance/flow/event/flow_packet.h"

/* flow_infiniband.c: UDP, InfiniBand, RoCE. */
void flow_infiniband_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                            const struct flow_carrier_frames *carrier);
/* flow_cm.c */
void flow_cm_finish(struct flow_decoder *decoder, bool tell);

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
enum flow_row flow_cm_mad(struct flow_decoder *decoder, const struct flow_mad *mad);

#endif
