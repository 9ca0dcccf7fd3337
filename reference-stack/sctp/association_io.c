/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages in and out of an association. Sessions that may have something to send stand in a row and take turns, a
 * message each, so that no stream holds up another. Those that have nothing, or must wait for an acknowledgement, leave
 * it: an idle stream costs memory alone.
 */
#include <utlist.h>

#include "reference-stack/sctp/sctp.h"

void session_mark_active(const struct sctp_session *session)
{
    struct sctp_lower *lower = session->stream == NULL ? NULL : lower_of(session->stream);

    if (lower == NULL || lower->active_of != NULL)
        return;
    lower->active_of = session->association;
    lower->stream = session->stream;
    DL_APPEND(session->association->active, lower);
}

void stream_unmark_active(struct iwarp_stream *stream)
{
    struct sctp_lower *lower = lower_of(stream);

    if (lower->active_of == NULL)
        return;
    DL_DELETE(lower->active_of->active, lower);
    lower->active_of = NULL;
}

struct iwarp_stream *iwarp_association_poll_stream(struct iwarp_association *association)
{
    struct iwarp_stream *stream =
        association == NULL || association->active == NULL ? NULL : association->active->stream;

    if (stream != NULL)
        stream_unmark_active(stream);
    return stream;
}

void session_ready(struct sctp_session *session)
{
    session_mark_active(session);
    if (session->ready)
        return;
    session->ready = true;
    DL_APPEND(session->association->ready, session);
}

void session_not_ready(struct sctp_session *session)
{
    if (!session->ready)
        return;
    session->ready = false;
    DL_DELETE(session->association->ready, session);
}

/* --- In ---------------------------------------------------------------------------------------------------------- */

void iwarp_association_input(struct iwarp_association *association, const struct iwarp_sctp_message *message,
                             uint64_t now)
{
    static const uint8_t nothing[1];
    struct iwarp_sctp_message whole;
    struct sctp_session *session;

    if (association == NULL || message == NULL)
        return;
    association->now = now;
    whole = *message;
    if (whole.octets == NULL) {
        whole.octets = nothing;
        whole.count = 0;
    }
    association->counters.messages_received++;
    SCTP_SEAM(association, message(association, &whole));
    if (!association->up || association->over || association->mode == IWARP_SCTP_NOTHING ||
        whole.sid >= association->streams) {
        association->counters.dropped++; /* no DDP here, or a SID without its pair */
        return;
    }
    session = association_session(association, whole.sid);
    if (session == NULL) {
        association->counters.dropped++;
        association->abort_wanted = true; /* what SCTP has acknowledged cannot be asked for again */
        association_down(association, "out of memory for a stream");
        return;
    }
    session_input(session, &whole);
    session_settle(session);
    session_ready(session);
}

static uint32_t less(uint32_t from, uint32_t count)
{
    return from > count ? from - count : 0;
}

static void acked(struct sctp_session *session, uint32_t count)
{
    session->outstanding = less(session->outstanding, count);
    session->earlier = less(session->earlier, count);
    session->control_outstanding = less(session->control_outstanding, count);
    if (session->state == SESSION_INITIATED && session->spoke && session->control_outstanding == 0 &&
        session->stream != NULL && SCTP_DECIDE(session, SCTP_SACK_SUFFICES, NULL, false))
        session->stream->outbound.segments_allowed = true;
    if (session->stream != NULL) {
        session->stream->now = session->association->now;
        stream_linger(session->stream);
        stream_progress(session->stream);
    }
    session_ready(session);
}

void iwarp_association_acked(struct iwarp_association *association, uint16_t sid, uint32_t count, uint64_t now)
{
    if (association == NULL || !association->up || association->over || sid >= association->streams)
        return;
    association->now = now;
    if (association->sessions[sid] != NULL && count != 0)
        acked(association->sessions[sid], count);
}

void iwarp_association_dry(struct iwarp_association *association, uint64_t now)
{
    if (association == NULL || !association->up || association->over)
        return;
    association->now = now;
    for (unsigned sid = 0; sid < association->streams; sid++)
        if (association->sessions[sid] != NULL && association->sessions[sid]->outstanding != 0)
            acked(association->sessions[sid], UINT32_MAX);
}

