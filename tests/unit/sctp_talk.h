/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SCTP association with DDP as raw IPv4 frames, for tests of the flow and of rules. User messages are put into
 * packets one by one, or several into one; each goes into `frame`, which the caller takes.
 */
#ifndef TESTS_UNIT_SCTP_TALK_H
#define TESTS_UNIT_SCTP_TALK_H

#include "generator/sctp/sctp.h"
#include "wire/ddp.h"

struct sctp_talk {
    void (*give)(void *ctx, const uint8_t *octets, size_t count); /* a raw IP frame */
    void *ctx;
    bool draft;
    uint32_t tag[2];    /* of packets to that side */
    uint32_t tsn[2];    /* of its next DATA chunk */
    uint16_t ssn[2][4]; /* DDP-SSN of its next message on SID 0 to 3 */
    uint32_t msn[2][4];
    struct sctp_packet packet;
    bool bundling; /* chunks wait for talk_flush() */
    unsigned from; /* sender of the packet that is being filled */
    /* what to do otherwise, for DATA chunks from here on */
    bool ordered;
    uint32_t ppid; /* 0: the right one */
    uint16_t mtu;  /* user octets in a chunk, 0: all */
    bool adler;
};

void sctp_talk_begin(struct sctp_talk *talk, bool draft, void (*give)(void *ctx, const uint8_t *octets, size_t count),
                     void *ctx);
/* INIT to COOKIE ACK; indications 0: none. */
void sctp_talk_open(struct sctp_talk *talk, uint32_t indication, uint32_t answer);
/* INIT or INIT ACK alone. */
void sctp_talk_init(struct sctp_talk *talk, unsigned from, const struct sctp_init *init);
struct sctp_init sctp_talk_init_of(const struct sctp_talk *talk, unsigned from, uint32_t indication);
void sctp_talk_chunk(struct sctp_talk *talk, unsigned from, enum sctp_chunk_type type, const void *value,
                     size_t octets);
/* A SACK of all that the other side has sent. */
void sctp_talk_sack(struct sctp_talk *talk, unsigned from);
/* A user message in one DATA chunk (or in fragments of mtu). */
void sctp_talk_user(struct sctp_talk *talk, unsigned from, uint16_t sid, uint32_t ppid, const void *octets,
                    size_t count);
/* A session control message with the next DDP-SSN; resets the numbers by the book. */
void sctp_talk_control(struct sctp_talk *talk, unsigned from, uint16_t sid, uint32_t code, const char *private_data);
/* A DDP Segment with the next DDP-SSN. */
void sctp_talk_segment(struct sctp_talk *talk, unsigned from, uint16_t sid, const struct ddp_segment *header,
                       const void *payload, size_t octets);
/* A whole Send of `octets` octets with the next MSN. */
void sctp_talk_send(struct sctp_talk *talk, unsigned from, uint16_t sid, size_t octets);
void sctp_talk_write(struct sctp_talk *talk, unsigned from, uint16_t sid, size_t octets);
/* Draft: Stream Reset. */
void sctp_talk_reset(struct sctp_talk *talk, unsigned from, uint16_t sid, uint32_t ppid);
/* Closes the packet that was being filled, and gives it. */
void sctp_talk_flush(struct sctp_talk *talk);
void sctp_talk_shutdown(struct sctp_talk *talk);

#endif
