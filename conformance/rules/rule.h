/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules: what decides a requirement passively. One C function a requirement, fed with the events that
 * conformance/flow makes of segments, whether these come from the live wire or from a file.
 *
 * The sink of a flow decoder hands each event to rule_engine_event(), which calls the rules that want that kind of
 * event. They compare it with the flow's state before it. Nothing is allocated per event, no string is touched unless a
 * rule has something to say.
 *
 * At a flow's end, rule_engine_flow_results() gives one verdict for each requirement that its traffic exercised.
 * Libraries never print: texts are handed over as strings, owned by the engine until the flow ends.
 */
#ifndef CONFORMANCE_RULES_RULE_H
#define CONFORMANCE_RULES_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow;
struct flow_event;
struct rule_context; /* conformance/rules/rule_context.h: what a rule is called with */
struct rule_engine;

/* Whom a rule binds, by MPA role: the initiator is who sent the Request, whoever opened the TCP connection. */
enum rule_sender {
    RULE_ANY,
    RULE_INITIATOR,
    RULE_RESPONDER,
};

/* Worse is greater. */
enum rule_verdict {
    RULE_PASS,
    RULE_AMBIGUOUS, /* the texts allow two readings: the text says which one was taken */
    RULE_WARN,      /* a SHOULD that was not kept */
    RULE_FAIL,
    RULE_VERDICTS
};

struct rule {
    const char *id;          /* of the requirement in the catalogue: "RDMAP-4.8-02" */
    const char *function;    /* name of the C function, for `list` */
    const char *file;        /* the function's source file, from the root: "conformance/rules/terminate_rules.c" */
    uint32_t flows;          /* kinds of flows it judges: 1 << enum flow_kind each */
    uint32_t events;         /* the kinds it wants: 1 << enum flow_event_kind each */
    uint16_t opcodes;        /* of FLOW_RDMAP events: 1 << opcode each */
    enum rule_sender sender; /* whose deeds it judges */
    enum rule_verdict worst; /* RULE_FAIL; RULE_WARN for a SHOULD: rule_fail() then gives a warning */
    void (*judge)(struct rule_context *context);
    size_t index; /* its place in rule_at() */
};

/* The table of all rules; rule_at() gives NULL from rule_count() on, rule_find() NULL for an id without a rule. */
size_t rule_count(void);
const struct rule *rule_at(size_t index);
const struct rule *rule_find(const char *id);

/* "PASS", "AMBIGUOUS", "WARN", "FAIL" */
const char *rule_verdict_name(enum rule_verdict verdict);

/* What a rule said about one event. Strings live until the callback returns. */
struct rule_finding {
    const struct rule *rule;
    const struct flow *flow;
    unsigned direction; /* of the offender: as in struct flow_event */
    enum rule_verdict verdict;
    uint64_t frame;       /* number of the frame that shows it */
    const char *expected; /* what the text asks for */
    const char *actual;   /* what was seen */
    const char *message;  /* one sentence, with the section */
    const char
        *cause;       /* what other findings have in common with it (reports/results/cause.h); NULL: nothing is known */
    const char *hint; /* what is known of that; NULL like `cause`. Both live for ever */
    uint64_t count;   /* how often, as far as nobody was told before: 1, or more of what waited for the flow's end */
};

struct rule_config {
    /* Which requirements are wanted; NULL: all. Asked once for each rule, when the engine is created. */
    bool (*selected)(const char *id, void *argument);

    /*
     * Whether the deeds of the side that sends in `direction` of `flow` are judged; NULL: both sides are. An audit
     * judges both; a live run only the device under test, since its tester breaks rules on purpose. Asked once for each
     * flow and direction. The other side's events are tracked all the same.
     */
    bool (*judged)(const struct flow *flow, unsigned direction, void *argument);

    /* Called at each finding as it is made (not at passes); NULL: no wish. For expert items and packet comments. */
    void (*finding)(const struct rule_finding *finding, void *argument);

    void *argument; /* handed to all three */

    /* Every rule sees every event it wants, without the shortcut for segments that are in order as a whole. Same
     * verdicts, slower: tests compare the two. */
    bool thorough;
};

/* What flow_config.rule_state_octets has to be, so that an engine finds its state of a flow. */
size_t rule_state_octets(void);

/* A copy of *config is kept (NULL: all zero). NULL when memory is short. */
struct rule_engine *rule_engine_create(const struct rule_config *config);
void rule_engine_free(struct rule_engine *engine);

/*
 * Judges one event. State for a flow is made at its first event, and given back by rule_engine_flow_done(). The decoder
 * has to be created with rule_state_octets(); one engine judges one decoder's flows.
 */
void rule_engine_event(struct rule_engine *engine, const struct flow_event *event);

/* The same as a flow_sink, for a caller that wants nothing else; flows are given back at FLOW_END. */
void rule_engine_sink(void *engine, const struct flow_event *event);

/* One requirement that a flow exercised, both directions taken together. Strings live until the flow is done. */
struct rule_result {
    const struct rule *rule;
    enum rule_verdict verdict; /* the worst of all */
    uint64_t passes;           /* how often it was kept */
    uint64_t findings;         /* how often it was found with `verdict` */
    unsigned direction;        /* of the first finding; for a PASS, of the first side that exercised it */
    bool both;                 /* both sides have this verdict */
    uint64_t frame;            /* of the first finding; for a PASS, the first frame that exercised it */
    const char *expected;      /* "" for a PASS */
    const char *actual;
    const char *message;
    const char *cause; /* as of a finding */
    const char *hint;
};

typedef void rule_result_function(const struct rule_result *result, void *argument);

/*
 * Calls `function` for each requirement exercised, in the table's order; returns how many. Meant for the flow's last
 * event (FLOW_END), after rule_engine_event() has seen it; earlier it gives the verdicts so far.
 */
size_t rule_engine_flow_results(struct rule_engine *engine, const struct flow *flow, rule_result_function *function,
                                void *argument);

/* Gives back what is kept for a flow. rule_engine_free() does so for all that are left. */
void rule_engine_flow_done(struct rule_engine *engine, const struct flow *flow);

#endif