/* --- Out --------------------------------------------------------------------------------------------------------- */

/* What the session itself has to say: a Terminate without a stream that would send it, or a Stream Reset. */
static size_t give_control(struct sctp_session *session, struct iwarp_sctp_output *output)
{
    struct iwarp_association *association = session->association;
    uint8_t *octets = association->control_octets;
    struct ddp_sctp_message message = {.ssn = session->ssn, .code = session->control};

    if (is_draft(association)) {
        /* Nothing protects what was sent before against what is sent after it: all of that has to have come (7.2). */
        if (session->outstanding != 0)
            return 0;
        ddp_sctp_draft_control_set_Code(octets, session->control);
        output->octets = DDP_SCTP_DRAFT_CONTROL_OCTETS;
        output->ppid = association->config.draft_reset_ppid;
    } else {
        if (session->control_outstanding != 0 && SCTP_DECIDE(session, SCTP_CONTROL_WAITS, NULL, true))
            return 0;
        output->octets = ddp_sctp_pack_control(&message, octets, sizeof(association->control_octets));
        output->ppid = DDP_SCTP_PPID_CONTROL;
    }
    output->spans[output->span_count++] = (struct iwarp_span){octets, output->octets};
    output->control = true;
    association->sending_control = true;
    return output->octets;
}

static size_t give_piece(struct sctp_session *session, struct iwarp_sctp_output *output)
{
    const struct iwarp_association *association = session->association;
    struct iwarp_stream *stream = session->stream;
    struct iwarp_output piece;
    size_t room;

    if (stream == NULL || (is_draft(association) && session->control_outstanding != 0))
        return 0;
    /* The call that finds all sent may make the Terminate, which the next one gives. */
    if (iwarp_stream_output(stream, &piece) == 0 &&
        (stream->outbound.piece.octets == 0 || iwarp_stream_output(stream, &piece) == 0))
        return 0;
    /* The path MTU fell while it waited: SCTP would refuse it (draft 5). */
    room = segment_room(stream);
    if (piece.fpdu && piece.octets > room) {
        if (SCTP_DECIDE(session, SCTP_SHORTENED, NULL, true))
            transmit_shorten(stream, piece.octets - room);
        if (iwarp_stream_output(stream, &piece) == 0)
            return 0;
    }
    for (size_t i = 0; i < piece.span_count; i++)
        output->spans[output->span_count++] = piece.spans[i];
    output->octets = piece.octets;
    output->ulp_span = piece.ulp_span;
    output->control = !piece.fpdu;
    if (is_draft(association))
        output->ppid = DDP_SCTP_PPID_DRAFT_SEGMENT;
    else
        output->ppid = piece.fpdu ? DDP_SCTP_PPID_SEGMENT : DDP_SCTP_PPID_CONTROL;
    session->association->sending_control = false;
    return output->octets;
}

static size_t fill_output(struct sctp_session *session, struct iwarp_sctp_output *output)
{
    *output = (struct iwarp_sctp_output){.sid = session->sid, .unordered = true, .ulp_span = IWARP_OUTPUT_SPANS};
    /* This limit holds even if the ULP has its own limit (RFC 5043 10). */
    if (session->outstanding >= SCTP_NUMBER(session->association, session, SCTP_OUTSTANDING, OUTSTANDING_MAX))
        return 0;
    if (session->control != 0)
        (void)give_control(session, output);
    else
        (void)give_piece(session, output);
    SCTP_SEAM(session->association, output(session, output));
    return output->octets;
}

