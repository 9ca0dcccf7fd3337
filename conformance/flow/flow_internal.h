/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder's insides. A frame goes down these steps:
 *
 *     flow_link.c, flow_ip.c, flow_udp.c, flow_fragment.c    octets of frames -> one TCP segment
 *     flow_known.c, flow_tunnel.c    or what they are instead: foreign, a tunnel, unknown
 *     flow.c         frames in, events out
 *     flow_connection.c   which connection (hash; closed, foreign and idle ones go first)
 *     flow_life.c    is a SYN the beginning of another connection on the same addresses and ports?
 *     flow_tcp.c     segments: what the receiver's TCP takes of them
 *     flow_queue.c   pieces in stream order, or "so many octets are missing"
 *     flow_again.c   octets that came before: are they the same?
 *     flow_start.c   pieces -> MPA start-up frames, and what they agree upon
 *     flow_streaming.c   what another protocol has sent before them
 *     flow_mpa.c     pieces -> start-up frames, FPDUs, or neither
 *     flow_fpdu.c    FPDUs
 *     flow_reading.c  octets that are no FPDU: by which mistake of the sender are they one?
 *     flow_header.c   is this how a ULPDU begins?
 *     flow_lock.c    pieces -> where an FPDU begins, when that is not known
 *     flow_proof.c   pieces -> FPDUs whose CRC is right, whatever their headers are
 *     flow_search.c  is it iWARP at all, when its start was not captured?
 *     flow_records.c, flow_record_forms.c    is all of it another protocol's records?
 *     flow_settle.c  what became of a connection's octets
 *     flow_rdmap.c   ULPDUs -> DDP Segments and RDMA Messages, and the state rules look at
 *
 * SCTP and CM messages go other ways:
 *
 *     flow_sctp_association.c   which association
 *     flow_sctp.c               packets -> chunks
 *     flow_sctp_tsn.c           TSNs; fragments -> user messages
 *     flow_sctp_order.c         user messages of both sides in an order in which they can have been sent
 *     flow_sctp_stream.c        user messages -> DDP-SSN order
 *     flow_sctp_session.c       sessions -> flow_rdmap.c
 *     flow_infiniband.c         InfiniBand and RoCE packets -> MADs
 *     flow_cm.c                 MADs -> exchanges of CM messages
 *
 * An FPDU that lies wholly in a segment that comes in order is never copied.
 */
#ifndef FLOW_FLOW_INTERNAL_H
#define FLOW_FLOW_INTERNAL_H

#include "conformance/flow/flow.h"
#include "conformance/flow/flow_side.h"
#include "conformance/flow/flow_removed.h"
#include "base/hash.h"
#include "wire/sctp.h"

#include <utlist.h> /* lists by age, the oldest first: their members are `older` and `newer` */

enum tcp_bit {
    TCP_BIT_FIN = 0x01,
    TCP_BIT_SYN = 0x02,
    TCP_BIT_RST = 0x04,
    TCP_BIT_PSH = 0x08,
    TCP_BIT_ACK = 0x10,
    TCP_BIT_URG = 0x20,
};

/* Both ends of a connection, the lower (address, port) first, so that both directions have one key. */
struct flow_key {
    uint8_t address[2][16]; /* network order, IPv4 in the first four */
    uint16_t port[2];
    uint8_t family;
    uint8_t tunnelled; /* 1: in a tunnel */
    uint16_t tunnel;   /* between which ends, as far as so many bits tell */
};

