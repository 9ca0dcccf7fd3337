/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection below a stream, as every owner of a stream treats it: what the stream wants of the connection is done,
 * and the EMSS of the connection is followed.
 */
#ifndef REFERENCE_STACK_CARRIER_H
#define REFERENCE_STACK_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/stream.h"
#include "reference-stack/base/connection_end.h"

struct carrier_ops {
    /* A FIN after what was sent. Input is still wanted. */
    void (*shutdown)(void *transport);
    /* A RST. The transport is dead: no more calls for it, and none from it. */
    void (*abort)(void *transport);
    /* The owner is done with the transport: close what is still open, in order. No more calls for it. */
    void (*release)(void *transport);
    /* Effective maximum segment size in octets, 0 when not known; NULL: never known. */
    size_t (*emss)(void *transport);
    /* Octets, a FIN included, that were sent and that the peer has not acknowledged; NULL: never known. */
    size_t (*unacknowledged)(void *transport);
    /* Both ends of the connection. False: it has none any more; NULL: never known. */
    bool (*ends)(void *transport, struct connection_end *own, struct connection_end *peer);
};

#define CARRIER_EMSS_PERIOD UINT64_C(1000000000) /* ns between two questions for the EMSS... */
#define CARRIER_EMSS_OCTETS (1U << 20)           /* ...or octets sent since the last, where the owner counts them in */

/* Zeroed to begin with. */
struct carrier {
    size_t emss;             /* the stream's */
    uint64_t emss_polled_at; /* when TCP was asked for it last... */
    size_t emss_octets;      /* ...and what was sent since */
    bool shut;               /* `shutdown` was called */
};

/* The EMSS changes with the path (RFC 5044 4.5). TCP is asked now and then, as asking costs a system call. */
void carrier_follow_emss(struct carrier *carrier, const struct carrier_ops *ops, void *transport,
                         struct iwarp_stream *stream, uint64_t now);

/* iwarp_stream_tick(), with what the peer has acknowledged until then. Without a transport there is none to ask. */
void carrier_tick(const struct carrier_ops *ops, void *transport, struct iwarp_stream *stream, uint64_t now);

/* Aborts, shuts down or releases the transport, as the stream wants it. True: the transport is gone. */
bool carrier_settle(struct carrier *carrier, const struct carrier_ops *ops, void *transport,
                    struct iwarp_stream *stream, uint64_t now);

#endif
