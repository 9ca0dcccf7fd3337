/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text_stream.h"
#include "reports/file/save.h"

uint64_t monitor_resident_octets(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long all, resident = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu %lu", &all, &resident) != 2) /* NOLINT(cert-err34-c): the kernel writes it */
        resident = 0;
    (void)fclose(file);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void head(FILE *out, const char *name, const char *kind, const char *help)
{
    fprintf(out, "# HELP warpcheck_%s %s\n# TYPE warpcheck_%s %s\n", name, help, name, kind);
}

static void one(FILE *out, const char *name, const char *kind, const char *help, uint64_t value)
{
    head(out, name, kind, help);
    fprintf(out, "warpcheck_%s %" PRIu64 "\n", name, value);
}

/* The value of a label: what Linux allows in an interface's name and the format does not is escaped. */
static void label(FILE *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            fputc('\\', out);
        fputc(*value, out);
    }
}

static void by_interface(FILE *out, const struct monitor_counts *counts, const char *name, const char *kind,
                         const char *help, size_t member)
{
    head(out, name, kind, help);
    for (size_t i = 0; i < counts->interface_count; i++) {
        const struct monitor_interface *interface = &counts->interfaces[i];

        fprintf(out, "warpcheck_%s{interface=\"", name);
        label(out, interface->name);
        fprintf(out, "\"} %" PRIu64 "\n", *(const uint64_t *)(const void *)((const char *)interface + member));
    }
}

static void interfaces(FILE *out, const struct monitor_counts *counts)
{
    by_interface(out, counts, "frames_total", "counter", "Frames that were read.",
                 offsetof(struct monitor_interface, frames));
    by_interface(out, counts, "octets_total", "counter", "Octets of these frames.",
                 offsetof(struct monitor_interface, octets));
    by_interface(out, counts, "ring_lost_frames_total", "counter", "Frames for which the ring had no room.",
                 offsetof(struct monitor_interface, lost.ring));
    by_interface(out, counts, "interface_lost_frames_total", "counter", "Frames that the interface or its driver lost.",
                 offsetof(struct monitor_interface, lost.interface));
    head(out, "interface_up", "gauge", "1 while the interface can be read.");
    for (size_t i = 0; i < counts->interface_count; i++) {
        fputs("warpcheck_interface_up{interface=\"", out);
        label(out, counts->interfaces[i].name);
        fprintf(out, "\"} %d\n", counts->interfaces[i].in != NULL);
    }
}

static void traffic(FILE *out, const struct monitor_counts *counts)
{
    const struct flow_totals *totals = counts->totals;

    one(out, "connections_total", "counter", "TCP connections, SCTP associations and CM exchanges.",
        totals->connections);
    one(out, "flows_total", "counter", "Flows of iWARP among them.", totals->flows);
    one(out, "flows_open", "gauge", "Flows of iWARP that are followed now.", counts->open_flows);
    one(out, "fpdus_total", "counter", "FPDUs.", totals->fpdus);
    one(out, "ddp_segments_total", "counter", "DDP segments.", totals->ddp_segments);
    one(out, "crc_errors_total", "counter", "FPDUs with a wrong CRC.", totals->crc_errors);
}

/* What became of frames and octets, by the reason's name (warpcheck audit --reasons). */
static void account(FILE *out, const struct monitor_counts *counts)
{
    static const char *const units[] = {"items", "frames", "octets"};

    for (size_t unit = 0; unit < sizeof(units) / sizeof(units[0]); unit++) {
        char name[40];

        (void)snprintf(name, sizeof(name), "account_%s", units[unit]);
        head(out, name, "gauge", "What became of the input, by reason; open connections hold some.");
        for (unsigned row = 0; row < FLOW_ROWS; row++) {
            const struct flow_count *count = &counts->totals->account.row[row];
            uint64_t value = unit == 0 ? count->items : unit == 1 ? count->frames : count->octets;
            const struct flow_account_row *what = flow_account_row((enum flow_row)row);

            if (value != 0)
                fprintf(out, "warpcheck_%s{kind=\"%s\",reason=\"%s\"} %" PRIu64 "\n", name,
                        flow_account_kind_name(what->kind), what->name, value);
        }
    }
}

static void findings(FILE *out, const struct monitor_counts *counts, bool each, const char *name, const char *help)
{
    head(out, name, "counter", help);
    for (size_t i = 0; i < catalogue_count(counts->catalogue); i++)
        for (unsigned verdict = 0; verdict < VERDICT_COUNT; verdict++) {
            const struct monitor_finding_count *count = &counts->by_requirement[i];
            uint64_t value = each ? count->occurrences[verdict] : count->findings[verdict];

            if (value != 0)
                fprintf(out, "warpcheck_%s{id=\"%s\",verdict=\"%s\"} %" PRIu64 "\n", name,
                        catalogue_at(counts->catalogue, i)->id, verdict_name((enum verdict)verdict), value);
        }
}

char *monitor_counts_text(const struct monitor_counts *counts, size_t *octets)
{
    char *text;
    FILE *out = text_stream_open(&text, octets);

    if (out == NULL)
        return NULL;
    interfaces(out, counts);
    traffic(out, counts);
    findings(out, counts, false, "findings_total", "Findings, each once in its flow; those of the log count, too.");
    findings(out, counts, true, "finding_occurrences_total", "The same, as often as they were seen.");
    head(out, "results_total", "counter", "Results of flows that have ended: requirements that each exercised.");
    for (unsigned verdict = 0; verdict < VERDICT_COUNT; verdict++)
        fprintf(out, "warpcheck_results_total{verdict=\"%s\"} %" PRIu64 "\n", verdict_name((enum verdict)verdict),
                summary_of(&counts->results, (enum verdict)verdict));
    account(out, counts);
    one(out, "findings_known", "gauge", "Findings that are remembered.", counts->known);
    one(out, "findings_untold_total", "counter", "Findings that were counted and, of too many, not said one by one.",
        counts->untold);
    one(out, "unwritten_total", "counter", "Lines and captures that could not be written.", counts->unwritten);
    one(out, "resident_octets", "gauge", "Memory of the process.", monitor_resident_octets());
    one(out, "start_time_seconds", "gauge", "When the monitor began, since 1970.", counts->started_ns / 1000000000);
    one(out, "last_frame_time_seconds", "gauge", "When the last frame came, since 1970; 0: none yet.",
        counts->last_frame_ns / 1000000000);
    return text_stream_close(out, &text) ? text : NULL;
}

int monitor_counts_write(const struct monitor_counts *counts, const struct place *place, struct iwarp_sentence *error)
{
    size_t octets;
    char *text = monitor_counts_text(counts, &octets);
    int rc;

    if (text == NULL)
        return iwarp_sentence_set(error, "%s: out of memory for the metrics", place->path);
    rc = save_file(place, text, octets, error);
    free(text);
    return rc;
}
