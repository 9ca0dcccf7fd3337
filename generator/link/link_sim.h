/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated world in one process, on virtual time: a wire with two ends, latency and impairments, all decided by a
 * seed. The same seed and the same calls give the same frames at the same nanoseconds.
 *
 * End A is usually the tester, which reads and writes through a `struct link` (sim_link()); end B is usually a node,
 * which is a set of callbacks. Either end may be a node: if both are nodes, sim_run_until() runs the world.
 */
#ifndef GENERATOR_LINK_SIM_H
#define GENERATOR_LINK_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generator/link/link.h"

struct sim;

enum sim_end { SIM_END_A = 0, SIM_END_B = 1 };

/*
 * What one direction of the wire does to a frame; probabilities in [0, 1], drawn from the seed. All zero: a clean wire.
 */
struct sim_impairment {
    double loss;
    double duplicate;
    double reorder;            /* such a frame arrives up to reorder_delay_ns later; others overtake it */
    uint64_t reorder_delay_ns; /* 0: four latencies */
};

struct sim_config {
    uint64_t seed;
    uint64_t start_ns;   /* virtual time at the start; 0: 2000-01-01T00:00:00Z, so that captures look sane */
    uint64_t latency_ns; /* one way; 0: SIM_LATENCY_NS */
    struct sim_impairment a_to_b;
    struct sim_impairment b_to_a;
};

#define SIM_LATENCY_NS UINT64_C(50000)

/* An end of the wire given by callbacks. All may call sim_send(); none may call sim_run_until() or link_receive(). */
struct sim_node_ops {
    void (*frame)(void *node, const uint8_t *frame, size_t octets, uint64_t now);
    uint64_t (*deadline)(void *node); /* next timer, LINK_NEVER for none; NULL: the node has no timers */
    void (*tick)(void *node, uint64_t now);
};

/* A new world. Returns NULL only when memory is out. Cheap: its pools come from one small allocation and grow. */
struct sim *sim_new(const struct sim_config *config);

/* Restarts with another configuration and reuses the memory. Nodes are detached, frames in flight are dropped. */
void sim_reset(struct sim *sim, const struct sim_config *config);

void sim_free(struct sim *sim);

/* Makes `end` a node. Both pointers are borrowed and must outlive the world's use. */
void sim_attach(struct sim *sim, enum sim_end end, const struct sim_node_ops *ops, void *node);

/* Sends a frame from `end` to the other. The octets are copied. Returns 0, or -1 when memory is out. */
int sim_send(struct sim *sim, enum sim_end end, const uint8_t *frame, size_t octets);

/* The same from end B, for nodes that know only the world. */
int sim_send_from_node(struct sim *sim, const uint8_t *frame, size_t octets);

/* Virtual time in nanoseconds. */
uint64_t sim_now(const struct sim *sim);

/* Changes the impairments, also during a run (to cut and restore the wire). */
void sim_impair(struct sim *sim, const struct sim_impairment *a_to_b, const struct sim_impairment *b_to_a);

/*
 * Runs both ends until `done(context)` is true (returns 1; asked before the first and after every event) or virtual
 * time reaches deadline_ns, or nothing can happen any more (returns 0, time at the deadline unless that is LINK_NEVER).
 * A NULL `done` runs to the deadline. Returns -1, with sim_link(sim)->error set, when a node asks for the same instant
 * for ever.
 */
int sim_run_until(struct sim *sim, uint64_t deadline_ns, bool (*done)(void *context), void *context);

/* End A as a link; owned by the world, link_close() on it does nothing but may be called. */
struct link *sim_link(struct sim *sim);

/* A hash over every delivery so far (time, end, octets): equal for equal runs. */
uint64_t sim_trace(const struct sim *sim);

/* A tap on the wire itself: sees every frame as it is delivered, `inbound` meaning towards end A. NULL: none. */
void sim_tap(struct sim *sim, link_tap *tap, void *context);

#endif
