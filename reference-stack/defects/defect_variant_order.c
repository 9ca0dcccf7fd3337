/* SPDX-License-Identifier: BSD-2-Clause */
/* Legal variants: in which order a message is cut, and segments that wait for a place (RFC 5041 5.3, 7.1). */
#include <string.h>

#include "reference-stack/core/llp.h"
#include "reference-stack/defects/defect_stream.h"

/* --- In falling order --------------------------------------------------------------------------------------------- */

/*
 * The one with L = 1 is the last that is sent. Of a tagged message it has the lowest TO; of an untagged one the highest
 * MO (RFC 5041 4.1): the tail, which one segment holds when the message begins, keeps its place, and what is before it
 * changes its order alone.
 */
size_t variant_backwards_room(const struct iwarp_stream *stream, bool first, uint64_t left, size_t room)
{
    struct defect_state *state = stream_state(stream);

    if (!stream_behaves(stream, DEFECT_SEGMENTS_BACKWARDS) || left == 0 || room == 0)
        return room;
    if (first)
        state->backwards_tail = (left - 1) % room + 1;
    return left > state->backwards_tail && left - state->backwards_tail < room ? left - state->backwards_tail : room;
}

void variant_work_backwards(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment)
{
    uint64_t step = segment->payload_octets, left = work->count - stream->outbound.work_offset, place;
    uint64_t tail = segment->tagged ? 0 : stream_state(stream)->backwards_tail;
    bool own;

    if ((work->kind != IWARP_WORK_SEND && work->kind != IWARP_WORK_WRITE) || step == work->count || step == 0 ||
        left <= tail || !stream_behaves(stream, DEFECT_SEGMENTS_BACKWARDS))
        return;
    place = left - tail - step;
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

/*
 * The path takes `over` octets less than the piece has: of what goes backwards, those that come next in falling order are
 * left out. What the piece keeps is the end of its payload, where transmit_shorten() looks for its beginning.
 */
void variant_backwards_shortened(struct iwarp_stream *stream, size_t over)
{
    struct transmit_piece *piece = &stream->outbound.piece;
    uint8_t *header = (uint8_t *)(uintptr_t)piece->spans[0].octets + LLP_PREFIX_OCTETS;
    bool tagged = piece->segment && ddp_tagged_get_T(header);
    size_t before = LLP_PREFIX_OCTETS + (size_t)(tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS);

    if (!piece->segment || piece->terminate || piece->done != 0 || piece->octets <= before + over ||
        (!tagged && ddp_untagged_get_L(header)) || !stream_behaves(stream, DEFECT_SEGMENTS_BACKWARDS))
        return;
    if (tagged)
        ddp_tagged_set_TO(header, ddp_tagged_get_TO(header) + over);
    else
        ddp_untagged_set_MO(header, ddp_untagged_get_MO(header) + (uint32_t)over);
    if (piece->span_count > TRANSMIT_PAYLOAD)
        piece->spans[TRANSMIT_PAYLOAD].octets += over;
    else
        memmove(header - LLP_PREFIX_OCTETS + before, header - LLP_PREFIX_OCTETS + before + over,
                piece->octets - before - over);
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
