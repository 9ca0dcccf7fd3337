/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our own TCP endpoint (RFC 9293), sans-I/O: frames and a clock go in, frames come out through a callback. With its
 * defaults it is an ordinary, correct TCP that works under loss, reordering and duplication; as a lower tester it lets
 * the tester choose the ISS, exact segment boundaries, order, duplicates, overlaps, gaps, when and what to acknowledge,
 * the window, and how a connection ends.
 *
 * A `struct tcp_stack` has one MAC with one IPv4 and one IPv6 address. It answers ARP and neighbour solicitation for
 * them, resolves its peers, answers segments for ports that nobody listens on with RST, and holds any number of
 * connections. All times are nanoseconds on one clock of the caller's, which never goes back. Ports and sequence
 * numbers are in host order. Left out on purpose: window scaling, SACK, time stamps, congestion control.
 *
 * The caller calls tcp_stack_input() for each frame, and tcp_stack_tick() at tcp_stack_deadline(). Calls that send
 * (tcp_send() and the rest) use the time of the last input or tick, or of tcp_stack_set_time().
 */
#ifndef GENERATOR_TCP_H
#define GENERATOR_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generator/packet/packet.h"
#include "base/sentence.h"

struct tcp_stack;
struct tcp_connection;

#define TCP_DEFAULT_MSS_IPV4 1460u
#define TCP_DEFAULT_MSS_IPV6 1440u
#define TCP_DEFAULT_WINDOW   65535u
#define TCP_RTO_MIN_NS       UINT64_C(200000000)
#define TCP_SEND_CAPACITY    (16u << 20) /* octets that a connection queues at most */

enum tcp_state {
    TCP_STATE_CLOSED,
    TCP_STATE_SYN_SENT,
    TCP_STATE_SYN_RECEIVED,
    TCP_STATE_ESTABLISHED,
    TCP_STATE_FIN_WAIT_1,
    TCP_STATE_FIN_WAIT_2,
    TCP_STATE_CLOSE_WAIT,
    TCP_STATE_CLOSING,
    TCP_STATE_LAST_ACK,
    TCP_STATE_TIME_WAIT
};

/* What ended a connection, or began to. The first cause stays, but a later RST or timeout overrides an orderly FIN. */
enum tcp_cause {
    TCP_CAUSE_NONE,        /* open, or still opening */
    TCP_CAUSE_PEER_FIN,    /* the peer's FIN came first */
    TCP_CAUSE_LOCAL_FIN,   /* our tcp_shutdown() came first */
    TCP_CAUSE_PEER_RESET,  /* RST on an open connection */
    TCP_CAUSE_LOCAL_ABORT, /* our tcp_abort() */
    TCP_CAUSE_REFUSED,     /* RST in answer to our SYN */
    TCP_CAUSE_TIMEOUT,     /* retransmissions ran out */
    TCP_CAUSE_UNREACHABLE  /* ARP or neighbour discovery found no such peer */
};

enum tcp_event {
    TCP_EVENT_ESTABLISHED,  /* active or passive open done; for a passive one tcp_accept() has it now */
    TCP_EVENT_DATA,         /* tcp_received() has grown */
    TCP_EVENT_ACKNOWLEDGED, /* the peer acknowledged more of what was sent */
    TCP_EVENT_EARLY,        /* octets came after a gap: tcp_early() has them */
    TCP_EVENT_PEER_FIN,     /* everything up to the peer's FIN has been received */
    /* both directions are at their end (TCP_STATE_TIME_WAIT or TCP_STATE_CLOSED); see tcp_status()->cause */
    TCP_EVENT_CLOSED
};

struct tcp_stack_config {
    uint8_t mac[6];
    struct net_address ipv4; /* family 0: none */
    struct net_address ipv6;
    struct net_address next_hop_ipv4; /* resolved instead of the peer, where the peer is after a router; else 0 */
    struct net_address next_hop_ipv6;
    uint64_t seed;       /* of ISS, ephemeral ports and IP identification */
    uint64_t now;        /* the clock at the start */
    bool drop_fragments; /* a fault: packets in IP fragments are not put together */

    /* Sends one whole frame; the octets are valid during the call only. It must not call back into the stack. */
    void (*emit)(void *context, const uint8_t *frame, size_t octets);

    /* Called for events; NULL if the caller polls. May call the stack, but not tcp_stack_free(). */
    void (*event)(void *context, struct tcp_connection *connection, enum tcp_event event);
    void *context;
};

