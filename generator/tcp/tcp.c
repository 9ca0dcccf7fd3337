/* SPDX-License-Identifier: BSD-2-Clause */
/* The endpoint's frame: stacks, connections and listeners, their life and their clocks. */
#include "generator/tcp/tcp.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "generator/tcp/tcp_internal.h"

#define EPHEMERAL_FIRST 32768u
#define EPHEMERAL_COUNT 28232u

struct tcp_stack *tcp_stack_new(const struct tcp_stack_config *config, struct iwarp_sentence *error)
{
    struct tcp_stack *stack;

    if (config->emit == NULL || (config->ipv4.family != 4 && config->ipv6.family != 6)) {
        iwarp_sentence_set(error, "TCP endpoint: needs an IPv4 or IPv6 address and a way to send frames");
        return NULL;
    }
    stack = malloc(sizeof(*stack));
    if (stack == NULL) {
        iwarp_sentence_set(error, "TCP endpoint: out of memory");
        return NULL;
    }
    memset(stack, 0, offsetof(struct tcp_stack, frame)); /* the frame buffer need not be touched */
    stack->config = *config;
    stack->now = config->now;
    random_seed(&stack->random, config->seed);
    stack->identification = (uint16_t)random_next(&stack->random);
    return stack;
}

static void destroy(struct tcp_connection *c)
{
    free(c->out.octets);
    free(c->in.octets);
    free(c->sent.pieces);
    free(c->plan.pieces);
    free(c);
}

void tcp_stack_free(struct tcp_stack *stack)
{
    struct tcp_connection *c;
    struct tcp_connection *next;

    if (stack == NULL)
        return;
    DL_FOREACH_SAFE(stack->connections, c, next)
    destroy(c);
    while ((c = stack->spare) != NULL) {
        stack->spare = c->next;
        destroy(c);
    }
    while (stack->listeners != NULL) {
        struct tcp_listener *listener = stack->listeners;

        stack->listeners = listener->next;
        free(listener);
    }
    while (stack->neighbours != NULL) {
        struct tcp_neighbour *neighbour = stack->neighbours;

        stack->neighbours = neighbour->next;
        free(neighbour);
    }
    packet_reassembly_free(stack->reassembly);
    free(stack);
}

const struct net_address *tcp_own_address(const struct tcp_stack *stack, uint8_t family)
{
    const struct net_address *own = family == 4 ? &stack->config.ipv4 : &stack->config.ipv6;

    return own->family == family ? own : NULL;
}

struct tcp_listener *tcp_find_listener(const struct tcp_stack *stack, uint16_t port)
{
    for (struct tcp_listener *listener = stack->listeners; listener != NULL; listener = listener->next)
        if (listener->port == port)
            return listener;
    return NULL;
}

/* A recycled connection keeps its buffers, so that a steady state allocates nothing. */
static struct tcp_connection *blank_connection(struct tcp_stack *stack)
{
    struct tcp_connection *c = stack->spare;
    struct tcp_connection kept;

    if (c == NULL)
        return calloc(1, sizeof(*c));
    stack->spare = c->next;
    kept = *c;
    memset(c, 0, sizeof(*c));
    c->out.octets = kept.out.octets;
    c->out.capacity = kept.out.capacity;
    c->in.octets = kept.in.octets;
    c->in.capacity = kept.in.capacity;
    c->sent.pieces = kept.sent.pieces;
    c->sent.capacity = kept.sent.capacity;
    c->plan.pieces = kept.plan.pieces;
    c->plan.capacity = kept.plan.capacity;
    return c;
}

