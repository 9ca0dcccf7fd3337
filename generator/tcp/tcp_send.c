/* SPDX-License-Identifier: BSD-2-Clause */
/* What callers send and how they say it; and the receiving side's calls. */
#include <string.h>

#include "generator/tcp/tcp_internal.h"

static bool may_queue(const struct tcp_connection *c, size_t count)
{
    enum tcp_state state = c->status.state;

    return !c->fin_planned && !c->status.local_fin && count <= TCP_SEND_CAPACITY - c->out.length &&
           (state == TCP_STATE_SYN_SENT || state == TCP_STATE_SYN_RECEIVED || state == TCP_STATE_ESTABLISHED ||
            state == TCP_STATE_CLOSE_WAIT);
}

static bool is_synchronized(const struct tcp_connection *c)
{
    return c->status.state == TCP_STATE_ESTABLISHED || c->status.state == TCP_STATE_CLOSE_WAIT;
}

/* Appends octets to the stream and plans them as one piece. */
static int plan_octets(struct tcp_connection *c, const uint8_t *octets, size_t count, uint8_t flags)
{
    struct tcp_piece *last = c->plan.count > 0 ? tcp_ring_at(&c->plan, c->plan.count - 1) : NULL;

    if (last == NULL || last->exact) {
        if (tcp_queue_reserve(&c->out, count) != 0 || (last = tcp_ring_push(&c->plan)) == NULL)
            return -1;
    }
    if (tcp_queue_append(&c->out, octets, count) != 0)
        return -1;
    last->octets += (uint32_t)count;
    last->flags = flags;
    return 0;
}

int tcp_send(struct tcp_connection *connection, const uint8_t *octets, size_t count)
{
    if (!may_queue(connection, count))
        return -1;
    if (count == 0)
        return 0;
    if (plan_octets(connection, octets, count, TCP_FLAG_PSH) != 0)
        return -1;
    tcp_output(connection);
    return 0;
}

/* The lengths sum up to count and none is 0 or longer than a segment may be. */
static bool are_lengths_good(const struct tcp_connection *c, size_t count, const size_t *lengths, size_t segments)
{
    size_t largest = c->status.mss != 0 ? c->status.mss : c->options.mss;
    size_t sum = 0;

    for (size_t i = 0; i < segments; i++) {
        if (lengths[i] == 0 || lengths[i] > largest)
            return false;
        sum += lengths[i];
    }
    return sum == count;
}

int tcp_send_segments(struct tcp_connection *connection, const uint8_t *octets, size_t count, const size_t *lengths,
                      size_t segments)
{
    if (!may_queue(connection, count) || !are_lengths_good(connection, count, lengths, segments))
        return -1;
    if (tcp_queue_append(&connection->out, octets, count) != 0)
        return -1;
    for (size_t i = 0; i < segments; i++) {
        struct tcp_piece *piece = tcp_ring_push(&connection->plan);

        if (piece == NULL)
            return -1;
        piece->octets = (uint32_t)lengths[i];
        piece->exact = true;
        piece->flags = i + 1 == segments ? TCP_FLAG_PSH : 0;
    }
    tcp_output(connection);
    return 0;
}

/* Moves SND.NXT over octets that are sent by other means; `octets` NULL: a hole. */
static int advance(struct tcp_connection *c, const uint8_t *octets, size_t count, uint8_t flags)
{
    struct tcp_piece *piece;

    if (tcp_queue_append(&c->out, octets, count) != 0 || (piece = tcp_ring_push(&c->sent)) == NULL)
        return -1;
    piece->sequence = c->status.snd_nxt;
    piece->octets = (uint32_t)count;
    piece->flags = flags;
    piece->hole = octets == NULL && count > 0;
    piece->sent_ns = c->stack->now;
    c->status.snd_nxt += (uint32_t)count;
    c->status.octets_sent += count;
    if ((flags & TCP_FLAG_FIN) != 0) {
        c->status.snd_nxt++;
        c->fin_planned = true;
        tcp_fin_sent(c);
    }
    if (seq_lt(c->snd_max, c->status.snd_nxt))
        c->snd_max = c->status.snd_nxt;
    return 0;
}

