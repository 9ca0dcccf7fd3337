/* SPDX-License-Identifier: BSD-2-Clause */
/* Associations and their streams, as flow_sctp.c and flow_sctp_stream.c share them. */
#ifndef FLOW_FLOW_SCTP_INTERNAL_H
#define FLOW_FLOW_SCTP_INTERNAL_H

#include "conformance/flow/ddp/flow_ddp.h"
#include "conformance/flow/sctp/flow_sctp_packet.h"
#include "conformance/flow/sctp/flow_sctp.h"

enum {
    TSN_WINDOW = 8192,         /* TSNs after the first missing one that are distinguished; a power of two */
    STREAMS_VISITED = 8,       /* streams with messages that wait, looked at after each packet */
    FRAGMENTS_MAX = 256,       /* held for one direction */
    USER_MESSAGE_MAX = 65537,  /* DDP-SSN and the longest ULPDU */
    MESSAGES_HELD_MAX = 1024,  /* for one direction of a stream */
    MESSAGES_BEHIND_HOLE = 16, /* after a DDP-SSN that is missing though every TSN was captured */
    MESSAGES_BEHIND_LOSS = 128,
    MESSAGES_BEHIND_ACK = 8,         /* after a TSN that was acknowledged and not captured */
    ACK_NS = 20 * 1000 * 1000,       /* or so long */
    PATIENCE_NS = 100 * 1000 * 1000, /* with an INIT or the other side's messages */
};

/* A user message: whole, or as much of it as a frame that is cut has. */
struct sctp_message {
    struct sctp_message *next;
    uint32_t tsn;
    uint32_t ppid;
    uint16_t sid;
    uint16_t ssn;   /* DDP-SSN */
    bool overtaken; /* the other side had acknowledged it before it was captured: its time is not when it was sent */
    uint64_t first_frame; /* of its first fragment */
    uint64_t frame;       /* of its last */
    uint64_t time_ns;
    bool acked_known, heard_known;
    uint32_t acked; /* of the other side's TSNs, by its sender, when it was sent */
    uint32_t heard; /* of its sender's TSNs, by the other side, when it was captured */
    size_t count;   /* on the wire */
    size_t have;
    const uint8_t *octets; /* `copy` when held */
    uint8_t copy[];
};

struct sctp_fragment {
    struct sctp_fragment *next;
    uint32_t tsn;
    bool first, last;
    uint16_t sid;
    uint32_t ppid;
    uint64_t frame;
    size_t count;
    uint8_t octets[];
};

/* An INIT (ACK) of an association in which DDP was not recognised yet. */
struct sctp_kept_init {
    uint64_t frame, time_ns;
    enum flow_checksum checksum;
    size_t packet_octets, network_octets;
    size_t length; /* of the chunk on the wire; */
    size_t count;  /* octets of it that are here */
    uint8_t octets[];
};

/* One sender on a SID. */
struct sctp_stream_half {
    bool known;         /* `expected` is */
    bool reported;      /* something of this session was reported */
    bool closed;        /* its Terminate or Reject was reported: what comes now is of the next session */
    uint64_t frame;     /* of the last message that was reported, */
    uint32_t last_tsn;  /* and its TSN */
    bool reopened;      /* the other side sent a Stream Reset, which may open this direction, too (draft 7.2)... */
    uint32_t reset_tsn; /* ...with this TSN */
    uint16_t expected;  /* DDP-SSN */
    uint16_t held_from; /* those of held[] before it were taken out */
    uint16_t held_end, held_room;
    struct sctp_message **held; /* in DDP-SSN order */
};

static inline unsigned sctp_held_count(const struct sctp_stream_half *half)
{
    return (unsigned)(half->held_end - half->held_from);
}

/* The first one that waits; NULL: none does. */
static inline struct sctp_message *sctp_held_first(const struct sctp_stream_half *half)
{
    return half->held_from < half->held_end ? half->held[half->held_from] : NULL;
}

