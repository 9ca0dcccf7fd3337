/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect_sctp_state.h"

#include <string.h>

#include "reference-stack/defects/defect_sctp_seams.h"

enum {
    SSN_OCTET = 255,
    OPCODE_MASK = 0x0F,
    OPCODE_TERMINATE = 7,
    CONTROL_AT = DDP_SCTP_SSN_OCTETS,
    MESSAGE_LEAST = 516,
    NO_PPID = 0x4E4F, /* of no protocol */
};

static bool session_behaves(const struct sctp_session *session, enum defect_behaviour behaviour)
{
    return defect_behaves(association_set(session->association), behaviour);
}

static struct sctp_left *left_of(const struct sctp_session *session)
{
    return &association_state(session->association)->left;
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

/* True: *ssn is not what a session begins with. */
bool state_sctp_first_ssn(const struct sctp_session *session, uint16_t *ssn)
{
    const struct sctp_faults *faults = association_state(session->association);

    if (!faults->sent || faults->sid == session->sid || !session_behaves(session, DEFECT_SCTP_SSN_OF_OTHER))
        return false;
    *ssn = faults->next;
    return true;
}

uint16_t state_sctp_next_ssn(const struct sctp_session *session, uint16_t next)
{
    return session->ssn == SSN_OCTET && session_behaves(session, DEFECT_SCTP_SSN_OCTET) ? 0 : next;
}

static void keep_msns(const struct sctp_session *session)
{
    struct sctp_left *left = left_of(session);

    for (size_t i = 0; i < DDP_QUEUES; i++) {
        left->msn[i][0] = session->stream->inbound.queues[i].msn_expected;
        left->msn[i][1] = session->stream->inbound.queues[i].msn_next;
    }
    left->msn_known = true;
    left->msn_sid = session->sid;
}

static void give_msns(const struct sctp_session *session)
{
    const struct sctp_left *left = left_of(session);

    if (!left->msn_known || left->msn_sid != session->sid)
        return;
    for (size_t i = 0; i < DDP_QUEUES; i++) {
        session->stream->inbound.queues[i].msn_expected = left->msn[i][0];
        session->stream->inbound.queues[i].msn_next = left->msn[i][1];
    }
}

static bool keeps_msns(const struct sctp_session *session)
{
    return session_behaves(session,
                           is_draft(session->association) ? DEFECT_SCTP_MSN_GOES_ON : DEFECT_SCTP_MSN_CONTINUES);
}

/* --- Private Data and kinds of session ---------------------------------------------------------------------------- */

/* An answer is in `octets`, with HOOK_ROOM after it: the end of a longer one is behind it. */
static void leave_private_data(const struct sctp_session *session, struct iwarp_sctp_output *output, uint8_t *octets)
{
    struct sctp_left *left = left_of(session);
    uint32_t code = (uint32_t)ddp_sctp_control_get_Code(octets);
    size_t count = output->octets - DDP_SCTP_CONTROL_OCTETS;

    if ((code != DDP_SCTP_ACCEPT && code != DDP_SCTP_REJECT && code != DDP_SCTP_INITIATE) || count > sizeof(left->said))
        return;
    if (count >= left->said_octets) {
        memcpy(left->said, octets + DDP_SCTP_CONTROL_OCTETS, count);
        left->said_octets = count;
    } else if (session_behaves(session, DEFECT_SCTP_PRIVATE_LEFT)) {
        memcpy(octets + DDP_SCTP_CONTROL_OCTETS + count, left->said + count, left->said_octets - count);
        output->octets += left->said_octets - count;
    }
}

/* An event that has the peer's message. */
void state_sctp_reported(const struct iwarp_stream *stream, struct iwarp_mpa_start *start)
{
    struct sctp_left *left;
    uint8_t *octets;
    size_t count = start->private_octets;

    if (stream->llp != &sctp_llp || lower_of(stream)->session == NULL)
        return;
    left = left_of(lower_of(stream)->session);
    octets = lower_of(stream)->private_data;
    if (count >= left->reported_octets) {
        memcpy(left->reported, octets, count);
        left->reported_octets = count;
    } else if (stream_behaves(stream, DEFECT_SCTP_PRIVATE_TOLD_LEFT)) {
        memcpy(octets + count, left->reported + count, left->reported_octets - count);
        start->private_octets = (uint16_t)left->reported_octets;
    }
}

/* The request of this SID is refused: by the ULP, or for the limit. */
static void note_refusal(const struct sctp_session *session)
{
    left_of(session)->refused = true;
    left_of(session)->refused_sid = session->sid;
}

void state_sctp_refusal(const struct sctp_session *session)
{
    if (session_behaves(session, DEFECT_SCTP_REFUSED_STAYS))
        note_refusal(session);
}

uint8_t state_sctp_answer_code(const struct sctp_session *session, uint8_t code)
{
    struct sctp_left *left = left_of(session);
    bool enhanced = code == DDP_SCTP_ENHANCED_ACCEPT || code == DDP_SCTP_ENHANCED_REJECT;
    bool reject = code == DDP_SCTP_REJECT || code == DDP_SCTP_ENHANCED_REJECT;

    left->enhanced = left->enhanced || enhanced;
    if (reject &&
        (session_behaves(session, DEFECT_SCTP_REJECTED_STAYS) || session_behaves(session, DEFECT_SCTP_PENDING_STAYS)))
        note_refusal(session);
    if (enhanced || !left->enhanced || !session_behaves(session, DEFECT_SCTP_ENHANCED_STAYS))
        return code;
    return code == DDP_SCTP_ACCEPT ? DDP_SCTP_ENHANCED_ACCEPT : DDP_SCTP_ENHANCED_REJECT;
}

/* --- Depths ------------------------------------------------------------------------------------------------------- */

static uint16_t least(unsigned a, unsigned b)
{
    return (uint16_t)(a < b ? a : b);
}

void state_sctp_answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    if (stream->llp == &sctp_llp && stream_behaves(stream, DEFECT_SCTP_ORD_FOR_IRD))
        stream->agreed.reply_ord = least(stream->agreed.ord, peer->ord);
}

