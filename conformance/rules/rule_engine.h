/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine's insides: tallies of a flow, dispatch, and the short way for segments that are in order as a whole. */
#ifndef CONFORMANCE_RULES_RULE_ENGINE_H
#define CONFORMANCE_RULES_RULE_ENGINE_H

#include "conformance/rules/end_cause.h"
#include "conformance/rules/rule_context.h"

/*
 * Events are of a class by what decides which rules they concern. The first event of a class that is wholly in order
 * is shown to every rule, and those that pass it are noted; the next ones are only counted.
 */
enum {
    QUICK_FPDU = 0,                       /* pad or none */
    QUICK_DDP = 2,                        /* tagged, open, last */
    QUICK_RDMAP = 10,                     /* opcode, first, last */
    QUICK_CLASSES = QUICK_RDMAP + 16 * 4, /* those of both directions have a place in an octet */
    RULE_WORDS = (RULE_COUNT + 63) / 64,
};

/* What a rule said first, and with the worst verdict so far. */
struct rule_said {
    uint64_t frame;
    const char *expected, *actual, *message; /* in texts */
    const char *cause, *hint;                /* NULL, or texts that live for ever */
    char texts[];
};

struct rule_tally {
    uint64_t passes;
    uint64_t pass_frame; /* first one */
};

/* Of one direction. A flow exercises few rules of all: there is a tally for each of these. */
struct rule_tallies {
    struct rule_tally *list;
    uint16_t count, room;
    uint16_t place[RULE_COUNT]; /* in list, from 1; 0: the rule was not exercised */
};

_Static_assert(RULE_COUNT < UINT16_MAX, "each rule has a place in 16 bits");

/* What a rule found in one direction. Most flows have none: it is made at the first finding. */
struct rule_found {
    struct rule_found *next;
    size_t rule;       /* its index */
    uint64_t findings; /* with `verdict` */
    struct rule_said *said;
    struct rule_said *pending; /* of rule_fail_unless_lost() */
    uint64_t pending_count;
    uint64_t pending_behind;   /* FPDUs of the other side that had been decoded by then */
    enum rule_verdict verdict; /* RULE_PASS until something is more than pending */
    uint64_t order;            /* events of the flow up to the one that was the first to have `verdict` */
    uint64_t pending_order;    /* the same of `pending` */
};

struct quick_class {
    bool never; /* some rule found something: the class is not quick */
    uint8_t direction;
    uint64_t count;
    uint64_t passed[RULE_WORDS];
};

struct rule_flow {
    struct rule_flow *next, **link;
    const struct flow *flow;
    struct rule_side sides[FLOW_DIRECTIONS];
    uint64_t events;        /* so far */
    struct end_cause *ends; /* END_CAUSES_MAX of them; NULL: none yet */
    unsigned end_count;
    unsigned flags; /* of both sides: classes hold while they stay the same */
    unsigned quick_count, quick_room;
    struct quick_class *quick;                     /* those that events came of, in the order of their first ones */
    uint8_t place[FLOW_DIRECTIONS][QUICK_CLASSES]; /* of a class in quick[], from 1; 0: no event of it came */
    struct rule_found *found[FLOW_DIRECTIONS];
    struct rule_tallies tallies[FLOW_DIRECTIONS];
};

enum { RULE_SLOTS = FLOW_END + 1 + 16 }; /* event kinds; FLOW_RDMAP's by opcode after them */

struct rule_dispatch {
    unsigned count;
    const struct rule *rules[RULE_COUNT];
};

struct rule_engine {
    struct rule_config config;
    struct rule_flow *flows;
    struct quick_class *learning;
    bool partial; /* some rules are not selected */
    /* Initiator, Responder, roles not known */
    struct rule_dispatch dispatch[FLOW_KINDS][3][RULE_SLOTS];
};

/* The engine's state of a flow stands behind a pointer in the flow's scratch octets; NULL: there is none. */
struct rule_flow *rule_flow_of(const struct flow *flow);

/* The class of an event that breaks no rule, or -1 when that takes a closer look. */
int quick_class_of(const struct rule_flow *state, const struct flow_event *event);

/* The class, of which the first event has come; NULL without memory. */
struct quick_class *quick_class_make(struct rule_flow *state, unsigned direction, int index);

/* Adds what classes counted to the tallies. */
void quick_settle(struct rule_flow *state);

/* Forgets the classes: what they stand for has changed. */
void quick_forget(struct rule_flow *state);

/* NULL: the rule was not exercised in that direction. */
static inline struct rule_tally *rule_tally_of(const struct rule_flow *state, unsigned direction, size_t rule)
{
    const struct rule_tallies *tallies = &state->tallies[direction];

    return tallies->place[rule] != 0 ? &tallies->list[tallies->place[rule] - 1] : NULL;
}

/* What was found of a rule in one direction; NULL when nothing was. */
static inline struct rule_found *rule_found_of(const struct rule_flow *state, unsigned direction, size_t rule)
{
    struct rule_found *found = state->found[direction];

    while (found != NULL && found->rule != rule)
        found = found->next;
    return found;
}

/* The event is an end (end_cause_read()), and has been judged: it is kept, and reported to config.end. */
void rule_end_keep(struct rule_engine *engine, struct rule_flow *state, const struct flow_event *event,
                   const struct end_cause *cause);

/* The flow ends: what waited for that is a finding, if the other side's stream has no holes. */
void rule_found_settle(struct rule_engine *engine, struct rule_flow *state, unsigned direction,
                       struct rule_found *found);

#endif
