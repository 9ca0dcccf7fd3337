/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection holds of what it received: the octets, and the ranges that came after a gap. */
#include <string.h>

#include "generator/tcp/tcp_internal.h"

static void copy_in(struct tcp_connection *c, const uint8_t *octets, uint32_t base, uint32_t from, uint32_t to)
{
    memcpy(c->in.octets + c->in.head + c->in.length + (from - c->status.rcv_nxt), octets + (from - base), to - from);
}

/* Puts [from, to) among the ranges, joined with those that it touches. Returns false when there are too many. */
static bool add_range(struct tcp_connection *c, uint32_t from, uint32_t to)
{
    unsigned first = 0;
    unsigned last;

    while (first < c->range_count && seq_lt(c->ranges[first].to, from))
        first++;
    for (last = first; last < c->range_count && seq_le(c->ranges[last].from, to); last++) {
        if (seq_lt(c->ranges[last].from, from))
            from = c->ranges[last].from;
        if (seq_lt(to, c->ranges[last].to))
            to = c->ranges[last].to;
    }
    if (last == first && c->range_count == TCP_RANGES)
        return false;
    memmove(&c->ranges[first + 1], &c->ranges[last], (c->range_count - last) * sizeof(c->ranges[0]));
    c->range_count -= last - first;
    c->range_count++;
    c->ranges[first] = (struct packet_range){from, to};
    return true;
}

/* Stores octets at their place; what is there already stays, so that the first of two overlapping segments wins. */
void tcp_store(struct tcp_connection *c, const uint8_t *octets, uint32_t from, uint32_t to)
{
    uint32_t base = from;
    uint32_t at = from;
    struct packet_range before[TCP_RANGES];
    unsigned count = c->range_count;

    if (tcp_queue_reserve(&c->in, to - c->status.rcv_nxt) != 0)
        return; /* memory is out: the peer sends it again */
    memcpy(before, c->ranges, count * sizeof(before[0]));
    if (!add_range(c, from, to))
        return;
    c->last_stored = from;
    for (unsigned i = 0; i < count && seq_lt(at, to); i++) {
        if (seq_le(before[i].to, at))
            continue;
        if (seq_le(to, before[i].from))
            break;
        if (seq_lt(at, before[i].from))
            copy_in(c, octets, base, at, before[i].from);
        at = before[i].to;
    }
    if (seq_lt(at, to))
        copy_in(c, octets, base, at, to);
    if (c->ranges[0].from == c->status.rcv_nxt) {
        uint32_t grown = c->ranges[0].to - c->status.rcv_nxt;

        c->in.length += grown;
        c->status.rcv_nxt += grown;
        c->status.octets_received += grown;
        c->range_count--;
        memmove(&c->ranges[0], &c->ranges[1], c->range_count * sizeof(c->ranges[0]));
    }
}

/* The common case: the next octets, with nothing out of order. */
void tcp_store_next(struct tcp_connection *c, const uint8_t *octets, uint32_t count)
{
    if (tcp_queue_append(&c->in, octets, count) != 0)
        return;
    c->status.rcv_nxt += count;
    c->status.octets_received += count;
}

void tcp_receive_repeat(struct tcp_connection *c, const struct packet *p)
{
    if (!c->options.take_repeats || c->released || c->range_count != 0 ||
        tcp_queue_append(&c->in, p->payload, p->payload_octets) != 0)
        return;
    tcp_raise(c, TCP_EVENT_DATA);
}
