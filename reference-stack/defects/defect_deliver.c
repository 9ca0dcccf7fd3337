/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the Data Sink: where payload goes, which messages are delivered, and what a message is taken for. */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"

enum { STAG_KEY_BITS = 8, IMMEDIATE_HALF = 4 };

/* The header that the opcode has by right. */
static void header_by_opcode(struct ddp_segment *segment, const uint8_t *octets, size_t count)
{
    const struct rdmap_opcode_row *row = &rdmap_opcode_rows[octets[1] & 0xF];
    size_t header = row->tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;

    if (row->name == NULL || row->tagged == segment->tagged || count < header)
        return;
    segment->tagged = row->tagged;
    segment->stag = (uint32_t)ddp_tagged_get_STag(octets);
    segment->to = ddp_tagged_get_TO(octets);
    if (!row->tagged) {
        segment->ulp_word = octets_get32(octets + 2);
        segment->qn = (uint32_t)ddp_untagged_get_QN(octets);
        segment->msn = (uint32_t)ddp_untagged_get_MSN(octets);
        segment->mo = (uint32_t)ddp_untagged_get_MO(octets);
    }
    segment->header_octets = header;
    segment->payload = octets + header;
    segment->payload_octets = count - header;
}

void seam_segment(struct iwarp_stream *stream, struct ddp_segment *segment, const uint8_t *octets, size_t count)
{
    struct defect_state *state = stream_state(stream);

    if (stream_behaves(stream, DEFECT_READ_DONE_HELD))
        stream_complete(stream);
    if (segment->header != NULL && stream_behaves(stream, DEFECT_T_BY_OPCODE))
        header_by_opcode(segment, octets, count);
    state->goes_on =
        segment->tagged && state->segment.tagged && !state->segment.last && state->segment.stag == segment->stag;
    state->segment = *segment;
}

/* --- Placement --------------------------------------------------------------------------------------------------- */

/* A region whose STag differs from `stag` in the key octet at most. */
static const struct iwarp_region *region_by_index(const struct iwarp_device *device, uint32_t stag)
{
    const struct iwarp_region *region;

    for (size_t i = 0; (region = iwarp_region_at(device, i)) != NULL; i++)
        if (region->stag >> STAG_KEY_BITS == stag >> STAG_KEY_BITS)
            return region;
    return NULL;
}

/* The octets of a segment that reaches into its region from before it. */
static void place_rest(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    const struct iwarp_region *region = subject->region;
    uint64_t before = region->base - segment->to;
    uint64_t rest;

    if (segment->to >= region->base || before >= segment->payload_octets)
        return;
    rest = segment->payload_octets - before;
    memcpy(region->octets, segment->payload + before, rest < region->length ? (size_t)rest : (size_t)region->length);
}

/* As much of the segment as fits into its region, also if validations found errors. */
static struct placement place_tagged(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    const struct iwarp_region *region = subject->region;
    struct placement place = {.count = segment->payload_octets};
    uint64_t offset = region == NULL ? 0 : segment->to - region->base;

    if (region == NULL || offset > region->length)
        return (struct placement){0};
    place.octets = region->octets + offset;
    if (place.count > region->length - offset)
        place.count = (size_t)(region->length - offset);
    return place;
}

static void place_now(struct iwarp_stream *stream, const struct validation_subject *subject)
{
    struct placement place = seam_place(stream, subject);

    placement_write(&place, subject->segment->payload);
    if (stream->instruments.traced)
        instrument_record(stream, IWARP_TRACE_PLACED, subject->segment, place.count);
    stream->counters.segments_placed++;
    stream->counters.octets_placed += place.count;
}

