/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CM message as RoCEv2 carries it (Annex A17): the payload of a UDP datagram to port 4791 is a UD Send Only packet
 * from queue pair 1 to queue pair 1.
 *
 *     +----------+-----------+----------+-------+
 *     |  BTH 12  |  DETH 8   | MAD 256  | ICRC 4|
 *     +----------+-----------+----------+-------+
 *
 * The ICRC also covers the headers of IP and UDP, except the fields that routers change. A program with a UDP socket
 * sees neither the identification nor the flags of a received packet.
 */
#ifndef WIRE_ROCE_H
#define WIRE_ROCE_H

#include "wire/infiniband.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { UD_MAD_OCTETS = BTH_OCTETS + DETH_OCTETS + MAD_OCTETS + ICRC_OCTETS };

/* The fields that differ between UD packets to queue pair 1. */
struct ud_header {
    uint32_t psn;  /* 24 bits */
    bool migrated; /* M; Linux rxe leaves it 0 */
    bool ack;      /* A; Linux rxe sets it */
};

/* BTH, DETH and MAD, and four octets of zero in place of the ICRC. */
void ud_mad_pack(uint8_t out[UD_MAD_OCTETS], const struct ud_header *header, const uint8_t mad[MAD_OCTETS]);

/*
 * The MAD in a UD packet of `count` octets, from the BTH to the ICRC; borrowed. NULL: another opcode, queue pair, Q_Key
 * or size.
 */
const uint8_t *ud_mad_parse(const uint8_t *octets, size_t count);

/* The fields before the BTH that the ICRC covers. */
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
