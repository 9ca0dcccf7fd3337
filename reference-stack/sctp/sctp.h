/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of an association (RFC 5043, draft-stewart-rddp-sctp-02). Who owns what:
 *
 *     association.c      indications, streams, life, events, the public functions
 *     association_io.c   whose message is sent next, acknowledgements, time limits
 *     session.c          a SID: what comes in, by the order of DDP-SSNs    session_end.c   how its session ends
 *     session_start.c    Initiate, Accept, Reject, Terminate               draft.c         the draft's Stream Reset
 *     order.c            messages that came before their turn              segment.c       ULPDUs into user messages
 *     sctp_stream.c      the layer as core calls it (core/llp.h)
 *
 * A session outlives its stream on one side or the other: the ULP may free the stream at any time, and the SID is not
 * free before the last message is acknowledged (RFC 5043 6.6).
 */
#ifndef REFERENCE_STACK_SCTP_H
#define REFERENCE_STACK_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/sctp.h"
#include "reference-stack/base/deadlines.h"
#include "reference-stack/base/ring.h"
#include "reference-stack/core/stream_internal.h"
#include "reference-stack/sctp/sctp_faults.h"
#include "wire/ddp_sctp.h"
#include "base/hash.h"

enum {
    OUTSTANDING_MAX = 32767, /* messages of a SID that are not acknowledged (RFC 5043 10) */
    SCTP_SACK_OCTETS = 16,   /* left free in a packet for a SACK chunk (RFC 5043 9) */
    SCTP_EVENTS_MAX = 1024,  /* that wait for the ULP; beyond that, only DOWN is reported */
    SEGMENT_LEAST = 516,     /* octets of a DDP Segment, or of a control message, whichever way 9 counts */
};

/* A SID. The draft knows OPEN, PENDING and ABORTED alone. */
enum sctp_session_state {
    SESSION_IDLE,      /* none; a responder may wait for one */
    SESSION_INITIATED, /* Initiate made, no answer yet */
    SESSION_PENDING,   /* the peer asks, the ULP has not decided */
    SESSION_OPEN,
    SESSION_CLOSING,  /* own Terminate made, or due */
    SESSION_DRAINING, /* over: a new one may begin once nothing of this one is outstanding */
    SESSION_ABORTED,  /* draft: all is dropped until a Stream Reset */
};

/* A message that waits for its turn. */
struct sctp_held {
    UT_hash_handle hh;
    struct sctp_held *next; /* while it is not in use */
    size_t room;            /* octets that it can have */
    size_t count;
    uint32_t ppid;
    uint16_t ssn;
    uint8_t octets[];
};

struct sctp_session {
    struct iwarp_association *association;
    struct iwarp_stream *stream;      /* NULL: none yet, or none any more */
    struct sctp_session *next, *prev; /* in association->ready */
    struct sctp_held *held;           /* by DDP-SSN */
    struct deadline deadline;         /* the stream's */
    uint32_t outstanding;             /* messages sent and not acknowledged */
    uint32_t earlier;                 /* those of them that belong to earlier sessions */
    uint32_t control_outstanding;     /* those up to the last control message (RFC 5043 6.6) */
    uint16_t sid;
    uint16_t expected;     /* DDP-SSN that is due from the peer */
    uint16_t ssn;          /* of the next message to the peer */
    uint8_t state;         /* enum sctp_session_state */
    uint8_t initiate_code; /* Function Code of the Initiate, of either side */
    uint8_t control;       /* Function Code that the session itself is to send, 0: none; draft: a Stream Reset */
    bool ready;            /* in association->ready */
    bool pending;          /* counts among the requests that wait for the ULP */
    bool spoke;            /* something was sent in this session */
    bool own_end;          /* Terminate or Reject of this side was sent */
    bool peer_end;         /* the peer sends no more: Terminate, Reject, or never came to anything */
    bool reset_sent;       /* draft: own Stream Reset since the stream was aborted */
    bool used;             /* a session was begun on the SID at some time */
};

/* What the layer keeps of a stream. */
struct sctp_lower {
    struct sctp_session *session;        /* NULL: over */
    struct iwarp_association *active_of; /* NULL: not in association->active */
    struct iwarp_stream *stream;         /* itself, for that list... */
    struct sctp_lower *next, *prev;      /* ...of which these are */
    uint8_t code;                        /* Function Code of the piece, where that is a control message */
    uint8_t initiate_code;               /* of the peer's Initiate */
    struct negotiation_offer offer;      /* of the peer's word */
    struct iwarp_mpa_start start;        /* the peer's message, as the ULP gets it */
    uint8_t private_data[DDP_SCTP_PRIVATE_DATA_MAX];
};

