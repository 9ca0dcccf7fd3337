/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seams of a stream: the places where another stack could do something else, as one table of operations. The
 * protocol code says what it is about to do, and an operation may change that. A stream of a program has no table, and
 * a seam costs it one branch. The implementations stand in reference-stack/defects: deliberate faults, which break the
 * text so that checks can be tested, and legal variants, which use a choice that the text leaves. The stack knows none
 * of them.
 *
 * Two operations have names for what they are asked: `number` for a length, a limit or a time, `decide` for what
 * happens now or not. Where the text leaves a choice, the name is the choice, and the value that is passed is the
 * stack's own.
 *
 * The layer below DDP has a table of its own, `lower`, which a header of that layer declares.
 */
#ifndef REFERENCE_STACK_FAULTS_H
#define REFERENCE_STACK_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference-stack/validation/validation.h"

struct fault_ops;
struct iwarp_association;
struct iwarp_device;
struct iwarp_event;
struct llp_ulpdu;
struct outgoing;
struct placement;
struct receive_work;
struct inbound_request;
struct terminate;
struct transmit_piece;
struct untagged_queue;

/*
 * In a configuration: an implementation and its settings. In an object: the implementation, and what it keeps of the
 * object. What follows these members is known to the implementation alone.
 */
struct iwarp_faults {
    const struct fault_ops *ops;
    const void *lower; /* of a stream or an association: the operations of the layer below DDP */
};

/* `object` has a member `faults`, NULL in a clean stack. */
#define FAULTED(object) __builtin_expect((object)->faults != NULL, 0)

/* Calls the operation of the object's table; `call` is its name with the arguments. */
#define SEAM(object, call)                                                                                             \
    do {                                                                                                               \
        if (FAULTED(object))                                                                                           \
            (void)(object)->faults->ops->call;                                                                         \
    } while (0)

/* True where the operation is called and returns true: it has done what was to be done. */
#define SEAM_IF(object, call) (FAULTED(object) && (object)->faults->ops->call)

/* `own`, or what the operation returns: only one of the two is evaluated. */
#define SEAM_VALUE(object, own, call) (FAULTED(object) ? (object)->faults->ops->call : (own))

/* The stack's own number or decision, or another. */
#define SEAM_NUMBER(stream, what, own) (FAULTED(stream) ? (stream)->faults->ops->number(stream, what, own) : (own))
#define SEAM_DECIDE(stream, what, own) (FAULTED(stream) ? (stream)->faults->ops->decide(stream, what, own) : (own))

enum stream_number {
    NUMBER_SEGMENT_ROOM,   /* octets of payload that the next segment has room for (RFC 5041 5.2) */
    NUMBER_ULPDU_MAX,      /* octets of the largest ULPDU (RFC 5044 4.5, RFC 5043 9)... */
    NUMBER_ULPDU_REPORTED, /* ...as reported to the ULP and instruments (RFC 5043 9) */
    NUMBER_POSTED_ULPDU,   /* octets of a ULPDU that the ULP posts as it stands (RFC 5044 3)... */
    NUMBER_POSTED_MAX,     /* ...and how many it may have */
    NUMBER_EMSS,           /* TCP's effective maximum segment size, when it changes (RFC 5044 4.5) */
    NUMBER_MSN_EXPECTED,   /* the MSN after a message that was delivered (RFC 5041 5.1) */
    NUMBER_RTR,            /* enum iwarp_rtr: the RTR message that the initiator sends; 0: none (RFC 6581 9.2) */
    NUMBER_DEADLINE,       /* when the stream wants to be called (RFC 5044 7.1.2, RFC 5041 6.2) */
    NUMBER_LLP_STATE,      /* enum iwarp_llp_state, for instruments (RFC 5041 3) */
    NUMBER_SYSTEM_FAULTS,  /* messages without a buffer, for instruments (RFC 5041 7.1) */
    NUMBER_DELIVERED_STAG, /* the STag of a tagged message that is delivered, for instruments (RFC 5041 5.3) */
};

