/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two stacks over libusrsctp on a wire in memory that loses, doubles and reorders packets; a seed decides the wire, the
 * text (RFC 5043 or the draft), path MTU, number of streams, depths, and the traffic of each stream (sim_traffic.h).
 * libusrsctp asks the system for the time: sctp_sim_run() answers in the system's place, so that a retransmission takes
 * no time of the test.
 */
#ifndef TESTS_UNIT_SCTP_SIM_H
#define TESTS_UNIT_SCTP_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sentence.h"

/* What the wires of all runs did. */
struct sctp_sim_counts {
    uint64_t packets, lost, doubled, late; /* late: others overtook them */
};

/* False: this build has no libusrsctp. */
bool sctp_sim_there(void);

/*
 * 0 when every octet and every completion came as it should, in order, and all streams and both associations ended; -1
 * with a sentence. `counts` may be NULL.
 */
int sctp_sim_run(uint64_t seed, struct sctp_sim_counts *counts, struct iwarp_sentence *sentence);

#endif
