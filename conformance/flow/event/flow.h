/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder: frames in, events out. One decoder for the live wire, for capture files and for the Wireshark plugin;
 * it knows none of them. Link and network headers, TCP reassembly, MPA start-up and framing, SCTP, DDP and RDMAP, and
 * the CM messages of InfiniBand and RoCE are done here, once.
 *
 * A flow is one TCP connection (one life of a 4-tuple) on which MPA was recognised. Nothing is reported of other
 * connections: the first event of a flow is FLOW_TCP_OPEN when a SYN was seen, else its first MPA frame or FPDU. Its
 * last event is FLOW_END; the flow is freed when the sink returns from it.
 *
 * Directions: 0 is from the MPA Initiator (the sender of the Request Frame) to the Responder. When no start-up frame
 * was captured it is from the TCP active opener, without a SYN from the sender of the first frame; then
 * `flow->roles_known` is false.
 *
 * One FPDU gives FLOW_ULPDU, then FLOW_DDP, then FLOW_RDMAP when the DDP header is whole: the sink is called once, with
 * the first of them, and `next` leads to the others. An FPDU with a bad CRC gives FLOW_ULPDU alone: a receiver drops
 * it, and nobody knows which of its octets are wrong; it sets flow->gap. The state of the flow (everything in `struct
 * flow_half`) is as it was BEFORE that FPDU for all three, and is brought up to date after the call; so a rule compares
 * the event with the state. Start-up frames likewise: flow->tcp->start[] and
 * flow->half[].tcp->framing hold a frame's consequence only after its FLOW_MPA_START.
 *
 * Over SCTP (conformance/flow/sctp/flow_sctp.h) a flow is an association in which DDP was recognised
 * (FLOW_ASSOCIATION), and another one each DDP stream session in it (FLOW_STREAM): events of the first are FLOW_SCTP,
 * those of the second FLOW_SESSION, and FLOW_ULPDU, FLOW_DDP and FLOW_RDMAP as over MPA, in the order of their
 * DDP-SSNs. An exchange of CM messages is a flow too (FLOW_CM_EXCHANGE, conformance/flow/cm/flow_cm.h).
 *
 * Everything an event points to is valid during the call only, the flow until FLOW_END. Numbers are in host order,
 * lengths in octets, times in nanoseconds since 1970 (or whatever clock the caller uses).
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow_account.h"
#include "conformance/flow/event/flow_event.h"
#include "conformance/flow/event/flow_half.h"
#include "conformance/flow/event/flow_inside.h"
#include "conformance/flow/event/flow_mapping.h"
#include "conformance/flow/event/flow_ulp.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/ddp_sctp.h"
#include "wire/fpdu.h"
#include "wire/fpdu_reading.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"
#include "wire/terminate.h"
#include "wire/terminate_meant.h"

struct flow_address {
    uint8_t family; /* 4 or 6 (a GID too); 0: the LID in the first two octets */
    uint16_t port;
    uint8_t octets[16]; /* network order; IPv4 in the first four */
};

enum flow_kind {
    FLOW_CONNECTION,  /* TCP with MPA */
    FLOW_ASSOCIATION, /* SCTP */
    FLOW_STREAM,      /* a DDP stream session in an association */
    FLOW_CM_EXCHANGE, /* CM messages that belong together */
    FLOW_KINDS
};

/* Of an association (its first two lines) and of a DDP stream session in it. */
struct flow_sctp_state {
    enum iwarp_sctp_profile profile; /* UNDECIDED until an indication 2 or a PPID shows it */
    bool init_seen[FLOW_DIRECTIONS]; /* INIT by [0], INIT ACK by [1]: whole, also when DDP was recognised later */
    bool has_indication[FLOW_DIRECTIONS];
    uint32_t indication[FLOW_DIRECTIONS];                         /* Adaptation Layer Indication */
    uint16_t outbound[FLOW_DIRECTIONS], inbound[FLOW_DIRECTIONS]; /* OS, MIS */
    uint64_t association;                                         /* number of the association's flow */
    uint16_t sid;
    uint32_t session;                      /* n-th one on this SID, from 1 */
    uint32_t chunks[FLOW_DIRECTIONS];      /* user messages reported in this session */
    uint16_t next_ssn[FLOW_DIRECTIONS];    /* DDP-SSN of the next */
    uint32_t opening[FLOW_DIRECTIONS];     /* Function Code of the first message; 0: none, or a segment */
    uint32_t segments[FLOW_DIRECTIONS];    /* DDP Segments among them */
    uint64_t ended[FLOW_DIRECTIONS];       /* frame of Terminate or Reject, 0: none */
    uint32_t opening_tsn[FLOW_DIRECTIONS]; /* TSN of the first message; only where `opening` is not 0 */
    /*
     * At FLOW_END: who ended the session without a message of its own: who shut the association down, or began the next
     * session
     */
    bool left_by[FLOW_DIRECTIONS];
    /*
     * Frame of a segment that the active side sent before the Initiate could have been acknowledged: together with it,
     * or the first acknowledgment of the Initiate covers that segment, too. 0: none. Known from the SACK on.
     */
    uint64_t early_segment;
    uint32_t resets[FLOW_DIRECTIONS]; /* draft: new DDP streams, by Stream Resets of either side */
};

