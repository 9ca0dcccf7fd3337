/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One RDMAP Stream over one TCP connection, without I/O. The caller passes in the octets that TCP delivered and the
 * current time, and gets octets to send and events. The stream opens nothing, waits for nothing and prints nothing.
 * The owner of the connection (a socket, a simulated TCP, a pipe in memory, a fuzzer) drives it:
 *
 *     iwarp_stream_input(stream, octets, count, now);          as TCP delivers them, in any portions
 *     while (iwarp_stream_poll(stream, &event)) ...            what happened
 *     while (iwarp_stream_output(stream, &piece) != 0) {       one FPDU each: one TCP segment where possible
 *         send(piece...); iwarp_stream_output_done(stream, piece.octets, now);
 *     }
 *     switch (iwarp_stream_wants(stream)) ...                  with nothing left to send: FIN or RST
 *     sleep until iwarp_stream_deadline(stream); iwarp_stream_tick(stream, now);
 *
 * reference-stack/examples/memory.c does this for two streams of one process, and uses each function of this header.
 *
 * All times are nanoseconds of one clock that never goes back. The stream uses the octets given to verbs (buffers,
 * payloads) until the completion that names their `id`; the caller keeps them until then.
 *
 * Misuse is handled as in device.h: the function returns -1 with a sentence (optional: NULL), NULL, 0 or false, or
 * does nothing, and the stream does not change. A NULL stream is CLOSED, wants NOTHING, and has no deadline
 * (UINT64_MAX). NULL octets count as no octets.
 *
 * The layers, bottom up: MPA start-up and FPDUs (RFC 5044, RFC 6581), DDP (RFC 5041), RDMAP (RFC 5040, RFC 7306). The
 * table in reference-stack/validation/validation.c lists what the peer must not do.
 */
#ifndef IWARP_STREAM_H
#define IWARP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/device.h"
#include "base/sentence.h"
#include "wire/atomic_opcode.h"
#include "wire/mpa_start.h"
#include "wire/terminate_triple.h"