/* A tagged segment, `empty` or not: its STag was looked up. */
static bool tagged(struct iwarp_stream *stream, struct validation_subject *subject, bool empty)
{
    uint32_t stag = subject->segment->stag;

    if (empty) {
        if (!stream_behaves(stream, DEFECT_ZERO_LENGTH_CHECKED))
            return false;
        subject->region = iwarp_region_find(stream->device, stag);
        return !deliver_holds(stream, VALIDATE_TAGGED, subject, "a tagged segment cannot be placed");
    }
    if (stream_behaves(stream, DEFECT_STAG_KEY_IGNORED))
        subject->region = region_by_index(stream->device, stag);
    if (stream_behaves(stream, DEFECT_PLACE_BEFORE_CHECK))
        place_now(stream, subject);
    if (subject->region != NULL && stream_behaves(stream, DEFECT_PLACE_AFTER_ERROR))
        place_rest(subject);
    return false;
}

/* A Read Response goes to the region's base, as if the sink's TO were that. */
static struct placement place_at_base(const struct iwarp_stream *stream, const struct validation_subject *subject)
{
    const struct send_work *read = deliver_open_read(stream);
    struct ddp_segment moved = *subject->segment;
    struct validation_subject other = *subject;

    if (read == NULL || subject->region == NULL)
        return place_tagged(subject);
    moved.to += subject->region->base - read->sink_to;
    other.segment = &moved;
    return place_tagged(&other);
}

/* As much of the segment as fits into its buffer, also if validations found errors. */
static struct placement place_untagged(const struct iwarp_stream *stream, const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    uint64_t room = subject->buffer_octets == UINT64_MAX ? 0 : subject->buffer_octets;
    const struct iwarp_region *region = iwarp_region_find(stream->device, segment->ulp_word);
    struct placement place;

    if (segment->mo > room)
        return (struct placement){0};
    place = deliver_place(stream, subject);
    if (place.count > room - segment->mo)
        place.count = (size_t)(room - segment->mo);
    if (place.octets != NULL && stream_behaves(stream, DEFECT_MO_16_BITS))
        place.octets -= segment->mo - (uint16_t)segment->mo;
    if (region != NULL && segment->mo + (uint64_t)place.count <= region->length &&
        stream_behaves(stream, DEFECT_UNTAGGED_BY_STAG))
        place.octets = region->octets + segment->mo;
    return place;
}

struct placement seam_place(struct iwarp_stream *stream, const struct validation_subject *subject)
{
    bool response = subject->segment->tagged && subject->message->opcode == IWARP_RDMAP_READ_RESPONSE;
    struct placement place;

    variant_placed(stream, subject->segment);
    if (!subject->segment->tagged) {
        place = place_untagged(stream, subject);
        state_message_placed(stream, subject, &place);
        return place;
    }
    if (stream_behaves(stream, DEFECT_TAGGED_NOT_PLACED))
        return (struct placement){0};
    place = response && stream_behaves(stream, DEFECT_SINK_AT_BASE) ? place_at_base(stream, subject)
                                                                    : place_tagged(subject);
    if (place.count == 1 && stream_behaves(stream, DEFECT_ONE_OCTET_DROPPED))
        place.count = 0;
    state_message_placed(stream, subject, &place);
    return place;
}

/* Do Read Requests and Atomic Requests wait for their answers? */
static bool both_wait(const struct iwarp_stream *stream)
{
    bool found[2] = {false, false};

    for (size_t i = 0; i < stream->inbound.requests.count; i++)
        found[((const struct inbound_request *)ring_at(&stream->inbound.requests, i))->is_atomic] = true;
    return found[0] && found[1];
}

/* How many of the stream's places for Read Requests are taken. */
static size_t reads_used(const struct iwarp_stream *stream)
{
    const struct device_faults *faults = device_state(stream->device);
    size_t used = stream_behaves(stream, DEFECT_READS_POOLED) ? faults->reads : stream->inbound.requests.count;

    if (stream_behaves(stream, DEFECT_READS_HALF))
        used += stream->agreed.ird - stream->agreed.ird / 2;
    if (stream_behaves(stream, DEFECT_READ_SLOT_LATE) && stream->now < stream_state(stream)->slot_free)
        used++;
    if (both_wait(stream) && stream_behaves(stream, DEFECT_MIXED_HALF))
        used += stream->agreed.ird - stream->agreed.ird / 2;
    used -= state_message_uncounted(stream) < used ? state_message_uncounted(stream) : used;
    return used + faults->leaked + stream_behaves(stream, DEFECT_IRD_ONE_SHORT);
}