/* Depths have been agreed on. */
void state_sctp_depths(struct iwarp_stream *stream)
{
    const struct sctp_session *session = stream->llp == &sctp_llp ? lower_of(stream)->session : NULL;
    const struct negotiation_offer *peer = session == NULL ? NULL : &lower_of(stream)->offer;
    struct sctp_left *left;
    uint16_t own[2] = {stream->agreed.ird, stream->agreed.ord};

    if (session == NULL)
        return;
    if (stream->config.role == IWARP_INITIATOR && stream_behaves(stream, DEFECT_SCTP_ORD_FOR_IRD))
        stream->agreed.ord = least(stream->config.ord, peer->ord);
    left = left_of(session);
    if (left->depths_known && session_behaves(session, DEFECT_SCTP_DEPTHS_OF_LAST)) {
        stream->agreed.ird = left->depths[0];
        stream->agreed.ord = left->depths[1];
    }
    left->depths[0] = own[0];
    left->depths[1] = own[1];
    left->depths_known = true;
}

/* --- A session begins, and ends ----------------------------------------------------------------------------------- */

/* The session has its stream: returns the stream's Protection Domain. */
uint32_t state_sctp_attached(const struct sctp_session *session, uint32_t domain)
{
    struct sctp_left *left = left_of(session);

    if (keeps_msns(session))
        give_msns(session);
    if (left->domain_known && left->domain_sid == session->sid && session_behaves(session, DEFECT_SCTP_DOMAIN_STAYS))
        domain = left->domain;
    if (!left->domain_known) {
        left->domain_known = true;
        left->domain_sid = session->sid;
        left->domain = domain;
    }
    if (!left->first_known) {
        left->first_known = true;
        left->first_sid = session->sid;
    }
    return domain;
}

/* The session is over, and may have a stream until then. */
void state_sctp_detached(const struct sctp_session *session)
{
    left_of(session)->emptied |= session->stream != NULL && session->association->attached == 1;
    if (session->stream != NULL && keeps_msns(session))
        keep_msns(session);
}

bool defect_sctp_held_kept(const struct sctp_session *session)
{
    bool draft = is_draft(session->association);

    return session->used && session_behaves(session, draft ? DEFECT_SCTP_HELD_OVER_RESET : DEFECT_SCTP_HELD_STAYS);
}

bool defect_sctp_pending_kept(const struct sctp_session *session)
{
    const struct sctp_left *left = left_of(session);

    return left->refused && left->refused_sid == session->sid && session_behaves(session, DEFECT_SCTP_PENDING_STAYS);
}

/* With one stream, those of all SIDs begin their DDP-SSNs anew. */
bool defect_sctp_reset_obeyed(struct sctp_session *session)
{
    const struct iwarp_association *association = session->association;

    if (session_behaves(session, DEFECT_SCTP_RESET_IGNORED))
        return false;
    for (unsigned sid = 0; sid < association->streams && session_behaves(session, DEFECT_SCTP_RESET_ALL); sid++)
        if (association->sessions[sid] != NULL)
            association->sessions[sid]->ssn = DDP_SCTP_DRAFT_FIRST_SSN;
    return true;
}

/* --- Messages that come ------------------------------------------------------------------------------------------- */

/* The SID of the Initiate that was sent first and has no answer. */
static uint16_t oldest_of(const struct iwarp_association *association, uint16_t own)
{
    for (unsigned sid = 0; sid < association->streams; sid++)
        if (association->sessions[sid] != NULL && association->sessions[sid]->state == SESSION_INITIATED)
            return (uint16_t)sid;
    return own;
}

static bool any_aborted(const struct iwarp_association *association, uint16_t but)
{
    for (unsigned sid = 0; sid < association->streams; sid++)
        if (association->sessions[sid] != NULL && sid != but && association->sessions[sid]->state == SESSION_ABORTED)
            return true;
    return false;
}

