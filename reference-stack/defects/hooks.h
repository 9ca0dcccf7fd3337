/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a deliberate fault may act: the hooks of the stack. The protocol code is written by the RFCs; at each seam it calls
 * one hook, and only where the stream (or device, or peer) has defects. Which faults there are and what they do stands in
 * this folder and nowhere else; tools/defect-tests.sh holds all other folders to that.
 *
 * To a hook the code hands what is right, and the hook changes it. A hook that returns true has done what was to be done:
 * the caller leaves it at that. This header includes nothing of the stack but hooks_sctp.h, which has the hooks of SCTP: the code
 * below it may include it.
 */
#ifndef REFERENCE_STACK_HOOKS_H
#define REFERENCE_STACK_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference-stack/defects/hooks_sctp.h"

struct atomic_request;
struct cm_agent;
struct cm_agent_config;
struct cm_event;
struct cm_listener;
struct cm_message;
struct cm_subject;
struct cm_validation;
struct cm_verdict;
struct ddp_segment;
struct defect_set;
struct fpdu;
struct fpdu_framing;
struct iwarp_ddp_state;
struct iwarp_device;
struct iwarp_event;
struct iwarp_region;
struct iwarp_stream;
struct iwarp_trace;
struct mpa_start;
struct negotiation_offer;
struct rdmap_message;
struct read_request;
struct receive_work;
struct send_work;
struct served_read;
struct terminate;
struct transmit_piece;
struct untagged_queue;
struct validation;
struct validation_outcome;
struct validation_subject;

/* `object` has a member `defects`, NULL where all is by the book: then a hook costs one branch, which is not taken. */
#define HOOKED(object) __builtin_expect((object)->defects != NULL, 0)

/* Calls the hook. */
#define HOOK(object, call)                                                                                             \
    do {                                                                                                               \
        if (HOOKED(object))                                                                                            \
            (void)(call);                                                                                              \
    } while (0)

/* True where the hook is called and returns true. */
#define HOOK_IF(object, call) (HOOKED(object) && (call))

/* `right`, or what the hook makes of it: only one of the two is evaluated. */
#define HOOK_VALUE(object, right, call) (HOOKED(object) ? (call) : (right))

enum { HOOK_ROOM = 256 }; /* octets that hooks may add to a frame */

/* --- What streams and devices keep for their defects: nothing outside this folder looks at it ---------------------- */

enum { DEFECT_TRANSMITS_MAX = 16 }; /* of one set */

struct defect_late {
    uint32_t stag;
    uint64_t to;
    uint8_t octets[32];
    size_t count;
};

struct defect_state {
    struct defect_late late; /* octets of a Write that wait for the next one */
    uint32_t seen[DEFECT_TRANSMITS_MAX];
    bool inside; /* the segment before was not the last of its message */
    uint32_t crc_previous;
    bool crc_kept; /* there is a CRC before */
    uint32_t interval_start;
    bool interval_open; /* an FPDU began after the last Marker, at interval_start */
    uint8_t tail[4];    /* octets of the FPDU before that go out with the next */
    size_t tail_octets;
    uint64_t arrivals;      /* ULPDUs that were traced */
    uint64_t partial_at;    /* when the part of an FPDU that waits was last added to */
    uint32_t early_read;    /* MSN of a Read Request that was served before its turn */
    uint32_t segments;      /* DDP Segments that were made, as far as they are counted */
    uint64_t response_last; /* when a segment of a Read Response that is not complete went out */
    uint64_t slot_free;     /* when the place of the last Read Request is free */
    uint64_t response_due;  /* a variant: when the next response may go out; 0: none waits */
    uint64_t reply_due;     /* a variant: when the start-up frame may go out; 0: none waits */
    uint64_t work_due;      /* a variant: when own work may go out; 0: none waits */
    uint8_t first[18];      /* a variant: DDP header of the first segment of an untagged message in several */
    size_t first_octets;    /* its ULPDU; 0: none */
    uint64_t send_due;      /* when the Send that waits may go out */
    bool send_timed;        /* that is so from when it began to wait */
    uint32_t send_waits;    /* its DDP-SSN and 1; 0: none has waited */
    uint64_t terminate_at;  /* a variant: when its Terminate may go out */
    uint64_t teardown_kept; /* a variant: teardown_at, which is sooner for that Terminate */
    bool marker_sent;       /* a variant: the Marker before the next FPDU is out, and part of its CRC */
    uint32_t send_joined;   /* MO that the next Send begins at */
    uint32_t error; /* the stream's first error, by the first two octets of its Terminate, and DEFECT_TRIPLE; 0: none */
};

