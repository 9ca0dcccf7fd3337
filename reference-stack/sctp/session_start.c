/* SPDX-License-Identifier: BSD-2-Clause */
/* Session control messages: Initiate, Accept, Reject, Terminate, and those of RFC 6581 7 with IRD, ORD and RTR. */
#include <string.h>

#include "reference-stack/sctp/sctp.h"

int session_say(struct sctp_session *session, uint8_t code, const struct negotiation_offer *offer, bool with_data)
{
    struct iwarp_stream *stream = session->stream;
    struct ddp_sctp_message message = {.ssn = session->ssn, .code = code};
    size_t octets;

    if (piece_reserve(stream, DDP_SCTP_CONTROL_MAX + MPA_ENHANCED_OCTETS) != 0)
        return -1;
    if (offer != NULL) {
        message.has_word = true;
        message.ird = offer->ird;
        message.ord = offer->ord;
        message.peer_to_peer = offer->peer_to_peer;
        message.rtr_send = (offer->rtr & IWARP_RTR_SEND) != 0;
        message.rtr_write = (offer->rtr & IWARP_RTR_WRITE) != 0;
        message.rtr_read = (offer->rtr & IWARP_RTR_READ) != 0;
    }
    if (with_data) {
        size_t room = DDP_SCTP_PRIVATE_DATA_MAX - (offer != NULL ? MPA_ENHANCED_OCTETS : 0);

        message.private_data = stream->config.private_data;
        message.private_octets = stream->config.private_octets < room ? stream->config.private_octets : room;
    }
    octets = ddp_sctp_pack_control(&message, stream->outbound.buffer, stream->outbound.room);
    lower_of(stream)->code = code;
    piece_set(stream, octets, false);
    return 0;
}

/* Keeps what the ULP may ask for: the peer's message, in the form that all layers share. */
static void keep(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    struct sctp_lower *lower = lower_of(session->stream);
    size_t count = (size_t)SCTP_NUMBER(session->association, session, SCTP_PRIVATE_DATA, message->private_octets);

    if (count != 0)
        memcpy(lower->private_data, message->private_data, count);
    lower->start = (struct iwarp_mpa_start){
        .kind = message->row->active == 1 ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY,
        .rejected = message->code == DDP_SCTP_REJECT || message->code == DDP_SCTP_ENHANCED_REJECT,
        .enhanced = message->has_word,
        .revision = message->has_word ? MPA_REV_2 : MPA_REV_1,
        .private_octets = (uint16_t)count,
        .private_data = lower->private_data,
        .peer_to_peer = message->peer_to_peer,
        .rtr_send = message->rtr_send,
        .rtr_write = message->rtr_write,
        .rtr_read = message->rtr_read,
        .ird = message->ird,
        .ord = message->ord,
    };
    lower->offer = (struct negotiation_offer){
        .ird = message->ird,
        .ord = message->ord,
        .peer_to_peer = message->peer_to_peer,
        .rtr = (message->rtr_send ? IWARP_RTR_SEND : 0u) | (message->rtr_write ? IWARP_RTR_WRITE : 0u) |
               (message->rtr_read ? IWARP_RTR_READ : 0u),
    };
}

static void event_start(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    struct iwarp_event *event = stream_event(stream, kind);

    if (event == NULL)
        return;
    event->start = lower_of(stream)->start;
    event->ird = stream->agreed.ird;
    event->ord = stream->agreed.ord;
    event->version = stream->agreed.terms.version;
    stream_event_done(stream, event);
}

/* Either side may send segments now: none has to wait for the first one of the other (RFC 6581 7). */
void session_established(struct sctp_session *session)
{
    struct iwarp_stream *stream = session->stream;

    session->state = SESSION_OPEN;
    stream->state = IWARP_STATE_OPERATION;
    stream->outbound.segments_allowed = true;
    stream->established = true;
    event_start(stream, IWARP_EVENT_ESTABLISHED);
}

/* The stream is the ULP's to free: no session came about (RFC 5043 6.3). */
static void rejected(struct sctp_session *session, enum iwarp_event_kind kind)
{
    struct iwarp_stream *stream = session->stream;

    session->state = SESSION_CLOSING;
    session->peer_end = true;
    stream->state = IWARP_STATE_EXITED;
    stream->end.dropping = true;
    stream_flush(stream);
    event_start(stream, kind);
}

/* --- Active side ------------------------------------------------------------------------------------------------- */

int session_initiate(struct sctp_session *session, struct iwarp_sentence *sentence)
{
    struct iwarp_stream *stream = session->stream;
    struct negotiation_offer own;

    session_begin(session, SESSION_INITIATED);
    session->initiate_code = stream->config.enhanced ? DDP_SCTP_ENHANCED_INITIATE : DDP_SCTP_INITIATE;
    if (stream->config.enhanced)
        negotiate_request(stream, &own);
    if (session_say(session, session->initiate_code, stream->config.enhanced ? &own : NULL, true) != 0)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    stream->outbound.segments_allowed = SCTP_DECIDE(session, SCTP_SEGMENTS_ALLOWED, NULL, false);
    return 0;
}

