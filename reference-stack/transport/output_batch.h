/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a stream to its connection. Each start-up frame goes alone. FPDUs go together as long as no segment of EMSS
 * octets would cut one (RFC 5044 5.1: several may be packed into one segment). Of those in several spans the headers
 * are copied, and payload that is long enough goes from where the ULP has it.
 */
#ifndef REFERENCE_STACK_OUTPUT_BATCH_H
#define REFERENCE_STACK_OUTPUT_BATCH_H

#include "iwarp/stream.h"

enum {
    OUTPUT_BATCH_OCTETS = 65536,  /* of FPDUs that go together */
    OUTPUT_BATCH_BORROWED = 2048, /* payload of more octets is not copied, where it is the ULP's memory */
    OUTPUT_BATCH_WAITING = 16384, /* an FPDU of which more would have to be copied does not wait for others */
    OUTPUT_BATCH_SPANS = 64,
};

/* One for all streams of a thread: it is empty between two calls. */
struct output_batch {
    /*
     * Takes all octets, of OUTPUT_BATCH_SPANS spans at most. One call is one start-up frame, or FPDUs that begin a
     * segment and that TCP does not cut where it cuts segments of EMSS octets off them.
     */
    void (*send)(void *transport, const struct iwarp_span *spans, size_t count);
    /* Octets that it should be given now. */
    size_t (*room)(void *transport);

    /* What waits. */
    struct iwarp_span spans[OUTPUT_BATCH_SPANS];
    size_t span_count;
    size_t octets; /* of all spans */
    size_t copied; /* of `staged` */
    uint8_t staged[OUTPUT_BATCH_OCTETS];
};

/* Passes on the output of the stream while there is room, and counts its octets. `emss`: octets of one segment. */
size_t output_batch_drain(struct output_batch *output_batch, void *transport, struct iwarp_stream *stream, size_t emss,
                          uint64_t now);

#endif
