/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a stream. Who owns what:
 *
 *     stream.c         life, input, output, events    stream_verbs.c  what the ULP asks
 *     stream_config.c  what it can be configured to   llp.h           what the layer below DDP has to do
 *     negotiate.c      IRD, ORD and RTR               deliver.c       DDP placement, RDMAP delivery
 *     early.c          placement before its turn      atomic.c        Atomic Operations, Immediate Data (RFC 7306)
 *     transmit.c       work into DDP Segments         piece.c         what the transport is given next
 *     work.c           work's payload and its end     span_list.c     messages and receives in pieces
 *     terminate.c      errors into Terminates         instrument.c    what only an instrumented stack shows
 */
#ifndef REFERENCE_STACK_STREAM_INTERNAL_H
#define REFERENCE_STACK_STREAM_INTERNAL_H

#include "iwarp/instrument.h"
#include "iwarp/stream.h"
#include "reference-stack/core/device_internal.h"
#include "reference-stack/core/faults.h"
#include "reference-stack/core/llp.h"
#include "reference-stack/core/negotiate.h"
#include "reference-stack/core/span_list.h"
#include "reference-stack/base/ring.h"
#include "reference-stack/validation/validation.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"

enum {
    STREAM_HEADER_ROOM = ATOMIC_REQUEST_OCTETS, /* for RDMAP's header of any untagged message */
    STREAM_HEADER_MAX = 18 + STREAM_HEADER_ROOM,
    STREAM_TERMINATE_ROOM = 256, /* QN 2's untagged buffer: longer than any Terminate, zero-filled ones included */
};

/* A posted receive. */
struct receive_work {
    uint64_t id;
    uint8_t *buffer;
    size_t octets;
    struct span_list *list; /* NULL, or its pieces; `buffer` is NULL then */
};

/* A posted Send, Write, Read, atomic or Immediate Data, or an RTR message, from posting to completion. */
struct send_work {
    enum iwarp_work kind;
    bool internal; /* an RTR: no event */
    bool fence;    /* not before the responses of earlier Reads and atomics were delivered */
    bool done;     /* complete, but an earlier one is not (RFC 5040 5.5 rule 15) */
    uint8_t opcode;
    uint64_t id;
    const uint8_t *octets;
    uint64_t count;
    struct span_list *list; /* NULL, or a copy, which `octets` names, or pieces; `octets` is NULL then */
    uint32_t stag;          /* tagged: the peer's; Send: to invalidate; Read: source */
    uint64_t to;
    uint32_t sink_stag;
    uint64_t sink_to;
    uint64_t received; /* Read: octets placed so far */
    struct atomic_request atomic;
    uint64_t value; /* atomic: from the response */
    uint8_t immediate[IWARP_IMMEDIATE_OCTETS];
};

/* An inbound Read or Atomic Request, queued until its response is sent. */
struct inbound_request {
    bool is_atomic;
    struct read_request read;
    struct atomic_request atomic;
    uint8_t header[DDP_UNTAGGED_OCTETS]; /* as received: a late failure quotes it (RFC 5040 4.8) */
    uint16_t segment_octets;
    uint64_t sent;
};

/* One untagged queue, inbound: segments come up in order, so one message at a time is being assembled. */
struct untagged_queue {
    uint32_t msn_expected;
    uint32_t msn_next;                     /* outbound */
    bool begun;                            /* some segment of msn_expected is placed */
    uint64_t length;                       /* octets up to the farthest one placed */
    uint8_t buffer[STREAM_TERMINATE_ROOM]; /* QN 1 and 2: where the message is assembled */
};

/* What the transport is being given: all in one run, or what stands before the payload | payload, if any | the rest. */
enum { TRANSMIT_PAYLOAD = 1 };

struct transmit_piece {
    struct iwarp_span spans[IWARP_OUTPUT_SPANS];
    size_t span_count;
    size_t octets;
    size_t done;
    bool segment;       /* a DDP Segment; false: a message of the layer below */
    bool ulp_memory;    /* the payload is not the stream's own */
    bool completes;     /* its last octet completes the work at `work` */
    uint64_t work;      /* serial number of that work */
    bool response;      /* of a Read or atomic */
    bool ends_response; /* its last octet frees a Read slot */
    bool terminate;
    struct region_entry *lent; /* the region that the payload lies in: it is not to go away meanwhile */
};

/* Where the payload of a segment goes. */
struct placement {
    uint8_t *octets;          /* NULL: nowhere, or to `pieces` */
    struct span_list *pieces; /* from `offset` of them on */
    size_t offset, count;
};

/* A segment of a message on its way to a piece, and what it is made of; all NULL for a Terminate. */
struct outgoing {
    struct ddp_segment segment;
    struct send_work *work;
    const struct inbound_request *request;
    uint8_t header[STREAM_HEADER_ROOM]; /* RDMAP's */
    size_t header_octets;
};

/* Who the next message is taken from. */
enum transmit_source { TRANSMIT_NONE, TRANSMIT_WORK, TRANSMIT_RESPONSE };

