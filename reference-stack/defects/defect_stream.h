/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share about streams. */
#ifndef REFERENCE_STACK_DEFECT_STREAM_H
#define REFERENCE_STACK_DEFECT_STREAM_H

#include "reference-stack/core/stream_internal.h"
#include "reference-stack/defects/defect_internal.h"
#include "reference-stack/mpa/mpa.h"

static inline const struct defect_set *stream_set(const struct iwarp_stream *stream)
{
    return kept_set(stream->faults);
}

static inline struct defect_state *stream_state(const struct iwarp_stream *stream)
{
    return &((struct kept_stream *)stream->faults)->state;
}

/* True if the stream's first error is `wanted`. With 0: always true, also without an error. */
static inline bool defect_error_is(uint32_t wanted, uint32_t error)
{
    return wanted == 0 || wanted == error || (error != 0 && wanted == (DEFECT_ERROR | (error >> 8 & 0xFF)));
}

static inline bool stream_behaves(const struct iwarp_stream *stream, enum defect_behaviour behaviour)
{
    return defect_behaves(stream_set(stream), behaviour) &&
           defect_error_is(stream_set(stream)->errors[behaviour], stream_state(stream)->error);
}

/* The newest event is not to be reported after all. */
static inline void event_drop(struct iwarp_stream *stream)
{
    stream->events.count -= stream->events.count != 0;
}

/* The two newest events change places where both are of that kind. */
static inline void events_swap(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    struct iwarp_event *last = ring_at(&stream->events, stream->events.count - 1);
    struct iwarp_event *before = stream->events.count < 2 ? NULL : ring_at(&stream->events, stream->events.count - 2);

    if (before != NULL && before->kind == kind) {
        struct iwarp_event swap = *last;

        *last = *before;
        *before = swap;
    }
}

/*
 * The stream has `count` requests of the peer fewer, for the counts that its device's streams share (defect_stream.c).
 */
void defect_reads_gone(const struct iwarp_stream *stream, size_t count);

/* defect_stream.c: a stream is made, before start-up begins; it goes; a Reject was sent or has come. */
void defect_stream_begins(struct iwarp_stream *stream);
void defect_stream_ends(struct iwarp_stream *stream);
void defect_rejected(struct iwarp_stream *stream);

/*
 * defect_startup.c: configuration and state that start-up begins with; then, when the stream is first asked for output.
 */
void defect_startup_begins(struct iwarp_stream *stream);
void defect_startup_output(struct iwarp_stream *stream);

/* defect_startup.c, defect_frame.c: operations of mpa_faults.h, and whether the peer's frame is complete. */
bool defect_start_whole(const struct iwarp_stream *stream, bool whole);
size_t defect_start_packed(struct iwarp_stream *stream, const struct iwarp_mpa_start *start, size_t count);
size_t defect_fpdu_layout(struct iwarp_stream *stream, const uint8_t *ulpdu, size_t ulpdu_octets,
                          const struct fpdu_framing *framing);

/* defect_mpa.c: octets came, or the peer's FIN. True: nothing follows. */
bool defect_portion(struct iwarp_stream *stream, size_t count);
bool defect_input_end(struct iwarp_stream *stream);

/* defect_mpa.c, defect_sctp.c: octets of the largest ULPDU. */
size_t defect_mulpdu(const struct iwarp_stream *stream, size_t mulpdu);
size_t defect_segment_max(const struct iwarp_stream *stream, size_t octets);
size_t defect_reported_max(const struct iwarp_stream *stream, size_t octets);
size_t defect_emss(struct iwarp_stream *stream, size_t emss);

/* defect_deliver.c: decisions of the Data Sink. */
bool defect_message_ends(const struct iwarp_stream *stream, bool last);
bool defect_send_delivered(struct iwarp_stream *stream);
bool defect_invalidated(const struct iwarp_stream *stream, bool good);
bool defect_read_complete(struct iwarp_stream *stream, bool last);