#ifdef __cplusplus
extern "C" {
#endif

struct iwarp_stream;
struct iwarp_srq;
struct iwarp_faults;

enum iwarp_role { IWARP_RESPONDER, IWARP_INITIATOR };

/* RTR messages (RFC 6581 9.2), as a set. */
enum iwarp_rtr { IWARP_RTR_SEND = 1, IWARP_RTR_WRITE = 2, IWARP_RTR_READ = 4, IWARP_RTR_ALL = 7 };

/* The answer to a well-formed Request (RFC 5044 7.1.2: the ULP decides). */
enum iwarp_accept_policy {
    IWARP_ACCEPT,     /* Reply with R = 0 at once */
    IWARP_ACCEPT_ASK, /* IWARP_EVENT_CONNECT_REQUEST, then wait for iwarp_stream_accept() or iwarp_stream_reject() */
    IWARP_ACCEPT_NOT, /* Reply with R = 1 at once */
};

/*
 * Atomic Operations and Immediate Data, opcodes 8 to B. The wire does not negotiate them; both ULPs must agree. OFF:
 * the opcodes are unexpected, and QN 3 does not exist.
 */
enum iwarp_extensions {
    IWARP_EXTENSIONS_OFF,
    IWARP_EXTENSIONS_DRAFT03, /* draft-ietf-storm-rdmap-ext-03: with Swap */
    IWARP_EXTENSIONS_RFC7306, /* AOpCode 1 is reserved */
};

struct iwarp_stream_config {
    enum iwarp_role role;
    uint8_t revision; /* initiator: Rev of the Request. Responder: the highest Rev accepted (1 or 2) */
    bool enhanced;    /* initiator: S = 1 (revision 2 only). Responder: supports S = 1; otherwise it closes */
    bool markers;     /* M: this side asks the peer to send Markers */
    bool crc;         /* C: this side asks for CRCs (only an administrator turns them off: RFC 5044 4.4) */
    enum iwarp_extensions extensions;
    uint16_t ird; /* inbound Reads and atomics served at once; IRD of the start-up frame; 0x3FFF: not negotiated */
    uint16_t ord; /* own Reads and atomics outstanding at most; ORD of the start-up frame; 0x3FFF: not negotiated */
    bool peer_to_peer; /* initiator: A. A responder follows the Request */
    unsigned rtr;      /* RTR messages this side can send (initiator) or accept (responder), enum iwarp_rtr */
    uint8_t private_data[IWARP_MPA_PRIVATE_DATA_MAX];
    uint16_t private_octets; /* the ULP's, in the Request or the Reply: at most 512, with enhanced 508 */
    uint16_t private_room;   /* the ULP accepts so many octets of the peer's: more is a bad frame (RFC 5044 7.1.2) */
    bool rdmac;              /* accepts peers of the RDMA Consortium's MPA, Rev 0 (RFC 5044 C.2.3) */
    bool trace;              /* IWARP_EVENT_ULPDU for each ULPDU that MPA passes to DDP */
    bool smbd;         /* IRD and ORD before the Private Data of frames without the enhanced word, as in [MS-SMBD] */
    bool modify_fails; /* initiator: it cannot apply the result of the Reply: a local error (RFC 6581 9.3) */
    size_t emss;       /* TCP's effective maximum segment size, for MULPDU (RFC 5044 4.5); 0: 1460 */
    uint64_t startup_limit; /* ns from the beginning to a complete start-up exchange; 0: none */
    uint64_t linger_limit; /* ns from own FIN or Terminate to the peer's, while it takes nothing, then abort; 0: none */
    uint64_t teardown_delay; /* ns from the report of an error to the ULP's close (RFC 5041 6.2.2); 0: at once */
    enum iwarp_accept_policy accept;
    uint32_t pd;                       /* Protection Domain of the stream */
    uint32_t number;                   /* the stream's own number, which regions bind to; 0: none binds */
    struct iwarp_srq *srq;             /* source of receives if none is posted on the stream, borrowed; NULL: none */
    const struct iwarp_faults *faults; /* deliberate faults of a test, borrowed; NULL in a program */
};

/*
 * The defaults follow the RFCs: Rev 2 enhanced, no Markers, CRC, IRD = ORD = 4, all RTRs, RFC 7306, auto-accept,
 * limits of 10 s and 5 s, EMSS 1460.
 */
void iwarp_stream_config_default(struct iwarp_stream_config *config, enum iwarp_role role);

/*
 * Makes a stream on a connection that TCP has just opened. An initiator has its Request ready as output. Returns NULL
 * with a sentence if memory is short or the configuration is impossible: an unknown role, revision, accept policy,
 * extension or RTR message, too much Private Data, IRD or ORD above 14 bits or above the limits of the device.
 * `config` is copied, `device` borrowed.
 */
struct iwarp_stream *iwarp_stream_new(struct iwarp_device *device, const struct iwarp_stream_config *config,
                                      uint64_t now, struct iwarp_sentence *sentence);

/* Frees the stream. Its work ends without events. NULL is fine. */
void iwarp_stream_free(struct iwarp_stream *stream);

/* --- Input from TCP ------------------------------------------------------------------------------------------- */

/*
 * Accepts octets in stream order, in any portions, and all of them. Octets after an error are dropped, as RFC 5041
 * 7.1 requires.
 */
void iwarp_stream_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count, uint64_t now);

/*
 * Avoids a copy of large FPDUs: returns where to write the next octets of the stream, and how many at most. 0: the
 * caller uses any buffer, and iwarp_stream_input(). iwarp_stream_input_filled() reports the number of octets written
 * there (1 or more), before any other call. If it reports more octets than were offered, none is accepted.
 */
size_t iwarp_stream_input_space(struct iwarp_stream *stream, uint8_t **space);
void iwarp_stream_input_filled(struct iwarp_stream *stream, size_t count, uint64_t now);

/*
 * Octets that TCP received after a gap: `gap` octets (1 or more) are missing between the last octets in order and
 * these. The stream checks the whole FPDUs that it can find among them, and places their payload at once (RFC 5041
 * 5.3). It delivers, completes and reports nothing. TCP keeps the octets and passes them again, in order, when the gap
 * is closed. TCP may call this function for some or all of the octets after a gap, and repeatedly for the same ones;
 * the stream does not store them. FPDUs are found by Markers, if Markers and CRCs are in use (RFC 5044 6). With
 * `boundary` the caller guarantees that the octets begin with an FPDU, which a TCP segment alone does not show (RFC
 * 5044 A.4). A gap of 0, or one that is wider than any TCP window, is ignored.
 */
void iwarp_stream_input_early(struct iwarp_stream *stream, size_t gap, const uint8_t *octets, size_t count,
                              bool boundary, uint64_t now);

/* Reports the peer's FIN; reports that the connection was reset or lost. */
void iwarp_stream_input_fin(struct iwarp_stream *stream, uint64_t now);
void iwarp_stream_input_reset(struct iwarp_stream *stream, uint64_t now);

