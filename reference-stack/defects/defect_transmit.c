/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the Data Source: which message goes next, how it is cut, and what its segments say. */
#include <stdlib.h>

#include "reference-stack/defects/defect_stream.h"

#define SECOND    UINT64_C(1000000000)
#define SLOT_LATE (SECOND / 5)

enum {
    LENGTH_WORD = 4,
    READ_SOURCE_OCTETS = 12,
    WRITE_PART = 65536,
    MULPDU_MORE = 64,
    SMALL = 100,
    HEADER_TAKEN = 20,
    LOST = 3
};

/* --- Posted work, and its order ---------------------------------------------------------------------------------- */

/* The stream closes, and work is taken all the same; seam_posted() then drops it. */
static bool dropped_when_posted(const struct iwarp_stream *stream)
{
    return stream->end.close_wanted && stream_behaves(stream, DEFECT_POST_WHILE_CLOSING);
}

bool defect_postable(const struct iwarp_stream *stream, bool own)
{
    return (own && !(stream->end.fin_received && stream_behaves(stream, DEFECT_FIN_ENDS_POSTING))) ||
           dropped_when_posted(stream);
}

/* Neither the sink of an own Read nor the ORD in force is checked. */
bool defect_read_unchecked(const struct iwarp_stream *stream)
{
    return stream_behaves(stream, DEFECT_SINK_UNCHECKED) || stream_behaves(stream, DEFECT_SINK_RIGHT_IGNORED) ||
           (stream->agreed.ord == 0 &&
            (stream_behaves(stream, DEFECT_ORD_ZERO_FREE) || stream_behaves(stream, DEFECT_ORD_ZERO_WAITS)));
}

static bool goes_first(const struct iwarp_stream *stream, const struct send_work *newest,
                       const struct send_work *before)
{
    bool same = newest->kind == before->kind;

    switch (newest->kind) {
    case IWARP_WORK_READ: return stream_behaves(stream, same ? DEFECT_READS_LAST_FIRST : DEFECT_READS_FIRST);
    case IWARP_WORK_ATOMIC:
        if (same && stream_behaves(stream, DEFECT_ATOMICS_LAST_FIRST))
            return true;
        break;
    case IWARP_WORK_IMMEDIATE:
        if (stream_behaves(stream, DEFECT_IMMEDIATE_FIRST))
            return true;
        break;
    case IWARP_WORK_SEND:
        if (before->kind == IWARP_WORK_WRITE && stream_behaves(stream, DEFECT_SENDS_FIRST))
            return true;
        break;
    case IWARP_WORK_RECEIVE:
    case IWARP_WORK_WRITE:
    default: break;
    }
    return same && newest->count < before->count && stream_behaves(stream, DEFECT_SHORT_FIRST);
}

void seam_posted(struct iwarp_stream *stream)
{
    size_t begun = stream->outbound.work_sent + (stream->outbound.work_offset != 0);
    struct send_work *posted = ring_at(&stream->outbound.work, stream->outbound.work.count - 1);

    if (dropped_when_posted(stream)) {
        free(posted->list);
        stream->outbound.work.count--;
        return;
    }
    if (posted->kind == IWARP_WORK_ATOMIC && stream_behaves(stream, DEFECT_ATOMIC_TO_ROUNDED))
        posted->atomic.to &= ~(uint64_t)(ATOMIC_TARGET_OCTETS - 1);
    variant_posted(stream);
    state_message_posted(stream);
    for (size_t i = stream->outbound.work.count - 1; i > begun; i--) {
        struct send_work *newest = ring_at(&stream->outbound.work, i);
        struct send_work *before = ring_at(&stream->outbound.work, i - 1);
        struct send_work swap = *before;

        if (!goes_first(stream, newest, before))
            return;
        *before = *newest;
        *newest = swap;
    }
}

size_t defect_posted_ulpdu(const struct iwarp_stream *stream, size_t count)
{
    size_t mulpdu = iwarp_stream_mulpdu(stream);

    return count > mulpdu && stream_behaves(stream, DEFECT_OVERSIZE_TRUNCATED) ? mulpdu : count;
}

size_t defect_posted_max(const struct iwarp_stream *stream, size_t mulpdu)
{
    if (stream_behaves(stream, DEFECT_OVERSIZE_TAKEN) ||
        (mulpdu == ULPDU_LENGTH_MAX && stream_behaves(stream, DEFECT_OVERSIZE_AT_LIMIT)))
        return SIZE_MAX;
    return stream_behaves(stream, DEFECT_ULPDU_OVER_SEGMENTS) && mulpdu < ULPDU_LENGTH_MAX ? ULPDU_LENGTH_MAX : mulpdu;
}