/* Values that the device's first connection leaves to later ones. */
struct defect_first {
    unsigned long emss; /* 0: none yet */
    unsigned ird, ord;
    int depths; /* set: there are some */
};

/* What the streams of a device share on behalf of its faults. */
struct device_faults {
    struct iwarp_stream *oldest;
    uint32_t sends; /* Sends of all streams */
    size_t reads;   /* Read and Atomic Requests open, of all streams */
    size_t leaked;  /* places of Read Requests that nothing frees */
    unsigned own;   /* own Reads that nothing takes off the outbound limit */
    bool failed;    /* a stream ended in error */
    uint32_t stag;  /* drawn last */
    struct defect_first first;
};

/* --- The life of a stream (core/stream.c, core/stream_verbs.c) ---------------------------------------------------- */

/* A stream is made, before start-up begins: deadlines, EMSS, configuration (RFC 5044 7.1.2, 4.5). */
void hook_stream_begins(struct iwarp_stream *stream);

/* A stream goes: what its device's streams share. */
void hook_stream_ends(struct iwarp_stream *stream);

/* After whatever has happened, before the stream decides whether it ends (RFC 5044 7.1.2, RFC 5041 6.2). */
void hook_progress(struct iwarp_stream *stream);

/* Octets came from TCP. True: they are dealt with (RFC 5044 7.1.2, RFC 5041 6.2.1). */
bool hook_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count);

/* The peer's FIN came, and the ULP was told. True: nothing else follows from it (RFC 5041 6.2.1). */
bool hook_fin(struct iwarp_stream *stream);

/* The peer's RST came, or the connection was lost. True: nothing follows from it (RFC 5041 6.2.2). */
bool hook_reset(struct iwarp_stream *stream);

/* The ULP asks for the orderly end. True: another end was made of it (RFC 5041 6.2.1). */
bool hook_disconnect(struct iwarp_stream *stream);

/* All that is posted is about to be completed in error. True: it is not (RFC 5040 5.4). */
bool hook_flush(struct iwarp_stream *stream);

/* The ULP posts work. True: it is accepted, and nothing becomes of it (RFC 5041 6.2.1). */
bool hook_post(const struct iwarp_stream *stream);

/* May work be posted? True: not any more (RFC 5041 6.2.1). */
bool hook_unpostable(const struct iwarp_stream *stream);

/* A Send's opcode, or a Read's sink and ORD, are about to be checked. True: they are not (RFC 5040 2.4, 5.2.1, RFC 6581 9.1). */
bool hook_post_unchecked(const struct iwarp_stream *stream, const struct send_work *work);

/* The newest work of the queue has just been posted: the order of the queue (RFC 5040 5.5). */
void hook_posted(struct iwarp_stream *stream);

/* --- What the ULP is told (core/stream.c, core/deliver.c, core/terminate.c, mpa) ---------------------------------- */

/* `event` is the newest one: it may be changed, exchanged with the one before, or dropped (RFC 5040 5.5, 5.4). */
void hook_event(struct iwarp_stream *stream, struct iwarp_event *event);

/* A receive's event, before the receive is used up. True: the receive stays (RFC 5040 5.3, RFC 7306 6.3). */
bool hook_receive_event(struct iwarp_stream *stream, const struct validation_subject *subject,
                        struct iwarp_event *event);

/* The ULP asks for the oldest event. True: it does not get it yet. */
bool hook_event_held(const struct iwarp_stream *stream, const struct iwarp_event *oldest);

/* What instruments show of DDP, and of one placement or delivery (RFC 5041 7). */
void hook_ddp_state(const struct iwarp_stream *stream, struct iwarp_ddp_state *state);
void hook_trace(const struct iwarp_stream *stream, struct iwarp_trace *record);

/* --- Validation (validation/validation.c) ------------------------------------------------------------------------- */