/*
 * Reports that TCP's effective maximum segment size has changed (RFC 5044 4.5). MULPDU changes for FPDUs that are not
 * yet begun. 0 is ignored.
 */
void iwarp_stream_set_emss(struct iwarp_stream *stream, size_t emss);

/* --- Output to TCP -------------------------------------------------------------------------------------------- */

enum { IWARP_OUTPUT_SPANS = 3 };

struct iwarp_span {
    const uint8_t *octets;
    size_t count;
};

/* The same, to be written to. */
struct iwarp_buffer {
    uint8_t *octets;
    size_t count;
};

/* One start-up frame or FPDU, or the rest of it, in up to IWARP_OUTPUT_SPANS spans that are sent in order. */
struct iwarp_output {
    struct iwarp_span spans[IWARP_OUTPUT_SPANS];
    size_t span_count;
    size_t octets;   /* of all spans */
    bool fpdu;       /* an FPDU (or its rest); false: a start-up frame */
    size_t ulp_span; /* index of the span that is the ULP's own memory; IWARP_OUTPUT_SPANS: none is */
};

/*
 * Returns the next piece to send in *output. The caller repeats this until the function returns 0. Returns
 * output->octets. The spans are valid until the next call of any function of this stream. The span `ulp_span` is valid
 * longer: until input, time, a verb or a poll may release it. So a caller can collect several pieces and send them
 * together without a copy. Without iwarp_stream_output_done(), the next call gives the same piece.
 */
size_t iwarp_stream_output(struct iwarp_stream *stream, struct iwarp_output *output);

/*
 * Reports that the next piece goes into a segment after `octets` octets that are already in it (0: it begins a
 * segment). A message of several FPDUs is then cut so that the segment is filled, if this needs no additional FPDU
 * (RFC 5044 4.5: "MULPDU MAY be reduced accordingly").
 */
void iwarp_stream_set_packed(struct iwarp_stream *stream, size_t octets);

/*
 * Reports that TCP has copied the first `octets` of the piece (the whole piece if `octets` is larger). Completes the
 * Sends and Writes whose last octet was among them.
 */
void iwarp_stream_output_done(struct iwarp_stream *stream, size_t octets, uint64_t now);

enum iwarp_want {
    IWARP_WANT_NOTHING,
    IWARP_WANT_CLOSE, /* send a FIN after the last octet of output, and continue to read until the peer's FIN */
    IWARP_WANT_ABORT, /* reset */
};

/* Call it when iwarp_stream_output() returns 0. The answer stays CLOSE once it is CLOSE; only ABORT can follow. */
enum iwarp_want iwarp_stream_wants(const struct iwarp_stream *stream);

/*
 * Reports how many octets TCP has copied that the peer has not acknowledged, a FIN included. It is due with the FIN and
 * before each iwarp_stream_tick(). A report that is lower than the one before lets linger_limit begin anew: a peer that
 * reads slowly is alive. Without reports the limit begins with the FIN.
 */
void iwarp_stream_set_unacknowledged(struct iwarp_stream *stream, size_t octets, uint64_t now);

/* When iwarp_stream_tick() is due; UINT64_MAX: never. */
uint64_t iwarp_stream_deadline(const struct iwarp_stream *stream);
void iwarp_stream_tick(struct iwarp_stream *stream, uint64_t now);

/* --- Events --------------------------------------------------------------------------------------------------- */

enum iwarp_event_kind {
    IWARP_EVENT_CONNECT_REQUEST, /* `start`; with IWARP_ACCEPT_ASK the stream waits for the ULP's decision */
    IWARP_EVENT_ESTABLISHED,     /* `start` of the peer; full operation, `ird` and `ord` are in force */
    IWARP_EVENT_REJECTED,        /* initiator: the Reply has R = 1, `start`; MPA is left, TCP is open */
    IWARP_EVENT_REJECT_SENT,     /* responder: it sent such a Reply */
    IWARP_EVENT_TRANSMIT_READY,  /* responder: the first FPDU has arrived, so FPDUs may be sent (RFC 5044 7.1.2) */
    IWARP_EVENT_RECEIVE,         /* a Send or Immediate Data arrived in the receive `id`: octets, solicited, STag */
    IWARP_EVENT_SEND_DONE,       /* TCP has copied the Send `id` */
    IWARP_EVENT_WRITE_DONE,
    IWARP_EVENT_READ_DONE,          /* all data of the Read `id` is placed */
    IWARP_EVENT_ATOMIC_DONE,        /* the atomic `id` was executed: `value` is the old value of the target */
    IWARP_EVENT_IMMEDIATE_DONE,     /* TCP has copied the Immediate Data `id` */
    IWARP_EVENT_FLUSHED,            /* the work `id` will not be done: `flushed` is its kind */
    IWARP_EVENT_TERMINATE_SENT,     /* `triple`, `headers` as sent */
    IWARP_EVENT_TERMINATE_RECEIVED, /* `triple`, `headers` as received */
    IWARP_EVENT_HALF_CLOSED,        /* the peer's FIN arrived */
    IWARP_EVENT_ULPDU,              /* with `trace`: `octets` of it, `early`; `value` gives the order of sending */
    IWARP_EVENT_CLOSED,             /* both directions have ended, by FIN */
    IWARP_EVENT_ERROR,              /* an error of this stream, which ends: `requirement`, `triple`, `text` */
};

