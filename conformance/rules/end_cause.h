/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a flow ended: for each Terminate (RFC 5040 4.8), reset and reject, what it quotes, which message that was, what
 * was negotiated, and which side broke which rule first. Audit, dump and the Wireshark plugin show it; all of them take
 * it from here, and its sentence from end_cause_text().
 *
 * Ends are: an RDMAP Terminate; an RST, over SCTP an ABORT; a Reply with R = 1, over SCTP a Stream Session Reject (RFC
 * 5043 6.3, RFC 6581 7), of the CM a REJ (IBTA 12.6.7).
 */
#ifndef CONFORMANCE_RULES_END_CAUSE_H
#define CONFORMANCE_RULES_END_CAUSE_H

#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"

enum end_kind { END_TERMINATE, END_RESET, END_REJECT, END_KINDS };

enum end_quote {
    END_QUOTES_NOTHING,
    END_QUOTES_SENT,    /* a segment that the other side was seen to send */
    END_QUOTES_UNKNOWN, /* a header of no segment that is remembered */
    END_QUOTES_START,   /* a reject: the frame that asked */
};

/* The message that an end quotes, as far as its segments are remembered (FLOW_SENT_MAX). */
struct end_quoted {
    const char *message;         /* "Send", "RDMA Write", ...; "opcode 8" has no name and NULL */
    uint64_t first_frame, frame; /* of the message, or of what asked: with its first octet, and with its last */
    uint64_t segment_frame;      /* the segment whose header is quoted */
    uint64_t octets;             /* DDP payload of the message */
    uint32_t segments;
    uint8_t opcode;
    bool whole; /* its last segment is among them */
};

/*
 * A rule that was broken before the end, or where none was one whose finding is a WARN. Its strings live until the flow
 * is done.
 */
struct end_broken {
    const struct rule *rule; /* NULL: neither was */
    enum flow_direction direction;
    uint64_t frame;
    const char *expected, *actual;
    bool selected_only; /* some rules were not selected: they were not asked */
    bool warned;        /* it is a WARN */
};

/* The rule that was broken; NULL: none was, whatever WARN there is. */
static inline const struct rule *end_broken_rule(const struct end_broken *broken)
{
    return broken->warned ? NULL : broken->rule;
}

struct end_cause {
    enum end_kind kind;
    enum flow_direction direction; /* who ended it */
    uint64_t frame;
    uint64_t order; /* events of the flow up to it */
    bool readable;  /* a Terminate: its control word is there */
    bool swapped;   /* and `error` is what it means (wire/terminate_meant.h) */
    wire_result error;
    uint32_t code; /* a REJ: its reason; a Stream Session message: its Function Code */
    enum end_quote quote;
    struct end_quoted quoted;
    struct end_broken broken;
    bool after; /* another end came before it: its kind and sender */
    enum end_kind after_kind;
    enum flow_direction after_direction;
};

enum {
    END_CAUSES_MAX = 4, /* kept of a flow: later ones end nothing */
    END_CAUSE_TEXT = 768,
    END_NEGOTIATED_TEXT = 288,
};

/* "terminate", "reset", "reject" */
const char *end_kind_name(enum end_kind kind);

/*
 * True if the event is an end. Then *cause has all but what rules say, from the flow's state before the event. Called
 * for every event: what is no end costs a comparison.
 */
bool end_cause_read(const struct flow_event *event, struct end_cause *cause);

/* "MPA Rev 2, CRC, no Markers, IRD 32 and ORD 0 asked for, IRD 0 and ORD 8 granted"; returns `text`. */
const char *end_negotiated_text(const struct flow *flow, char *text, size_t room);

/*
 * One sentence without its full stop: what it quotes, what was negotiated, and who broke which rule first. Frames are
 * called "frame N" throughout. Returns `text` (END_CAUSE_TEXT octets hold it; longer is cut).
 */
const char *end_cause_text(const struct flow *flow, const struct end_cause *cause, char *text, size_t room);

#endif