enum stream_decision {
    /* The ULP's side */
    DECIDE_EVENT,       /* the oldest event goes to the ULP (RFC 5040 5.5) */
    DECIDE_POSTABLE,    /* work may be posted (RFC 5041 6.2.1) */
    DECIDE_SEND_OPCODE, /* the opcode of a posted Send is one of the Sends' (RFC 5040 2.4) */
    DECIDE_READ_SINK,   /* the sink of a posted Read can take the data (RFC 5040 5.2.1) */
    DECIDE_READ_DEPTH,  /* the ORD in force lets Reads be posted (RFC 6581 9.1) */
    DECIDE_DOMAIN_KEPT, /* the stream keeps its Protection Domain (RFC 5043 6) */
    /* The Data Sink */
    DECIDE_MESSAGE_ENDS, /* the untagged segment in hand ends its message (RFC 5041 5.4) */
    /* a Send or Immediate Data that is complete goes to the ULP (RFC 5040 5.3, RFC 7306 6.3)... */
    DECIDE_SEND_DELIVERED,
    DECIDE_RECEIVE_USED,     /* ...and uses up its receive */
    DECIDE_INVALIDATED,      /* the STag of a Send with Invalidate becomes invalid (RFC 5040 5.3) */
    DECIDE_READ_COMPLETE,    /* the segment in hand completes the open Read (RFC 5040 5.2.2) */
    DECIDE_TERMINATE_OBEYED, /* what follows the peer's Terminate is dropped (RFC 5040 5.4) */
    /* The Data Source */
    DECIDE_PIECE_NOW,     /* the piece that is ready goes out (RFC 5044 7.1.2) */
    DECIDE_TERMINATE_NOW, /* the Terminate that is due goes out (RFC 5040 5.4) */
};

/* What both sides have come to agree on (RFC 6581 9, RFC 5044 7.1.1), after the stack has settled it by the text. */
enum stream_terms {
    TERMS_REQUEST,       /* initiator: `own` is what its Request offers */
    TERMS_ANSWER_DEPTHS, /* responder: IRD and ORD of its answer, stream->agreed.reply_ird and reply_ord */
    TERMS_ANSWER_RTR,    /* responder: the RTR messages of its answer, stream->agreed.terms.rtr */
    TERMS_DEPTHS,        /* either: IRD and ORD in force, stream->agreed.ird and ord */
    TERMS_FRAMING,       /* either, MPA: Markers, CRC and versions; no offers (RFC 5044 4.3, 4.4, C.2.3) */
};

/* How a stream ends (RFC 5041 6.2, RFC 5040 5.4). */
enum stream_ending {
    ENDING_BY_PEER,  /* the peer's FIN, or Terminate of a session, has come */
    ENDING_LOST,     /* the connection is reset or lost */
    ENDING_BY_ULP,   /* the ULP asks for the orderly end */
    ENDING_FLUSH,    /* all that is posted is completed in error */
    ENDING_ALL_SENT, /* nothing is left to be sent: the layer below says so to the peer */
};

/* What happens to a region (RFC 5040 8.1.1, RFC 5041 8.2). */
enum region_step {
    REGION_STAG,         /* region->stag was drawn */
    REGION_REGISTERED,   /* the region is there */
    REGION_DEREGISTERED, /* it is given up */
    REGION_RANGE,        /* its range is changed */
};

struct fault_ops {
    /* A new object gets what the implementation keeps of it; its configuration may change. NULL: memory is short. */
    struct iwarp_faults *(*stream_new)(struct iwarp_stream *stream, const struct iwarp_faults *faults);
    struct iwarp_faults *(*device_new)(struct iwarp_device *device, const struct iwarp_faults *faults);
    struct iwarp_faults *(*association_new)(struct iwarp_association *association, const struct iwarp_faults *faults);
    /* The object is about to be freed. */
    void (*release)(struct iwarp_faults *kept);

    uint64_t (*number)(const struct iwarp_stream *stream, enum stream_number what, uint64_t own);
    bool (*decide)(struct iwarp_stream *stream, enum stream_decision what, bool own);

    /*
     * In place of validation_run(): judges by the table of validations. `kept` is that of a stream or an association.
     */
    bool (*judge)(const struct iwarp_faults *kept, enum validation_stage stage,
                  const struct validation_subject *subject, struct validation_outcome *outcome);

    /* --- The life of a stream, and its ULP ------------------------------------------------------------------------ */

    /* Octets came from the layer below. True: nothing follows from them (RFC 5044 7.1.2, RFC 5041 6.2.1). */
    bool (*input)(struct iwarp_stream *stream, const uint8_t *octets, size_t count);

    /* True: the stream does not end in this way, or not now. */
    bool (*ending)(struct iwarp_stream *stream, enum stream_ending how);

    /*
     * `event` is the newest one, and complete: it may be changed, exchanged with the one before, or removed (RFC 5040
     * 5.4, 5.5).
     */
    void (*event)(struct iwarp_stream *stream, struct iwarp_event *event);

