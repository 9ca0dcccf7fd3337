/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses that INIT and INIT ACK list (RFC 9260 3.3.2.1): libusrsctp lists none of an endpoint that has functions below it. */
#ifndef REFERENCE_STACK_USER_SCTP_INIT_H
#define REFERENCE_STACK_USER_SCTP_INIT_H

#include <stddef.h>
#include <stdint.h>

/* Octets of a packet with its addresses, at most: an INIT ACK with its cookie has some hundred. */
enum { USER_SCTP_INIT_ROOM = 2048 };

/*
 * Writes the SCTP packet, whose last chunk is an INIT or INIT ACK, into `listed` (room for USER_SCTP_INIT_ROOM octets), with so
 * many IPv4 Address parameters after those that it has: 192.0.2.1 and so on. The checksum is left as it was. Returns
 * its octets; 0: it has no such chunk, or there is no room, and nothing was written.
 */
size_t user_sctp_list_addresses(const uint8_t *packet, size_t octets, unsigned addresses, uint8_t *listed);

#endif
