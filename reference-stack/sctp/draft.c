/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP streams of draft-stewart-rddp-sctp-02: they need no session. What ends one is an error, and then its SID is
 * aborted: nothing is taken there before a Stream Reset (draft 7.2). Whether one Reset opens both directions or each
 * its own is open in the text; config.draft_reset_answer says.
 */
#include "reference-stack/sctp/sctp.h"

static void open_stream(struct sctp_session *session)
{
    session_decided(session);
    session->stream->agreed.terms.version = session->association->config.draft_version;
    session_established(session);
}

/* The ULP has to make a stream for what the peer sends. The SIDs of more than may wait for it stay, or are, aborted. */
void draft_pend(struct sctp_session *session)
{
    struct iwarp_association *association = session->association;
    bool full = association->counters.pending >= association->config.pending_max || association->closing ||
                association->events.count >= SCTP_EVENTS_MAX;

    session_begin(session, full ? SESSION_ABORTED : SESSION_PENDING);
    if (full)
        association->counters.refused++;
    else
        session_pend(session);
}

/* Own Stream Reset: it has no DDP-SSN, and the next segment has 1 (draft 6). */
static void send_reset(struct sctp_session *session)
{
    session->control = DDP_SCTP_STREAM_RESET;
    session_ready(session);
}

void draft_reset_sent(struct sctp_session *session)
{
    uint32_t outstanding = session->control_outstanding;

    session->reset_sent = true;
    session->ssn = (uint16_t)SCTP_NUMBER(session->association, session, SCTP_FIRST_SSN, DDP_SCTP_DRAFT_FIRST_SSN);
    if (session->state != SESSION_ABORTED || session->association->config.draft_reset_answer)
        return;
    if (session->stream == NULL)
        return;
    session_begin(session, SESSION_PENDING);
    session->reset_sent = true;
    session->control_outstanding = outstanding;
    open_stream(session);
    session_drain(session);
}

/*
 * A stream is there for the SID. The segments that it was made for wait until the association is asked for output: so
 * the ULP can post receives.
 */
void draft_attach(struct sctp_session *session)
{
    if (session->state == SESSION_ABORTED) {
        if (session->stream->config.role == IWARP_INITIATOR && !session->reset_sent)
            send_reset(session);
        return;
    }
    if (session->state == SESSION_IDLE)
        session_begin(session, SESSION_PENDING);
    open_stream(session);
}

/* The peer begins its DDP stream anew: what there was of it has ended. */
static void reset(struct sctp_session *session)
{
    bool answer = session->association->config.draft_reset_answer && !session->reset_sent &&
                  session->control != DDP_SCTP_STREAM_RESET;

    if (session->state == SESSION_OPEN && session->stream != NULL) {
        stream_fail_with(session->stream, NULL, WIRE_OK, VALIDATION_HANG, "the peer has reset the DDP stream");
        iwarp_stream_abort(session->stream, session->association->now);
        session_settle(session);
    }
    session_decided(session);
    if (session->stream != NULL)
        session_begin(session, SESSION_PENDING);
    else
        draft_pend(session);
    if (answer && session->state == SESSION_PENDING)
        send_reset(session);
    if (session->stream == NULL)
        return;
    open_stream(session);
    session_drain(session);
}

void draft_control(struct sctp_session *session, const struct ddp_sctp_message *message, size_t count)
{
    struct validation_session view = {
        .faults = session->association->faults, .profile = IWARP_SCTP_DRAFT02, .message = message};
    struct validation_subject subject = session_subject(session, &view, count);
    struct validation_outcome outcome;

    if (!stream_judge(VALIDATE_RESET, &subject, &outcome)) {
        session->association->counters.dropped++;
        if (session->state == SESSION_OPEN)
            session_fail(session, &outcome, &subject, "a control message is no Stream Reset");
        return;
    }
    association_event(session->association, IWARP_ASSOCIATION_CONTROL, session->sid, message->code);
    if (SCTP_DECIDE(session, SCTP_RESET_OBEYED, message, true))
        reset(session);
}