static bool untagged(struct iwarp_stream *stream, struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    bool rtr = stream->agreed.rtr_awaited && segment->msn == DDP_FIRST_MSN;

    if (segment->qn == DDP_QN_READ_REQUEST) {
        size_t ird = stream->agreed.ird + (size_t)stream_behaves(stream, DEFECT_IRD_ONE_MORE);
        size_t places = stream_behaves(stream, DEFECT_READS_ROUNDED) ? defect_power_of_two(ird) : ird;
        bool granted = rtr || reads_used(stream) < places || stream_behaves(stream, DEFECT_IRD_IGNORED) ||
                       (stream->agreed.ird == 0 && stream_behaves(stream, DEFECT_FIRST_READ_FREE));
        bool extended = stream->config.extensions != IWARP_EXTENSIONS_OFF;

        subject->buffer_octets = !granted ? UINT64_MAX : extended ? ATOMIC_REQUEST_OCTETS : READ_REQUEST_OCTETS;
    }
    if (segment->qn == DDP_QN_SEND && state_stream_buffer(stream))
        subject->buffer_octets = UINT64_MAX;
    if (segment->qn != DDP_QN_SEND || subject->buffer_octets != UINT64_MAX)
        return false;
    if (segment->payload_octets == 0 && stream_behaves(stream, DEFECT_EMPTY_SEND_UNBUFFERED))
        subject->buffer_octets = 0;
    else if (stream_behaves(stream, DEFECT_OVERRUN_SWALLOWED)) {
        stream->inbound.queues[DDP_QN_SEND].msn_expected += segment->last;
        return true;
    }
    return false;
}

bool seam_buffer(struct iwarp_stream *stream, struct validation_subject *subject)
{
    return subject->segment->tagged ? tagged(stream, subject, subject->segment->payload_octets == 0)
                                    : untagged(stream, subject);
}

/* --- Delivery ---------------------------------------------------------------------------------------------------- */

bool defect_message_ends(const struct iwarp_stream *stream, bool last)
{
    unsigned opcode = stream_state(stream)->segment.control & 0xF;

    return last || stream_behaves(stream, DEFECT_LAST_IGNORED) ||
           (opcode > IWARP_RDMAP_TERMINATE && stream_behaves(stream, DEFECT_IMMEDIATE_PARTIAL));
}

static void read_takes_receive(struct iwarp_stream *stream)
{
    const struct receive_work *receive = ring_at(&stream->inbound.receives, 0);
    struct iwarp_event *event = receive == NULL ? NULL : stream_event(stream, IWARP_EVENT_RECEIVE);

    if (event == NULL)
        return;
    event->id = receive->id;
    event->buffer = receive->buffer;
    event->opcode = IWARP_RDMAP_READ_REQUEST;
    receive_pop(stream);
}

static bool read_request(struct iwarp_stream *stream, const struct ddp_segment *segment, struct untagged_queue *queue)
{
    if (stream_state(stream)->early_read == segment->msn) {
        stream_state(stream)->early_read = 0; /* it was served long ago */
        return true;
    }
    if (stream_behaves(stream, DEFECT_READ_TAKES_RECEIVE))
        read_takes_receive(stream);
    if (stream_behaves(stream, DEFECT_READ_SPLIT_HEADER) && segment->mo != 0 &&
        segment->payload_octets <= READ_REQUEST_OCTETS)
        memcpy(queue->buffer, segment->payload, segment->payload_octets);
    if (stream_behaves(stream, DEFECT_SOURCE_TO_32_BITS))
        read_request_set_SrcTO(queue->buffer, read_request_get_SrcTO(queue->buffer) & UINT32_MAX);
    return false;
}

