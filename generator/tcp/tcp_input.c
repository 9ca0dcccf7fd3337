/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments in: RFC 9293 section 3.10.7, step by step, with RFC 5961's stricter RST and SYN. */
#include <string.h>

#include "generator/tcp/tcp_internal.h"

#define MSS_WHEN_NONE_IPV4 536u /* RFC 9293 section 3.7.1 */
#define MSS_WHEN_NONE_IPV6 1220u
#define DUPLICATE_ACKS     3u

bool tcp_stack_has(const struct tcp_stack *stack, const struct net_address *peer, uint16_t own_port, uint16_t peer_port)
{
    for (const struct tcp_connection *c = stack->connections; c != NULL; c = c->next)
        if (c->status.local_port == own_port && c->status.peer_port == peer_port &&
            net_address_equal(&c->status.peer, peer))
            return true;
    return false;
}

static struct tcp_connection *find_connection(struct tcp_stack *stack, const struct packet *p)
{
    for (struct tcp_connection *c = stack->connections; c != NULL; c = c->next)
        if (c->status.state != TCP_STATE_CLOSED && c->status.local_port == p->destination_port &&
            c->status.peer_port == p->source_port && net_address_equal(&c->status.peer, &p->source))
            return c;
    return NULL;
}

static uint32_t segment_length(const struct packet *p)
{
    return (uint32_t)p->payload_octets + ((p->flags & TCP_FLAG_SYN) != 0 ? 1 : 0) +
           ((p->flags & TCP_FLAG_FIN) != 0 ? 1 : 0);
}

static uint32_t receive_window(const struct tcp_connection *c)
{
    return seq_lt(c->status.rcv_nxt, c->edge) ? c->edge - c->status.rcv_nxt : 0;
}

static uint64_t time_of_event(const struct tcp_connection *c)
{
    return c->stack->now != 0 ? c->stack->now : 1; /* 0 means "not yet" */
}

/* Reads the peer's SYN. */
static void learn_from_syn(struct tcp_connection *c, const struct packet *p)
{
    uint16_t own = c->options.send_mss != 0 ? c->options.send_mss : c->options.mss;
    uint16_t peer = p->mss;

    if (peer == 0)
        peer = c->status.peer.family == 4 ? MSS_WHEN_NONE_IPV4 : MSS_WHEN_NONE_IPV6;
    c->status.mss = peer < own ? peer : own;
    c->status.peer_sack = p->sack_permitted;
    c->status.irs = p->sequence;
    c->status.rcv_nxt = c->acknowledged = p->sequence + 1;
    c->edge = c->status.rcv_nxt + (c->window_fixed ? c->window : TCP_DEFAULT_WINDOW);
    c->status.peer_window = p->window;
    c->window_seq = p->sequence;
    c->window_ack = p->acknowledgment;
    c->status.last_input_ns = time_of_event(c);
}

static void passive_open(struct tcp_stack *stack, const struct tcp_listener *listener, const struct packet *p)
{
    struct tcp_connection *c;
    unsigned opening = 0;

    for (c = stack->connections; c != NULL; c = c->next)
        if (c->status.state == TCP_STATE_SYN_RECEIVED)
            opening++;
    if (opening >= TCP_BACKLOG)
        return; /* the peer tries again */
    c = tcp_connection_new(stack, &listener->options, &p->destination, &p->source, p->destination_port, p->source_port);
    if (c == NULL)
        return;
    c->status.passive = true;
    memcpy(c->mac, p->ethernet_source, 6);
    c->mac_known = true;
    c->status.state = TCP_STATE_SYN_RECEIVED;
    learn_from_syn(c, p);
    if (tcp_send_syn(c) != 0)
        c->status.state = TCP_STATE_CLOSED;
}

static void no_connection(struct tcp_stack *stack, const struct packet *p)
{
    const struct tcp_listener *listener = tcp_find_listener(stack, p->destination_port);

    if (listener != NULL && (p->flags & (TCP_FLAG_SYN | TCP_FLAG_ACK | TCP_FLAG_RST)) == TCP_FLAG_SYN)
        passive_open(stack, listener, p);
    else
        tcp_send_reset_for(stack, p);
}

