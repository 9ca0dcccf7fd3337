/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that were removed to make room while they were open. What had come of them was judged; what comes later
 * is not compared with it. So one counts as unjudged when it comes back: once, also if that happens again.
 */
#ifndef FLOW_FLOW_REMOVED_H
#define FLOW_FLOW_REMOVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow_common;

/* What the decoder remembers of them: a hash for each. */
struct flow_removed {
    uint64_t *slots; /* 0: free; else hash and state */
    size_t count, room;
};

/*
 * A connection (session, exchange) with this key was removed, all of it judged so far. Where that cannot be remembered
 * it counts as unjudged. `key` has no padding that is not zero.
 */
void flow_removed_note(struct flow_common *common, const void *key, size_t octets);

/* It counts as unjudged (FLOW_ROW_EVICTED), unless it does already. */
void flow_removed_count(struct flow_common *common, const void *key, size_t octets);

/*
 * Something comes of that key, and no connection has it. True: it was removed. `begins`: what comes begins another
 * connection with the key, of which nothing is missing.
 */
bool flow_removed_returns(struct flow_common *common, const void *key, size_t octets, bool begins);

void flow_removed_free(struct flow_removed *removed);

#endif