/* Of an exchange of CM messages. Direction 0 is the sender of the REQ. */
struct flow_cm_state {
    uint32_t id[FLOW_DIRECTIONS]; /* Local Communication ID of each side; 0: not known */
    bool sidr;
    uint32_t seen[FLOW_DIRECTIONS]; /* 1 << (attribute - 0x10) */
    uint64_t request_tid;
    bool has_service, in_range;
    bool has_private; /* request_private is whole */
    uint64_t service_id;
    uint8_t request_private[36]; /* first octets of the REQ's Private Data, when in_range */
};

/* Of a TCP connection. */
struct flow_tcp_state {
    struct flow_start start[FLOW_DIRECTIONS]; /* [0] Request, [1] Reply */
    bool crc;                                 /* CRCs are in use (either C), as agreed or found out */
    /* FPDUs with right CRCs in streams that were captured from their beginning, and no start-up frame in these */
    bool unstarted;
    bool unmatched;              /* Request and Reply may be of different connections, by their acknowledgments */
    struct flow_mapping mapping; /* of the port that one side has: what it stands for */
    struct flow_tcp_half half[FLOW_DIRECTIONS]; /* those of flow->half[].tcp */
};

/* What all kinds have, and by `kind` what each has alone: a flow takes the memory of its own kind. */
struct flow {
    enum flow_kind kind;
    uint64_t number;                              /* from 1 in the order of recognition */
    struct flow_address address[FLOW_DIRECTIONS]; /* sender of that direction: [0] Initiator, [1] Responder */
    struct flow_tunnel tunnel;                    /* zeros: in none */
    bool roles_known;                             /* a start-up frame showed who is the Initiator */
    bool opener_known;                            /* a SYN showed who opened TCP */
    enum flow_direction opener;                   /* the TCP active opener */
    bool late;                                    /* the capture begins in mid-stream: no start-up frames */
    bool gap;            /* something was lost or undecodable in either direction: rules on continuity stay silent */
    bool rejected;       /* Reply with R=1: no FPDUs follow */
    bool full_operation; /* both start-up frames were good and not rejected */
    /*
     * Octets were decoded before those of the other side that their sender had acknowledged: the capture lacks these,
     * or has them too late. What either side had received when it sent is not known from here on, but by
     * flow_event.received.
     */
    bool unordered;
    uint8_t revision; /* of the Reply, else of the Request; 1 when neither was seen */
    uint64_t first_frame, last_frame;
    uint64_t first_ns, last_ns;
    void *rule_state;       /* flow_config.rule_state_octets, zeroed when the flow is recognised; 8-aligned */
    struct flow_half *half; /* FLOW_DIRECTIONS of them, of connections and DDP streams; NULL: no DDP in this kind */
    struct flow_ulp *ulp;   /* the ULP above it; NULL: none is recognised */
    union {
        struct flow_tcp_state *tcp;   /* FLOW_CONNECTION */
        struct flow_sctp_state *sctp; /* FLOW_ASSOCIATION, FLOW_STREAM */
        struct flow_cm_state *cm;     /* FLOW_CM_EXCHANGE */
    };
};

/* The start-up frame of a direction, as far as its consequences have come; NULL: none, or no flow that has any. */
static inline const struct flow_start *flow_start_of(const struct flow *flow, enum flow_direction direction)
{
    if (flow->kind != FLOW_CONNECTION || !flow->tcp->start[direction].seen)
        return NULL;
    return &flow->tcp->start[direction];
}

/* Its Request and Reply may be of different connections. */
static inline bool flow_is_unmatched(const struct flow *flow)
{
    return flow->kind == FLOW_CONNECTION && flow->tcp->unmatched;
}

/* i-th oldest outstanding request of this side (i < request_count). */
static inline const struct flow_request *flow_request_at(const struct flow_half *half, uint32_t i)
{
    return &half->requests[(half->request_first + i) % half->request_room];
}

/* How many of the units that this side sent are kept. */
static inline uint64_t flow_sent_kept(const struct flow_half *half)
{
    return half->sent_count < half->sent_room ? half->sent_count : half->sent_room;
}

/* The i-th of them, 0 is the last one (i < flow_sent_kept()). */
static inline const struct flow_sent *flow_sent_last(const struct flow_half *half, uint64_t i)
{
    return &half->sent[(half->sent_count - 1 - i) & (half->sent_room - 1)];
}

