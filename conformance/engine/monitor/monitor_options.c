/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_options.h"

#include <string.h>

#include "base/exit_status.h"
#include "conformance/engine/option/amount.h"
#include "conformance/flow/event/flow.h"
#include "conformance/requirements/named.h"

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
    DAYS_MOST = 3650,
};

static int parse_memory(void *user, const char *value, struct iwarp_sentence *error)
{
    struct monitor_options *options = user;

    return amount_octets("--memory", value, FLOW_MEMORY_MIN, AMOUNT_MEMORY_MOST, AMOUNT_MEMORY_EXPECTED,
                         &options->memory, error);
}

static int parse_buffer(void *user, const char *value, struct iwarp_sentence *error)
{
    struct monitor_options *options = user;

    return amount_octets("--buffer", value, MIB, BUFFER_MIB_MOST * MIB,
                         "octets from 1M to 2047M were expected, such as 64M", &options->buffer, error);
}

static int parse_rotate_size(void *user, const char *value, struct iwarp_sentence *error)
{
    struct monitor_options *options = user;

    return amount_octets("--rotate-size", value, 4096, AMOUNT_MEMORY_MOST,
                         "octets from 4K to 1024G were expected, such as 100M", &options->rotate_octets, error);
}

static int parse_evidence_size(void *user, const char *value, struct iwarp_sentence *error)
{
    struct monitor_options *options = user;

    return amount_octets("--evidence-size", value, 4096, AMOUNT_MEMORY_MOST,
                         "octets from 4K to 1024G were expected, such as 100M", &options->evidence_octets, error);
}

static int parse_evidence_memory(void *user, const char *value, struct iwarp_sentence *error)
{
    struct monitor_options *options = user;

    return amount_octets("--evidence-memory", value, MIB, AMOUNT_MEMORY_MOST, AMOUNT_MEMORY_EXPECTED,
                         &options->evidence_memory, error);
}

static int parse_seconds(const char *name, const char *value, uint64_t *seconds, struct iwarp_sentence *error)
{
    return amount_seconds(name, value, 1, (uint64_t)DAYS_MOST * 86400, seconds, error);
}

static int parse_idle(void *user, const char *value, struct iwarp_sentence *error)
{
    return parse_seconds("--idle", value, &((struct monitor_options *)user)->idle, error);
}

static int parse_rotate_every(void *user, const char *value, struct iwarp_sentence *error)
{
    return parse_seconds("--rotate-every", value, &((struct monitor_options *)user)->rotate_seconds, error);
}

static int parse_duration(void *user, const char *value, struct iwarp_sentence *error)
{
    return parse_seconds("--duration", value, &((struct monitor_options *)user)->duration, error);
}

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
     OPTION_SHOWS, OPTION_OWN, .parse = parse_buffer},
    {"  --memory SIZE      memory for what is open at once, as 512M (the default) or 4G (audit --reasons)\n",
     OPTION_JUDGES, OPTION_OWN, .parse = parse_memory},
    {"  --idle TIME        a connection without a frame for so long ends (24h): 90s, 30m, 24h, 7d\n",
     OPTION_JUDGES, OPTION_OWN, .parse = parse_idle},
    {"  --log FILE         appends findings to FILE, a JSON object a line (docs/monitor.md); started again with the same file,\n"
     "                     it counts none of them twice\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(log)},
    {"  --rotate-size SIZE  FILE becomes FILE.1 when it has so many octets: 100M\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_rotate_size},
    {"  --rotate-every TIME  or after so long: 24h\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_rotate_every},
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
     OPTION_SHOWS, OPTION_OWN, .parse = parse_evidence_size},
    {"  --evidence-memory SIZE  memory for the last frames, of which captures are cut (16M)\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_evidence_memory},
    {"  --system-log LOG   also says findings to the system's log: journal or syslog\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_journal},
    {"  --rate N           says up to N findings a minute on the terminal and in the system's log, and how many more there were\n"
     "                     (60)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(a_minute), .least = 1, .most = 60000},
    {"  --duration TIME    ends after so long\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_duration},
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

static int argument_parse(struct monitor_options *options, const struct catalogue *catalogue, int argc, char **argv,
                          int *index, struct iwarp_sentence *error)
{
    const char *argument = argv[*index];
    int taken = selection_option(&options->selection, argc, argv, index, error);

    if (taken == 0)
        taken = option_table_parse(&monitor_option_table, options, argc, argv, index, error);
    if (taken == 0)
        taken = option_table_unknown(&monitor_option_table, argument, error);
    if (taken < 0)
        return EXIT_USAGE;
    if (argument[0] == '-' || selection_unmatched(&options->selection, catalogue) == NULL)
        return 0;
    (void)requirement_unmatched(catalogue, argument, error);
    return EXIT_NOTHING_SELECTED;
}

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
        int status = argument_parse(options, catalogue, argc, argv, &i, error);

        if (status != 0)
            return status;
    }
    if (check(options, error) != 0)
        return EXIT_USAGE;
    if (selection_count(&options->selection, catalogue) != 0)
        return 0;
    (void)iwarp_sentence_set(error, "nothing selected: no requirement fits all options");
    return EXIT_NOTHING_SELECTED;
}
