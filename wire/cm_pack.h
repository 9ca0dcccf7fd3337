/* SPDX-License-Identifier: BSD-2-Clause */
/* CM messages (wire/cm.h) as they are written: what all senders of MADs share. */
#ifndef WIRE_CM_PACK_H
#define WIRE_CM_PACK_H

#include "wire/cm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A MAD with a CM message's header (IBTA 13.4.3, 12.6), all else zero. */
void cm_begin(uint8_t mad[MAD_OCTETS], enum cm_attribute attribute, uint64_t transaction);

/* Any message but REQ and SIDR: header and both Communication IDs. */
void cm_begin_answer(uint8_t mad[MAD_OCTETS], enum cm_attribute attribute, uint64_t transaction, uint32_t local_id,
                     uint32_t remote_id);

/* Where the message's Private Data begins in the MAD; 92 to 224 octets (cm_attribute_row()). */
uint8_t *cm_private(uint8_t mad[MAD_OCTETS]);

/* Service ID of a protocol's port (A11.5). */
static inline uint64_t ip_cm_service_id(uint8_t protocol, uint16_t port)
{
    return IP_CM_SERVICE_PREFIX | (uint64_t)protocol << 16 | port;
}

/* An address of 4 (family 4) or 16 octets into its field of A11 Table 1; IPv4 after twelve zeros (A11.4.6). */
void ip_cm_set_address(uint8_t out[16], unsigned family, const uint8_t *address);

/* A GID of RoCEv2 (Annex A17): an IPv6 address, or IPv4 as ::ffff:a.b.c.d. A11 Table 1 uses another form for IPv4. */
void roce_set_gid(uint8_t gid[16], unsigned family, const uint8_t *address);

/*
 * The primary path of a REQ over RoCEv2, from an address to another of the same family: LIDs, GIDs, hop limit, rate,
 * ACK timeout.
 */
void cm_req_set_path(uint8_t mad[MAD_OCTETS], unsigned family, const uint8_t *from, const uint8_t *to);

/* Converts a 5-bit timeout of a CM message to ns: 4.096 us times 2 to the power of its value (IBTA 12.7.4). */
static inline uint64_t cm_time_ns(unsigned exponent)
{
    return UINT64_C(4096) << (exponent & 31);
}

#ifdef __cplusplus
}
#endif

#endif
