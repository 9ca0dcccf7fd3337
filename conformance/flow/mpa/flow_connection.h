/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP connection and its two senders, as MPA sees them: what TCP reports, and the state of MPA. What TCP alone knows
 * is in tcp/flow_tcp_internal.h.
 */
#ifndef FLOW_FLOW_CONNECTION_H
#define FLOW_FLOW_CONNECTION_H

#include "conformance/flow/event/flow_common.h"
#include "conformance/flow/event/flow_packet.h"

enum { FLOW_LAST_OCTETS = 8 }; /* that another pad and a CRC field left out can make a difference of */

/* Octets of one segment that are next in the stream. */
struct flow_piece {
    const uint8_t *octets;
    size_t captured;         /* octets there */
    size_t length;           /* octets on the wire; more than captured when the capture cut the frame */
    bool at_start;           /* the first one is the first of its segment */
    bool at_end;             /* the last one (of length) is the last of its segment */
    uint32_t segment_octets; /* payload of the whole segment */
    uint64_t at;             /* sequence number of the first octet */
    uint64_t received;       /* acknowledgment number of the segment; 0: not known */
    uint64_t frame;
    uint64_t time_ns;
};

enum flow_state {
    SIDE_FRESH,     /* at the true start of the stream, nothing decided */
    SIDE_LATE,      /* somewhere in a stream, framing not known */
    SIDE_START,     /* in a start-up frame */
    SIDE_WAIT,      /* after its own start-up frame; the other side's is awaited */
    SIDE_GUESS,     /* at the first FPDU; framing to be found out (one-way capture) */
    SIDE_FPDU,      /* in FPDUs */
    SIDE_RESYNC,    /* framing known, boundary lost */
    SIDE_STREAMING, /* other octets first: only a start-up frame at a segment's start is looked for */
    SIDE_DEAD,      /* not decoded any more */
};

/* Where FPDUs were found without a CRC to say so: see flow_side.doubts. */
enum { FLOW_DOUBTS = 3 };

/*
 * One sender of a connection. Sequence numbers are counted on in 64 bits (flow_extend()); `next` and `acked` of a side
 * are in the numbers that it sends.
 */
struct flow_side {
    struct flow_half *half; /* NULL until the connection is known to be MPA */
    struct tcp_side *tcp;   /* what TCP alone knows of it (tcp/) */
    /* Reported by TCP: only tcp/ writes these */
    bool fin_known, closed, reset, seq_known, acked_known;
    bool has_holes; /* something was given up that the capture does not have */
    uint16_t largest_segment;
    uint64_t next;        /* of the next octet in order */
    uint64_t acked;       /* latest acknowledgment by the other side */
    uint64_t floor;       /* where delivery began: nothing before it is known */
    uint64_t waiting_end; /* after the last octet that waits for others; 0: none waits */
    struct flow_syn syn;
    struct flow_octets octets;
    /* MPA */
    enum flow_state state;
    bool expects; /* role known: this side's start-up frame is of `kind` */
    enum iwarp_mpa_start_kind kind;
    bool start_done;    /* its start-up frame was seen, good or bad */
    bool waiting;       /* a Reply before its Request: hold until that comes */
    bool impatient;     /* held long enough: go on without the other side's frame */
    bool lost_in_wait;  /* octets are missing after the start-up frame */
    bool start_lost;    /* found in mid-stream: where SeqStart is, and so `position`, is not known */
    bool tentative;     /* the next FPDU is a guess: report it only if its CRC is right */
    bool guessing;      /* so is how it is framed */
    bool doubtful;      /* found without Markers in mid-stream: there may be some all the same */
    bool resynced;      /* the next FPDU is the first one after a lock */
    bool dead_reported; /* FLOW_UNDECODED was sent for the state it is in */
    enum flow_reason dead_reason;
    struct fpdu_framing framing;
    uint64_t position; /* of the next octet, from SeqStart */
    uint64_t skip;     /* octets to the next FPDU, of an FPDU that is cut */
    uint8_t *buffer;   /* of a unit (start-up frame, FPDU) that is begun */
    size_t have, need, room;
    uint64_t unit_frame;             /* frame with its first octet */
    uint64_t unit_at, unit_received; /* of its first octet: see struct flow_piece */
    bool unit_at_start;
    uint32_t unit_segments;
    uint64_t unmarked; /* octets of FPDUs that made sense, one after the other */
    unsigned doubts;   /* FPDUs that have to make sense, one after the other, before what was locked on is believed */
    unsigned hints;    /* FPDUs that fit without CRC */
    unsigned nonsense; /* FPDUs in a row that no sender would send */
    /* Mistakes of the sender that explain its octets (flow_reading.c) */
    struct fpdu_reading reading; /* by which FPDUs are read now; all zero: the text's */
    bool vague;                  /* another one fits too, and gives ULPDUs other lengths */
    unsigned reading_tries;
    bool before_known;             /* of the FPDU before: */
    struct fpdu_reading before_by; /* the reading that it was cut out by */
    uint16_t before_length;        /* its ULPDU_Length, and its last octets */
    uint8_t last[FLOW_LAST_OCTETS];
    size_t last_count;
    struct fpdu_reading before; /* how it was framed, as the next FPDU shows: reported with that one */
    size_t borrowed;            /* octets of the unit that were counted with the FPDU before */
    /* While nobody knows whether it is MPA (flow_search.c) */
    bool pushed; /* its last segment had PSH */
    struct flow_search *search;
    struct flow_records *records;
    struct flow_proof *proof;
    bool streamed; /* its start was captured, and is no start-up frame */
    bool shaped;   /* its first octets have the form of a start-up frame, and another Key */
    bool inside;   /* what may be a start-up frame follows other octets */
};

