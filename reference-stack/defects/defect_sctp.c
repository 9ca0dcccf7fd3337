/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of associations and sessions over SCTP. Those of single fields are rows of the hook `transmit`. */
#include <string.h>

#include "reference-stack/defects/defect_sctp_seams.h"
#include "wire/sctp.h"

enum { PRIVATE_CUT = 256, LONG_SEGMENT = 64000, OTHER_PPID = 3, OUTSTANDING_FEW = 8 };

static bool association_behaves(const struct iwarp_association *association, enum defect_behaviour behaviour)
{
    return defect_behaves(association_set(association), behaviour);
}

static bool session_behaves(const struct sctp_session *session, enum defect_behaviour behaviour)
{
    return association_behaves(session->association, behaviour);
}

/* --- Association ------------------------------------------------------------------------------------------------- */

void defect_sctp_init(const struct iwarp_association *association, struct iwarp_sctp_init *init)
{
    if (association_behaves(association, DEFECT_SCTP_INDICATION_MISSING))
        init->has_indication = false;
    if (!init->has_indication && association_behaves(association, DEFECT_SCTP_INDICATION_ALWAYS)) {
        init->has_indication = true;
        init->indication = association->config.indication;
    }
    if (association_behaves(association, DEFECT_SCTP_INDICATION_OTHER))
        init->indication ^= DDP_SCTP_INDICATION_DDP | DDP_SCTP_INDICATION_DDP_RDMA;
    if (association_behaves(association, DEFECT_SCTP_INDICATION_SWAPPED))
        init->indication = __builtin_bswap32(init->indication);
    if (association_behaves(association, DEFECT_SCTP_STREAMS_UNEQUAL)) {
        init->outbound = 1;
        init->inbound = UINT16_MAX;
    }
}

enum iwarp_sctp_mode defect_sctp_mode(const struct iwarp_association *association, enum iwarp_sctp_mode mode)
{
    if (association_state(association)->peer.indication != association->config.indication &&
        association_behaves(association, DEFECT_SCTP_MODE_STRICT))
        return IWARP_SCTP_NOTHING;
    if (mode == IWARP_SCTP_DDP && association_behaves(association, DEFECT_SCTP_DDP_IGNORED))
        return IWARP_SCTP_NOTHING;
    return association_behaves(association, DEFECT_SCTP_MODE_ANY) ? IWARP_SCTP_RDMA : mode;
}

uint16_t defect_sctp_streams(const struct iwarp_association *association, uint16_t streams)
{
    const struct iwarp_sctp_init *peer = &association_state(association)->peer;
    uint16_t own = association->config.streams;

    if (peer->outbound != peer->inbound && association_behaves(association, DEFECT_SCTP_UNEQUAL_REFUSED))
        return 0;
    if (!association_behaves(association, DEFECT_SCTP_STREAMS_ONE_WAY))
        return streams;
    return own < peer->outbound ? own : peer->outbound;
}

bool defect_sctp_down_untold(const struct sctp_session *session)
{
    return session_behaves(session, DEFECT_SCTP_DOWN_UNTOLD) && session->association->attached != 1;
}

bool defect_sctp_abort_reported(struct iwarp_association *association)
{
    if (!association_behaves(association, DEFECT_SCTP_ABORT_TOLD))
        return false;
    association->closing = true;
    for (unsigned sid = 0; sid < association->streams; sid++)
        if (association->sessions[sid] != NULL && association->sessions[sid]->stream != NULL)
            (void)iwarp_stream_terminate(association->sessions[sid]->stream, TERM_RDMAP_CATASTROPHIC, association->now,
                                         NULL);
    return true;
}

/* --- Messages sent ----------------------------------------------------------------------------------------------- */

