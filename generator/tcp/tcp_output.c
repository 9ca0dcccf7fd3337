/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments out of connections: the stream, retransmission (RFC 6298), window probes, ACK and RST. */
#include <string.h>

#include "generator/tcp/tcp_internal.h"

uint32_t tcp_ack_number(const struct tcp_connection *c)
{
    return c->ack_policy == TCP_ACK_WITHHELD ? c->acknowledged : c->status.rcv_nxt;
}

/* The automatic window's right edge: never drawn back (RFC 9293 section 3.8.6). */
static uint32_t automatic_edge(const struct tcp_connection *c)
{
    uint32_t waiting = c->in.length < TCP_DEFAULT_WINDOW ? (uint32_t)c->in.length : TCP_DEFAULT_WINDOW;
    uint32_t edge = c->status.rcv_nxt + (TCP_DEFAULT_WINDOW - waiting);

    return seq_lt(edge, c->edge) ? c->edge : edge;
}

uint16_t tcp_window_field(struct tcp_connection *c, uint32_t ack)
{
    uint32_t window = c->window_fixed ? c->window : automatic_edge(c) - ack;

    if (window > TCP_DEFAULT_WINDOW)
        window = TCP_DEFAULT_WINDOW;
    if (seq_lt(c->edge, ack + window))
        c->edge = ack + window;
    c->last_window = (uint16_t)window;
    return (uint16_t)window;
}

/* Receiver's silly window avoidance (RFC 9293 section 3.8.6.2.2): only a large enough opening is announced. */
bool tcp_window_update_due(struct tcp_connection *c)
{
    uint32_t gain;

    if (c->window_fixed || c->ack_policy == TCP_ACK_WITHHELD || c->status.irs == c->status.rcv_nxt)
        return false;
    gain = automatic_edge(c) - c->edge;
    return gain >= TCP_DEFAULT_WINDOW / 2 || (c->last_window < c->status.mss && gain >= c->status.mss);
}

/* Fills in who talks to whom, builds, emits, and remembers what the peer may now acknowledge. */
int tcp_transmit_fragments(struct tcp_connection *c, struct packet_tcp *fields, size_t size, bool last_first)
{
    struct tcp_stack *stack = c->stack;
    uint32_t end = fields->sequence + (uint32_t)fields->payload_octets;
    size_t octets;

    if (!c->mac_known)
        return -1;
    if ((fields->flags & TCP_FLAG_SYN) != 0)
        end++;
    if ((fields->flags & TCP_FLAG_FIN) != 0)
        end++;
    memcpy(fields->ethernet_source, stack->config.mac, 6);
    memcpy(fields->ethernet_destination, c->mac, 6);
    fields->source = c->status.local;
    fields->destination = c->status.peer;
    fields->source_port = c->status.local_port;
    fields->destination_port = c->status.peer_port;
    fields->identification = stack->identification++;
    fields->fragmentable = c->options.fragmentable;
    octets = packet_build_tcp(stack->frame, LINK_FRAME_CAPACITY, fields);
    if (octets == 0)
        return -1;
    if (seq_lt(c->snd_max, end))
        c->snd_max = end;
    if (size == 0)
        stack->config.emit(stack->config.context, stack->frame, octets);
    else
        return tcp_emit_fragments(stack, octets, size, last_first);
    return 0;
}

int tcp_transmit(struct tcp_connection *c, struct packet_tcp *fields)
{
    return tcp_transmit_fragments(c, fields, 0, false);
}

/* Puts acknowledgment and window in, and forgets the ACKs that this segment makes superfluous. */
static void set_acknowledgment(struct tcp_connection *c, struct packet_tcp *fields)
{
    fields->flags |= TCP_FLAG_ACK;
    fields->acknowledgment = tcp_ack_number(c);
    fields->window = tcp_window_field(c, fields->acknowledgment);
    c->acknowledged = fields->acknowledgment;
    c->ack_wanted = false;
    c->ack_at = TCP_NEVER;
    c->unacked_segments = 0;
}

void tcp_send_ack(struct tcp_connection *c)
{
    struct packet_tcp fields = {.sequence = c->status.snd_nxt};
    uint8_t sack[2 + 8 * PACKET_SACKS_MAX];

    set_acknowledgment(c, &fields);
    fields.options_octets = tcp_sack_option(c, sack);
    fields.options = sack;
    (void)tcp_transmit(c, &fields);
}

