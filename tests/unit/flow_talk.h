/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of conformance/flow: a conversation of two iWARP peers as two octet streams, and a network that carries
 * them to a decoder in any pieces and order. What the decoder reports is written down as a line of words, so that two
 * decodings can be compared as strings:
 *
 *     o0       TCP open            m0:ok m0:bad m0:more   start-up frame       f0:46 f0:46!crc f0:46!marker f0:46~  FPDU
 *     s0:3.1   RDMA Message: opcode.MSN or octets so far   g0 gap   u0:4 undecoded, reason   c0 c0:rst close   e end
 */
#ifndef TESTS_UNIT_FLOW_TALK_H
#define TESTS_UNIT_FLOW_TALK_H

#include "conformance/flow/decoder.h"

enum { TALK_STREAM = 1 << 17, TALK_FRAME = 1 << 17, TALK_LOG = 1 << 16, TALK_MARKS = 256 };

struct talk {
    /* streams: what each side sends after its SYN */
    uint8_t stream[2][TALK_STREAM];
    size_t octets[2];
    size_t start[2];                /* octets of the start-up frame in front */
    size_t boundary[2][TALK_MARKS]; /* offsets where FPDUs begin, and the end */
    size_t fpdus[2];
    uint32_t msn[2];
    struct fpdu_framing framing[2];
    /* network */
    uint32_t isn[2];
    uint16_t port;
    bool ipv6;
    uint32_t link;
    bool segments;   /* give the TCP segment alone, without link and network headers (Ethernet only) */
    size_t snap;     /* capture at most this many octets of a frame; 0: all */
    bool spoil;      /* build frames with a wrong TCP checksum */
    uint16_t window; /* of what is built; 0: 65535 */
    uint8_t scale;   /* of the windows: an option of SYNs; 0: none */
    uint64_t frame;
    uint64_t time_ns;
    uint8_t frame_octets[TALK_FRAME];
    size_t frame_length;
    /* decoder */
    struct flow_decoder *decoder;
    char log[2][TALK_LOG]; /* by direction; [0] has the flow's own events too */
    unsigned wrong;        /* payloads that are not what was sent */
    unsigned good[2];      /* whole FPDUs with a good CRC and Markers */
    unsigned headers[2];   /* RDMA Messages' segments reported */
    unsigned gaps, undecoded, ends, flows;
    const struct flow *returned; /* what flow_decoder_segment() gave last */
    enum flow_direction returned_direction;
    uint64_t conflicts, retransmitted;
    struct flow_octets sent[2]; /* at the end */
    uint64_t syns_refused, resets_refused, urgent;
    size_t reported[2]; /* octets of a stream in units that were reported */
    size_t received[2]; /* octets of the other side that the sender of the last unit had received */
    unsigned before;    /* units reported before units of the other side that their sender had received */
    bool late, roles_known;
};

struct talk *talk_new(const struct flow_config *config);
void talk_free(struct talk *talk);

/* Start-up frames into the streams; `start` without kind. Sets the framing by M and C of both. */
void talk_start(struct talk *talk, struct iwarp_mpa_start request, struct iwarp_mpa_start reply);
/* The usual ones: Rev 1, so and so much private data, Markers wanted by Initiator / Responder, CRC. */
void talk_start_simple(struct talk *talk, bool initiator_wants, bool responder_wants, bool crc);
/* One Send of `octets` octets, whole. */
void talk_send(struct talk *talk, unsigned side, size_t octets);
/* Any ULPDU. */
void talk_ulpdu(struct talk *talk, unsigned side, const uint8_t *ulpdu, size_t octets);
/* A mix of sizes. */
void talk_mix(struct talk *talk, unsigned side, unsigned count);

void talk_syn(struct talk *talk);
/* Octets [from, to) of a side's stream in one segment. */
void talk_segment(struct talk *talk, unsigned side, size_t from, size_t to);
/* The same with other flags, and an acknowledgment that covers `acked` octets of the other side. */
void talk_segment_with(struct talk *talk, unsigned side, size_t from, size_t to, uint8_t flags, size_t acked);
/* The frame of a segment, without giving it to the decoder: in frame_octets, frame_length. */
void talk_build(struct talk *talk, unsigned side, uint32_t seq, uint32_t ack, uint8_t flags, const uint8_t *payload,
                size_t octets);
void talk_give(struct talk *talk);
/* Both start-up frames, then both streams, in segments of at most `size` octets. */
void talk_all(struct talk *talk, size_t size);
/* Octets [from, to) in segments of at most `size`. */
void talk_run(struct talk *talk, unsigned side, size_t from, size_t to, size_t size);
/* The end of the capture; aborts when the account of it does not add up. */
void talk_finish(struct talk *talk);
/* Octets and items in a row of the account; whether nothing was left unjudged. */
uint64_t talk_octets(const struct talk *talk, enum flow_row row);
uint64_t talk_items(const struct talk *talk, enum flow_row row);
bool talk_whole(const struct talk *talk);

#endif