enum iwarp_work {
    IWARP_WORK_RECEIVE,
    IWARP_WORK_SEND,
    IWARP_WORK_WRITE,
    IWARP_WORK_READ,
    IWARP_WORK_ATOMIC,
    IWARP_WORK_IMMEDIATE,
};

struct iwarp_event {
    enum iwarp_event_kind kind;
    uint64_t id; /* the caller's, of the completed work */
    enum iwarp_work flushed;
    uint8_t opcode;   /* RECEIVE: which of the four Sends, or Immediate Data with or without Solicited Event */
    bool solicited;   /* RECEIVE: asks for a Solicited Event */
    bool invalidated; /* RECEIVE: `stag` was invalidated */
    uint32_t stag;
    size_t octets;         /* completions: octets of the message */
    uint64_t value;        /* ATOMIC_DONE; ULPDU: where its FPDU begins, in octets after the start-up frame mod 2^32 */
    bool early;            /* ULPDU: after a gap, for placement only: it is passed again in order (RFC 5044 3) */
    const uint8_t *buffer; /* RECEIVE: the buffer that was posted; NULL: it was posted in pieces */
    struct iwarp_mpa_start
        start;         /* CONNECT_REQUEST, ESTABLISHED, REJECTED, and ERROR about it: the peer's frame, valid until
                               the stream is freed; iwarp_mpa_start_ulp_data() is the ULP's Private Data (wire/mpa_start.h) */
    uint16_t ird, ord; /* ESTABLISHED: in force on this side */
    uint8_t version;   /* ESTABLISHED: of DDP and RDMAP, 1; 0 with a peer of Rev 0 (RFC 5044 C.2.4) */
    bool send_markers, receive_markers, crc; /* ESTABLISHED: as agreed */
    uint32_t triple;                         /* TERMINATE_*, ERROR (0: the error has no Terminate triple) */
    uint8_t headers[IWARP_TERMINATE_MAX];    /* TERMINATE_*: the Terminate's payload */
    size_t header_octets;
    const char *requirement; /* ERROR: id of the requirement that the peer broke, or NULL */
    char text[128];          /* ERROR: one sentence */
};

/* Removes the oldest event and returns it in *event. False: there is no event. */
bool iwarp_stream_poll(struct iwarp_stream *stream, struct iwarp_event *event);

/* True: an event waits. */
bool iwarp_stream_has_event(const struct iwarp_stream *stream);

enum iwarp_state {
    IWARP_STATE_STARTUP,     /* start-up frames are not exchanged yet */
    IWARP_STATE_DECISION,    /* responder: the ULP has to decide */
    IWARP_STATE_FENCED,      /* responder: Reply sent, no FPDU received yet: the stream receives, but does not send */
    IWARP_STATE_OPERATION,   /* full operation */
    IWARP_STATE_TERMINATING, /* a Terminate was sent or received, or an error was found: input is dropped */
    IWARP_STATE_CLOSING,     /* the ULP has ended the stream: own FIN sent or due */
    IWARP_STATE_EXITED,      /* rejected: MPA has ended, and TCP belongs to the ULP */
    IWARP_STATE_CLOSED,
};

enum iwarp_state iwarp_stream_state(const struct iwarp_stream *stream);
uint32_t iwarp_stream_number(const struct iwarp_stream *stream);
uint16_t iwarp_stream_ird(const struct iwarp_stream *stream);
uint16_t iwarp_stream_ord(const struct iwarp_stream *stream);
size_t iwarp_stream_mulpdu(const struct iwarp_stream *stream);