uint16_t defect_sctp_first_ssn(const struct sctp_session *session)
{
    const struct sctp_faults *faults = association_state(session->association);
    uint16_t ssn;

    if (state_sctp_first_ssn(session, &ssn))
        return ssn;
    if (faults->sent && faults->sid == session->sid && session_behaves(session, DEFECT_SCTP_SSN_CONTINUES))
        return faults->next;
    return session_behaves(session, DEFECT_SCTP_SSN_FIRST) ? !first_ssn(session->association)
                                                           : first_ssn(session->association);
}

uint16_t defect_sctp_next_ssn(const struct sctp_session *session)
{
    struct sctp_faults *faults = association_state(session->association);
    bool control =
        session->association->sending_control || (session->stream != NULL && !session->stream->outbound.piece.segment);

    faults->sent = true;
    faults->sid = session->sid;
    faults->next = (uint16_t)(session->ssn + 1);

    if (control && session_behaves(session, DEFECT_SCTP_CONTROL_UNCOUNTED))
        return session->ssn;
    if (session->ssn == UINT16_MAX && session_behaves(session, DEFECT_SCTP_SSN_WRAP))
        return 1;
    return state_sctp_next_ssn(session, (uint16_t)(session->ssn + 1));
}

uint32_t defect_sctp_outstanding_max(const struct sctp_session *session)
{
    if (session_behaves(session, DEFECT_SCTP_OUTSTANDING_1))
        return 1;
    if (session_behaves(session, DEFECT_SCTP_OUTSTANDING_8))
        return OUTSTANDING_FEW;
    return session_behaves(session, DEFECT_SCTP_OUTSTANDING_UNLIMITED) ? UINT32_MAX : OUTSTANDING_MAX;
}

/* What fills a packet: no room is left for a SACK. */
static size_t filling(const struct iwarp_stream *stream, size_t octets)
{
    const struct iwarp_association_config *config = &lower_of(stream)->session->association->config;
    size_t taken = config->network_octets + SCTP_COMMON_OCTETS + SCTP_DATA_OCTETS + DDP_SCTP_SSN_OCTETS;
    size_t most = config->mtu < taken ? 0 : (config->mtu - taken) & ~(size_t)1;

    return most > octets ? most : octets;
}

size_t defect_reported_max(const struct iwarp_stream *stream, size_t octets)
{
    return stream->llp == &sctp_llp && stream_behaves(stream, DEFECT_SCTP_TOLD_LESS) ? SEGMENT_LEAST : octets;
}

size_t defect_segment_max(const struct iwarp_stream *stream, size_t octets)
{
    if (stream_behaves(stream, DEFECT_SCTP_SEGMENT_LONG))
        return LONG_SEGMENT;
    if (stream_behaves(stream, DEFECT_SCTP_SEGMENTS_516))
        return SEGMENT_LEAST;
    if (stream_behaves(stream, DEFECT_SCTP_SEGMENTS_514))
        return SEGMENT_LEAST - DDP_SCTP_SSN_OCTETS;
    return stream_behaves(stream, DEFECT_SCTP_SEGMENT_FILLS) ? filling(stream, octets) : octets;
}

static uint32_t other_ppid(uint32_t ppid)
{
    switch (ppid) {
    case DDP_SCTP_PPID_SEGMENT: return DDP_SCTP_PPID_DRAFT_SEGMENT;
    case DDP_SCTP_PPID_CONTROL: return DDP_SCTP_PPID_DRAFT_CONTROL;
    case DDP_SCTP_PPID_DRAFT_CONTROL: return DDP_SCTP_PPID_CONTROL;
    default: return DDP_SCTP_PPID_SEGMENT;
    }
}