/* Does the entry hold? (all sections that the table names) */
bool hook_judge(const struct validation *entry, const struct validation_subject *subject, const struct defect_set *set);

/* The entry of that index did not hold: error and action may be changed. True: it is switched off. */
bool hook_verdict(const struct defect_set *set, size_t entry, const struct validation_subject *subject,
                  struct validation_outcome *outcome);

/* --- The Data Sink (core/deliver.c, core/atomic.c) ---------------------------------------------------------------- */

/* A DDP Segment came, before it is parsed. */
void hook_ulpdu(struct iwarp_stream *stream);

/* It was parsed: what its header is taken for (RFC 5041 4). */
void hook_segment(const struct iwarp_stream *stream, struct ddp_segment *segment, const uint8_t *octets, size_t count);

/* The STag of a tagged segment was looked up; `look`: it is to be checked (RFC 5041 5.2, 7.1). */
void hook_tagged(struct iwarp_stream *stream, struct validation_subject *subject, bool *look);

/* The buffer of an untagged segment was found, or none. True: the segment is done with (RFC 5041 7.1). */
bool hook_untagged(struct iwarp_stream *stream, struct validation_subject *subject);

/* `count` octets of a good segment are to be placed at `place`. True: they are not (RFC 5041 5.3). */
bool hook_place(struct iwarp_stream *stream, const struct validation_subject *subject, uint8_t **place, size_t *count);

/* An untagged segment with L = 0 was placed. True: the message is complete all the same (RFC 5041 5.4). */
bool hook_message_ends(const struct iwarp_stream *stream, const struct rdmap_message *message);

/* An untagged message is complete in `queue`. True: it is done with (RFC 5040 5). */
bool hook_message(struct iwarp_stream *stream, const struct validation_subject *subject, struct rdmap_message *message,
                  struct untagged_queue *queue);

/* A Send or Immediate Data has filled the oldest receive. True: it is not delivered (RFC 5040 5.3, RFC 7306 6.3). */
bool hook_send_complete(struct iwarp_stream *stream, const struct validation_subject *subject,
                        const struct untagged_queue *queue);

/* An STag was invalidated by a Send; `good`: it could be (RFC 5040 5.3). */
void hook_invalidated(struct iwarp_stream *stream, uint32_t stag, bool good);

/* A segment of the Read Response was placed. True: the Read is complete (RFC 5040 5.2.2). */
bool hook_read_done(struct iwarp_stream *stream, struct send_work *read, bool last);

/* A good Read or Atomic Request: the stream that answers it, NULL: none does (RFC 5040 5.2.2). */
struct iwarp_stream *hook_server(struct iwarp_stream *stream, const struct served_read *request);

/* The segment was acted upon, to its end (RFC 5041 5.4). */
bool hook_terminate_drops(const struct iwarp_stream *stream); /* what comes after the peer's Terminate (RFC 5040 5.4) */
void hook_delivered(struct iwarp_stream *stream, const struct validation_subject *subject);

/* An Atomic Request was parsed, before it is validated. True: it is done with (RFC 7306 5.2.1). */
bool hook_atomic_request(struct iwarp_stream *stream, struct served_read *served, const struct iwarp_region *region);

/* Executes the atomic in place of atomic_execute(), and returns what the response has (RFC 7306 5.1). */
uint64_t hook_atomic(const struct iwarp_stream *stream, const struct served_read *served,
                     const struct iwarp_region *region);

/* --- The Data Source (core/transmit.c, core/atomic.c) ------------------------------------------------------------- */

/* The next piece is to be made now, if there is one. */
void hook_output(struct iwarp_stream *stream);

/* A piece is there to be sent. True: it waits (RFC 5044 7.1.2). */
bool hook_piece_waits(struct iwarp_stream *stream);

/* May own work go next, and may a response? (RFC 5040 6.1, RFC 5041 5.3) */
void hook_choose(const struct iwarp_stream *stream, const struct send_work *work, bool *own, bool *response);

/* A Terminate is due. True: it waits (RFC 5040 5.4). */
bool hook_terminate_waits(const struct iwarp_stream *stream);

/* Octets of payload that the next segment has room for (RFC 5041 5.2). */
size_t hook_segment_room(const struct iwarp_stream *stream, size_t room);

