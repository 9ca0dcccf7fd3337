/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the CM endpoint share: cm_endpoint.c has exchanges, sending and time, cm_endpoint_input.c has
 * input.
 */
#ifndef GENERATOR_CM_ENDPOINT_INTERNAL_H
#define GENERATOR_CM_ENDPOINT_INTERNAL_H

#include "generator/cm/cm_endpoint.h"

enum { CM_ENDPOINT_SEEN = 8 };

#define CM_CLOSE_INTERVAL_NS UINT64_C(500000000)

struct cm_exchange {
    struct cm_exchange *next; /* of the endpoint, the newest first */
    struct cm_endpoint *endpoint;
    struct cm_exchange_status status;
    uint32_t peer_qpn;
    bool offered;  /* a REQ came, and cm_endpoint_accept() has not taken it */
    bool released; /* the caller has released it; it is freed at `until` */
    uint64_t until;

    uint8_t last[MAD_OCTETS]; /* sent last */
    bool has_last;
    struct cm_sending sending;
    unsigned left;            /* attempts of it */
    uint64_t begun, deadline; /* of its first attempt; of the next one, or of the wait after the last */

    struct cm_received queue[CM_EXCHANGE_QUEUE]; /* a ring */
    unsigned first, count;
    uint64_t seen[CM_ENDPOINT_SEEN]; /* hashes of received MADs, to recognise repeated ones */
    unsigned seen_count;
};

struct cm_endpoint {
    struct cm_endpoint_config config;
    uint64_t noise, next_transaction, ca_guid, now, strangers;
    uint32_t next_id, next_qpn;
    struct cm_exchange *exchanges;
    size_t count;
};

/* An exchange for a REQ that came; NULL: no room, or too many wait. */
struct cm_exchange *cm_endpoint_request(struct cm_endpoint *endpoint, const struct net_address *peer,
                                        const uint8_t *mad);

/* Sends one MAD at once; the MAD that is being repeated stays the same. */
void cm_exchange_emit(const struct cm_exchange *exchange, const uint8_t *mad, uint32_t icrc_flip);

/* Sends a DREQ, a DREP, or a REJ of the message `rejected` by this exchange's IDs. */
void cm_exchange_end(struct cm_exchange *exchange, enum cm_attribute attribute, unsigned rejected);

#endif
