/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults in the life of a stream: how it begins, what ends it, and what becomes of posted work then. */
#include <stdlib.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/defects/defect_stream.h"

/* --- Beginning and end ------------------------------------------------------------------------------------------- */

void defect_stream_begins(struct iwarp_stream *stream)
{
    struct device_faults *faults = device_state(stream->device);

    defect_startup_begins(stream);
    state_stream_begins(stream);
    if (stream_behaves(stream, DEFECT_STARTUP_UNTIMED))
        stream->startup_deadline = UINT64_MAX;
    if (stream_behaves(stream, DEFECT_TEARDOWN_AT_ONCE))
        stream->config.teardown_delay = 0;
    stream->counters.reads_outstanding += faults->own;
    stream->inbound.queues[DDP_QN_TERMINATE].msn_expected += faults->failed;
    if (faults->oldest == NULL)
        faults->oldest = stream;
}

void defect_stream_ends(struct iwarp_stream *stream)
{
    defect_reads_gone(stream, stream->inbound.requests.count);
    if (device_state(stream->device)->oldest == stream)
        device_state(stream->device)->oldest = NULL;
}

void defect_reads_gone(const struct iwarp_stream *stream, size_t count)
{
    size_t *reads = &device_state(stream->device)->reads;

    *reads -= count < *reads ? count : *reads;
}

/* A Reject was sent, or has come. MPA's alone: over SCTP a session's Reject may not be left out (RFC 5043 6.3). */
void defect_rejected(struct iwarp_stream *stream)
{
    bool own = stream->config.role == IWARP_RESPONDER && stream->llp == &mpa_llp;

    if (own && (stream_behaves(stream, DEFECT_REJECT_UNANSWERED) ||
                (mpa_of(stream)->peer.private_octets == 0 && stream_behaves(stream, DEFECT_REJECT_EMPTY_RESETS))))
        stream->end.abort_wanted = true;
    if (own && stream_behaves(stream, DEFECT_REJECT_CLOSES))
        stream->end.close_wanted = true;
    if (stream->outbound.piece.octets == 0 && stream_behaves(stream, DEFECT_REJECT_RESETS))
        stream->end.abort_wanted = true;
}

/* --- What TCP brings --------------------------------------------------------------------------------------------- */

bool seam_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    state_stream_input(stream);
    if (stream->end.fin_received) {
        if (stream->end.dropping || !stream_behaves(stream, DEFECT_LATE_SEGMENT_TAKEN))
            return false;
        stream->llp->input(stream, octets, count);
        stream_progress(stream);
        return true;
    }
    if (stream_behaves(stream, DEFECT_STARTUP_TIMER_RESTARTS))
        stream->startup_deadline = time_after(stream->now, stream->config.startup_limit);
    if (count == 1 && stream->state == IWARP_STATE_STARTUP && mpa_of(stream)->start_count >= MPA_START_OCTETS &&
        stream_behaves(stream, DEFECT_START_OCTET_LOST))
        return true;
    if (stream->llp == &mpa_llp && defect_portion(stream, count))
        return true;
    return !stream->end.dropping && stream->config.role == IWARP_RESPONDER && stream->state == IWARP_STATE_STARTUP &&
           stream_behaves(stream, DEFECT_STREAMING_AWAITED);
}

static bool ended_by_peer(struct iwarp_stream *stream)
{
    variant_fin(stream);
    if (stream_behaves(stream, DEFECT_FIN_UNTOLD) ||
        (stream->end.error_seen && stream_behaves(stream, DEFECT_CLOSE_NOT_AT_ALL))) {
        event_drop(stream);
        return true;
    }
    if (stream_behaves(stream, DEFECT_FIN_AS_LOST)) {
        event_drop(stream);
        stream_fail_with(stream, NULL, TERM_MPA_CONNECTION_LOST, VALIDATION_CLOSE, "the connection was lost");
    }
    if (stream_behaves(stream, DEFECT_FIN_FLUSHES))
        stream_flush(stream);
    if (stream_behaves(stream, DEFECT_FIN_TERMINATES) && stream->outbound.segments_allowed && !stream->end.error_seen)
        terminate_queue(stream, TERM_RDMAP_CATASTROPHIC, NULL, 0, NULL);
    if (stream->llp != &mpa_llp || !defect_input_end(stream))
        return false;
    stream_progress(stream);
    return true;
}

