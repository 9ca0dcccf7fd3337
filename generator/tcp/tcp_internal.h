/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the TCP endpoint share: tcp.c, tcp_send.c, tcp_output.c, tcp_input.c, tcp_neighbour.c. */
#ifndef GENERATOR_TCP_INTERNAL_H
#define GENERATOR_TCP_INTERNAL_H

#include "generator/link/link.h"
#include "generator/packet/packet.h"
#include "generator/packet/packet_fragment.h"
#include "generator/link/random.h"
#include "generator/tcp/tcp.h"

#define TCP_NEVER          UINT64_MAX
#define TCP_RTO_INITIAL_NS UINT64_C(1000000000) /* RFC 6298 section 2.1 */
#define TCP_RTO_MAX_NS     UINT64_C(60000000000)
#define TCP_TIME_WAIT_NS   UINT64_C(30000000000) /* longer than a peer retransmits its FIN while the wire is bad */
#define TCP_LINGER_NS      UINT64_C(60000000000) /* for a released connection whose peer never closes */
#define TCP_ACK_DELAY_NS   UINT64_C(40000000)
#define TCP_ATTEMPTS       8
#define TCP_RANGES         64 /* gaps that reassembly keeps; more are dropped and come again */
#define TCP_BACKLOG        128

/* Sequence numbers are compared modulo 2^32 (RFC 9293 section 3.4). */
static inline bool seq_lt(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static inline bool seq_le(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) <= 0;
}

/* Octets in order: appended at the end, removed from the front. `head + length <= capacity`. */
struct tcp_queue {
    uint8_t *octets;
    size_t head;
    size_t length;
    size_t capacity;
};

/* Room for `count` octets after `length`. Returns 0, or -1 when memory is out. */
int tcp_queue_reserve(struct tcp_queue *queue, size_t count);
int tcp_queue_append(struct tcp_queue *queue, const uint8_t *octets, size_t count); /* NULL: zeros */
void tcp_queue_drop(struct tcp_queue *queue, size_t count);

/* A piece of the stream: planned (not yet sent) or sent (not yet acknowledged). */
struct tcp_piece {
    uint32_t sequence; /* sent only */
    uint32_t octets;
    uint8_t flags; /* SYN, FIN, PSH */
    bool exact;    /* leaves whole */
    bool hole;     /* the tester's own doing: never retransmitted */
    bool again;    /* was retransmitted: no round-trip sample (Karn, RFC 6298 section 3) */
    uint64_t sent_ns;
};

/* A ring of pieces; capacity is a power of two. */
struct tcp_ring {
    struct tcp_piece *pieces;
    size_t first;
    size_t count;
    size_t capacity;
};

struct tcp_piece *tcp_ring_at(const struct tcp_ring *ring, size_t index);
struct tcp_piece *tcp_ring_push(struct tcp_ring *ring); /* zeroed, or NULL when memory is out */
void tcp_ring_pop(struct tcp_ring *ring);

struct tcp_connection {
    struct tcp_connection *prev;
    struct tcp_connection *next;
    struct tcp_stack *stack;
    struct tcp_status status;
    struct tcp_options options;
    bool released;  /* the caller has released it */
    bool handed;    /* tcp_accept() gave it out, or tcp_connect() did */
    uint64_t order; /* of establishment, for tcp_accept() */

    uint8_t mac[6];
    bool mac_known;

    /* sending: `out` holds the stream from out_sequence on; `sent` then `plan` lie over it */
    struct tcp_queue out;
    uint32_t out_sequence;
    struct tcp_ring sent;
    struct tcp_ring plan;
    bool fin_planned;
    uint32_t snd_max;    /* highest sequence number ever emitted, by raw segments too */
    uint32_t window_seq; /* SND.WL1 */
    uint32_t window_ack; /* SND.WL2 */
    bool early_ack_set;  /* the peer acknowledged raw segments that SND.NXT has not passed yet */
    uint32_t early_ack;
    unsigned duplicate_acks;
    bool recovering;
    uint32_t recover;
    unsigned tries;  /* transmissions of the first piece */
    unsigned probes; /* unanswered window probes */
    uint64_t srtt;
    uint64_t rttvar;
    uint64_t rto;
    uint64_t rto_at;
    uint64_t persist_at;

    /* receiving: `in` holds octets in order; those out of order lie after, at their places, as `ranges` say */
    struct tcp_queue in;
    struct packet_range ranges[TCP_RANGES];
    unsigned range_count;
    uint32_t last_stored; /* where the latest received octets begin: SACK's first block reports them (RFC 2018 4) */
    bool fin_seen;
    bool fin_with_data;
    uint32_t fin_sequence;
    uint32_t acknowledged; /* what our last ACK said */
    uint32_t edge;         /* highest right edge ever advertised */
    uint16_t last_window;
    bool window_fixed;
    uint16_t window;
    enum tcp_ack_policy ack_policy;
    uint64_t ack_delay;
    uint64_t ack_at;
    unsigned unacked_segments;
    bool ack_wanted; /* an ACK goes out when the current input is done */

    uint64_t end_at; /* TIME_WAIT's or a lingering connection's end */
};

