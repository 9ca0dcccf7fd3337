/* SPDX-License-Identifier: BSD-2-Clause */
/* What faults and variants make of the numbers and decisions of SCTP (sctp/sctp_faults.h). */
#include "reference-stack/defects/defect_sctp_seams.h"

static bool behaves(const struct iwarp_association *association, enum defect_behaviour behaviour)
{
    return defect_behaves(association_set(association), behaviour);
}

/* The one of the message in hand is kept for what it takes to hold it. */
static uint64_t ahead_of(const struct sctp_session *session, int own)
{
    int ahead = defect_sctp_ssn_ahead(session, own);

    association_state(session->association)->ahead = own;
    return (uint64_t)(int64_t)ahead;
}

static uint64_t number(const struct iwarp_association *association, struct sctp_session *session, enum sctp_number what,
                       uint64_t own)
{
    switch (what) {
    case SCTP_MODE: return defect_sctp_mode(association, (enum iwarp_sctp_mode)own);
    case SCTP_PAIRS: return defect_sctp_streams(association, (uint16_t)own);
    case SCTP_OWN_SID: return (uint64_t)(int64_t)defect_sctp_own_sid(association, (int)(int64_t)own);
    case SCTP_FIRST_SSN: return defect_sctp_first_ssn(session);
    case SCTP_NEXT_SSN: return defect_sctp_next_ssn(session);
    case SCTP_OUTSTANDING: return defect_sctp_outstanding_max(session);
    case SCTP_AHEAD: return ahead_of(session, (int)(int64_t)own);
    case SCTP_HELD_OCTETS: return defect_sctp_held_room(session, (size_t)own);
    case SCTP_ANSWER_CODE: return defect_sctp_answer_code(session, (uint8_t)own);
    case SCTP_REFUSAL_CODE: return defect_sctp_refusal(session);
    case SCTP_ACCEPT_POLICY: return defect_sctp_accept_policy(session);
    case SCTP_PRIVATE_DATA: return defect_sctp_private_data(session, (size_t)own);
    case SCTP_DOMAIN: return defect_sctp_domain(session, (uint32_t)own);
    default: return own;
    }
}

static bool decide_of_session(struct sctp_session *session, enum sctp_decision what,
                              const struct ddp_sctp_message *about, bool own)
{
    const struct iwarp_association *association = session->association;

    switch (what) {
    case SCTP_DOWN_REPORTED: return own && !defect_sctp_down_untold(session);
    case SCTP_ERROR_SPREADS: return own || defect_sctp_error_spreads(session, about);
    case SCTP_SACK_SUFFICES: return own || behaves(association, DEFECT_SCTP_SEGMENTS_AFTER_SACK);
    case SCTP_CONTROL_WAITS: return own && !behaves(association, DEFECT_SCTP_CONTROL_OVERTAKES);
    case SCTP_SEGMENTS_ALLOWED: return own || behaves(association, DEFECT_SCTP_SEGMENTS_AT_ONCE);
    case SCTP_SID_FREE: return own || defect_sctp_sid_taken(session);
    case SCTP_CLOSES: return own && defect_sctp_closes(session);
    case SCTP_TERMINATE_WAITS: return own || defect_sctp_terminate_waits(session);
    case SCTP_OWES_TERMINATE: return defect_sctp_owes_terminate(session, own);
    case SCTP_REQUEST_FULL: return defect_sctp_request_full(session, own);
    case SCTP_REQUEST_DECIDED: return own && !defect_sctp_pending_kept(session);
    case SCTP_HELD_KEPT: return own || defect_sctp_held_kept(session);
    case SCTP_CONTROL_REPORTED: return own && !behaves(association, DEFECT_SCTP_CONTROL_UNTOLD);
    case SCTP_CONTROL_OBEYED: return own && !defect_sctp_control_lost(session, about);
    case SCTP_SHORTENED: return own && defect_sctp_shortened(session);
    case SCTP_ABORTED_DROPS: return own && !defect_sctp_aborted_taken(session);
    case SCTP_RESET_OBEYED: return own && defect_sctp_reset_obeyed(session);
    default: return own;
    }
}

static bool decide(struct iwarp_association *association, struct sctp_session *session, enum sctp_decision what,
                   const struct ddp_sctp_message *about, bool own)
{
    switch (what) {
    case SCTP_ABORTS: return own && !defect_sctp_abort_reported(association);
    case SCTP_SHUTS_DOWN: return own || behaves(association, DEFECT_SCTP_LAST_SHUTS_DOWN);
    case SCTP_SORTED: return own && !variant_sctp_sorting(session, about) && !state_sctp_sorting(session, about);
    default: return decide_of_session(session, what, about, own);
    }
}

static void init(const struct iwarp_association *association, struct iwarp_sctp_init *said, bool own)
{
    if (own)
        defect_sctp_init(association, said);
    else
        defect_sctp_peer_init(association, said);
}

const struct sctp_fault_ops defect_sctp_ops = {
    .number = number,
    .decide = decide,
    .init = init,
    .message = defect_sctp_message,
    .output = defect_sctp_output,
};
