/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traffic of the suites, made by two upper testers (docs/upper-tester.md): A connects to B, sends, writes into B's memory and reads
 * from it. What either end holds afterwards is compared with what went.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_EXCHANGE_H
#define CONFORMANCE_ENGINE_BRIDGE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sentence.h"
#include "conformance/engine/bridge/bridge_stream.h"
#include "conformance/engine/device/upper_side.h"

/* What came of one connection. */
struct bridge_contents {
    bool complete;                   /* everything is where it belongs, and both ends saw an end in order */
    struct iwarp_sentence wrong;     /* something is where it does not belong, or other than it went; empty: nothing */
    struct iwarp_sentence undecided; /* an upper tester did not say; empty: both did */
    struct iwarp_sentence seen;      /* "6 of 7 Sends, the Write, 4 of 4 Reads" */
};

struct bridge_exchange; /* opaque */

struct bridge_exchange_config {
    struct control *control[2];      /* A, B; borrowed */
    const char *address;             /* at which A reaches B; borrowed */
    unsigned seconds;                /* that an event may take */
    bool (*is_unwanted)(void *user); /* nobody waits for the rest any more */
    void *user;
};

/* What the upper testers say of their devices. */
struct bridge_pair {
    struct bridge_listener listener; /* B's */
    bool swapped[2];                 /* its Terminates are laid out as RDMAP-4.8-02 forbids */
};

/* Begins: B listens. NULL with a sentence. */
struct bridge_exchange *bridge_exchange_new(const struct bridge_exchange_config *config, struct bridge_pair *pair,
                                            struct iwarp_sentence *error);
void bridge_exchange_free(struct bridge_exchange *exchange); /* NULL is allowed */

/* One connection, the `number`-th, until both ends say that it is over. -1 with a sentence: an upper tester is lost. */
int bridge_exchange_run(struct bridge_exchange *exchange, uint64_t number, struct bridge_contents *contents,
                        struct iwarp_sentence *error);

#endif
