/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plays sessions against the simulated reference stack, or a device on the wire: each as a check in the sandbox of all
 * checks, with the rules over its traffic. A few hundred at once are fastest: the script library is loaded once for
 * them.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_RUN_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_RUN_H

#include "base/sentence.h"
#include "conformance/engine/explore/session_found.h"
#include "conformance/engine/explore/session_live.h"
#include "conformance/engine/run/run_services.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "reports/results/result.h"

struct defect_set;

/* What is the same for all sessions. */
struct session_world {
    const struct catalogue *catalogue;
    struct pics *pics;
    uint64_t seed;
    enum iwarp_sctp_profile sctp; /* the lower layer; UNDECIDED: MPA over TCP */
};

/* A device: what it is, and what was learned of it, which run_services_free() frees. */
struct session_device {
    struct session_live *live;  /* borrowed: on the wire; NULL: simulated, as the following say */
    struct defect_set *defects; /* borrowed; NULL: the correct stack */
    bool ipv6;
    struct run_services services;
};

/*
 * 0, or -1 with a sentence: memory, or a session that is no script. `forget` (NULL: not called) comes after a
 * simulated device was learned, before the first session in a role.
 */
int session_run(const struct session_world *world, struct session_device *device, struct session *sessions,
                size_t count, session_found *found, void (*forget)(void *user), void *user,
                struct iwarp_sentence *error);

#endif
