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

/* Is the stream's first error this one? `wanted`: 0 for whatever happened, also where there is none. */
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

/* The stream has `count` requests of the peer fewer, for the counts that its device's streams share (defect_stream.c). */
void defect_reads_gone(const struct iwarp_stream *stream, size_t count);

/* The next power of two that is no less; 0 of 0. */
size_t defect_power_of_two(size_t count);

/* The beginning of an FPDU goes out, whose rest never comes (defect_frame.c). */
void defect_fragment(struct iwarp_stream *stream);

/* Legal variants, for the hook of the same name (defect_variant.c). */
void variant_startup_begins(struct iwarp_stream *stream);
void variant_start_packed(const struct iwarp_stream *stream, const struct mpa_start *start, uint8_t *octets);
void variant_answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer);
enum iwarp_rtr variant_rtr(const struct iwarp_stream *stream, enum iwarp_rtr kind);
size_t variant_segment_room(const struct iwarp_stream *stream, size_t room);
void variant_work_segment(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment,
                          uint8_t *header);
size_t variant_mulpdu(const struct iwarp_stream *stream, size_t mulpdu);
void variant_output(struct iwarp_stream *stream);
bool variant_piece_waits(struct iwarp_stream *stream);

/* The stream is called again then (defect_variant.c). */
void defect_wake_at(struct iwarp_stream *stream, uint64_t when);

/* A Send waits for others that could go with it (defect_sctp_session.c). */
bool defect_send_waits(struct iwarp_stream *stream);

void variant_response_done(struct iwarp_stream *stream);
void variant_placed(struct iwarp_stream *stream, const struct ddp_segment *segment);
void variant_choose(const struct iwarp_stream *stream, const struct send_work *work, bool *own, bool *response);
bool variant_terminate_waits(const struct iwarp_stream *stream);
void variant_terminate(const struct iwarp_stream *stream, const struct ddp_segment *segment,
                       struct terminate *terminate);
void variant_terminate_packed(struct iwarp_stream *stream, const struct terminate *terminate);
void variant_failed(struct iwarp_stream *stream, struct validation_outcome *outcome,
                    const struct validation_subject *subject);
void variant_fin(struct iwarp_stream *stream);
void variant_progress(struct iwarp_stream *stream);
void variant_posted(struct iwarp_stream *stream);

#endif
