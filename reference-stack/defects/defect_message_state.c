/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect_message_state.h"

#include <string.h>

#include "reference-stack/defects/defect_stream.h"

enum { GUARDED = 8, PAGE = 4096 };

static struct message_left *left_of(const struct iwarp_stream *stream)
{
    return &stream_state(stream)->message;
}

/* --- What is sent ------------------------------------------------------------------------------------------------- */

static void send_header(const struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment)
{
    struct message_left *left = left_of(stream);
    uint32_t end = (uint32_t)(segment->mo + segment->payload_octets);

    if (left->mo != 0 && stream_behaves(stream, DEFECT_MO_GOES_ON))
        segment->mo += left->mo;
    if (segment->last)
        left->mo += end;
    if (work->opcode == IWARP_RDMAP_SEND && left->sent_solicited && stream_behaves(stream, DEFECT_SOLICITED_SENT_STAYS))
        segment->control = rdmap_control(IWARP_RDMAP_SEND_SE);
    left->sent_solicited = left->sent_solicited || work->opcode == IWARP_RDMAP_SEND_SE;
    if (work->opcode == IWARP_RDMAP_SEND && left->invalidate != 0 && stream_behaves(stream, DEFECT_INVALIDATE_STAYS))
        segment->ulp_word = left->invalidate;
    if (work->opcode == IWARP_RDMAP_SEND_INVALIDATE)
        left->invalidate = work->stag;
}

static void write_header(const struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment)
{
    struct message_left *left = left_of(stream);
    uint64_t high = ~(uint64_t)UINT32_MAX;

    if (!left->write_known) {
        left->write_known = true;
        left->write_stag = work->stag;
        left->write_to = work->to;
        return;
    }
    if (left->write_stag != work->stag && stream_behaves(stream, DEFECT_WRITE_STAG_STAYS))
        segment->stag = left->write_stag;
    if (((left->write_to ^ work->to) & high) != 0 && stream_behaves(stream, DEFECT_WRITE_TO_STAYS))
        segment->to = (left->write_to & high) | (segment->to & UINT32_MAX);
}

/* Only as many bits of it are counted as `mask` has. */
static void cut_msn(const struct iwarp_stream *stream, struct ddp_segment *segment, uint32_t mask,
                    enum defect_behaviour behaviour)
{
    if ((segment->msn & ~mask) != 0 && stream_behaves(stream, behaviour))
        segment->msn &= mask;
}

static void immediate_header(const struct iwarp_stream *stream, uint8_t *header)
{
    struct message_left *left = left_of(stream);
    uint8_t own[IWARP_IMMEDIATE_OCTETS];

    memcpy(own, header, sizeof(own));
    if (left->immediate_known && stream_behaves(stream, DEFECT_IMMEDIATE_STAYS))
        memcpy(header, left->immediate, sizeof(own));
    memcpy(left->immediate, own, sizeof(own));
    left->immediate_known = true;
}

static void work_header(const struct iwarp_stream *stream, struct outgoing *outgoing)
{
    struct ddp_segment *segment = &outgoing->segment;
    struct message_left *left = left_of(stream);

    switch (outgoing->work->kind) {
    case IWARP_WORK_SEND: send_header(stream, outgoing->work, segment); break;
    case IWARP_WORK_WRITE: write_header(stream, outgoing->work, segment); break;
    case IWARP_WORK_IMMEDIATE: immediate_header(stream, outgoing->header); break;
    case IWARP_WORK_READ:
    case IWARP_WORK_ATOMIC: cut_msn(stream, segment, 0xFF, DEFECT_READ_MSN_8_BITS); return;
    case IWARP_WORK_RECEIVE:
    default: return;
    }
    if (!segment->tagged) {
        cut_msn(stream, segment, 0xFF, DEFECT_SEND_MSN_8_BITS);
        cut_msn(stream, segment, 0xFFFF, DEFECT_SEND_MSN_16_BITS);
        cut_msn(stream, segment, 0xFFFFFF, DEFECT_SEND_MSN_24_BITS);
    }
    if (stream->outbound.work_offset == 0 && !segment->last && left->last && stream_behaves(stream, DEFECT_LAST_STAYS))
        segment->last = true;
    left->last = segment->last;
}

static void read_header(const struct iwarp_stream *stream, const struct inbound_request *request,
                        struct ddp_segment *segment)
{
    struct message_left *left = left_of(stream);

    if (!left->sink_known) {
        left->sink_known = true;
        left->sink_stag = request->read.sink_stag;
        left->sink_before = request->read.sink_to;
    }
    if (left->sink_stag != segment->stag && stream_behaves(stream, DEFECT_RESPONSE_SINK_STAYS))
        segment->stag = left->sink_stag;
    if (request->sent == 0)
        left->sink_before = left->sink_to;
    if (left->sink_before != request->read.sink_to && stream_behaves(stream, DEFECT_RESPONSE_TO_STAYS))
        segment->to += left->sink_before - request->read.sink_to;
    left->sink_to = request->read.sink_to;
}