static void change_envelope(const struct sctp_session *session, struct iwarp_sctp_output *output)
{
    if (session_behaves(session, DEFECT_SCTP_ORDERED) ||
        (output->control && session_behaves(session, DEFECT_SCTP_CONTROL_ORDERED)))
        output->unordered = false;
    if (session_behaves(session, DEFECT_SCTP_PPID_SWAPPED))
        output->ppid = __builtin_bswap32(output->ppid);
    if (session_behaves(session, DEFECT_SCTP_PPID_OTHER))
        output->ppid = other_ppid(output->ppid);
    if (!output->control && session->ssn == 2 && session_behaves(session, DEFECT_SCTP_PPID_LATER))
        output->ppid = 0;
    if (output->control && is_draft(session->association) && session_behaves(session, DEFECT_SCTP_RESET_PPID))
        output->ppid = OTHER_PPID;
    if (session->stream != NULL && session->stream->config.role == IWARP_RESPONDER &&
        session_behaves(session, DEFECT_SCTP_ANSWER_SID_0))
        output->sid = 0;
    if (!output->control && session->ssn == 2 && session_behaves(session, DEFECT_SCTP_SEGMENT_ELSEWHERE))
        output->sid++;
}

/* A session control message: returns its new count. */
static size_t change_control(const struct sctp_session *session, uint8_t *octets, size_t count)
{
    uint32_t code = (uint32_t)ddp_sctp_control_get_Code(octets);
    size_t word = ddp_sctp_session_row(code)->has_word ? MPA_ENHANCED_OCTETS : 0;

    if (session_behaves(session, DEFECT_SCTP_PRIVATE_LOST) && count > DDP_SCTP_CONTROL_OCTETS + word)
        count = DDP_SCTP_CONTROL_OCTETS + word;
    if (word != 0 && session_behaves(session, DEFECT_SCTP_WORD_WITHOUT_ORD))
        mpa_enhanced_set_ORD(octets + DDP_SCTP_CONTROL_OCTETS, 0);
    if (word != 0 && session_behaves(session, DEFECT_SCTP_WORD_KINDS_SWAPPED)) {
        bool send = mpa_enhanced_get_B(octets + DDP_SCTP_CONTROL_OCTETS) != 0;

        mpa_enhanced_set_B(octets + DDP_SCTP_CONTROL_OCTETS, mpa_enhanced_get_D(octets + DDP_SCTP_CONTROL_OCTETS));
        mpa_enhanced_set_D(octets + DDP_SCTP_CONTROL_OCTETS, send);
    }
    if (word != 0 && session_behaves(session, DEFECT_SCTP_WORD_BEHIND)) {
        uint8_t kept[MPA_ENHANCED_OCTETS];
        size_t rest = count - DDP_SCTP_CONTROL_OCTETS - sizeof(kept);

        memcpy(kept, octets + DDP_SCTP_CONTROL_OCTETS, sizeof(kept));
        memmove(octets + DDP_SCTP_CONTROL_OCTETS, octets + DDP_SCTP_CONTROL_OCTETS + sizeof(kept), rest);
        memcpy(octets + DDP_SCTP_CONTROL_OCTETS + rest, kept, sizeof(kept));
    }
    if (count >= DDP_SCTP_CONTROL_MAX - MPA_ENHANCED_OCTETS && session_behaves(session, DEFECT_SCTP_PRIVATE_LONG)) {
        memset(octets + count, 0, MPA_ENHANCED_OCTETS);
        count += MPA_ENHANCED_OCTETS;
    }
    if (code == DDP_SCTP_TERMINATE && session_behaves(session, DEFECT_SCTP_TERMINATE_REASON)) {
        octets_put32(octets + count, 1);
        count += sizeof(uint32_t);
    }
    if (session_behaves(session, DEFECT_SCTP_CODE_32_BITS))
        octets_put32(octets, code);
    return count;
}

static size_t change_segment(const struct sctp_session *session, uint8_t *octets, size_t count)
{
    if (session_behaves(session, DEFECT_SCTP_SSN_BEHIND)) {
        uint8_t ssn[DDP_SCTP_SSN_OCTETS];

        memcpy(ssn, octets, sizeof(ssn));
        memmove(octets, octets + sizeof(ssn), count - sizeof(ssn));
        memcpy(octets + count - sizeof(ssn), ssn, sizeof(ssn));
    }
    if (session_behaves(session, DEFECT_SCTP_SEGMENT_PADDED)) {
        memmove(octets + 2 * DDP_SCTP_SSN_OCTETS, octets + DDP_SCTP_SSN_OCTETS, count - DDP_SCTP_SSN_OCTETS);
        memset(octets + DDP_SCTP_SSN_OCTETS, 0, DDP_SCTP_SSN_OCTETS);
        count += DDP_SCTP_SSN_OCTETS;
    }
    return count;
}

