/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of sessions over SCTP: what begins them, what belongs to them, and how they end (RFC 5043 2, 5, 6). */
#include "reference-stack/defects/defect_sctp_session.h"

#include <string.h>

#include "reference-stack/defects/defect_sctp_seams.h"

enum {
    PENDING_OF_ULP = 1000, /* a limit above it is that of a ULP that is not asked */
    OPCODE_TERMINATE = 7,
    OPCODE_SEND = 3,      /* the least of the Sends' opcodes, */
    OPCODE_SEND_LAST = 6, /* and the greatest */
    EMPTY_WRITE = 14,     /* octets of a tagged header, and of a Write without payload */
};

#define BUNDLING_DELAY UINT64_C(200000000) /* ns, as a timer of Nagle's kind has it */

static bool session_behaves(const struct sctp_session *session, enum defect_behaviour behaviour)
{
    return defect_behaves(association_set(session->association), behaviour);
}

/* --- What comes -------------------------------------------------------------------------------------------------- */

void defect_sctp_peer_init(const struct iwarp_association *association, struct iwarp_sctp_init *peer)
{
    if (!peer->has_indication && defect_behaves(association_set(association), DEFECT_SCTP_INDICATION_ASSUMED)) {
        peer->has_indication = true;
        peer->indication = association->config.indication;
    }
    association_state(association)->peer = *peer;
}

bool defect_sctp_control_lost(const struct sctp_session *session, const struct ddp_sctp_message *message)
{
    switch (message->code) {
    case DDP_SCTP_REJECT:
        return message->private_octets == 0 && session_behaves(session, DEFECT_SCTP_REJECT_EMPTY_LOST);
    case DDP_SCTP_TERMINATE:
        return message->private_octets != 0 && session_behaves(session, DEFECT_SCTP_TERMINATE_LONG_LOST);
    default: return false;
    }
}

/* Private Data that is too long may be the end of more than the session (5.2.3). */
bool defect_sctp_error_spreads(const struct sctp_session *session, const struct ddp_sctp_message *message)
{
    if (message != NULL && message->private_octets > DDP_SCTP_PRIVATE_DATA_MAX &&
        session_behaves(session, DEFECT_SCTP_PRIVATE_SPREADS))
        return true;
    return session_behaves(session, DEFECT_SCTP_ERROR_SPREADS);
}

/* --- What goes out ----------------------------------------------------------------------------------------------- */

bool defect_send_waits(struct iwarp_stream *stream)
{
    struct defect_state *state = stream_state(stream);
    uint32_t number;
    unsigned opcode;

    if (stream->llp != &sctp_llp || lower_of(stream)->session == NULL || !stream->outbound.piece.segment ||
        !stream_behaves(stream, DEFECT_SCTP_SENDS_DELAYED))
        return false;
    number = lower_of(stream)->session->ssn + 1u;
    opcode = stream->outbound.buffer[DDP_SCTP_SSN_OCTETS + 1] & 0x0F;
    if (opcode < OPCODE_SEND || opcode > OPCODE_SEND_LAST)
        return false;
    if (state->send_waits != number) {
        state->send_waits = number;
        state->send_due = stream->now + 1; /* work is posted without the time: it is asked for first */
        state->send_timed = false;
    } else if (!state->send_timed && stream->now >= state->send_due) {
        state->send_due = stream->now + BUNDLING_DELAY;
        state->send_timed = true;
    }
    if (state->send_timed && stream->now >= state->send_due)
        return false;
    defect_wake_at(stream, state->send_due);
    return true;
}

/* --- Requests ---------------------------------------------------------------------------------------------------- */

bool defect_sctp_shortened(struct sctp_session *session)
{
    size_t longest = segment_room(session->stream);

    /* What makes segments longer than they should be is a fault of its own. */
    if (session->stream->outbound.piece.octets <= longest + DEFECT_ROOM)
        return false;
    if (state_sctp_cut(session))
        return false;
    if (!session_behaves(session, DEFECT_SCTP_REFUSED_LOST)) {
        variant_backwards_shortened(session->stream, session->stream->outbound.piece.octets - longest);
        return true;
    }
    iwarp_stream_output_done(session->stream, SIZE_MAX, session->association->now);
    session_ready(session);
    return false;
}

