/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a stack may do something else than what the texts say, or than what it does by itself: the seams, as one table of
 * operations. The protocol code is written by the RFCs. At each seam it calls one operation, and only where the object has an
 * implementation of the table (reference-stack/defects); a program's objects have none. The code passes what is right, and the
 * operation may change it. An operation that returns true has done what was to be done: the caller does nothing more.
 */
#ifndef REFERENCE_STACK_FAULTS_H
#define REFERENCE_STACK_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/sctp.h"

struct atomic_request;
struct ddp_sctp_message;
struct ddp_segment;
struct fault_ops;
struct fpdu;
struct fpdu_framing;
struct iwarp_ddp_state;
struct iwarp_trace;
struct negotiation_offer;
struct rdmap_message;
struct read_request;
struct receive_work;
struct sctp_session;
struct send_work;
struct served_read;
struct terminate;
struct transmit_piece;
struct untagged_queue;
struct validation;
struct validation_outcome;
struct validation_subject;

/*
 * In a configuration: an implementation and what it was told to do. In an object: the implementation and what it keeps of
 * the object. What follows `ops` is known to the implementation alone.
 */
struct iwarp_faults {
    const struct fault_ops *ops;
};

/* `object` has a member `faults`, NULL in a clean stack: then a seam costs one branch, which is not taken. */
#define HOOKED(object) __builtin_expect((object)->faults != NULL, 0)

/* Calls the operation. */
#define HOOK(object, call)                                                                                             \
    do {                                                                                                               \
        if (HOOKED(object))                                                                                            \
            (void)(object)->faults->ops->call;                                                                         \
    } while (0)

/* True where the operation is called and returns true. */
#define HOOK_IF(object, call) (HOOKED(object) && (object)->faults->ops->call)

/* `right`, or what the operation makes of it: only one of the two is evaluated. */
#define HOOK_VALUE(object, right, call) (HOOKED(object) ? (object)->faults->ops->call : (right))

enum { HOOK_ROOM = 256 }; /* octets that operations may add to a frame */

struct fault_ops {
    /* A stream, device or association gets what the implementation keeps of it, and loses it. NULL: memory is short. */
    struct iwarp_faults *(*stream_new)(struct iwarp_stream *stream, const struct iwarp_faults *faults);
    struct iwarp_faults *(*device_new)(struct iwarp_device *device, const struct iwarp_faults *faults);
    struct iwarp_faults *(*association_new)(struct iwarp_association *association, const struct iwarp_faults *faults);
    void (*release)(struct iwarp_faults *kept);

    /* --- The life of a stream (core/stream.c, core/stream_verbs.c) ---------------------------------------------------- */

    /* A stream is made, before start-up begins: deadlines, EMSS, configuration (RFC 5044 7.1.2, 4.5). */
    void (*stream_begins)(struct iwarp_stream *stream);

    /* A stream goes: what its device's streams share. */
    void (*stream_ends)(struct iwarp_stream *stream);

    /* After whatever has happened, before the stream decides whether it ends (RFC 5044 7.1.2, RFC 5041 6.2). */
    void (*progress)(struct iwarp_stream *stream);

    /* Octets came from TCP. True: they are dealt with (RFC 5044 7.1.2, RFC 5041 6.2.1). */
    bool (*input)(struct iwarp_stream *stream, const uint8_t *octets, size_t count);

    /* The peer's FIN came, and the ULP was told. True: nothing else follows from it (RFC 5041 6.2.1). */
    bool (*fin)(struct iwarp_stream *stream);

    /* The peer's RST came, or the connection was lost. True: nothing follows from it (RFC 5041 6.2.2). */
    bool (*reset)(struct iwarp_stream *stream);

    /* The ULP asks for the orderly end. True: another end was made of it (RFC 5041 6.2.1). */
    bool (*disconnect)(struct iwarp_stream *stream);

    /* All that is posted is about to be completed in error. True: it is not (RFC 5040 5.4). */
    bool (*flush)(struct iwarp_stream *stream);