void tcp_transmit_piece(struct tcp_connection *c, const struct tcp_piece *piece)
{
    struct packet_tcp fields = {.sequence = piece->sequence, .flags = piece->flags};
    uint8_t options[4 + 2];

    if (piece->octets > 0) {
        fields.payload = c->out.octets + c->out.head + (piece->sequence - c->out_sequence);
        fields.payload_octets = piece->octets;
    }
    fields.options = options;
    if ((piece->flags & TCP_FLAG_SYN) != 0 && !c->options.omit_mss)
        fields.options_octets = packet_mss_option(options, c->options.mss);
    if ((piece->flags & TCP_FLAG_SYN) != 0 && c->options.sack && (!c->status.passive || c->status.peer_sack))
        fields.options_octets += packet_sack_permitted_option(options + fields.options_octets);
    if (c->status.state == TCP_STATE_SYN_SENT)
        fields.window = c->window_fixed ? c->window : TCP_DEFAULT_WINDOW;
    else
        set_acknowledgment(c, &fields);
    (void)tcp_transmit(c, &fields);
}

void tcp_arm_rto(struct tcp_connection *c)
{
    if (c->sent.count == 0 || tcp_ring_at(&c->sent, 0)->hole)
        c->rto_at = TCP_NEVER;
    else
        c->rto_at = c->stack->now + c->rto;
}

int tcp_send_syn(struct tcp_connection *c)
{
    struct tcp_piece *piece = tcp_ring_push(&c->sent);

    if (piece == NULL)
        return -1;
    piece->sequence = c->status.iss;
    piece->flags = TCP_FLAG_SYN;
    piece->sent_ns = c->stack->now;
    c->status.snd_nxt = c->status.iss + 1;
    tcp_transmit_piece(c, piece);
    tcp_arm_rto(c);
    return 0;
}

void tcp_fin_sent(struct tcp_connection *c)
{
    c->status.local_fin = true;
    tcp_began_to_end(c, TCP_CAUSE_LOCAL_FIN);
    if (c->status.state == TCP_STATE_ESTABLISHED)
        c->status.state = TCP_STATE_FIN_WAIT_1;
    else if (c->status.state == TCP_STATE_CLOSE_WAIT)
        c->status.state = TCP_STATE_LAST_ACK;
}

/* The fault of octets_after_fin: a stream that has ended goes on. */
static void send_after_fin(struct tcp_connection *c)
{
    static const uint8_t late[20] = {0};
    struct packet_tcp fields = {
        .sequence = c->status.snd_nxt, .flags = TCP_FLAG_PSH, .payload = late, .payload_octets = sizeof(late)};

    set_acknowledgment(c, &fields);
    (void)tcp_transmit(c, &fields);
}

static uint32_t usable_window(const struct tcp_connection *c)
{
    uint32_t in_flight = c->status.snd_nxt - c->status.snd_una;

    return c->status.peer_window > in_flight ? c->status.peer_window - in_flight : 0;
}

/* How much of the next planned piece may leave now; false: none of it. `cut` lets a window cut an exact piece. */
static bool may_leave(const struct tcp_connection *c, const struct tcp_piece *piece, bool cut, uint32_t *take)
{
    uint32_t usable = usable_window(c);
    bool idle = c->status.snd_nxt == c->status.snd_una;

    *take = piece->octets;
    if (!piece->exact && *take > c->status.mss)
        *take = c->status.mss;
    if (*take <= usable)
        return true;
    if (usable == 0 || !idle || (piece->exact && !cut))
        return false;
    *take = usable;
    return true;
}

/* Sends the first `take` octets of the first planned piece. */
static int send_planned(struct tcp_connection *c, uint32_t take)
{
    struct tcp_piece *plan = tcp_ring_at(&c->plan, 0);
    struct tcp_piece *piece = tcp_ring_push(&c->sent);
    bool whole = take == plan->octets;

    if (piece == NULL)
        return -1;
    piece->sequence = c->status.snd_nxt;
    piece->octets = take;
    piece->flags = whole ? plan->flags : 0;
    piece->sent_ns = c->stack->now;
    c->status.snd_nxt += take;
    c->status.octets_sent += take;
    plan->octets -= take;
    if (whole)
        tcp_ring_pop(&c->plan);
    if ((piece->flags & TCP_FLAG_FIN) != 0) {
        c->status.snd_nxt++;
        tcp_fin_sent(c);
    }
    tcp_transmit_piece(c, piece);
    if ((piece->flags & TCP_FLAG_FIN) != 0 && c->options.octets_after_fin)
        send_after_fin(c);
    if (c->rto_at == TCP_NEVER)
        tcp_arm_rto(c);
    return 0;
}

static bool may_send_stream(const struct tcp_connection *c)
{
    return c->status.state == TCP_STATE_ESTABLISHED || c->status.state == TCP_STATE_CLOSE_WAIT;
}

