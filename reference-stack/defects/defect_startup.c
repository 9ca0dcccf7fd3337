/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of start-up: what the frames say, what is taken from them, what both sides then have agreed on. */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"
#include "wire/depth.h"

static uint16_t least(unsigned a, unsigned b)
{
    return (uint16_t)(a < b ? a : b);
}

/* --- Depths and RTR ---------------------------------------------------------------------------------------------- */

/* The depths of the device's first Request for all. */
static void keep_depths(struct iwarp_stream *stream)
{
    struct defect_first *first = &device_state(stream->device)->first;

    if (first->depths) {
        stream->config.ird = stream->ird = (uint16_t)first->ird;
        stream->config.ord = stream->ord = (uint16_t)first->ord;
    }
    first->ird = stream->config.ird;
    first->ord = stream->config.ord;
    first->depths = 1;
}

void hook_request_offer(struct iwarp_stream *stream, struct negotiation_offer *own)
{
    if (stream_behaves(stream, DEFECT_DEPTHS_KEPT)) {
        keep_depths(stream);
        own->ird = stream->config.ird;
        own->ord = stream->config.ord;
    }
    if (stream_behaves(stream, DEFECT_P2P_ALWAYS))
        own->peer_to_peer = true;
    if (own->peer_to_peer || stream_behaves(stream, DEFECT_RTR_FLAGS_ALWAYS))
        own->rtr = stream->config.rtr & IWARP_RTR_ALL;
}

void hook_answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    unsigned limit = stream->device->config.ird_max;

    if (stream_behaves(stream, DEFECT_DEPTHS_NOT_CROSSED)) {
        stream->reply_ird = least(peer->ird, limit);
        stream->reply_ord = least(stream->ord, peer->ord);
    }
    if (stream_behaves(stream, DEFECT_DEPTHS_OWN)) {
        stream->reply_ird = stream->ird;
        stream->reply_ord = stream->ord;
    }
    if (stream_behaves(stream, DEFECT_DEPTH_3FFF_NUMBER)) {
        stream->reply_ird = least(peer->ord, limit);
        stream->reply_ord = least(stream->ord, peer->ird);
    }
    variant_answer_depths(stream, peer);
}

void hook_private_made(const struct iwarp_stream *stream, struct mpa_start *start)
{
    const uint16_t room = MPA_PRIVATE_DATA_MAX - MPA_ENHANCED_OCTETS;

    if (start->enhanced && start->private_octets > room && stream_behaves(stream, DEFECT_PRIVATE_509_CUT))
        start->private_octets = room;
}

void hook_answer_rtr(struct iwarp_stream *stream, unsigned common)
{
    bool several = (common & (common - 1)) != 0;

    if (stream_behaves(stream, DEFECT_RTR_NONE_CONFIRMED) ||
        stream_behaves(stream, several ? DEFECT_RTR_TWO_CONFLICT : DEFECT_RTR_MATCH_MORE_THAN_ONE))
        stream->rtr_agreed = 0;
    if (stream_behaves(stream, DEFECT_RTR_ALL_CONFIRMED))
        stream->rtr_agreed = stream->config.rtr;
    if (stream_behaves(stream, DEFECT_RTR_ONE_CONFIRMED))
        stream->rtr_agreed &= 0 - stream->rtr_agreed;
    if (common != 0 && stream_behaves(stream, DEFECT_RTR_EXTRA_REFUSED))
        stream->rtr_agreed |= IWARP_RTR_SEND;
}

void hook_depths_adopted(struct iwarp_stream *stream)
{
    const struct iwarp_stream_config *config = &stream->config;
    const struct iwarp_device_config *device = &stream->device->config;

    if (stream_behaves(stream, DEFECT_ORD_NOT_APPLIED) ||
        (stream->ord == 0 && stream_behaves(stream, DEFECT_ORD_ZERO_UNSET)))
        stream->ord = config->ord == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ord_max : config->ord;
    if (config->role == IWARP_INITIATOR && stream_behaves(stream, DEFECT_IRD_NOT_RAISED))
        stream->ird = config->ird == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ird_max : config->ird;
}

