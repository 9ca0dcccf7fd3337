/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of a simulated device's CM share: sim_cm.c has frames and the agent, sim_cm_verbs.c the upper tester's
 * verbs.
 */
#ifndef CONFORMANCE_ENGINE_SIM_CM_INTERNAL_H
#define CONFORMANCE_ENGINE_SIM_CM_INTERNAL_H

#include <jansson.h>

#include "conformance/engine/device/sim_cm.h"
#include "reference-stack/cm/cm_agent.h"

enum { SIM_CM_EVENTS_MAX = 256, SIM_CM_REPLIES_MAX = 16, SIM_CM_REPLY_OCTETS = 196 };

/* Private Data of a REP (IBTA 12.6.8). */
struct sim_cm_reply {
    uint8_t data[SIM_CM_REPLY_OCTETS];
    size_t octets;
};

struct sim_cm {
    struct sim_cm_config config;
    struct cm_agent *agent;
    enum cm_answer answer; /* of the ULP, to each REQ for a listener */
    struct sim_cm_reply
        replies[SIM_CM_REPLIES_MAX]; /* of its REPs, one after another; after the last the first again */
    unsigned reply_count;            /* one at least */
    unsigned accepted;
    json_t *events;
    struct cm_output output; /* waits for a MAC */
    bool output_waits;
    uint32_t psn;
    uint64_t renewed;
};

/*
 * An agent of this configuration without listeners; addresses, seed and defects are the device's. The caller owns it.
 * NULL with a sentence: as cm_agent_new().
 */
struct cm_agent *sim_cm_agent(struct sim_cm *cm, struct cm_agent_config *config, struct iwarp_sentence *error);

/* This agent in place of the one that is there. Takes it over. */
void sim_cm_renew(struct sim_cm *cm, struct cm_agent *agent);

/* The ULP decides what waits, and MADs go out. */
void sim_cm_serve(struct sim_cm *cm, uint64_t now);

#endif