/* The RTO as the estimate has it; an acknowledgment of something new ends any backing off. */
static void set_rto(struct tcp_connection *c)
{
    c->rto = c->srtt != 0 ? c->srtt + 4 * c->rttvar : TCP_RTO_INITIAL_NS;
    if (c->rto < TCP_RTO_MIN_NS)
        c->rto = TCP_RTO_MIN_NS;
    if (c->rto > TCP_RTO_MAX_NS)
        c->rto = TCP_RTO_MAX_NS;
}

/* RFC 6298 section 2, in integers: alpha 1/8, beta 1/4. */
static void sample_round_trip(struct tcp_connection *c, uint64_t sample)
{
    uint64_t difference;

    if (c->srtt == 0) {
        c->srtt = sample;
        c->rttvar = sample / 2;
    } else {
        difference = sample > c->srtt ? sample - c->srtt : c->srtt - sample;
        c->rttvar = (3 * c->rttvar + difference) / 4;
        c->srtt = (7 * c->srtt + sample) / 8;
    }
}

/* Takes what `ack` covers off the sent pieces; the last of them may be covered in part. */
static void drop_acknowledged(struct tcp_connection *c, uint32_t ack)
{
    uint64_t sample = 0;
    bool sampled = false;
    bool clean = !c->recovering; /* while a gap is being filled, what waited after it says nothing of the path */

    while (c->sent.count > 0) {
        struct tcp_piece *piece = tcp_ring_at(&c->sent, 0);
        uint32_t end = piece->sequence + piece->octets + ((piece->flags & (TCP_FLAG_SYN | TCP_FLAG_FIN)) != 0 ? 1 : 0);

        if (seq_lt(ack, end)) {
            uint32_t part = seq_lt(piece->sequence, ack) ? ack - piece->sequence : 0;

            piece->sequence += part;
            piece->octets -= part;
            break;
        }
        if (!piece->again && !piece->hole) {
            sample = c->stack->now - piece->sent_ns;
            sampled = true;
        }
        clean = clean && !piece->again;
        if ((piece->flags & TCP_FLAG_SYN) != 0 && !piece->again)
            c->status.round_trip_ns = sample;
        if ((piece->flags & TCP_FLAG_FIN) != 0)
            c->status.local_fin_acknowledged = true;
        tcp_ring_pop(&c->sent);
    }
    if (sampled && clean)
        sample_round_trip(c, sample);
    set_rto(c);
    if (seq_lt(c->out_sequence, ack)) {
        uint32_t covered = ack - c->out_sequence;
        size_t octets = covered < c->out.length ? covered : c->out.length;

        tcp_queue_drop(&c->out, octets);
        c->out_sequence += (uint32_t)octets;
    }
}

void tcp_process_ack(struct tcp_connection *c, uint32_t ack)
{
    size_t before = c->out.length;

    c->status.snd_una = ack;
    c->duplicate_acks = 0;
    c->tries = 0;
    drop_acknowledged(c, ack);
    if (c->recovering && seq_le(c->recover, ack))
        c->recovering = false;
    else if (c->recovering)
        tcp_retransmit_first(c); /* a partial ACK shows the next loss (RFC 6582 section 3.2) */
    tcp_arm_rto(c);
    if (c->out.length < before)
        tcp_raise(c, TCP_EVENT_ACKNOWLEDGED);
}

static void duplicate_ack(struct tcp_connection *c)
{
    c->duplicate_acks++;
    if (c->duplicate_acks != DUPLICATE_ACKS || c->recovering)
        return;
    c->recovering = true;
    c->recover = c->status.snd_nxt;
    tcp_retransmit_first(c);
    tcp_arm_rto(c);
}

static void establish(struct tcp_connection *c)
{
    c->status.state = TCP_STATE_ESTABLISHED;
    c->status.established_ns = time_of_event(c);
    c->order = ++c->stack->order;
    tcp_raise(c, TCP_EVENT_ESTABLISHED);
}

