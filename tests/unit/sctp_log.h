/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An association (tests/unit/sctp_talk.h) whose frames are kept, and what the decoder reports of them as notation
 * lines, with the direction before each; "*" before those of the association itself.
 */
#ifndef TESTS_UNIT_SCTP_LOG_H
#define TESTS_UNIT_SCTP_LOG_H

#include "conformance/flow/event/flow.h"
#include "tests/unit/sctp_talk.h"

enum { FRAMES = 512, LOG = 1 << 16 };

extern struct sctp_log {
    uint8_t octets[FRAMES][2048];
    size_t count[FRAMES];
    size_t frames;
    char log[LOG];
    struct flow_totals totals;
    bool late, roles_known;
    unsigned ends;
} sctp_log;

/* A talk whose frames are kept. */
void sctp_log_begin(struct sctp_talk *talk, bool draft);

/* Decodes `count` of the frames kept, in this order (NULL: as they were kept). */
void sctp_log_decode(const size_t *order, size_t count);

/* A session on SID 1. */
void sctp_log_session(struct sctp_talk *talk);

/* A frame to be kept (struct sctp_talk.give), and an event to be logged (a flow_sink). */
void sctp_log_keep(void *ctx, const uint8_t *octets, size_t count);
void sctp_log_note(void *ctx, const struct flow_event *event);

/* The lines of a Send, and of sctp_log_session(). */
#define SEND(n, octets) "Send qn 0 msn " #n " mo 0 L len " #octets "\n"
#define SCTP_LOG_OF_SESSION                                                                                            \
    "0 SCTP DDP Enhanced Initiate ssn 0 ird 1 ord 1, 5 octets private data\n"                                          \
    "1 SCTP DDP Enhanced Accept ssn 0 ird 1 ord 1, 0 octets private data\n"                                            \
    "0 " SEND(1, 10) "0 " SEND(2, 20) "1 " SEND(1, 30) "0 SCTP DDP Terminate ssn 3\n"                                  \
                                                       "1 SCTP DDP Terminate ssn 2\n"

#endif
