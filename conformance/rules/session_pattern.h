/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The legal sequences of a DDP Stream Session (RFC 5043 6.2 to 6.4): whether a message is a legal next step of its
 * session.
 */
#ifndef CONFORMANCE_RULES_SESSION_PATTERN_H
#define CONFORMANCE_RULES_SESSION_PATTERN_H

#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/rules/rule_context.h"

enum session_step {
    SESSION_LEGAL,
    SESSION_ILLEGAL,    /* illegal in any state of its sender */
    SESSION_NO_SESSION, /* the same: a segment, and no session was opened */
    SESSION_CROSSING,   /* an Initiate that crosses the other side's, or may (6.4: no sequence covers it) */
    /*
     * not decided: it depends on what its sender knew, which the capture does not show, or it answers an illegal
     * message
     */
    SESSION_OPEN,
};

/*
 * Judges the message of a FLOW_SESSION or FLOW_ULPDU event of a FLOW_STREAM by RFC 5043. `side` and `peer` are the
 * states before the message. If the step is ILLEGAL or NO_SESSION, `wanted` becomes the message that was due.
 */
enum session_step session_step(const struct flow_event *event, const struct rule_side *side,
                               const struct rule_side *peer, const char **wanted);

/* True if the session was captured from its beginning, with nothing missing. */
bool session_is_whole(const struct flow *flow);

bool session_is_initiate(uint32_t code);
bool session_is_accept(uint32_t code);
bool session_is_reject(uint32_t code);

#endif
