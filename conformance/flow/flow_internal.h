/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder's insides. A frame goes down these steps:
 *
 *     flow_link.c, flow_ip.c, flow_fragment.c    octets of frames -> one TCP segment
 *     flow.c         frames in, events out
 *     flow_connection.c   which connection (hash; closed, foreign and idle ones go first)
 *     flow_tcp.c     segments -> pieces in stream order, or "so many octets are missing"
 *     flow_start.c   pieces -> MPA start-up frames, and what they agree upon
 *     flow_mpa.c     pieces -> FPDUs
 *     flow_lock.c    pieces -> where an FPDU begins, when that is not known
 *     flow_search.c  is it iWARP at all, when its start was not captured?
 *     flow_settle.c  what became of a connection's octets
 *     flow_rdmap.c   FPDUs -> DDP Segments and RDMA Messages, and the state rules look at
 *
 * SCTP and CM messages go other ways:
 *
 *     flow_sctp.c         packets -> chunks
 *     flow_sctp_tsn.c     TSNs; fragments -> user messages
 *     flow_sctp_stream.c  user messages -> DDP-SSN order, sessions -> flow_rdmap.c
 *     flow_infiniband.c   InfiniBand and RoCE packets -> MADs
 *     flow_cm.c           MADs -> exchanges of CM messages
 *
 * An FPDU that lies wholly in a segment that comes in order is never copied.
 */
#ifndef FLOW_FLOW_INTERNAL_H
#define FLOW_FLOW_INTERNAL_H

#include "conformance/flow/flow.h"

#include <uthash.h>

enum tcp_bit { TCP_BIT_FIN = 0x01, TCP_BIT_SYN = 0x02, TCP_BIT_RST = 0x04, TCP_BIT_PSH = 0x08, TCP_BIT_ACK = 0x10 };

/* Both ends of a connection, the lower (address, port) first, so that both directions have one key. */
struct flow_key {
    uint8_t address[2][16]; /* network order, IPv4 in the first four */
    uint16_t port[2];
    uint8_t family;
    uint8_t zero[3];
};

/* One TCP segment out of one frame. */
struct flow_segment {
    struct flow_key key;
    unsigned side; /* index in the key of the sender */
    uint32_t seq, ack;
    uint8_t flags;
    uint16_t window;
    uint16_t mss; /* 0: no option */
    bool has_scale;
    uint8_t scale;
    const uint8_t *payload;
    size_t captured; /* payload octets there */
    size_t length;   /* payload octets on the wire */
};

/* What an IP packet carries that is not TCP. */
struct flow_datagram {
    unsigned protocol; /* enum flow_protocol */
    uint8_t family;
    const uint8_t *source, *destination;
    const uint8_t *ip;     /* its IP header; NULL: not there (or, IPv6, with extension headers) */
    size_t ip_octets;      /* of the whole IP packet; 0: not known */
    const uint8_t *octets; /* from its own header on; FLOW_PROTOCOL_INFINIBAND: LRH, _GRH: GRH, _BTH: BTH */
    size_t captured, length;
};

/* One fragment of an IP packet; its addresses are in the datagram beside it. */
struct flow_fragment {
    uint32_t id;
    uint8_t protocol; /* of what the packet carries, as this fragment has it */
    bool more;
    unsigned offset; /* octets */
    const uint8_t *octets;
    size_t captured, length;
};

/* What the layers of a frame below TCP, SCTP and MADs say; the protocol tells which of it was filled in. */
struct flow_layers {
    struct flow_segment segment;
    struct flow_datagram datagram;
    struct flow_fragment fragment;
    enum flow_row row; /* FLOW_PROTOCOL_NONE: the frame is counted there */
    bool bad_checksum; /* of the IPv4 header */
};

/* The frame, or the frames with fragments, that a packet came in. */
struct flow_carrier_frames {
    const struct flow_frame *frame; /* the last: its number and time name the packet */
    uint64_t frames;
    uint64_t octets; /* captured, in all of them */
};

