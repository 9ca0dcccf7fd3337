/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The argument of a rule, and the functions by which a rule gives its verdict. If a rule calls none of them, the event
 * did not concern it: only rule_pass() and findings count as "exercised".
 *
 * A rule looks at ctx->event and at the flow's state before that event. It gives no verdict when the capture leaves the
 * question open: a gap, a bad CRC (the octets may not be what was sent), a side that was not captured, roles not known.
 *
 * Whether a side sent something before or after a message of the other side is decided by what it had received
 * (rule_not_received()), never by the order of frames in a capture: taps, network cards and tools that merge files put
 * the two directions in any order.
 */
#ifndef CONFORMANCE_RULES_RULE_CONTEXT_H
#define CONFORMANCE_RULES_RULE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"
#include "conformance/rules/rule_list.h"
#include "wire/hint.h"
#include "wire/terminate_meant.h"

/* The message in progress on a queue, or of the tagged kind, beyond what the flow keeps. */
struct rule_message {
    uint8_t control;   /* control octet of its first segment */
    bool out_of_order; /* a segment did not follow the one before: the sums below are kept from then on */
    bool mixed;        /* segments of two messages, or its beginning is not known: nothing is judged until one ends */
    bool unknown;      /* tagged: after a loss no segment has come */
    uint64_t last;     /* MO or TO of the segment before */
    int64_t lowest;    /* of all offsets, counted from MO 0 or from the TO of the first segment */
    int64_t highest;   /* end of the segment that reaches farthest */
    uint64_t octets;   /* payload so far */
};

/* What rules need to know of one side beyond struct flow_half. Updated after each event. */
struct rule_side {
    bool judged;
    bool unsure; /* something of this side was not captured, or not understood */
    bool lost;   /* and the flow's state does not cover what comes after it: continuity is not judged any more */
    bool holes;  /* octets of it are missing in the capture, or were not understood */
    /* a Read Request of this side could not be read: a Read Response that answers no other may answer it */
    bool requests_unsure;
    bool crc_failed;       /* an FPDU had a bad CRC: found once, as later FPDUs may be cut wrongly */
    bool pad_waits;        /* the last FPDU's end, and so its pad's end, is only known from what follows it: */
    uint8_t pad_octets[4]; /* that pad, */
    size_t pad_count;
    uint64_t pad_frame;    /* and its frame */
    bool marked_otherwise; /* its first FPDU has Markers where none are agreed, or none where some are */
    bool start_bad;        /* its start-up frame was malformed */
    bool word_missing;     /* by S = 1 without room for the enhanced word */
    bool terminated;       /* it sent a Terminate */
    /* SCTP: a message of it fits no legal sequence: what the other side answers is not judged by them */
    bool out_of_pattern;
    bool crossed;    /* SCTP: its Initiate crossed that of the other side */
    uint32_t resets; /* SCTP, draft: new DDP streams, by a Stream Reset of either side */
    bool version_known;
    uint8_t version;                /* DV of its first segment */
    uint32_t longest_quick;         /* ULPDUs up to this length keep all rules on lengths */
    uint32_t mulpdu;                /* from the other side's MSS; 0: not known */
    uint64_t fpdus, aligned, split; /* FPDUs; those that begin a TCP segment; those that lie in more than one */
    unsigned odd_messages;          /* queue[] and tagged that are out_of_order or mixed */
    struct rule_message queue[FLOW_QUEUES];
    struct rule_message tagged;
};

struct rule_flow;

struct rule_context {
    const struct flow_event *event;
    const struct flow *flow;
    const struct flow_half *half;  /* of the sender, before the event */
    const struct flow_half *other; /* of its peer */
    const struct rule_side *side;  /* of the sender */
    const struct rule_side *peer;
    enum flow_direction direction;
    struct terminate_meant terminate; /* FLOW_RDMAP with opcode 7 only */

    /* Of the engine: */
    const struct rule *rule;
    struct rule_engine *engine;
    struct rule_flow *state;
    const char *cause, *hint; /* of rule_because() */
    bool said_pass;
    unsigned text;
    char texts[6][160];
};

