/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP conversation out of MPA start-up frames and FPDUs, as raw IPv4 frames: right by default, with one change if
 * wished. Units (start-up frames and FPDUs) are numbered from 0 in the order in which they are added; each is one TCP
 * segment. Direction 0 is the Initiator's, who also opens TCP.
 */
#ifndef TESTS_UNIT_CONVERSATION_H
#define TESTS_UNIT_CONVERSATION_H

#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"
#include "conformance/rules/rule_list.h"

struct conversation;

/*
 * One change to one unit. `where`: in the start-up frame, in the ULPDU before its FPDU is made, or in the whole
 * FPDU.
 */
struct conversation_change {
    int unit; /* -1: none */
    enum { CHANGE_CONTENT, CHANGE_FRAMED } where;
    unsigned offset;
    unsigned count;
    uint8_t octets[8];
};

struct conversation *conversation_create(const struct conversation_change *change);
void conversation_free(struct conversation *conversation);

/* SYN, SYN/ACK, ACK; both sides announce `mss` (0: no option). */
void conversation_open(struct conversation *conversation, uint16_t mss);

/* A start-up frame. What the frames say of M and C rules the FPDUs after them. */
void conversation_start(struct conversation *conversation, unsigned direction, const struct iwarp_mpa_start *start);

/* Sets by hand how FPDUs are framed from here on. */
void conversation_framing(struct conversation *conversation, unsigned direction, bool markers, bool crc);

/* One FPDU with a DDP Segment of that header (ddp_pack_header()'s) and `octets` of payload, NULL for a pattern. */
void conversation_segment(struct conversation *conversation, unsigned direction, const struct ddp_segment *header,
                          const void *payload, size_t octets);

/* One FPDU with any ULPDU. */
void conversation_ulpdu(struct conversation *conversation, unsigned direction, const void *ulpdu, size_t octets);

/* Computes the CRC of that unit anew, as a sender does who gets it wrong. */
typedef void spoil_function(uint8_t *fpdu, size_t octets, uint32_t position);
void conversation_spoil(struct conversation *conversation, int unit, spoil_function *spoil);

/* From here on FPDUs go in TCP segments of so many octets, wherever these cut. 0: one segment each. */
void conversation_pieces(struct conversation *conversation, size_t octets);

/* Shorthands; msn, mo and to as on the wire. */
void conversation_send(struct conversation *conversation, unsigned direction, enum iwarp_rdmap_opcode opcode,
                       uint32_t msn, uint32_t mo, bool last, size_t octets);
void conversation_tagged(struct conversation *conversation, unsigned direction, enum iwarp_rdmap_opcode opcode,
                         uint32_t stag, uint64_t to, bool last, size_t octets);
void conversation_read(struct conversation *conversation, unsigned direction, uint32_t msn, uint32_t sink_stag,
                       uint64_t sink_to, uint32_t octets);
void conversation_terminate(struct conversation *conversation, unsigned direction, const struct terminate *terminate);

/* The DDP header and ULPDU length of the last FPDU added, for Terminates that quote it. */
const uint8_t *conversation_quote(const struct conversation *conversation, size_t *ulpdu_length);

/* Any octets in one TCP segment. */
void conversation_octets(struct conversation *conversation, unsigned direction, const void *octets, size_t count);

/* Any raw IP frame. */
void conversation_frame(struct conversation *conversation, unsigned direction, const uint8_t *octets, size_t count);

void conversation_close(struct conversation *conversation, unsigned direction, bool reset);

/* One frame left out, captured twice, or exchanged with the next. False when there is no such frame. */
bool conversation_drop(struct conversation *conversation, size_t frame);
bool conversation_repeat(struct conversation *conversation, size_t frame);
bool conversation_exchange(struct conversation *conversation, size_t frame);

/* A frame and the next, one of each direction, pass each other on the wire. False when there are no such frames. */
bool conversation_cross(struct conversation *conversation, size_t frame);

/* Leaves out all frames of one direction. */
void conversation_one_way(struct conversation *conversation, unsigned direction);

/*
 * The ring loses all frames of one direction from that one on (from 0), and says so before the next one. False when there
 * is no such frame.
 */
bool conversation_lose(struct conversation *conversation, unsigned direction, size_t from);

/* Leaves out the first frames. */
void conversation_drop_first(struct conversation *conversation, size_t frames);

/* What the rules say of the conversation: verdict of each rule, -1 for one that was not exercised. */
struct verdicts {
    int verdict[RULE_COUNT];
    uint64_t passes[RULE_COUNT];
    uint64_t findings[RULE_COUNT];
    char message[RULE_COUNT][160];
    const char *cause[RULE_COUNT]; /* of the last finding; NULL: none */
    int direction[RULE_COUNT];     /* its sender's */
    uint64_t frame[RULE_COUNT];    /* of the first one, from 1 */
    unsigned flows;
};

void conversation_judge(const struct conversation *conversation, bool thorough, struct verdicts *verdicts);

void conversation_judge_with(const struct conversation *conversation, const struct rule_config *config,
                             struct verdicts *verdicts);

#endif
