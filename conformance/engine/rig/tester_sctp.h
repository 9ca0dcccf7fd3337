/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SCTP endpoint (generator/sctp/sctp_host.h) as a tester: its packets go to the rig's device in IP datagrams, or in
 * UDP over IP.
 */
#ifndef CONFORMANCE_ENGINE_TESTER_SCTP_H
#define CONFORMANCE_ENGINE_TESTER_SCTP_H

#include "conformance/engine/rig/tester.h"
#include "generator/sctp/sctp.h"
#include "generator/sctp/sctp_host.h"

struct tester_sctp_config {
    uint64_t seed;
    struct rig *rig; /* borrowed: its link, and the addresses of both ends */
    uint8_t own_mac[6];
    uint8_t peer_mac[6];                 /* all zero: not known yet; the rig's TCP finds it out */
    uint16_t own_udp_port, dut_udp_port; /* of SCTP in UDP (RFC 6951); 0: SCTP is over IP */
};

struct tester_sctp {
    struct tester tester;
    struct sctp_host *host; /* NULL: the rig has no SCTP */
    struct tester_sctp_config config;
    uint16_t identification;  /* of the next IPv4 datagram */
    size_t fragment_octets;   /* packets go in IP fragments of so many octets, a multiple of 8; 0: whole */
    bool last_fragment_first; /* ... in reversed order */
    struct packet_reassembly *reassembly;
    uint8_t waiting[SCTP_PACKET_MAX]; /* the latest packet, while the device's MAC is not known */
    size_t waiting_octets;
};

/* 0, or -1 with a sentence. tester_sctp_close() frees the endpoint. `config` is copied. */
int tester_sctp_open(struct tester_sctp *sctp, const struct tester_sctp_config *config, struct iwarp_sentence *error);

/* Frees the endpoint; nothing is sent. A tester that was not opened is allowed. */
void tester_sctp_close(struct tester_sctp *sctp);

#endif