/* Of another length than its bits M, D and R say. */
static bool terminate_odd(const struct untagged_queue *queue)
{
    size_t octets = TERMINATE_OCTETS;

    if (queue->length < TERMINATE_OCTETS)
        return true;
    if (terminate_get_M(queue->buffer) || terminate_get_D(queue->buffer))
        octets += TERMINATE_LENGTH_OCTETS;
    if (terminate_get_D(queue->buffer) && queue->length > octets)
        octets += ddp_tagged_get_T(queue->buffer + octets) ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    if (terminate_get_R(queue->buffer))
        octets += READ_REQUEST_OCTETS;
    return queue->length != octets;
}

static bool terminate_refused(struct iwarp_stream *stream, const struct untagged_queue *queue)
{
    if (stream_behaves(stream, DEFECT_TERMINATE_ODD_IGNORED) && terminate_odd(queue))
        return true;
    if (stream_behaves(stream, DEFECT_TERMINATE_ANSWERED) && terminate_odd(queue)) {
        stream_fail_with(stream, NULL, TERM_RDMAP_OPERATION_OTHER, VALIDATION_TERMINATE, "a Terminate is not valid");
        return true;
    }
    if (!stream_behaves(stream, DEFECT_TERMINATE_CODE_CHECKED) || queue->length < TERMINATE_OCTETS ||
        queue->buffer[0] != 0 || queue->buffer[1] == 0)
        return false;
    stream_fail_with(stream, NULL, TERM_RDMAP_OPERATION_OTHER, VALIDATION_TERMINATE, "a Terminate is not valid");
    return true;
}

bool seam_message(struct iwarp_stream *stream, const struct validation_subject *subject, struct rdmap_message *message,
                  struct untagged_queue *queue)
{
    if (message->opcode == IWARP_RDMAP_READ_REQUEST)
        return read_request(stream, subject->segment, queue);
    if (message->opcode == IWARP_RDMAP_TERMINATE)
        return terminate_refused(stream, queue);
    if (message->opcode == IWARP_RDMAP_ATOMIC_REQUEST)
        return defect_atomic_request(stream, queue->buffer, queue->length);
    if (message->invalidate_stag != 0 && stream_behaves(stream, DEFECT_INVALIDATE_ALWAYS))
        message->row = &rdmap_opcode_rows[IWARP_RDMAP_SEND_INVALIDATE];
    return false;
}

bool defect_send_delivered(struct iwarp_stream *stream)
{
    const struct untagged_queue *queue = &stream->inbound.queues[DDP_QN_SEND];
    const struct receive_work *receive = ring_at(&stream->inbound.receives, 0);
    struct defect_early *early = defect_early_of(stream, queue->msn_expected);
    bool immediate = !rdmap_is_send(stream_state(stream)->segment.control & 0xF);

    if (early != NULL && early->delivered) {
        early->msn = 0;
        receive_pop(stream); /* the ULP has had the message since long */
        return false;
    }
    if (immediate && stream_behaves(stream, DEFECT_IMMEDIATE_HELD))
        return false;
    if (immediate && receive->buffer != NULL && stream_behaves(stream, DEFECT_IMMEDIATE_HALVES)) {
        uint32_t first = octets_get32(receive->buffer);

        octets_put32(receive->buffer, octets_get32(receive->buffer + IMMEDIATE_HALF));
        octets_put32(receive->buffer + IMMEDIATE_HALF, first);
    }
    return !(stream_behaves(stream, DEFECT_RECEIVE_MUST_FILL) && queue->length < receive->octets) &&
           !(stream_behaves(stream, DEFECT_EMPTY_SEND_UNDELIVERED) && queue->length == 0);
}

bool defect_invalidated(const struct iwarp_stream *stream, bool good)
{
    return good ? !stream_behaves(stream, DEFECT_INVALIDATE_NOT_DONE)
                : stream_behaves(stream, DEFECT_INVALIDATE_ANYWAY);
}