/* A new stack, or NULL with a sentence (no address, no emit, memory). Cheap enough for one per check run. */
struct tcp_stack *tcp_stack_new(const struct tcp_stack_config *config, struct iwarp_sentence *error);

/* Frees the stack and all its connections; nothing is sent. NULL is allowed. */
void tcp_stack_free(struct tcp_stack *stack);

/* A frame from the link. Foreign and malformed frames are ignored. */
void tcp_stack_input(struct tcp_stack *stack, const uint8_t *frame, size_t octets, uint64_t now);

/* When tcp_stack_tick() is due next; UINT64_MAX: not before some input. */
uint64_t tcp_stack_deadline(const struct tcp_stack *stack);

/* Fires the timers that are due at `now`; calling early is harmless. */
void tcp_stack_tick(struct tcp_stack *stack, uint64_t now);

/* Sets the time before calls that send, if no input or tick came just before. */
void tcp_stack_set_time(struct tcp_stack *stack, uint64_t now);

/*
 * The MAC of a peer, or of the next hop to it, for frames that other code sends from the stack's address. False: it is
 * not known yet, and is being resolved.
 */
bool tcp_stack_neighbour(struct tcp_stack *stack, const struct net_address *peer, uint8_t mac[6]);

/* Sets a peer's MAC, so that it need not be resolved. Returns 0, or -1 when memory is out. */
int tcp_stack_add_neighbour(struct tcp_stack *stack, const struct net_address *address, const uint8_t mac[6]);

/* Frames ignored because a checksum was wrong, or because they were malformed. */
uint64_t tcp_stack_bad_frames(const struct tcp_stack *stack);

/* ICMP messages to the stack about a packet that was too big, or not reassembled in time. */
uint64_t tcp_stack_unreachable(const struct tcp_stack *stack);

/* True if there is a connection in any state, not yet freed, between our port and the peer's port. */
bool tcp_stack_has(const struct tcp_stack *stack, const struct net_address *peer, uint16_t own_port,
                   uint16_t peer_port);

/* How a connection is opened; all zero: defaults. Also given to tcp_listen() for connections accepted there. */
struct tcp_options {
    bool choose_iss;
    uint32_t iss;
    uint16_t mss;      /* offered in our SYN; 0: default of the family */
    bool omit_mss;     /* send no MSS option */
    uint16_t send_mss; /* a second limit of our own segments, with the peer's MSS; 0: as `mss` */
    bool choose_window;
    uint16_t window;       /* fixed receive window, as tcp_set_window() */
    bool fragmentable;     /* IPv4: segments without Don't Fragment */
    bool withhold_acks;    /* TCP_ACK_WITHHELD from the first octet on; tcp_listen() only */
    bool delay_acks;       /* TCP_ACK_DELAYED from the first octet on */
    uint64_t acks_late_ns; /* TCP_ACK_LATE with this delay from the first octet on; 0: not */
    /* SACK-permitted in our SYN (in a SYN+ACK only if the peer's SYN has it); then ACKs report octets after a gap */
    bool sack;
    bool sack_silent;      /* a fault: SACK-permitted, and no ACK reports anything */
    bool sack_shifted;     /* a fault: the blocks of SACK begin and end four octets too late */
    bool take_repeats;     /* a fault: octets received before are taken again, as the stream's next ones */
    bool octets_after_fin; /* a fault: a segment with octets follows the FIN, beyond it */
    uint16_t source_port;  /* 0: an ephemeral one; tcp_connect() only */
    unsigned attempts;     /* transmissions of one segment before TCP_CAUSE_TIMEOUT; 0: 8 */
    void *user;            /* tcp_user() of the connection */
};

/*
 * Active open to address and port. Returns the connection at once, in TCP_STATE_SYN_SENT (the SYN may wait for the
 * peer's MAC), or NULL with a sentence: no own address of that family, port in use, memory. options may be NULL.
 */
struct tcp_connection *tcp_connect(struct tcp_stack *stack, const struct net_address *peer, uint16_t port,
                                   const struct tcp_options *options, struct iwarp_sentence *error);

/* Passive open: connections to `port` are taken from now on. Returns 0, or -1 with a sentence. */
int tcp_listen(struct tcp_stack *stack, uint16_t port, const struct tcp_options *options, struct iwarp_sentence *error);

/* Stops listening; connections stay open. */
void tcp_unlisten(struct tcp_stack *stack, uint16_t port);

