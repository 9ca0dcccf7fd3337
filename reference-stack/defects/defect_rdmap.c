/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of RDMAP that need more than a line where they act. */
#include "reference-stack/defects/defect_rdmap.h"

#include <string.h>

#include "reference-stack/core/stream_internal.h"

#define SECOND    UINT64_C(1000000000)
#define SLOT_LATE (SECOND / 5)

enum { LENGTH_WORD = 4, READ_SOURCE_OCTETS = 12, WRITE_PART = 65536, STAG_STEP = 0x100, STAG_SMALL_MAX = 0xFFFF };

/* --- What the streams of a device share -------------------------------------------------------------------------- */

void defect_stream_joins(struct iwarp_stream *stream)
{
    if (stream->device->faults.oldest == NULL)
        stream->device->faults.oldest = stream;
}

void defect_stream_leaves(struct iwarp_stream *stream)
{
    defect_reads_gone(stream, stream->reads.count);
    if (stream->device->faults.oldest == stream)
        stream->device->faults.oldest = NULL;
}

size_t defect_reads_used(const struct iwarp_stream *stream)
{
    const struct device_faults *faults = &stream->device->faults;
    size_t used = stream_behaves(stream, DEFECT_READS_POOLED) ? faults->reads : stream->reads.count;

    if (stream_behaves(stream, DEFECT_READS_HALF))
        used += stream->ird - stream->ird / 2;
    if (stream_behaves(stream, DEFECT_READ_SLOT_LATE) && stream->now < stream->read_slot_free)
        used++;
    return used + faults->leaked;
}

struct iwarp_stream *defect_server(struct iwarp_stream *stream)
{
    struct iwarp_stream *oldest = stream->device->faults.oldest;

    stream->device->faults.reads++;
    return stream_behaves(stream, DEFECT_RESPONSE_ELSEWHERE) && oldest != NULL ? oldest : stream;
}

void defect_reads_gone(struct iwarp_stream *stream, size_t count)
{
    size_t *reads = &stream->device->faults.reads;

    *reads -= count < *reads ? count : *reads;
}

void defect_reads_reset(struct iwarp_stream *stream)
{
    if (stream_behaves(stream, DEFECT_READS_LEAK))
        stream->device->faults.leaked += stream->reads.count;
}

/* --- Read Requests and their responses --------------------------------------------------------------------------- */

bool defect_response_sent(struct iwarp_stream *stream, bool last)
{
    bool late = stream->response_last != 0 && stream->now - stream->response_last > SECOND;

    stream->response_last = last ? 0 : stream->now;
    if (last) {
        stream->read_slot_free = stream->now + SLOT_LATE;
        defect_reads_gone(stream, 1);
    }
    return late && !last && stream_behaves(stream, DEFECT_RESPONSE_GIVEN_UP);
}

static void read_takes_receive(struct iwarp_stream *stream)
{
    const struct receive_work *receive = ring_at(&stream->receives, 0);
    struct iwarp_event *event = receive == NULL ? NULL : stream_event(stream, IWARP_EVENT_RECEIVE);

    if (event == NULL)
        return;
    event->id = receive->id;
    event->buffer = receive->buffer;
    event->opcode = RDMAP_READ_REQUEST;
    ring_pop(&stream->receives);
}

void defect_read_delivered(struct iwarp_stream *stream, struct untagged_queue *queue, const struct ddp_segment *segment)
{
    if (stream_behaves(stream, DEFECT_READ_TAKES_RECEIVE))
        read_takes_receive(stream);
    if (stream_behaves(stream, DEFECT_READ_SPLIT_HEADER) && segment->mo != 0 &&
        segment->payload_octets <= READ_REQUEST_OCTETS)
        memcpy(queue->buffer, segment->payload, segment->payload_octets);
}

void defect_read_placed(struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    for (size_t i = 0; i < stream->work_sent && stream_behaves(stream, DEFECT_EARLY_READ_DONE); i++) {
        struct send_work *work = ring_at(&stream->work, i);

        if (work->kind == IWARP_WORK_READ && work->sink_stag == segment->stag &&
            segment->to - work->sink_to < work->count)
            stream_completed(stream, work); /* and not again, when it comes in order */
    }
}

void defect_late_read(const struct defect_set *set, const struct served_read *served, struct read_request *rest)
{
    if (defect_behaves(set, DEFECT_LATE_SINK_STAG))
        rest->sink_stag = rest->source_stag;
    if (defect_behaves(set, DEFECT_LATE_SINK_TO))
        rest->sink_to = served->request.sink_to;
    if (defect_behaves(set, DEFECT_LATE_SIZE))
        rest->octets = (uint32_t)served->sent;
    if (defect_behaves(set, DEFECT_LATE_SOURCE_STAG))
        rest->source_stag = 0;
    if (defect_behaves(set, DEFECT_LATE_SOURCE_TO))
        rest->source_to = served->request.source_to;
}

