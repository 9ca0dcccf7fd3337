/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a monitor's log. "finding": a result as in results.jsonl (reports/README.md) with its key, its time and its
 * flow's beginning; "again": how often it was seen by now; "known": the same at the beginning of a file. What a process
 * that is started again needs of them goes back into the findings that are known.
 */
#ifndef CONFORMANCE_ENGINE_MONITOR_LINE_H
#define CONFORMANCE_ENGINE_MONITOR_LINE_H

#include "conformance/engine/monitor/monitor_known.h"

/* New references; NULL without memory. `interface` is where it was seen. */
json_t *monitor_line_finding(const struct known_finding *known, const struct result *result, const char *interface);
json_t *monitor_line_count(const char *type, const struct known_finding *known); /* "again", "known" */

/* A line of another type, with the time: its other members are the caller's to set. */
json_t *monitor_line_of(const char *type, uint64_t time_ns);

/*
 * A line of any type that was read: findings of it are restored. False: it is no JSON object, or a line of a finding
 * that lacks something.
 */
bool monitor_line_restore(struct known_findings *known, const char *text, size_t octets);

#endif
