/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that a peer must not do, as one table: each entry is one sentence of the RFCs, with its requirement id, the
 * predicate that holds for good input, and what follows when it does not. Entries of a stage are tried in the order of
 * the table, and the first that does not hold is the one reported (RFC 5040 4.8: the first failing message).
 */
#ifndef REFERENCE_STACK_VALIDATION_H
#define REFERENCE_STACK_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/stream.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/ddp_sctp.h"
#include "wire/rdmap.h"
#include "wire/terminate.h"

struct iwarp_faults;
struct fpdu;

/* Where in the life of the octets an entry runs. */
enum validation_stage {
    VALIDATE_REQUEST,       /* responder: octets that should be a Request */
    VALIDATE_REPLY,         /* initiator: octets that should be a Reply */
    VALIDATE_NEGOTIATION,   /* initiator: what an accepting, enhanced Reply offers */
    VALIDATE_FPDU,          /* a complete FPDU */
    VALIDATE_SEGMENT,       /* DDP header of either model */
    VALIDATE_TAGGED,        /* tagged segment with payload, before placement */
    VALIDATE_UNTAGGED,      /* untagged segment, before placement */
    VALIDATE_RDMAP,         /* RDMAP control fields of a segment that DDP found good */
    VALIDATE_READ_REQUEST,  /* a delivered Read Request */
    VALIDATE_READ_RESPONSE, /* a Read Response segment */
    VALIDATE_INVALIDATE,    /* a delivered Send with Invalidate */
    VALIDATE_ATOMIC_REQUEST,
    VALIDATE_ATOMIC_RESPONSE,
    VALIDATE_IMMEDIATE,
    VALIDATE_ASSOCIATION, /* SCTP: what the peer's INIT or INIT-ACK offers */
    VALIDATE_MESSAGE,     /* a user message of SCTP, as it comes */
    VALIDATE_SESSION,     /* ...and when its turn has come: by the patterns of RFC 5043 6 */
    VALIDATE_RESET,       /* a control message of draft-stewart-rddp-sctp-02 */
    VALIDATE_STAGES,
};

/* What the stages of SCTP look at: some of it concerns no stream, or none yet. */
struct validation_session {
    const struct iwarp_faults *faults;
    enum iwarp_sctp_profile profile;
    bool admitted;    /* association: the indications of both sides admit DDP */
    unsigned streams; /* association: that both sides have, in both directions */
    const struct ddp_sctp_message *message;
    wire_result parsed;
    bool enhanced;          /* this side knows the messages of RFC 6581 7 */
    bool request_due;       /* an Initiate is */
    bool answer_due;        /* an Accept or Reject is, or a Terminate in its place */
    bool segments_due;      /* the session is open to them */
    bool over;              /* the peer has sent its Terminate or Reject */
    uint32_t initiate_code; /* Function Code of the Initiate */
};

/* What one side offers of IRD, ORD and RTR (RFC 6581 9). */
struct negotiation_offer {
    uint16_t ird, ord; /* DEPTH_NOT_NEGOTIATED: nothing is said of it */
    bool peer_to_peer; /* A */
    unsigned rtr;      /* B, C and D: enum iwarp_rtr */
};

/* What this side is, and what both have agreed on, as far as entries depend on it. */
struct validation_terms {
    const struct iwarp_stream_config *config;
    unsigned ird_max; /* of the device */
    unsigned rtr;     /* RTR messages: responder: what its answer has; initiator: what it may choose from */
    uint8_t version;  /* DV and RV: 1, or what a peer of Rev 0 has (RFC 5044 C.1: no mixing) */
};

/* The open Read that a Read Response answers. */
struct validation_read {
    uint32_t sink_stag;
    uint64_t sink_to, octets;
    uint64_t received; /* octets of it, before the segment in hand */
};

/* What an entry looks at; what is not there yet at its stage is NULL. */
struct validation_subject {
    const struct iwarp_stream *stream;    /* NULL: the stages of SCTP alone, where there is none... */
    const struct validation_terms *terms; /* ...and its terms, NULL there */
    const struct validation_session *session;
    const uint8_t *octets; /* start-up: all so far */
    size_t count;          /* ...and of a delivered message with a header of its own */
    const struct iwarp_mpa_start *start;
    const struct negotiation_offer *offer;
    size_t excess; /* start-up: octets after the frame */
    const struct fpdu *fpdu;
    uint32_t position;     /* FPDU: where it begins, as Markers count */
    size_t segment_octets; /* of the ULPDU, as a Terminate quotes it: DDP Segment Length */
    const struct ddp_segment *segment;
    const struct rdmap_message *message;
    uint32_t msn_expected; /* untagged: of its queue, where there is one */
    const struct read_request *read;
    const struct validation_read *open_read; /* Read Response: NULL: none is open */
    const struct atomic_request *atomic;
    const struct atomic_request *open_atomic; /* Atomic Response: NULL: none is open */
    const struct atomic_response *response;
    const struct iwarp_region *region; /* tagged, Read and Atomic Request, Invalidate: the STag's, NULL: unknown */
    uint64_t buffer_octets;            /* untagged: size of the buffer that the MSN has, UINT64_MAX when it has none */
};

enum validation_action {
    VALIDATION_TERMINATE, /* Terminate with the triple where FPDUs may be sent, then the orderly end */
    VALIDATION_CLOSE,     /* FIN: start-up errors (RFC 5044 7.1.2, 8) */
    VALIDATION_ABORT,     /* RST; over SCTP an ABORT of the association */
    VALIDATION_HANG,      /* the stream ends, but the connection stays as it is */
    VALIDATION_REJECT,    /* a Reply with R = 1, as if the ULP had refused */
    VALIDATION_IGNORE,    /* what was judged is dropped, and the stream goes on */
};

enum { VALIDATIONS_MAX = 160 };

struct validation {
    const char *requirement; /* id in the catalogue */
    const char *name;        /* unique */
    enum validation_stage stage;
    bool (*holds)(const struct validation_subject *subject);
    wire_result error; /* the triple; also reported in IWARP_EVENT_ERROR when the action is CLOSE */
    enum validation_action action;
};

/* Sorted by stage. */
extern const struct validation validation_table[];
extern const size_t validation_count;
extern const char *const validation_stage_names[VALIDATE_STAGES];

/* An entry by requirement id or by name: the n-th of those that match (from 0), or NULL. */
const struct validation *validation_find(const char *what, size_t n);

/* The entry that does not hold, and what follows. */
struct validation_outcome {
    const struct validation *entry; /* NULL: an error that no entry stands for */
    const char *requirement;        /* the entry's, or that of the error; may be NULL */
    wire_result error;
    enum validation_action action;
};

/* The entries of a stage: from *first of the table up to, but not including, *end. */
void validation_entries(enum validation_stage stage, size_t *first, size_t *end);

/* Tries the stage's entries in their order. False: `outcome` is the first that does not hold. */
bool validation_run(enum validation_stage stage, const struct validation_subject *subject,
                    struct validation_outcome *outcome);

#endif
