/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP packets in Ethernet frames and out of them: over IP as protocol 132, or in UDP datagrams (RFC 6951). */
#ifndef GENERATOR_SCTP_IP_H
#define GENERATOR_SCTP_IP_H

#include "generator/packet/packet_fragment.h"
#include "generator/sctp/sctp.h"

struct sctp_datagram {
    struct net_address source, destination;
    const uint8_t *ethernet_source; /* 6 octets, in the frame */
    const uint8_t *packet;          /* from the common header on, in the frame */
    size_t octets;
};

/*
 * Reads a frame with IPv4 (options are allowed) or IPv6 (without extension headers) and SCTP; with `udp_port` other
 * than 0, SCTP in UDP to that port, whose checksum is not checked, because SCTP has its own. False: it is no such
 * frame, it is a fragment, it is cut, or the IPv4 header's checksum is wrong. Octets after the IP datagram are left
 * out.
 */
bool sctp_ip_open(const uint8_t *frame, size_t octets, uint16_t udp_port, struct sctp_datagram *out);

/*
 * Returns the frame itself. For an IP fragment: the frame of the whole packet once all fragments have arrived, and NULL
 * before. `*reassembly` is NULL at first, and the caller frees it. If memory is short, a fragment is lost.
 */
const uint8_t *sctp_ip_whole(struct packet_reassembly **reassembly, const uint8_t *frame, size_t *octets);

/* UDP ports below SCTP; both 0: it is over IP. */
struct sctp_ip_ports {
    uint16_t source, destination;
};

/*
 * Builds the frame that sctp_ip_open() reads, of `octets` of an SCTP packet; `ip` says the addresses, its protocol is
 * set here. Returns the frame's octets, 0 when it does not fit or the families differ.
 */
size_t sctp_ip_build(uint8_t *frame, size_t room, const struct packet_ip *ip, const struct sctp_ip_ports *udp,
                     const uint8_t *packet, size_t octets);

#endif
