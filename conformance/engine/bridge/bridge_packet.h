/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a bridge rewrites in a frame: TCP's numbers (RFC 9293 3.1), its SACK blocks (RFC 2018 3), and the checksums over
 * them and over SCTP, also in UDP. Ethernet with VLAN tags, IPv4 and IPv6 without extension headers, not in fragments; all other frames are not read.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_PACKET_H
#define CONFORMANCE_ENGINE_BRIDGE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/bridge/bridge_map.h"

enum {
    BRIDGE_HEADERS_MOST = 14 + 4 * 4 + 60 + 60,
    BRIDGE_PROTOCOL_TCP = 6,
    BRIDGE_PROTOCOL_SCTP = 132,
    BRIDGE_UDP_OCTETS = 8
};

/* Offsets in the frame, and what the headers say. */
struct bridge_packet {
    uint8_t family; /* 4 or 6 */
    uint8_t protocol;
    size_t ip, transport, payload, end;     /* `end`: after the IP packet; Ethernet's padding follows */
    size_t udp;                             /* SCTP in UDP (RFC 6951): that header; 0: none */
    const uint8_t *source, *destination;    /* addresses, network order */
    uint16_t source_port, destination_port; /* TCP and SCTP */
    /* TCP: */
    uint32_t sequence, acknowledgment;
    uint16_t window, mss; /* mss: 0: no option */
    uint8_t flags;        /* enum tcp_flag */
    uint8_t scale;        /* of a SYN */
    bool scaled;          /* it has the option */
};

/*
 * False: no TCP or SCTP packet that is whole, or one in a form that is not read. It points into the frame. UDP is SCTP's where
 * the checksum of SCTP is right: the port alone says nothing.
 */
bool bridge_packet_parse(const uint8_t *frame, size_t octets, struct bridge_packet *packet);

/*
 * Completes a checksum of TCP or UDP that the sender's kernel has left to a network card (it holds the sum of the
 * pseudo-header alone), and SCTP's where it is zero: behind a cable of the same machine nobody would. True: it was so.
 */
bool bridge_packet_complete(uint8_t *frame, size_t octets);

/* Corrects lengths and checksums of a frame whose packet ends at packet->end now. */
void bridge_packet_mend(uint8_t *frame, const struct bridge_packet *packet);
/* Those of UDP below SCTP alone: something of the packet was changed after that. */
void bridge_packet_mend_udp(uint8_t *frame, const struct bridge_packet *packet);

/*
 * Translates the acknowledgment number, the SACK blocks and the window of a TCP segment into the numbers of the sender of
 * the other direction, whose octets `map` has; `scale` is that of its window. Checksums are not mended. True: it changed.
 */
bool bridge_packet_acknowledge(uint8_t *frame, const struct bridge_packet *packet, const struct bridge_map *map,
                               uint8_t scale);

#endif
