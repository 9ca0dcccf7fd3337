/* SPDX-License-Identifier: BSD-2-Clause */
/* Legal variants: in which order a message is cut, and segments that wait for a place (RFC 5041 5.3, 7.1). */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"

/* --- In falling order --------------------------------------------------------------------------------------------- */

/*
 * The one with L = 1 is the last that is sent. Of a tagged message it has the lowest TO; of an untagged one the highest
 * MO (RFC 5041 4.1): the segments before it change their order alone, which takes that all of them are of one size
 * (variant_segment_room()).
 */
void variant_work_backwards(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment)
{
    uint64_t step = segment->payload_octets, place;
    bool own;

    if ((work->kind != IWARP_WORK_SEND && work->kind != IWARP_WORK_WRITE) || step == work->count || step == 0 ||
        (segment->last && !segment->tagged) || !stream_behaves(stream, DEFECT_SEGMENTS_BACKWARDS))
        return;
    place = work->count - stream->outbound.work_offset - step;
    if (!segment->tagged)
        place = (work->count - 1) / step * step - stream->outbound.work_offset - step;
    if (!work_payload(stream, work, place, segment->payload_octets, &segment->payload, &own))
        return;
    if (segment->tagged)
        segment->to = work->to + place;
    else
        segment->mo = (uint32_t)place;
}

void variant_response_backwards(const struct iwarp_stream *stream, const struct inbound_request *request,
                                struct ddp_segment *segment)
{
    uint64_t place;

    if (request->is_atomic || segment->payload_octets == request->read.octets ||
        !stream_behaves(stream, DEFECT_SEGMENTS_BACKWARDS))
        return;
    place = request->read.octets - request->sent - segment->payload_octets;
    segment->payload += place;
    segment->payload -= request->sent;
    segment->to = request->read.sink_to + place;
}

/* --- Segments that wait ------------------------------------------------------------------------------------------- */

/* Is there a place for the message that this ULPDU begins? One that is begun has it. */
static bool has_place(const struct iwarp_stream *stream, const uint8_t *ulpdu, size_t count)
{
    uint32_t qn = count >= DDP_UNTAGGED_OCTETS && !ddp_tagged_get_T(ulpdu) ? ddp_untagged_get_QN(ulpdu) : UINT32_MAX;

    if (qn == DDP_QN_SEND && stream_behaves(stream, DEFECT_RECEIVES_AWAITED))
        return stream->inbound.receives.count != 0;
    if (qn == DDP_QN_READ_REQUEST && stream->agreed.ird != 0 && stream_behaves(stream, DEFECT_READ_PLACES_AWAITED))
        return stream->inbound.requests.count < stream->agreed.ird;
    return true;
}

bool variant_segment_waits(struct iwarp_stream *stream, const uint8_t *ulpdu, size_t count)
{
    struct defect_state *state = stream_state(stream);
    uint8_t *end;

    if (state->waiting_octets == 0 && has_place(stream, ulpdu, count))
        return false;
    if (defect_run_reserve(&state->waiting, state->waiting_octets + sizeof(count) + count) != 0)
        return false;
    end = state->waiting.octets + state->waiting_octets;
    memcpy(end, &count, sizeof(count));
    memcpy(end + sizeof(count), ulpdu, count);
    state->waiting_octets += sizeof(count) + count;
    return true;
}

void variant_segments_go_on(struct iwarp_stream *stream)
{
    struct defect_state *state = stream_state(stream);

    while (state->waiting_octets != 0 && !state->going_on) {
        size_t count;
        const uint8_t *ulpdu = state->waiting.octets + sizeof(count);

        memcpy(&count, state->waiting.octets, sizeof(count));
        if (!stream->end.dropping && !has_place(stream, ulpdu, count))
            return;
        state->going_on = true;
        if (!stream->end.dropping)
            deliver_ulpdu(stream, ulpdu, count);
        state->going_on = false;
        state->waiting_octets -= sizeof(count) + count;
        memmove(state->waiting.octets, ulpdu + count, state->waiting_octets);
    }
}