void tcp_output(struct tcp_connection *c)
{
    uint32_t take;

    while (c->plan.count > 0 && may_send_stream(c) && may_leave(c, tcp_ring_at(&c->plan, 0), false, &take)) {
        if (send_planned(c, take) != 0) {
            tcp_send_reset(c);
            tcp_connection_close(c, TCP_CAUSE_LOCAL_ABORT); /* out of memory: abort, so that the caller learns of it */
            return;
        }
    }
    if (c->plan.count == 0 || !may_send_stream(c) || c->status.snd_nxt != c->status.snd_una)
        c->persist_at = TCP_NEVER;
    else if (c->persist_at == TCP_NEVER)
        c->persist_at = c->stack->now + c->rto;
}

/*
 * The persist timer (RFC 9293 section 3.8.6.1). The probe is an empty segment before SND.UNA, which any TCP answers
 * with its present window, and which leaves the stream's segment boundaries alone.
 */
void tcp_on_persist(struct tcp_connection *c)
{
    struct packet_tcp probe = {.sequence = c->status.snd_nxt - 1};
    unsigned shift = c->probes < 6 ? c->probes : 6;
    uint32_t take;

    c->persist_at = TCP_NEVER;
    if (c->plan.count == 0 || !may_send_stream(c))
        return;
    if (may_leave(c, tcp_ring_at(&c->plan, 0), true, &take)) {
        if (send_planned(c, take) == 0)
            tcp_output(c);
        return;
    }
    if (++c->probes > c->options.attempts) {
        tcp_send_reset(c);
        tcp_connection_close(c, TCP_CAUSE_TIMEOUT);
        return;
    }
    set_acknowledgment(c, &probe);
    (void)tcp_transmit(c, &probe);
    c->persist_at = c->stack->now + (c->rto << shift);
}

void tcp_retransmit_first(struct tcp_connection *c)
{
    struct tcp_piece *piece;

    if (c->sent.count == 0)
        return;
    piece = tcp_ring_at(&c->sent, 0);
    if (piece->hole)
        return;
    piece->again = true;
    c->status.retransmissions++;
    tcp_transmit_piece(c, piece);
}

void tcp_on_rto(struct tcp_connection *c)
{
    if (c->sent.count == 0 || tcp_ring_at(&c->sent, 0)->hole) {
        c->rto_at = TCP_NEVER;
        return;
    }
    if (++c->tries >= c->options.attempts) {
        if (c->status.state != TCP_STATE_SYN_SENT)
            tcp_send_reset(c);
        tcp_connection_close(c, TCP_CAUSE_TIMEOUT);
        return;
    }
    c->rto = c->rto * 2 < TCP_RTO_MAX_NS ? c->rto * 2 : TCP_RTO_MAX_NS;
    c->recovering = true;
    c->recover = c->status.snd_nxt;
    c->duplicate_acks = 0;
    tcp_retransmit_first(c);
    tcp_arm_rto(c);
}

void tcp_send_reset(struct tcp_connection *c)
{
    struct packet_tcp fields = {.sequence = c->status.snd_nxt, .flags = TCP_FLAG_RST};

    set_acknowledgment(c, &fields);
    (void)tcp_transmit(c, &fields);
}

/* RST in answer to a segment that belongs to nothing (RFC 9293 section 3.10.7.1). */
void tcp_send_reset_for(struct tcp_stack *stack, const struct packet *packet)
{
    struct packet_tcp fields = {
        .source = packet->destination,
        .destination = packet->source,
        .source_port = packet->destination_port,
        .destination_port = packet->source_port,
        .flags = TCP_FLAG_RST,
        .identification = stack->identification,
    };
    size_t octets;

    if ((packet->flags & TCP_FLAG_RST) != 0)
        return;
    stack->identification++;
    memcpy(fields.ethernet_source, stack->config.mac, 6);
    memcpy(fields.ethernet_destination, packet->ethernet_source, 6);
    if ((packet->flags & TCP_FLAG_ACK) != 0) {
        fields.sequence = packet->acknowledgment;
    } else {
        fields.flags |= TCP_FLAG_ACK;
        fields.acknowledgment = packet->sequence + (uint32_t)packet->payload_octets +
                                ((packet->flags & TCP_FLAG_SYN) != 0 ? 1 : 0) +
                                ((packet->flags & TCP_FLAG_FIN) != 0 ? 1 : 0);
    }
    octets = packet_build_tcp(stack->frame, LINK_FRAME_CAPACITY, &fields);
    if (octets != 0)
        stack->config.emit(stack->config.context, stack->frame, octets);
}