/* The oldest established connection to a listening port that was not yet handed out (port 0: any), or NULL. */
struct tcp_connection *tcp_accept(struct tcp_stack *stack, uint16_t port);

/*
 * Ends the caller's use of a connection at any time. If it is not closed, it is closed in order (FIN after the queued
 * octets); the stack frees it when this is done. The pointer is invalid after this. NULL is allowed.
 */
void tcp_release(struct tcp_connection *connection);

/* The state of a connection; valid and up to date until the connection is released. */
struct tcp_status {
    enum tcp_state state;
    enum tcp_cause cause;
    bool passive; /* opened by the peer */
    struct net_address local;
    struct net_address peer;
    uint16_t local_port;
    uint16_t peer_port;
    bool peer_fin;           /* peer's FIN received, in order */
    bool peer_fin_with_data; /* ... in a segment that carried octets */
    bool local_fin;          /* our FIN was sent */
    bool local_fin_acknowledged;
    uint64_t established_ns; /* times: 0 until it happened */
    uint64_t peer_fin_ns;
    uint64_t peer_reset_ns;
    uint64_t closed_ns;
    uint64_t last_input_ns; /* the last acceptable segment */
    uint64_t round_trip_ns; /* of the handshake; 0 when its SYN was retransmitted */
    uint32_t iss;
    uint32_t irs;
    uint32_t snd_una;
    uint32_t snd_nxt;
    /* what the peer had acknowledged when its FIN or RST came, by that segment or before */
    uint32_t peer_end_acknowledgment;
    uint32_t rcv_nxt;
    uint32_t peer_window;
    uint16_t mss;             /* effective: octets in one of our segments at most */
    uint64_t octets_received; /* in order */
    uint64_t octets_sent;     /* first transmissions */
    uint64_t retransmissions;
    uint64_t out_of_order; /* segments that begin beyond rcv_nxt */
    uint64_t duplicates;   /* segments that brought nothing new */
    uint64_t fragmentable; /* segments with octets that IPv4 may fragment: DF = 0 */
    uint64_t after_fin;    /* segments with octets beyond the peer's FIN */
    bool peer_sack;        /* the peer's SYN had SACK-permitted (RFC 2018 2) */
    uint64_t sack_count;   /* segments with a SACK option */
    unsigned sacks;        /* blocks of the last one of them (RFC 2018 3) */
    struct packet_range sack[PACKET_SACKS_MAX];
};

const struct tcp_status *tcp_status(const struct tcp_connection *connection);

/* Octets queued or sent and not yet acknowledged. */
size_t tcp_unacknowledged(const struct tcp_connection *connection);

/*
 * Octets of the stream that the peer has acknowledged, without SYN and FIN: in all, and by the time of its FIN or RST.
 */
uint64_t tcp_acknowledged(const struct tcp_connection *connection);
uint64_t tcp_acknowledged_at_end(const struct tcp_connection *connection);

/* True while the connection can carry data: established, and neither side has ended it. */
bool tcp_is_open(const struct tcp_connection *connection);

void tcp_set_user(struct tcp_connection *connection, void *user);
void *tcp_user(const struct tcp_connection *connection);

/* Words for messages: "ESTABLISHED", "reset by the peer". */
const char *tcp_state_name(enum tcp_state state);
const char *tcp_cause_name(enum tcp_cause cause);

/*
 * Sending. Octets are copied. All return 0, or -1 when the connection cannot send (not opening or open, FIN already
 * queued), the queue is full (TCP_SEND_CAPACITY), or memory is out. What is sent before the connection is established
 * leaves when it is.
 */

/* The stream's next octets: segments of the effective MSS, the last with PSH, no Nagle. */
int tcp_send(struct tcp_connection *connection, const uint8_t *octets, size_t count);

/*
 * The same with exact segment boundaries: `lengths` holds `segments` lengths whose sum is `count`. Each segment leaves
 * whole, also when it is retransmitted; -1 when one is longer than the effective MSS. Only a peer's window smaller
 * than the segment can cut it, and only after the persist timer.
 */
int tcp_send_segments(struct tcp_connection *connection, const uint8_t *octets, size_t count, const size_t *lengths,
                      size_t segments);

/*
 * The same, but the segments leave at once in the order that `order` gives (`transmissions` indexes into lengths; one
 * may come twice: a duplicate; one may be missing: it leaves by retransmission after the RTO). The peer's window is
 * ignored. -1 also when queued octets wait, or the connection is not established.
 */
int tcp_send_ordered(struct tcp_connection *connection, const uint8_t *octets, size_t count, const size_t *lengths,
                     size_t segments, const size_t *order, size_t transmissions);

