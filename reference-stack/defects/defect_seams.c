/* SPDX-License-Identifier: BSD-2-Clause */
/* What faults and variants make of a stream's numbers and decisions (core/faults.h). */
#include "iwarp/instrument.h"
#include "reference-stack/defects/defect_stream.h"
#include "reference-stack/sctp/sctp.h"

static size_t ulpdu_max(const struct iwarp_stream *stream, size_t own)
{
    if (stream->llp == &mpa_llp)
        return defect_mulpdu(stream, own);
    return stream->llp == &sctp_llp && lower_of(stream)->session != NULL ? defect_segment_max(stream, own) : own;
}

static uint64_t msn_expected(const struct iwarp_stream *stream, uint32_t own)
{
    if (stream_behaves(stream, DEFECT_MSN_NOT_ADVANCED))
        return own - 1;
    own = state_message_msn(stream, own);
    return own == 0 && stream_behaves(stream, DEFECT_MSN_EXPECTED_1) ? DDP_FIRST_MSN : own;
}

static uint64_t deadline(const struct iwarp_stream *stream, uint64_t own)
{
    const struct defect_state *state = stream_state(stream);

    return state->wake_at > stream->now && state->wake_at < own ? state->wake_at : own;
}

static uint64_t llp_state(const struct iwarp_stream *stream, uint64_t own)
{
    bool graceful = stream->end.fin_received || stream->end.close_wanted;

    if (!stream_behaves(stream, DEFECT_ERROR_UNLABELLED))
        return own;
    return graceful ? IWARP_LLP_GRACEFUL : IWARP_LLP_OK;
}

uint64_t seam_number(const struct iwarp_stream *stream, enum stream_number what, uint64_t own)
{
    struct iwarp_stream *itself = (struct iwarp_stream *)(uintptr_t)stream;

    switch (what) {
    case NUMBER_SEGMENT_ROOM: return defect_segment_room(stream, (size_t)own);
    case NUMBER_ULPDU_MAX: return ulpdu_max(stream, (size_t)own);
    case NUMBER_ULPDU_REPORTED: return defect_reported_max(stream, (size_t)own);
    case NUMBER_POSTED_ULPDU: return defect_posted_ulpdu(stream, (size_t)own);
    case NUMBER_POSTED_MAX: return defect_posted_max(stream, (size_t)own);
    case NUMBER_EMSS: return defect_emss(itself, (size_t)own);
    case NUMBER_MSN_EXPECTED: return msn_expected(stream, (uint32_t)own);
    case NUMBER_RTR: return defect_rtr(stream, (enum iwarp_rtr)own);
    case NUMBER_DEADLINE: return deadline(stream, own);
    case NUMBER_LLP_STATE: return llp_state(stream, own);
    case NUMBER_SYSTEM_FAULTS: return stream_behaves(stream, DEFECT_FAULT_UNCOUNTED) ? 0 : own;
    case NUMBER_DELIVERED_STAG: return stream_behaves(stream, DEFECT_STAG_UNTOLD) ? 0 : own;
    default: return own;
    }
}

static bool decide_of_ulp(struct iwarp_stream *stream, enum stream_decision what, bool own)
{
    switch (what) {
    case DECIDE_EVENT: return defect_event_now(stream);
    case DECIDE_POSTABLE: return defect_postable(stream, own);
    case DECIDE_SEND_OPCODE: return own || stream_behaves(stream, DEFECT_OPCODE_UNCHECKED);
    case DECIDE_READ_SINK:
    case DECIDE_READ_DEPTH: return own || defect_read_unchecked(stream);
    case DECIDE_DOMAIN_KEPT: return own && !stream_behaves(stream, DEFECT_SCTP_DOMAIN_CHANGES);
    default: return own;
    }
}

bool seam_decide(struct iwarp_stream *stream, enum stream_decision what, bool own)
{
    switch (what) {
    case DECIDE_MESSAGE_ENDS: return defect_message_ends(stream, own);
    case DECIDE_SEND_DELIVERED: return own && defect_send_delivered(stream);
    case DECIDE_RECEIVE_USED: return own && defect_receive_used(stream);
    case DECIDE_INVALIDATED: return defect_invalidated(stream, own);
    case DECIDE_READ_COMPLETE: return defect_read_complete(stream, own);
    case DECIDE_TERMINATE_OBEYED: return own && !stream_behaves(stream, DEFECT_TERMINATE_PLACES_ON);
    case DECIDE_PIECE_NOW: return own && !variant_piece_waits(stream) && !defect_send_waits(stream);
    case DECIDE_TERMINATE_NOW: return own && !variant_terminate_waits(stream) && !defect_terminate_waits(stream);
    default: return decide_of_ulp(stream, what, own);
    }
}
