/* SPDX-License-Identifier: BSD-2-Clause */
/* How a session ends: by Terminates, by errors, or because its stream goes; and what is left of it then. */
#include "reference-stack/sctp/sctp.h"

void session_decided(struct sctp_session *session)
{
    if (!session->pending)
        return;
    session->pending = false;
    if (SCTP_DECIDE(session, SCTP_REQUEST_DECIDED, NULL, true))
        session->association->counters.pending--;
}

/* True: the session must send the Terminate itself, because it has no stream that would send it. */
static bool owes_terminate(const struct sctp_session *session)
{
    if (is_draft(session->association) || session->own_end)
        return false;
    if (session->state == SESSION_CLOSING && !session->spoke)
        return true; /* its Reject went with the stream */
    if (session->peer_end)
        return false;
    return session->state == SESSION_PENDING || session->state == SESSION_OPEN || session->state == SESSION_CLOSING ||
           (session->state == SESSION_INITIATED && session->spoke);
}

static void detach(struct sctp_session *session)
{
    struct iwarp_association *association = session->association;

    if (association->sending == session && !association->sending_control)
        association->sending = NULL;
    session_mark_active(session);
    lower_of(session->stream)->session = NULL;
    deadlines_leave(&association->deadlines, &session->deadline);
    session->stream = NULL;
    association->attached--;
}

/* Has the association no session any more, after this one? */
static bool is_last(const struct sctp_session *session)
{
    const struct iwarp_association *association = session->association;

    return session->used && association->attached == 0 && association->up && !association->over &&
           !is_draft(association);
}

void session_over(struct sctp_session *session)
{
    bool owes = SCTP_DECIDE(session, SCTP_OWES_TERMINATE, NULL, owes_terminate(session));
    bool was = session->state != SESSION_IDLE;

    session_decided(session);
    if (session->stream != NULL && session->stream->end.terminate_sent &&
        SCTP_DECIDE(session, SCTP_ERROR_SPREADS, NULL, false))
        session->association->abort_wanted = true;
    if (session->stream != NULL)
        detach(session);
    if (is_draft(session->association)) {
        /* Nothing is taken before a Stream Reset (draft 7.2): the draft has no other end of a DDP stream. */
        if (!SCTP_DECIDE(session, SCTP_HELD_KEPT, NULL, false))
            order_clear(session);
        session->state = was ? SESSION_ABORTED : SESSION_IDLE;
    } else if (owes) {
        session->state = SESSION_CLOSING;
        session->control = DDP_SCTP_TERMINATE;
    } else {
        if (!session->spoke && session->state == SESSION_INITIATED)
            session->peer_end = true; /* it was never reported */
        session->state = was ? SESSION_DRAINING : SESSION_IDLE;
    }
    if (was)
        association_event(session->association, IWARP_ASSOCIATION_CLOSED, session->sid, 0);
    if (is_last(session) && SCTP_ASSOCIATION_DECIDE(session->association, SCTP_SHUTS_DOWN, false))
        session->association->closing = true;
    session_ready(session);
}

void session_settle(struct sctp_session *session)
{
    struct iwarp_association *association = session->association;
    struct iwarp_stream *stream = session->stream;

    if (stream == NULL)
        return;
    if (iwarp_stream_wants(stream) == IWARP_WANT_ABORT) {
        iwarp_stream_abort(stream, association->now);
        session_over(session);
        return;
    }
    /* Nothing more comes of the peer: its end of the session need not be waited for. */
    if (iwarp_stream_wants(stream) == IWARP_WANT_CLOSE && !stream->end.fin_received &&
        (is_draft(association) || session->peer_end || session->state == SESSION_IDLE ||
         session->state == SESSION_DRAINING))
        iwarp_stream_input_fin(stream, association->now);
    if (iwarp_stream_state(stream) == IWARP_STATE_CLOSED ||
        (iwarp_stream_state(stream) == IWARP_STATE_EXITED && stream->outbound.piece.octets == 0)) {
        session_over(session);
        return;
    }
    deadlines_set(&association->deadlines, &session->deadline, iwarp_stream_deadline(stream));
}

/*
 * All is sent. The Terminate is the last message of this side (RFC 5043 6.2), and waits until the control message
 * before it has arrived for certain (6.6). False: none is due, or it is sent.
 */
bool session_close(struct sctp_session *session)
{
    if (is_draft(session->association) || session->own_end)
        return false;
    if (session->state == SESSION_IDLE || session->state == SESSION_DRAINING ||
        (session->state == SESSION_INITIATED && session->peer_end))
        return false;
    if (!SCTP_DECIDE(session, SCTP_CLOSES, NULL, true))
        return false;
    if (session->control_outstanding != 0 && SCTP_DECIDE(session, SCTP_CONTROL_WAITS, NULL, true))
        return true;
    if (SCTP_DECIDE(session, SCTP_TERMINATE_WAITS, NULL, false))
        return true;
    if (session_say(session, DDP_SCTP_TERMINATE, NULL, false) != 0) {
        session->stream->end.abort_wanted = true;
        return true;
    }
    if (session->state == SESSION_PENDING)
        session->peer_end = true; /* in place of an answer: the pattern ends there */
    session_decided(session);
    session->state = SESSION_CLOSING;
    return true;
}

void session_fail(struct sctp_session *session, const struct validation_outcome *outcome,
                  const struct validation_subject *subject, const char *text)
{
    const struct ddp_sctp_message *message = subject->session == NULL ? NULL : subject->session->message;

    if (outcome->action == VALIDATION_IGNORE)
        return;
    if (session->stream != NULL) {
        stream_fail(session->stream, outcome, subject, text);
        stream_progress(session->stream);
        if (SCTP_DECIDE(session, SCTP_ERROR_SPREADS, message, false))
            session->association->abort_wanted = true;
        return;
    }
    if (outcome->action == VALIDATION_HANG || session->state == SESSION_IDLE || session->state == SESSION_DRAINING)
        return;
    order_clear(session);
    session_over(session);
}
