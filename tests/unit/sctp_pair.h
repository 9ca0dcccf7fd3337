/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two associations on a wire in memory. The wire is as bad as configured, and carries whole messages reliably in
 * the end, as SCTP does with unordered DATA chunks: each message is sent again until it is acknowledged, comes at any
 * time, and is given to the other side once.
 */
#ifndef TESTS_UNIT_SCTP_PAIR_H
#define TESTS_UNIT_SCTP_PAIR_H

#include "iwarp/sctp.h"

struct defect_set;

enum {
    SCTP_ACTIVE,
    SCTP_PASSIVE,
    SCTP_SIDES = 2,
    SCTP_FLIGHT = 96,   /* messages of one side on the wire */
    SCTP_LETTER = 8192, /* octets of one */
    SCTP_EVENTS = 256,
    SCTP_STREAMS = 8, /* streams of one side that the pair looks after */
};

struct sctp_letter {
    uint16_t sid;
    uint32_t ppid;
    bool unordered, control, given, acked;
    size_t count;
    uint8_t octets[SCTP_LETTER];
};

/* A stream, and what it has reported. */
struct sctp_end {
    struct iwarp_stream *stream;
    struct iwarp_event events[SCTP_EVENTS];
    size_t event_count; /* those beyond SCTP_EVENTS are counted alone */
    size_t kinds[IWARP_EVENT_ERROR + 1];
};

struct sctp_pair_side {
    struct iwarp_device *device;
    struct iwarp_association_config config;
    struct iwarp_association *association;
    struct iwarp_association_event events[SCTP_EVENTS];
    size_t event_count;
    struct sctp_end ends[SCTP_STREAMS];
    struct sctp_letter flight[SCTP_FLIGHT]; /* oldest first */
    size_t flight_count;
    uint64_t sent, ordered; /* messages so far, and those without U */
    bool hold;              /* nothing is taken from the association */
    bool silent;            /* nothing that the other side sent is acknowledged */
};

struct sctp_pair {
    struct sctp_pair_side side[SCTP_SIDES];
    uint64_t now;
    uint32_t random;
    unsigned loss; /* of messages and of acknowledgements, in 256 */
    bool shuffle;  /* any message in flight may be next */
    /* Called with each message that is sent, where it is not NULL. */
    void (*look)(void *user, int side, const struct sctp_letter *letter);
    void *user;
};

/* Devices and default configurations; change side[].config, then sctp_pair_open(). */
struct sctp_pair *sctp_pair_new(enum iwarp_sctp_profile profile);
void sctp_pair_open(struct sctp_pair *pair);
void sctp_pair_free(struct sctp_pair *pair);

uint32_t sctp_pair_random(struct sctp_pair *pair, uint32_t below);

/* One message or acknowledgement of either side moves. False: there is nothing to move. */
bool sctp_pair_step(struct sctp_pair *pair);

/* Until there is nothing more to move. */
void sctp_pair_run(struct sctp_pair *pair);

/* Makes a stream, in place `n` of that side. `config` NULL: the defaults. */
struct iwarp_stream *sctp_pair_stream(struct sctp_pair *pair, int side, unsigned n, uint16_t sid,
                                      const struct iwarp_stream_config *config);
void sctp_pair_drop(struct sctp_pair *pair, int side, unsigned n);

/* An established session on the SID, in place `n` of both sides. */
void sctp_pair_session(struct sctp_pair *pair, unsigned n, uint16_t sid);

const struct iwarp_event *sctp_pair_event(const struct sctp_pair *pair, int side, unsigned n,
                                          enum iwarp_event_kind kind);
size_t sctp_pair_count(const struct sctp_pair *pair, int side, unsigned n, enum iwarp_event_kind kind);
size_t sctp_pair_reported(const struct sctp_pair *pair, int side, enum iwarp_association_event_kind kind);

/* A message to that side, out of thin air. */
void sctp_pair_feed(struct sctp_pair *pair, int side, uint16_t sid, uint32_t ppid, const void *octets, size_t count);

/* A control message of RFC 5043: DDP-SSN, Function Code, so many octets of Private Data. */
void sctp_pair_feed_control(struct sctp_pair *pair, int side, uint16_t sid, uint16_t ssn, uint16_t code, size_t octets);

/* A Send of one segment: DDP-SSN, MSN, so many octets. */
void sctp_pair_feed_send(struct sctp_pair *pair, int side, uint16_t sid, uint16_t ssn, uint32_t msn, size_t octets);

/* Octets that leave of an INIT, a SACK and an ABORT, one chunk a packet, summed up; NULL: of the correct stack. */
size_t sctp_pair_leaving(const struct defect_set *defects);

#endif
