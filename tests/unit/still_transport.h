/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a test need not look at of a peer's transport: listeners that open at once, an end of which nobody hears.
 * STILL_TRANSPORT names it in a struct peer_transport_ops; `connect` and `send` are the test's own.
 */
#ifndef TESTS_UNIT_STILL_TRANSPORT_H
#define TESTS_UNIT_STILL_TRANSPORT_H

#include "reference-stack/peer/peer.h"

static inline int still_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    (void)context;
    (void)why;
    return port;
}

static inline void still_unlisten(void *context, uint16_t port)
{
    (void)context;
    (void)port;
}

static inline void still_end(void *transport)
{
    (void)transport;
}

#define STILL_TRANSPORT                                                                                                \
    .listen = still_listen, .unlisten = still_unlisten, .carrier.shutdown = still_end, .carrier.abort = still_end,     \
    .carrier.release = still_end

#endif