/*
 * Called for each event, with those that `next` leads to, in stream order within a direction. Must not call the
 * decoder.
 */
typedef void (*flow_sink)(void *ctx, const struct flow_event *event);

/* What the decoder holds and waits for unless its configuration says otherwise. */
enum {
    FLOW_MEMORY = 512 << 20, /* octets, of which the limits below are parts */
    FLOW_MEMORY_MIN = 1 << 20,
    FLOW_CONNECTION_OCTETS = 8 << 10, /* a TCP connection, of which most are foreign */
    FLOW_FLOW_OCTETS = 32 << 10,      /* one with MPA; an SCTP association, with its rules' state; a CM exchange */
    FLOW_BUFFER_PART = 16,
    FLOW_FINISHED_KEPT = 1024, /* associations and exchanges that are over: their packets may come again */
    FLOW_HALF_BUFFER_MAX = 256 << 10,
    FLOW_FRAGMENTS_MAX = 8 << 20, /* octets of IP packets in fragments */
    FLOW_FRAGMENTS_SECONDS = 60,  /* of the capture's clock (RFC 8200 4.5, RFC 1122 3.3.2) */
    FLOW_CLOSED_SECONDS = 60, /* flow_decoder_time(): a closed connection's segments may come again (RFC 9293 3.6.1) */
    FLOW_SEARCH_SEGMENTS = 3, /* that begin unlike FPDUs: the connection is not MPA (flow_search.c) */
};

/* Zero means the default. */
struct flow_config {
    size_t rule_state_octets; /* zeroed scratch for each flow; 0: none */
    size_t memory;            /* octets from which the limits come that are 0 here. FLOW_MEMORY */
    size_t connections_max;   /* TCP connections followed at once; what is closed or foreign goes first */
    size_t flows_max;         /* of them with MPA; also SCTP associations, their streams, CM exchanges */
    size_t buffer_max;        /* octets held for reassembly, all flows together */
    size_t half_buffer_max;   /* octets held for one direction. 256 KiB */
    /*
     * After so many with octets, and none of the other side, that side is taken to be missing. 0: at the end, or
     * when too much waits.
     */
    size_t one_way_segments;
    bool no_late_lock; /* do not look for FPDUs in connections whose start was not captured */
    uint64_t idle_ns;  /* flow_decoder_time() ends what had no frame for so long; 0: nothing open ends by time */
    void (*port_mapper)(void *ctx, const struct flow_port_mapper *said); /* NULL: not called. `ctx`: the sink's */
};

struct flow_totals {
    struct flow_account account; /* what became of every frame and octet */
    uint64_t frames;             /* given to the decoder */
    uint64_t octets;             /* captured, in them */
    uint64_t tcp_segments;       /* among them */
    uint64_t fragments;          /* IP fragments */
    uint64_t sctp_packets;
    uint64_t sctp_bad_checksums; /* they are not decoded */
    uint64_t mads;               /* CM messages */
    uint64_t cut_frames;         /* shorter in the capture than on the wire */
    uint64_t connections;        /* TCP connections seen */
    uint64_t flows;              /* of them with MPA */
    uint64_t start_frames;
    uint64_t fpdus;
    uint64_t ddp_segments;
    uint64_t messages[16]; /* finished (L=1), by opcode */
    uint64_t crc_checked;
    uint64_t crc_errors;
    uint64_t marker_errors;
    uint64_t gaps;
};

/*
 * True when the account adds up: the rows of the kinds judged, foreign and unjudged have all frames and all octets that
 * were given to the decoder, each once. So it is after flow_decoder_finish(); before, open connections hold some.
 */
bool flow_totals_balanced(const struct flow_totals *totals);

/* Adds what another decoder counted. */
void flow_totals_add(struct flow_totals *totals, const struct flow_totals *others);

/* Takes off what was counted earlier: what is left was counted since. */
void flow_totals_subtract(struct flow_totals *totals, const struct flow_totals *others);

/*
 * "10.77.0.2:9999>10.77.0.3:46279": the sender of `direction` first; "[fd00::2]:9999>..." for IPv6. A
 * DDP stream has " sid 3" after it, a CM exchange has no ports and " id 0x..." of the requester. Writes at most
 * `room` octets with the final zero (FLOW_NAME_MAX hold every name) and returns `text`.
 */
enum { FLOW_NAME_MAX = 152 };
const char *flow_name(const struct flow *flow, enum flow_direction direction, char *text, size_t room);

/* The same of a message of the port mapper. */
const char *flow_port_mapper_name(const struct flow_port_mapper *said, char *text, size_t room);

/* "TCP connection", "SCTP association", "DDP stream", "CM exchange" */
const char *flow_kind_text(enum flow_kind kind);

/* "initiator" or "responder" for the sender of `direction`; NULL when the roles are not known. */
const char *flow_role(const struct flow *flow, enum flow_direction direction);

#endif