/* One TCP segment out of one frame. */
struct flow_segment {
    struct flow_key key;
    unsigned side; /* index in the key of the sender */
    uint32_t seq, ack;
    uint8_t flags;
    uint16_t window;
    uint16_t mss; /* 0: no option */
    bool has_scale, options_cut;
    bool broken; /* its IP packet is longer than the frame: the key alone is known */
    uint8_t scale;
    const uint8_t *header; /* of TCP, and so its checksum can be verified */
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
    bool put_together;     /* it came in fragments of IP */
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
    uint8_t depth;     /* tunnels around it */
    bool tunnelled;    /* the segment was found in a tunnel */
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

/* Connections are in one list each, which says what goes first when there are too many. */
enum flow_list { FLOW_LIST_CLOSED, FLOW_LIST_FOREIGN, FLOW_LIST_UNDECIDED, FLOW_LIST_MPA, FLOW_LISTS };

/* A SYN on a connection that is open: the beginning of another one, if it is answered as such. */
struct flow_rebirth {
    bool pending;            /* what follows holds */
    struct flow_segment syn; /* without payload */
    uint64_t frame, time_ns;
};

/* What every frame looks at comes first: with thousands of connections each cache line counts. */
struct flow_connection {
    struct flow_key key;
    struct flow *flow; /* NULL until known to be MPA */
    unsigned swap;     /* direction = side ^ swap */
    unsigned list;     /* enum flow_list */
    bool unordered;    /* as in struct flow */
    uint64_t last_frame, last_ns;
    uint64_t frames;
    struct flow_side side[2];
    unsigned first_side; /* sender of the first frame */
    bool foreign;        /* not MPA: its start was captured and is none, or nothing in it can be an FPDU */
    uint8_t fresh_fpdus, fresh_others; /* segments with what a sender wrote anew: like FPDUs, and not */
    /*
     * the Key of a start-up frame stands where none can be told from other octets, or FPDUs where nobody can decode
     * them
     */
    bool key_seen;
    uint64_t first_frame, first_ns;
    uint64_t pending[PENDINGS];
    UT_hash_handle hh;
    struct flow_connection *newer, *older; /* in its list: by when it was put there, or by when eviction spared it */
    struct flow_rebirth rebirth;
};

enum { FLOW_CACHE = 4096 }; /* a power of two */

struct flow_ages {
    struct flow_connection *oldest;
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
    struct flow_removed removed;
    uint64_t now_ns;
    uint64_t secret;  /* that no sender knows: copies of SCTP chunks are told apart by it */
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
void flow_free(struct flow *flow); /* NULL is allowed */
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

/* flow_life.c: what a segment means for the connection of its addresses and ports. */
enum flow_life {
    LIFE_SAME,    /* it belongs to this connection */
    LIFE_REFUSED, /* the receiver drops it: nothing but counted */
    LIFE_NEW, /* another connection begins: with connection->rebirth's SYN when that is pending, and then this one */
};
enum flow_life flow_life_of(struct flow_decoder *decoder, struct flow_connection *connection,
                            const struct flow_segment *segment, const struct flow_frame *frame);

/* flow_tcp.c */
void flow_tcp_segment(struct flow_decoder *decoder, struct flow_connection *connection,
                      const struct flow_segment *segment, const struct flow_frame *frame);
/* The connection's SYN, when it is another one's (struct flow_rebirth) or comes by itself. */
void flow_tcp_syn(struct flow_side *side, const struct flow_segment *segment, uint64_t frame, uint64_t time_ns);
/* Octets that are not decoded: counted, and told of. */
void flow_tcp_refuse(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                     enum flow_refusal why, size_t length, size_t captured, uint64_t frame, uint64_t time_ns);
/* The side begins with this SYN. */
void flow_tcp_begin(struct flow_side *side, const struct flow_syn *syn);
/* Where the receiver's window ends, with room for acknowledgments that were not captured; UINT64_MAX: not known. */
uint64_t flow_tcp_edge(const struct flow_connection *connection, unsigned side);
/* The segment's checksum is wrong for certain: all of it is there, and its sender's checksums are right else. */
bool flow_tcp_damaged(const struct flow_side *side, const struct flow_segment *segment);

/* flow_queue.c */
/* Octets [from, to) of a piece's length on the wire. */
struct flow_piece flow_piece_part(const struct flow_piece *piece, size_t from, size_t to);
/* Octets that come too early: they wait. */
void flow_queue_add(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                    const struct flow_piece *piece);
/* What is left of a piece of which MPA took `used` octets: it was cut, or the rest has to wait. */
void flow_queue_rest(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                     const struct flow_piece *piece, size_t used);
/* True while octets whose segment acknowledges all before `received` have to wait for those of the other side. */
bool flow_queue_ahead(const struct flow_connection *connection, unsigned side, uint64_t received);
/* Delivers what may be delivered of both sides, the side `first` first. */
void flow_queue_drain(struct flow_decoder *decoder, struct flow_connection *connection, unsigned first);
/* Delivers all that is held, holes or not. */
void flow_tcp_flush(struct flow_decoder *decoder, struct flow_connection *connection);
void flow_tcp_release(struct flow_decoder *decoder, struct flow_side *side);
/* The FIN or RST of a side. */
void flow_queue_close(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, bool reset,
                      bool with_data, uint64_t frame, uint64_t time_ns);

/* flow_again.c */
/*
 * The first octets of a piece, up to `next`, were delivered or given up before: compares and counts them. True: the
 * stream goes on with this piece all the same, and `next` has gone back to it.
 */
bool flow_again_seen(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                     const struct flow_piece *piece);
/* All octets of `part` are held already, in `chunk`: do they differ? */
bool flow_again_differs(const struct flow_chunk *chunk, const struct flow_piece *part);
/* Compares and counts them. */
void flow_again_held(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                     const struct flow_chunk *chunk, const struct flow_piece *part);
/* Notes a hole that is given up: what fills it later is late. */
void flow_again_hole(struct flow_side *side, uint64_t from, uint64_t to);

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
/* The unit is not needed any more. */
void flow_mpa_unit_done(struct flow_decoder *decoder, struct flow_side *side);
/* The stream goes on so many octets before the next one: what was decoded of them was not what the receiver took. */
void flow_mpa_rewind(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, uint64_t octets,
                     uint64_t frame, uint64_t time_ns);
/* Where in the stream a sequence number stands, from SeqStart on; only while that is known. */
uint64_t flow_mpa_position(const struct flow_side *side, uint64_t at);
/* Boundaries are lost from here on. */
void flow_mpa_lose_sync(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, uint64_t frame,
                        uint64_t time_ns);

/* Octets that are next in the stream. */
static inline void flow_queue_deliver(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                                      const struct flow_piece *piece)
{
    struct flow_side *side = &connection->side[index];
    size_t used = flow_mpa_octets(decoder, connection, index, piece);

    side->next += used;
    side->octets.delivered += used;
    if (side->half != NULL)
        side->half->tcp->begun = flow_mpa_partial(side);
    if (used != piece->length)
        flow_queue_rest(decoder, connection, index, piece, used);
}

/* flow_fpdu.c */
/* Octets of the piece from `used` on, where an FPDU begins or goes on; returns how many were taken. */
size_t flow_fpdu_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                        const struct flow_piece *piece, size_t used);
/* Octets are missing among FPDUs, `cut` by the capture or not captured. True: the next boundary is known. */
bool flow_fpdu_lost(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, uint64_t count,
                    bool cut, uint64_t frame, uint64_t time_ns);

/* The stream has ended with the sender's FIN: an FPDU that is whole by a mistake of its sender is told of. */
void flow_fpdu_end(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side);
/* Tells of an FPDU of which no more will come, as far as it is there. */
void flow_fpdu_cut(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, bool unverified,
                   enum flow_row row, uint64_t frame, uint64_t time_ns);

/* flow_header.c */
/* How many things contradict the texts in a ULPDU's first `have` octets: 0 for a header, 1 for one with a mistake. */
unsigned flow_header_faults(const uint8_t *ulpdu, size_t have, size_t length, unsigned revision);
/* The same from ULPDU_Length on; 0 while the two control octets are not there. */
unsigned flow_header_faults_at(const uint8_t *octets, size_t count, unsigned revision);
/* A header of DDP and RDMAP that makes sense; `have` octets of a ULPDU of `length` are there. */
bool flow_header_plausible(const uint8_t *ulpdu, size_t have, size_t length, unsigned revision);

/* flow_reading.c */
/* The stream is known from its start, so that octets which are no FPDU are a mistake of its sender. */
bool flow_reading_may_look(const struct flow_connection *connection, unsigned side);
/*
 * The reading by which the octets, from an FPDU's first one on, are FPDUs; `exact`: they end where the segment or the
 * stream ends. False: there is none.
 */
bool flow_reading_find(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                       const uint8_t *octets, size_t count, bool exact, struct fpdu_reading *found);
/* No FPDU begins here: by which reading of the FPDU before does one begin *later octets later (negative: earlier)? */
bool flow_reading_before(const struct flow_connection *connection, unsigned side, const uint8_t *octets, size_t count,
                         struct fpdu_reading *found, int *later);
/* By which one does the FPDU before have the `left` octets that are left at the end of the stream? */
bool flow_reading_at_end(const struct flow_side *side, const uint8_t *octets, size_t left, struct fpdu_reading *found);
/* Where the CRC of the octets before it stands: the octets of that FPDU; 0: nowhere. */
size_t flow_reading_end_by_crc(const uint8_t *octets, size_t count);

/* flow_proof.c */
/* A whole FPDU with a right CRC begins with these octets: `framing` becomes its. */
bool flow_proof_whole(struct flow_decoder *decoder, const uint8_t *at, size_t count, struct fpdu_framing *framing);
enum flow_proof_found {
    FLOW_PROOF_NONE,
    FLOW_PROOF_NEXT,   /* an FPDU with a right CRC ended: the next one begins there */
    FLOW_PROOF_MARKED, /* the same of one with Markers, and where these stand is not known */
};
/* The next octets of a stream; `first`: one may begin with them. *after: so many of them are of the FPDU that ended. */
enum flow_proof_found flow_proof_octets(struct flow_side *side, const uint8_t *octets, size_t count, bool first,
                                        size_t *after);
/* Also after a gap. */
void flow_proof_release(struct flow_side *side);

/* flow_start.c */
/* A start-up frame after a rejection, where a segment begins: another exchange, or the rejection is taken back. */
bool flow_start_again(struct flow_connection *connection, unsigned side, const struct flow_piece *piece);
size_t flow_start_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                         const struct flow_piece *piece, size_t used);
/* This side's frame has a kind: so the other's has. False: no memory. */
bool flow_start_roles(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side);
/* What is held of a start-up frame is all that comes of it: tells of it as far as it is there; it counts in `row`. */
void flow_start_cut(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side, enum flow_row row,
                    uint64_t frame, uint64_t time_ns);