/*
 * A segment of own work, or of a response, as it will be framed. `header`: RDMAP's header of `octets` octets, in
 * STREAM_HEADER_ROOM, or NULL where payload alone follows DDP's; returns its octets (RFC 5041 4, RFC 5040 4).
 */
size_t hook_work_segment(struct iwarp_stream *stream, struct send_work *work, struct ddp_segment *segment,
                         uint8_t *header, size_t octets);
size_t hook_response_segment(struct iwarp_stream *stream, const struct served_read *served, struct ddp_segment *segment,
                             uint8_t *header, size_t octets);

/* The Read Request that a Terminate returns of a Read that failed midway (RFC 5040 4.8). */
void hook_late_read(const struct iwarp_stream *stream, const struct served_read *served, struct read_request *rest);

/* An established stream is to have another Protection Domain. True: it gets it (RFC 5043 6). */
bool hook_domain_changes(const struct iwarp_stream *stream);

/* A ULPDU posted as it stands, and how many octets it may have (RFC 5044 4.5). */
void hook_ulpdu_posted(const struct iwarp_stream *stream, size_t *count, size_t *mulpdu);

/* TCP has the piece in whole, before its work is completed (RFC 5040 5.5). */
void hook_piece_done(struct iwarp_stream *stream, struct transmit_piece *piece);

/* --- Errors (core/terminate.c) ------------------------------------------------------------------------------------ */

/* The stream fails, maybe not for the first time, before anybody is told (RFC 5041 7.1, RFC 5040 5.4). */
void hook_fail(struct iwarp_stream *stream, struct validation_outcome *outcome);

/* The ULP was told of the first error: the action may be changed. True: nothing else follows (RFC 5040 5.4). */
bool hook_failed(struct iwarp_stream *stream, struct validation_outcome *outcome,
                 const struct validation_subject *subject);

/* The headers that a Terminate quotes of `segment` (may be NULL), then the Terminate as packed (RFC 5040 4.8). */
void hook_terminate(const struct iwarp_stream *stream, const struct ddp_segment *segment, size_t segment_octets,
                    struct terminate *terminate);
void hook_terminate_packed(struct iwarp_stream *stream, const struct ddp_segment *segment,
                           const struct terminate *terminate);

/* --- Memory (core/device.c) --------------------------------------------------------------------------------------- */

/* An STag was drawn (RFC 5040 8.1.1). */
uint32_t hook_stag(struct iwarp_device *device, uint32_t good);

/* A region was registered (RFC 5040 8.1.1). */
void hook_registered(const struct iwarp_device *device, struct iwarp_region *region);

/* An STag is given up, or its range changes. True: it stays as it was (RFC 5041 8.2). */
bool hook_deregister(const struct iwarp_device *device);
bool hook_bounds(const struct iwarp_device *device);

/* --- Negotiation (core/negotiate.c) ------------------------------------------------------------------------------- */

/* What the Request offers (RFC 6581 9.1, 9.2). */
void hook_request_offer(struct iwarp_stream *stream, struct negotiation_offer *own);

/* The depths of the answer were settled; then its RTR messages, of which both sides know `common` (RFC 6581 9.1, 9.2). */
void hook_answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer);
void hook_private_made(const struct iwarp_stream *stream, struct mpa_start *start);
void hook_answer_rtr(struct iwarp_stream *stream, unsigned common);

/* What was agreed on of IRD and ORD is in force (RFC 6581 9.1). */
void hook_depths_adopted(struct iwarp_stream *stream);

/* The initiator is about to send its RTR, if it is due. True: it is not (RFC 6581 9.2). */
bool hook_rtr(struct iwarp_stream *stream, const struct negotiation_offer *peer, bool due);

/* --- Start-up of MPA (mpa/startup.c, mpa/frame.c) ----------------------------------------------------------------- */

/* Start-up begins (RFC 5044 7.1.2). */
void hook_startup_begins(struct iwarp_stream *stream);

/* A start-up frame was packed into `octets`, with HOOK_ROOM more of room: returns its octets (RFC 5044 7.1.1). */
size_t hook_start_packed(struct iwarp_stream *stream, const struct mpa_start *start, uint8_t *octets, size_t count);