enum flow_protocol {
    FLOW_PROTOCOL_NONE, /* nothing to decode */
    FLOW_PROTOCOL_FRAGMENT,
    FLOW_PROTOCOL_TCP,
    FLOW_PROTOCOL_SCTP,
    FLOW_PROTOCOL_UDP,
    FLOW_PROTOCOL_INFINIBAND,
    FLOW_PROTOCOL_GRH,
    FLOW_PROTOCOL_BTH,
};

/* Octets of one segment that are next in the stream. */
struct flow_piece {
    const uint8_t *octets;
    size_t captured;         /* octets there */
    size_t length;           /* octets on the wire; more than captured when the capture cut the frame */
    bool at_start;           /* the first one is the first of its segment */
    bool at_end;             /* the last one (of length) is the last of its segment */
    uint32_t segment_octets; /* payload of the whole segment */
    uint64_t frame;
    uint64_t time_ns;
};

/* A piece that has to wait: something before it is missing, or may not be decoded yet. */
struct flow_chunk {
    struct flow_chunk *next;
    uint32_t seq;
    struct flow_piece piece; /* .octets point into `octets` */
    uint8_t octets[];
};

enum flow_state {
    SIDE_FRESH,     /* at the true start of the stream, nothing decided */
    SIDE_LATE,      /* somewhere in a stream, framing not known */
    SIDE_START,     /* in a start-up frame */
    SIDE_WAIT,      /* behind its own start-up frame; the other side's is awaited */
    SIDE_GUESS,     /* at the first FPDU; framing to be found out (one-way capture) */
    SIDE_FPDU,      /* in FPDUs */
    SIDE_RESYNC,    /* framing known, boundary lost */
    SIDE_STREAMING, /* other octets first: only a start-up frame at a segment's start is looked for */
    SIDE_DEAD,      /* not decoded any more */
};

/* One sender of a connection. */
struct flow_side {
    struct flow_half *half; /* NULL until the connection is known to be MPA */
    /* TCP */
    bool syn_seen, syn_ack, fin_known, closed, reset, seq_known;
    uint32_t isn;
    uint32_t next_seq; /* of the next octet in order */
    uint32_t fin_seq;
    uint64_t fin_frame, fin_ns;
    bool fin_with_data;
    uint32_t acked; /* highest acknowledgment by the other side */
    bool acked_known;
    uint16_t mss, window;
    bool has_scale;
    uint8_t scale;
    uint64_t syn_frame, syn_ns;
    struct flow_chunk *queue, *queue_tail;
    size_t queued;
    unsigned queued_chunks;
    uint64_t hole_ns; /* time when the first chunk was queued */
    uint16_t largest_segment;
    /* MPA */
    enum flow_state state;
    bool expects; /* role known: this side's start-up frame is of `kind` */
    enum mpa_start_kind kind;
    bool start_done;   /* its start-up frame was seen, good or bad */
    bool waiting;      /* a Reply before its Request: hold until that comes */
    bool impatient;    /* held long enough: go on without the other side's frame */
    bool lost_in_wait; /* octets are missing behind the start-up frame */
    bool tentative;    /* the next FPDU is a guess: tell of it only when its CRC is right */
    bool doubtful;     /* found without Markers in mid-stream: there may be some all the same */
    bool resynced;     /* the next FPDU is the first one behind a lock */
    bool told_dead;    /* FLOW_UNDECODED was sent for the state it is in */
    enum flow_reason dead_reason;
    struct fpdu_framing framing;
    uint64_t position; /* of the next octet, from SeqStart */
    uint64_t skip;     /* octets to the next FPDU, of an FPDU that is cut */
    uint8_t *buffer;   /* of a unit (start-up frame, FPDU) that is begun */
    size_t have, need, room;
    uint64_t unit_frame; /* frame with its first octet */
    bool unit_at_start;
    uint32_t unit_segments;
    unsigned hints;       /* FPDUs that fit without CRC */
    unsigned nonsense;    /* FPDUs in a row that no sender would send */
    uint32_t first_acked; /* by the first segment of the other side with ACK */
    /* While nobody knows whether it is MPA (flow_search.c) */
    bool pushed; /* its last segment had PSH */
    struct flow_search *search;
};