static void atomic_header(const struct iwarp_stream *stream, const struct inbound_request *request,
                          struct outgoing *outgoing)
{
    struct message_left *left = left_of(stream);

    if (!left->id_known) {
        left->id_known = true;
        left->id = request->atomic.id;
    }
    if (left->id != request->atomic.id && stream_behaves(stream, DEFECT_RESPONSE_ID_STAYS))
        atomic_response_set_RequestId(outgoing->header, left->id);
    cut_msn(stream, &outgoing->segment, 0xFF, DEFECT_RESPONSE_MSN_8_BITS);
}

void state_message_header(struct iwarp_stream *stream, struct outgoing *outgoing)
{
    if (outgoing->work != NULL)
        work_header(stream, outgoing);
    else if (outgoing->request != NULL && outgoing->request->is_atomic)
        atomic_header(stream, outgoing->request, outgoing);
    else if (outgoing->request != NULL)
        read_header(stream, outgoing->request, &outgoing->segment);
}

const uint8_t *state_message_source(const struct iwarp_stream *stream, const struct inbound_request *request,
                                    const struct iwarp_region *region, const uint8_t *source)
{
    uint64_t offset = request->read.source_to - region->base;
    bool across = request->read.octets <= PAGE && offset / PAGE != (offset + request->read.octets - 1) / PAGE;

    /* What follows the first page's octets comes from that page, too. */
    return across && offset >= PAGE / 2 && request->sent == 0 && stream_behaves(stream, DEFECT_READ_ACROSS_PAGE)
               ? source - PAGE / 2
               : source;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static void receive_reported(const struct iwarp_stream *stream, struct iwarp_event *event)
{
    struct message_left *left = left_of(stream);

    if (event->octets > left->longest)
        left->longest = event->octets;
    else if (left->longest > event->octets && event->buffer != NULL && stream_behaves(stream, DEFECT_LENGTH_STAYS))
        event->octets = left->longest;
    if (left->solicited && !event->solicited && stream_behaves(stream, DEFECT_SOLICITED_STAYS))
        event->solicited = true;
    left->solicited = left->solicited || event->solicited;
    if (!event->invalidated)
        return;
    if (!left->invalidated_known)
        left->invalidated = event->stag;
    left->invalidated_known = true;
    if (left->invalidated != event->stag && stream_behaves(stream, DEFECT_INVALIDATED_STAYS))
        event->stag = left->invalidated;
}

static void atomic_reported(struct iwarp_stream *stream, struct iwarp_event *event)
{
    struct message_left *left = left_of(stream);
    uint64_t own = event->value;

    if (left->values != 0 && left->value != own && stream_behaves(stream, DEFECT_VALUE_STAYS))
        event->value = left->value;
    left->value = own;
    left->values++;
    if (stream->counters.reads_outstanding != 0 && stream_behaves(stream, DEFECT_ATOMIC_FREES_TWO))
        stream->counters.reads_outstanding--;
}

void state_message_event(struct iwarp_stream *stream, struct iwarp_event *event)
{
    if (event->kind == IWARP_EVENT_RECEIVE)
        receive_reported(stream, event);
    else if (event->kind == IWARP_EVENT_ATOMIC_DONE)
        atomic_reported(stream, event);
}

/* --- Counters ----------------------------------------------------------------------------------------------------- */

/* The MSN that is due after the message in hand. */
uint32_t state_message_msn(const struct iwarp_stream *stream, uint32_t next)
{
    static const struct {
        uint32_t qn, mask;
        enum defect_behaviour behaviour;
    } rows[] = {
        {DDP_QN_SEND, 0xFF, DEFECT_SEND_DUE_8_BITS},
        {DDP_QN_SEND, 0xFFFF, DEFECT_SEND_DUE_16_BITS},
        {DDP_QN_SEND, 0xFFFFFF, DEFECT_SEND_DUE_24_BITS},
        {DDP_QN_READ_REQUEST, 0xFF, DEFECT_READ_DUE_8_BITS},
        {DDP_QN_ATOMIC_RESPONSE, 0xFF, DEFECT_RESPONSE_DUE_8_BITS},
    };
    uint32_t qn = stream_state(stream)->segment.qn;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].qn == qn && next == rows[i].mask + 1 && stream_behaves(stream, rows[i].behaviour))
            return 0;
    return next;
}

/* --- Depths ------------------------------------------------------------------------------------------------------- */

/* Remembers the newest work that was posted before the Reply. */
void state_message_posted(struct iwarp_stream *stream)
{
    if (!stream->established)
        left_of(stream)->before_reply = stream->outbound.work_serial + stream->outbound.work.count;
}

/* How many own Reads and atomics are open but for Reads of size 0? */
static size_t open_with_octets(const struct iwarp_stream *stream)
{
    size_t open = 0;

    for (size_t i = 0; i < stream->outbound.work_sent; i++) {
        const struct send_work *work = ring_at(&stream->outbound.work, i);

        if (!work->done && !work->internal &&
            (work->kind == IWARP_WORK_ATOMIC || (work->kind == IWARP_WORK_READ && work->count != 0)))
            open++;
    }
    return open;
}

