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
        stream->config.ird = stream->agreed.ird = (uint16_t)first->ird;
        stream->config.ord = stream->agreed.ord = (uint16_t)first->ord;
    }
    first->ird = stream->config.ird;
    first->ord = stream->config.ord;
    first->depths = 1;
}

static void request_offer(struct iwarp_stream *stream, struct negotiation_offer *own)
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

static void answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    unsigned limit = stream->device->config.ird_max;

    if (stream_behaves(stream, DEFECT_DEPTHS_NOT_CROSSED)) {
        stream->agreed.reply_ird = least(peer->ird, limit);
        stream->agreed.reply_ord = least(stream->agreed.ord, peer->ord);
    }
    if (stream_behaves(stream, DEFECT_DEPTHS_OWN)) {
        stream->agreed.reply_ird = stream->agreed.ird;
        stream->agreed.reply_ord = stream->agreed.ord;
    }
    if (stream_behaves(stream, DEFECT_DEPTH_3FFF_NUMBER)) {
        stream->agreed.reply_ird = least(peer->ord, limit);
        stream->agreed.reply_ord = least(stream->agreed.ord, peer->ird);
    }
    state_sctp_answer_depths(stream, peer);
    variant_answer_depths(stream, peer);
}

static void answer_rtr(struct iwarp_stream *stream, unsigned common)
{
    bool several = (common & (common - 1)) != 0;

    if (stream_behaves(stream, DEFECT_RTR_NONE_CONFIRMED) ||
        stream_behaves(stream, several ? DEFECT_RTR_TWO_CONFLICT : DEFECT_RTR_MATCH_MORE_THAN_ONE))
        stream->agreed.terms.rtr = 0;
    if (stream_behaves(stream, DEFECT_RTR_ALL_CONFIRMED))
        stream->agreed.terms.rtr = stream->config.rtr;
    if (stream_behaves(stream, DEFECT_RTR_ONE_CONFIRMED))
        stream->agreed.terms.rtr &= 0 - stream->agreed.terms.rtr;
    if (common != 0 && stream_behaves(stream, DEFECT_RTR_EXTRA_REFUSED))
        stream->agreed.terms.rtr |= IWARP_RTR_SEND;
}

static void depths_adopted(struct iwarp_stream *stream)
{
    const struct iwarp_stream_config *config = &stream->config;
    const struct iwarp_device_config *device = &stream->device->config;

    if (stream_behaves(stream, DEFECT_ORD_NOT_APPLIED) ||
        (stream->agreed.ord == 0 && stream_behaves(stream, DEFECT_ORD_ZERO_UNSET)))
        stream->agreed.ord = config->ord == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ord_max : config->ord;
    if (config->role == IWARP_INITIATOR && stream_behaves(stream, DEFECT_IRD_NOT_RAISED))
        stream->agreed.ird = config->ird == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ird_max : config->ird;
    state_sctp_depths(stream);
    state_stream_depths(stream);
}

/* Sends the RTR message after all work that the ULP has posted. */
static void rtr_last(struct iwarp_stream *stream, enum iwarp_rtr kind)
{
    struct send_work *last;
    struct send_work rtr;

    if (transmit_rtr(stream, kind) != 0)
        return;
    rtr = *(struct send_work *)ring_at(&stream->outbound.work, 0);
    for (size_t i = 1; i < stream->outbound.work.count; i++)
        *(struct send_work *)ring_at(&stream->outbound.work, i - 1) =
            *(struct send_work *)ring_at(&stream->outbound.work, i);
    last = ring_at(&stream->outbound.work, stream->outbound.work.count - 1);
    *last = rtr;
}

enum iwarp_rtr defect_rtr(const struct iwarp_stream *stream, enum iwarp_rtr kind)
{
    struct defect_state *state = stream_state(stream);

    if (kind == 0)
        return state->peer_rtr != 0 && stream_behaves(stream, DEFECT_RTR_BY_FLAGS) ? negotiate_prefer(state->peer_rtr)
                                                                                   : kind;
    if (stream_behaves(stream, DEFECT_RTR_NOT_SENT) || (kind == IWARP_RTR_READ && state_message_rtr(stream)))
        return 0;
    if (stream_behaves(stream, DEFECT_RTR_WRONG_KIND))
        return kind == IWARP_RTR_WRITE ? IWARP_RTR_READ : IWARP_RTR_WRITE;
    if (!stream_behaves(stream, DEFECT_RTR_BEHIND_WORK))
        return variant_rtr(stream, kind);
    state->rtr_last = kind;
    return 0;
}

/* --- MPA's frames ------------------------------------------------------------------------------------------------ */

void defect_startup_begins(struct iwarp_stream *stream)
{
    struct defect_first *first = &device_state(stream->device)->first;

    if (stream->llp != &mpa_llp)
        return;
    variant_startup_begins(stream);
    if (stream_behaves(stream, DEFECT_EMSS_OF_FIRST)) {
        if (first->emss != 0)
            stream->config.emss = first->emss;
        first->emss = stream->config.emss != 0 ? stream->config.emss : MPA_EMSS_DEFAULT;
    }
    if (stream->config.role == IWARP_INITIATOR && stream_behaves(stream, DEFECT_INITIATOR_SENDS_EARLY)) {
        stream->outbound.segments_allowed = true;
        (void)transmit_rtr(stream, IWARP_RTR_WRITE);
    }
}

