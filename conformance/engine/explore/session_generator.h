/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legal sessions by seed: the start-up that both sides agree on, memory, and operations of both sides. The generator
 * keeps what decides whether the next step is legal: what each region may be used for until the next "settle".
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_GENERATOR_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_GENERATOR_H

#include "conformance/engine/explore/session.h"

/* Numbers of one session. */
struct session_draw {
    uint64_t state;
};

/* From 0 to count - 1; 0 of a count of 0. */
uint64_t session_below(struct session_draw *draw, uint64_t count);

/* True once in so many times. */
bool session_once_in(struct session_draw *draw, unsigned times);

/* The same session for the same seed, number and lower layer; `draw` goes on behind it. */
void session_generate(uint64_t seed, uint64_t number, enum iwarp_sctp_profile sctp, struct session *session,
                      struct session_draw *draw);

#endif
