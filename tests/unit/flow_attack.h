/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of what a receiver's TCP accepts: a conversation of eight FPDUs of the Initiator, each of which the
 * Responder acknowledges, into whose middle a test puts segments of its own.
 */
#ifndef TESTS_UNIT_FLOW_ATTACK_H
#define TESTS_UNIT_FLOW_ATTACK_H

#include "tests/unit/flow_talk.h"

enum {
    ATTACK_FPDUS = 8,
    ATTACK_MIDDLE = 4,     /* so many of them before the middle */
    ATTACK_SIZE = 200,     /* octets of each Send */
    ATTACK_FAR = 1 << 18,  /* beyond every window without scale */
    ATTACK_GARBAGE = 1000, /* octets of the longest segment that attack_inject() builds */
    ATTACK_LOOPS = 2,      /* of each test: in the second one the sequence numbers wrap in the middle */
};

/* The two streams. */
struct talk *attack_talk(int loop);
/* FPDUs [from, to) of the Initiator, each acknowledged. */
void attack_fpdus(struct talk *talk, size_t from, size_t to);
/* The start-up frames, and the FPDUs before the middle. */
void attack_begin(struct talk *talk);
/* A new conversation from its SYNs up to its middle; that is returned as an offset of the Initiator's stream. */
size_t attack_middle(struct talk **talk, int loop);
/* Octets that are not the stream's at an offset of the stream of `side`, with an acknowledgment that fits. */
void attack_inject(struct talk *talk, unsigned side, size_t at, uint8_t flags, size_t octets);
/* Ends the capture; asserts that all FPDUs came out as if nothing had been, and that the octets add up. */
void attack_expect_all(struct talk *talk, const char *what);
/* The same after the FPDUs from the middle on. */
void attack_expect_rest(struct talk *talk, const char *what);

#endif