/* --- Whose turn it is -------------------------------------------------------------------------------------------- */

/* May one more own Read be outstanding, where ORD is kept in a way of its own? */
static bool ord_leaves_room(const struct iwarp_stream *stream)
{
    size_t open = stream->counters.reads_outstanding;

    return stream_behaves(stream, DEFECT_ORD_IGNORED) ||
           (open <= stream->agreed.ord && stream_behaves(stream, DEFECT_ORD_ONE_MORE)) ||
           (open < defect_power_of_two(stream->agreed.ord) && stream_behaves(stream, DEFECT_ORD_ROUNDED)) ||
           (stream->agreed.ord == 0 && stream_behaves(stream, DEFECT_ORD_ZERO_FREE));
}

size_t defect_power_of_two(size_t count)
{
    size_t power = 1;

    while (power < count)
        power *= 2;
    return count == 0 ? 0 : power;
}

/* Does this work go out although the ULP has fenced it? */
static bool fence_lifted(const struct iwarp_stream *stream, const struct send_work *work)
{
    const struct iwarp_stream_counters *counters = &stream->counters;

    return work->fence && (stream_behaves(stream, DEFECT_FENCE_IGNORED) ||
                           (work->kind == IWARP_WORK_WRITE && stream_behaves(stream, DEFECT_FENCE_OF_WRITES_IGNORED)) ||
                           (counters->reads_outstanding < counters->reads_outstanding_max &&
                            stream_behaves(stream, DEFECT_FENCE_LIFTED_EARLY)));
}

void seam_turn(const struct iwarp_stream *stream, bool *own, bool *response)
{
    const struct send_work *work = ring_at(&stream->outbound.work, stream->outbound.work_sent);

    if (work != NULL &&
        ((ord_leaves_room(stream) && !work->fence) || fence_lifted(stream, work) || state_message_turn(stream, work) ||
         (work->kind == IWARP_WORK_ATOMIC && stream_behaves(stream, DEFECT_ATOMICS_UNCOUNTED))))
        *own = true;
    variant_choose(stream, work, own, response);
    if (stream->inbound.receives.count == 0 && stream_behaves(stream, DEFECT_READ_NEEDS_RECEIVE))
        *response = false;
    if (work != NULL && !*own && stream_behaves(stream, DEFECT_RESPONSE_BEHIND_WORK))
        *response = false;
}

bool defect_terminate_waits(const struct iwarp_stream *stream)
{
    return stream_behaves(stream, DEFECT_TERMINATE_LAST) && transmit_choose(stream) != TRANSMIT_NONE;
}

/* Of two Read Responses that are due the later goes first. */
static void swap_responses(struct iwarp_stream *stream)
{
    struct inbound_request *first = ring_at(&stream->inbound.requests, 0);
    struct inbound_request *second = ring_at(&stream->inbound.requests, 1);
    struct inbound_request swap;

    if (second == NULL || stream->outbound.source != TRANSMIT_NONE || stream->end.terminate_due ||
        stream->end.terminate_sent || !stream->outbound.segments_allowed ||
        transmit_choose(stream) != TRANSMIT_RESPONSE)
        return;
    swap = *first;
    *first = *second;
    *second = swap;
}

void seam_output(struct iwarp_stream *stream)
{
    defect_startup_output(stream);
    state_stream_turn(stream);
    variant_output(stream);
    if (stream_behaves(stream, DEFECT_RESPONSES_OUT_OF_ORDER))
        swap_responses(stream);
    if (stream_behaves(stream, DEFECT_RESPONSE_OVERTAKES_LARGE) && stream->inbound.requests.count != 0 &&
        ((const struct inbound_request *)ring_at(&stream->inbound.requests, 0))->read.octets > WRITE_PART)
        swap_responses(stream);
    if (stream_behaves(stream, DEFECT_FPDU_LOST) && transmit_next(stream) && stream->outbound.piece.segment &&
        ++stream_state(stream)->segments == LOST)
        transmit_done(stream);
}

/* A segment of a Read Response is with TCP. True: the response is given up. */
static bool response_sent(struct iwarp_stream *stream, bool last)
{
    struct defect_state *state = stream_state(stream);
    bool late = state->response_last != 0 && stream->now - state->response_last > SECOND;

    state->response_last = last ? 0 : stream->now;
    if (last) {
        state->slot_free = stream->now + SLOT_LATE;
        defect_reads_gone(stream, 1);
    }
    return late && !last && stream_behaves(stream, DEFECT_RESPONSE_GIVEN_UP);
}