struct tcp_connection *tcp_connection_new(struct tcp_stack *stack, const struct tcp_options *options,
                                          const struct net_address *local, const struct net_address *peer,
                                          uint16_t local_port, uint16_t peer_port)
{
    struct tcp_connection *c = blank_connection(stack);

    if (c == NULL)
        return NULL;
    c->stack = stack;
    if (options != NULL)
        c->options = *options;
    if (c->options.mss == 0)
        c->options.mss = local->family == 4 ? TCP_DEFAULT_MSS_IPV4 : TCP_DEFAULT_MSS_IPV6;
    if (c->options.attempts == 0)
        c->options.attempts = TCP_ATTEMPTS;
    c->window_fixed = c->options.choose_window;
    c->window = c->options.window;
    c->ack_policy = c->options.withhold_acks       ? TCP_ACK_WITHHELD
                    : c->options.acks_late_ns != 0 ? TCP_ACK_LATE
                    : c->options.delay_acks        ? TCP_ACK_DELAYED
                                                   : TCP_ACK_AT_ONCE;
    c->status.local = *local;
    c->status.peer = *peer;
    c->status.local_port = local_port;
    c->status.peer_port = peer_port;
    c->status.iss = c->options.choose_iss ? c->options.iss : (uint32_t)random_next(&stack->random);
    c->status.snd_una = c->status.snd_nxt = c->snd_max = c->status.iss;
    c->out_sequence = c->status.iss + 1;
    c->rto = TCP_RTO_INITIAL_NS;
    c->rto_at = c->persist_at = c->ack_at = c->end_at = TCP_NEVER;
    c->ack_delay = c->options.acks_late_ns != 0 ? c->options.acks_late_ns : TCP_ACK_DELAY_NS;
    DL_APPEND(stack->connections, c);
    return c;
}

void tcp_connection_free(struct tcp_connection *c)
{
    struct tcp_stack *stack = c->stack;

    DL_DELETE(stack->connections, c);
    c->next = stack->spare;
    stack->spare = c;
}

void tcp_raise(struct tcp_connection *c, enum tcp_event event)
{
    struct tcp_stack *stack = c->stack;

    if (!c->released && stack->config.event != NULL) {
        stack->depth++; /* no connection is freed during the callback */
        stack->config.event(stack->config.context, c, event);
        stack->depth--;
    }
}

void tcp_began_to_end(struct tcp_connection *c, enum tcp_cause cause)
{
    bool orderly = c->status.cause == TCP_CAUSE_PEER_FIN || c->status.cause == TCP_CAUSE_LOCAL_FIN;
    bool overrides = cause != TCP_CAUSE_PEER_FIN && cause != TCP_CAUSE_LOCAL_FIN;

    if (c->status.cause == TCP_CAUSE_NONE || (orderly && overrides))
        c->status.cause = cause;
}

static void stop_timers(struct tcp_connection *c)
{
    c->rto_at = c->persist_at = c->ack_at = c->end_at = TCP_NEVER;
    c->ack_wanted = false;
}

void tcp_connection_close(struct tcp_connection *c, enum tcp_cause cause)
{
    bool open = c->status.state != TCP_STATE_TIME_WAIT && c->status.state != TCP_STATE_CLOSED;

    stop_timers(c);
    if (cause != TCP_CAUSE_NONE)
        tcp_began_to_end(c, cause);
    c->status.state = TCP_STATE_CLOSED;
    if (open) {
        c->status.closed_ns = c->stack->now;
        if (!c->status.passive || c->status.established_ns != 0)
            tcp_raise(c, TCP_EVENT_CLOSED);
    }
}

void tcp_enter_time_wait(struct tcp_connection *c)
{
    stop_timers(c);
    c->status.state = TCP_STATE_TIME_WAIT;
    c->status.closed_ns = c->stack->now;
    c->end_at = c->stack->now + TCP_TIME_WAIT_NS;
    tcp_raise(c, TCP_EVENT_CLOSED);
}

static bool is_finished(const struct tcp_connection *c)
{
    if (c->status.state != TCP_STATE_CLOSED)
        return false;
    return c->released || (c->status.passive && c->status.established_ns == 0); /* nobody ever saw that one */
}

static void sweep(struct tcp_stack *stack)
{
    struct tcp_connection *c;
    struct tcp_connection *next;

    DL_FOREACH_SAFE(stack->connections, c, next)
    if (is_finished(c))
        tcp_connection_free(c);
}

void tcp_stack_set_time(struct tcp_stack *stack, uint64_t now)
{
    if (now > stack->now)
        stack->now = now;
}

void tcp_enter(struct tcp_stack *stack, uint64_t now)
{
    tcp_stack_set_time(stack, now);
    stack->depth++;
}

void tcp_leave(struct tcp_stack *stack)
{
    if (--stack->depth == 0)
        sweep(stack);
}

static bool is_for(const struct tcp_stack *stack, const struct packet *packet)
{
    const struct net_address *own = tcp_own_address(stack, packet->destination.family);

    return memcmp(packet->ethernet_destination, stack->config.mac, 6) == 0 && own != NULL &&
           net_address_equal(&packet->destination, own);
}

