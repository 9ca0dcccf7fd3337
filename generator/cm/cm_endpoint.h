/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tester's CM endpoint (IBTA volume 1, 12.9). It sends any MAD that it is given, also an invalid one. It manages
 * the IDs and timers of both sides, so that no exchange disturbs the next one. Sans-I/O: MADs and the time go in, MADs
 * go out through a callback. The same seed and the same calls give the same octets.
 *
 * Each exchange has a Local Communication ID, transaction, QPN and starting PSN that no other exchange of the endpoint
 * has had. So the tester does not cause rejections with reason 10 (stale) or 30 (duplicate).
 *
 *     cm_exchange_open()     a client's, nothing is sent yet      cm_endpoint_accept()   a server's, of a REQ that came
 *     cm_exchange_send()     any MAD, once or until it is answered
 *     cm_exchange_next()     what came, in order; repeated MADs are counted apart
 *     cm_exchange_release()  ends it with a REJ or DREQ; late and repeated MADs of it are answered for a while
 */
#ifndef GENERATOR_CM_ENDPOINT_H
#define GENERATOR_CM_ENDPOINT_H

#include "generator/packet/packet.h"
#include "wire/cm_pack.h"
#include "base/sentence.h"

#define CM_ENDPOINT_NEVER UINT64_MAX

enum { CM_EXCHANGE_QUEUE = 16, CM_ENDPOINT_ACCEPTS = 16, CM_ENDPOINT_EXCHANGES = 8192 };

struct cm_endpoint;
struct cm_exchange;

struct cm_endpoint_config {
    uint64_t seed;
    /* Sends a MAD; `icrc_flip`: the bits of its ICRC to invert. */
    void (*emit)(void *context, const struct net_address *to, const uint8_t mad[MAD_OCTETS], uint32_t icrc_flip);
    void *context;
};

enum cm_exchange_state {
    CM_EXCHANGE_NEW,
    CM_EXCHANGE_REQUESTED,   /* the REQ went out, or came */
    CM_EXCHANGE_REPLIED,     /* the REP came, or went out */
    CM_EXCHANGE_ESTABLISHED, /* the RTU too */
    CM_EXCHANGE_CLOSING,     /* a DREQ went out */
    CM_EXCHANGE_ENDED,       /* by REJ, DREP, or the peer's DREQ */
};

/* The state of an exchange. */
struct cm_exchange_status {
    enum cm_exchange_state state;
    bool client;
    struct net_address peer;
    uint32_t local_id, remote_id; /* remote_id 0: not known yet */
    uint64_t transaction;         /* of its REQ */
    uint32_t qpn, psn;            /* own; 24 bits */
    uint64_t ca_guid;             /* own */
    bool waiting;                 /* the last MAD may still be answered: attempts or time of an MRA are left */
    unsigned attempts;            /* how often it was sent */
    unsigned repeated;            /* MADs that came once more */
    unsigned lost;                /* MADs dropped because the queue was full */
    uint64_t answered_ns;         /* from the first attempt to the first answer; 0: none, or after a second attempt */
};

/* One MAD that came. */
struct cm_received {
    uint8_t mad[MAD_OCTETS];
    bool icrc_good;
    uint64_t time_ns;
};

/* NULL with a sentence: no memory. */
struct cm_endpoint *cm_endpoint_new(const struct cm_endpoint_config *config, struct iwarp_sentence *error);

/* Frees it and all its exchanges; nothing is sent. NULL is allowed. */
void cm_endpoint_free(struct cm_endpoint *endpoint);

/* Accepts a MAD from any sender at time `now`. A MAD that is not a REQ and belongs to no exchange is only counted. */
void cm_endpoint_input(struct cm_endpoint *endpoint, const struct net_address *from, const uint8_t mad[MAD_OCTETS],
                       bool icrc_good, uint64_t now);

/* When cm_endpoint_tick() has to be called next; CM_ENDPOINT_NEVER: no timer runs. */
uint64_t cm_endpoint_deadline(const struct cm_endpoint *endpoint);
void cm_endpoint_tick(struct cm_endpoint *endpoint, uint64_t now);
/* Sets the time for later calls that send. */
void cm_endpoint_set_time(struct cm_endpoint *endpoint, uint64_t now);

/* A client's exchange with the peer. NULL with a sentence: no memory, or CM_ENDPOINT_EXCHANGES are open. */
struct cm_exchange *cm_exchange_open(struct cm_endpoint *endpoint, const struct net_address *peer,
                                     struct iwarp_sentence *error);

/*
 * Accepts the oldest waiting REQ as a server's exchange; cm_exchange_next() then returns the REQ. NULL: none waits.
 */
struct cm_exchange *cm_endpoint_accept(struct cm_endpoint *endpoint);

/* Rejects and forgets all REQs that were not accepted. */
void cm_endpoint_forget(struct cm_endpoint *endpoint);

/* The number of MADs so far that belonged to no exchange. */
uint64_t cm_endpoint_strangers(const struct cm_endpoint *endpoint);

struct cm_sending {
    unsigned attempts;    /* 0, 1: once */
    uint64_t interval_ns; /* between two attempts; also the wait for an answer to the last */
    uint32_t icrc_flip;
};

/* Sends the octets unchanged, and repeats the MAD until an answer arrives or all `attempts` are used. */
void cm_exchange_send(struct cm_exchange *exchange, const uint8_t mad[MAD_OCTETS], const struct cm_sending *sending);

/* Reads the oldest received MAD; false: there is none. */
bool cm_exchange_next(struct cm_exchange *exchange, struct cm_received *received);

void cm_exchange_status(const struct cm_exchange *exchange, struct cm_exchange_status *status);

/* Ends the exchange for the caller and notifies the peer. The pointer must not be used again. */
void cm_exchange_release(struct cm_exchange *exchange);

#endif