/* Octets of a connection that cannot be counted before it is known what it carries (flow_settle.c). */
enum flow_pending {
    PENDING_LATE, /* nothing that could be verified was found in them */
    PENDING_ULP,  /* certainly no FPDUs and no start-up frames */
    PENDING_AGAIN,
    PENDING_NOT_ACCEPTED,
    PENDING_CONFLICT,
    PENDING_HELD,
    PENDING_MEMORY,
    PENDING_OCTETS, /* these were captured; those below were not: */
    PENDING_GAP = PENDING_OCTETS,
    PENDING_SNAPPED,
    PENDINGS
};

/* Connections are in one list each, which says what goes first when there are too many. */
enum flow_list { FLOW_LIST_CLOSED, FLOW_LIST_FOREIGN, FLOW_LIST_UNDECIDED, FLOW_LIST_MPA, FLOW_LISTS };

/* What every frame looks at comes first: with thousands of connections each cache line counts. */
struct flow_connection {
    struct flow_key key;
    struct flow *flow; /* NULL until known to be MPA */
    unsigned swap;     /* direction = side ^ swap */
    unsigned list;     /* enum flow_list */
    uint64_t last_frame, last_ns;
    uint64_t frames;
    struct flow_side side[2];
    unsigned first_side; /* sender of the first frame */
    bool foreign;        /* not MPA: its start was captured and is none, or nothing in it can be an FPDU */
    uint8_t fresh_fpdus, fresh_others; /* segments with what a sender wrote anew: like FPDUs, and not */
    bool key_seen;                     /* the Key of a start-up frame stands where none can be told from other octets */
    uint64_t first_frame, first_ns;
    uint64_t pending[PENDINGS];
    UT_hash_handle hh;
    struct flow_connection *newer, *older; /* in its list: by when it was put there, or by when eviction spared it */
};

enum { FLOW_CACHE = 4096 }; /* a power of two */

struct flow_ages {
    struct flow_connection *newest, *oldest;
    size_t count;
};

struct flow_decoder {
    struct flow_config config;
    flow_sink sink;
    void *ctx;
    struct flow_totals totals;
    struct flow_connection *connections; /* hash */
    struct flow_ages ages[FLOW_LISTS];
    size_t connection_count;
    struct flow_connection *cache[FLOW_CACHE];
    size_t held; /* octets in queues and unit buffers */
    bool finishing;
    struct sctp_decoder *sctp;        /* NULL until the first packet with DDP */
    struct cm_decoder *cm;            /* NULL until the first CM message */
    struct fragment_store *fragments; /* NULL until the first fragment */
    uint64_t now_ns;
    uint8_t *scratch; /* FPDU_SCRATCH_OCTETS for Markers */
};

static inline enum flow_direction flow_direction_of(const struct flow_connection *connection, unsigned side)
{
    return (enum flow_direction)(side ^ connection->swap);
}

/* flow_link.c */
enum flow_protocol flow_link_frame(const struct flow_frame *frame, struct flow_layers *layers);
/* flow_ip.c: the same for a segment without link and network headers. */
enum flow_protocol flow_link_packet(const struct flow_packet *packet, struct flow_layers *layers);

/* flow.c */
/* A flow with its scratch octets, numbered; both directions at their beginning. NULL without memory. */
struct flow *flow_make(struct flow_decoder *decoder, enum flow_kind kind, uint64_t frame, uint64_t time_ns);
/* Makes the connection a flow (once). `initiator` is the side of the MPA Initiator, or the best guess. */
bool flow_recognise(struct flow_decoder *decoder, struct flow_connection *connection, unsigned initiator,
                    bool roles_known);
/* An event with flow, direction, frame and time filled in. */
struct flow_event flow_event_make(const struct flow_connection *connection, unsigned side, enum flow_event_kind kind,
                                  uint64_t frame, uint64_t time_ns);