static void accepted(struct sctp_session *session)
{
    struct iwarp_stream *stream = session->stream;
    const struct sctp_lower *lower = lower_of(stream);

    session->control_outstanding = 0; /* answered, so it has come (RFC 5043 6.6) */
    if (!lower->start.enhanced) {
        session_established(session);
        return;
    }
    /* A device that cannot do what the answer asks for sends its RDMAP Terminate: segments may be sent. */
    session->state = SESSION_OPEN;
    stream->state = IWARP_STATE_OPERATION;
    stream->outbound.segments_allowed = true;
    if (!negotiate_reply(stream, &lower->offer))
        return;
    session_established(session);
    negotiate_rtr(stream, &lower->offer);
}

/* --- Passive side ------------------------------------------------------------------------------------------------ */

int session_answer(struct sctp_session *session, bool accept)
{
    struct iwarp_stream *stream = session->stream;
    bool enhanced = session->initiate_code == DDP_SCTP_ENHANCED_INITIATE;
    struct negotiation_offer own;
    uint8_t code;

    if (accept)
        code = enhanced ? DDP_SCTP_ENHANCED_ACCEPT : DDP_SCTP_ACCEPT;
    else
        code = enhanced ? DDP_SCTP_ENHANCED_REJECT : DDP_SCTP_REJECT;
    code = (uint8_t)SCTP_NUMBER(session->association, session, SCTP_ANSWER_CODE, code);
    if (enhanced)
        negotiate_answer(stream, &lower_of(stream)->offer, &own);
    /* The word of RFC 6581 7 stands in Initiate and Accept; a Reject has the ULP's Private Data alone. */
    if (session_say(session, code, code == DDP_SCTP_ENHANCED_ACCEPT ? &own : NULL, true) != 0)
        return -1;
    session_decided(session);
    if (!accept) {
        rejected(session, IWARP_EVENT_REJECT_SENT);
        return 0;
    }
    if (enhanced)
        negotiate_accept(stream);
    session_established(session);
    return 0;
}

static void requested(struct sctp_session *session)
{
    struct iwarp_stream *stream = session->stream;

    if (session->initiate_code == DDP_SCTP_ENHANCED_INITIATE)
        negotiate_depths(stream, &lower_of(stream)->offer);
    event_start(stream, IWARP_EVENT_CONNECT_REQUEST);
    switch (SCTP_NUMBER(session->association, session, SCTP_ACCEPT_POLICY, stream->config.accept)) {
    case IWARP_ACCEPT_ASK: stream->state = IWARP_STATE_DECISION; break;
    case IWARP_ACCEPT_NOT:
        if (session_answer(session, false) != 0)
            stream->end.abort_wanted = true;
        break;
    case IWARP_ACCEPT:
    default:
        if (session_answer(session, true) != 0)
            stream->end.abort_wanted = true;
        break;
    }
}

/* --- Both -------------------------------------------------------------------------------------------------------- */

/*
 * The peer's last message. In answer to an Initiate it says that the request could not be put to the ULP (RFC 5043
 * 6.4). Else it ends the peer's direction: what this side still has to send it may send.
 */
static void peer_ends(struct sctp_session *session)
{
    session->peer_end = true;
    if (session->state == SESSION_INITIATED) {
        session->control_outstanding = 0;
        stream_fail_with(session->stream, NULL, WIRE_OK, VALIDATION_CLOSE,
                         "the peer could not put the request to its ULP, and sent a Terminate");
        stream_progress(session->stream);
        return;
    }
    iwarp_stream_input_fin(session->stream, session->association->now);
}

/* Found good, and in its turn. */
void session_receive_control(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    if (!SCTP_DECIDE(session, SCTP_CONTROL_OBEYED, message, true))
        return;
    if (SCTP_DECIDE(session, SCTP_CONTROL_REPORTED, message, true))
        association_event(session->association, IWARP_ASSOCIATION_CONTROL, session->sid, message->code);
    if (message->code != DDP_SCTP_TERMINATE)
        keep(session, message);
    switch (message->code) {
    case DDP_SCTP_INITIATE:
    case DDP_SCTP_ENHANCED_INITIATE:
        session->initiate_code = (uint8_t)message->code;
        requested(session);
        break;
    case DDP_SCTP_ACCEPT:
    case DDP_SCTP_ENHANCED_ACCEPT: accepted(session); break;
    case DDP_SCTP_REJECT:
    case DDP_SCTP_ENHANCED_REJECT:
        session->control_outstanding = 0;
        rejected(session, IWARP_EVENT_REJECTED);
        break;
    case DDP_SCTP_TERMINATE: peer_ends(session); break;
    default: break;
    }
    if (session->stream != NULL)
        stream_progress(session->stream);
}