/* The state of MPA on this stream, for instruments. Positions are octets from SeqStart on, mod 2^32. */
struct iwarp_mpa_state {
    size_t emss;
    bool sending_allowed; /* FPDUs may be sent */
    bool send_markers, receive_markers, crc;
    uint32_t send_position, receive_position;
    size_t waiting; /* octets received of an FPDU that is not complete */
};

void iwarp_stream_mpa(const struct iwarp_stream *stream, struct iwarp_mpa_state *state);

/*
 * Sends one ULPDU unchanged, without DDP's segmentation. As RFC 5044 3 allows, it is refused if it is longer than
 * MULPDU, if other output waits, or if nothing may be sent yet or any more. `octets` are copied.
 */
int iwarp_stream_post_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count,
                            struct iwarp_sentence *sentence);

struct iwarp_stream_counters {
    uint64_t fpdus_sent, fpdus_received;
    uint64_t segments_placed, octets_placed;
    uint64_t segments_early; /* placed by iwarp_stream_input_early(); they count again in order */
    uint64_t crc_errors, marker_errors;
    uint64_t octets_dropped;                           /* received after an error */
    unsigned reads_outstanding, reads_outstanding_max; /* own Read and Atomic Requests */
    unsigned requests_queued, requests_queued_max; /* inbound Read and Atomic Requests in the queue, now and at most */
    uint64_t atomics_executed;
};

/* Valid until the stream is freed. */
const struct iwarp_stream_counters *iwarp_stream_counters(const struct iwarp_stream *stream);

/* --- Verbs of the ULP ----------------------------------------------------------------------------------------- */

/*
 * Decides on a Request (state DECISION). Private Data is that of the Reply; NULL with 0 octets: the configuration's.
 * accept may override IRD and ORD: -1 keeps them. Errors: no Request waits for a decision; too much Private Data
 * (limit 512 octets, 508 in an enhanced Reply); depths that are neither 0x3FFF nor within the device's limits; no
 * memory: the ULP may decide again.
 */
int iwarp_stream_accept(struct iwarp_stream *stream, const uint8_t *private_data, size_t octets, int ird, int ord,
                        uint64_t now, struct iwarp_sentence *sentence);
int iwarp_stream_reject(struct iwarp_stream *stream, const uint8_t *private_data, size_t octets, uint64_t now,
                        struct iwarp_sentence *sentence);

/*
 * Posts a buffer for a Send; buffers are used in order of posting. They may be posted from the beginning, before the
 * start-up exchange. Errors: the stream is ending (either side has ended it), octets without a buffer, no memory.
 */
int iwarp_stream_post_receive(struct iwarp_stream *stream, uint64_t id, uint8_t *buffer, size_t octets,
                              struct iwarp_sentence *sentence);

/*
 * The same for a message that is placed into several pieces, one after the other (a scatter list). `pieces` are copied,
 * and may be reused at once; the memory that they name may not. More errors: more than IWARP_PIECES of them; a stream
 * with defects, which has receives of one piece only.
 */
int iwarp_stream_post_receive_pieces(struct iwarp_stream *stream, uint64_t id, const struct iwarp_buffer *pieces,
                                     size_t count, struct iwarp_sentence *sentence);

/*
 * Reserves memory so that none of the next `count` receives fails for lack of memory. -1: memory is short, or the
 * stream is ending.
 */
int iwarp_stream_reserve_receives(struct iwarp_stream *stream, size_t count, struct iwarp_sentence *sentence);

enum { IWARP_PIECES = 64 }; /* of one message, or of one receive, at most */

/*
 * The octets of a Send or Write are `count` at `octets`, or those of `piece_count` pieces, one after the other (a
 * gather list; `octets` is NULL then, and `count` is not used). `pieces` are copied, and may be reused at once. With
 * `copy` the octets are copied, too, which suits short messages (inline data): the memory is the caller's again when
 * the function returns. Otherwise the library uses it until the completion. With `fence` the message waits until the
 * responses of all earlier Reads and atomics were delivered, and so does the work after it (RFC 5040 5.5, rule 12).
 */
struct iwarp_send {
    uint64_t id;
    const uint8_t *octets;
    size_t count; /* 0 to 2^32-1 */
    bool solicited;
    bool invalidate;
    uint32_t stag; /* the peer's, with invalidate */
    /*
     * 0: chosen by solicited and invalidate; else one of the Sends, IWARP_RDMAP_SEND to IWARP_RDMAP_SEND_SE_INVALIDATE
     */
    uint8_t opcode;
    bool copy;
    bool fence;
    const struct iwarp_span *pieces;
    size_t piece_count;
};

