/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Input of a SID: messages are sorted by their DDP-SSNs (RFC 5043 6.1, 10; draft 6); the order of TSNs and of arrival
 * does not matter. Payload is placed at once; everything else is done in the order of DDP-SSNs.
 */
#include <string.h>

#include "reference-stack/sctp/sctp.h"

struct validation_subject session_subject(const struct sctp_session *session, const struct validation_session *view,
                                          size_t count)
{
    struct validation_subject subject = {0};

    if (session->stream != NULL)
        subject = stream_subject(session->stream);
    subject.session = view;
    subject.count = count;
    return subject;
}

/* A new session: nothing of an earlier one is carried over (RFC 5043 6). */
void session_begin(struct sctp_session *session, enum sctp_session_state state)
{
    const struct iwarp_association *association = session->association;

    if (!SCTP_DECIDE(session, SCTP_HELD_KEPT, NULL, false))
        order_clear(session);
    session->state = (uint8_t)state;
    session->expected = first_ssn(association);
    session->ssn = (uint16_t)SCTP_NUMBER(session->association, session, SCTP_FIRST_SSN, first_ssn(association));
    session->earlier = session->outstanding;
    session->control_outstanding = 0;
    session->initiate_code = session->control = 0;
    session->spoke = session->own_end = session->peer_end = session->reset_sent = false;
    session->used = true;
}

/* The request waits for the ULP; session_decided() ends that. */
void session_pend(struct sctp_session *session)
{
    struct iwarp_association_counters *counters = &session->association->counters;

    session->pending = true;
    if (++counters->pending > counters->pending_most)
        counters->pending_most = counters->pending;
    if (session->stream == NULL)
        association_event(session->association, IWARP_ASSOCIATION_REQUEST, session->sid, 0);
}

bool session_waits(const struct sctp_session *session)
{
    if (session->state != SESSION_PENDING)
        return false;
    return session->stream == NULL || session->expected != first_ssn(session->association);
}

/* --- In its turn ------------------------------------------------------------------------------------------------- */

static void deliver_segment(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    struct iwarp_stream *stream = session->stream;

    if (stream == NULL) {
        session->association->counters.dropped++;
        return;
    }
    stream_input_ulpdu(stream, message->segment, message->segment_octets, session->association->now);
}

static bool is_enhanced(const struct sctp_session *session)
{
    return session->stream == NULL || session->stream->config.enhanced;
}

/* False: the session is over on this side, or came to nothing. */
static bool is_heard(const struct sctp_session *session)
{
    if (session->state == SESSION_DRAINING || session->state == SESSION_CLOSING)
        return session->stream != NULL && (session->stream->established || !session->peer_end);
    return session->state != SESSION_ABORTED;
}

static void accept_message(struct sctp_session *session, uint32_t ppid, const uint8_t *octets, size_t count)
{
    struct ddp_sctp_message message;
    struct validation_session view = {
        .faults = session->association->faults,
        .profile = session->association->config.profile,
        .message = &message,
        .enhanced = is_enhanced(session),
        .request_due = session->state == SESSION_PENDING,
        .answer_due = session->state == SESSION_INITIATED,
        .segments_due = session->state == SESSION_OPEN || session->state == SESSION_CLOSING,
        .over = session->peer_end,
        .initiate_code = session->initiate_code,
    };
    struct validation_subject subject = session_subject(session, &view, count);
    struct validation_outcome outcome;

    view.parsed = ddp_sctp_parse(ppid, octets, count, &message);
    if (!is_heard(session)) {
        /* Nobody listens any more. The peer's last message alone counts: after it the SID is free. */
        if (message.kind == DDP_SCTP_CONTROL && message.code == DDP_SCTP_TERMINATE)
            session->peer_end = true;
        session->association->counters.dropped++;
        return;
    }
    if (!stream_judge(VALIDATE_SESSION, &subject, &outcome)) {
        session_fail(session, &outcome, &subject, "a message fits no legal pattern of a session");
        return;
    }
    if (message.kind == DDP_SCTP_SEGMENT)
        deliver_segment(session, &message);
    else
        session_receive_control(session, &message);
}

void session_drain(struct sctp_session *session)
{
    struct iwarp_association *association = session->association;
    struct sctp_held *held;

    while (!session_waits(session) && (held = order_remove(session, session->expected)) != NULL) {
        session->expected++;
        accept_message(session, held->ppid, held->octets, held->count);
        order_give_back(association, held);
    }
}

/* --- Before its turn --------------------------------------------------------------------------------------------- */

/* The payload of a segment goes to its place, where the stream is one that takes segments (RFC 5041 5.3, draft 6). */
static void place_early(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    struct iwarp_stream *stream = session->stream;

    if (stream == NULL || message->kind != DDP_SCTP_SEGMENT || session->state != SESSION_OPEN || !stream->established ||
        stream->agreed.rtr_awaited || stream->end.dropping || stream->end.fin_received)
        return;
    early_ulpdu(stream, message->segment, message->segment_octets);
}