static void input_syn_sent(struct tcp_connection *c, const struct packet *p)
{
    bool ack = (p->flags & TCP_FLAG_ACK) != 0;

    if (ack && (seq_le(p->acknowledgment, c->status.iss) || seq_lt(c->snd_max, p->acknowledgment))) {
        tcp_send_reset_for(c->stack, p);
        return;
    }
    if ((p->flags & TCP_FLAG_RST) != 0) {
        if (ack) {
            c->status.peer_reset_ns = time_of_event(c);
            tcp_connection_close(c, TCP_CAUSE_REFUSED);
        }
        return;
    }
    if ((p->flags & TCP_FLAG_SYN) == 0)
        return;
    learn_from_syn(c, p);
    if (ack) {
        tcp_process_ack(c, p->acknowledgment);
        c->ack_wanted = true;
        establish(c);
    } else { /* both opened at once */
        c->status.state = TCP_STATE_SYN_RECEIVED;
        tcp_retransmit_first(c);
    }
}

/* RFC 9293 section 3.10.7.4, first step; a closed window still lets the ACK of a segment at RCV.NXT through. */
static bool is_acceptable(const struct tcp_connection *c, const struct packet *p)
{
    uint32_t length = segment_length(p);
    uint32_t window = receive_window(c);
    uint32_t next = c->status.rcv_nxt;

    if (p->sequence == next)
        return true;
    if (length == 0)
        return seq_le(next, p->sequence) && seq_le(p->sequence, next + window);
    return window > 0 && seq_lt(next, p->sequence + length) && seq_lt(p->sequence, next + window);
}

/*
 * An RST need not acknowledge anything (RFC 9293 section 3.10.7.4); one that does shows what its sender had received.
 */
static void peer_reset(struct tcp_connection *c, const struct packet *p)
{
    bool acks_new_data = (p->flags & TCP_FLAG_ACK) != 0 && seq_lt(c->status.snd_una, p->acknowledgment) &&
                         seq_le(p->acknowledgment, c->snd_max);

    c->status.peer_end_acknowledgment = acks_new_data ? p->acknowledgment : c->status.snd_una;
    c->status.peer_reset_ns = time_of_event(c);
    tcp_connection_close(c, c->status.state == TCP_STATE_SYN_RECEIVED && !c->status.passive ? TCP_CAUSE_REFUSED
                                                                                            : TCP_CAUSE_PEER_RESET);
}

static void want_ack_at_once(struct tcp_connection *c)
{
    if (c->ack_policy != TCP_ACK_WITHHELD)
        c->ack_wanted = true;
}

/* Our FIN is acknowledged: the states that waited for that (RFC 9293 section 3.10.7.4, fifth step). */
static void after_local_fin(struct tcp_connection *c)
{
    if (!c->status.local_fin_acknowledged)
        return;
    if (c->status.state == TCP_STATE_FIN_WAIT_1)
        c->status.state = TCP_STATE_FIN_WAIT_2;
    else if (c->status.state == TCP_STATE_CLOSING)
        tcp_enter_time_wait(c);
    else if (c->status.state == TCP_STATE_LAST_ACK)
        tcp_connection_close(c, TCP_CAUSE_NONE);
}

/* Returns false when the segment ends here. */
static bool input_ack(struct tcp_connection *c, const struct packet *p)
{
    uint32_t ack = p->acknowledgment;
    bool same_window = p->window == c->status.peer_window;

    c->probes = 0;
    if (seq_lt(c->snd_max, ack)) {
        want_ack_at_once(c);
        return false;
    }
    if (seq_lt(c->status.snd_nxt, ack)) { /* of raw segments; SND.NXT may pass them yet */
        c->early_ack_set = true;
        c->early_ack = ack;
        ack = c->status.snd_nxt;
    }
    if (seq_le(c->status.snd_una, ack) &&
        (seq_lt(c->window_seq, p->sequence) ||
         (c->window_seq == p->sequence && seq_le(c->window_ack, p->acknowledgment)))) {
        c->status.peer_window = p->window;
        c->window_seq = p->sequence;
        c->window_ack = p->acknowledgment;
    }
    if (seq_lt(c->status.snd_una, ack))
        tcp_process_ack(c, ack);
    else if (ack == c->status.snd_una && c->sent.count > 0 && segment_length(p) == 0 && same_window)
        duplicate_ack(c);
    after_local_fin(c);
    return c->status.state != TCP_STATE_CLOSED;
}