struct iwarp_write {
    uint64_t id;
    const uint8_t *octets;
    size_t count;
    uint32_t stag; /* the peer's */
    uint64_t to;
    bool copy;
    bool fence;
    const struct iwarp_span *pieces;
    size_t piece_count;
};

struct iwarp_read {
    uint64_t id;
    uint32_t sink_stag; /* own, with LOCAL_WRITE; ignored if count is 0 (RFC 5040 5.2.1) */
    uint64_t sink_to;
    uint32_t source_stag; /* the peer's */
    uint64_t source_to;
    uint32_t count; /* 0 to 2^32-1 */
};

struct iwarp_atomic {
    uint64_t id;
    enum iwarp_atomic_opcode operation; /* IWARP_ATOMIC_SWAP: draft03 only */
    uint32_t stag;                      /* the peer's, with REMOTE_ATOMIC */
    uint64_t to;                        /* of 8 octets whose address is a multiple of 8 */
    uint64_t data;                      /* FetchAdd: the addend; else the new value */
    uint64_t mask;         /* FetchAdd: the highest bit of each field (0: one of 64 bits); CmpSwap: bits to replace */
    uint64_t compare;      /* CmpSwap only */
    uint64_t compare_mask; /* CmpSwap only: bits to compare */
};

struct iwarp_immediate {
    uint64_t id;
    uint8_t
        octets[IWARP_IMMEDIATE_OCTETS]; /* opaque: they are sent, and delivered to the peer's receive, in this order */
    bool solicited;
};

/*
 * Work is sent in order of posting. Reads and atomics beyond ORD wait, and so does the work after them. Work may be
 * posted while the stream is fenced. Errors of all: the stream is ending, no memory. Of a Send or Write: octets
 * without a payload, 2^32 octets or more, an opcode that is not a Send's. Of a Write, Read or atomic: a range of the
 * peer's that exceeds 2^64. Of a Read: a sink that is not within a valid, writable region of this stream. Of a Read
 * or atomic: the ORD in force is 0. Only the peer can find errors in its STag, range or rights; its Terminate then
 * ends the stream.
 */
int iwarp_stream_post_send(struct iwarp_stream *stream, const struct iwarp_send *send, struct iwarp_sentence *sentence);
int iwarp_stream_post_write(struct iwarp_stream *stream, const struct iwarp_write *write,
                            struct iwarp_sentence *sentence);
int iwarp_stream_post_read(struct iwarp_stream *stream, const struct iwarp_read *read, struct iwarp_sentence *sentence);

/*
 * Posts an Atomic Operation (RFC 7306 5). Values are numbers in host order; on the wire they are big-endian. Targets
 * of the peer's atomics are 8 octets of a region's memory, in the byte order of the host. They change atomically with
 * respect to all streams of the process, on any device or thread, and to the host's own atomic instructions. An
 * atomic is executed when its response is due, which is after all earlier Read and Atomic Responses. The event
 * contains the old value of the target, so there is no sink to register. More errors: extensions are OFF, or do not
 * have the operation. Only the peer can find that an address is not aligned.
 */
int iwarp_stream_post_atomic(struct iwarp_stream *stream, const struct iwarp_atomic *atomic,
                             struct iwarp_sentence *sentence);

/*
 * Posts Immediate Data (RFC 7306 6). It uses one receive of at least 8 octets at the peer. Error: extensions are OFF.
 */
int iwarp_stream_post_immediate(struct iwarp_stream *stream, const struct iwarp_immediate *immediate,
                                struct iwarp_sentence *sentence);

/*
 * Sends a Terminate with this triple and no headers, then ends the stream (RFC 5040 5.4). Errors: FPDUs may not be
 * sent yet, or any more; `triple` is not a IWARP_TERMINATE_TRIPLE().
 */
int iwarp_stream_terminate(struct iwarp_stream *stream, uint32_t triple, uint64_t now, struct iwarp_sentence *sentence);

/*
 * Ends the stream in order: posted work is sent, then a FIN. After the end, or a second time, it does nothing; the
 * same holds for abort.
 */
void iwarp_stream_disconnect(struct iwarp_stream *stream, uint64_t now);
void iwarp_stream_abort(struct iwarp_stream *stream, uint64_t now);

#ifdef __cplusplus
}
#endif

#endif
