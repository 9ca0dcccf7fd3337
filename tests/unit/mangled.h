/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures of lawful and of faulty traffic for tests that mangle them, and what the rules say of a capture. */
#ifndef TESTS_UNIT_MANGLED_H
#define TESTS_UNIT_MANGLED_H

#include "conformance/rules/rule.h"
#include "conformance/rules/rule_list.h"
#include "tests/support/mangle.h"

/* One capture that tests mangle. */
struct mangled_source {
    char name[80];
    struct mangle_capture *capture;
    int verdict[RULE_COUNT]; /* of each rule in the capture as it is: -1 for one that was not exercised */
    unsigned kinds;          /* 1 << enum flow_kind of each kind of flow in it */
};

struct mangled_sources {
    struct mangled_source *list;
    size_t count;
};

/*
 * All of pcaps/ in which no rule says FAIL (`faulty`: in which some does), and as many exchanges of two reference
 * stacks over a bad wire, captured at different places (stack_sim.h; none when `faulty`). The tests run in the root of
 * the tree.
 */
void mangled_load(struct mangled_sources *sources, bool faulty, size_t exchanges);
void mangled_free(struct mangled_sources *sources);

/* What the rules said of a capture. */
struct mangled_verdicts {
    int verdict[RULE_COUNT]; /* -1: not exercised */
    char message[RULE_COUNT][160];
    uint64_t flows;
    unsigned kinds;         /* as of a source */
    bool adds_up;           /* struct flow_octets of each flow, and the account of all frames and octets */
    bool whole;             /* nothing is unjudged or missing: the capture would conform if no rule found anything */
    uint64_t user_octets;   /* of SCTP user messages that were reported */
    uint64_t messages;      /* of the CM that were */
    uint64_t stream_octets; /* of connections with MPA: those that TCP delivers, */
    uint64_t framed_octets; /* and those in start-up frames and FPDUs that were reported, or of the ULP before them */
};

/* What a capture has of these, each TSN once: what is neither reported nor unjudged was lost on the way. */
uint64_t mangled_user_octets(const struct mangle_capture *capture);
uint64_t mangled_messages(const struct mangle_capture *capture);

void mangled_judge(const struct mangle_capture *capture, bool thorough, struct mangled_verdicts *verdicts);

#endif