bool defect_read_complete(struct iwarp_stream *stream, bool last)
{
    struct send_work *read = deliver_open_read(stream);
    bool done = last || stream_behaves(stream, DEFECT_READ_DONE_EARLY);

    if (!done || !stream_behaves(stream, DEFECT_READ_DONE_HELD))
        return done;
    read->done = true;
    stream->counters.reads_outstanding--;
    return false;
}

/* Its Response goes out on another stream. */
static void serve_elsewhere(struct iwarp_stream *server, const struct inbound_request *request,
                            const struct validation_subject *subject)
{
    struct inbound_request *entry = ring_push(&server->inbound.requests);

    if (entry == NULL)
        return;
    *entry = *request;
    memcpy(entry->header, subject->segment->header, DDP_UNTAGGED_OCTETS);
    entry->segment_octets = (uint16_t)subject->segment_octets;
}

bool seam_serve(struct iwarp_stream *stream, const struct inbound_request *request,
                const struct validation_subject *subject)
{
    struct device_faults *shared = device_state(stream->device);

    if (!request->is_atomic && request->read.octets == 0 && stream_behaves(stream, DEFECT_ZERO_READ_UNANSWERED))
        return true;
    shared->reads++;
    if (!stream_behaves(stream, DEFECT_RESPONSE_ELSEWHERE) || shared->oldest == NULL || shared->oldest == stream)
        return false;
    serve_elsewhere(shared->oldest, request, subject);
    return true;
}

/* --- After delivery ---------------------------------------------------------------------------------------------- */

/* Where `count` octets at `to` of a region are; NULL when they are not all inside. */
static uint8_t *place_in(const struct iwarp_region *region, uint64_t to, size_t count)
{
    uint64_t offset;

    if (region == NULL)
        return NULL;
    offset = to - region->base;
    return offset > region->length || count > region->length - offset ? NULL : region->octets + offset;
}

/* Takes the last octets of a delivered Write back until the next one has come. */
static void write_late(struct iwarp_stream *stream, const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    struct defect_late *late = &stream_state(stream)->late;
    size_t count = segment->payload_octets < sizeof(late->octets) ? segment->payload_octets : sizeof(late->octets);
    uint8_t *place = place_in(iwarp_region_find(stream->device, late->stag), late->to, late->count);

    if (place != NULL)
        memcpy(place, late->octets, late->count);
    late->count = 0;
    place = place_in(subject->region, segment->to + segment->payload_octets - count, count);
    if (place == NULL)
        return;
    *late = (struct defect_late){
        .stag = segment->stag, .to = segment->to + segment->payload_octets - count, .count = count};
    memcpy(late->octets, place, count);
    memset(place, 0, count);
}

/* A Write is not delivered to the ULP (RFC 5040 5.1); these do something with its end all the same. */
static void write_delivered(struct iwarp_stream *stream, const struct validation_subject *subject)
{
    const struct receive_work *receive = ring_at(&stream->inbound.receives, 0);
    struct iwarp_event *event;

    if (stream_behaves(stream, DEFECT_WRITE_PLACED_LATE))
        write_late(stream, subject);
    if (stream_behaves(stream, DEFECT_STAG_ONCE))
        (void)iwarp_region_invalidate(stream->device, subject->segment->stag, NULL);
    if (receive == NULL || !stream_behaves(stream, DEFECT_WRITE_CONSUMES_RECEIVE))
        return;
    event = stream_event(stream, IWARP_EVENT_RECEIVE);
    if (event != NULL) {
        event->id = receive->id;
        event->buffer = receive->buffer;
    }
    receive_pop(stream);
}

void seam_delivered(struct iwarp_stream *stream, const struct validation_subject *subject)
{
    if (subject->segment->last && subject->message->opcode == IWARP_RDMAP_WRITE)
        write_delivered(stream, subject);
}