/* Queues a FIN after what is queued: an orderly close of our direction. -1 when there was one already. */
int tcp_shutdown(struct tcp_connection *connection);

/* The stream's last octets, with the FIN in the same segment as the last of them. */
int tcp_send_fin(struct tcp_connection *connection, const uint8_t *octets, size_t count);

/* Sends RST at once and closes; queued octets are dropped. Harmless when closed already. */
void tcp_abort(struct tcp_connection *connection);

/* One segment with exactly these fields, for what the stream calls cannot send. All zero: an empty ACK at SND.NXT. */
struct tcp_segment_spec {
    bool absolute;     /* `sequence` is the number itself; else it is relative to SND.NXT */
    uint32_t sequence; /* relative: may be negative, as (uint32_t)-n */
    bool set_flags;
    uint8_t flags; /* enum tcp_flag; default: ACK, and PSH with payload */
    bool set_acknowledgment;
    uint32_t acknowledgment; /* default: RCV.NXT, as far as the ACK policy lets it */
    bool set_window;
    uint16_t window;
    uint16_t urgent;
    const uint8_t *options;
    size_t options_octets;
    const uint8_t *payload;
    size_t payload_octets;
    bool bad_checksum;        /* TCP checksum wrong in one bit */
    size_t fragment_octets;   /* the IP packet leaves in fragments of so many octets, a multiple of 8; 0: whole */
    bool last_fragment_first; /* ... in reversed order */
    bool advance;             /* the payload is the stream's next octets: SND.NXT moves, and it is retransmitted if need
                                 be; asks for sequence == SND.NXT and nothing queued */
};

/*
 * Sends the segment at once, with no regard to windows or state (also on a closed connection, as long as it is not
 * released). Returns 0, or -1 (peer's MAC unknown, too long, `advance` not possible).
 */
int tcp_send_raw_segment(struct tcp_connection *connection, const struct tcp_segment_spec *spec);

/*
 * Moves SND.NXT over `count` octets as if they had been sent (a raw segment did it, or the tester leaves a gap). With
 * `octets` they are retransmitted when not acknowledged; NULL: never, the gap stays. Nothing may be queued. Returns as
 * the calls above.
 */
int tcp_skip(struct tcp_connection *connection, const uint8_t *octets, size_t count);

/* Drops the retransmission queue: unacknowledged octets are never sent again, as in a TCP that loses its queue. */
void tcp_forget(struct tcp_connection *connection);

/* Receiving. */

/*
 * The in-order octets received and not yet consumed. *octets is valid until the next call on this stack other than
 * tcp_status() and the like. Returns *count.
 */
size_t tcp_received(const struct tcp_connection *connection, const uint8_t **octets, size_t *count);

/*
 * The octets held after a gap, the n-th run of them (from 0): *gap octets lie between the first octet that is not yet
 * consumed and them. They stay, and come in order when the gap is closed. Valid as those of tcp_received(). Returns
 * *count, 0 when there are not so many runs.
 */
size_t tcp_early(const struct tcp_connection *connection, unsigned n, size_t *gap, const uint8_t **octets,
                 size_t *count);

/* Drops the first `count` octets received in order (at most what is there) and opens the window accordingly. */
void tcp_consume(struct tcp_connection *connection, size_t count);

enum tcp_ack_policy {
    TCP_ACK_AT_ONCE, /* every segment with octets is acknowledged when it comes; the default */
    TCP_ACK_DELAYED, /* every second one, or after the delay (RFC 9293 section 3.8.6.3) */
    TCP_ACK_LATE,    /* after the delay, however many came */
    TCP_ACK_WITHHELD /* the acknowledgment number does not advance, also on data segments, until tcp_ack_now() */
};

/* Chooses the policy. delay_ns: for TCP_ACK_DELAYED and TCP_ACK_LATE, 0: 40 ms. */
void tcp_set_ack_policy(struct tcp_connection *connection, enum tcp_ack_policy policy, uint64_t delay_ns);

/* Sends an ACK for everything received in order, independent of the policy. */
void tcp_ack_now(struct tcp_connection *connection);

/* Fixes the advertised receive window (0 shuts it) and, when established, says so to the peer at once. */
void tcp_set_window(struct tcp_connection *connection, uint16_t window);

/* Back to the automatic window: 65535 less what waits to be consumed. */
void tcp_set_window_auto(struct tcp_connection *connection);

#endif