    /* The newest work was posted: the order of the queue (RFC 5040 5.5). */
    void (*posted)(struct iwarp_stream *stream);

    void (*terms)(struct iwarp_stream *stream, enum stream_terms what, struct negotiation_offer *own,
                  const struct negotiation_offer *peer);

    /*
     * An error, before and after the ULP has its event; the first error, or a later one. True: nothing else follows
     * (RFC 5040 5.4).
     */
    bool (*fail)(struct iwarp_stream *stream, struct validation_outcome *outcome,
                 const struct validation_subject *subject, bool reported);

    /* True: the step is left out. Of REGION_STAG and REGION_REGISTERED `region` may change. */
    bool (*region)(struct iwarp_device *device, enum region_step step, struct iwarp_region *region);

    /* --- The Data Sink (core/deliver.c, core/early.c, core/atomic.c) ---------------------------------------------- */

    /* A DDP Segment was parsed, before it is judged (RFC 5041 4). */
    void (*segment)(struct iwarp_stream *stream, struct ddp_segment *segment, const uint8_t *octets, size_t count);

    /*
     * Its buffer was looked up: subject->region or subject->buffer_octets. True: nothing follows from the segment (RFC
     * 5041 7.1).
     */
    bool (*buffer)(struct iwarp_stream *stream, struct validation_subject *subject);

    /* Where the payload of a segment that was judged goes (RFC 5041 5.3, 5.4). */
    struct placement (*place)(struct iwarp_stream *stream, const struct validation_subject *subject);

    /*
     * A segment that came before its turn, before it is judged, and when it is placed: `receive` of a Send. True:
     * nothing follows.
     */
    bool (*early)(struct iwarp_stream *stream, const struct validation_subject *subject, struct receive_work *receive,
                  bool placed);

    /* An untagged message is complete in `queue`. True: nothing follows from it (RFC 5040 5, RFC 7306 5). */
    bool (*message)(struct iwarp_stream *stream, const struct validation_subject *subject,
                    struct rdmap_message *message, struct untagged_queue *queue);

    /*
     * A good Read or Atomic Request takes its place among those that wait for an answer. True: not here (RFC 5040
     * 5.2.2).
     */
    bool (*serve)(struct iwarp_stream *stream, const struct inbound_request *request,
                  const struct validation_subject *subject);

    /* A tagged message was delivered (RFC 5041 5.4). */
    void (*delivered)(struct iwarp_stream *stream, const struct validation_subject *subject);

    /* In place of atomic_execute(): what the response has (RFC 7306 5.1). */
    uint64_t (*atomic)(struct iwarp_stream *stream, const struct inbound_request *request,
                       const struct iwarp_region *region);

    /* --- The Data Source (core/transmit.c, core/piece.c, core/terminate.c) ---------------------------------------- */

    /* The next piece is made now, if there is one. */
    void (*output)(struct iwarp_stream *stream);

    /* May own work go next, and may a response? (RFC 5040 6.1, RFC 5041 5.3) */
    void (*turn)(const struct iwarp_stream *stream, bool *own, bool *response);

    /* Where the octets of a Read Response lie: of a request that was judged again (RFC 5040 5.2.2). */
    const uint8_t *(*source)(const struct iwarp_stream *stream, const struct inbound_request *request,
                             const struct iwarp_region *region);

    /* The header of a segment (RFC 5041 4, RFC 5040 4). */
    void (*header)(struct iwarp_stream *stream, struct outgoing *outgoing);

    /* A ULPDU, before the layer below frames it: its headers lie in stream->outbound.headers. -1: memory is short. */
    int (*ulpdu)(struct iwarp_stream *stream, struct llp_ulpdu *ulpdu);

    /* In place of terminate_pack(): the Terminate in stream->end.terminate, and its octets (RFC 5040 4.8). */
    size_t (*terminate)(struct iwarp_stream *stream, struct terminate *terminate, const struct ddp_segment *segment,
                        size_t segment_octets);

    /* The transport has the piece in whole, before its work completes (RFC 5040 5.5). */
    void (*sent)(struct iwarp_stream *stream, struct transmit_piece *piece);
};

/* Frees what an implementation keeps of an object. */
static inline void faults_release(struct iwarp_faults **kept)
{
    if (*kept != NULL)
        (*kept)->ops->release(*kept);
    *kept = NULL;
}

#endif
