/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP connections between the two sides of a bridge. While a script may change them, a segment that ends within an FPDU
 * is held until the rest of it is there (FRAGMENT_MS at most), so that a change is decided before its first octet has
 * gone. Everything else goes at once, and unchanged as long as nothing was changed in its connection.
 *
 * Sans-I/O: frames in, frames out by a callback, time handed in. Sides are 0 (A) and 1 (B); a direction is named by the
 * side of its sender.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_STREAM_H
#define CONFORMANCE_ENGINE_BRIDGE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "conformance/engine/bridge/bridge_map.h"
#include "conformance/engine/bridge/bridge_packet.h"

enum {
    BRIDGE_SIDES = 2,
    BRIDGE_FRAGMENT_MS = 100, /* of an FPDU, before it goes unchanged */
    BRIDGE_PARTNER_MS = 1000, /* for the FPDU that another one waits for */
    BRIDGE_HELD_MOST =
        16 << 20, /* octets of frames held in one direction; the rest is not forwarded, and TCP repeats it */
    BRIDGE_HELD_FRAMES_MOST = 4096,  /* the same: each frame that comes is compared with those that are held */
    BRIDGE_CONNECTIONS_MOST = 65536, /* that longest without a frame goes first */
    BRIDGE_CUTS_MOST = 64,
};

/* A frame that waits; offsets of `packet` alone are valid, its pointers are not. */
struct bridge_segment {
    struct bridge_segment *next;
    uint32_t from, to; /* its payload, as its sender numbers it */
    struct bridge_packet packet;
    size_t octets;
    uint8_t frame[];
};

/* Why a direction stands still from an octet on. */
enum bridge_wait { BRIDGE_GOES, BRIDGE_DELAYED, BRIDGE_STALLED, BRIDGE_JOINS, BRIDGE_SWAPS };

struct bridge_direction {
    struct bridge_map map;
    bool known, framed;          /* `next` is known; `framed_to` is */
    uint32_t next;               /* before it, everything was forwarded */
    uint32_t framed_to;          /* the last FPDU that is whole ends here */
    struct bridge_segment *held; /* by `from` */
    size_t held_octets, held_frames;
    uint64_t fragment_ns; /* since then a part of an FPDU is held; 0: none is */
    enum bridge_wait wait;
    uint32_t wait_at, wait_end; /* of the octets that wait first: an FPDU, and what it waits for */
    uint64_t wait_until_ns;
    void *wait_owner; /* the caller's */
    uint8_t *swapped; /* the FPDU at wait_at, which comes after the next one */
    size_t swapped_octets;
    uint32_t cuts[BRIDGE_CUTS_MOST]; /* segments end here, in the receiver's numbers */
    size_t cut_count;
    uint32_t lose; /* the segment with this octet is not forwarded, once */
    bool loses;
    uint8_t scale;
    bool scaled; /* its SYN has the option; it is in use when both have it (RFC 7323 2.2) */
    bool has_acked;
    uint32_t acked;                      /* its receiver has everything before, in the receiver's numbers */
    uint8_t header[BRIDGE_HEADERS_MOST]; /* of its last frame, with what was forwarded of it */
    struct bridge_packet packet;         /* of that; `payload` 0: none came yet */
};

struct bridge_key {
    uint8_t address[BRIDGE_SIDES][16];
    uint16_t port[BRIDGE_SIDES];
    uint8_t family;
    uint8_t zero[3];
};

struct bridge_connection {
    struct bridge_key key; /* by side */
    struct bridge_direction direction[BRIDGE_SIDES];
    bool begun;      /* its SYN was seen */
    uint64_t number; /* from 1: which connection of iWARP that began here it is; 0: none of these */
    bool engaged;    /* it is iWARP */
    enum bridge_close { BRIDGE_OPEN, BRIDGE_RESET, BRIDGE_FINISHED } closed; /* by the bridge: nothing is forwarded */
    bool busy; /* on the list of those that had a frame since they were looked at, or hold something */
    struct bridge_connection *prev, *next;
    UT_hash_handle hh;
};