void flow_event_send(struct flow_decoder *decoder, const struct flow_event *event);
void flow_undecoded(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                    enum flow_reason reason, uint64_t frame, uint64_t time_ns);

/* flow_connection.c */
/* One segment, to the connection that it belongs to, which is returned as it is now; NULL when there is none. */
struct flow_connection *flow_connection_segment(struct flow_decoder *decoder, const struct flow_segment *segment,
                                                const struct flow_carrier_frames *carrier);
/* Ends every connection (with events), or frees them (without). */
void flow_connections_finish(struct flow_decoder *decoder);
void flow_connections_free(struct flow_decoder *decoder);

/* flow_settle.c */
/* Counts octets of a connection in a row, or keeps them until it is known what the connection carries. */
void flow_octets(struct flow_decoder *decoder, struct flow_connection *connection, enum flow_row row, uint64_t octets);
/* The connection has become a flow: what was kept is counted. */
void flow_settle_flow(struct flow_decoder *decoder, struct flow_connection *connection);
/* The connection is certainly not MPA, as far as it was seen. */
void flow_settle_foreign(struct flow_connection *connection);
/* The connection ends: its frames are counted, and its octets that were kept. */
void flow_settle_end(struct flow_decoder *decoder, struct flow_connection *connection, bool evicted);

/* flow_search.c */
/* Looks for FPDUs in the next octets of a stream. Where the second of a pair begins in them; SIZE_MAX: nowhere. */
size_t flow_search_octets(struct flow_side *side, const uint8_t *octets, size_t count);
/* Octets that were not looked at follow. */
void flow_search_break(struct flow_side *side);
void flow_search_release(struct flow_side *side);
/* Nothing in the octets that were looked at can be an FPDU stream. */
bool flow_search_excludes(const struct flow_side *side);
/* Looks at how a segment with payload begins, before it is taken. */
void flow_search_segment(struct flow_connection *connection, const struct flow_segment *segment);
/* The connection, whose start was not captured, is certainly not MPA. */
bool flow_search_is_foreign(const struct flow_connection *connection);

/* flow_tcp.c */
void flow_tcp_segment(struct flow_decoder *decoder, struct flow_connection *connection,
                      const struct flow_segment *segment, const struct flow_frame *frame);
/* Delivers all that is held, holes or not. */
void flow_tcp_flush(struct flow_decoder *decoder, struct flow_connection *connection);
void flow_tcp_release(struct flow_decoder *decoder, struct flow_side *side);

/* flow_mpa.c */
/* Decodes a piece; returns how many of its captured octets were taken: fewer when the rest has to wait. */
size_t flow_mpa_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                       const struct flow_piece *piece);
/* `count` octets of the stream are missing; `cut`: because the capture cut the frame. */
void flow_mpa_lost(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, uint64_t count,
                   bool cut, uint64_t frame, uint64_t time_ns);
/* True while nothing of this side may be decoded. */
bool flow_mpa_blocked(const struct flow_connection *connection, unsigned side);
/* Ends the waiting. */
void flow_mpa_go_on(struct flow_connection *connection, unsigned side);
/* Octets of a unit that was begun and is not finished. */
size_t flow_mpa_partial(const struct flow_side *side);
/* The stream has ended: tells of a start-up frame that is not whole. */
void flow_mpa_end(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side);
bool flow_mpa_reserve(struct flow_decoder *decoder, struct flow_side *side, size_t octets);
void flow_mpa_release(struct flow_decoder *decoder, struct flow_side *side);
/* Boundaries are lost from here on. */
void flow_mpa_lose_sync(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, uint64_t frame,
                        uint64_t time_ns);

/* flow_start.c */
size_t flow_start_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                         const struct flow_piece *piece, size_t used);
/* Octets that are no start-up frame were seen before: one may still come, at the beginning of a segment. */
size_t flow_start_streaming(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                            const struct flow_piece *piece, size_t used);
/* The octets behind what is held of a start-up frame will never come: tells of it as far as it is there. What is there is
 * counted in `row`. */
