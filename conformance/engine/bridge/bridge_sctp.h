/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP associations between the two sides of a bridge (RFC 9260), as DDP uses them (RFC 5043): a packet is taken apart into its
 * chunks, and what a script changes of a DATA chunk is kept by its TSN until the receiver has acknowledged it, so that a
 * retransmission has the same change. Where chunks are inserted or taken away, TSNs and what acknowledges them are translated
 * for the rest of the association: struct bridge_map with a TSN for an octet. What a wrong checksum goes with is changed once:
 * its receiver throws the packet away, and the retransmission goes as it came.
 *
 * Sans-I/O, as bridge_stream.h is. An association with several addresses of one side (RFC 9260 6.4) is one for each pair of
 * addresses here: its numbers are translated as long as both use the same ones.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_SCTP_H
#define CONFORMANCE_ENGINE_BRIDGE_SCTP_H

#include "conformance/engine/bridge/bridge_stream.h"
#include "conformance/engine/bridge/bridge_unit.h"
#include "wire/sctp.h"

enum {
    BRIDGE_ASSOCIATIONS_MOST = 4096, /* that longest without a packet goes first */
    BRIDGE_SESSIONS_MOST = 65536,    /* SIDs of one association */
    BRIDGE_INSERTED_MOST = 64,       /* chunks in one's place */
};

/* What becomes of one DATA chunk. */
struct bridge_chunk_change {
    struct bridge_chunk_change *next; /* by TSN */
    uint32_t tsn;
    bool once;      /* in the next packet that has it alone, with a checksum that is wrong: */
    bool keeps_crc; /* that of the packet as it came; else of the octets before `flips` */
    struct bridge_flip flips[BRIDGE_FLIPS_MOST]; /* in its own octets */
    size_t flip_count;
    size_t octets;
    uint8_t chunks[]; /* with their pads; their TSNs are written as they go */
};

struct bridge_sctp_packet {
    struct bridge_sctp_packet *next;
    struct bridge_packet packet; /* offsets alone are valid */
    size_t octets;
    uint8_t frame[];
};

struct bridge_sctp_direction {
    struct bridge_map map; /* of TSNs */
    struct bridge_chunk_change *changes;
    size_t change_count, change_octets;
    bool changes_known;     /* `changes_acked` is known: */
    uint32_t changes_acked; /* changes before it go when there is no room */
    bool known;
    uint32_t next;   /* after the highest TSN that came */
    bool has_acked;  /* `acked` is known: */
    uint32_t acked;  /* its receiver has everything before, in the receiver's numbers */
    uint32_t window; /* a_rwnd that its sender announced last */
    uint32_t tag;    /* of its sender's INIT (ACK) */
    bool loses;      /* the packet with this TSN is not forwarded, once */
    uint32_t lose;
    enum bridge_wait wait; /* from the chunk with the TSN wait_at on */
    uint32_t wait_at;
    uint64_t wait_until_ns, wait_stream;
    void *wait_owner; /* the caller's */
    uint8_t *swapped; /* the chunk at wait_at, which goes as the next one */
    size_t swapped_octets;
    struct bridge_sctp_packet *held, *held_last;
    size_t held_octets, held_frames;
    uint8_t header[BRIDGE_HEADERS_MOST];    /* of its last packet, the common header of SCTP included */
    struct bridge_packet packet;            /* of that; `payload` 0: none came yet */
    struct bridge_association *association; /* whose it is, and which of its two */
    unsigned side;
    struct bridge_sctp_direction *prev, *next_waiting; /* in sctp->waiting */
};

/* Which connection of iWARP a SID has at present. */
struct bridge_sid {
    uint16_t sid;
    uint16_t zero;
    uint64_t number;
    UT_hash_handle hh;
};

struct bridge_association {
    struct bridge_key key; /* by side; the ports are SCTP's */
    struct bridge_sctp_direction direction[BRIDGE_SIDES];
    bool begun; /* its INIT was seen */
    enum bridge_close closed;
    struct bridge_sid *sids;
    size_t sid_count;
    UT_hash_handle hh;
};

struct bridge_sctp {
    struct bridge_association *all; /* those used last are at the end */
    size_t count;
    struct bridge_sctp_direction *waiting; /* those that stand still, or hold something */
    /* The packet that is being looked at, and whose it is; NULL: none. */
    struct bridge_association *association;
    const uint8_t *frame;
    size_t octets;
    struct bridge_packet packet;
    struct bridge_streams *streams; /* send, expired, mtu, the clock, and what is counted */
    uint8_t *chunks;                /* BRIDGE_SCRATCH: what the packet becomes */
};

/* `streams` is that of TCP's connections. -1: no memory. */
int bridge_sctp_begin(struct bridge_sctp *sctp, struct bridge_streams *streams);
void bridge_sctp_free(struct bridge_sctp *sctp);

/* A packet that came from `side`; it is looked at until bridge_sctp_flush(). NULL: no memory, and it goes as it came. */
struct bridge_association *bridge_sctp_input(struct bridge_sctp *sctp, unsigned side, const uint8_t *frame,
                                             size_t octets, const struct bridge_packet *packet);
/* Forwards it, and what may go since. */
void bridge_sctp_flush(struct bridge_sctp *sctp, unsigned side);
/* The nanoseconds until the next call; UINT64_MAX: nothing waits. */
uint64_t bridge_sctp_time(struct bridge_sctp *sctp, uint64_t now_ns);
/* What is stalled goes on, in all of them. */
void bridge_sctp_release(struct bridge_sctp *sctp);

/* The DATA (I-DATA) chunk of the packet that is looked at; false: it has none with this TSN. */
bool bridge_sctp_chunk(const struct bridge_sctp *sctp, uint32_t tsn, struct sctp_chunk *chunk);

/* Octets of chunks that a packet has room for, of those that the one that is looked at becomes; 0: none. */
size_t bridge_sctp_room(const struct bridge_sctp *sctp, unsigned side);

/* The connection of iWARP that a SID has; `begins`: a new one begins. 0: it began before the bridge, or memory is short. */
uint64_t bridge_sctp_session(struct bridge_sctp *sctp, struct bridge_association *association, uint16_t sid,
                             bool begins);

/*
 * The chunk with this TSN becomes `count` others. -1 with a sentence: too much is changed and not acknowledged yet, or memory
 * is short. `how` has the other members; its `octets` are the caller's.
 */
struct bridge_chunk_edit {
    const uint8_t *chunks;
    size_t octets, count;
    bool keeps_crc;
    const struct bridge_flip *flips;
    size_t flip_count;
};
int bridge_sctp_change(struct bridge_association *association, unsigned side, uint32_t tsn,
                       const struct bridge_chunk_edit *edit, struct iwarp_sentence *error);

/* The direction stands still from this TSN on; one that stands already goes on where it stood. */
void bridge_sctp_wait(struct bridge_sctp *sctp, struct bridge_sctp_direction *direction, enum bridge_wait wait,
                      uint32_t tsn, uint64_t until_ns);
void bridge_sctp_go(struct bridge_sctp *sctp, struct bridge_sctp_direction *direction);

/*
 * Closes the association for both devices, in each other's name: with ABORT, or with SHUTDOWN, at the place that each has
 * received; then what they send is acknowledged and goes nowhere (RFC 9260 9.2).
 */
void bridge_sctp_close(struct bridge_sctp *sctp, struct bridge_association *association, bool abort);

#endif