/* After SND.NXT moved: the clock, and an ACK that had come too early. */
static void advanced(struct tcp_connection *c)
{
    if (c->rto_at == TCP_NEVER)
        tcp_arm_rto(c);
    if (c->early_ack_set && seq_le(c->early_ack, c->status.snd_nxt)) {
        c->early_ack_set = false;
        if (seq_lt(c->status.snd_una, c->early_ack))
            tcp_process_ack(c, c->early_ack);
    }
}

int tcp_send_ordered(struct tcp_connection *connection, const uint8_t *octets, size_t count, const size_t *lengths,
                     size_t segments, const size_t *order, size_t transmissions)
{
    struct tcp_connection *c = connection;
    size_t first = c->sent.count;
    size_t at = 0;

    if (!is_synchronized(c) || c->plan.count > 0 || !may_queue(c, count) ||
        !are_lengths_good(c, count, lengths, segments))
        return -1;
    for (size_t i = 0; i < transmissions; i++)
        if (order[i] >= segments)
            return -1;
    for (size_t i = 0; i < segments; at += lengths[i], i++)
        if (advance(c, octets + at, lengths[i], i + 1 == segments ? TCP_FLAG_PSH : 0) != 0)
            return -1;
    for (size_t i = 0; i < transmissions; i++)
        tcp_transmit_piece(c, tcp_ring_at(&c->sent, first + order[i]));
    advanced(c);
    return 0;
}

int tcp_shutdown(struct tcp_connection *connection)
{
    struct tcp_connection *c = connection;
    struct tcp_piece *piece;

    if (!may_queue(c, 0))
        return -1;
    piece = tcp_ring_push(&c->plan);
    if (piece == NULL)
        return -1;
    piece->flags = TCP_FLAG_FIN;
    piece->exact = true;
    c->fin_planned = true;
    tcp_output(c);
    return 0;
}

int tcp_send_fin(struct tcp_connection *connection, const uint8_t *octets, size_t count)
{
    if (count == 0)
        return tcp_shutdown(connection);
    if (!may_queue(connection, count))
        return -1;
    if (plan_octets(connection, octets, count, TCP_FLAG_PSH | TCP_FLAG_FIN) != 0)
        return -1;
    connection->fin_planned = true;
    tcp_output(connection);
    return 0;
}

void tcp_abort(struct tcp_connection *connection)
{
    enum tcp_state state = connection->status.state;

    if (state == TCP_STATE_CLOSED)
        return;
    tcp_enter(connection->stack, connection->stack->now);
    if (state != TCP_STATE_SYN_SENT && state != TCP_STATE_TIME_WAIT)
        tcp_send_reset(connection);
    tcp_connection_close(connection, TCP_CAUSE_LOCAL_ABORT);
    tcp_leave(connection->stack);
}

int tcp_send_raw_segment(struct tcp_connection *connection, const struct tcp_segment_spec *spec)
{
    struct tcp_connection *c = connection;
    uint8_t flags =
        spec->set_flags ? spec->flags : (uint8_t)(TCP_FLAG_ACK | (spec->payload_octets > 0 ? TCP_FLAG_PSH : 0));
    uint32_t ack = spec->set_acknowledgment ? spec->acknowledgment : tcp_ack_number(c);
    struct packet_tcp fields = {
        .sequence = spec->absolute ? spec->sequence : c->status.snd_nxt + spec->sequence,
        .acknowledgment = (flags & TCP_FLAG_ACK) != 0 || spec->set_acknowledgment ? ack : 0,
        .flags = flags,
        .urgent = spec->urgent,
        .options = spec->options,
        .options_octets = spec->options_octets,
        .payload = spec->payload,
        .payload_octets = spec->payload_octets,
    };
    uint8_t stream_flags = flags & (TCP_FLAG_FIN | TCP_FLAG_PSH);

    if (spec->advance && (!is_synchronized(c) || fields.sequence != c->status.snd_nxt || c->plan.count > 0 ||
                          !may_queue(c, spec->payload_octets)))
        return -1;
    fields.window = spec->set_window ? spec->window : tcp_window_field(c, ack);
    if (spec->bad_checksum)
        fields.spoil_checksum = true;
    if (tcp_transmit_fragments(c, &fields, spec->fragment_octets, spec->last_fragment_first) != 0)
        return -1;
    if ((flags & TCP_FLAG_ACK) != 0 && !spec->set_acknowledgment)
        c->acknowledged = ack;
    if (spec->advance && (spec->payload_octets > 0 || (flags & TCP_FLAG_FIN) != 0)) {
        if (advance(c, spec->payload, spec->payload_octets, stream_flags) != 0)
            return -1;
        advanced(c);
    }
    return 0;
}

