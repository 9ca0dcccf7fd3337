/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an association, a user message of SCTP, and the order of messages in a session must not be (RFC 5043, RFC 6581
 * 7).
 */
#include "reference-stack/validation/validation_predicates.h"

/* --- Association (RFC 5043 8, 11.1; draft 4, 7.1) ---------------------------------------------------------------- */

bool holds_indication(const struct validation_subject *subject)
{
    return subject->session->admitted;
}

bool holds_streams(const struct validation_subject *subject)
{
    return subject->session->streams != 0;
}

/* --- A user message (RFC 5043 5.2, draft 2.2) -------------------------------------------------------------------- */

static const struct ddp_sctp_message *message_of(const struct validation_subject *subject)
{
    return subject->session->message;
}

bool holds_message_ppid(const struct validation_subject *subject)
{
    return message_of(subject)->kind != DDP_SCTP_FOREIGN && message_of(subject)->profile == subject->session->profile;
}

/* What lacks a part of its DDP Segment's header is DDP's to judge, in its turn. */
bool holds_message_header(const struct validation_subject *subject)
{
    switch (message_of(subject)->kind) {
    case DDP_SCTP_SEGMENT: return message_of(subject)->has_ssn;
    case DDP_SCTP_CONTROL: return subject->count >= DDP_SCTP_CONTROL_OCTETS;
    case DDP_SCTP_DRAFT_CONTROL: return subject->count >= DDP_SCTP_DRAFT_CONTROL_OCTETS;
    case DDP_SCTP_FOREIGN:
    default: return false;
    }
}

/* --- A message in its turn (RFC 5043 6, RFC 6581 7) -------------------------------------------------------------- */

static bool is_control(const struct validation_subject *subject)
{
    return message_of(subject)->kind == DDP_SCTP_CONTROL;
}

static bool is_of(const struct validation_subject *subject, int active)
{
    return is_control(subject) && message_of(subject)->row->name != NULL && message_of(subject)->row->active == active;
}

bool holds_session_not_over(const struct validation_subject *subject)
{
    return !subject->session->over;
}

bool holds_session_code(const struct validation_subject *subject)
{
    return !is_control(subject) || message_of(subject)->row->name != NULL;
}

bool holds_session_enhanced(const struct validation_subject *subject)
{
    return !is_control(subject) || subject->session->enhanced || message_of(subject)->code < DDP_SCTP_ENHANCED_INITIATE;
}

bool holds_session_word(const struct validation_subject *subject)
{
    return !is_control(subject) || !message_of(subject)->row->has_word || message_of(subject)->has_word;
}

/* A Terminate with Private Data ends the session all the same. */
bool holds_session_private_data(const struct validation_subject *subject)
{
    return !is_control(subject) || message_of(subject)->private_octets <= DDP_SCTP_PRIVATE_DATA_MAX ||
           message_of(subject)->code == DDP_SCTP_TERMINATE;
}

bool holds_session_initiate(const struct validation_subject *subject)
{
    return !is_of(subject, 1) || subject->session->request_due;
}

bool holds_session_answer(const struct validation_subject *subject)
{
    return !is_of(subject, 0) || subject->session->answer_due;
}

/* Codes 6 and 7 answer code 5. A plain Reject says no to either: RFC 6581 7 names it for what is refused anyhow. */
bool holds_session_answer_kind(const struct validation_subject *subject)
{
    bool enhanced = subject->session->initiate_code == DDP_SCTP_ENHANCED_INITIATE;

    if (!is_of(subject, 0))
        return true;
    switch (message_of(subject)->code) {
    case DDP_SCTP_ACCEPT: return !enhanced;
    case DDP_SCTP_ENHANCED_ACCEPT:
    case DDP_SCTP_ENHANCED_REJECT: return enhanced;
    default: return true;
    }
}

bool holds_session_segment(const struct validation_subject *subject)
{
    return message_of(subject)->kind != DDP_SCTP_SEGMENT || subject->session->segments_due;
}

/* --- The draft's control message (draft 2.2) --------------------------------------------------------------------- */

bool holds_reset_code(const struct validation_subject *subject)
{
    return message_of(subject)->code == DDP_SCTP_STREAM_RESET;
}

bool holds_reset_length(const struct validation_subject *subject)
{
    return message_of(subject)->private_octets == 0;
}