    /* The ULP posts work. True: it is accepted, and nothing becomes of it (RFC 5041 6.2.1). */
    bool (*post)(const struct iwarp_stream *stream);

    /* May work be posted? True: not any more (RFC 5041 6.2.1). */
    bool (*unpostable)(const struct iwarp_stream *stream);

    /* A Send's opcode, or a Read's sink and ORD, are about to be checked. True: they are not (RFC 5040 2.4, 5.2.1, RFC 6581 9.1). */
    bool (*post_unchecked)(const struct iwarp_stream *stream, const struct send_work *work);

    /* The newest work of the queue has just been posted: the order of the queue (RFC 5040 5.5). */
    void (*posted)(struct iwarp_stream *stream);

    /* --- What the ULP is told (core/stream.c, core/deliver.c, core/terminate.c, mpa) ---------------------------------- */

    /* `event` is the newest one: it may be changed, exchanged with the one before, or dropped (RFC 5040 5.5, 5.4). */
    void (*event)(struct iwarp_stream *stream, struct iwarp_event *event);

    /* A receive's event, before the receive is used up. True: the receive stays (RFC 5040 5.3, RFC 7306 6.3). */
    bool (*receive_event)(struct iwarp_stream *stream, const struct validation_subject *subject,
                          struct iwarp_event *event);

    /* The ULP asks for the oldest event. True: it does not get it yet. */
    bool (*event_held)(const struct iwarp_stream *stream, const struct iwarp_event *oldest);

    /* What instruments show of DDP, and of one placement or delivery (RFC 5041 7). */
    void (*ddp_state)(const struct iwarp_stream *stream, struct iwarp_ddp_state *state);
    void (*trace)(const struct iwarp_stream *stream, struct iwarp_trace *record);

    /* --- Validation (validation/validation.c) ------------------------------------------------------------------------- */

    /* Does the entry hold? (all sections that the table names) */
    bool (*judge)(const struct validation *entry, const struct validation_subject *subject,
                  const struct iwarp_faults *faults);

    /* The entry of that index did not hold: error and action may be changed. True: it is switched off. */
    bool (*verdict)(const struct iwarp_faults *faults, size_t entry, const struct validation_subject *subject,
                    struct validation_outcome *outcome);

    /* --- The Data Sink (core/deliver.c, core/atomic.c) ---------------------------------------------------------------- */

    /* A DDP Segment came, before it is parsed. */
    void (*ulpdu)(struct iwarp_stream *stream);

    /* It was parsed: what its header is taken for (RFC 5041 4). */
    void (*segment)(const struct iwarp_stream *stream, struct ddp_segment *segment, const uint8_t *octets,
                    size_t count);

    /* The STag of a tagged segment was looked up; `look`: it is to be checked (RFC 5041 5.2, 7.1). */
    void (*tagged)(struct iwarp_stream *stream, struct validation_subject *subject, bool *look);

    /* The buffer of an untagged segment was found, or none. True: the segment is done with (RFC 5041 7.1). */
    bool (*untagged)(struct iwarp_stream *stream, struct validation_subject *subject);

    /* `count` octets of a good segment are to be placed at `place`. True: they are not (RFC 5041 5.3). */
    bool (*place)(struct iwarp_stream *stream, const struct validation_subject *subject, uint8_t **place,
                  size_t *count);

    /* An untagged segment with L = 0 was placed. True: the message is complete all the same (RFC 5041 5.4). */
    bool (*message_ends)(const struct iwarp_stream *stream, const struct rdmap_message *message);

    /* An untagged message is complete in `queue`. True: it is done with (RFC 5040 5). */
    bool (*message)(struct iwarp_stream *stream, const struct validation_subject *subject,
                    struct rdmap_message *message, struct untagged_queue *queue);

    /* A Send or Immediate Data has filled the oldest receive. True: it is not delivered (RFC 5040 5.3, RFC 7306 6.3). */
    bool (*send_complete)(struct iwarp_stream *stream, const struct validation_subject *subject,
                          const struct untagged_queue *queue);