int tcp_skip(struct tcp_connection *connection, const uint8_t *octets, size_t count)
{
    if (!is_synchronized(connection) || connection->plan.count > 0 || !may_queue(connection, count))
        return -1;
    if (count == 0)
        return 0;
    if (advance(connection, octets, count, 0) != 0)
        return -1;
    advanced(connection);
    return 0;
}

void tcp_forget(struct tcp_connection *connection)
{
    for (size_t i = 0; i < connection->sent.count; i++)
        tcp_ring_at(&connection->sent, i)->hole = true;
}

size_t tcp_received(const struct tcp_connection *connection, const uint8_t **octets, size_t *count)
{
    *octets = connection->in.octets != NULL ? connection->in.octets + connection->in.head : NULL;
    *count = connection->in.length;
    return *count;
}

size_t tcp_early(const struct tcp_connection *connection, unsigned n, size_t *gap, const uint8_t **octets,
                 size_t *count)
{
    const struct tcp_connection *c = connection;

    *gap = *count = 0;
    *octets = NULL;
    if (n >= c->range_count)
        return 0;
    *gap = c->in.length + (c->ranges[n].from - c->status.rcv_nxt);
    *octets = c->in.octets + c->in.head + *gap;
    *count = c->ranges[n].to - c->ranges[n].from;
    return *count;
}

static bool peer_may_send(const struct tcp_connection *c)
{
    return c->status.state == TCP_STATE_ESTABLISHED || c->status.state == TCP_STATE_FIN_WAIT_1 ||
           c->status.state == TCP_STATE_FIN_WAIT_2;
}

void tcp_consume(struct tcp_connection *connection, size_t count)
{
    struct tcp_connection *c = connection;

    if (count > c->in.length)
        count = c->in.length;
    tcp_queue_drop(&c->in, count);
    if (count == 0 || !peer_may_send(c) || !tcp_window_update_due(c))
        return;
    if (c->stack->depth > 0)
        c->ack_wanted = true; /* goes out with what the current input brings forth */
    else
        tcp_send_ack(c);
}

void tcp_set_ack_policy(struct tcp_connection *connection, enum tcp_ack_policy policy, uint64_t delay_ns)
{
    connection->ack_policy = policy;
    connection->ack_delay = delay_ns != 0 ? delay_ns : TCP_ACK_DELAY_NS;
    if (policy != TCP_ACK_DELAYED && policy != TCP_ACK_LATE)
        connection->ack_at = TCP_NEVER;
}

void tcp_ack_now(struct tcp_connection *connection)
{
    if (connection->status.state < TCP_STATE_ESTABLISHED)
        return;
    connection->acknowledged = connection->status.rcv_nxt;
    tcp_send_ack(connection);
}

void tcp_set_window(struct tcp_connection *connection, uint16_t window)
{
    connection->window_fixed = true;
    connection->window = window;
    if (connection->status.state >= TCP_STATE_ESTABLISHED)
        tcp_send_ack(connection);
}

void tcp_set_window_auto(struct tcp_connection *connection)
{
    connection->window_fixed = false;
    if (connection->status.state >= TCP_STATE_ESTABLISHED)
        tcp_send_ack(connection);
}

/* The stream's octets up to `acknowledgment`: SYN and FIN take a sequence number each and are none. */
static uint64_t octets_up_to(const struct tcp_connection *connection, uint32_t acknowledgment)
{
    const struct tcp_status *status = &connection->status;
    uint32_t numbers = acknowledgment - status->iss;

    if (numbers != 0 && status->local_fin && acknowledgment == status->snd_nxt)
        numbers--;
    return numbers != 0 ? numbers - 1 : 0;
}

uint64_t tcp_acknowledged(const struct tcp_connection *connection)
{
    return octets_up_to(connection, connection->status.snd_una);
}

uint64_t tcp_acknowledged_at_end(const struct tcp_connection *connection)
{
    const struct tcp_status *status = &connection->status;

    if (!status->peer_fin && status->peer_reset_ns == 0)
        return tcp_acknowledged(connection);
    return octets_up_to(connection, status->peer_end_acknowledgment);
}