/* What the start-up settled (RFC 5044 7.1, RFC 6581 9). */
struct stream_agreed {
    uint16_t reply_ird, reply_ord; /* of a responder's answer */
    uint16_t ird, ord;             /* in force */
    struct validation_terms terms;
    bool rtr_awaited; /* responder, A = 1: the first segment should be an RTR */
    bool ddp_alone;   /* there is no RDMAP above DDP (draft-stewart-rddp-sctp-02 7.1) */
};

/* The Data Sink. */
struct stream_inbound {
    struct untagged_queue queues[DDP_QUEUES];
    struct ring receives; /* struct receive_work */
    struct ring requests; /* struct inbound_request */
};

/* The Data Source. */
struct stream_outbound {
    struct ring work;      /* struct send_work, oldest first */
    uint64_t work_serial;  /* of the oldest */
    size_t work_sent;      /* how many of them are with the transport in whole, or wait for their Read Response */
    uint64_t work_offset;  /* octets of the next one sent */
    bool work_begun;       /* some of its segments went out */
    bool segments_allowed; /* segments may be sent */
    uint32_t atomic_ids;   /* Request Identifiers drawn so far */
    enum transmit_source source, last_source;
    struct transmit_piece piece;
    uint8_t *buffer; /* what the piece is made in, where it is not the ULP's memory alone */
    size_t room;
    uint8_t *gathered; /* the payload of a segment that lies in several pieces */
    size_t gathered_room;
    struct span_list *retired; /* of completed work: the transport may look at it until an event is taken */
    uint8_t headers[LLP_PREFIX_OCTETS + STREAM_HEADER_MAX + 4];
};

/* How the stream ends (RFC 5040 5.4, RFC 5041 6.2). */
struct stream_end {
    bool error_seen;
    bool terminate_due, terminate_sent, terminate_received;
    uint8_t terminate[IWARP_TERMINATE_MAX];
    size_t terminate_octets;
    bool close_wanted, abort_wanted, fin_due, fin_received;
    bool dropping;  /* what the peer sends is dropped */
    bool unflushed; /* no memory for an event: iwarp_stream_poll() flushes posted work and receives itself */
    uint64_t linger_deadline;
    size_t unacknowledged; /* octets, as the layer below reported last */
    uint64_t teardown_at;  /* the ULP has an error event, and closes then; 0: at once */
};

/* iwarp/instrument.h */
struct stream_instruments {
    bool traced, responses_held, catastrophe_due;
    unsigned system_faults;
    size_t mulpdu_given; /* 0: as the layer below says */
    struct ring trace;   /* struct iwarp_trace */
};

struct iwarp_stream {
    struct iwarp_stream_config config;
    struct iwarp_device *device;
    const struct llp_ops *llp;   /* the layer below DDP... */
    void *lower;                 /* ...and what it keeps of the stream, in the same allocation */
    struct iwarp_faults *faults; /* NULL in a clean stack */
    enum iwarp_state state;
    bool established;
    uint64_t startup_deadline;
    uint64_t now;
    struct iwarp_stream_counters counters;
    struct ring events; /* struct iwarp_event */
    struct stream_agreed agreed;
    struct stream_inbound inbound;
    struct stream_outbound outbound;
    struct stream_end end;
    struct stream_instruments instruments;
};

/* What is judged of the stream. */
static inline struct validation_subject stream_subject(const struct iwarp_stream *stream)
{
    return (struct validation_subject){.stream = stream, .terms = &stream->agreed.terms, .buffer_octets = UINT64_MAX};
}

/* The piece is with the transport, or will never be: nothing of it is looked at again. */
static inline void stream_piece_drop(struct iwarp_stream *stream)
{
    if (stream->outbound.piece.lent != NULL)
        stream->outbound.piece.lent->lent--;
    stream->outbound.piece.lent = NULL;
    stream->outbound.piece.octets = stream->outbound.piece.done = 0;
}

/* Notifies the layer below that the stream may have output or may have ended. */
static inline void stream_ready(struct iwarp_stream *stream)
{
    if (stream->llp->ready != NULL)
        stream->llp->ready(stream);
}

/* work.c: the oldest work, and the oldest receive, are over. */
void work_pop(struct iwarp_stream *stream);
void receive_pop(struct iwarp_stream *stream);
/* Frees what work that is over has left. */
void work_release(struct iwarp_stream *stream);
/*
 * The payload of a segment: `octets` from `offset` of the message on. In *own whether that is a buffer of the stream,
 * valid until the next call; else it is the ULP's memory, or the work's. False: no memory.
 */
bool work_payload(struct iwarp_stream *stream, const struct send_work *work, uint64_t offset, size_t octets,
                  const uint8_t **payload, bool *own);

/* stream.c. The stream carries its segments by `llp`. */
struct iwarp_stream *stream_new(const struct llp_ops *llp, struct iwarp_device *device,
                                const struct iwarp_stream_config *config, uint64_t now,
                                struct iwarp_sentence *sentence);