    /* An STag was invalidated by a Send; `good`: it could be (RFC 5040 5.3). */
    void (*invalidated)(struct iwarp_stream *stream, uint32_t stag, bool good);

    /* A segment of the Read Response was placed. True: the Read is complete (RFC 5040 5.2.2). */
    bool (*read_done)(struct iwarp_stream *stream, struct send_work *read, bool last);

    /* A good Read or Atomic Request: the stream that answers it, NULL: none does (RFC 5040 5.2.2). */
    struct iwarp_stream *(*server)(struct iwarp_stream *stream, const struct served_read *request);

    /* The segment was acted upon, to its end (RFC 5041 5.4). */
    bool (*terminate_drops)(const struct iwarp_stream *stream);
    /* what comes after the peer's Terminate (RFC 5040 5.4) */
    void (*delivered)(struct iwarp_stream *stream, const struct validation_subject *subject);

    /* An Atomic Request was parsed, before it is validated. True: it is done with (RFC 7306 5.2.1). */
    bool (*atomic_request)(struct iwarp_stream *stream, struct served_read *served, const struct iwarp_region *region);

    /* Executes the atomic in place of atomic_execute(), and returns what the response has (RFC 7306 5.1). */
    uint64_t (*atomic)(const struct iwarp_stream *stream, const struct served_read *served,
                       const struct iwarp_region *region);

    /* --- The Data Source (core/transmit.c, core/atomic.c) ------------------------------------------------------------- */

    /* The next piece is to be made now, if there is one. */
    void (*output)(struct iwarp_stream *stream);

    /* A piece is there to be sent. True: it waits (RFC 5044 7.1.2). */
    bool (*piece_waits)(struct iwarp_stream *stream);

    /* May own work go next, and may a response? (RFC 5040 6.1, RFC 5041 5.3) */
    void (*choose)(const struct iwarp_stream *stream, const struct send_work *work, bool *own, bool *response);

    /* A Terminate is due. True: it waits (RFC 5040 5.4). */
    bool (*terminate_waits)(const struct iwarp_stream *stream);

    /* Octets of payload that the next segment has room for (RFC 5041 5.2). */
    size_t (*segment_room)(const struct iwarp_stream *stream, size_t room);

    /*
     * A segment of own work, or of a response, as it will be framed. `header`: RDMAP's header of `octets` octets, in
     * STREAM_HEADER_ROOM, or NULL where payload alone follows DDP's; returns its octets (RFC 5041 4, RFC 5040 4).
     */
    size_t (*work_segment)(struct iwarp_stream *stream, struct send_work *work, struct ddp_segment *segment,
                           uint8_t *header, size_t octets);
    size_t (*response_segment)(struct iwarp_stream *stream, const struct served_read *served,
                               struct ddp_segment *segment, uint8_t *header, size_t octets);

    /* The Read Request that a Terminate returns of a Read that failed midway (RFC 5040 4.8). */
    void (*late_read)(const struct iwarp_stream *stream, const struct served_read *served, struct read_request *rest);

    /* An established stream is to have another Protection Domain. True: it gets it (RFC 5043 6). */
    bool (*domain_changes)(const struct iwarp_stream *stream);

    /* A ULPDU posted as it stands, and how many octets it may have (RFC 5044 4.5). */
    void (*ulpdu_posted)(const struct iwarp_stream *stream, size_t *count, size_t *mulpdu);

    /* TCP has the piece in whole, before its work is completed (RFC 5040 5.5). */
    void (*piece_done)(struct iwarp_stream *stream, struct transmit_piece *piece);

    /* --- Errors (core/terminate.c) ------------------------------------------------------------------------------------ */

    /* The stream fails, maybe not for the first time, before anybody is told (RFC 5041 7.1, RFC 5040 5.4). */
    void (*fail)(struct iwarp_stream *stream, struct validation_outcome *outcome);

    /* The ULP was told of the first error: the action may be changed. True: nothing else follows (RFC 5040 5.4). */
    bool (*failed)(struct iwarp_stream *stream, struct validation_outcome *outcome,
                   const struct validation_subject *subject);