/* The fixed part of the peer's frame was parsed (RFC 5044 7.1.1, RFC 6581 6). */
void hook_start_parsed(const struct iwarp_stream *stream, struct mpa_start *start);

/* Is the peer's frame complete with `count` octets out of `whole`? (RFC 5044 7.1.1) */
bool hook_start_whole(const struct iwarp_stream *stream, size_t count, size_t whole);

/* True: what came after the peer's frame is dropped (RFC 5044 7.1.2). */
bool hook_excess_dropped(const struct iwarp_stream *stream);

/* The Reply has R = 1. True: it is taken for an accepting one (RFC 5044 7.1.2). */
bool hook_rejected(const struct iwarp_stream *stream);

/* Markers, CRC and versions were agreed on (RFC 5044 4.3, 4.4, 7.1.1, C.2.3). */
void hook_agreed(struct iwarp_stream *stream);

/* --- FPDUs (mpa/frame.c, mpa/receive.c, mpa/mpa_state.c, mpa/mpa.c) ------------------------------------------------ */

/* Packs the ULPDU into stream->transmit_buffer in place of fpdu_pack(): octets of the FPDU, 0: no room (RFC 5044 4). */
size_t hook_fpdu_packed(struct iwarp_stream *stream, uint8_t *ulpdu, size_t ulpdu_octets,
                        const struct fpdu_framing *framing);

/* Octets came from TCP, in one portion. True: they are dropped (RFC 5044 5.2). */
bool hook_portion(struct iwarp_stream *stream, size_t count);

/* An FPDU is not complete: returns how many of its `count` octets are used up (RFC 5044 5.2). */
size_t hook_fpdu_begun(struct iwarp_stream *stream, const struct fpdu *fpdu, size_t count);

/* An FPDU was parsed, before it is validated; then, found good. True: its ULPDU is dealt with (RFC 5044 5.2, 8). */
void hook_fpdu_parsed(struct iwarp_stream *stream, const struct fpdu *fpdu);
bool hook_fpdu_good(struct iwarp_stream *stream, const struct fpdu *fpdu);

/* True: what came after the FPDU in the same portion is dropped (RFC 5044 5.2). */
bool hook_input_over(const struct iwarp_stream *stream);

/* The peer's FIN, before MPA judges what is missing. True: it does not (RFC 5044 7.1.2, RFC 6581 10). */
bool hook_input_end(struct iwarp_stream *stream);

/* TCP's EMSS has changed. True: nothing follows from it (RFC 5044 4.5). */
bool hook_emss(struct iwarp_stream *stream, size_t emss);

/* MULPDU, given the right one (RFC 5044 4.5). */
size_t hook_mulpdu(const struct iwarp_stream *stream, size_t mulpdu);

/* --- Before their turn (mpa/early.c, core/early.c) ----------------------------------------------------------------- */

/* Octets came after a gap; `boundary`: they begin with an FPDU. True: they wait (RFC 5044 6). */
bool hook_early(const struct iwarp_stream *stream, bool *boundary);

/* A segment was found in one of them and parsed, before it is checked. True: it is dealt with (RFC 5041 5.3, 7.1). */
bool hook_early_segment(struct iwarp_stream *stream, const struct validation_subject *subject);

/* An FPDU was found among them; another may begin at `next`. True: it is not looked for (RFC 5044 6). */
bool hook_early_fpdu(struct iwarp_stream *stream, const struct fpdu *fpdu, const uint8_t *next, const uint8_t *end);

/* A segment's payload was placed, in `receive` for a Send: elsewhere, or nowhere, with NULL (RFC 5041 5.3, 5.4). */
void hook_early_placed(struct iwarp_stream *stream, const struct validation_subject *subject,
                       struct receive_work *receive);

/* --- The program iwarp-peer: its ULP and its driver (peer) -------------------------------------------------------- */

/* The greatest length of posted work that is accepted, and what becomes of that length (RFC 5041 5.2). */
uint64_t hook_length_limit(const struct defect_set *set, uint64_t most);
void hook_length(const struct defect_set *set, uint64_t *length);

/* How many octets of Private Data a configuration may have (RFC 6581 9). */
size_t hook_private_room(const struct defect_set *set, size_t room);

