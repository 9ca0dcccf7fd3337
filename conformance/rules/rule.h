/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rule judges one requirement by watching traffic. It is one C function. Its input is the events that
 * conformance/flow makes of segments, from the live wire or from a file.
 *
 * The sink of a flow decoder hands each event to rule_engine_event(), which calls the rules that want that kind of
 * event. Rules compare the event with the flow's state before it. No memory is allocated per event, and no text is made
 * unless a rule has a finding.
 *
 * At a flow's end, rule_engine_flow_results() gives one verdict for each requirement that its traffic exercised.
 * Libraries never print: the engine returns texts as strings, and owns them until the flow ends.
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
struct end_cause; /* conformance/rules/end_cause.h */

/*
 * The side that a rule binds, by MPA role. The initiator is the side that sent the Request, even if the other side
 * opened the TCP connection.
 */
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
    enum rule_sender sender; /* the side that it judges */
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
    uint64_t count;   /* findings not reported before: 1, or more if they waited for the flow's end */
};

struct rule_config {
    /* Which requirements are wanted; NULL: all. Asked once for each rule, when the engine is created. */
    bool (*selected)(const char *id, void *argument);

    /*
     * True if the side that sends in `direction` of `flow` is judged; NULL: both sides are. An audit judges both. A
     * live run judges only the device under test, as its tester breaks rules on purpose. Called once for each flow and
     * direction. Events of a side that is not judged still update the state.
     */
    bool (*judged)(const struct flow *flow, unsigned direction, void *argument);

    /*
     * Called for each finding when it is made (not for passes); NULL: not called. For expert items and packet comments.
     */
    void (*finding)(const struct rule_finding *finding, void *argument);

    /*
     * Called for each end (conformance/rules/end_cause.h) after its rules, with what is known by then; NULL: not
     * called. What waits for the flow's end rule_engine_flow_ends() knows.
     */
    void (*end)(const struct flow *flow, const struct end_cause *cause, void *argument);

    void *argument; /* handed to all four */

    /*
     * Turns off the shortcut for segments that are wholly in order: each rule sees each of its events. The verdicts are
     * the same, but it is slower; tests compare the two.
     */
    bool thorough;
};

/* The value for flow_config.rule_state_octets: the engine keeps its state of a flow there. */
size_t rule_state_octets(void);

/* A copy of *config is kept (NULL: all zero). NULL when memory is short. */
struct rule_engine *rule_engine_create(const struct rule_config *config);
void rule_engine_free(struct rule_engine *engine);

/*
 * Judges one event, and those that `next` leads to. A flow's first event creates its state; rule_engine_flow_done()
 * frees it. The decoder has to be created with rule_state_octets(). One engine judges the flows of one decoder.
 */
void rule_engine_event(struct rule_engine *engine, const struct flow_event *event);

/* The same as a flow_sink, for a caller that does nothing else with events; it frees a flow's state at FLOW_END. */
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

/*
 * Calls `function` for each end of the flow (conformance/rules/end_cause.h), in the order of events; returns how many.
 * Meant for FLOW_END, like rule_engine_flow_results().
 */
typedef void rule_end_function(const struct flow *flow, const struct end_cause *cause, void *argument);
size_t rule_engine_flow_ends(struct rule_engine *engine, const struct flow *flow, rule_end_function *function,
                             void *argument);

/* Frees the state of a flow. rule_engine_free() frees the state of all flows that are left. */
void rule_engine_flow_done(struct rule_engine *engine, const struct flow *flow);

/* What a caller wants of a flow at its end: its results, then its ends. NULL: not called. */
struct rule_flow_end {
    rule_result_function *result;
    rule_end_function *end;
    void *argument; /* of both */
};

/* The three above in one, after rule_engine_event() has seen FLOW_END. */
void rule_engine_flow_end(struct rule_engine *engine, const struct flow *flow, const struct rule_flow_end *wanted);

#endif