    /* The headers that a Terminate quotes of `segment` (may be NULL), then the Terminate as packed (RFC 5040 4.8). */
    void (*terminate)(const struct iwarp_stream *stream, const struct ddp_segment *segment, size_t segment_octets,
                      struct terminate *terminate);
    void (*terminate_packed)(struct iwarp_stream *stream, const struct ddp_segment *segment,
                             const struct terminate *terminate);

    /* --- Memory (core/device.c) --------------------------------------------------------------------------------------- */

    /* An STag was drawn (RFC 5040 8.1.1). */
    uint32_t (*stag)(struct iwarp_device *device, uint32_t good);

    /* A region was registered (RFC 5040 8.1.1). */
    void (*registered)(const struct iwarp_device *device, struct iwarp_region *region);

    /* An STag is given up, or its range changes. True: it stays as it was (RFC 5041 8.2). */
    bool (*deregister)(const struct iwarp_device *device);
    bool (*bounds)(const struct iwarp_device *device);

    /* --- Negotiation (core/negotiate.c) ------------------------------------------------------------------------------- */

    /* What the Request offers (RFC 6581 9.1, 9.2). */
    void (*request_offer)(struct iwarp_stream *stream, struct negotiation_offer *own);

    /* The depths of the answer were settled; then its RTR messages, of which both sides know `common` (RFC 6581 9.1, 9.2). */
    void (*answer_depths)(struct iwarp_stream *stream, const struct negotiation_offer *peer);
    void (*private_made)(const struct iwarp_stream *stream, struct mpa_start *start);
    void (*answer_rtr)(struct iwarp_stream *stream, unsigned common);

    /* What was agreed on of IRD and ORD is in force (RFC 6581 9.1). */
    void (*depths_adopted)(struct iwarp_stream *stream);

    /* The initiator is about to send its RTR, if it is due. True: it is not (RFC 6581 9.2). */
    bool (*rtr)(struct iwarp_stream *stream, const struct negotiation_offer *peer, bool due);

    /* --- Start-up of MPA (mpa/startup.c, mpa/frame.c) ----------------------------------------------------------------- */

    /* Start-up begins (RFC 5044 7.1.2). */
    void (*startup_begins)(struct iwarp_stream *stream);

    /* A start-up frame was packed into `octets`, with HOOK_ROOM more of room: returns its octets (RFC 5044 7.1.1). */
    size_t (*start_packed)(struct iwarp_stream *stream, const struct mpa_start *start, uint8_t *octets, size_t count);

    /* The fixed part of the peer's frame was parsed (RFC 5044 7.1.1, RFC 6581 6). */
    void (*start_parsed)(const struct iwarp_stream *stream, struct mpa_start *start);

    /* Is the peer's frame complete with `count` octets out of `whole`? (RFC 5044 7.1.1) */
    bool (*start_whole)(const struct iwarp_stream *stream, size_t count, size_t whole);

    /* True: what came after the peer's frame is dropped (RFC 5044 7.1.2). */
    bool (*excess_dropped)(const struct iwarp_stream *stream);

    /* The Reply has R = 1. True: it is taken for an accepting one (RFC 5044 7.1.2). */
    bool (*rejected)(const struct iwarp_stream *stream);

    /* Markers, CRC and versions were agreed on (RFC 5044 4.3, 4.4, 7.1.1, C.2.3). */
    void (*agreed)(struct iwarp_stream *stream);

    /* --- FPDUs (mpa/frame.c, mpa/receive.c, mpa/mpa_state.c, mpa/mpa.c) ------------------------------------------------ */

    /* Packs the ULPDU into stream->transmit_buffer in place of fpdu_pack(): octets of the FPDU, 0: no room (RFC 5044 4). */
    size_t (*fpdu_packed)(struct iwarp_stream *stream, uint8_t *ulpdu, size_t ulpdu_octets,
                          const struct fpdu_framing *framing);

    /* Octets came from TCP, in one portion. True: they are dropped (RFC 5044 5.2). */
    bool (*portion)(struct iwarp_stream *stream, size_t count);