static void no_room(struct sctp_session *session)
{
    struct validation_subject subject = session_subject(session, NULL, 0);
    struct validation_outcome outcome = {.requirement = "SCTP5043-10-10", .error = WIRE_OK, .action = VALIDATION_CLOSE};

    session->association->counters.dropped++;
    session_fail(session, &outcome, &subject, "out of memory for messages that came before their turn");
}

static void sort(struct sctp_session *session, const struct iwarp_sctp_message *from,
                 const struct ddp_sctp_message *message)
{
    struct iwarp_association *association = session->association;
    int ahead;

    if (!SCTP_DECIDE(session, SCTP_SORTED, message, true))
        return;
    ahead = (int16_t)(uint16_t)(message->ssn - session->expected);
    ahead = (int)(int64_t)SCTP_NUMBER(association, session, SCTP_AHEAD, (int64_t)ahead);
    if (ahead < 0 || order_find(session, message->ssn) != NULL) {
        association->counters.duplicates++;
        return;
    }
    if (ahead == 0 && !session_waits(session)) {
        session->expected++;
        accept_message(session, from->ppid, from->octets, from->count);
        session_drain(session);
        return;
    }
    if (order_hold(session, message->ssn, from) != 0)
        no_room(session);
    else
        place_early(session, message);
}

/* --- The beginning, and the draft -------------------------------------------------------------------------------- */

/* An Initiate of the peer. More than may wait for the ULP are answered by a Terminate (RFC 5043 6.4): false. */
static bool request(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    struct iwarp_association *association = session->association;
    bool full = session->stream == NULL && (association->counters.pending >= association->config.pending_max ||
                                            association->closing || association->events.count >= SCTP_EVENTS_MAX);

    session_begin(session, SESSION_PENDING);
    session->initiate_code = (uint8_t)message->code;
    if (SCTP_DECIDE(session, SCTP_REQUEST_FULL, NULL, full)) {
        association->counters.refused++;
        session->state = SESSION_DRAINING;
        session->expected++;
        session->peer_end = true;
        session->control = (uint8_t)SCTP_NUMBER(association, session, SCTP_REFUSAL_CODE, DDP_SCTP_TERMINATE);
        session_ready(session);
        return false;
    }
    if (session->stream == NULL || session->stream->config.accept == IWARP_ACCEPT_ASK)
        session_pend(session);
    return true;
}

/*
 * Does the message begin a session? The peer may begin a new one as soon as it has this side's last message of the old
 * one; where it ended that by our Terminate alone, it never sends one of its own (RFC 5043 6.2).
 */
static bool begins(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    if (message->kind != DDP_SCTP_CONTROL || message->row->active != 1 || message->ssn != DDP_SCTP_FIRST_SSN)
        return false;
    switch (session->state) {
    case SESSION_IDLE: return true;
    case SESSION_DRAINING: return session->control == 0;
    case SESSION_CLOSING:
        if (!session->own_end || session->control_outstanding != 0 || session->expected == DDP_SCTP_FIRST_SSN)
            return false;
        session->peer_end = true;
        session_settle(session);
        return session->state == SESSION_DRAINING && session->control == 0;
    default: return false;
    }
}

/* The draft: a DDP stream begins with its first segment (draft 4); one that was aborted, with a Stream Reset (7.2). */
static bool draft_takes(struct sctp_session *session)
{
    if (session->state == SESSION_IDLE && session->stream == NULL)
        draft_pend(session);
    return session->state != SESSION_ABORTED || !SCTP_DECIDE(session, SCTP_ABORTED_DROPS, NULL, true);
}

void session_input(struct sctp_session *session, const struct iwarp_sctp_message *from)
{
    struct iwarp_association *association = session->association;
    struct ddp_sctp_message message;
    struct validation_session view = {
        .faults = association->faults, .profile = association->config.profile, .message = &message};
    struct validation_subject subject = session_subject(session, &view, from->count);
    struct validation_outcome outcome;
    bool idle = session->state == SESSION_IDLE || session->state == SESSION_DRAINING;
    bool dropped = false;

    view.parsed = ddp_sctp_parse(from->ppid, from->octets, from->count, &message);
    if (!stream_judge(VALIDATE_MESSAGE, &subject, &outcome)) {
        association->counters.dropped++;
        if (!idle)
            session_fail(session, &outcome, &subject, "a user message is none of DDP's");
        return;
    }
    if (message.kind == DDP_SCTP_DRAFT_CONTROL) {
        draft_control(session, &message, from->count);
        return;
    }
    if (is_draft(association)) {
        dropped = !draft_takes(session);
    } else if (begins(session, &message)) {
        if (!request(session, &message))
            return;
    } else {
        dropped = session->state == SESSION_IDLE || (session->state == SESSION_DRAINING && session->peer_end);
    }
    if (dropped)
        association->counters.dropped++;
    else
        sort(session, from, &message);
}
