/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a monitor: its summary, and the exit status with its reason. */
#include <inttypes.h>
#include <stdio.h>

#include "base/exit_status.h"
#include "base/out_of_memory.h"
#include "conformance/engine/monitor/monitor_internal.h"
#include "conformance/engine/monitor/monitor_line.h"
#include "conformance/engine/report/judged_output.h"
#include "reference-stack/program/complaint.h"

static void fill_summary(const struct monitor *monitor, struct run_summary *summary, char ended[UTC_TEXT_OCTETS])
{
    *summary = monitor->counts.results;
    judged_traffic(summary, flow_decoder_totals(flow_judge_decoder(monitor->judge)));
    summary->allow_gaps = monitor->options->allow_gaps;
    for (size_t i = 0; i < catalogue_count(monitor->catalogue); i++)
        if (selection_matches(&monitor->options->selection, catalogue_at(monitor->catalogue, i)))
            summary->not_exercised += !monitor->exercised[i];
    summary->ended = utc_text(ended);
    summary->stopped = monitor->gone ? "an interface went away" : NULL;
}

/* The summary as in results.jsonl, with the time. */
static void write_summary(struct monitor *monitor, const struct run_summary *summary)
{
    json_t *line;

    if (monitor->log == NULL)
        return;
    line = run_summary_to_json(summary);
    if (line != NULL && json_object_set_new(line, "time_ns", json_integer((json_int_t)monitor->now_ns)) != 0) {
        json_decref(line);
        line = NULL;
    }
    (void)monitor_log_write(monitor->log, line);
}

static int exit_status(const struct monitor *monitor, const struct run_summary *summary)
{
    int status = (int)summary_exit_status(summary);

    if (status == EXIT_FAILS)
        return status;
    return monitor->gone || monitor->unwritten || out_of_memory_noted() ? EXIT_INCONCLUSIVE : status;
}

/* Why the exit status is what it is, though nothing failed. */
static void explain(const struct monitor *monitor, const struct run_summary *summary)
{
    char gaps[JUDGED_GAPS_OCTETS];

    if (summary->fpdus == 0 && monitor->fresh == 0)
        (void)complain(0, "no iWARP in %" PRIu64 " frames", summary->frames);
    if (summary_has_gaps(summary))
        (void)complain(0, "not judged%s, although it is or may be iWARP (--allow-gaps accepts that)",
                       judged_output_gaps(&summary->account, gaps));
}

int monitor_end(struct monitor *monitor)
{
    struct format_option format = {.jsonl = monitor->options->jsonl};
    char ended[UTC_TEXT_OCTETS];
    struct run_summary summary;
    int status;

    fill_summary(monitor, &summary, ended);
    write_summary(monitor, &summary);
    monitor_say_unwritten(monitor);
    status = exit_status(monitor, &summary);
    monitor->terminal.unfinished = monitor->gone || monitor->unwritten;
    judged_output_summary(&monitor->terminal, &format, &summary, NULL);
    if (!monitor->options->jsonl) {
        print_plain(stdout, "%" PRIu64 " finding%s, and %" PRIu64 " known before", monitor->fresh,
                    monitor->fresh == 1 ? "" : "s", monitor->old_findings);
        (void)fflush(stdout);
    }
    if (status != EXIT_FAILS && status != EXIT_CONFORMS)
        explain(monitor, &summary);
    return status;
}