/* How many own Reads have got a part of their response? */
static size_t half_answered(const struct iwarp_stream *stream)
{
    size_t open = 0;

    for (size_t i = 0; i < stream->outbound.work_sent; i++) {
        const struct send_work *work = ring_at(&stream->outbound.work, i);

        if (!work->done && work->kind == IWARP_WORK_READ && work->received != 0)
            open++;
    }
    return open;
}

/* Does own work go out that ORD holds back? */
bool state_message_turn(const struct iwarp_stream *stream, const struct send_work *work)
{
    size_t ord = stream->agreed.ord, half = half_answered(stream);

    if (work->kind != IWARP_WORK_READ && work->kind != IWARP_WORK_ATOMIC)
        return false;
    if (stream->counters.reads_outstanding < ord)
        return false;
    return (open_with_octets(stream) < ord && stream_behaves(stream, DEFECT_OWN_EMPTY_READS_UNCOUNTED)) ||
           (half != 0 && stream->counters.reads_outstanding - half < ord &&
            stream_behaves(stream, DEFECT_READ_FREED_EARLY)) ||
           (stream->outbound.work_serial + stream->outbound.work_sent < left_of(stream)->before_reply &&
            stream_behaves(stream, DEFECT_READS_BEFORE_REPLY));
}

/* How many of the requests that wait do not count towards IRD? */
size_t state_message_uncounted(const struct iwarp_stream *stream)
{
    size_t empty = 0, places = left_of(stream)->places;

    for (size_t i = 0; i < stream->inbound.requests.count; i++) {
        const struct inbound_request *request = ring_at(&stream->inbound.requests, i);

        empty += !request->is_atomic && request->read.octets == 0;
    }
    if (empty == 0 || !stream_behaves(stream, DEFECT_EMPTY_READS_UNCOUNTED))
        empty = 0;
    return empty + (places != 0 && stream_behaves(stream, DEFECT_ATOMIC_SENT_FREES_TWO) ? places : 0);
}

void state_message_response_sent(struct iwarp_stream *stream, const struct inbound_request *request)
{
    if (request != NULL && request->is_atomic)
        left_of(stream)->places++;
}

/* --- Several that wait -------------------------------------------------------------------------------------------- */

/* The Read Request that a Terminate quotes where the oldest failed midway. */
const struct inbound_request *state_message_quoted(const struct iwarp_stream *stream,
                                                   const struct inbound_request *oldest)
{
    const struct inbound_request *newest = ring_at(&stream->inbound.requests, stream->inbound.requests.count - 1);

    return newest != NULL && newest != oldest && !newest->is_atomic &&
                   stream_behaves(stream, DEFECT_TERMINATE_QUOTES_NEWEST)
               ? newest
               : oldest;
}

/* True: the ULP's own Read does for the RTR message. */
bool state_message_rtr(const struct iwarp_stream *stream)
{
    for (size_t i = 0; i < stream->outbound.work.count; i++)
        if (((const struct send_work *)ring_at(&stream->outbound.work, i))->kind == IWARP_WORK_READ)
            return stream_behaves(stream, DEFECT_RTR_LEFT_OUT);
    return false;
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

/* Octets in front of a buffer of the peer's, or behind it: it has guard octets there (peer_internal.h). */
static void overwrite(uint8_t *octets)
{
    memset(octets, 0x5A, GUARDED);
}

void state_message_placed(const struct iwarp_stream *stream, const struct validation_subject *subject,
                          const struct placement *place)
{
    const struct iwarp_region *region = subject->region;
    const struct receive_work *receive = ring_at(&stream->inbound.receives, 0);

    if (place->octets == NULL || place->count == 0)
        return;
    if (!subject->segment->tagged) {
        if (subject->segment->qn == DDP_QN_SEND && receive != NULL && receive->buffer != NULL &&
            place->octets + place->count == receive->buffer + receive->octets &&
            stream_behaves(stream, DEFECT_SEND_BEHIND))
            overwrite(receive->buffer + receive->octets);
        return;
    }
    if (region == NULL)
        return;
    if (subject->message->opcode == IWARP_RDMAP_READ_RESPONSE) {
        if (place->octets + place->count == region->octets + region->registered &&
            stream_behaves(stream, DEFECT_RESPONSE_BEHIND))
            overwrite(region->octets + region->registered);
        return;
    }
    if (place->octets != region->octets)
        return;
    if (stream_behaves(stream, DEFECT_WRITE_BEHIND))
        overwrite(region->octets + region->registered);
    if (stream_behaves(stream, DEFECT_WRITE_IN_FRONT))
        overwrite(region->octets - GUARDED);
}

/* A segment of a Read Response that is not its first. */
bool state_response_later(const struct validation_subject *subject)
{
    return (subject->segment->control & 0xF) == IWARP_RDMAP_READ_RESPONSE && subject->open_read != NULL &&
           subject->open_read->received != 0;
}