/* How many pieces of a gather list make one message (RFC 5040 5.1, 5.3). */
size_t hook_gathered(const struct defect_set *set, size_t pieces);

/* True: a Write needs no STag (RFC 5041 5.1). */
bool hook_stag_optional(const struct defect_set *set);

/* True: Sends and Writes complete as soon as they are posted (RFC 5040 5.5). */
bool hook_done_when_posted(const struct defect_set *set);

/* True: who opens the TCP connection is the MPA Initiator, whatever the ULPs agreed on (RFC 5044 7.1.2). */
bool hook_role_by_opener(const struct defect_set *set);

/* True: an FPDU waits until the one before is acknowledged (RFC 5044 5.1). */
bool hook_nagle(const struct defect_set *set);

/* `count` octets are next: of them so many, at least one, make a TCP segment of their own (RFC 5044 5.1). Not with kernel TCP. */
void hook_cut(const struct defect_set *set, size_t *count);

/* How TCP should be opened for the device: what a transport can choose of it, and faults of a TCP that can have them. */
struct tcp_wishes {
    uint16_t window; /* of receiving, fixed; 0: TCP's own */
    bool choose_iss;
    uint32_t iss;
    bool fragmentable;     /* IPv4 may fragment its segments (RFC 5044 A.5.1) */
    bool delay_acks;       /* every second segment is acknowledged, or after a while (RFC 9293 3.8.6.3) */
    bool drop_fragments;   /* IP packets in fragments are not put together (RFC 5044 A.5.1) */
    bool take_repeats;     /* octets that came before are the stream's next ones once more (RFC 5044 A.3) */
    bool octets_after_fin; /* a segment with octets follows the FIN (RFC 5041 6.2) */
    bool sack_silent;      /* SACK-permitted, but no ACK reports what came after a gap (RFC 5044 A.3) */
    bool sack_shifted;     /* what SACK reports begins and ends four octets too late */
};

/* Changes wishes that are TCP's own. */
void hook_tcp(const struct defect_set *set, struct tcp_wishes *wishes);

/* `count` octets came after a gap. True: there is no room for them, and the connection is given up (RFC 5044 A.5.2). */
bool hook_early_refused(const struct defect_set *set, size_t count);

/* True: the limits of time cannot be set; flushed work has another error's name; octets must lie in one piece, and are copied. */
bool hook_limits_fixed(const struct defect_set *set);
bool hook_flush_otherwise(const struct defect_set *set);
bool hook_one_piece(void);
/* MPA takes the connection over: octets not acknowledged are forgotten, or the next ones lost (RFC 5044 7.1.5). */
void hook_hand_over(const struct defect_set *set, bool *forgets, bool *deaf);

/* True: it takes over before the peer's streaming message is complete (RFC 5044 7.1.5). */
bool hook_streaming_over(const struct defect_set *set);

/* True: a fault of the whole device ends one stream alone (RFC 5040 4.8). */
bool hook_fault_on_one(const struct defect_set *set);

/* True: the overflow of one completion queue ends all streams; a full one takes room from another (8.1.1). */
bool hook_overflow_spreads(const struct defect_set *set);
bool hook_queue_overwrites(const struct defect_set *set);

/* --- The CM agent (cm/) -------------------------------------------------------------------------------------------- */

void variant_cm_config(const struct defect_set *set, struct cm_agent_config *config); /* of a new agent: variants.tsv */
/* What an entry of the CM's table finds for a REQ. Returns whether it holds (A11.6, A11.7). */
bool hook_cm_judge(const struct cm_validation *entry, const struct cm_subject *subject);

/* An entry does not hold: reason and code of the REJ, or none. */
void hook_cm_verdict(const struct cm_agent *agent, struct cm_verdict *verdict);

/* Does this listener take that Service ID (A11.5)? */
bool hook_cm_listens(const struct cm_agent *agent, const struct cm_listener *listener, uint64_t service_id);

/* A message came that the agent knows. True: nothing follows from it. */
bool hook_cm_input(struct cm_agent *agent, struct cm_message *message);

/* A MAD of 256 octets goes out. True: it does not. */
bool hook_cm_send(struct cm_agent *agent, uint8_t *mad);

/* What the ULP is told. */
void hook_cm_event(struct cm_agent *agent, struct cm_event *event);

#endif