struct tcp_listener {
    struct tcp_listener *next;
    uint16_t port;
    struct tcp_options options;
};

struct tcp_neighbour {
    struct tcp_neighbour *next;
    struct net_address address;
    uint8_t mac[6];
    bool known;
    unsigned attempts;
    uint64_t retry_at;
};

struct tcp_stack {
    struct tcp_stack_config config;
    struct random random;
    uint64_t now;
    uint16_t identification;
    uint64_t order;
    uint64_t bad_frames;
    uint64_t unreachable;
    unsigned depth; /* inside input or tick: connections are not freed */
    struct tcp_connection *connections;
    struct tcp_connection *spare; /* freed connections with their buffers */
    struct tcp_listener *listeners;
    struct tcp_neighbour *neighbours;
    struct packet_reassembly *reassembly; /* NULL: no fragment has come */
    uint8_t frame[LINK_FRAME_CAPACITY + 1];
};

/* tcp.c */
struct tcp_connection *tcp_connection_new(struct tcp_stack *stack, const struct tcp_options *options,
                                          const struct net_address *local, const struct net_address *peer,
                                          uint16_t local_port, uint16_t peer_port);
void tcp_connection_free(struct tcp_connection *c);
void tcp_connection_close(struct tcp_connection *c, enum tcp_cause cause); /* to TCP_STATE_CLOSED, with the event */
void tcp_raise(struct tcp_connection *c, enum tcp_event event);
void tcp_enter_time_wait(struct tcp_connection *c);
void tcp_began_to_end(struct tcp_connection *c, enum tcp_cause cause);
const struct net_address *tcp_own_address(const struct tcp_stack *stack, uint8_t family);
struct tcp_listener *tcp_find_listener(const struct tcp_stack *stack, uint16_t port);
void tcp_enter(struct tcp_stack *stack, uint64_t now);
void tcp_leave(struct tcp_stack *stack);

/* tcp_output.c */
void tcp_output(struct tcp_connection *c);  /* sends what plan and window allow */
int tcp_send_syn(struct tcp_connection *c); /* SYN, or SYN and ACK, for the first time */
void tcp_send_ack(struct tcp_connection *c);
void tcp_retransmit_first(struct tcp_connection *c);
void tcp_arm_rto(struct tcp_connection *c);
void tcp_on_rto(struct tcp_connection *c);
void tcp_on_persist(struct tcp_connection *c);
void tcp_send_reset_for(struct tcp_stack *stack, const struct packet *packet);
void tcp_send_reset(struct tcp_connection *c);
void tcp_transmit_piece(struct tcp_connection *c, const struct tcp_piece *piece);
void tcp_fin_sent(struct tcp_connection *c);
int tcp_transmit(struct tcp_connection *c, struct packet_tcp *fields);
int tcp_transmit_fragments(struct tcp_connection *c, struct packet_tcp *fields, size_t size, bool last_first);
uint32_t tcp_ack_number(const struct tcp_connection *c);
uint16_t tcp_window_field(struct tcp_connection *c, uint32_t ack);
bool tcp_window_update_due(struct tcp_connection *c);

/* tcp_input.c */
void tcp_input_segment(struct tcp_stack *stack, const struct packet *packet);
void tcp_process_ack(struct tcp_connection *c, uint32_t ack);

/* tcp_receive.c: octets that were received, at their place; and the next ones, with nothing out of order. */
void tcp_store(struct tcp_connection *c, const uint8_t *octets, uint32_t from, uint32_t to);
void tcp_store_next(struct tcp_connection *c, const uint8_t *octets, uint32_t count);

/*
 * The fault of take_repeats: the stream gets a segment's octets a second time, and sequence numbers do not change.
 */
void tcp_receive_repeat(struct tcp_connection *c, const struct packet *p);

/* tcp_fragment.c */
int tcp_emit_fragments(struct tcp_stack *stack, size_t octets, size_t size, bool last_first); /* of the stack's frame */
void tcp_input_packet(struct tcp_stack *stack, const struct packet *packet); /* a segment to an address of the stack */
void tcp_input_fragment(struct tcp_stack *stack, const struct packet *fragment, const uint8_t *frame);

/*
 * tcp_sack.c. The option with what came after a gap, the newest first, as far as there is room (RFC 2018 4): its
 * length, or 0.
 */
size_t tcp_sack_option(const struct tcp_connection *c, uint8_t option[2 + 8 * PACKET_SACKS_MAX]);
void tcp_note_sack(struct tcp_connection *c, const struct packet *p);

/* tcp_neighbour.c */
bool tcp_neighbour_lookup(struct tcp_stack *stack, const struct net_address *peer,
                          uint8_t mac[6]); /* asks if not known */
int tcp_neighbour_learn(struct tcp_stack *stack, const struct net_address *address, const uint8_t mac[6], bool create);
void tcp_neighbour_input(struct tcp_stack *stack, const struct packet *packet);
void tcp_neighbour_tick(struct tcp_stack *stack);
uint64_t tcp_neighbour_deadline(const struct tcp_stack *stack);

#endif
