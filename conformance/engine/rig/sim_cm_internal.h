/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of a simulated device's CM share: sim_cm.c has frames and the agent, sim_cm_verbs.c the upper tester's verbs. */
#ifndef CONFORMANCE_ENGINE_SIM_CM_INTERNAL_H
#define CONFORMANCE_ENGINE_SIM_CM_INTERNAL_H

#include <jansson.h>

#include "conformance/engine/rig/sim_cm.h"
#include "reference-stack/cm/cm_agent.h"

enum { SIM_CM_EVENTS_MAX = 256 };

struct sim_cm {
    struct sim_cm_config config;
    struct cm_agent *agent;
    enum cm_answer answer; /* of the ULP, to each REQ for a listener */
    json_t *events;
    struct cm_output output; /* waits for a MAC */
    bool output_waits;
    uint32_t psn;
    uint64_t renewed;
};

/* A new agent of this configuration, without listeners, in place of the one that is there; addresses, seed and defects are the device's. */
int sim_cm_renew(struct sim_cm *cm, struct cm_agent_config *config, struct sentence *error);

/* The ULP decides what waits, and MADs go out. */
void sim_cm_serve(struct sim_cm *cm, uint64_t now);

#endif