struct sctp_stream {
    uint16_t sid;
    uint16_t zero;
    struct sctp_decoder *sctp;
    struct sctp_association *association;
    struct flow *flow; /* of the present session; NULL: none yet */
    unsigned swap;     /* direction = side ^ swap */
    uint32_t sessions;
    bool lost;            /* the present session's Initiate is missing in the capture */
    bool superseded;      /* the present session ends, as another one's Initiate has come */
    bool unsure;          /* which sessions of the two sides belong together is not known */
    bool holds;           /* it is in the association's list of those with messages that wait */
    uint32_t unsure_seen; /* the association's `unsure_count` that it knows of: sctp_stream_refresh() */
    uint64_t last_ns;     /* of its last packet, or of what made it unsure */
    /* The present session's first segment of the active side, when nothing had acknowledged the Initiate by then */
    bool early_pending;
    uint64_t initiate_frame;
    uint32_t early_tsn;
    uint64_t early_frame;
    bool early_acked_known;
    uint32_t early_acked;
    struct sctp_stream *early_next, *early_prev;
    struct sctp_stream_half halves[2]; /* by side of the association's key */
    struct sctp_stream *newer, *older;
    struct sctp_stream *holds_next, *holds_prev;
    UT_hash_handle hh;
};

struct sctp_address {
    uint8_t family, octets[16];
};

struct sctp_window; /* of flow_sctp_tsn.c */
struct sctp_birth;  /* of flow_sctp_accept.c */

struct sctp_side {
    struct sctp_kept_init *init; /* NULL: none, or it was reported */
    bool init_seen;
    bool init_whole; /* all of its parameters are known */
    uint32_t tag;    /* Initiate Tag: that of packets to it */
    bool has_indication;
    uint32_t indication;
    /* What its packets and those to it are known by: flow_sctp_accept.c */
    bool heard;            /* a packet of it was taken */
    bool tag_heard;        /* no INIT (ACK) shows its tag: that of the first packet to it is in heard_tag */
    bool any_address;      /* more addresses than are kept, or some that its INIT (ACK) does not have */
    bool zero_checksum;    /* it takes packets with a checksum of 0 */
    uint8_t sums;          /* enum flow_sums */
    uint8_t others;        /* packets to it in a row with other_tag */
    uint8_t address_count; /* that its INIT (ACK) lists */
    uint32_t heard_tag, other_tag;
    struct sctp_address *addresses;
    /* TSNs that it sent */
    bool tsn_known, lost, reported;
    bool begun; /* its first TSN is known by its INIT (ACK) */
    bool acked_known;
    uint8_t far_count; /* DATA chunks in a row far ahead of the others */
    uint32_t next_tsn; /* all before were captured (or given up) */
    uint32_t highest_tsn;
    uint32_t acked, first_acked;     /* by the other side's SACKs, the last and the first */
    uint32_t acked_apart;            /* the highest TSN in a Gap Ack Block, as long as that is after `acked` */
    uint32_t far_tsn;                /* that follows those */
    uint64_t acked_frame;            /* of the last SACK */
    uint32_t first_tsn;              /* captured */
    uint64_t missing;                /* TSNs that were given up */
    struct sctp_window *window;      /* what came of the last TSNs; NULL: nothing, or no memory */
    struct sctp_fragment *fragments; /* in TSN order */
    bool cut_known;                  /* the first fragment of a message came, and those after it in a row up to this: */
    uint32_t cut_tsn;
    size_t cut_octets, cut_network; /* of these fragments, and the longest IP datagram with one of them */
    size_t fragment_count, fragment_octets;
    struct sctp_message *waiting, *waiting_last; /* in TSN order: flow_sctp_order.c */
    size_t waiting_count;
    uint64_t waiting_ns; /* when the first one of them began to be the first */
};

struct sctp_tag_key {
    uint32_t tag;
    uint16_t to, from;
    struct flow_tunnel tunnel;
};

struct sctp_tag {
    struct sctp_tag_key key;
    struct sctp_association *association;
    unsigned side; /* of the sender of packets with this tag */
    UT_hash_handle hh;
};

enum { SCTP_UNREAD_ROWS = 4 };