    /* An FPDU is not complete: returns how many of its `count` octets are used up (RFC 5044 5.2). */
    size_t (*fpdu_begun)(struct iwarp_stream *stream, const struct fpdu *fpdu, size_t count);

    /* An FPDU was parsed, before it is validated; then, found good. True: its ULPDU is dealt with (RFC 5044 5.2, 8). */
    void (*fpdu_parsed)(struct iwarp_stream *stream, const struct fpdu *fpdu);
    bool (*fpdu_good)(struct iwarp_stream *stream, const struct fpdu *fpdu);

    /* True: what came after the FPDU in the same portion is dropped (RFC 5044 5.2). */
    bool (*input_over)(const struct iwarp_stream *stream);

    /* The peer's FIN, before MPA judges what is missing. True: it does not (RFC 5044 7.1.2, RFC 6581 10). */
    bool (*input_end)(struct iwarp_stream *stream);

    /* TCP's EMSS has changed. True: nothing follows from it (RFC 5044 4.5). */
    bool (*emss)(struct iwarp_stream *stream, size_t emss);

    /* MULPDU, given the right one (RFC 5044 4.5). */
    size_t (*mulpdu)(const struct iwarp_stream *stream, size_t mulpdu);

    /* --- Before their turn (mpa/early.c, core/early.c) ----------------------------------------------------------------- */

    /* Octets came after a gap; `boundary`: they begin with an FPDU. True: they wait (RFC 5044 6). */
    bool (*early)(const struct iwarp_stream *stream, bool *boundary);

    /* A segment was found in one of them and parsed, before it is checked. True: it is dealt with (RFC 5041 5.3, 7.1). */
    bool (*early_segment)(struct iwarp_stream *stream, const struct validation_subject *subject);

    /* An FPDU was found among them; another may begin at `next`. True: it is not looked for (RFC 5044 6). */
    bool (*early_fpdu)(struct iwarp_stream *stream, const struct fpdu *fpdu, const uint8_t *next, const uint8_t *end);

    /* A segment's payload was placed, in `receive` for a Send: elsewhere, or nowhere, with NULL (RFC 5041 5.3, 5.4). */
    void (*early_placed)(struct iwarp_stream *stream, const struct validation_subject *subject,
                         struct receive_work *receive);

    /* How many octets of Private Data a configuration may have (RFC 6581 9). */
    size_t (*private_room)(const struct iwarp_faults *faults, size_t room);

    /* Octets of messages and receives must lie in one piece, and are copied. */
    bool (*one_piece)(void);

    /* --- SCTP: the association (sctp/association.c, sctp/segment.c) ------------------------------------------------------ */

    /* What INIT or INIT-ACK is to have (RFC 5043 5.1, 8), and what the peer's leaves to be done (11.1). */
    void (*sctp_init)(const struct iwarp_association *association, struct iwarp_sctp_init *init);
    enum iwarp_sctp_mode (*sctp_mode)(const struct iwarp_association *association, enum iwarp_sctp_mode mode);

    /* What the peer's INIT or INIT-ACK was found to say (RFC 5043 5.1). */
    void (*peer_init)(const struct iwarp_association *association, struct iwarp_sctp_init *peer);

    /* A session fails, or (subject NULL) its stream has ended by an error. True: the association is aborted (RFC 5043 11.3). */
    bool (*error_spreads)(const struct sctp_session *session, const struct validation_subject *subject);

    /* The association has ended. True: the session's stream is not told; then, by the ULP. True: it is not aborted (11.3). */
    bool (*down_untold)(const struct sctp_session *session);
    bool (*abort_told)(struct iwarp_association *association);

    /* The longest DDP Segment (RFC 5043 9). */
    size_t (*segment_max)(const struct iwarp_stream *stream, size_t octets);

    /* --- SCTP: messages (sctp/association_io.c, sctp/session.c, sctp/segment.c) ------------------------------------------ */

    /* A ULPDU lies at `ulpdu`, with HOOK_ROOM after it: returns its octets (RFC 5041 4, RFC 5040 4). */
    size_t (*ulpdu_framed)(struct iwarp_stream *stream, uint8_t *ulpdu, size_t octets);

