/* SPDX-License-Identifier: BSD-2-Clause */
/* Two streams back to back in memory: what one puts out the other takes in, in portions as asked. */
#ifndef TESTS_UNIT_STREAM_PAIR_H
#define TESTS_UNIT_STREAM_PAIR_H

#include "iwarp/stream.h"

enum { PAIR_EVENTS = 128, PAIR_SIDES = 2 };

struct pair_side {
    struct iwarp_device *device;
    struct iwarp_stream_config config;
    struct iwarp_stream *stream;
    struct iwarp_event events[PAIR_EVENTS];
    size_t event_count;
    uint8_t *sent; /* every octet of output */
    size_t sent_count, sent_room;
    size_t delivered; /* how many of them the other side was given */
    bool fin_sent, fin_delivered;
    size_t largest_piece;
};

struct pair {
    struct pair_side side[PAIR_SIDES]; /* 0 the responder, 1 the initiator */
    size_t portion;                    /* octets a delivery; 0: all there is */
    size_t take;                       /* octets that the transport takes of an output; 0: all of it */
    uint64_t now;
};

/* Devices and default configurations; change side[].config, then pair_open(). */
struct pair *pair_new(void);
void pair_free(struct pair *pair);
void pair_open(struct pair *pair);

/* Moves octets until neither side has anything to say. */
void pair_run(struct pair *pair);

/* The n-th event of that kind on that side (from 0), or NULL. */
const struct iwarp_event *pair_event(const struct pair *pair, int side, enum iwarp_event_kind kind, size_t n);
size_t pair_count(const struct pair *pair, int side, enum iwarp_event_kind kind);

/*
 * A lone stream that is fed by hand: its output and events are gathered by pair_gather(). pair_fpdu() packs a ULPDU
 * without Markers, with CRC, and feeds it.
 */
void pair_gather(struct pair *pair, int side);
void pair_feed(struct pair *pair, int side, const uint8_t *octets, size_t count);
void pair_feed_ulpdu(struct pair *pair, int side, const uint8_t *ulpdu, size_t count);

#endif
