/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `bridge --upper-tester-a`: a process of its own asks the upper testers for the traffic (bridge_exchange.h), since the bridge waits for nobody. It
 * writes a line of JSON for each connection, from which come results.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_TRAFFIC_H
#define CONFORMANCE_ENGINE_BRIDGE_TRAFFIC_H

#include "conformance/engine/bridge/bridge_exchange.h"
#include "conformance/engine/bridge/bridge_options.h"
#include "conformance/engine/process/worker_lines.h"

/* Begins with these: pipe -1, `count` (0: no traffic), leave() and `user`. */
struct bridge_traffic {
    struct worker_lines lines;        /* pipe -1: it has ended */
    struct bridge_contents *contents; /* of `count` connections; the first `done` are over */
    size_t count, done;
    struct bridge_pair pair;   /* known before the first connection is made */
    bool whole;                /* it has said that it is at its end */
    void (*leave)(void *user); /* in the process of its own: closes what is the bridge's alone */
    void *user;
    struct iwarp_sentence lost; /* why it has not come there; empty: no reason was given */
};

/* How many connections are made by these options: so many, or as many as impairments name. */
size_t bridge_traffic_count(const struct bridge_options *options, uint64_t streams);

/* Connects to both upper testers, and starts the process. -1 with a sentence. */
int bridge_traffic_start(struct bridge_traffic *traffic, const struct bridge_options *options,
                         struct iwarp_sentence *error);

/* Reads what has come. False: nothing comes any more. */
bool bridge_traffic_read(struct bridge_traffic *traffic);

void bridge_traffic_free(struct bridge_traffic *traffic);

#endif