/* defect_early.c: what has come of a Send before its turn; NULL: nothing. */
struct defect_early *defect_early_of(const struct iwarp_stream *stream, uint32_t msn);

/* defect_event.c: a receive's event is complete, and whether the receive is used up then. */
bool defect_receive_used(const struct iwarp_stream *stream);
bool defect_event_now(const struct iwarp_stream *stream);

/* defect_atomic.c: an Atomic Request is complete. True: nothing follows from it. */
bool defect_atomic_request(struct iwarp_stream *stream, uint8_t *octets, size_t count);

/* defect_transmit.c: posted work, and decisions of the Data Source. */
bool defect_postable(const struct iwarp_stream *stream, bool own);
bool defect_read_unchecked(const struct iwarp_stream *stream);
size_t defect_segment_room(const struct iwarp_stream *stream, size_t room);
size_t defect_posted_ulpdu(const struct iwarp_stream *stream, size_t count);
size_t defect_posted_max(const struct iwarp_stream *stream, size_t mulpdu);
bool defect_terminate_waits(const struct iwarp_stream *stream);

/* defect_startup.c: the RTR message that is sent, 0: none. */
enum iwarp_rtr defect_rtr(const struct iwarp_stream *stream, enum iwarp_rtr kind);

/* The next power of two that is no less; 0 of 0. */
size_t defect_power_of_two(size_t count);

/* The beginning of an FPDU goes out, whose rest never comes (defect_frame.c). */
void defect_fragment(struct iwarp_stream *stream);

/* Legal variants, for the seam of the same name (defect_variant.c). */
void variant_startup_begins(struct iwarp_stream *stream);
void variant_start_packed(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start, uint8_t *octets);
void variant_answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer);
enum iwarp_rtr variant_rtr(const struct iwarp_stream *stream, enum iwarp_rtr kind);
size_t variant_segment_room(const struct iwarp_stream *stream, size_t room);
void variant_work_segment(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment,
                          uint8_t *header);
size_t variant_mulpdu(const struct iwarp_stream *stream, size_t mulpdu);
void variant_output(struct iwarp_stream *stream);
bool variant_piece_waits(struct iwarp_stream *stream);

/* The stream is called then (NUMBER_DEADLINE). */
void defect_wake_at(struct iwarp_stream *stream, uint64_t when);

/* A Send waits for others that could go with it (defect_sctp_session.c). */
bool defect_send_waits(struct iwarp_stream *stream);

void variant_response_done(struct iwarp_stream *stream);
void variant_placed(struct iwarp_stream *stream, const struct ddp_segment *segment);
void variant_choose(const struct iwarp_stream *stream, const struct send_work *work, bool *own, bool *response);
bool variant_terminate_waits(struct iwarp_stream *stream);
void variant_terminate(const struct iwarp_stream *stream, const struct ddp_segment *segment,
                       struct terminate *terminate);
size_t variant_terminate_packed(struct iwarp_stream *stream, const struct terminate *terminate, size_t count);
void variant_failed(struct iwarp_stream *stream, struct validation_outcome *outcome,
                    const struct validation_subject *subject);
void variant_fin(struct iwarp_stream *stream);
bool variant_all_sent(struct iwarp_stream *stream);
void variant_posted(struct iwarp_stream *stream);

/* The same (defect_variant_order.c). */
size_t variant_backwards_room(const struct iwarp_stream *stream, bool first, uint64_t left, size_t room);
void variant_backwards_shortened(struct iwarp_stream *stream, size_t over);
void variant_work_backwards(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment);
void variant_response_backwards(const struct iwarp_stream *stream, const struct inbound_request *request,
                                struct ddp_segment *segment);
bool variant_segment_waits(struct iwarp_stream *stream, const uint8_t *ulpdu, size_t count);
void variant_segments_go_on(struct iwarp_stream *stream);

#endif
