/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any number of short lawful conversations, alike but for their addresses, ports, tags and identifiers: the frame of
 * each step of each of them, made when it is asked for. For tests and benchmarks of how many a decoder follows.
 */
#ifndef TESTS_SUPPORT_MANY_H
#define TESTS_SUPPORT_MANY_H

#include <stddef.h>
#include <stdint.h>

enum many_layer {
    MANY_TCP,  /* MPA over TCP, up to both FINs */
    MANY_SCTP, /* a session of DDP over SCTP, up to an ABORT */
    MANY_CM,   /* a connection by the CM, from REQ to DREP */
    MANY_LAYERS
};

enum { MANY_FRAME_MAX = 512 };

/* "tcp", "sctp", "cm"; MANY_LAYERS for another word. */
enum many_layer many_layer_of(const char *name);

/* Steps of a conversation; so many of them before the first one of its end. */
unsigned many_steps(enum many_layer layer);
unsigned many_steps_open(enum many_layer layer);

/* The Ethernet frame of a step of conversation `number` (below 2^28); returns its octets, at most MANY_FRAME_MAX. */
size_t many_frame(enum many_layer layer, uint32_t number, unsigned step, uint8_t *frame);

#endif