/* The message in a run of its own, where it can change. NULL: memory is short. */
static uint8_t *run_of(struct sctp_faults *faults, const struct iwarp_sctp_output *output)
{
    size_t at = 0;

    if (defect_run_reserve(&faults->run, output->octets + DDP_SCTP_PRIVATE_DATA_MAX + DEFECT_ROOM) != 0)
        return NULL;
    for (size_t i = 0; i < output->span_count; at += output->spans[i++].count)
        memcpy(faults->run.octets + at, output->spans[i].octets, output->spans[i].count);
    return faults->run.octets;
}

static void change_octets(struct sctp_session *session, struct iwarp_sctp_output *output, uint8_t *octets)
{
    struct iwarp_association *association = session->association;
    struct sctp_faults *faults = association_state(association);

    if (session_behaves(session, DEFECT_SCTP_SSN_SHARED) && !is_draft(association))
        ddp_sctp_segment_set_SSN(octets, faults->ssn++);
    defect_terminate_first(session, output, octets);
    if (output->control && is_draft(association)) {
        if (session_behaves(session, DEFECT_SCTP_RESET_LONG)) {
            octets_put32(octets + output->octets, 0);
            output->octets += sizeof(uint32_t);
        }
        defect_change_header(association_set(association), &faults->state, TARGET_SCTP_RESET, octets);
    } else if (output->control) {
        defect_change_header(association_set(association), &faults->state, TARGET_SCTP_CONTROL, octets);
        output->octets = change_control(session, octets, output->octets);
    } else {
        defect_change_header(association_set(association), &faults->state, TARGET_SCTP_SEGMENT, octets);
        output->octets = change_segment(session, octets, output->octets);
    }
    state_sctp_output(session, output, octets);
}

void defect_sctp_output(struct sctp_session *session, struct iwarp_sctp_output *output)
{
    struct iwarp_association *association = session->association;
    struct sctp_faults *faults = association_state(association);
    uint8_t *octets;

    if (output->octets == 0 && !defect_sctp_speaks_after_end(session, output))
        return;
    if (faults->changed && faults->message == association->counters.messages_sent && faults->octets == output->octets) {
        *output = faults->output; /* it was given before, and not taken */
        return;
    }
    faults->octets = output->octets;
    octets = run_of(faults, output);
    if (octets == NULL) {
        association->abort_wanted = true;
        return;
    }
    change_octets(session, output, octets);
    output->spans[0] = (struct iwarp_span){octets, output->octets};
    output->span_count = 1;
    output->ulp_span = IWARP_OUTPUT_SPANS;
    change_envelope(session, output);
    faults->output = *output;
    faults->message = association->counters.messages_sent;
    faults->changed = true;
}

/* --- Sessions ---------------------------------------------------------------------------------------------------- */

bool defect_sctp_sid_taken(const struct sctp_session *session)
{
    return session->state == SESSION_DRAINING && session_behaves(session, DEFECT_SCTP_SID_REUSED);
}