/* What is made foreign on an idle SID is dropped without a word. */
static bool is_passed_over(const struct iwarp_association *association, uint16_t sid,
                           const struct ddp_sctp_message *message)
{
    const struct defect_set *set = association_set(association);
    const struct sctp_left *left = &association_state(association)->left;
    const struct sctp_session *session = sid < association->streams ? association->sessions[sid] : NULL;
    bool idle = session == NULL || session->state == SESSION_IDLE || session->state == SESSION_DRAINING;

    if (message->kind == DDP_SCTP_CONTROL && message->row->active == 1 && idle && left->refused &&
        left->refused_sid == sid)
        return defect_behaves(set, DEFECT_SCTP_REFUSED_STAYS) || defect_behaves(set, DEFECT_SCTP_REJECTED_STAYS);
    if (message->kind == DDP_SCTP_CONTROL && message->row->active == 1 && idle && left->emptied &&
        defect_behaves(set, DEFECT_SCTP_EMPTY_STAYS))
        return true;
    if (message->kind == DDP_SCTP_CONTROL && (message->code == DDP_SCTP_TERMINATE || message->row->active == 1) &&
        session != NULL && session->state == SESSION_CLOSING && session->own_end)
        return defect_behaves(set, DEFECT_SCTP_CROSSED_STAYS);
    if (message->kind == DDP_SCTP_SEGMENT && is_draft(association) &&
        (session == NULL || session->state == SESSION_IDLE))
        return defect_behaves(set, DEFECT_SCTP_ABORTED_ALL) && any_aborted(association, sid);
    return false;
}

void defect_sctp_message(const struct iwarp_association *association, struct iwarp_sctp_message *message)
{
    const struct defect_set *set = association_set(association);
    struct ddp_sctp_message parsed;

    if (!association->up || association->over)
        return;
    if (message->count > MESSAGE_LEAST && defect_behaves(set, DEFECT_SCTP_MESSAGE_516))
        message->count = MESSAGE_LEAST;
    (void)ddp_sctp_parse(message->ppid, message->octets, message->count, &parsed);
    if (parsed.kind == DDP_SCTP_FOREIGN && defect_behaves(set, DEFECT_SCTP_PPID_ANY))
        message->ppid = DDP_SCTP_PPID_SEGMENT;
    if (parsed.kind == DDP_SCTP_CONTROL && parsed.row->active == 0 && defect_behaves(set, DEFECT_SCTP_ANSWER_OF_OLDEST))
        message->sid = oldest_of(association, message->sid);
    if (is_passed_over(association, message->sid, &parsed) || variant_sctp_foreign(association, message, &parsed))
        message->ppid = NO_PPID;
}

bool state_sctp_sorting(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    int ahead = (int16_t)(uint16_t)(message->ssn - session->expected);

    if (session->state == SESSION_OPEN && session_behaves(session, DEFECT_SCTP_SSN_WRAP_READ)) {
        if (session->expected == 0)
            session->expected = 1;
        if (message->ssn == 0 && ahead >= 0)
            return true;
    }
    if (ahead > 0 && message->kind == DDP_SCTP_CONTROL && message->code == DDP_SCTP_TERMINATE &&
        session->state == SESSION_OPEN && session_behaves(session, DEFECT_SCTP_TERMINATE_AT_ONCE)) {
        session_receive_control(session, message);
        return true;
    }
    return false;
}

/* --- Messages that go out ----------------------------------------------------------------------------------------- */

static bool begins_session(const uint8_t *control)
{
    uint32_t code = (uint32_t)ddp_sctp_control_get_Code(control);

    return code == DDP_SCTP_INITIATE || code == DDP_SCTP_ENHANCED_INITIATE;
}

void state_sctp_output(const struct sctp_session *session, struct iwarp_sctp_output *output, uint8_t *octets)
{
    struct sctp_left *left = left_of(session);
    bool terminate = !output->control && (octets[CONTROL_AT + 1] & OPCODE_MASK) == OPCODE_TERMINATE;
    uint16_t last = left->last_sid;

    if (output->control && !is_draft(session->association))
        leave_private_data(session, output, octets);
    if (output->control && left->emptied && begins_session(octets) && session_behaves(session, DEFECT_SCTP_EMPTY_STAYS))
        output->ppid = NO_PPID;
    if (terminate && last != session->sid && session_behaves(session, DEFECT_SCTP_TERMINATE_ELSEWHERE))
        output->sid = last;
    if (!output->control && left->first_known && session->association->attached > 1 &&
        session_behaves(session, DEFECT_SCTP_ANSWER_FIRST_SID))
        output->sid = left->first_sid;
    if (!terminate)
        left->last_sid = session->sid;
}

/* True: what is too long is cut already. */
bool state_sctp_cut(struct sctp_session *session)
{
    const struct transmit_piece *piece = &session->stream->outbound.piece;
    uint8_t *header = (uint8_t *)(uintptr_t)piece->spans[0].octets + LLP_PREFIX_OCTETS;

    if (!piece->segment || ddp_tagged_get_L(header) == 0 || !session_behaves(session, DEFECT_SCTP_CUT_KEEPS_LAST))
        return false;
    transmit_shorten(session->stream, piece->octets - segment_room(session->stream));
    ddp_tagged_set_L(header, 1);
    return true;
}