struct iwarp_association {
    struct iwarp_association_config config;
    struct iwarp_faults *faults; /* NULL in a clean stack */
    struct iwarp_device *device;
    struct iwarp_association_counters counters;
    enum iwarp_sctp_mode mode;
    bool up, over, closing, abort_wanted;
    uint16_t streams;               /* SIDs below this exist */
    uint16_t unused;                /* SIDs from here on were never used */
    struct sctp_session **sessions; /* by SID; NULL: nothing to remember */
    struct sctp_lower *active;      /* streams that may have events, oldest first */
    struct sctp_session *ready;     /* may have something to send, in turns */
    struct sctp_session *sending;   /* its message was given, and is not taken yet */
    bool sending_control;           /* ...and is the session's own */
    size_t attached;                /* streams with a session */
    uint8_t control_octets[8];
    struct sctp_held *free_held;
    struct deadlines deadlines;
    struct ring events; /* struct iwarp_association_event */
    uint64_t now;
};

static inline struct sctp_lower *lower_of(const struct iwarp_stream *stream)
{
    return stream->lower;
}

static inline bool is_draft(const struct iwarp_association *association)
{
    return association->config.profile == IWARP_SCTP_DRAFT02;
}

static inline uint16_t first_ssn(const struct iwarp_association *association)
{
    return is_draft(association) ? DDP_SCTP_DRAFT_FIRST_SSN : DDP_SCTP_FIRST_SSN;
}

/* sctp_stream.c */
extern const struct llp_ops sctp_llp;

/* association.c */
/* The SID's memory, made where there is none yet; NULL: memory is short. */
struct sctp_session *association_session(struct iwarp_association *association, uint16_t sid);
/* May a session of this side begin on the SID? */
bool association_sid_is_free(const struct iwarp_association *association, unsigned sid);
/* Forgets the SID where nothing of it has to be remembered. */
void association_forget(struct sctp_session *session);
void association_event(struct iwarp_association *association, enum iwarp_association_event_kind kind, uint16_t sid,
                       uint32_t code);
/* All sessions end: SCTP is gone, or about to go. */
void association_down(struct iwarp_association *association, const char *text);

/* association_io.c */
/* The stream of the session may have events; it is over, and is looked at no more. */
void session_mark_active(const struct sctp_session *session);
void stream_unmark_active(struct iwarp_stream *stream);
void session_ready(struct sctp_session *session);
void session_not_ready(struct sctp_session *session);

/* session.c */
/* What is judged of a session, whether or not it has a stream; `count` octets came. */
struct validation_subject session_subject(const struct sctp_session *session, const struct validation_session *view,
                                          size_t count);
void session_input(struct sctp_session *session, const struct iwarp_sctp_message *message);
/* Messages whose turn has come. */
void session_drain(struct sctp_session *session);
/* True: messages wait until the ULP has decided. */
bool session_waits(const struct sctp_session *session);
void session_begin(struct sctp_session *session, enum sctp_session_state state);
void session_pend(struct sctp_session *session);

/* session_end.c */
void session_fail(struct sctp_session *session, const struct validation_outcome *outcome,
                  const struct validation_subject *subject, const char *text);
/* What follows from the state that the stream has come to. */
void session_settle(struct sctp_session *session);
/* The session has ended, or its stream is freed, in any state. */
void session_over(struct sctp_session *session);
void session_decided(struct sctp_session *session);
bool session_close(struct sctp_session *session);

/* session_start.c */
void session_receive_control(struct sctp_session *session, const struct ddp_sctp_message *message);
int session_initiate(struct sctp_session *session, struct iwarp_sentence *sentence);
int session_answer(struct sctp_session *session, bool accepted);
/* The stream makes a control message its next piece. -1: memory is short. */
int session_say(struct sctp_session *session, uint8_t code, const struct negotiation_offer *offer, bool with_data);
void session_established(struct sctp_session *session);

/* draft.c */
void draft_pend(struct sctp_session *session);
void draft_attach(struct sctp_session *session);
void draft_control(struct sctp_session *session, const struct ddp_sctp_message *message, size_t count);
void draft_reset_sent(struct sctp_session *session);

/* order.c */
struct sctp_held *order_find(const struct sctp_session *session, uint16_t ssn);
/* Keeps a copy; -1: there is no memory for it. */
int order_hold(struct sctp_session *session, uint16_t ssn, const struct iwarp_sctp_message *message);
/* Removes the message with that DDP-SSN; the caller reads it and gives it back. NULL: it has not arrived. */
struct sctp_held *order_remove(struct sctp_session *session, uint16_t ssn);
void order_give_back(struct iwarp_association *association, struct sctp_held *held);
void order_clear(struct sctp_session *session);
void order_free(struct iwarp_association *association);

/* segment.c */
size_t segment_max(const struct iwarp_stream *stream, size_t *left);
/* Octets of the longest user message with a segment, by all limits that apply now. */
size_t segment_room(const struct iwarp_stream *stream);
int segment_frame(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu);

#endif
