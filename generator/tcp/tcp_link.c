/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/tcp/tcp_link.h"

void tcp_link_emit(void *link, const uint8_t *frame, size_t octets)
{
    struct link *out = link;

    if (link_send(out, frame, octets) != 0)
        out->send_failed = true;
}

int tcp_link_run(struct link *link, struct tcp_stack *stack, uint64_t deadline_ns, bool (*done)(void *context),
                 void *context)
{
    for (;;) {
        uint64_t now = link_now(link);
        uint64_t wake;
        struct link_frame frame;
        int got;

        tcp_stack_set_time(stack, now);
        if (tcp_stack_deadline(stack) <= now)
            tcp_stack_tick(stack, now);
        if (link->send_failed) {
            link->send_failed = false;
            return -1;
        }
        if (done != NULL && done(context))
            return 1;
        wake = tcp_stack_deadline(stack);
        got = link_receive(link, &frame, wake < deadline_ns ? wake : deadline_ns);
        if (got < 0)
            return -1;
        now = link_now(link);
        if (got == 1)
            tcp_stack_input(stack, frame.octets, frame.length, now);
        else if (now >= deadline_ns || (wake == LINK_NEVER && deadline_ns == LINK_NEVER))
            return done != NULL && done(context) ? 1 : 0;
    }
}

static void node_frame(void *node, const uint8_t *frame, size_t octets, uint64_t now)
{
    tcp_stack_input(node, frame, octets, now);
}

static uint64_t node_deadline(void *node)
{
    return tcp_stack_deadline(node);
}

static void node_tick(void *node, uint64_t now)
{
    tcp_stack_tick(node, now);
}

const struct sim_node_ops tcp_sim_node_ops = {
    .frame = node_frame,
    .deadline = node_deadline,
    .tick = node_tick,
};

void tcp_sim_emit_a(void *sim, const uint8_t *frame, size_t octets)
{
    (void)sim_send(sim, SIM_END_A, frame, octets); /* out of memory loses the frame, as a wire may */
}

void tcp_sim_emit_b(void *sim, const uint8_t *frame, size_t octets)
{
    (void)sim_send(sim, SIM_END_B, frame, octets);
}
