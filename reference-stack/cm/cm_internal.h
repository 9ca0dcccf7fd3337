/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent from inside: its exchanges, and what the files of this folder do for one another. */
#ifndef REFERENCE_STACK_CM_INTERNAL_H
#define REFERENCE_STACK_CM_INTERNAL_H

#include <string.h>

#include "reference-stack/base/deadlines.h"
#include "reference-stack/base/misuse.h"
#include "reference-stack/base/ring.h"
#include "reference-stack/cm/cm_agent.h"
#include "reference-stack/cm/cm_validation.h"
#include "reference-stack/cm/cm_faults.h"
#include "base/hash.h"

/*
 * The states of IBTA 12.9.5 and 12.9.6 that last; an ended exchange repeats its last MAD if the peer repeats its own.
 */
enum cm_state {
    CM_REQ_SENT,
    CM_ASKED, /* the ULP is to decide */
    CM_REP_SENT,
    CM_ESTABLISHED,
    CM_DREQ_SENT,
    CM_LINGERS,
};

/* Whose REQ it was, and his ID. `secret` keeps strangers from choosing what collides. */
struct cm_peer_key {
    uint64_t secret;
    struct cm_place place;
    uint32_t id;
};

struct cm_exchange {
    struct deadline deadline; /* first: exchange_of() */
    uint32_t local_id;
    enum cm_state state;
    bool client;
    struct cm_peer_key peer; /* id is 0 at a client until the REP is there */
    uint64_t transaction;    /* of the REQ */
    uint64_t closing;        /* ... and of the DREQ */
    uint32_t remote_qpn, qpn;
    uint64_t wait_ns;
    unsigned left; /* repetitions of `last` */
    unsigned mras;
    uint8_t last[MAD_OCTETS]; /* what was sent last: is repeated */
    uint64_t service_id;
    bool in_service;
    struct cm_tuple tuple;
    uint8_t minor;
    struct cm_exchange *older, *newer; /* of those that linger */
    UT_hash_handle by_local, by_peer;
};

struct cm_agent {
    struct cm_agent_config config;
    struct cm_address *own;
    struct cm_listener **listeners;
    size_t listener_count;
    struct cm_exchange *by_local, *by_peer, *lingering;
    struct deadlines deadlines;
    struct ring outputs, events;
    struct cm_agent_counts counts;
    uint64_t secret, noise;
    uint64_t now;
    struct cm_faults *faults; /* NULL in a clean agent */
};

/* The next number of the agent's series. */
uint64_t cm_noise(struct cm_agent *agent);

/* A copy that can be compared as octets: what is not used of it is zero. */
static inline struct cm_place cm_place_of(const struct cm_place *given)
{
    struct cm_place place;

    memset(&place, 0, sizeof(place));
    place.family = given->family;
    memcpy(place.address, given->address, given->family == 4 ? 4 : 16);
    place.port = given->port;
    return place;
}

/* --- cm_exchange.c ----------------------------------------------------------------------------------------------- */

/* A new one, in by_local, with a fresh ID. NULL: no room, no memory. One that lingers makes room. */
struct cm_exchange *cm_exchange_new(struct cm_agent *agent, const struct cm_place *peer);
/* Puts it into by_peer under the peer's ID. -1: no memory. */
int cm_exchange_key(struct cm_agent *agent, struct cm_exchange *exchange, uint32_t peer_id);
void cm_exchange_free(struct cm_agent *agent, struct cm_exchange *exchange);
/* That of an own ID that the sender may speak of, or NULL. */
struct cm_exchange *cm_exchange_find(struct cm_agent *agent, const struct cm_place *from, uint32_t local_id);
/* That of the sender's own ID: only a server's. */
struct cm_exchange *cm_exchange_of_peer(struct cm_agent *agent, const struct cm_place *from, uint32_t peer_id);
/* Waits so long, and repeats `last` so often. */
void cm_exchange_wait(struct cm_agent *agent, struct cm_exchange *exchange, uint64_t wait_ns, unsigned repetitions);
/* It has ended, and answers repeated messages by `last` for a while. */
void cm_exchange_linger(struct cm_agent *agent, struct cm_exchange *exchange);
/* An MRA of the peer prolongs the wait (IBTA 12.6.6). */
void cm_exchange_prolong(struct cm_agent *agent, struct cm_exchange *exchange, const struct cm_message *message);
/* What is due of it. */
void cm_exchange_expire(struct cm_agent *agent, struct cm_exchange *exchange);
uint64_t cm_within(const struct cm_agent_config *config, uint64_t wait_ns);

static inline struct cm_exchange *exchange_of(struct deadline *deadline)
{
    return (struct cm_exchange *)deadline;
}

/* --- cm_message.c ------------------------------------------------------------------------------------------------ */

/* Sends a MAD, after the hooks; `exchange`, which may be NULL, remembers it as its last. */
void cm_send(struct cm_agent *agent, const struct cm_place *to, struct cm_exchange *exchange, uint8_t mad[MAD_OCTETS]);
/* `last` once more. */
void cm_resend(struct cm_agent *agent, const struct cm_exchange *exchange);

/* What a REJ answers. */
struct cm_rejected {
    const struct cm_place *to;
    struct cm_exchange *exchange; /* that keeps it; NULL: none */
    uint64_t transaction;
    uint32_t local_id, remote_id;
    unsigned message; /* Message REJected: 0 REQ, 1 REP, 2 other */
};

/* Sends a REJ for the ULP or a listener. */
void cm_send_refusal(struct cm_agent *agent, const struct cm_rejected *rejected, const struct cm_refusal *refusal);
/* REJ by a validation: its reason, and its ARI as A11 Table 4 lays it out. */
void cm_send_verdict(struct cm_agent *agent, const struct cm_rejected *rejected, const struct cm_verdict *verdict,
                     const struct cm_message *request);
/* REJ with a reason of the CM's own: no ARI. */
void cm_send_reason(struct cm_agent *agent, const struct cm_rejected *rejected, uint16_t reason);
void cm_send_mra(struct cm_agent *agent, const struct cm_exchange *exchange, uint8_t service_timeout);

/* --- cm_agent.c -------------------------------------------------------------------------------------------------- */

/* An event of this kind, with what the exchange knows filled in; NULL: no memory. */
struct cm_event *cm_event_new(struct cm_agent *agent, enum cm_event_kind kind, const struct cm_exchange *exchange);
/* The newest event is complete. */
void cm_event_done(struct cm_agent *agent, struct cm_event *event);
void cm_event_data(struct cm_event *event, const uint8_t *octets, size_t count);
const struct cm_listener *cm_listener_of(const struct cm_agent *agent, uint64_t service_id);

/* --- cm_server.c, cm_client.c, cm_close.c: what came, whole and of a known attribute ----------------------------- */

void cm_handle_request(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
void cm_handle_ready(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
void cm_handle_datagram_request(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
void cm_handle_reply(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
void cm_handle_rejection(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
void cm_handle_mra(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
void cm_handle_disconnect(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);
void cm_handle_disconnected(struct cm_agent *agent, const struct cm_place *from, const struct cm_message *message);

#endif
