/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CM endpoint (generator/cm) as a tester: its MADs are RoCEv2 packets from and to UDP port 4791 of the rig's own
 * address. The rig's TCP answers ARP and neighbour solicitation for that address, and knows the device's MAC.
 */
#ifndef CONFORMANCE_ENGINE_TESTER_CM_H
#define CONFORMANCE_ENGINE_TESTER_CM_H

#include "conformance/engine/rig/tester.h"
#include "generator/cm/cm_endpoint.h"

struct tcp_stack;

enum { TESTER_CM_WAITING = 8 };

/* A MAD that waits until the device's MAC is known. */
struct tester_cm_waiting {
    struct net_address to;
    uint8_t mad[MAD_OCTETS];
    uint32_t icrc_flip;
};

struct tester_cm {
    struct tester tester;
    struct rig *rig;
    struct cm_endpoint *endpoint; /* NULL: the rig has no CM */
    uint32_t psn;                 /* of the next packet from queue pair 1 */
    uint8_t mac[6];
    struct tester_cm_waiting waiting[TESTER_CM_WAITING];
    size_t waiting_count; /* a MAD without room here is lost, as on a wire */
};

/*
 * A CM endpoint on the rig, whose TCP and addresses are there. 0, or -1 with a sentence. tester_cm_close() frees its
 * endpoint.
 */
int tester_cm_open(struct tester_cm *cm, struct rig *rig, const uint8_t mac[6], uint64_t seed,
                   struct iwarp_sentence *error);

/* Frees the endpoint; nothing is sent. A tester that was not opened is allowed. */
void tester_cm_close(struct tester_cm *cm);

#endif