/* A ULPDU that the layer below took out of one message: deliver_ulpdu() and what follows from it. */
void stream_input_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count, uint64_t now);
/* A new event, to be filled in; NULL without memory. stream_event_done(), which allows NULL, passes it on. */
struct iwarp_event *stream_event(struct iwarp_stream *stream, enum iwarp_event_kind kind);
void stream_event_done(struct iwarp_stream *stream, struct iwarp_event *event);
/* One that has nothing but its kind. */
void stream_event_plain(struct iwarp_stream *stream, enum iwarp_event_kind kind);
void stream_progress(struct iwarp_stream *stream);
/* The limit on the peer's end of a stream that has ended here begins, or begins anew: the peer still takes octets. */
void stream_linger(struct iwarp_stream *stream);
void stream_flush(struct iwarp_stream *stream);
void stream_complete(struct iwarp_stream *stream);
void stream_completed(struct iwarp_stream *stream, struct send_work *work);

/* stream_config.c: common to all layers below DDP. */
void stream_config_default(struct iwarp_stream_config *config, enum iwarp_role role);

/* -1 with a sentence when no stream of the device that `llp` carries can have it. */
int stream_config_check(const struct llp_ops *llp, const struct iwarp_device *device,
                        const struct iwarp_stream_config *config, struct iwarp_sentence *sentence);

/* instrument.c */
void instrument_record(struct iwarp_stream *stream, enum iwarp_trace_kind kind, const struct ddp_segment *segment,
                       uint64_t octets);

/* deliver.c. Judges by the entries of a stage (validation_run()). */
bool stream_judge(enum validation_stage stage, const struct validation_subject *subject,
                  struct validation_outcome *outcome);
bool deliver_holds(struct iwarp_stream *stream, enum validation_stage stage, const struct validation_subject *subject,
                   const char *text);
void deliver_queue_request(struct iwarp_stream *stream, const struct inbound_request *request,
                           const struct validation_subject *subject);
/* Where the payload goes of a segment that was found good. */
struct placement deliver_place(const struct iwarp_stream *stream, const struct validation_subject *subject);
void placement_write(const struct placement *place, const uint8_t *payload);

/* A ULPDU that the layer below found good, in the order of sending. */
void deliver_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count);

/* early.c: one that is to be placed, and nothing else, before its turn. deliver_ulpdu() is called when that comes. */
void early_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count);

/* The Read that the next Read Response belongs to: the oldest open one (RFC 5040 5.2.2); NULL when none is open. */
struct send_work *deliver_open_read(const struct iwarp_stream *stream);

/* atomic.c */
struct send_work *atomic_open(const struct iwarp_stream *stream);
void atomic_deliver_request(struct iwarp_stream *stream, const uint8_t *octets, struct validation_subject *subject);
void atomic_deliver_response(struct iwarp_stream *stream, const uint8_t *octets, struct validation_subject *subject);
bool atomic_send_request(struct iwarp_stream *stream, struct outgoing *request);
bool atomic_send_response(struct iwarp_stream *stream, const struct inbound_request *request);
bool atomic_send_immediate(struct iwarp_stream *stream, struct outgoing *message);

/* transmit.c */
enum transmit_source transmit_choose(const struct iwarp_stream *stream);
void transmit_requested(struct iwarp_stream *stream);
void transmit_completes(struct iwarp_stream *stream);
bool transmit_next(struct iwarp_stream *stream);
/*
 * The segment that waits was made for more room than there is now: `over` octets of its payload go with the next one.
 */
void transmit_shorten(struct iwarp_stream *stream, size_t over);
/* Octets of the largest ULPDU. */
size_t transmit_ulpdu_max(const struct iwarp_stream *stream);
void transmit_done(struct iwarp_stream *stream);
bool transmit_pending(const struct iwarp_stream *stream);
int transmit_rtr(struct iwarp_stream *stream, enum iwarp_rtr kind);

/* piece.c: room for so many octets in the transmit buffer, -1: memory is short; they are the piece. */
int piece_reserve(struct iwarp_stream *stream, size_t octets);
void piece_set(struct iwarp_stream *stream, size_t octets, bool segment);

/* The segment, or a ULPDU as it stands, becomes the piece. -1: memory is short. */
int piece_segment(struct iwarp_stream *stream, struct outgoing *outgoing);
int piece_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count);

/* Its payload is not the ULP's any more. */
void piece_keep(struct iwarp_stream *stream);

/* terminate.c */
void stream_fail(struct iwarp_stream *stream, const struct validation_outcome *outcome,
                 const struct validation_subject *subject, const char *text);
void stream_fail_with(struct iwarp_stream *stream, const char *requirement, wire_result error,
                      enum validation_action action, const char *text);
void terminate_queue(struct iwarp_stream *stream, wire_result triple, const struct ddp_segment *segment,
                     size_t segment_octets, const uint8_t *read_header);

/* The same about what a validation looked at. */
void terminate_about(struct iwarp_stream *stream, wire_result triple, const struct validation_subject *subject);

#endif
