/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CM message as RoCEv2 carries it (Annex A17): the payload of a UDP datagram to port 4791 is a UD Send Only packet
 * from queue pair 1 to queue pair 1.
 *
 *     +----------+-----------+----------+-------+
 *     |  BTH 12  |  DETH 8   | MAD 256  | ICRC 4|
 *     +----------+-----------+----------+-------+
 *
 * The ICRC covers the headers of IP and UDP too, but for what routers change; a program that has a UDP socket sees
 * neither the identification nor the flags of a packet that came.
 */
#ifndef WIRE_ROCE_H
#define WIRE_ROCE_H

#include "wire/infiniband.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { UD_MAD_OCTETS = BTH_OCTETS + DETH_OCTETS + MAD_OCTETS + ICRC_OCTETS };

/* What of a UD packet to queue pair 1 is not the same in all of them. */
struct ud_header {
    uint32_t psn;  /* 24 bits */
    bool migrated; /* M; Linux rxe leaves it 0 */
    bool ack;      /* A; Linux rxe sets it */
};

/* BTH, DETH and MAD, and four octets of zero in place of the ICRC. */
void ud_mad_pack(uint8_t out[UD_MAD_OCTETS], const struct ud_header *header, const uint8_t mad[MAD_OCTETS]);

/*
 * The MAD in a UD packet of `count` octets from the BTH up to and with the ICRC, borrowed; NULL when it is none:
 * another opcode, queue pair, Q_Key or size.
 */
const uint8_t *ud_mad_parse(const uint8_t *octets, size_t count);

/* What the ICRC covers of the headers before the BTH. */
struct roce_path {
    uint8_t family; /* 4 or 6 */
    uint8_t source[16], destination[16];
    uint16_t source_port, destination_port;
    uint16_t identification; /* IPv4 alone, as is... */
    bool may_fragment;       /* ...the flag DF, which is not set then */
};

/* The ICRC of a packet of UD_MAD_OCTETS that goes, or came, this way, as it stands on the wire: low octet first. */
uint32_t roce_icrc(const struct roce_path *path, const uint8_t packet[UD_MAD_OCTETS]);

/* ud_mad_pack(), with the ICRC for that way. */
void roce_pack(uint8_t out[UD_MAD_OCTETS], const struct roce_path *path, const struct ud_header *header,
               const uint8_t mad[MAD_OCTETS]);

/* True when the packet, of UD_MAD_OCTETS, ends in that way's ICRC. */
bool roce_icrc_good(const struct roce_path *path, const uint8_t packet[UD_MAD_OCTETS]);

#ifdef __cplusplus
}
#endif

#endif
