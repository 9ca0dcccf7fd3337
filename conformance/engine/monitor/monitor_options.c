/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_options.h"

#include <string.h>

#include "base/exit_status.h"
#include "conformance/engine/option/selected_options.h"
#include "conformance/flow/event/flow.h"
#include "reference-stack/program/amount.h"

#define MIB UINT64_C(1048576)

enum {
    BUFFER_MIB = 64,
    BUFFER_MIB_MOST = 2047, /* libpcap counts it in an int */
    IDLE_HOURS = 24,
    KEEP = 10,
    KEEP_MOST = 1000,
    METRICS_SECONDS = 10,
    EVIDENCE_FILES = 100,
    EVIDENCE_MIB = 100,
    EVIDENCE_MEMORY_MIB = 16,
    A_MINUTE = 60,
    FILE_LEAST = 4096,
};

static int parse_journal(void *user, const char *value, struct iwarp_sentence *error)
{
    return monitor_journal_parse(&((struct monitor_options *)user)->journal, value, error);
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return option_jsonl(value, &((struct monitor_options *)user)->jsonl, error);
}

#define MEMBER(name) offsetof(struct monitor_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  -i IF              judges what this interface sees, in promiscuous mode; repeat it for several (8 at most)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(interfaces), .count = MEMBER(interface_count), .most = MONITOR_INTERFACES, .joined = true},
    {"  --filter EXPR      the kernel hands over the frames that EXPR wants alone, an expression as tcpdump has it\n"
     "                     (pcap-filter(7)): 'port 5445'\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(filter)},
    {"  --buffer SIZE      the kernel's ring of each interface (64M)\n",
     OPTION_SHOWS, OPTION_OCTETS, .member = MEMBER(buffer), .least = MIB, .most = BUFFER_MIB_MOST * MIB, .unit = "64M"},
    {"  --memory SIZE      memory for what is open at once, as 512M (the default) or 4G (audit --reasons)\n",
     OPTION_JUDGES, OPTION_OCTETS, .member = MEMBER(memory), .least = FLOW_MEMORY_MIN, .most = AMOUNT_MEMORY_MOST, .unit = "512M or 4G"},
    {"  --idle TIME        a connection without a frame for so long ends (24h): 90s, 30m, 24h, 7d\n",
     OPTION_JUDGES, OPTION_TIME, .member = MEMBER(idle), .least = 1, .most = AMOUNT_SECONDS_MOST},
    {"  --log FILE         appends findings to FILE, a JSON object a line (docs/monitor.md); started again with the same file,\n"
     "                     it counts none of them twice\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(log)},
    {"  --rotate-size SIZE  FILE becomes FILE.1 when it has so many octets: 100M\n",
     OPTION_SHOWS, OPTION_OCTETS, .member = MEMBER(rotate_octets), .least = FILE_LEAST, .most = AMOUNT_MEMORY_MOST, .unit = "100M"},
    {"  --rotate-every TIME  or after so long: 24h\n",
     OPTION_SHOWS, OPTION_TIME, .member = MEMBER(rotate_seconds), .least = 1, .most = AMOUNT_SECONDS_MOST},
    {"  --rotate-keep N    keeps FILE.1 to FILE.N (10)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(rotate_keep), .least = 1, .most = KEEP_MOST},
    {"  --metrics FILE     writes metrics for Prometheus (the text file collector of its node_exporter) to FILE\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(metrics)},
    {"  --metrics-every N  every N seconds (10)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(metrics_seconds), .least = 1, .most = 3600, .unit = "seconds"},
    {"  --evidence DIR     writes a capture for each finding to the folder DIR: the flow's frames before and after it\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(evidence)},
    {"  --evidence-files N  keeps the newest N captures there (100)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(evidence_files), .least = 1, .most = 100000},
    {"  --evidence-size SIZE  and so many octets of them (100M)\n",
     OPTION_SHOWS, OPTION_OCTETS, .member = MEMBER(evidence_octets), .least = FILE_LEAST, .most = AMOUNT_MEMORY_MOST, .unit = "100M"},
    {"  --evidence-memory SIZE  memory for the last frames, of which captures are cut (16M)\n",
     OPTION_SHOWS, OPTION_OCTETS, .member = MEMBER(evidence_memory), .least = MIB, .most = AMOUNT_MEMORY_MOST, .unit = "512M or 4G"},
    {"  --system-log LOG   also says findings to the system's log: journal or syslog\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_journal},
    {"  --rate N           says up to N findings a minute on the terminal and in the system's log, and how many more there were\n"
     "                     (60)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(a_minute), .least = 1, .most = 60000},
    {"  --duration TIME    ends after so long\n",
     OPTION_SHOWS, OPTION_TIME, .member = MEMBER(duration), .least = 1, .most = AMOUNT_SECONDS_MOST},
    {"  --count N          ends after N frames\n",
     OPTION_SHOWS, OPTION_NUMBER, .member = MEMBER(frames), .least = 1, .most = UINT64_MAX},
    {"  --allow-gaps       exits with 0 even if a part that is or may be iWARP was not judged; the part is still reported\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(allow_gaps)},
    {"  --format F         text or jsonl: what standard output gets\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --all              also shows AMBIGUOUS, and each finding whole that has the cause of another one\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(all)},
    {"  --quiet            shows the closing lines alone\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

const struct option_table monitor_option_table = {
    .command = "monitor",
    .head = "usage: warpcheck monitor -i IF [SELECT...] [OPTION...]\n"
            "  Judges what an interface sees, a mirror port of a switch, for days: each finding once as it comes, in a "
            "memory\n"
            "  that does not grow. It sends nothing. SIGINT and SIGTERM end it with a summary; SIGHUP opens its files "
            "anew.\n"
            "  Exit status: as of audit; also 4 when the ring lost frames, an interface went away or findings could "
            "not be\n"
            "  written.\n",
    .more = selection_usage,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static int check(const struct monitor_options *options, struct iwarp_sentence *error)
{
    const char *const *names = options->interfaces;

    if (options->interface_count == 0)
        return iwarp_sentence_set(error, "no interface is named: -i IF (`ip link` lists them)");
    for (size_t i = 0; i < options->interface_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return iwarp_sentence_set(error, "-i %.40s: this interface is named twice", names[i]);
    if (options->log == NULL && (options->rotate_octets != 0 || options->rotate_seconds != 0))
        return iwarp_sentence_set(error, "--rotate-size and --rotate-every are for --log FILE");
    if (options->quiet && options->all)
        return iwarp_sentence_set(error, "--quiet excludes --all");
    return 0;
}

int monitor_options_parse(struct monitor_options *options, const struct catalogue *catalogue, int argc, char **argv,
                          struct iwarp_sentence *error)
{
    options->buffer = BUFFER_MIB * MIB;
    options->idle = (uint64_t)IDLE_HOURS * 3600;
    options->rotate_keep = KEEP;
    options->metrics_seconds = METRICS_SECONDS;
    options->evidence_files = EVIDENCE_FILES;
    options->evidence_octets = EVIDENCE_MIB * MIB;
    options->evidence_memory = EVIDENCE_MEMORY_MIB * MIB;
    options->a_minute = A_MINUTE;
    for (int i = 1; i < argc;) {
        int status = selected_options_parse(&monitor_option_table, options, &options->selection, catalogue, argc, argv,
                                            &i, error);

        if (status != 0)
            return status;
    }
    if (check(options, error) != 0)
        return EXIT_USAGE;
    return selected_options_check(&options->selection, catalogue, error);
}