/* The sequence number of the wire in 64 bits, as near as can be to where that side's stream is. */
static inline uint64_t flow_extend(const struct flow_side *side, uint32_t number)
{
    uint64_t near = side->seq_known ? side->next : side->acked_known ? side->acked : (UINT64_C(1) << 32) + number;

    return near + (uint64_t)(int64_t)(int32_t)(number - (uint32_t)near);
}

/* Octets of a connection that cannot be counted before it is known what it carries (flow_settle.c). */
enum flow_pending {
    PENDING_LATE, /* nothing that could be verified was found in them */
    PENDING_ULP,  /* certainly no FPDUs and no start-up frames */
    PENDING_AGAIN,
    PENDING_NOT_ACCEPTED,
    PENDING_CONFLICT,
    PENDING_UNCOMPARED,
    PENDING_HELD,
    PENDING_MEMORY,
    PENDING_OVERTAKEN,
    PENDING_UNANSWERED,
    PENDING_IP_LENGTH,
    PENDING_OCTETS, /* these were captured; those below were not: */
    PENDING_GAP = PENDING_OCTETS,
    PENDING_SNAPPED,
    PENDINGS
};

/* What every frame looks at comes first: with thousands of connections each cache line counts. */
struct flow_connection {
    struct flow_key key;
    struct flow *flow;          /* NULL until known to be MPA */
    struct tcp_connection *tcp; /* what TCP alone knows of it (tcp/) */
    unsigned swap;              /* direction = side ^ swap */
    bool unordered;             /* as in struct flow */
    uint64_t last_frame, last_ns;
    struct flow_side side[2];
    unsigned first_side; /* sender of the first frame */
    bool foreign;        /* not MPA: its start was captured and is none, or nothing in it can be an FPDU */
    uint8_t fresh_fpdus, fresh_others; /* segments with what a sender wrote anew: like FPDUs, and not */
    /*
     * the Key of a start-up frame stands where none can be distinguished from other octets, or FPDUs where nobody can
     * decode them
     */
    bool key_seen;
    uint64_t first_frame, first_ns;
    uint64_t pending[PENDINGS];
};

/* Where the decoder is: a sender of a connection, and the frame whose octets are decoded. */
struct flow_context {
    struct flow_common *common;
    struct flow_connection *connection;
    struct flow_side *side; /* of the sender */
    unsigned index;         /* of that side in the connection */
    uint64_t frame, time_ns;
};

static inline struct flow_context flow_context_of(struct flow_common *common, struct flow_connection *connection,
                                                  unsigned index, uint64_t frame, uint64_t time_ns)
{
    return (struct flow_context){common, connection, &connection->side[index], index, frame, time_ns};
}

/* The same place, in another frame. */
static inline struct flow_context flow_context_in(const struct flow_context *context, uint64_t frame, uint64_t time_ns)
{
    return (struct flow_context){context->common, context->connection, context->side, context->index, frame, time_ns};
}

/* The other sender of the connection. */
static inline struct flow_side *flow_other_side(const struct flow_context *context)
{
    return &context->connection->side[1 - context->index];
}

/* The same frame, and the other sender. */
static inline struct flow_context flow_context_other(const struct flow_context *context)
{
    return flow_context_of(context->common, context->connection, 1 - context->index, context->frame, context->time_ns);
}

static inline enum flow_direction flow_direction_of(const struct flow_connection *connection, unsigned side)
{
    return (enum flow_direction)(side ^ connection->swap);
}

#endif
