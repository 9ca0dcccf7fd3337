/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device on a simulated wire: our TCP with its defaults, the reference stack above it, and its upper tester. It is a
 * node of the world (link_sim.h) and knows no time but the world's.
 */
#ifndef CONFORMANCE_ENGINE_SIM_DEVICE_H
#define CONFORMANCE_ENGINE_SIM_DEVICE_H

#include "generator/link/link_sim.h"
#include "generator/packet/packet.h"
#include "base/sentence.h"

struct json_t;
struct sim_device;
struct defect_set;

/* Octets that the device's TCP takes at once, as a kernel's does; a peer that shuts its window holds the rest back. */
#define SIM_DEVICE_SEND_ROOM 262144u

struct sim_device_config {
    struct sim *sim; /* borrowed, as all here */
    enum sim_end end;
    uint8_t mac[6];
    const char *ipv4, *ipv6;
    uint64_t seed;                    /* of its TCP: ISS, ports; of its CM */
    uint16_t port;                    /* where its CM listens */
    const struct defect_set *defects; /* NULL: by the book */
    unsigned resets_every;            /* each n-th connection to it is reset as it opens; 0: none */
};

/* A device that is switched on, attached to its end of the wire. NULL with a sentence. */
struct sim_device *sim_device_new(const struct sim_device_config *config, struct iwarp_sentence *error);

/* Switched off: connections vanish without a word. The world may not be run until another node is attached. */
void sim_device_free(struct sim_device *device);

/* One request line to its upper tester; the answer is the caller's to free(). NULL: memory is short. */
char *sim_device_command(struct sim_device *device, const char *request);
struct json_t *sim_device_answer(struct sim_device *device, const struct json_t *request);

#endif