uint8_t defect_sctp_answer_code(const struct sctp_session *session, uint8_t code)
{
    const struct negotiation_offer *offer = &lower_of(session->stream)->offer;
    bool reject;

    code = state_sctp_answer_code(session, code);
    reject = code == DDP_SCTP_REJECT || code == DDP_SCTP_ENHANCED_REJECT;
    if (reject && session_behaves(session, DEFECT_SCTP_REJECT_TERMINATES))
        return DDP_SCTP_TERMINATE;
    if (code == DDP_SCTP_ENHANCED_ACCEPT && offer->peer_to_peer && (offer->rtr & session->stream->config.rtr) == 0 &&
        session_behaves(session, DEFECT_SCTP_RTR_REJECTS_PLAIN))
        return DDP_SCTP_REJECT;
    if (session_behaves(session, DEFECT_SCTP_ANSWER_PLAIN) && code >= DDP_SCTP_ENHANCED_ACCEPT)
        code = code == DDP_SCTP_ENHANCED_ACCEPT ? DDP_SCTP_ACCEPT : DDP_SCTP_REJECT;
    if (!session_behaves(session, DEFECT_SCTP_ANSWERS_SWAPPED))
        return code;
    switch (code) {
    case DDP_SCTP_ACCEPT: return DDP_SCTP_REJECT;
    case DDP_SCTP_REJECT: return DDP_SCTP_ACCEPT;
    case DDP_SCTP_ENHANCED_ACCEPT: return DDP_SCTP_ENHANCED_REJECT;
    default: return DDP_SCTP_ENHANCED_ACCEPT;
    }
}

enum iwarp_accept_policy defect_sctp_accept_policy(const struct sctp_session *session)
{
    return session_behaves(session, DEFECT_SCTP_ACCEPT_AT_ONCE) ? IWARP_ACCEPT : session->stream->config.accept;
}

bool defect_sctp_closes(const struct sctp_session *session)
{
    return !session_behaves(session, DEFECT_SCTP_CLOSE_SILENT) &&
           !(session->peer_end && session_behaves(session, DEFECT_SCTP_TERMINATE_UNANSWERED));
}

uint8_t defect_sctp_refusal(const struct sctp_session *session)
{
    state_sctp_refusal(session);
    if (session_behaves(session, DEFECT_SCTP_OVERLOAD_SILENT))
        return 0;
    if (!session_behaves(session, DEFECT_SCTP_OVERLOAD_REJECTS))
        return DDP_SCTP_TERMINATE;
    return session->initiate_code == DDP_SCTP_ENHANCED_INITIATE ? DDP_SCTP_ENHANCED_REJECT : DDP_SCTP_REJECT;
}

int defect_sctp_ssn_ahead(const struct sctp_session *session, int ahead)
{
    uint16_t ssn = (uint16_t)(session->expected + ahead);

    if (session->state == SESSION_INITIATED && ahead > 0 && session_behaves(session, DEFECT_SCTP_EARLY_LOST))
        return -1;
    if (session_behaves(session, DEFECT_SCTP_ORDER_ARRIVAL))
        return 0;
    if (session->ssn == 1 &&
        (is_draft(session->association) || (session->state == SESSION_OPEN && session->stream != NULL)) &&
        session_behaves(session, DEFECT_SCTP_FIRST_DROPPED))
        return -1;
    if (session_behaves(session, DEFECT_SCTP_SSN_UNSIGNED))
        return (int)ssn - (int)session->expected;
    return ahead < 0 && session_behaves(session, DEFECT_SCTP_DUPLICATE_TAKEN) ? 0 : ahead;
}

size_t defect_sctp_private_data(const struct sctp_session *session, size_t count)
{
    if (count > DDP_SCTP_PRIVATE_DATA_MAX)
        count = DDP_SCTP_PRIVATE_DATA_MAX; /* where the check is off, the ULP gets what it has room for */
    return count > PRIVATE_CUT && session_behaves(session, DEFECT_SCTP_PRIVATE_CUT) ? (size_t)PRIVATE_CUT : count;
}

/* The ULP makes a new stream of the SID, as if a Stream Reset had come; the DDP-SSNs go on. */
bool defect_sctp_aborted_taken(struct sctp_session *session)
{
    uint16_t expected = session->expected, ssn = session->ssn;

    if (!session_behaves(session, DEFECT_SCTP_ABORTED_TAKEN))
        return false;
    if (session->stream == NULL)
        draft_pend(session);
    else
        session_begin(session, SESSION_OPEN);
    session->expected = expected;
    session->ssn = ssn;
    return true;
}
