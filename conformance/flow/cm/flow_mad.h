/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FLOW_FLOW_MAD_H
#define FLOW_FLOW_MAD_H

#include "conformance/flow/flow_internal.h"

/* flow_cm.c: one MAD of the class CM. `octets` has `captured` of it (at most 256). */
struct flow_mad {
    const struct flow_address *source, *destination; /* without ports */
    const uint8_t *octets;
    size_t captured;
    unsigned carrier; /* enum flow_carrier */
    unsigned icrc;    /* enum flow_icrc */
    uint64_t frame, time_ns;
};

/* FLOW_ROW_IWARP when an event was sent of it; else the row that the message is counted in. */
enum flow_row flow_cm_mad(struct flow_decoder *decoder, const struct flow_mad *mad);

#endif
