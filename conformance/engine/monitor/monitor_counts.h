/* SPDX-License-Identifier: BSD-2-Clause */
/* What a monitor has counted of findings and results, and its metrics as Prometheus reads them from a file. */
#ifndef CONFORMANCE_ENGINE_MONITOR_COUNTS_H
#define CONFORMANCE_ENGINE_MONITOR_COUNTS_H

#include "base/sentence.h"
#include "conformance/engine/monitor/monitor_interface.h"
#include "conformance/flow/event/flow.h"
#include "conformance/requirements/catalogue.h"
#include "reports/file/place.h"
#include "reports/results/result.h"

/* Of one requirement, by verdict. */
struct monitor_finding_count {
    uint64_t findings[VERDICT_COUNT];    /* each once in its flow */
    uint64_t occurrences[VERDICT_COUNT]; /* each time */
};

struct monitor_counts {
    const struct catalogue *catalogue;
    struct monitor_finding_count *by_requirement; /* by index in the catalogue */
    const struct monitor_interface *interfaces;
    size_t interface_count;
    const struct flow_totals *totals;
    struct run_summary results; /* of flows that have ended */
    uint64_t open_flows;
    uint64_t untold;    /* findings that were counted and not said, one by one */
    uint64_t unwritten; /* lines, captures and metrics that could not be written */
    uint64_t known;     /* findings that are remembered */
    uint64_t started_ns, last_frame_ns;
};

/* The text of all metrics; malloc'd, NULL without memory. */
char *monitor_counts_text(const struct monitor_counts *counts, size_t *octets);

/* Writes them to `place`, which is replaced as a whole. -1 with a sentence: the older file stays. */
int monitor_counts_write(const struct monitor_counts *counts, const struct place *place, struct iwarp_sentence *error);

/* Octets of this process in memory; 0: not known. */
uint64_t monitor_resident_octets(void);

#endif