/* The RTR message after whatever the ULP has posted. */
static void rtr_last(struct iwarp_stream *stream, enum iwarp_rtr kind)
{
    struct send_work *last;
    struct send_work rtr;

    if (transmit_rtr(stream, kind) != 0)
        return;
    rtr = *(struct send_work *)ring_at(&stream->work, 0);
    for (size_t i = 1; i < stream->work.count; i++)
        *(struct send_work *)ring_at(&stream->work, i - 1) = *(struct send_work *)ring_at(&stream->work, i);
    last = ring_at(&stream->work, stream->work.count - 1);
    *last = rtr;
}

bool hook_rtr(struct iwarp_stream *stream, const struct negotiation_offer *peer, bool due)
{
    enum iwarp_rtr kind = negotiate_prefer(stream->rtr_agreed);

    if (!due) {
        if (peer->rtr != 0 && stream_behaves(stream, DEFECT_RTR_BY_FLAGS))
            (void)transmit_rtr(stream, negotiate_prefer(peer->rtr));
        return true;
    }
    if (stream_behaves(stream, DEFECT_RTR_NOT_SENT))
        return true;
    if (stream_behaves(stream, DEFECT_RTR_WRONG_KIND)) {
        (void)transmit_rtr(stream, kind == IWARP_RTR_WRITE ? IWARP_RTR_READ : IWARP_RTR_WRITE);
        return true;
    }
    if (stream_behaves(stream, DEFECT_RTR_BEHIND_WORK)) {
        rtr_last(stream, kind);
        return true;
    }
    (void)transmit_rtr(stream, variant_rtr(stream, kind));
    return true;
}

/* --- MPA's frames ------------------------------------------------------------------------------------------------ */

void hook_startup_begins(struct iwarp_stream *stream)
{
    struct defect_first *first = &device_state(stream->device)->first;

    variant_startup_begins(stream);
    if (stream_behaves(stream, DEFECT_EMSS_OF_FIRST)) {
        if (first->emss != 0)
            mpa_of(stream)->emss = first->emss;
        first->emss = mpa_of(stream)->emss;
    }
    if (stream->config.role == IWARP_RESPONDER && stream_behaves(stream, DEFECT_OPERATION_AT_ONCE)) {
        stream->state = IWARP_STATE_OPERATION;
        stream->segments_allowed = true;
        startup_established(stream);
    }
    if (stream->config.role == IWARP_INITIATOR && stream_behaves(stream, DEFECT_INITIATOR_SENDS_EARLY)) {
        stream->segments_allowed = true;
        (void)transmit_rtr(stream, IWARP_RTR_WRITE);
    }
}

void hook_start_parsed(const struct iwarp_stream *stream, struct mpa_start *start)
{
    if (start->revision == MPA_REV_2 && stream_behaves(stream, DEFECT_WORD_BY_REVISION))
        start->enhanced = true;
}

/* Flags for RTR messages without the model that has them (RFC 6581 9.2). */
static bool start_flags_stray(const struct mpa_start *start, size_t count)
{
    return start->enhanced && count >= MPA_START_OCTETS + MPA_ENHANCED_OCTETS && !start->peer_to_peer &&
           (start->rtr_send || start->rtr_write || start->rtr_read);
}

bool hook_start_whole(const struct iwarp_stream *stream, size_t count, size_t whole)
{
    if (count >= MPA_KEY_OCTETS && stream_behaves(stream, DEFECT_KEY_ENOUGH))
        return true;
    if (whole == MPA_START_OCTETS && mpa_of(stream)->peer.enhanced && stream_behaves(stream, DEFECT_WORD_AWAITED))
        return false;
    if (start_flags_stray(&mpa_of(stream)->peer, count) && stream_behaves(stream, DEFECT_WORD_FLAGS_AWAIT))
        return false;
    return count >= whole &&
           !(whole < MPA_START_OCTETS + MPA_ENHANCED_OCTETS && stream_behaves(stream, DEFECT_PRIVATE_AWAITED));
}

