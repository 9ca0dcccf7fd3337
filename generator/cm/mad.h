/* SPDX-License-Identifier: BSD-2-Clause */
/* CM messages (wire/cm.h) and the packets that carry them: RoCEv2, RoCEv1, native InfiniBand, ERF. */
#ifndef GENERATOR_MAD_H
#define GENERATOR_MAD_H

#include "generator/sctp/sctp.h"
#include "wire/cm_pack.h"

/* A REQ by the RDMA IP CM Service (Annex A11): from ip:port to ip, of that protocol and port. */
struct ip_cm_request {
    uint32_t local_id;
    uint64_t transaction;
    struct net_address source, destination;
    uint16_t source_port, destination_port;
    uint8_t protocol;
    const uint8_t *consumer; /* at most 56 octets */
    size_t consumer_octets;
};

void mad_ip_request(uint8_t mad[MAD_OCTETS], const struct ip_cm_request *request);

/* A REJ of a REQ; `ari` of `info_octets` octets, at most 72. */
void mad_reject(uint8_t mad[MAD_OCTETS], uint64_t transaction, uint32_t remote_id, uint16_t reason, const uint8_t *ari,
                size_t info_octets);

enum mad_carrier { MAD_ROCE_V2, MAD_ROCE_V1, MAD_INFINIBAND, MAD_INFINIBAND_GLOBAL };

/* Ends of a packet. RoCEv2: addresses of the IP header; else GIDs; InfiniBand: also LIDs. */
struct mad_ends {
    struct net_address source, destination;
    uint16_t source_lid, destination_lid;
    uint32_t psn;
};

/*
 * The packet with its ICRC: RoCE as an Ethernet frame, InfiniBand from the LRH up to the VCRC (zero). Returns its
 * octets, 0 when it does not fit.
 */
size_t mad_packet(uint8_t *out, size_t room, enum mad_carrier carrier, const struct mad_ends *ends,
                  const uint8_t mad[MAD_OCTETS]);

/* An ERF record header of type InfiniBand around `count` octets of packet (LINKTYPE 197). Writes 16 octets. */
void erf_header(uint8_t out[16], uint64_t time_ns, size_t count);

#endif