void flow_side_ends(struct flow_side *side, enum flow_reason reason);

/* flow_lock.c: look for an FPDU (or start-up frame) in a piece from offset `used` on; return the octets passed over.
 * When one is found the state is SIDE_FPDU (or SIDE_FRESH) and the octet after those passed over is its first. */
size_t flow_lock_resync(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                        const struct flow_piece *piece, size_t used);
size_t flow_lock_late(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                      const struct flow_piece *piece, size_t used);
/*
 * Are the octets held of an FPDU that was begun no part of one? So when its header makes no sense, when it is whole
 * with another ULPDU_Length, or when a whole FPDU lies inside. Told by CRCs: false without them.
 */
bool flow_lock_unsound(struct flow_decoder *decoder, const struct flow_connection *connection, unsigned side);
/* FPDUs begin with the piece, for certain or as far as it shows: the side decodes them from there on. */
bool flow_lock_begin(struct flow_decoder *decoder, struct flow_side *side, const struct flow_piece *piece);
/* The same with the next octet, after an FPDU without Markers whose CRC was right. */
void flow_lock_proved(struct flow_side *side);
/* An FPDU begins at `used`, of a stream whose framing is doubtful: looks whether it has Markers. */
void flow_lock_doubt(struct flow_decoder *decoder, struct flow_side *side, const struct flow_piece *piece, size_t used);
void flow_lock_guess(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                     const struct flow_piece *piece, size_t used);
/* Copies up to `want` octets that are not Markers from an FPDU's first octet on; returns how many there were. */
size_t flow_lock_gather(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, uint8_t *out,
                        size_t want);