void flow_start_cut(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, enum flow_row row,
                    uint64_t frame, uint64_t time_ns);
void flow_side_ends(struct flow_side *side, enum flow_reason reason);
/* Notes whether a Key stands among octets that nothing else is known of. */
void flow_start_look(struct flow_connection *connection, const uint8_t *octets, size_t count);

/* flow_lock.c: look for an FPDU (or start-up frame) in a piece from offset `used` on; return the octets passed over.
 * When one is found the state is SIDE_FPDU (or SIDE_FRESH) and the octet behind those passed over is its first. */
size_t flow_lock_resync(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                        const struct flow_piece *piece, size_t used);
size_t flow_lock_late(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                      const struct flow_piece *piece, size_t used);
/*
 * Are the octets held of an FPDU that was begun no part of one? So when its header makes no sense, when it is whole with
 * another ULPDU_Length, or when a whole FPDU lies inside. Told by CRCs: false without them.
 */
bool flow_lock_unsound(struct flow_decoder *decoder, const struct flow_connection *connection, unsigned side);
/* An FPDU begins at `used`, of a stream whose framing is doubtful: looks whether it has Markers. */
void flow_lock_doubt(struct flow_decoder *decoder, struct flow_side *side, const struct flow_piece *piece, size_t used);
void flow_lock_guess(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                     const struct flow_piece *piece, size_t used);
/* Copies up to `want` octets that are not Markers from an FPDU's first octet on; returns how many there were. */
size_t flow_lock_gather(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, uint8_t *out,
                        size_t want);
/* A header of DDP and RDMAP that makes sense; `have` octets of a ULPDU of `length` are there. */
bool flow_lock_plausible(const uint8_t *ulpdu, size_t have, size_t length, unsigned revision);

/* flow_rdmap.c: sends FLOW_FPDU, FLOW_DDP, FLOW_RDMAP and brings the state up to date. */
void flow_rdmap_fpdu(struct flow_decoder *decoder, struct flow *flow, const struct flow_fpdu *fpdu,
                     const struct flow_event *base);
/* Forgets what cannot be known behind a gap. */
void flow_rdmap_gap(struct flow *flow, enum flow_direction direction);

/* flow_fragment.c: keeps the fragment; decodes its packet when that has become whole. */
void flow_fragment_packet(struct flow_decoder *decoder, const struct flow_layers *layers,
                          const struct flow_carrier_frames *carrier);
/* Counts and frees what never became whole. */
void flow_fragment_finish(struct flow_decoder *decoder);

/* flow.c: decodes what the layers below have found. */
void flow_take_layers(struct flow_decoder *decoder, enum flow_protocol protocol, const struct flow_layers *layers,
                      const struct flow_carrier_frames *carrier);

/* flow_sctp.c */
void flow_sctp_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                      const struct flow_carrier_frames *carrier);
/* Ends every association (with events), or frees them (without). */
void flow_sctp_finish(struct flow_decoder *decoder, bool tell);

/* flow_infiniband.c: UDP, InfiniBand, RoCE. */
void flow_infiniband_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                            const struct flow_carrier_frames *carrier);
/* The row of UDP datagrams between these ports; FLOW_ROW_IWARP: they may hold a CM message. */
enum flow_row flow_udp_row(const uint8_t *header);

/* flow_cm.c: one MAD of the class CM. `octets` has `captured` of it (at most 256). */
struct flow_mad {
    const struct flow_address *source, *destination; /* without ports */
    const uint8_t *octets;
    size_t captured;
    unsigned carrier; /* enum flow_carrier */
    unsigned icrc;    /* enum flow_icrc */
    uint64_t frame, time_ns;
};

/* FLOW_ROW_IWARP when an event was sent of it; else the row that the message is counted in. */
enum flow_row flow_cm_mad(struct flow_decoder *decoder, const struct flow_mad *mad);
void flow_cm_finish(struct flow_decoder *decoder, bool tell);

#endif
