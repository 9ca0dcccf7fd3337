/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device on a simulated wire whose LLP is SCTP: libusrsctp on the world's time
 * (reference-stack/transport/sctp_hub.h), the reference stack above it, and its upper tester. sim_device.h is the same
 * with TCP.
 */
#ifndef CONFORMANCE_ENGINE_SIM_SCTP_H
#define CONFORMANCE_ENGINE_SIM_SCTP_H

#include "generator/link/link_sim.h"
#include "generator/packet/packet.h"
#include "wire/ddp_sctp.h"
#include "base/sentence.h"

struct json_t;
struct sim_sctp;
struct defect_set;

/*
 * Octets that the device's SCTP takes at once: 32768 of the shortest segments, which are more than RFC 5043 10 lets be on
 * their way.
 */
#define SIM_SCTP_SEND_ROOM (3u << 19)

struct sim_sctp_config {
    struct sim *sim; /* borrowed, as all here */
    enum sim_end end;
    enum iwarp_sctp_profile profile;
    uint8_t mac[6], peer_mac[6];
    struct net_address own, peer;     /* of one family */
    const struct defect_set *defects; /* NULL: by the book */
};

/* A device that is switched on, attached to its end of the wire. NULL with a sentence: also without libusrsctp. */
struct sim_sctp *sim_sctp_new(const struct sim_sctp_config *config, struct iwarp_sentence *error);

/* Switched off: the world may not be run until another node is attached. NULL is fine. */
void sim_sctp_free(struct sim_sctp *device);

/* One request line to its upper tester; the answer is the caller's to free(). NULL: memory is short. */
char *sim_sctp_command(struct sim_sctp *device, const char *request);
struct json_t *sim_sctp_answer(struct sim_sctp *device, const struct json_t *request);

#endif