/* --- Memory ------------------------------------------------------------------------------------------------------ */

uint32_t defect_stag(const struct defect_set *set, struct device_faults *faults, uint32_t good)
{
    if (defect_behaves(set, DEFECT_STAG_STEPS))
        faults->stag = faults->stag == 0 ? good : faults->stag + STAG_STEP;
    else if (defect_behaves(set, DEFECT_STAG_SMALL))
        faults->stag = STAG_STEP + good % (STAG_SMALL_MAX - STAG_STEP);
    else
        return good;
    return faults->stag;
}

/* --- Order of work, and segments --------------------------------------------------------------------------------- */

bool defect_goes_ahead(const struct defect_set *set, const struct send_work *newest, const struct send_work *before)
{
    bool read = newest->kind == IWARP_WORK_READ;

    if (defect_behaves(set, DEFECT_READS_FIRST) && read && before->kind != IWARP_WORK_READ)
        return true;
    if (defect_behaves(set, DEFECT_READS_LAST_FIRST) && read && before->kind == IWARP_WORK_READ)
        return true;
    return defect_behaves(set, DEFECT_SHORT_FIRST) && !read && newest->kind == before->kind &&
           newest->count < before->count;
}

/* Where a message of more than 64 KiB passes a multiple of that. */
static bool passes_64k(uint64_t from, size_t octets)
{
    return from / WRITE_PART != (from + octets) / WRITE_PART;
}

void defect_data_segment(struct iwarp_stream *stream, struct ddp_segment *segment)
{
    struct device_faults *faults = &stream->device->faults;
    const struct send_work *next = ring_at(&stream->work, stream->work_sent + 1);

    if (segment->tagged) {
        if (stream_behaves(stream, DEFECT_WRITE_SPLIT) && passes_64k(stream->work_offset, segment->payload_octets))
            segment->last = true;
        return;
    }
    if (stream_behaves(stream, DEFECT_MSN_OF_DEVICE)) {
        segment->msn = faults->sends + 1;
        faults->sends += segment->last;
    }
    if (stream_behaves(stream, DEFECT_SENDS_JOINED)) {
        segment->mo += stream->send_joined;
        if (segment->last && next != NULL && next->kind == IWARP_WORK_SEND) {
            stream->send_joined = segment->mo + segment->payload_octets;
            segment->last = false;
        } else if (segment->last) {
            stream->send_joined = 0;
        }
    }
}

size_t defect_read_request(const struct iwarp_stream *stream, uint8_t *header)
{
    const struct send_work *next = ring_at(&stream->work, stream->work_sent + 1);

    if (!stream_behaves(stream, DEFECT_READ_REQUEST_SECOND) || next == NULL || next->kind != IWARP_WORK_READ)
        return READ_REQUEST_OCTETS;
    octets_put32(header + READ_REQUEST_OCTETS, next->stag);
    octets_put64(header + READ_REQUEST_OCTETS + LENGTH_WORD, next->to);
    return READ_REQUEST_OCTETS + READ_SOURCE_OCTETS;
}

static size_t insert(uint8_t *ulpdu, size_t octets, size_t at, uint32_t word)
{
    memmove(ulpdu + at + LENGTH_WORD, ulpdu + at, octets - at);
    octets_put32(ulpdu + at, word);
    return octets + LENGTH_WORD;
}

size_t defect_ulpdu(const struct defect_set *set, uint8_t *ulpdu, size_t octets)
{
    uint8_t opcode = ulpdu[1] & 0xF;
    bool tagged = ddp_tagged_get_T(ulpdu);

    if (defect_behaves(set, DEFECT_SEND_LENGTH_WORD) && rdmap_is_send(opcode) && !tagged &&
        ddp_untagged_get_MO(ulpdu) == 0)
        octets = insert(ulpdu, octets, DDP_UNTAGGED_OCTETS, (uint32_t)(octets - DDP_UNTAGGED_OCTETS));
    if (defect_behaves(set, DEFECT_READ_REQUEST_PADDED) && opcode == RDMAP_READ_REQUEST)
        octets = insert(ulpdu, octets, octets, 0);
    if (defect_behaves(set, DEFECT_TAGGED_HEADER_LONG) && tagged)
        octets = insert(ulpdu, octets, 2, 0);
    if (defect_behaves(set, DEFECT_CONTROL_LATER) && !tagged) {
        ulpdu[2] = ulpdu[1];
        ulpdu[1] = 0;
    }
    if (defect_behaves(set, DEFECT_CONTROLS_SWAPPED)) {
        uint8_t control = ulpdu[0];

        ulpdu[0] = ulpdu[1];
        ulpdu[1] = control;
    }
    return octets;
}
