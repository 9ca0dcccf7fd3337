/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_monitor.c: the command, its privileges and its loop; monitor_findings.c: what becomes of each finding;
 * monitor_say.c: where it is said; monitor_end.c: the end.
 */
#ifndef CONFORMANCE_ENGINE_MONITOR_INTERNAL_H
#define CONFORMANCE_ENGINE_MONITOR_INTERNAL_H

#include "conformance/engine/judge/flow_judge.h"
#include "conformance/engine/monitor/monitor_counts.h"
#include "conformance/engine/monitor/monitor_evidence.h"
#include "conformance/engine/monitor/monitor_known.h"
#include "conformance/engine/monitor/monitor_log.h"
#include "conformance/engine/monitor/monitor_options.h"
#include "conformance/engine/monitor/monitor_rate.h"
#include "reports/writers/terminal.h"

enum { MONITOR_NOTE_OCTETS = 512 };

struct monitor {
    const struct monitor_options *options;
    const struct catalogue *catalogue;
    struct monitor_interface interfaces[MONITOR_INTERFACES];
    const struct monitor_interface *reading; /* whose frame is judged; NULL: time goes on */
    struct flow_judge *judge;
    struct known_findings known;
    struct monitor_log *log;           /* NULL: neither a file nor jsonl */
    struct monitor_evidence *evidence; /* NULL: none */
    struct terminal terminal;
    struct monitor_rate said, written, cut; /* to people; to the log; to the evidence folder */
    uint64_t untold_since;                  /* findings that were not said since the last line about them */
    struct monitor_counts counts;
    bool *exercised;          /* by index in the catalogue */
    uint64_t now_ns, ends_ns; /* of the last frame or look at the clock; 0: it is not to end */
    uint64_t frames;          /* of all interfaces */
    uint64_t ended_flows;
    uint64_t losing_ns; /* frames up to then may have been lost, and those around them are in the ring; 0: none */
    uint64_t tick_ns, metrics_ns, minute_ns;    /* when they are due next */
    uint64_t lost, lost_reported;               /* frames of all rings */
    uint64_t old_findings, fresh;               /* known when it began; found since */
    bool gone;                                  /* an interface went away */
    bool metrics_fail, evidence_fail, log_fail; /* the last time, and that was said */
    bool unwritten;                             /* findings are lost: the log does not have them */
};

/* monitor_findings.c: of struct flow_judge_config; `user` is a struct monitor. */
void monitor_finding(void *user, const struct judged_finding *finding);
void monitor_result(void *user, const struct judged_result *result);
void monitor_flow_end(void *user, const struct flow *flow);
/* A line of the log that an earlier process wrote. */
void monitor_restore(void *user, const char *text, size_t octets);
/* All of them have been restored: they are counted. */
void monitor_restored(struct monitor *monitor);
/* Writes what the log has not got of findings that go on, and a line of counts: every minute and at the end. */
void monitor_write_counts(struct monitor *monitor);

/* monitor_say.c */
/* Begins a file of the log: what is known (struct monitor_log_config). */
void monitor_log_begin(void *user, struct monitor_log *log, bool empty);
/* A new finding, to the terminal and the system's log, if there is no more of them than may be said. */
void monitor_say_finding(struct monitor *monitor, const struct known_finding *known, struct result *result,
                         const struct requirement *requirement);
/* One that goes on, when its count is ten times what was said. */
void monitor_repeat_finding(struct monitor *monitor, struct known_finding *known);
/* One line to all: the terminal (`bad`: standard error), the log, the system's log. */
__attribute__((format(printf, 3, 4))) void monitor_note(struct monitor *monitor, bool bad, const char *format, ...);
/* How many findings were not said, and what could not be written, since the last time. */
void monitor_say_withheld(struct monitor *monitor);
void monitor_say_unwritten(struct monitor *monitor);

/* monitor_end.c: summary and exit status. */
int monitor_end(struct monitor *monitor);

#endif
