/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CM of a device on a simulated wire: the reference agent (reference-stack/cm) over RoCEv2, and the verbs of the
 * upper tester that speak of it. It shares the addresses of the device's TCP, which knows the MACs of others.
 *
 *   cm_configure   makes the agent new: service, major, minor, families, suggest, check, mra, unspecified; answer:
 *                  accept, reject or silent; reply: Private Data of REPs (hexadecimal), or a list of such, for one REP
 *                  after another; listen: a list of {protocol, port} or {service_id} (all 92 octets of Private Data are
 *                  the ULP's)
 *   cm_connect     address, protocol, port, source_port, data (hexadecimal) or service_id: a REQ; returns the
 *                  exchange's number
 *   cm_poll        events: those of cm_event_json.h
 */
#ifndef CONFORMANCE_ENGINE_SIM_CM_H
#define CONFORMANCE_ENGINE_SIM_CM_H

#include <stdbool.h>

#include "generator/link/link_sim.h"
#include "generator/packet/packet.h"
#include "base/sentence.h"

struct json_t;
struct sim_cm;
struct defect_set;
struct tcp_stack;

struct sim_cm_config {
    struct sim *sim; /* borrowed, as all here */
    enum sim_end end;
    uint8_t mac[6];
    struct net_address ipv4, ipv6;
    struct tcp_stack *tcp; /* the device's, for the MACs of others */
    uint16_t port;         /* where it listens for TCP's protocol number */
    uint64_t seed;
    const struct defect_set *defects; /* NULL: by the book */
};

/* NULL with a sentence: no memory. */
struct sim_cm *sim_cm_new(const struct sim_cm_config *config, struct iwarp_sentence *error);
void sim_cm_free(struct sim_cm *cm);

/* Frames that are no MADs for this device are left alone. */
void sim_cm_input(struct sim_cm *cm, const uint8_t *frame, size_t octets, uint64_t now);
uint64_t sim_cm_deadline(const struct sim_cm *cm);
void sim_cm_tick(struct sim_cm *cm, uint64_t now);

/*
 * True: the request is one of these verbs, and *answer is the caller's to free(); NULL: memory is short. The same
 * without text.
 */
bool sim_cm_command(struct sim_cm *cm, const char *request, uint64_t now, char **answer);
bool sim_cm_answer(struct sim_cm *cm, const struct json_t *request, uint64_t now, struct json_t **answer);

#endif