/* What was held as long as it may be, or what a direction waited for and that did not come. */
struct bridge_expiry {
    uint64_t stream;
    unsigned side; /* of the sender */
    enum bridge_wait wait;
    void *owner; /* wait_owner */
};

/* Where B listens for the traffic that the command makes. */
struct bridge_listener {
    uint16_t port; /* 0: not known yet, and nothing has been sent there */
    bool sctp;     /* else TCP */
};

struct bridge_streams {
    const struct bridge_listener *listener; /* connections to it alone are for scripts; NULL: all of them are */
    struct bridge_connection *all;          /* those used last are at the end */
    size_t count;
    struct bridge_connection *busy; /* what bridge_streams_time() looks at: the others wait for nothing */
    uint64_t looked_at;             /* connections that it has looked at, each time, and directions of SCTP */
    bool holds;                     /* a script may change FPDUs */
    size_t mtu[BRIDGE_SIDES];       /* of the interface there: octets of an IP packet */
    uint64_t engaged;               /* how many have a number */
    uint64_t now_ns;
    uint64_t refused;        /* frames beyond BRIDGE_HELD_MOST */
    uint64_t unchanged_late; /* segments that went before their FPDU was whole */
    uint64_t lost_memory;    /* frames for which there was no memory */
    bool damaged; /* the frame that is sent has a checksum that is wrong on purpose: its receiver throws it away */
    /* Sends a frame to the device at `side`; `changed`: it is not the one that came. */
    void (*send)(void *user, unsigned side, uint8_t *frame, size_t octets, bool changed);
    /* What a direction waited for did not come in time, or it was held as long as the limit allows (BRIDGE_STALLED). */
    void (*expired)(void *user, const struct bridge_expiry *expiry);
    void *user;
    uint8_t *scratch, *contents; /* BRIDGE_SCRATCH each */
};

enum { BRIDGE_SCRATCH = BRIDGE_CHANGE_OCTETS_MOST + (1 << 17) };

/* Of a packet that came from `side`. */
struct bridge_key bridge_key_of(unsigned side, const struct bridge_packet *packet);

/* `send` and the rest are set by the caller; -1: no memory. */
int bridge_streams_begin(struct bridge_streams *streams);
void bridge_streams_free(struct bridge_streams *streams);

/*
 * Takes a frame with a TCP packet that came from `side`; it is copied. The connection, to be flushed; NULL: no memory, and
 * the frame is lost.
 */
struct bridge_connection *bridge_streams_input(struct bridge_streams *streams, unsigned side, const uint8_t *frame,
                                               size_t octets, const struct bridge_packet *packet);
/* Forwards what may go in this direction. */
void bridge_streams_flush(struct bridge_streams *streams, struct bridge_connection *connection, unsigned side);
/* The same where time alone lets it go. The nanoseconds until the next call; UINT64_MAX: nothing waits. */
uint64_t bridge_streams_time(struct bridge_streams *streams, uint64_t now_ns);

/* The connection whose device at `side` has the first address; NULL: it is not known. */
struct bridge_connection *bridge_streams_find(struct bridge_streams *streams, const struct bridge_key *key);

/* Whether scripts may see a connection with this key, over SCTP or TCP, and its streams count. */
bool bridge_streams_has(const struct bridge_streams *streams, const struct bridge_key *key, bool sctp);

/* Whether the octets from `at` up to `end` can still be changed: all of them are held. They are written to `out`. */
bool bridge_stream_octets(const struct bridge_direction *direction, uint32_t at, uint32_t end, uint8_t *out);

/* The direction stands still from `at` on; one that stands already goes on where it stood. */
void bridge_stream_wait(struct bridge_direction *direction, enum bridge_wait wait, uint32_t at, uint32_t end,
                        uint64_t until_ns);
void bridge_stream_go(struct bridge_direction *direction);
/* What is stalled goes on, in all connections. */
void bridge_streams_release(struct bridge_streams *streams);

/*
 * Closes the connection, for both devices, at the place that each has received: with RST, or with FIN; then what they
 * send is acknowledged and goes nowhere.
 */
void bridge_stream_close(struct bridge_streams *streams, struct bridge_connection *connection, bool reset);

#endif
