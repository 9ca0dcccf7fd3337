/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/session_pattern.h"

bool session_is_whole(const struct flow *flow)
{
    return !flow->late && !flow->gap && !flow->unordered;
}

bool session_is_initiate(uint32_t code)
{
    return code == DDP_SCTP_INITIATE || code == DDP_SCTP_ENHANCED_INITIATE;
}

bool session_is_accept(uint32_t code)
{
    return code == DDP_SCTP_ACCEPT || code == DDP_SCTP_ENHANCED_ACCEPT;
}

bool session_is_reject(uint32_t code)
{
    return code == DDP_SCTP_REJECT || code == DDP_SCTP_ENHANCED_REJECT;
}

/* The Function Code of the event's message; 0: it is a segment. */
static uint32_t code_of(const struct flow_event *event)
{
    return event->kind == FLOW_SESSION ? event->session->message.code : 0;
}

static const struct flow_session *message_of(const struct flow_event *event)
{
    return event->kind == FLOW_SESSION ? event->session : event->ulpdu->message;
}

static enum session_step illegal(const char **wanted, const char *text)
{
    *wanted = text;
    return SESSION_ILLEGAL;
}

/* The sender had acknowledged the other side's first message. */
static bool knew_opening(const struct flow_event *event, enum flow_direction other)
{
    const struct flow_sctp_state *state = event->flow->sctp;

    return state->opening[other] != 0 && flow_session_acked(message_of(event), state->opening_tsn[other]);
}

/*
 * A Terminate after a refusal, and segments that the other side sent all the same: the chunk that fits no pattern (RFC
 * 5043 6.1).
 */
static bool answers_surplus(const struct flow_event *event)
{
    const struct flow_sctp_state *state = event->flow->sctp;

    return event->direction == FLOW_FROM_RESPONDER && code_of(event) == DDP_SCTP_TERMINATE &&
           !session_is_accept(state->opening[FLOW_FROM_RESPONDER]) && state->segments[FLOW_FROM_INITIATOR] != 0;
}

static enum session_step first_of_active(const struct flow_event *event, const char **wanted)
{
    if (event->kind == FLOW_ULPDU) {
        *wanted = "a DDP Stream Session";
        return SESSION_NO_SESSION;
    }
    return session_is_initiate(code_of(event)) ? SESSION_LEGAL : illegal(wanted, "an Initiate");
}

static enum session_step first_of_passive(const struct flow_event *event, const char **wanted)
{
    const struct flow_sctp_state *state = event->flow->sctp;
    uint32_t code = code_of(event);

    if (session_is_initiate(code) && state->opening[FLOW_FROM_INITIATOR] != 0)
        return knew_opening(event, FLOW_FROM_INITIATOR) ? illegal(wanted, "an Accept, Reject or Terminate")
                                                        : SESSION_CROSSING;
    if (session_is_accept(code) || session_is_reject(code) || code == DDP_SCTP_TERMINATE)
        return SESSION_LEGAL;
    return illegal(wanted, "an Accept, Reject or Terminate");
}

static enum session_step later_of_active(const struct flow_event *event, const char **wanted)
{
    uint32_t code = code_of(event), answer = event->flow->sctp->opening[FLOW_FROM_RESPONDER];
    bool refused = answer != 0 && !session_is_accept(answer);

    if (event->kind == FLOW_SESSION && code != DDP_SCTP_TERMINATE)
        return illegal(wanted, "a DDP Segment or Terminate");
    if (!refused)
        return SESSION_LEGAL;
    /* Before it had the refusal it may have gone on (6.6: the SACK of the Initiate is enough). */
    return knew_opening(event, FLOW_FROM_RESPONDER)
               ? illegal(wanted, "nothing after the refusal, which its sender has acknowledged")
               : SESSION_OPEN;
}

static enum session_step later_of_passive(const struct flow_event *event, const char **wanted)
{
    if (!session_is_accept(event->flow->sctp->opening[FLOW_FROM_RESPONDER]))
        return illegal(wanted, "nothing after a session that was not accepted");
    return event->kind == FLOW_ULPDU || code_of(event) == DDP_SCTP_TERMINATE
               ? SESSION_LEGAL
               : illegal(wanted, "a DDP Segment or Terminate");
}

enum session_step session_step(const struct flow_event *event, const struct rule_side *side,
                               const struct rule_side *peer, const char **wanted)
{
    const struct flow_sctp_state *state = event->flow->sctp;
    enum flow_direction direction = event->direction;

    *wanted = NULL;
    if (peer->out_of_pattern || side->crossed || peer->crossed)
        return SESSION_OPEN;
    if (state->ended[direction] != 0)
        return answers_surplus(event) ? SESSION_OPEN : illegal(wanted, "nothing after the Terminate or Reject");
    if (state->chunks[direction] == 0 || (event->kind == FLOW_ULPDU && state->opening[direction] == 0))
        return direction == FLOW_FROM_INITIATOR ? first_of_active(event, wanted) : first_of_passive(event, wanted);
    return direction == FLOW_FROM_INITIATOR ? later_of_active(event, wanted) : later_of_passive(event, wanted);
}