struct sctp_association {
    struct sctp_decoder *sctp;
    struct flow_key key;
    struct flow *flow; /* NULL until DDP is recognised */
    unsigned swap;
    bool started; /* its INIT was captured */
    bool has_initiator;
    unsigned initiator;   /* side that sent the INIT; only when has_initiator */
    bool start_lost;      /* an INIT (ACK) will not come any more */
    bool finished;        /* ABORT, SHUTDOWN COMPLETE */
    bool listed_finished; /* it is in the list of those */
    struct sctp_side side[2];
    struct sctp_birth *births; /* INITs and INIT ACKs kept aside, the newest first */
    struct sctp_stream *streams;
    struct sctp_stream *holders; /* those with messages that wait */
    struct sctp_tag tags[2];
    uint64_t first_frame, first_ns;
    uint64_t frame, time_ns;           /* of the packet being decoded */
    uint64_t frames;                   /* that carried it */
    uint64_t octets;                   /* captured before DDP was recognised, */
    uint64_t unread[SCTP_UNREAD_ROWS]; /* and of these, what is not read: flow_sctp_association.c has the rows */
    uint32_t
        unsure_count; /* how often messages were given up, or reported before others of the other side that came first */
    uint64_t unsure_ns;     /* when, for the last time */
    bool draft_ppids;       /* DATA with PPIDs that are the draft's, or another protocol's */
    uint64_t doubted;       /* octets of user data with DDP's PPIDs that are none of DDP's, before it was recognised */
    bool shut_down;         /* a SHUTDOWN was captured, of */
    unsigned shut_down_by;  /* this side first */
    unsigned early_pending; /* streams with that flag, */
    struct sctp_stream *early; /* these */
    struct sctp_association *newer, *older;
    UT_hash_handle hh;
};

struct sctp_decoder {
    struct flow_common *common;
    struct sctp_association *associations;
    struct sctp_association *oldest,
        *oldest_finished; /* by when a packet came last: open ones, and those that are over */
    size_t finished_count;
    struct sctp_tag *tags;
    size_t association_count;
    struct sctp_stream *oldest_stream;
    size_t stream_count;
    uint64_t steps; /* what lists, streams and TSNs were looked at: for tests, which hold that it is linear */
};

/* A packet on its way through its association. */
struct sctp_arrival {
    struct sctp_decoder *sctp;
    const struct flow_datagram *datagram;
    struct sctp_association *association;
    unsigned side;
    enum flow_checksum checksum;
    uint64_t counted; /* octets whose rows are known: user messages, and what could not be read */
};

/* More octets wait in the decoder than it may hold. */
static inline bool sctp_holds_too_much(const struct sctp_decoder *sctp)
{
    return sctp->common->held > sctp->common->config.buffer_max;
}

/* Octets of user messages, captured, and what became of them. */
static inline void sctp_octets(struct sctp_decoder *sctp, enum flow_row row, uint64_t octets)
{
    flow_account_count(&sctp->common->totals.account, row, 0, octets);
}

static inline bool sctp_is_initiate(const struct ddp_sctp_message *message)
{
    return message->kind == DDP_SCTP_CONTROL && message->row->active == 1;
}

static inline bool sctp_is_answer(const struct ddp_sctp_message *message)
{
    return message->kind == DDP_SCTP_CONTROL && message->row->active == 0;
}

/* flow_sctp_accept.c */
enum flow_checksum sctp_checksum_of(const struct flow_datagram *datagram);
/*
 * Does the receiver take the packet? FLOW_ROWS: yes; else the row that its user messages are counted in,
 * FLOW_ROW_HEADERS where it has none. Another association may begin with it: then arrival->association is that one,
 * NULL without memory.
 */
enum flow_row sctp_packet_row(struct sctp_arrival *arrival);
/* What an INIT (ACK) says of its sender's addresses and of checksums. */
void sctp_addresses_learn(struct sctp_association *association, unsigned side, const struct sctp_init *init);
void sctp_births_free(struct sctp_birth **births);

/* flow_sctp.c */
/* The chunk's event, where the association is a flow. */
void sctp_emit_chunk(const struct sctp_arrival *arrival, struct flow_sctp *reported);
/* The INIT (ACK) of a packet that was kept aside: its events. */
void sctp_replay_init(struct sctp_association *association, unsigned side, const struct flow_datagram *datagram);
/* The same in place of the side's INIT ACK, which the other side did not take. */
void sctp_relearn_init_ack(struct sctp_association *association, unsigned side, const struct flow_datagram *datagram);