static void schedule_ack(struct tcp_connection *c, bool in_order)
{
    if (c->ack_policy == TCP_ACK_WITHHELD)
        return;
    if (c->ack_policy != TCP_ACK_LATE && (c->ack_policy == TCP_ACK_AT_ONCE || !in_order || ++c->unacked_segments >= 2))
        c->ack_wanted = true;
    else if (c->ack_at == TCP_NEVER)
        c->ack_at = c->stack->now + c->ack_delay;
}

static void input_octets(struct tcp_connection *c, const struct packet *p)
{
    uint32_t next = c->status.rcv_nxt;
    uint32_t from = p->sequence;
    uint32_t to = p->sequence + (uint32_t)p->payload_octets;
    const uint8_t *octets = p->payload;

    if (seq_lt(from, next)) {
        octets += next - from;
        from = next;
    }
    if (seq_lt(next + receive_window(c), to))
        to = next + receive_window(c);
    if (c->fin_seen && seq_lt(c->fin_sequence, to))
        to = c->fin_sequence; /* octets after the FIN do not belong to the stream */
    if (!seq_lt(from, to)) {  /* nothing new, or nothing that the window has room for */
        c->status.duplicates++;
        want_ack_at_once(c);
        tcp_receive_repeat(c, p);
        return;
    }
    if (from != next)
        c->status.out_of_order++;
    if (from == next && c->range_count == 0)
        tcp_store_next(c, octets, to - from);
    else
        tcp_store(c, octets, from, to);
    schedule_ack(c, from == next && c->range_count == 0);
    if (c->released)
        tcp_queue_drop(&c->in, c->in.length);
    else if (c->status.rcv_nxt != next)
        tcp_raise(c, TCP_EVENT_DATA);
    else if (c->range_count != 0)
        tcp_raise(c, TCP_EVENT_EARLY);
}

/* Early octets after the stream's end: the peer contradicts itself, and its FIN counts. */
static void forget_behind(struct tcp_connection *c, uint32_t end)
{
    while (c->range_count != 0 && seq_le(end, c->ranges[c->range_count - 1].from))
        c->range_count--;
    if (c->range_count != 0 && seq_lt(end, c->ranges[c->range_count - 1].to))
        c->ranges[c->range_count - 1].to = end;
}

static void note_fin(struct tcp_connection *c, const struct packet *p)
{
    uint32_t fin = p->sequence + (uint32_t)p->payload_octets;

    if ((p->flags & TCP_FLAG_FIN) == 0 || c->fin_seen || seq_lt(c->status.rcv_nxt + receive_window(c), fin) ||
        seq_lt(fin, c->status.rcv_nxt))
        return;
    c->fin_seen = true;
    c->fin_sequence = fin;
    c->fin_with_data = p->payload_octets > 0;
    forget_behind(c, fin);
}

/* The peer's FIN, once everything before it is here (RFC 9293 section 3.10.7.4, eighth step). */
static void receive_fin(struct tcp_connection *c)
{
    if (!c->fin_seen || c->status.peer_fin || c->status.rcv_nxt != c->fin_sequence)
        return;
    c->status.rcv_nxt++;
    c->status.peer_fin = true;
    c->status.peer_fin_with_data = c->fin_with_data;
    c->status.peer_fin_ns = time_of_event(c);
    c->status.peer_end_acknowledgment = c->status.snd_una;
    tcp_began_to_end(c, TCP_CAUSE_PEER_FIN);
    if (c->status.state == TCP_STATE_ESTABLISHED)
        c->status.state = TCP_STATE_CLOSE_WAIT;
    else if (c->status.state == TCP_STATE_FIN_WAIT_1)
        c->status.state = TCP_STATE_CLOSING;
    want_ack_at_once(c);
    tcp_raise(c, TCP_EVENT_PEER_FIN);
    if (c->status.state == TCP_STATE_FIN_WAIT_2) {
        tcp_enter_time_wait(c);
        want_ack_at_once(c);
    }
}