void seam_sent(struct iwarp_stream *stream, struct transmit_piece *piece)
{
    struct defect_state *state = stream_state(stream);

    if (piece->terminate && stream_behaves(stream, DEFECT_TERMINATE_TWICE)) {
        stream->end.terminate_due = !state->twice;
        state->twice = true;
    }
    if (stream->state == IWARP_STATE_EXITED && stream_behaves(stream, DEFECT_REJECT_RESETS))
        stream->end.abort_wanted = true;
    if (stream_behaves(stream, DEFECT_ATOMIC_DONE_WHEN_SENT))
        stream_complete(stream);
    if (piece->completes && piece->work >= stream->outbound.work_serial &&
        stream_behaves(stream, DEFECT_COMPLETIONS_AT_ONCE)) {
        struct send_work *work = ring_at(&stream->outbound.work, (size_t)(piece->work - stream->outbound.work_serial));

        if (work != NULL)
            stream_completed(stream, work);
    }
    if (piece->response && piece->ends_response) {
        variant_response_done(stream);
        state_message_response_sent(stream, ring_at(&stream->inbound.requests, 0));
    }
    if (piece->response && response_sent(stream, piece->ends_response)) {
        piece->ends_response = true;
        stream->outbound.source = TRANSMIT_NONE;
    }
}

/* --- Segments ---------------------------------------------------------------------------------------------------- */

size_t defect_segment_room(const struct iwarp_stream *stream, size_t room)
{
    if (stream_behaves(stream, DEFECT_HEADER_20))
        room = iwarp_stream_mulpdu(stream) - HEADER_TAKEN;
    if (stream_behaves(stream, DEFECT_MULPDU_IGNORED))
        room += MULPDU_MORE;
    room = variant_segment_room(stream, room);
    return room > SMALL && stream_behaves(stream, DEFECT_SEGMENTS_SMALL) ? SMALL : room;
}

/* What stands after the header of an own Read Request: its length with that. */
static size_t read_request(struct iwarp_stream *stream, struct ddp_segment *segment, uint8_t *header)
{
    const struct send_work *next = ring_at(&stream->outbound.work, stream->outbound.work_sent + 1);

    if (stream_behaves(stream, DEFECT_MSN_SHARED))
        segment->msn = stream->inbound.queues[DDP_QN_SEND].msn_next++;
    if (!stream_behaves(stream, DEFECT_READ_REQUEST_SECOND) || next == NULL || next->kind != IWARP_WORK_READ)
        return READ_REQUEST_OCTETS;
    octets_put32(header + READ_REQUEST_OCTETS, next->stag);
    octets_put64(header + READ_REQUEST_OCTETS + LENGTH_WORD, next->to);
    return READ_REQUEST_OCTETS + READ_SOURCE_OCTETS;
}

/* The first two segments of a message change places. */
static void segment_moved(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment)
{
    size_t room = segment->payload_octets;
    uint64_t offset;
    bool own;

    if (work->count <= 2 * room || (stream->outbound.work_offset != 0 && stream->outbound.work_offset != room))
        return;
    offset = stream->outbound.work_offset == 0 ? room : 0;
    (void)work_payload(stream, work, offset, room, &segment->payload, &own);
    if (segment->tagged)
        segment->to = work->to + offset;
    else
        segment->mo = (uint32_t)offset;
}

/* Where a message of more than 64 KiB passes a multiple of that. */
static bool passes_64k(uint64_t from, size_t octets)
{
    return from / WRITE_PART != (from + octets) / WRITE_PART;
}

/* An untagged segment. The sender adds one to the MSN once the last one is made. */
static void send_segment(struct iwarp_stream *stream, struct ddp_segment *segment)
{
    struct device_faults *faults = device_state(stream->device);
    struct untagged_queue *queue = &stream->inbound.queues[DDP_QN_SEND];
    struct defect_state *state = stream_state(stream);
    const struct send_work *next = ring_at(&stream->outbound.work, stream->outbound.work_sent + 1);

    if (segment->last && queue->msn_next == UINT32_MAX && stream_behaves(stream, DEFECT_MSN_WRAPS_TO_1))
        queue->msn_next = 0;
    if (stream_behaves(stream, DEFECT_MSN_OF_DEVICE)) {
        segment->msn = faults->sends + 1;
        faults->sends += segment->last;
    }
    if (!stream_behaves(stream, DEFECT_SENDS_JOINED))
        return;
    segment->mo += state->send_joined;
    if (segment->last && next != NULL && next->kind == IWARP_WORK_SEND) {
        state->send_joined = (uint32_t)(segment->mo + segment->payload_octets);
        segment->last = false;
        queue->msn_next--;
    } else if (segment->last) {
        state->send_joined = 0;
    }
}

