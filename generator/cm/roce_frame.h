/* SPDX-License-Identifier: BSD-2-Clause */
/* MADs in RoCEv2 frames (wire/roce.h): one built as an endpoint sends it, and one read that came from anybody. */
#ifndef GENERATOR_ROCE_FRAME_H
#define GENERATOR_ROCE_FRAME_H

#include "generator/packet/packet.h"
#include "wire/roce.h"

enum { ROCE_FRAME_MAX = 14 + 40 + 8 + UD_MAD_OCTETS };

struct roce_ends {
    uint8_t source_mac[6], destination_mac[6];
    struct net_address source, destination; /* both of one family */
    uint32_t psn;
    uint32_t icrc_flip; /* bits of the ICRC that are wrong; 0: it is correct */
};

/*
 * The frame, from and to UDP port 4791, with UDP checksum and ICRC. Returns its octets; 0: the families differ, or it
 * does not fit.
 */
size_t roce_frame_build(uint8_t *frame, size_t room, const struct roce_ends *ends, const uint8_t mad[MAD_OCTETS]);

struct roce_frame {
    struct net_address source, destination;
    const uint8_t *source_mac; /* 6 octets, in the frame */
    const uint8_t *mad;        /* 256 octets, in the frame */
    bool icrc_good;
};

/* False: no whole UD packet to queue pair 1 at UDP port 4791. Fragments and IPv6 extension headers are passed over. */
bool roce_frame_parse(struct roce_frame *out, const uint8_t *frame, size_t octets);

#endif