/* flow_sctp_init.c */
/* An INIT or INIT ACK of the association. */
void sctp_receive_init(struct sctp_arrival *arrival, struct flow_sctp *reported);
/*
 * The association carries DDP, as the profile of an indication or a PPID shows (UNDECIDED: it may be either). INIT and
 * INIT ACK that came before are reported: their sides are judged by what they said. False: without memory.
 */
bool sctp_recognise(struct sctp_association *association, unsigned initiator, enum iwarp_sctp_profile profile);

/* flow_sctp_tsn.c */
enum sctp_tsn {
    SCTP_TSN_NEW,
    SCTP_TSN_AGAIN,   /* it came before, with the same contents */
    SCTP_TSN_DIFFERS, /* with others */
    SCTP_TSN_UNKNOWN, /* it came before, and nobody knows with which ones */
    SCTP_TSN_LATE,    /* it was given up, or lies before the first one */
    SCTP_TSN_AHEAD,   /* far ahead of all that a receiver stores */
};

/*
 * What a chunk has, as a number by which two copies of it are distinguished; `secret` makes it no number that a sender
 * can choose.
 */
uint64_t sctp_contents(const struct sctp_data *data, uint64_t secret);
/* Notes a TSN with what came. */
enum sctp_tsn sctp_tsn_note(struct sctp_association *association, unsigned side, uint32_t tsn, uint64_t contents);
void sctp_window_free(struct sctp_side *side);
/* Every TSN of the sender up to its highest was captured. */
bool sctp_side_complete(const struct sctp_side *side);
/* TSNs before this one were not captured, and will not be. */
void sctp_tsns_give_up(struct sctp_association *association, unsigned side, uint32_t tsn);
/* By its INIT (ACK). That may be captured after DATA of its sender, which `waited` for it: sctp_start_may_come(). */
void sctp_learn_first_tsn(struct sctp_side *side, uint32_t first, bool waited);
/* By a SACK or SHUTDOWN of the other side: all up to `cumulative` came there, and `apart` (>= cumulative). */
void sctp_tsns_acked(struct sctp_side *side, uint32_t cumulative, uint32_t apart, uint64_t frame);
/* TSNs that were sent, as others or the receiver's SACKs show, and were not captured. */
uint64_t sctp_count_missing(const struct sctp_side *side);

/* flow_sctp_fragment.c */
/* Keeps a fragment; the user message that it makes whole goes to its stream. */
void sctp_receive_fragment(struct sctp_association *association, unsigned side, const struct sctp_data *data);
void sctp_drop_fragments(struct sctp_decoder *sctp, struct sctp_side *side);

/* flow_sctp_association.c */
/* The association's key, and which side of it the packet's sender is. */
void sctp_association_key(struct flow_key *key, const struct flow_datagram *datagram, unsigned *side);
/* Something came of it: it is the newest one of those that are open, or of those that are over. */
void sctp_association_list(struct sctp_decoder *sctp, struct sctp_association *association);
/* A stream makes room for others; a message comes of one that perhaps did: its association counts as unjudged then. */
void sctp_stream_removed(const struct sctp_stream *stream);
void sctp_stream_returns(const struct sctp_association *association, uint16_t sid);
/* By the key, else by the verification tag; NULL: there is none. */
struct sctp_association *sctp_association_find(struct sctp_decoder *sctp, const struct flow_datagram *datagram,
                                               const struct flow_key *key, unsigned *side);
struct sctp_association *sctp_association_make(struct sctp_decoder *sctp, const struct flow_key *key, uint64_t frame,
                                               uint64_t time_ns);
/* Packets to a known tag find the association from any address (RFC 9260 6.4: multi-homing). */
void sctp_association_learn_tag(struct sctp_decoder *sctp, struct sctp_association *association, unsigned receiver,
                                uint32_t value);
