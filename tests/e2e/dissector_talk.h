/* SPDX-License-Identifier: BSD-2-Clause */
/* A conversation of two iWARP peers as two octet streams, and the frames that carry them into a capture file. */
#ifndef TESTS_E2E_DISSECTOR_TALK_H
#define TESTS_E2E_DISSECTOR_TALK_H

#include <stdio.h>

#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

enum { STREAM_MAX = 1 << 16, MARKS_MAX = 256, FRAME_MAX = 9000, FIN = 1, SYN = 2, RST = 4, ACK = 16, MSS = 1460 };

/* Both streams of a connection, and the capture that they go into. */
struct talk {
    uint8_t stream[2][STREAM_MAX];
    size_t octets[2], sent[2];
    size_t mark[2][MARKS_MAX]; /* where units end */
    size_t marks[2];
    struct fpdu_framing framing[2];
    uint32_t isn[2], msn[2][4];
    uint16_t port;
    uint16_t mss; /* option of the SYNs; 0: none */
    bool ipv6;
    unsigned fpdus;
    size_t snap;
    uint64_t time_us;
    uint16_t id;
    FILE *file;
    const char *name;
};

/* A capture file and what makes it. */
struct capture {
    const char *name;
    void (*make)(struct talk *talk);
};

/* dissector_cases.c; ends with a NULL name. */
extern const struct capture more_captures[];

/* A connection anew: both streams empty. */
void talk_open(struct talk *talk);
/* The same with the handshake, and start-up frames in TCP segments of their own. */
void talk_set_up(struct talk *talk, struct mpa_start request, struct mpa_start reply);
/* One frame: octets [from, to) of a side's stream. */
void talk_frame(struct talk *talk, unsigned side, uint8_t flags, size_t from, size_t to);
void talk_handshake(struct talk *talk);
/* All that is not sent yet, in segments of at most `size`. */
void talk_flush(struct talk *talk, unsigned side, size_t size);
void talk_finish(struct talk *talk);
/* A start-up frame; sets the framing. */
void talk_start(struct talk *talk, unsigned side, struct mpa_start start);
/* An FPDU with any ULPDU. */
void talk_ulpdu(struct talk *talk, unsigned side, const uint8_t *octets, size_t count);
/* A segment of a message; `header` stands before the payload, which counts up by 7. */
void talk_segment(struct talk *talk, unsigned side, struct ddp_segment ddp, const uint8_t *header, size_t header_octets,
                  size_t payload);
void talk_untagged(struct talk *talk, unsigned side, enum rdmap_opcode opcode, uint32_t qn, const uint8_t *header,
                   size_t header_octets, size_t payload);
void talk_message_send(struct talk *talk, unsigned side, size_t payload);
/* A Send of several segments of `each` octets. */
void talk_message_long_send(struct talk *talk, unsigned side, unsigned segments, size_t each);
void talk_message_tagged(struct talk *talk, unsigned side, enum rdmap_opcode opcode, uint32_t stag, unsigned segments,
                         size_t each);
void talk_message_read(struct talk *talk, unsigned side, uint32_t octets);
void talk_message_atomic(struct talk *talk, unsigned side, enum atomic_opcode opcode, uint32_t id);
void talk_message_atomic_response(struct talk *talk, unsigned side, uint32_t id);
/* A Terminate that quotes the DDP (and RDMAP) header of the ULPDU that begins at `quoted`. */
void talk_message_terminate(struct talk *talk, unsigned side, wire_result triple, const uint8_t *quoted, bool rdmap);

#endif
