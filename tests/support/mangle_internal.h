/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_SUPPORT_MANGLE_INTERNAL_H
#define TESTS_SUPPORT_MANGLE_INTERNAL_H

#include "tests/support/mangle.h"

/* A frame on its way: who sent it (0 or 1 by addresses and ports), and its TCP segment when it has one. */
struct mangle_item {
    struct mangle_frame frame;
    uint64_t flow; /* a number that both directions of a connection share; 0: not IP */
    unsigned direction;
    bool tcp;             /* whole and well-formed, with lengths that fit */
    size_t ip, at;        /* offsets of the IP and TCP headers */
    size_t payload, size; /* offset of the payload, and its octets */
    uint32_t seq, ack;
    uint8_t flags;
};

struct mangle_work {
    struct mangle_capture *out; /* owns octets that are made */
    struct mangle_item *items;
    size_t count, room;
    uint64_t state;
};

uint64_t mangle_below(struct mangle_work *work, uint64_t below);
uint8_t *mangle_octets(struct mangle_capture *capture, size_t count);
void mangle_insert(struct mangle_work *work, size_t at, const struct mangle_item *item);
void mangle_remove(struct mangle_work *work, size_t at);

/* mangle_tcp.c */
/* Fills in what an item's frame says. */
void mangle_parse(struct mangle_item *item);
/* The next item after `at` of the same flow and direction; work->count: none. */
size_t mangle_next(const struct mangle_work *work, size_t at);
void mangle_coalesce(struct mangle_work *work, bool any_ack);
void mangle_split(struct mangle_work *work);
/* `once`: the first copy goes. */
void mangle_resend(struct mangle_work *work, bool once);

#endif