/* Segments that the window does not cover, and the RST and SYN that it does. Returns true to go on. */
static bool check_segment(struct tcp_connection *c, const struct packet *p)
{
    if (c->status.state == TCP_STATE_SYN_RECEIVED && (p->flags & (TCP_FLAG_SYN | TCP_FLAG_RST)) == TCP_FLAG_SYN &&
        p->sequence == c->status.irs && (p->flags & TCP_FLAG_ACK) == 0) {
        tcp_retransmit_first(c); /* our SYN and ACK was lost */
        return false;
    }
    if (!is_acceptable(c, p)) {
        if ((p->flags & TCP_FLAG_RST) != 0)
            return false;
        if (segment_length(p) > 0)
            c->status.duplicates++;
        if (seq_le(p->sequence + (uint32_t)p->payload_octets, c->status.rcv_nxt))
            tcp_receive_repeat(c, p);
        if (c->status.state == TCP_STATE_TIME_WAIT)
            c->end_at = c->stack->now + TCP_TIME_WAIT_NS;
        if (c->status.state != TCP_STATE_SYN_RECEIVED)
            want_ack_at_once(c);
        /* The SYN and ACK again in answer to ours while both opened at once carries the ACK that we wait for. */
        return c->status.state == TCP_STATE_SYN_RECEIVED && !c->status.passive && (p->flags & TCP_FLAG_SYN) != 0;
    }
    if ((p->flags & TCP_FLAG_RST) != 0) {
        if (c->status.state == TCP_STATE_TIME_WAIT)
            return false; /* an answer to an old duplicate; it closed in order (RFC 1337) */
        if (p->sequence == c->status.rcv_nxt)
            peer_reset(c, p);
        else
            want_ack_at_once(c); /* RFC 5961 section 3.2 */
        return false;
    }
    if ((p->flags & TCP_FLAG_SYN) != 0) {
        want_ack_at_once(c); /* RFC 5961 section 4.2 */
        return false;
    }
    return true;
}

static void input_synchronized(struct tcp_connection *c, const struct packet *p)
{
    if (!check_segment(c, p) || (p->flags & TCP_FLAG_ACK) == 0)
        return;
    c->status.last_input_ns = time_of_event(c);
    if (c->status.state == TCP_STATE_SYN_RECEIVED) {
        if (seq_le(p->acknowledgment, c->status.iss) || seq_lt(c->snd_max, p->acknowledgment)) {
            tcp_send_reset_for(c->stack, p);
            return;
        }
        tcp_process_ack(c, p->acknowledgment);
        c->status.peer_window = p->window;
        establish(c);
    }
    if (!input_ack(c, p))
        return;
    if (c->status.state != TCP_STATE_ESTABLISHED && c->status.state != TCP_STATE_FIN_WAIT_1 &&
        c->status.state != TCP_STATE_FIN_WAIT_2) {
        if (segment_length(p) > 0)
            want_ack_at_once(c);
        return;
    }
    note_fin(c, p);
    if (p->payload_octets > 0)
        input_octets(c, p);
    if (c->status.state != TCP_STATE_CLOSED) /* the caller may have aborted on what it read */
        receive_fin(c);
}

void tcp_input_segment(struct tcp_stack *stack, const struct packet *packet)
{
    struct tcp_connection *c = find_connection(stack, packet);

    if (c != NULL && c->status.state == TCP_STATE_TIME_WAIT && (packet->flags & TCP_FLAG_SYN) != 0 &&
        (packet->flags & (TCP_FLAG_ACK | TCP_FLAG_RST)) == 0 && seq_lt(c->status.rcv_nxt, packet->sequence)) {
        tcp_connection_close(c, TCP_CAUSE_NONE); /* a new life of the same pair of ports (RFC 9293 section 3.6.1) */
        c = NULL;
    }
    if (c == NULL) {
        no_connection(stack, packet);
        return;
    }
    if (packet->fragmentable && packet->payload_octets != 0)
        c->status.fragmentable++;
    if (c->fin_seen && packet->payload_octets != 0 &&
        seq_lt(c->fin_sequence, packet->sequence + (uint32_t)packet->payload_octets))
        c->status.after_fin++;
    tcp_note_sack(c, packet);
    if (c->status.state == TCP_STATE_SYN_SENT)
        input_syn_sent(c, packet);
    else
        input_synchronized(c, packet);
    if (c->status.state == TCP_STATE_CLOSED)
        return;
    tcp_output(c);
    if (c->ack_wanted)
        tcp_send_ack(c);
}
