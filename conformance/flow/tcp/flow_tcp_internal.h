/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The room between the segments of frames and MPA:
 *
 *     flow_connection.c   which connection (hash; closed, foreign and idle ones go first)
 *     flow_life.c    is a SYN the beginning of another connection on the same addresses and ports?
 *     flow_tcp.c     segments: what the receiver's TCP takes of them
 *     flow_queue.c   pieces in stream order, or "so many octets are missing"
 *     flow_retransmission.c   octets that came before: are they the same?
 *     flow_settle.c  what became of a connection's octets
 *
 * An FPDU that lies wholly in a segment that comes in order is never copied.
 */
#ifndef FLOW_FLOW_TCP_INTERNAL_H
#define FLOW_FLOW_TCP_INTERNAL_H

#include "conformance/flow/mpa/flow_mpa.h"
#include "conformance/flow/tcp/flow_tcp.h"

/* Connections are in one list each, which says what goes first when there are too many. */
enum flow_list { FLOW_LIST_CLOSED, FLOW_LIST_FOREIGN, FLOW_LIST_UNDECIDED, FLOW_LIST_MPA, FLOW_LISTS };

/* A piece that has to wait: something before it is missing, or may not be decoded yet. */
struct flow_chunk {
    struct flow_chunk *next;
    struct flow_piece piece; /* .octets point into `octets` */
    bool beyond;             /* the receiver's window ended before it when it came */
    uint8_t octets[];
};

/* A part of the stream that was given up: nothing of it was delivered. */
struct flow_hole {
    uint64_t from, to;
};

enum { FLOW_HOLES = 4 };

/* What TCP alone knows of a sender; struct flow_side has what MPA reads as well. */
struct tcp_side {
    uint16_t window;      /* of the other side's last acknowledgment, not scaled */
    uint32_t segments;    /* with payload, modulo 2^32; */
    uint32_t segments_at; /* how many at the other side's last segment */
    uint64_t first_acked; /* the first acknowledgment by the other side */
    uint64_t waived;      /* position of the other side where waiting for it was given up; 0: it was not */
    struct flow_chunk *queue, *queue_tail;
    size_t queued;
    unsigned queued_chunks;
    uint64_t hole_ns; /* time when the first chunk was queued */
    uint64_t fin_at, fin_frame, fin_ns;
    bool fin_with_data;
    struct flow_hole holes[FLOW_HOLES]; /* the last ones given up, `to` 0: none */
    unsigned hole_count;
    uint64_t back, back_next; /* end of a run of late octets, and `next` when it began */
    unsigned back_segments;   /* in that run */
};

/* A SYN on a connection that is open: the beginning of another one, if it is answered as such. */
struct flow_rebirth {
    bool pending;            /* what follows holds */
    struct flow_segment syn; /* without payload */
    uint64_t frame, time_ns;
};

/* What every frame looks at comes first: with thousands of connections each cache line counts. */
struct tcp_connection {
    unsigned list; /* enum flow_list */
    uint64_t frames;
    struct flow_connection shared; /* with MPA */
    struct tcp_side side[2];
    UT_hash_handle hh;
    struct tcp_connection *newer, *older; /* in its list: by when it was put there, or by when eviction spared it */
    struct flow_rebirth rebirth;
};

enum { FLOW_CACHE = 4096 }; /* a power of two */

struct flow_ages {
    struct tcp_connection *oldest;
    size_t count;
};

struct tcp_connections {
    struct flow_common *common;
    struct tcp_connection *all; /* hash, in the order in which they began */
    struct flow_ages ages[FLOW_LISTS];
    size_t count;
    struct tcp_connection *cache[FLOW_CACHE];
};

/* flow_settle.c */
/* The connection ends: its frames are counted, and its octets that were kept. */
void flow_settle_end(struct flow_common *common, struct flow_connection *connection, bool evicted);

/* flow_life.c: what a segment means for the connection of its addresses and ports. */
enum flow_life {
    LIFE_SAME,    /* it belongs to this connection */
    LIFE_REFUSED, /* the receiver drops it: nothing but counted */
    LIFE_NEW, /* another connection begins: with connection->tcp->rebirth's SYN when that is pending, and then this one */
};
enum flow_life flow_life_of(const struct flow_context *context, const struct flow_segment *segment);

/* flow_tcp.c */
/* The octets of a segment, or as many as none, as a piece: all of it. */
struct flow_piece flow_tcp_piece(const struct flow_context *context, const struct flow_segment *segment);
void flow_tcp_segment(const struct flow_context *context, const struct flow_segment *segment);
/* The connection's SYN, when it is another one's (struct flow_rebirth) or comes by itself. */
void flow_tcp_syn(struct flow_side *side, const struct flow_segment *segment, uint64_t frame, uint64_t time_ns);
/* The octets of a piece, or a segment without any, are not decoded: they are counted, and an event says so. */
void flow_tcp_refuse(const struct flow_context *context, enum flow_refusal why, const struct flow_piece *piece);
/* The side begins with this SYN. */
void flow_tcp_begin(struct flow_side *side, const struct flow_syn *syn);
/* Where the receiver's window ends, with room for acknowledgments that were not captured; UINT64_MAX: not known. */
uint64_t flow_tcp_edge(const struct flow_context *context);
/* The segment's checksum is wrong for certain: all of it is there, and its sender's checksums are right else. */
bool flow_tcp_damaged(const struct flow_side *side, const struct flow_segment *segment);

/* flow_queue.c */
/* Octets [from, to) of a piece's length on the wire. */
struct flow_piece flow_piece_part(const struct flow_piece *piece, size_t from, size_t to);
/* Octets that come too early: they wait. */
void flow_queue_add(const struct flow_context *context, const struct flow_piece *piece);
/* What is left of a piece of which MPA took `used` octets: it was cut, or the rest has to wait. */
void flow_queue_rest(const struct flow_context *context, const struct flow_piece *piece, size_t used);
/* True while octets whose segment acknowledges all before `received` have to wait for those of the other side. */
bool flow_queue_ahead(const struct flow_context *context, uint64_t received);
/* Delivers what may be delivered of both sides, that of `first` first. */
void flow_queue_drain(const struct flow_context *first);
/* Delivers all that is held, holes or not. */
void flow_tcp_flush(const struct flow_context *first);
void flow_tcp_release(struct flow_common *common, struct flow_side *side);
/* The FIN or RST of a side. */
void flow_queue_close(const struct flow_context *context, bool reset, bool with_data);

/* flow_retransmission.c */
/*
 * The first octets of a piece, up to `next`, were delivered or given up before: compares and counts them. True: the
 * stream continues with this piece all the same, and `next` has gone back to it.
 */
bool flow_retransmission_seen(const struct flow_context *context, const struct flow_piece *piece);
/* All octets of `part` are held already, in `chunk`: do they differ? */
bool flow_retransmission_differs(const struct flow_chunk *chunk, const struct flow_piece *part);
/* Compares and counts them. */
void flow_retransmission_held(const struct flow_context *context, const struct flow_chunk *chunk,
                              const struct flow_piece *part);
/* Notes a hole that is given up: what fills it later is late. */
void flow_retransmission_in_hole(struct flow_side *side, uint64_t from, uint64_t to);

/* Octets that are next in the stream, of the context's frame. */
static inline void flow_queue_deliver(const struct flow_context *context, const struct flow_piece *piece)
{
    struct flow_side *side = context->side;
    size_t used = flow_mpa_octets(context, piece);

    side->next += used;
    side->octets.delivered += used;
    if (used != piece->length)
        flow_queue_rest(context, piece, used);
}

#endif
