/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP packets in fragments (RFC 791 3.2, RFC 8200 4.5): a frame is cut into the frames of its fragments, and fragments
 * are put together again.
 */
#ifndef GENERATOR_PACKET_FRAGMENT_H
#define GENERATOR_PACKET_FRAGMENT_H

#include "generator/packet/packet.h"

#define PACKET_FRAGMENT_UNIT 8 /* offsets count these octets */

/*
 * Writes the `index`-th fragment (from 0) of the packet in `frame`, a whole Ethernet frame without VLAN tags, into
 * `out`: each fragment but the last carries `size` octets of what follows the IP header, a multiple of 8. IPv4: Don't
 * Fragment is cleared. IPv6: `identification` goes into the fragment header; IPv4 keeps its own. Returns the fragment's
 * length in octets, or 0: there is no such fragment, `size` is 0 or no multiple of 8, the frame is no IP packet, or
 * `capacity` is too small.
 */
size_t packet_fragment(uint8_t *out, size_t capacity, const uint8_t *frame, size_t octets, size_t size, size_t index,
                       uint32_t identification);

/* How many fragments of `size` octets the packet has; 0 as above. */
size_t packet_fragments(const uint8_t *frame, size_t octets, size_t size);

/*
 * A reassembly buffer for a few packets at once; the packet that waits longest makes room for another. NULL when memory
 * is out. Free it with packet_reassembly_free(); NULL is allowed there.
 */
struct packet_reassembly;
struct packet_reassembly *packet_reassembly_new(void);
void packet_reassembly_free(struct packet_reassembly *reassembly);

/*
 * Takes a fragment: `packet` of kind PACKET_FRAGMENT, parsed from `frame`. Returns the frame of the whole packet,
 * *octets long, once the last fragment is there; it is valid until the next call. NULL: it is not whole yet. A fragment
 * that comes twice is dropped; fragments that overlap otherwise end their packet (RFC 5722), and so does one that
 * reaches beyond 65,535 octets.
 */
const uint8_t *packet_reassemble(struct packet_reassembly *reassembly, const struct packet *packet,
                                 const uint8_t *frame, size_t *octets);

#endif