size_t iwarp_association_output(struct iwarp_association *association, struct iwarp_sctp_output *output)
{
    struct sctp_session *session;

    if (association == NULL || output == NULL)
        return 0;
    *output = (struct iwarp_sctp_output){.ulp_span = IWARP_OUTPUT_SPANS};
    if (!association->up || association->over || association->abort_wanted)
        return 0;
    while ((session = association->sending != NULL ? association->sending : association->ready) != NULL) {
        size_t octets;

        session_mark_active(session);
        session_drain(session);
        session_settle(session);
        octets = fill_output(session, output);
        if (octets != 0) {
            association->sending = session;
            return octets;
        }
        association->sending = NULL;
        session_settle(session);
        session_not_ready(session);
        association_forget(session);
        if (association->abort_wanted)
            break;
    }
    *output = (struct iwarp_sctp_output){.ulp_span = IWARP_OUTPUT_SPANS};
    return 0;
}

static void count_ssn(struct sctp_session *session)
{
    session->ssn = (uint16_t)SCTP_NUMBER(session->association, session, SCTP_NEXT_SSN, (uint16_t)(session->ssn + 1));
}

static void control_sent(struct sctp_session *session)
{
    session->control = 0;
    session->control_outstanding = session->outstanding;
    if (is_draft(session->association)) {
        draft_reset_sent(session);
        return;
    }
    count_ssn(session);
    session->spoke = session->own_end = true;
    session->state = SESSION_DRAINING;
}

static void piece_sent(struct sctp_session *session)
{
    struct iwarp_stream *stream = session->stream;
    uint8_t code = stream->outbound.piece.segment ? 0 : lower_of(stream)->code;

    count_ssn(session);
    session->spoke = true;
    if (code != 0)
        session->control_outstanding = session->outstanding;
    if (code == DDP_SCTP_TERMINATE || code == DDP_SCTP_REJECT || code == DDP_SCTP_ENHANCED_REJECT)
        session->own_end = true;
    iwarp_stream_output_done(stream, SIZE_MAX, session->association->now);
}

void iwarp_association_output_done(struct iwarp_association *association, uint64_t now)
{
    struct sctp_session *session = association == NULL ? NULL : association->sending;

    if (session == NULL)
        return;
    association->now = now;
    association->sending = NULL;
    if (!association->sending_control && (session->stream == NULL || session->stream->outbound.piece.octets == 0))
        return;
    association->counters.messages_sent++;
    if (++session->outstanding > association->counters.outstanding_most)
        association->counters.outstanding_most = session->outstanding;
    if (association->sending_control)
        control_sent(session);
    else
        piece_sent(session);
    session_settle(session);
    /* The others' turn. */
    session_not_ready(session);
    session_ready(session);
}

/* --- Time and the end -------------------------------------------------------------------------------------------- */

enum iwarp_association_want iwarp_association_wants(const struct iwarp_association *association)
{
    if (association == NULL)
        return IWARP_ASSOCIATION_WANT_NOTHING;
    if (association->abort_wanted)
        return IWARP_ASSOCIATION_WANT_ABORT;
    if (!association->closing || association->over || association->attached != 0)
        return IWARP_ASSOCIATION_WANT_NOTHING;
    for (unsigned sid = 0; association->sessions != NULL && sid < association->streams; sid++)
        if (association->sessions[sid] != NULL &&
            (association->sessions[sid]->outstanding != 0 || association->sessions[sid]->control != 0))
            return IWARP_ASSOCIATION_WANT_NOTHING;
    return IWARP_ASSOCIATION_WANT_SHUTDOWN;
}

uint64_t iwarp_association_deadline(const struct iwarp_association *association)
{
    const struct deadline *first = association == NULL ? NULL : deadlines_first(&association->deadlines);

    return first == NULL ? UINT64_MAX : first->when;
}

void iwarp_association_tick(struct iwarp_association *association, uint64_t now)
{
    struct deadline *first;

    if (association == NULL)
        return;
    association->now = now;
    while ((first = deadlines_first(&association->deadlines)) != NULL && first->when <= now) {
        struct sctp_session *session =
            (struct sctp_session *)(void *)((uint8_t *)first - offsetof(struct sctp_session, deadline));

        deadlines_set(&association->deadlines, first, UINT64_MAX);
        iwarp_stream_tick(session->stream, now);
        session_settle(session);
        session_ready(session);
    }
}
