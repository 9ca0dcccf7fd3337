/* SPDX-License-Identifier: BSD-2-Clause */
/* How a session's streams begin, over each lower layer: start-up parameters of both sides, by seed. */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_OPENING_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_OPENING_H

#include "conformance/engine/explore/session_generator.h"

/* What the rest of the session has to know of its start-up. */
struct session_opening {
    bool extensions; /* atomics and Immediate Data are in force */
    bool swaps;      /* those of the draft */
    int64_t receive_octets;
};

void session_open(struct session *session, struct session_draw *draw, struct session_opening *opening);

/* The members of a step that opens another stream of the session. */
void session_open_another(const struct session *session, struct session_draw *draw, struct session_members *step);

/* Does the side that answers turn this stream down? */
bool session_is_turned_down(const struct session_members *members);

#endif