void tcp_stack_input(struct tcp_stack *stack, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct packet packet;

    tcp_enter(stack, now);
    if (packet_parse(&packet, frame, octets, NULL) != 0)
        stack->bad_frames++;
    else if (packet.kind == PACKET_TCP && is_for(stack, &packet))
        tcp_input_packet(stack, &packet);
    else if (packet.kind == PACKET_FRAGMENT && is_for(stack, &packet))
        tcp_input_fragment(stack, &packet, frame);
    else if (packet.kind == PACKET_UNREACHABLE && is_for(stack, &packet))
        stack->unreachable++;
    else if (packet.kind != PACKET_TCP)
        tcp_neighbour_input(stack, &packet);
    tcp_leave(stack);
}

uint64_t tcp_stack_unreachable(const struct tcp_stack *stack)
{
    return stack->unreachable;
}

uint64_t tcp_stack_deadline(const struct tcp_stack *stack)
{
    uint64_t deadline = tcp_neighbour_deadline(stack);

    for (const struct tcp_connection *c = stack->connections; c != NULL; c = c->next) {
        if (c->rto_at < deadline)
            deadline = c->rto_at;
        if (c->persist_at < deadline)
            deadline = c->persist_at;
        if (c->ack_at < deadline)
            deadline = c->ack_at;
        if (c->end_at < deadline)
            deadline = c->end_at;
    }
    return deadline;
}

void tcp_stack_tick(struct tcp_stack *stack, uint64_t now)
{
    struct tcp_connection *c;

    tcp_enter(stack, now);
    tcp_neighbour_tick(stack);
    DL_FOREACH(stack->connections, c)
    {
        if (c->ack_at <= stack->now)
            tcp_send_ack(c);
        if (c->rto_at <= stack->now)
            tcp_on_rto(c);
        if (c->persist_at <= stack->now)
            tcp_on_persist(c);
        if (c->end_at <= stack->now) {
            if (c->status.state != TCP_STATE_TIME_WAIT && c->status.state != TCP_STATE_CLOSED)
                tcp_send_reset(c);
            tcp_connection_close(c, TCP_CAUSE_NONE);
        }
    }
    tcp_leave(stack);
}

uint64_t tcp_stack_bad_frames(const struct tcp_stack *stack)
{
    return stack->bad_frames;
}

static bool port_in_use(const struct tcp_stack *stack, const struct net_address *peer, uint16_t peer_port,
                        uint16_t local_port)
{
    for (const struct tcp_connection *c = stack->connections; c != NULL; c = c->next)
        if (c->status.state != TCP_STATE_CLOSED && c->status.local_port == local_port &&
            c->status.peer_port == peer_port && net_address_equal(&c->status.peer, peer))
            return true;
    return false;
}

static uint16_t choose_port(struct tcp_stack *stack, const struct net_address *peer, uint16_t peer_port)
{
    uint32_t start = (uint32_t)random_below(&stack->random, EPHEMERAL_COUNT);

    for (uint32_t i = 0; i < EPHEMERAL_COUNT; i++) {
        uint16_t port = (uint16_t)(EPHEMERAL_FIRST + (start + i) % EPHEMERAL_COUNT);

        if (!port_in_use(stack, peer, peer_port, port) && tcp_find_listener(stack, port) == NULL)
            return port;
    }
    return 0;
}

struct tcp_connection *tcp_connect(struct tcp_stack *stack, const struct net_address *peer, uint16_t port,
                                   const struct tcp_options *options, struct iwarp_sentence *error)
{
    const struct net_address *own = tcp_own_address(stack, peer->family);
    uint16_t local_port = options != NULL ? options->source_port : 0;
    struct tcp_connection *c;
    char text[46];

    net_address_format(peer, text, sizeof(text));
    if (own == NULL) {
        iwarp_sentence_set(error, "connect to %s port %u: the tester has no address of that family", text, port);
        return NULL;
    }
    if (local_port == 0)
        local_port = choose_port(stack, peer, port);
    if (local_port == 0 || port_in_use(stack, peer, port, local_port)) {
        iwarp_sentence_set(error, "connect to %s port %u: local port %u is in use", text, port, local_port);
        return NULL;
    }
    c = tcp_connection_new(stack, options, own, peer, local_port, port);
    if (c == NULL) {
        iwarp_sentence_set(error, "connect to %s port %u: out of memory", text, port);
        return NULL;
    }
    c->handed = true;
    c->status.state = TCP_STATE_SYN_SENT;
    c->mac_known = tcp_neighbour_lookup(stack, peer, c->mac);
    if (c->mac_known && tcp_send_syn(c) != 0) {
        iwarp_sentence_set(error, "connect to %s port %u: out of memory", text, port);
        tcp_connection_free(c);
        return NULL;
    }
    return c;
}