size_t defect_sctp_held_room(const struct sctp_session *session, size_t octets)
{
    enum { ENTRY = 8 }; /* octets of one in an array of those that are missing */

    if (!session_behaves(session, DEFECT_SCTP_ROOM_BY_SSN))
        return octets;
    return octets + ENTRY * (size_t)(uint16_t)association_state(session->association)->ahead;
}

uint32_t defect_sctp_domain(const struct sctp_session *session, uint32_t domain)
{
    struct sctp_faults *faults = association_state(session->association);

    if (!faults->pd_known)
        faults->pd = domain;
    faults->pd_known = true;
    domain = state_sctp_attached(session, domain);
    return session_behaves(session, DEFECT_SCTP_ONE_DOMAIN) ? faults->pd : domain;
}

/* The request that has waited on the lowest SID is ended. */
static void evict(const struct iwarp_association *association)
{
    for (unsigned sid = 0; sid < association->streams; sid++) {
        struct sctp_session *session = association->sessions[sid];

        if (session == NULL || !session->pending)
            continue;
        session_over(session);
        return;
    }
}

bool defect_sctp_request_full(const struct sctp_session *session, bool full)
{
    const struct iwarp_association *association = session->association;

    if (session_behaves(session, DEFECT_SCTP_PENDING_NONE) && association->config.pending_max < PENDING_OF_ULP)
        return true;
    if (full && session_behaves(session, DEFECT_SCTP_OVERLOAD_EVICTS)) {
        evict(association);
        return false;
    }
    return full && !session_behaves(session, DEFECT_SCTP_PENDING_UNLIMITED);
}

/* --- The end ----------------------------------------------------------------------------------------------------- */

bool defect_sctp_owes_terminate(const struct sctp_session *session, bool owes)
{
    const struct iwarp_stream *stream = session->stream;

    state_sctp_detached(session);
    return owes || (stream != NULL && session->state == SESSION_CLOSING && stream->state == IWARP_STATE_EXITED &&
                    !stream->established && session_behaves(session, DEFECT_SCTP_REJECT_TERMINATE));
}

void defect_terminate_first(const struct sctp_session *session, const struct iwarp_sctp_output *output, uint8_t *octets)
{
    struct sctp_faults *faults = association_state(session->association);
    uint16_t ssn = (uint16_t)ddp_sctp_segment_get_SSN(octets);

    if (is_draft(session->association) || !session_behaves(session, DEFECT_SCTP_TERMINATE_FIRST))
        return;
    if (!output->control && (octets[DDP_SCTP_SSN_OCTETS + 1] & 0x0F) == OPCODE_TERMINATE) {
        ddp_sctp_segment_set_SSN(octets, (uint16_t)(ssn + 1));
        faults->swapped = true;
        faults->swapped_sid = session->sid;
    } else if (output->control && faults->swapped && faults->swapped_sid == session->sid) {
        ddp_sctp_segment_set_SSN(octets, (uint16_t)(ssn - 1));
        faults->swapped = false;
    }
}

bool defect_sctp_speaks_after_end(struct sctp_session *session, struct iwarp_sctp_output *output)
{
    static const uint8_t write[EMPTY_WRITE] = {0xC1, 0x40};
    struct iwarp_association *association = session->association;
    uint8_t *octets = association_state(association)->after_end;

    /* A session that was accepted has had two messages at least: what answered its Initiate, and the Terminate. */
    if (association_state(association)->again || session->stream != NULL || session->state != SESSION_DRAINING ||
        !session->own_end || session->control != 0 || session->ssn < 2 || is_draft(association) ||
        !session_behaves(session, DEFECT_SCTP_SEGMENT_AFTER_END))
        return false;
    association_state(association)->again = true;
    association->sending_control = true;
    ddp_sctp_segment_set_SSN(octets, session->ssn);
    memcpy(octets + DDP_SCTP_SSN_OCTETS, write, sizeof(write));
    output->ppid = DDP_SCTP_PPID_SEGMENT;
    output->octets = DDP_SCTP_SSN_OCTETS + sizeof(write);
    output->spans[output->span_count++] = (struct iwarp_span){octets, output->octets};
    return true;
}
