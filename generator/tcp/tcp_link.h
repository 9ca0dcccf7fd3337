/* SPDX-License-Identifier: BSD-2-Clause */
/* Connects a TCP endpoint to a link, or makes it a node of the simulated world, and drives it. */
#ifndef GENERATOR_TCP_LINK_H
#define GENERATOR_TCP_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "generator/link/link.h"
#include "generator/link/link_sim.h"
#include "generator/tcp/tcp.h"

/*
 * A `tcp_stack_config.emit` whose context is the `struct link *`. A failed send is kept in link->error for
 * tcp_link_run().
 */
void tcp_link_emit(void *link, const uint8_t *frame, size_t octets);

/*
 * Feeds the stack from the link, and its timers, until `done(context)` is true (returns 1; asked before the first and
 * after every frame or timer) or the link's clock reaches deadline_ns (returns 0). `done` may be NULL. Returns -1 with
 * link->error set when the link failed. The stack's clock is the link's.
 */
int tcp_link_run(struct link *link, struct tcp_stack *stack, uint64_t deadline_ns, bool (*done)(void *context),
                 void *context);

/* Ops of a simulated node that is nothing but a stack: sim_attach(sim, end, &tcp_sim_node_ops, stack). */
extern const struct sim_node_ops tcp_sim_node_ops;

/* `emit` functions for a stack at end A or B of a world; the context is the `struct sim *`. */
void tcp_sim_emit_a(void *sim, const uint8_t *frame, size_t octets);
void tcp_sim_emit_b(void *sim, const uint8_t *frame, size_t octets);

#endif
