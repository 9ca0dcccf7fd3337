/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a stream to its connection. Each start-up frame goes alone. FPDUs that are small go together as long as no
 * segment of EMSS octets would cut one (RFC 5044 5.1: several may be packed into one segment); large ones go without
 * being copied.
 */
#ifndef REFERENCE_STACK_OUTLET_H
#define REFERENCE_STACK_OUTLET_H

#include "iwarp/stream.h"

enum {
    OUTLET_OCTETS = 65536, /* of small FPDUs that wait to go together */
    OUTLET_SMALL = 4096,   /* an FPDU of so many octets or fewer is small */
};

/* One for all streams of a thread: it is empty between two calls. */
struct outlet {
    /* Takes all octets; at most IWARP_OUTPUT_SPANS + 1 spans. */
    void (*send)(void *transport, const struct iwarp_span *spans, size_t count);
    size_t (*room)(void *transport);
    uint8_t staged[OUTLET_OCTETS];
};

/* Hands over what the stream has to send, while there is room. `emss`: octets of one segment. */
void outlet_drain(struct outlet *outlet, void *transport, struct iwarp_stream *stream, size_t emss, uint64_t now);

#endif
