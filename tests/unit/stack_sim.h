/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two streams, each over our own TCP, on one simulated wire that loses, doubles and reorders frames; a seed decides the
 * wire, the set-up (Rev, Markers, CRC, depths, RTR, MSS, whether TCP hands octets early), how octets are cut into
 * segments, and the traffic: Sends, Writes and Reads in both directions at once. It stands apart from any test so that
 * a soak can use it.
 */
#ifndef TESTS_UNIT_STACK_SIM_H
#define TESTS_UNIT_STACK_SIM_H

#include <stdint.h>

#include "generator/link/link.h"
#include "base/sentence.h"

/*
 * 0 when every octet and every completion came as it should, in order, and both sides closed; -1 with a sentence.
 * The number of segments that were placed after a gap is added to *early (may be NULL).
 */
int stack_sim_run(uint64_t seed, uint64_t *early, struct iwarp_sentence *sentence);

/* Sees the frames of the wire. Both have `inbound` set for those towards the responder. */
struct stack_sim_taps {
    link_tap *sent;      /* each as its sender sends it, also when the wire loses it; NULL: not called */
    link_tap *delivered; /* each as it arrives */
    void *context;
};

/* The same world with taps; they change nothing in it. */
int stack_sim_run_tapped(uint64_t seed, const struct stack_sim_taps *taps, struct iwarp_sentence *sentence);

#endif