/* What begins once the connection is there. */
void defect_startup_output(struct iwarp_stream *stream)
{
    struct defect_state *state = stream_state(stream);

    if (state->rtr_last != 0)
        rtr_last(stream, state->rtr_last);
    state->rtr_last = 0;
    if (stream->config.role != IWARP_RESPONDER || stream->state != IWARP_STATE_STARTUP || stream->llp != &mpa_llp ||
        stream->end.dropping || !stream_behaves(stream, DEFECT_OPERATION_AT_ONCE))
        return;
    stream->state = IWARP_STATE_OPERATION;
    stream->outbound.segments_allowed = true;
    startup_established(stream);
}

/* Flags for RTR messages without the model that has them (RFC 6581 9.2). */
static bool start_flags_stray(const struct iwarp_mpa_start *start, size_t count)
{
    return start->enhanced && count >= MPA_START_OCTETS + MPA_ENHANCED_OCTETS && !start->peer_to_peer &&
           (start->rtr_send || start->rtr_write || start->rtr_read);
}

bool defect_start_whole(const struct iwarp_stream *stream, bool is_whole)
{
    const struct mpa *mpa = mpa_of(stream);
    size_t count = mpa->start_count;
    size_t whole = MPA_START_OCTETS + (count < MPA_START_OCTETS ? 0 : mpa->peer.private_octets);

    if (count >= MPA_KEY_OCTETS && stream_behaves(stream, DEFECT_KEY_ENOUGH))
        return true;
    if (whole == MPA_START_OCTETS && mpa_of(stream)->peer.enhanced && stream_behaves(stream, DEFECT_WORD_AWAITED))
        return false;
    if (start_flags_stray(&mpa_of(stream)->peer, count) && stream_behaves(stream, DEFECT_WORD_FLAGS_AWAIT))
        return false;
    return is_whole &&
           !(whole < MPA_START_OCTETS + MPA_ENHANCED_OCTETS && stream_behaves(stream, DEFECT_PRIVATE_AWAITED));
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

static void framing_adopted(struct iwarp_stream *stream)
{
    struct mpa *mpa = mpa_of(stream);

    if (rdmac(stream)) {
        if (stream_behaves(stream, DEFECT_RDMAC_VERSION_1))
            stream->agreed.terms.version = DDP_VERSION;
        if (stream_behaves(stream, DEFECT_RDMAC_OWN_M))
            mpa->receive_markers = stream->config.markers;
        if (stream_behaves(stream, DEFECT_RDMAC_OWN_C))
            mpa->crc = stream->config.crc;
    }
    agree_otherwise(stream, mpa);
    state_stream_framing(stream);
    if (stream_behaves(stream, DEFECT_SEQSTART_AT_FRAME))
        mpa->receive_position = mpa->transmit_position = (uint32_t)mpa->start_count;
    if (stream_behaves(stream, DEFECT_MARKER_WITHOUT_PRIVATE))
        mpa->receive_position = mpa->peer.private_octets;
    if (stream->config.role == IWARP_INITIATOR && stream_behaves(stream, DEFECT_INITIATOR_WAITS))
        stream->outbound.segments_allowed = false;
    if (stream->state == IWARP_STATE_FENCED && stream_behaves(stream, DEFECT_RESPONDER_SENDS_FIRST)) {
        stream->outbound.segments_allowed = true;
        (void)transmit_rtr(stream, IWARP_RTR_WRITE);
    }
}

/* --- What is agreed on ------------------------------------------------------------------------------------------- */

void seam_terms(struct iwarp_stream *stream, enum stream_terms what, struct negotiation_offer *own,
                const struct negotiation_offer *peer)
{
    switch (what) {
    case TERMS_REQUEST: request_offer(stream, own); break;
    case TERMS_ANSWER_DEPTHS: answer_depths(stream, peer); break;
    case TERMS_ANSWER_RTR: answer_rtr(stream, peer->rtr & stream->config.rtr); break;
    case TERMS_DEPTHS:
        if (peer != NULL)
            stream_state(stream)->peer_rtr = peer->rtr;
        depths_adopted(stream);
        break;
    case TERMS_FRAMING: framing_adopted(stream); break;
    default: break;
    }
}

size_t defect_start_packed(struct iwarp_stream *stream, const struct iwarp_mpa_start *start, size_t count)
{
    uint8_t *octets;

    if (piece_reserve(stream, MPA_START_MAX + DEFECT_ROOM) != 0)
        return count;
    octets = stream->outbound.buffer;
    if (start->kind == IWARP_MPA_REPLY && rdmac(stream) && stream_behaves(stream, DEFECT_RDMAC_OWN_M))
        mpa_start_set_M(octets, stream->config.markers);
    variant_start_packed(stream, start, octets);
    count = state_stream_start(stream, start, octets, count);
    count = defect_start_frame(stream_set(stream), stream_state(stream), start, octets, count);
    if (stream_behaves(stream, DEFECT_START_STRAY_OCTET))
        octets[count++] = 0;
    if (start->kind == IWARP_MPA_REPLY && mpa_of(stream)->peer.markers &&
        stream_behaves(stream, DEFECT_MARKER_WITH_REPLY)) {
        memset(octets + count, 0, MARKER_OCTETS);
        count += MARKER_OCTETS;
        mpa_of(stream)->transmit_position = MARKER_OCTETS;
    }
    return count;
}