/*
 * Names the cause of this rule's next finding in the event. Findings of rules and checks that name the same cause come
 * from one fault of the sender, and reports show them once (reports/results/cause.h). HINT_NONE: the cause is not
 * known.
 */
void rule_because(struct rule_context *ctx, enum hint_kind kind);

/* The requirement was exercised and kept. */
void rule_pass(struct rule_context *ctx);

/*
 * The requirement was broken: FAIL, or WARN for a rule whose `worst` is RULE_WARN. `expected` and `actual` are short
 * and are shown side by side; `format` is a sentence that names the section. The texts are copied only at the first
 * finding of a flow and direction.
 */
__attribute__((format(printf, 4, 5))) void rule_fail(struct rule_context *ctx, const char *expected, const char *actual,
                                                     const char *format, ...);

/*
 * The same for a breach that depends on what the other side has sent: octets that close a gap in its stream may still
 * come. If there is no gap in it at the flow's end, the breach becomes a finding. There is no finding at all if it is
 * not known what the sender had received (flow->unordered).
 */
__attribute__((format(printf, 4, 5))) void rule_fail_unless_lost(struct rule_context *ctx, const char *expected,
                                                                 const char *actual, const char *format, ...);

/* A deviation that the text tolerates, or that has another cause than a fault: never worse than WARN. */
__attribute__((format(printf, 4, 5))) void rule_warn(struct rule_context *ctx, const char *expected, const char *actual,
                                                     const char *format, ...);

/* The texts allow two readings; `actual` says which one the sender took. */
__attribute__((format(printf, 4, 5))) void rule_ambiguous(struct rule_context *ctx, const char *expected,
                                                          const char *actual, const char *format, ...);

/* Pass or fail in one call, for rules that compare one number. */
void rule_judge_number(struct rule_context *ctx, uint64_t expected, uint64_t actual, const char *what,
                       const char *section);

/* Formats a text that lives until the rule returns (at most six for one event; the oldest is overwritten). */
__attribute__((format(printf, 2, 3))) const char *rule_text(struct rule_context *ctx, const char *format, ...);

/* "01 02 0a ..." of at most 32 octets, likewise. */
const char *rule_octets(struct rule_context *ctx, const uint8_t *octets, size_t count);

/* True if nothing of the flow is missing, and what both sides have said is known as far as the capture shows. */
static inline bool rule_is_whole(const struct rule_context *ctx)
{
    return !ctx->flow->gap && !ctx->flow->unordered && !ctx->side->unsure && !ctx->peer->unsure;
}

/*
 * True if nothing was missing before this segment. After missing octets the flow's state holds nothing from before
 * them.
 */
static inline bool rule_continuous(const struct rule_context *ctx)
{
    return !ctx->side->lost;
}

/*
 * True if the event's sender, when it sent the event, had not received all octets before `end` of the other direction;
 * the acknowledgment number of its segment proves it. False: it may have received them, or nothing is known.
 */
static inline bool rule_not_received(const struct rule_context *ctx, uint64_t end)
{
    return ctx->event->received != 0 && ctx->event->received < end;
}

/* True if this side's stream was captured without a hole, from its start-up frame on. */
static inline bool rule_from_start(const struct rule_context *ctx, enum flow_direction direction)
{
    const struct rule_side *side = direction == ctx->direction ? ctx->side : ctx->peer;

    if (ctx->flow->kind == FLOW_STREAM)
        return !ctx->flow->late && !ctx->flow->unordered && ctx->flow->half[direction].start_known && !side->unsure;
    return !ctx->flow->late && !flow_is_unmatched(ctx->flow) && flow_start_of(ctx->flow, direction) != NULL &&
           ctx->flow->half[direction].start_known && !side->unsure && !side->start_bad;
}

/* Every rule of the list. */
#define RULE_DECLARE(file, id, function, events, opcodes, sender, worst) void function(struct rule_context *ctx);
RULE_LIST(RULE_DECLARE)

#endif
