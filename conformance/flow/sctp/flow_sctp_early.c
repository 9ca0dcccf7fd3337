/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that were sent before the Initiate of their session could have been acknowledged (RFC 5043 6.6). */
#include "conformance/flow/sctp/flow_sctp_internal.h"

/* So many streams of an association are watched at once: each acknowledgment looks at them all. */
enum { EARLY_MAX = 64 };

void sctp_early_forget(struct sctp_stream *stream)
{
    if (!stream->early_pending)
        return;
    stream->early_pending = false;
    stream->association->early_pending--;
    DL_DELETE2(stream->association->early, stream, early_prev, early_next);
}

/*
 * The first segment of the active side: was it sent before its Initiate could have been acknowledged (RFC 5043 6.6)?
 * With it in one packet it was. Where nothing had acknowledged the Initiate when the segment was captured, the next
 * acknowledgment shows it.
 */
void sctp_early_watch(struct sctp_stream *stream, unsigned side, const struct sctp_message *message)
{
    struct flow_sctp_state *state = stream->flow->sctp;
    uint32_t initiate = state->opening_tsn[FLOW_FROM_INITIATOR];

    if (side != stream->swap || state->segments[FLOW_FROM_INITIATOR] != 0 || state->opening[FLOW_FROM_INITIATOR] == 0 ||
        state->chunks[FLOW_FROM_RESPONDER] != 0)
        return;
    if (message->frame == stream->initiate_frame || (int32_t)(message->tsn - initiate) < 0) {
        state->early_segment = message->frame;
    } else if ((!message->heard_known || (int32_t)(message->heard - initiate) < 0) &&
               stream->association->early_pending < EARLY_MAX) {
        stream->early_pending = true;
        stream->association->early_pending++;
        DL_APPEND2(stream->association->early, stream, early_prev, early_next);
        stream->early_tsn = message->tsn;
        stream->early_frame = message->frame;
        stream->early_acked_known = message->acked_known;
        stream->early_acked = message->acked;
    }
}

/* A SACK has this TSN in a block after its Cumulative TSN Ack. */
static bool sack_has(const struct sctp_chunk *sack, uint32_t cumulative, uint32_t tsn)
{
    size_t blocks = (size_t)sctp_sack_get_Gaps(sack->start);
    const uint8_t *block = sack->start + sctp_sack_layout.octets;

    for (; blocks > 0 && block + SCTP_GAP_BLOCK_OCTETS <= sack->start + sack->octets; blocks--) {
        uint32_t ahead = tsn - cumulative;

        if (ahead >= octets_get16(block) && ahead <= octets_get16(block + 2))
            return true;
        block += SCTP_GAP_BLOCK_OCTETS;
    }
    return false;
}

void sctp_early_acknowledged(struct sctp_association *association, unsigned side, uint32_t cumulative,
                             const struct sctp_chunk *sack)
{
    struct sctp_stream *stream, *next;

    DL_FOREACH_SAFE2(association->early, stream, next, early_next)
    {
        struct flow_sctp_state *state = stream->flow->sctp;
        bool before;

        if (stream->swap != side)
            continue;
        if ((int32_t)(cumulative - state->opening_tsn[FLOW_FROM_INITIATOR]) >= 0)
            before = (int32_t)(cumulative - stream->early_tsn) >= 0; /* one acknowledgment for both */
        else if (sack != NULL && sack_has(sack, cumulative, stream->early_tsn))
            before = true; /* the segment has come, and the Initiate has not */
        else
            continue;
        sctp_early_forget(stream);
        /* The answer may have been there first, whatever the capture's order is: its acknowledgment shows it. */
        if (state->opening[FLOW_FROM_RESPONDER] != 0 && stream->early_acked_known &&
            (int32_t)(stream->early_acked - state->opening_tsn[FLOW_FROM_RESPONDER]) >= 0)
            continue;
        if (before)
            state->early_segment = stream->early_frame;
    }
}
