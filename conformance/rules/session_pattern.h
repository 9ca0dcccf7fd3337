/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The legal sequences of a DDP Stream Session (RFC 5043 6.2 to 6.4): what a message is in the one that its session
 * follows.
 */
#ifndef CONFORMANCE_RULES_SESSION_PATTERN_H
#define CONFORMANCE_RULES_SESSION_PATTERN_H

#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/rules/rule_context.h"

enum session_step {
    SESSION_LEGAL,
    SESSION_ILLEGAL,    /* whatever its sender knew */
    SESSION_NO_SESSION, /* the same: a segment, and no session was opened */
    SESSION_CROSSING,   /* an Initiate that crosses the other side's, or may (6.4: no sequence covers it) */
    /* it depends on what its sender knew, and the capture does not show that; or it answers what is illegal */
    SESSION_OPEN,
};

/*
 * The message of a FLOW_SESSION or FLOW_ULPDU event of a FLOW_STREAM by RFC 5043, `side` and `peer` as they were before
 * it. `wanted` becomes what was due when the step is ILLEGAL or NO_SESSION.
 */
enum session_step session_step(const struct flow_event *event, const struct rule_side *side,
                               const struct rule_side *peer, const char **wanted);

/* The session was captured from its beginning, with nothing missing. */
bool session_is_whole(const struct flow *flow);

bool session_is_initiate(uint32_t code);
bool session_is_accept(uint32_t code);
bool session_is_reject(uint32_t code);

#endif