    /* A message is about to be given to SCTP (RFC 5043 5.2, 10). */
    void (*sctp_output)(struct sctp_session *session, struct iwarp_sctp_output *output);

    /* The DDP-SSN that a session begins with, and the one after a message that is being sent (RFC 5043 5.2.1, 6.1). */
    uint16_t (*first_ssn)(const struct sctp_session *session);
    uint16_t (*next_ssn)(const struct sctp_session *session);

    /* A segment waits that is longer than the path takes by now. True: it is gone (draft-stewart-rddp-sctp-02 5). */
    bool (*refused_lost)(struct sctp_session *session);

    /* How many messages may be sent without acknowledgement (RFC 5043 10). */
    uint32_t (*outstanding_max)(const struct sctp_session *session);

    /* A user message of this PPID came (RFC 5043 5.2). */
    uint32_t (*ppid)(const struct iwarp_association *association, uint32_t ppid);

    /* How far the message is before the one that is due (RFC 5043 10). */
    int (*ssn_ahead)(const struct sctp_session *session, uint16_t ssn, int ahead);

    /* Octets of memory for a message that came before its turn (RFC 5043 10). */
    size_t (*held_room)(const struct sctp_session *session, uint16_t ssn, size_t octets);

    /* --- SCTP: sessions (sctp/session*.c, sctp/sctp_stream.c) ------------------------------------------------------------ */

    /* True: a control message does not wait until the one before has come for certain (RFC 5043 6.6). */
    bool (*control_overtakes)(const struct sctp_session *session);

    /* The Initiate is made (RFC 5043 6.6). */
    void (*initiated)(struct sctp_session *session);

    /* A SID is not free for a new session. True: it is used all the same (RFC 5043 6.6). */
    bool (*sid_taken)(const struct sctp_session *session);

    /* The Function Code of the answer, and who gives it (RFC 5043 6.2, 6.3, RFC 6581 7). */
    uint8_t (*answer_code)(const struct sctp_session *session, uint8_t code);
    enum iwarp_accept_policy (*accept_policy)(const struct sctp_session *session);

    /* A Terminate is due. True: it is not sent (RFC 5043 6.2). */
    bool (*close_silent)(const struct sctp_session *session);

    /* May the request not wait for the ULP; and by which Function Code is it refused then? (RFC 5043 6.4) */
    bool (*request_full)(const struct sctp_session *session, bool full);
    uint8_t (*refusal)(const struct sctp_session *session);

    /* How many octets of the peer's Private Data the ULP gets; is it told of a control message? (RFC 5043 5.2.3) */
    size_t (*private_data)(const struct sctp_session *session, size_t count);
    bool (*control_untold)(const struct sctp_session *session);

    /* A control message is in its turn. True: nothing follows from it (RFC 5043 5.2.3). */
    bool (*control_lost)(const struct sctp_session *session, const struct ddp_sctp_message *message);

    /* A stream has got its session, and so a Protection Domain (RFC 5043 2). */
    void (*session_attached)(struct sctp_session *session);

    /* Has the session a Terminate to send when its stream goes (RFC 5043 6.3)? */
    bool (*owes_terminate)(const struct sctp_session *session, bool owes);

    /* Its turn to send. True: `output` was made here, in the association's own octets (RFC 5043 6.2). */
    bool (*speaks_after_end)(struct sctp_session *session, struct iwarp_sctp_output *output);

    /* A Stream Reset came. True: nothing follows from it (draft-stewart-rddp-sctp-02 7.2). */
    bool (*reset_ignored)(const struct sctp_session *session);

    /* A SID is looked for. True: one that was not used before is not preferred (draft-stewart-rddp-sctp-02 7.2). */
    bool (*lowest_sid)(const struct iwarp_association *association);

    /* A segment comes on an aborted stream. True: it is taken (draft-stewart-rddp-sctp-02 7.2). */
    bool (*aborted_taken)(struct sctp_session *session);
};

#endif
