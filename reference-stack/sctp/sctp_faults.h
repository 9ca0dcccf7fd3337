/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seams of SCTP (RFC 5043, draft-stewart-rddp-sctp-02): the `lower` of core/faults.h where the layer below DDP is
 * SCTP, and of an association. `session` is NULL where the association itself is asked.
 */
#ifndef REFERENCE_STACK_SCTP_FAULTS_H
#define REFERENCE_STACK_SCTP_FAULTS_H

#include "reference-stack/core/faults.h"

struct ddp_sctp_message;
struct iwarp_association;
struct iwarp_sctp_init;
struct iwarp_sctp_message;
struct iwarp_sctp_output;
struct sctp_session;

enum sctp_number {
    SCTP_MODE,    /* association: enum iwarp_sctp_mode, by the indications of both sides (RFC 5043 11.1) */
    SCTP_PAIRS,   /* association: SIDs that have a stream in both directions (RFC 5043 8) */
    SCTP_OWN_SID, /* association: as int, the SID that a new session of this side gets; -1: none is free (draft 7.2) */
    SCTP_FIRST_SSN,     /* the DDP-SSN that a session begins with (RFC 5043 6.1)... */
    SCTP_NEXT_SSN,      /* ...and the one after a message that was sent (RFC 5043 5.2.1) */
    SCTP_OUTSTANDING,   /* messages of a SID that may be sent without acknowledgement (RFC 5043 10) */
    SCTP_AHEAD,         /* as int: how far a message of the peer is before the one that is due (RFC 5043 10)... */
    SCTP_HELD_OCTETS,   /* ...and octets of memory for it until then */
    SCTP_ANSWER_CODE,   /* Function Code of the answer to an Initiate (RFC 5043 6.3, RFC 6581 7) */
    SCTP_REFUSAL_CODE,  /* Function Code of the answer to an Initiate that cannot wait; 0: none (RFC 5043 6.4) */
    SCTP_ACCEPT_POLICY, /* enum iwarp_accept_policy: who answers the Initiate (RFC 5043 6.2) */
    SCTP_PRIVATE_DATA,  /* octets of the peer's Private Data that the ULP gets (RFC 5043 5.2.3) */
    SCTP_DOMAIN,        /* the Protection Domain of a stream that gets a session (RFC 5043 2) */
};

enum sctp_decision {
    SCTP_ABORTS,           /* association: it is aborted when the ULP asks for it (RFC 5043 11.3) */
    SCTP_SHUTS_DOWN,       /* association: it is shut down with its last session (RFC 5043 11.3) */
    SCTP_DOWN_REPORTED,    /* the stream gets a report that the association has ended (RFC 5043 11.3) */
    SCTP_ERROR_SPREADS,    /* an error of the session ends the association (RFC 5043 11.3) */
    SCTP_CONTROL_WAITS,    /* a control message waits until the one before has arrived (RFC 5043 6.6) */
    SCTP_SEGMENTS_ALLOWED, /* segments may follow the Initiate (RFC 5043 6.1)... */
    SCTP_SACK_SUFFICES,    /* ...and what is acknowledged is enough for that (RFC 5043 6.6) */
    SCTP_SID_FREE,         /* a new session may begin on the SID (RFC 5043 6.6) */
    SCTP_CLOSES,           /* the session ends by a Terminate (RFC 5043 6.2) */
    SCTP_TERMINATE_WAITS,  /* that Terminate waits for the peer's (RFC 5043 6.2) */
    SCTP_OWES_TERMINATE,   /* a session without a stream has a Terminate to send (RFC 5043 6.3) */
    SCTP_REQUEST_FULL,     /* no more requests may wait for the ULP (RFC 5043 6.4) */
    SCTP_REQUEST_DECIDED,  /* one that was answered does not wait any more (RFC 5043 6.4) */
    SCTP_SORTED,           /* a message is put in the order of DDP-SSNs (RFC 5043 10)... */
    SCTP_HELD_KEPT,        /* ...and what came before its turn stays when the session is over (RFC 5043 6) */
    SCTP_CONTROL_REPORTED, /* the ULP learns of a control message (RFC 5043 5.2.3) */
    SCTP_CONTROL_OBEYED,   /* the control message has its effect (RFC 5043 5.2.3) */
    SCTP_SHORTENED,        /* a segment that is longer than the path takes by now is made shorter (draft 5) */
    SCTP_ABORTED_DROPS,    /* draft: what comes on an aborted stream is dropped (draft 7.2) */
    SCTP_RESET_OBEYED,     /* draft: a Stream Reset has its effect (draft 7.2) */
};

struct sctp_fault_ops {
    uint64_t (*number)(const struct iwarp_association *association, struct sctp_session *session, enum sctp_number what,
                       uint64_t own);

    /* `about`: the message, NULL where it is about none. */
    bool (*decide)(struct iwarp_association *association, struct sctp_session *session, enum sctp_decision what,
                   const struct ddp_sctp_message *about, bool own);

    /* What an INIT or INIT-ACK has: the own one, or the peer's as it was read (RFC 5043 5.1, 8). */
    void (*init)(const struct iwarp_association *association, struct iwarp_sctp_init *init, bool own);

    /* A message of the peer, as SCTP has given it up (RFC 5043 5.2). */
    void (*message)(const struct iwarp_association *association, struct iwarp_sctp_message *message);

    /* A message that is about to be given to SCTP; `output` without octets: the session has none (RFC 5043 5.2, 10). */
    void (*output)(struct sctp_session *session, struct iwarp_sctp_output *output);
};

static inline const struct sctp_fault_ops *sctp_seams(const struct iwarp_faults *faults)
{
    return (const struct sctp_fault_ops *)faults->lower;
}

/* As SEAM, SEAM_NUMBER and SEAM_DECIDE. */
#define SCTP_SEAM(association, call)                                                                                   \
    do {                                                                                                               \
        if (FAULTED(association))                                                                                      \
            (void)sctp_seams((association)->faults)->call;                                                             \
    } while (0)
#define SCTP_NUMBER(association, session, what, own)                                                                   \
    (FAULTED(association) ? sctp_seams((association)->faults)->number(association, session, what, own)                 \
                          : (uint64_t)(own))
#define SCTP_ASSOCIATION_DECIDE(association, what, own)                                                                \
    (FAULTED(association) ? sctp_seams((association)->faults)->decide(association, NULL, what, NULL, own) : (own))
#define SCTP_DECIDE(session, what, about, own)                                                                         \
    (FAULTED((session)->association)                                                                                   \
         ? sctp_seams((session)->association->faults)->decide((session)->association, session, what, about, own)       \
         : (own))

#endif