int tcp_listen(struct tcp_stack *stack, uint16_t port, const struct tcp_options *options, struct iwarp_sentence *error)
{
    struct tcp_listener *listener;

    if (port == 0 || tcp_find_listener(stack, port) != NULL)
        return iwarp_sentence_set(error, "listen on port %u: %s", port, port == 0 ? "not a port" : "already listening");
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL)
        return iwarp_sentence_set(error, "listen on port %u: out of memory", port);
    listener->port = port;
    if (options != NULL)
        listener->options = *options;
    listener->next = stack->listeners;
    stack->listeners = listener;
    return 0;
}

void tcp_unlisten(struct tcp_stack *stack, uint16_t port)
{
    for (struct tcp_listener **at = &stack->listeners; *at != NULL; at = &(*at)->next) {
        struct tcp_listener *listener = *at;

        if (listener->port != port)
            continue;
        *at = listener->next;
        free(listener);
        return;
    }
}

struct tcp_connection *tcp_accept(struct tcp_stack *stack, uint16_t port)
{
    struct tcp_connection *oldest = NULL;

    for (struct tcp_connection *c = stack->connections; c != NULL; c = c->next)
        if (!c->handed && c->status.established_ns != 0 && (port == 0 || c->status.local_port == port) &&
            (oldest == NULL || c->order < oldest->order))
            oldest = c;
    if (oldest != NULL)
        oldest->handed = true;
    return oldest;
}

void tcp_release(struct tcp_connection *connection)
{
    struct tcp_stack *stack;

    if (connection == NULL || connection->released)
        return;
    stack = connection->stack;
    connection->released = true;
    connection->handed = true;
    tcp_enter(stack, stack->now);
    if (connection->status.state == TCP_STATE_SYN_SENT) {
        tcp_connection_close(connection, TCP_CAUSE_LOCAL_ABORT);
    } else if (connection->status.state != TCP_STATE_CLOSED && connection->status.state != TCP_STATE_TIME_WAIT) {
        if (!connection->fin_planned)
            (void)tcp_shutdown(connection);
        connection->end_at = stack->now + TCP_LINGER_NS;
        tcp_consume(connection, SIZE_MAX);
    }
    tcp_leave(stack);
}

const struct tcp_status *tcp_status(const struct tcp_connection *connection)
{
    return &connection->status;
}

size_t tcp_unacknowledged(const struct tcp_connection *connection)
{
    return connection->out.length;
}

bool tcp_is_open(const struct tcp_connection *connection)
{
    return connection->status.state == TCP_STATE_ESTABLISHED && !connection->fin_planned;
}

void tcp_set_user(struct tcp_connection *connection, void *user)
{
    connection->options.user = user;
}

void *tcp_user(const struct tcp_connection *connection)
{
    return connection->options.user;
}

const char *tcp_state_name(enum tcp_state state)
{
    static const char *const names[] = {"CLOSED",     "SYN-SENT",   "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1",
                                        "FIN-WAIT-2", "CLOSE-WAIT", "CLOSING",      "LAST-ACK",    "TIME-WAIT"};

    return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

const char *tcp_cause_name(enum tcp_cause cause)
{
    static const char *const names[] = {"not closed",
                                        "closed by the peer (FIN)",
                                        "closed by us (FIN)",
                                        "reset by the peer (RST)",
                                        "aborted by us (RST)",
                                        "refused by the peer (RST to our SYN)",
                                        "timed out: no acknowledgment",
                                        "unreachable: nobody answers ARP or neighbour solicitation"};

    return (unsigned)cause < sizeof(names) / sizeof(names[0]) ? names[cause] : "unknown";
}