/* The last segment of a message in several has the header fields of what waits after it. */
static void next_header(const struct iwarp_stream *stream, struct ddp_segment *segment)
{
    const struct send_work *next = ring_at(&stream->outbound.work, stream->outbound.work_sent + 1);

    if (segment->tagged && stream->inbound.requests.count != 0)
        segment->control = rdmap_control(IWARP_RDMAP_READ_RESPONSE);
    else if (segment->tagged && next != NULL && next->kind == IWARP_WORK_WRITE)
        segment->stag = next->stag;
    else if (!segment->tagged && next != NULL && next->kind == IWARP_WORK_READ)
        segment->qn = DDP_QN_READ_REQUEST;
    else if (!segment->tagged && next != NULL && next->kind == IWARP_WORK_SEND)
        segment->msn++;
}

static void data_segment(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment)
{
    if (stream_behaves(stream, DEFECT_ORDER_REVERSED))
        segment_moved(stream, work, segment);
    if (!segment->tagged)
        send_segment(stream, segment);
    else if (stream_behaves(stream, DEFECT_WRITE_SPLIT) &&
             passes_64k(stream->outbound.work_offset, segment->payload_octets))
        segment->last = true;
    if (segment->last && work->count % 2 != 0 && stream_behaves(stream, DEFECT_ODD_OCTET_DROPPED))
        segment->payload_octets--;
    if (segment->last && stream->outbound.work_offset != 0 && stream_behaves(stream, DEFECT_NEXT_HEADER))
        next_header(stream, segment);
}

static void work_segment(struct iwarp_stream *stream, struct outgoing *outgoing)
{
    struct send_work *work = outgoing->work;
    struct ddp_segment *segment = &outgoing->segment;

    variant_work_segment(stream, work, segment, outgoing->header);
    if (segment->tagged && stream_behaves(stream, DEFECT_WRITE_TO_48_BITS))
        segment->to &= UINT64_C(0xFFFFFFFFFFFF);
    switch (work->kind) {
    case IWARP_WORK_READ: outgoing->header_octets = read_request(stream, segment, outgoing->header); break;
    case IWARP_WORK_ATOMIC:
        if (stream_behaves(stream, DEFECT_ATOMIC_DONE_WHEN_SENT))
            work->done = true; /* seam_sent() then reports it */
        break;
    case IWARP_WORK_IMMEDIATE:
        outgoing->header_octets = defect_immediate(stream_set(stream), work->immediate, outgoing->header);
        break;
    case IWARP_WORK_RECEIVE:
    case IWARP_WORK_SEND:
    case IWARP_WORK_WRITE:
    default: data_segment(stream, work, segment); break;
    }
}

static void response_segment(struct iwarp_stream *stream, struct outgoing *outgoing)
{
    const struct inbound_request *request = outgoing->request;
    struct ddp_segment *segment = &outgoing->segment;

    if (request->is_atomic) {
        outgoing->header_octets = defect_atomic_response(stream_set(stream), outgoing->header);
        return;
    }
    variant_response_backwards(stream, request, segment);
    if (request->read.octets == 0 && stream_behaves(stream, DEFECT_EMPTY_RESPONSE_STALE)) {
        segment->stag = request->read.source_stag;
        segment->to = request->read.source_to;
    }
    if (stream_behaves(stream, DEFECT_RESPONSE_TO_RESTARTS))
        segment->to = request->read.sink_to;
    if (stream_behaves(stream, DEFECT_RESPONSE_RESTARTS))
        segment->last = true;
}

void seam_header(struct iwarp_stream *stream, struct outgoing *outgoing)
{
    if (outgoing->work != NULL)
        work_segment(stream, outgoing);
    else if (outgoing->request != NULL)
        response_segment(stream, outgoing);
    state_stream_header(stream, outgoing);
    state_message_header(stream, outgoing);
}

const uint8_t *seam_source(const struct iwarp_stream *stream, const struct inbound_request *request,
                           const struct iwarp_region *region)
{
    static const uint8_t nothing[1 << 16];
    uint64_t to = request->read.source_to + request->sent, left = request->read.octets - request->sent;
    bool stale = stream->end.fin_received && stream_behaves(stream, DEFECT_FIN_RESPONSE_STALE);

    if ((request->read.source_to ^ to) > UINT32_MAX && stream_behaves(stream, DEFECT_SOURCE_CARRY))
        stale = true;
    /* Where a check is off, there may be nothing that could be read. */
    if (region == NULL || to - region->base > region->length || left > region->length - (to - region->base))
        return nothing;
    return state_message_source(stream, request, region,
                                region->octets + (to - region->base) - (stale ? request->sent : 0));
}