/* flow_rdmap.c: sends FLOW_ULPDU, FLOW_DDP, FLOW_RDMAP and brings the state up to date. */
void flow_rdmap_ulpdu(struct flow_decoder *decoder, struct flow *flow, const struct flow_ulpdu *ulpdu,
                      const struct flow_event *base);
void flow_sent_grow(struct flow_half *half);

/* Room for the next unit that the side sends, the oldest one's when there is no other; NULL: without memory. */
static inline struct flow_sent *flow_sent_add(struct flow_half *half)
{
    if (half->sent_count == half->sent_room && half->sent_room < FLOW_SENT_MAX)
        flow_sent_grow(half);
    half->sent_count++;
    return half->sent_room == 0 ? NULL : &half->sent[(half->sent_count - 1) & (half->sent_room - 1)];
}

/* Forgets what cannot be known after a gap. */
void flow_rdmap_gap(struct flow *flow, enum flow_direction direction);
/* What one side had received when it sent is not known any more: see flow->unordered. */
void flow_rdmap_unordered(struct flow *flow);

/* flow_fragment.c: keeps the fragment; decodes its packet when that has become whole. */
void flow_fragment_packet(struct flow_decoder *decoder, const struct flow_layers *layers,
                          const struct flow_carrier_frames *carrier);
/* Counts and frees what never became whole. */
void flow_fragment_finish(struct flow_decoder *decoder);

/* flow.c: decodes what the layers below have found. */
void flow_parse_layers(struct flow_decoder *decoder, enum flow_protocol protocol, const struct flow_layers *layers,
                       const struct flow_carrier_frames *carrier);

/* flow_sctp.c */
void flow_sctp_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                      const struct flow_carrier_frames *carrier);
/* Ends every association (with events), or frees them (without). */
void flow_sctp_finish(struct flow_decoder *decoder, bool tell);

/* flow_infiniband.c: UDP, InfiniBand, RoCE. */
void flow_infiniband_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                            const struct flow_carrier_frames *carrier);
/* flow_udp.c: the row of a UDP datagram with `captured` of its `length` octets. FLOW_ROW_UDP: foreign. */
enum flow_row flow_udp_row(const uint8_t *header, size_t captured, size_t length);

/* flow_cm.c */
void flow_cm_finish(struct flow_decoder *decoder, bool tell);

#endif