void sctp_association_forget_tag(struct sctp_decoder *sctp, struct sctp_association *association, unsigned receiver);
/* It carries DDP, so that it is a flow. False: without memory. */
bool sctp_association_recognise(struct sctp_association *association, unsigned initiator);
/* What its INIT (ACK) says cannot mean anything any more. */
void sctp_association_forget_init(struct sctp_association *association);
/* `tell`: with events. */
void sctp_association_end(struct sctp_association *association, bool tell, enum flow_reason reason);
void sctp_emit_undecoded(const struct sctp_association *association, unsigned side, enum flow_reason reason);
/*
 * Octets of a packet that are not read: counted in the row, or kept until it is known whether the association carries
 * DDP.
 */
void sctp_unread(struct sctp_arrival *arrival, enum flow_row row, uint64_t octets);
struct flow_event sctp_event(const struct flow *flow, unsigned direction, enum flow_event_kind kind, uint64_t frame,
                             uint64_t time_ns);

/* An INIT (ACK) was not captured so far, and may come: the other one was. */
static inline bool sctp_start_may_come(const struct sctp_association *association)
{
    return association->started && !association->start_lost &&
           !(association->side[0].init_seen && association->side[1].init_seen);
}

/* flow_sctp_order.c */
/* A user message with one of DDP's PPIDs, in the order of capture. */
void sctp_order_receive(struct sctp_association *association, unsigned side, struct sctp_message *message);
/* Reports what can be reported by now: after each packet. */
void sctp_order_drain(struct sctp_association *association);
/* The message is of a session that the other side has not come to, as far as was captured. */
bool sctp_stream_waits(const struct sctp_association *association, unsigned side, const struct sctp_message *message);
/* Messages are missing, or are not in the order in which they were sent: of no stream. */
void sctp_streams_unsure(struct sctp_association *association);
/* The stream learns of that: before it is looked at, and so before any event of it. */
void sctp_stream_refresh(struct sctp_stream *stream);
/*
 * This Initiate begins a session of its own, whatever is not known: all that came before it on the stream is long past.
 */
bool sctp_is_quiet(const struct sctp_stream *stream, unsigned side, const struct sctp_message *initiate);
/* Reports all that waits (when `tell`), and frees it. */
void sctp_order_end(struct sctp_association *association, bool tell);

/* flow_sctp_session.c */
static inline bool sctp_is_draft(const struct sctp_stream *stream)
{
    return stream->association->flow->sctp->profile == IWARP_SCTP_DRAFT02;
}

/* Of the side `active`, which is direction 0. `from_start`: by its Initiate. False: without memory. */
bool sctp_session_begin(struct sctp_stream *stream, unsigned active, bool roles_known, bool from_start,
                        const struct sctp_message *message);
/* `tell`: with events. */
void sctp_session_end(struct sctp_stream *stream, bool tell, enum flow_reason reason);
/* The message is next on its way: its events. */
/* After a Stream Reset the direction of that side is a new DDP stream (draft 7.2). */
void sctp_session_reset(const struct sctp_stream *stream, unsigned side);
void sctp_report_message(struct sctp_stream *stream, unsigned side, const struct sctp_message *message);
/* The messages before this one will not come. */
void sctp_report_gap(struct sctp_stream *stream, unsigned side, const struct sctp_message *message);
/* The message is not decoded. */
void sctp_report_reason(const struct sctp_stream *stream, unsigned side, const struct sctp_message *message,
                        enum flow_reason reason);

/* flow_sctp_early.c */
/* A message of the present session, before it is reported. */
void sctp_early_watch(struct sctp_stream *stream, unsigned side, const struct sctp_message *message);
/* The other side of `side` has acknowledged up to this TSN, and the blocks after it of that SACK (NULL: none). */
void sctp_early_acknowledged(struct sctp_association *association, unsigned side, uint32_t cumulative,
                             const struct sctp_chunk *sack);
void sctp_early_forget(struct sctp_stream *stream);

/* flow_sctp_stream.c */
/* A user message with one of DDP's PPIDs, in the order of its sender's TSNs. */
void sctp_stream_receive(struct sctp_association *association, unsigned side, struct sctp_message *message);
/* Reports what can be reported by now: after each packet. */
void sctp_streams_drain(struct sctp_association *association);
/* Reports all that is held (when `tell`), ends the sessions and frees the streams. */
void sctp_streams_end(struct sctp_association *association, bool tell, enum flow_reason reason);

#endif