bool hook_excess_dropped(const struct iwarp_stream *stream)
{
    return stream_behaves(stream, DEFECT_EXCESS_DISCARDED) || stream_behaves(stream, DEFECT_PRIVATE_BESIDE_WORD);
}

bool hook_rejected(const struct iwarp_stream *stream)
{
    return stream_behaves(stream, DEFECT_REJECT_IGNORED);
}

/* Markers and CRC, from what both frames say. */
static void agree_otherwise(const struct iwarp_stream *stream, struct mpa *mpa)
{
    const struct iwarp_stream_config *own = &stream->config;

    if (stream_behaves(stream, DEFECT_MARKERS_BOTH_WAYS))
        mpa->send_markers = mpa->receive_markers = own->markers || mpa->peer.markers;
    if (stream_behaves(stream, DEFECT_MARKERS_IF_BOTH))
        mpa->send_markers = own->markers && mpa->peer.markers;
    if (stream_behaves(stream, DEFECT_MARKERS_OWN_BIT))
        mpa->send_markers = own->markers;
    if (stream_behaves(stream, DEFECT_CRC_AND))
        mpa->crc = own->crc && mpa->peer.crc;
    if (stream_behaves(stream, DEFECT_CRC_OWN_BIT))
        mpa->crc = own->crc;
    if (stream_behaves(stream, DEFECT_CRC_ALWAYS))
        mpa->crc = true;
}

static bool rdmac(const struct iwarp_stream *stream)
{
    return mpa_of(stream)->peer.revision == MPA_REV_RDMAC && stream->config.rdmac;
}

void hook_agreed(struct iwarp_stream *stream)
{
    struct mpa *mpa = mpa_of(stream);

    if (rdmac(stream)) {
        if (stream_behaves(stream, DEFECT_RDMAC_VERSION_1))
            stream->version = DDP_VERSION;
        if (stream_behaves(stream, DEFECT_RDMAC_OWN_M))
            mpa->receive_markers = stream->config.markers;
        if (stream_behaves(stream, DEFECT_RDMAC_OWN_C))
            mpa->crc = stream->config.crc;
    }
    agree_otherwise(stream, mpa);
    if (stream_behaves(stream, DEFECT_SEQSTART_AT_FRAME))
        mpa->receive_position = mpa->transmit_position = (uint32_t)mpa->start_count;
    if (stream_behaves(stream, DEFECT_MARKER_WITHOUT_PRIVATE))
        mpa->receive_position = mpa->peer.private_octets;
    if (stream->config.role == IWARP_INITIATOR && stream_behaves(stream, DEFECT_INITIATOR_WAITS))
        stream->segments_allowed = false;
    if (stream->state == IWARP_STATE_FENCED && stream_behaves(stream, DEFECT_RESPONDER_SENDS_FIRST)) {
        stream->segments_allowed = true;
        (void)transmit_rtr(stream, IWARP_RTR_WRITE);
    }
}

size_t hook_start_packed(struct iwarp_stream *stream, const struct mpa_start *start, uint8_t *octets, size_t count)
{
    if (start->kind == MPA_REPLY && rdmac(stream) && stream_behaves(stream, DEFECT_RDMAC_OWN_M))
        mpa_start_set_M(octets, stream->config.markers);
    variant_start_packed(stream, start, octets);
    count = defect_start_frame(stream_set(stream), stream_state(stream), start, octets, count);
    if (stream_behaves(stream, DEFECT_START_STRAY_OCTET))
        octets[count++] = 0;
    if (start->kind == MPA_REPLY && mpa_of(stream)->peer.markers && stream_behaves(stream, DEFECT_MARKER_WITH_REPLY)) {
        memset(octets + count, 0, MARKER_OCTETS);
        count += MARKER_OCTETS;
        mpa_of(stream)->transmit_position = MARKER_OCTETS;
    }
    return count;
}
