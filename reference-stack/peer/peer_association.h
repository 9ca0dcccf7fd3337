/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_association.c: associations of the peer, where its LLP is SCTP; peer_association_verb.c: the verbs that only
 * SCTP has.
 */
#ifndef REFERENCE_STACK_PEER_ASSOCIATION_H
#define REFERENCE_STACK_PEER_ASSOCIATION_H

#include "iwarp/sctp.h"
#include "reference-stack/peer/peer_internal.h"

struct peer_association {
    struct peer_association *next, *prev;
    struct peer *peer;
    struct iwarp_association *association;
    void *transport;
    struct peer_stream *streams; /* those that live */
    struct peer_options options; /* of the sessions that the other side asks for */
    struct deadline deadline;
    uint32_t number;
    uint16_t port;        /* of the listener, 0 for an own connect */
    unsigned pending_max; /* requests that may wait for the upper tester */
    bool up, over;
};

struct peer_association *peer_association_find(const struct peer *peer, uint32_t number);

/*
 * Gives the transport the contents of a listener's INIT ACKs, if it needs them. -1 with a sentence, as
 * peer_association_new().
 */
int peer_association_offer(struct peer *peer, uint16_t port, const struct peer_options *options,
                           struct iwarp_sentence *sentence);

/* Without a transport yet; NULL with a sentence: memory is short, or the configuration is impossible. */
struct peer_association *peer_association_new(struct peer *peer, const struct peer_options *options,
                                              struct iwarp_sentence *sentence);

/* Its streams are dead then, and its transport is released: aborted, if there still is an association of SCTP. */
void peer_association_free(struct peer_association *pa);
void peer_associations_drop(struct peer *peer);
void peer_associations_close(struct peer *peer);

/* A stream belongs to it until peer_association_leave(), which is for any stream. */
void peer_association_join(struct peer_association *pa, struct peer_stream *ps);
void peer_association_leave(struct peer_stream *ps);

/*
 * Asks the other side for a session on ps->sid (-1: a free one): the association is up. The stream is dead where it
 * cannot.
 */
void peer_association_begin(struct peer_stream *ps);

/* All that the association and its streams have to say. It is freed when it is over. */
void peer_association_pump(struct peer_association *pa);

/* What is due at peer->now. */
void peer_association_tick(struct peer *peer);

/* peer_association_verb.c */
extern const struct peer_verb_row peer_association_verbs[];

#endif
