/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What two streams of a simulation have to do for each other, and whether they did it: Sends, Writes and Reads in both
 * directions at once, drawn from a seed; contents, order and completions are compared with what was planned. It
 * knows no layer below DDP.
 */
#ifndef TESTS_UNIT_SIM_TRAFFIC_H
#define TESTS_UNIT_SIM_TRAFFIC_H

#include "iwarp/stream.h"

enum {
    SIM_SIDES = 2, /* 0 responder, 1 initiator */
    SIM_WORKS_MAX = 24,
    SIM_MESSAGE_MAX = 6000,
    SIM_REGION = 32768,
};

struct sim_work {
    enum iwarp_work kind;
    uint8_t octets[SIM_MESSAGE_MAX];
    uint32_t count;
    uint32_t at; /* offset in the region that it is about */
    bool solicited;
};

/* One end: regions are `written` (by the peer), `source` (the peer reads it), `sink` (of own Reads). */
struct traffic_end {
    struct sim_traffic *traffic;
    int index;
    struct iwarp_device *device;
    struct iwarp_stream *stream; /* borrowed */
    struct iwarp_region written, source, sink;
    uint8_t model[SIM_REGION]; /* what `written` must hold in the end */
    struct sim_work works[SIM_WORKS_MAX];
    size_t work_count, done;
    uint8_t receives[SIM_WORKS_MAX][SIM_MESSAGE_MAX];
    size_t received;
    bool closed;
};

struct sim_traffic {
    struct traffic_end end[SIM_SIDES];
    uint64_t state; /* of the seed's numbers */
    struct iwarp_sentence *sentence;
    bool wrong; /* the sentence says what */
};

/* The seed's next number, below `below`. */
uint64_t sim_draw(struct sim_traffic *traffic, uint64_t below);

/* Regions of the end at its device, and a plan of what it does. -1 with a sentence: memory is short. */
int sim_plan(struct sim_traffic *traffic, int index, struct iwarp_device *device);

/* Once both have streams: receives and all works are posted. */
void sim_post(struct traffic_end *end);

/* Compares the stream's events with the plan. */
void sim_take_events(struct traffic_end *end, uint64_t now);

/* Sends have been received by the other side, all else is done. */
bool sim_all_done(const struct sim_traffic *traffic);

/* In the end: both are closed, nothing is missing, and memory holds what it should. */
void sim_judge(struct sim_traffic *traffic);

/* The first complaint counts. */
__attribute__((format(printf, 3, 4))) void sim_complain(struct traffic_end *end, uint64_t number, const char *format,
                                                        ...);

#endif
