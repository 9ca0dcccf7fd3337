/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP packets out of Ethernet frames: the counterpart of packet_build_ip() (sctp.h). */
#ifndef GENERATOR_SCTP_IP_H
#define GENERATOR_SCTP_IP_H

#include "generator/packet/packet.h"

struct sctp_datagram {
    struct net_address source, destination;
    const uint8_t *ethernet_source; /* 6 octets, in the frame */
    const uint8_t *packet;          /* from the common header on, in the frame */
    size_t octets;
};

/*
 * Reads a frame with IPv4 (options are allowed) or IPv6 (without extension headers) and SCTP. False: it is none, it is a
 * fragment, it breaks off, or the IPv4 header's checksum is wrong. Octets after the IP datagram are left out.
 */
bool sctp_ip_open(const uint8_t *frame, size_t octets, struct sctp_datagram *out);

#endif
