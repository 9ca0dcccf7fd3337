/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of reference-stack/cm: two agents, 0 the server and 1 the client, and a wire between them in virtual
 * time that can lose, double and delay what they send. The events of each ULP are kept.
 */
#ifndef TESTS_UNIT_CM_PAIR_H
#define TESTS_UNIT_CM_PAIR_H

#include "reference-stack/cm/cm_agent.h"

enum { CM_PAIR_EVENTS = 512, CM_PAIR_FLIGHTS = 8192 };

struct cm_flight {
    uint64_t when;
    unsigned to;
    uint8_t mad[MAD_OCTETS];
};

struct cm_pair {
    struct cm_agent_config config[2];
    struct cm_agent *agent[2];
    struct cm_place place[2];
    struct cm_event event[2][CM_PAIR_EVENTS];
    size_t events[2];
    uint64_t now, noise;
    uint64_t delay_ns;      /* of every MAD... */
    uint64_t jitter_ns;     /* ...and up to so much more: they overtake one another */
    unsigned lost, doubled; /* of 100 */
    struct cm_flight *flight;
    size_t flights;
    size_t sent[2]; /* by each side */
    uint8_t last[2][MAD_OCTETS];
    void (*decide)(struct cm_pair *pair, const struct cm_event *event); /* the server's ULP */
};

/* Configurations are the default's; agents are made by cm_pair_begin(). Server 192.0.2.2, client 192.0.2.1. */
void cm_pair_prepare(struct cm_pair *pair, uint64_t seed);
void cm_pair_begin(struct cm_pair *pair);
void cm_pair_end(struct cm_pair *pair);

/* A listener of TCP that does so; returns it for changes before cm_pair_listen(). */
struct cm_listener cm_pair_listener(uint16_t port, enum cm_answer answer);
void cm_pair_listen(struct cm_pair *pair, const struct cm_listener *listener);

/* The client connects from port 49153 to the port, with so many octets of consumer data; returns the exchange. */
uint32_t cm_pair_connect(struct cm_pair *pair, uint16_t port, const void *data, size_t octets);

/* Runs until nothing is under way before `until`. */
void cm_pair_run(struct cm_pair *pair, uint64_t until);

/* The only event of that kind; the test fails when there are none, or several. */
const struct cm_event *cm_pair_event(const struct cm_pair *pair, unsigned side, enum cm_event_kind kind);
size_t cm_pair_count(const struct cm_pair *pair, unsigned side, enum cm_event_kind kind);

/* Gives a MAD to the server from the client's place; its answer goes to `answer`, zero where there is none. */
bool cm_pair_ask(struct cm_pair *pair, const uint8_t mad[MAD_OCTETS], uint8_t answer[MAD_OCTETS]);

#endif
