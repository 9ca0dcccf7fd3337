/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share about streams. */
#ifndef REFERENCE_STACK_DEFECT_STREAM_H
#define REFERENCE_STACK_DEFECT_STREAM_H

#include "reference-stack/core/stream_internal.h"
#include "reference-stack/defects/defect_internal.h"
#include "reference-stack/mpa/mpa.h"

static inline bool stream_behaves(const struct iwarp_stream *stream, enum defect_behaviour behaviour)
{
    return defect_behaves(stream->defects, behaviour);
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

/* The beginning of an FPDU goes out, whose rest never comes (defect_frame.c). */
void defect_fragment(struct iwarp_stream *stream);

#endif