static bool lost(struct iwarp_stream *stream)
{
    if (stream_behaves(stream, DEFECT_RESET_UNTOLD))
        return true;
    if (stream_behaves(stream, DEFECT_READS_LEAK))
        device_state(stream->device)->leaked += stream->inbound.requests.count;
    return false;
}

/* --- What the ULP asks, and what is flushed ---------------------------------------------------------------------- */

static bool ended_by_ulp(struct iwarp_stream *stream)
{
    if (stream_behaves(stream, DEFECT_CLOSE_RESETS) ||
        (stream->end.fin_received && stream_behaves(stream, DEFECT_SECOND_HALF_RESETS))) {
        iwarp_stream_abort(stream, stream->now);
        return true;
    }
    if (stream_behaves(stream, DEFECT_CLOSE_DROPS_WORK))
        stream_flush(stream);
    if (stream_behaves(stream, DEFECT_CLOSE_STOPS_RECEIVING))
        stream->end.dropping = true;
    if (stream_behaves(stream, DEFECT_CLOSE_CUTS_FPDU))
        defect_fragment(stream);
    return false;
}

static bool flushed(struct iwarp_stream *stream)
{
    size_t begun = stream->outbound.work_sent + (stream->outbound.work_offset != 0);

    state_stream_over(stream);
    /* The first error, whose Terminate is to go last: what is posted goes before it. */
    if (stream->end.terminate_due && stream->state < IWARP_STATE_TERMINATING &&
        stream_behaves(stream, DEFECT_TERMINATE_LAST))
        return true;
    for (size_t i = 0; i < stream->outbound.work.count; i++) {
        struct send_work *work = ring_at(&stream->outbound.work, i);

        if (work->kind == IWARP_WORK_READ && stream_behaves(stream, DEFECT_FLUSH_READS_DONE))
            stream_completed(stream, work);
        else if (i >= begun && stream_behaves(stream, DEFECT_FLUSH_FORGETS))
            work->internal = true;
    }
    if (stream->inbound.receives.count != 0 && stream->inbound.queues[DDP_QN_SEND].msn_expected != DDP_FIRST_MSN &&
        stream_behaves(stream, DEFECT_RECEIVE_LAST_UNFLUSHED)) {
        free(((struct receive_work *)ring_at(&stream->inbound.receives, stream->inbound.receives.count - 1))->list);
        stream->inbound.receives.count--;
    }
    while (stream->inbound.receives.count != 0 && stream_behaves(stream, DEFECT_RECEIVES_UNFLUSHED))
        receive_pop(stream);
    defect_reads_gone(stream, stream->inbound.requests.count);
    if (stream->end.error_seen && stream_behaves(stream, DEFECT_OWN_READS_LEAK))
        device_state(stream->device)->own += stream->counters.reads_outstanding;
    if (stream->end.error_seen && stream_behaves(stream, DEFECT_TERMINATES_COUNTED))
        device_state(stream->device)->failed = true;
    return false;
}

bool seam_ending(struct iwarp_stream *stream, enum stream_ending how)
{
    switch (how) {
    case ENDING_BY_PEER: return ended_by_peer(stream);
    case ENDING_LOST: return lost(stream);
    case ENDING_BY_ULP: return ended_by_ulp(stream);
    case ENDING_FLUSH: return flushed(stream);
    case ENDING_ALL_SENT:
    default: return variant_all_sent(stream);
    }
}
