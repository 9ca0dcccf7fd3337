/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck: one command, its subcommands. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/audit/cmd_audit.h"
#include "conformance/engine/bridge/cmd_bridge.h"
#include "conformance/engine/show/cmd_catalogue.h"
#include "conformance/engine/complete/cmd_complete.h"
#include "conformance/engine/course/cmd_course.h"
#include "conformance/engine/show/cmd_dump.h"
#include "conformance/engine/explore/cmd_explore.h"
#include "conformance/engine/gen/cmd_gen.h"
#include "conformance/engine/interop/cmd_interop.h"
#include "conformance/engine/option/pager.h"
#include "conformance/engine/monitor/cmd_monitor.h"
#include "conformance/engine/new-check/cmd_new_check.h"
#include "conformance/engine/show/cmd_pics.h"
#include "conformance/engine/probe/cmd_probe.h"
#include "conformance/engine/prove/cmd_prove.h"
#include "conformance/engine/report/cmd_report.h"
#include "conformance/engine/run/cmd_run.h"
#include "reference-stack/peer/cmd_peer.h"
#include "reference-stack/program/complaint.h"
#include "reference-stack/program/confine.h"
#include "reports/page/markup.h"
#include "tools/memory_reserve.h"
#include "tools/standard_streams.h"
#include "base/exit_status.h"
#include "base/nearest.h"
#include "base/out_of_memory.h"

struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
};

/* cmd_peer() is also a program of its own, and calls itself what argv[0] says. */
static int peer(int argc, char **argv)
{
    argv[0] = (char *)(uintptr_t) "warpcheck peer";
    return cmd_peer(argc, argv);
}

static const struct subcommand subcommands[] = {
    {"run", cmd_run, "judges a live device; without --dut: the built-in reference stack"},
    {"probe", cmd_probe, "finds out in seconds what a device is, and writes its profile"},
    {"audit", cmd_audit, "judges captures, by the same requirement ids"},
    {"monitor", cmd_monitor, "judges a live interface, a mirror port, for days"},
    {"bridge", cmd_bridge, "judges two devices from in between, and impairs what they say to each other"},
    {"prove", cmd_prove, "runs every defect against every check and rule (the kill matrix)"},
    {"explore", cmd_explore, "plays sessions that nobody wrote, drawn by seed, and groups what fails"},
    {"peer", peer, "starts the reference stack as a device under test"},
    {"gen", cmd_gen, "makes frames and captures from scripts"},
    {"dump", cmd_dump, "prints the decoded messages of a capture"},
    {"list", cmd_list, "lists the requirements, and the check or rule that decides each"},
    {"explain", cmd_explain, "explains one requirement and draws its header"},
    {"new-check", cmd_new_check, "writes the skeleton of a check for one requirement"},
    {"pics", cmd_pics, "lists the questions about a device's capabilities, or its answers"},
    {"interop", cmd_interop, "lets devices talk to each other: one grid of who can do what with whom"},
    {"report", cmd_report, "makes reports again from results.jsonl, compares runs, joins shards"},
    {"course", cmd_course, "exercises of the course: captures and peers with a hidden defect"},
    {"complete", cmd_complete, "completes a command line; the completion of shells calls it"},
};

static int usage(FILE *out, int status)
{
    fputs("usage: warpcheck COMMAND [ARGUMENT...]\n\n"
          "Tests whether an iWARP implementation (RDMA over TCP) keeps the rules of its RFCs.\n\n",
          out);
    for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
        fprintf(out, "  %-9s  %s\n", subcommands[i].name, subcommands[i].what);
    fputs("\n  --version  shows the version\n  --help     shows this text\n"
          "\nwarpcheck COMMAND --help, or warpcheck help COMMAND, describes a command.\n"
          "Exit status: 0 conforms, 1 fails, 2 usage, 3 nothing selected, 4 inconclusive, or a part that may be iWARP "
          "was\n"
          "not judged (audit --allow-gaps accepts that), 5 deviates as known (--accept-known: 0).\n",
          out);
    return status;
}

static const char *subcommand_at(const void *table, size_t index)
{
    return ((const struct subcommand *)table)[index].name;
}

static int version(void)
{
    char confinement[80];

    return printf("warpcheck %s\nconfinement: %s\n", WARPCHECK_VERSION,
                  confine_describe(confinement, sizeof(confinement))) < 0
               ? EXIT_ENVIRONMENT
               : EXIT_DONE;
}

/* Every command knows --help; -h says the same. Behind "--" stand the words of another command line. */
static void help_look_for(int argc, char **argv, char *help)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-h") == 0)
            argv[i] = help;
        if (strcmp(argv[i], help) == 0) {
            pager_begin();
            return;
        }
    }
}

/* argv[0] is the command's name. */
static int subcommand_run(int argc, char **argv, char *help)
{
    static const char *const options[] = {"--help", "--version"};
    size_t count = sizeof(subcommands) / sizeof(subcommands[0]);
    char hint[NEAREST_HINT_OCTETS];

    for (size_t i = 0; i < count; i++)
        if (strcmp(argv[0], subcommands[i].name) == 0) {
            int status;

            help_look_for(argc, argv, help);
            complain_as("warpcheck", argv[0]);
            status = subcommands[i].run(argc, argv);
            complain_as("warpcheck", NULL);
            return status;
        }
    if (argv[0][0] == '-')
        return complain(EXIT_USAGE, "unknown option %.40s%s (warpcheck --help lists them)", argv[0],
                        nearest_hint(nearest_of(argv[0], options, sizeof(options) / sizeof(options[0])), hint));
    return complain(EXIT_USAGE, "there is no command '%.40s'%s (warpcheck --help lists them)", argv[0],
                    nearest_hint(nearest_name(argv[0], subcommand_at, subcommands, count), hint));
}

static int command(int argc, char **argv)
{
    char help[] = "--help";
    bool wants_help;

    if (argc < 2)
        return usage(stderr, EXIT_USAGE);
    wants_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0;
    if (wants_help && argc > 2 && argv[2][0] != '-') {
        char *words[] = {argv[2], help, NULL};

        return subcommand_run(2, words, help);
    }
    if (wants_help) {
        pager_begin();
        return usage(stdout, 0);
    }
    if (strcmp(argv[1], "--version") == 0)
        return version();
    return subcommand_run(argc - 1, argv + 1, help);
}

/*
 * The exit status of a command. If memory was short, the command did not do all of its work, so its status does not
 * count.
 */
static int whole(int status)
{
    if (!out_of_memory_noted() || status == EXIT_ENVIRONMENT)
        return status;
    if (status != EXIT_USAGE) /* else a sentence has been written */
        (void)complain(EXIT_ENVIRONMENT, "out of memory: not everything was done, so the result is not valid");
    return EXIT_ENVIRONMENT;
}

int main(int argc, char **argv)
{
    if (!standard_streams_open())
        return EXIT_ENVIRONMENT;
    complain_as("warpcheck", NULL);
    memory_reserve_begin("warpcheck: out of memory\n");
    markup_library_begin();
    return standard_streams_close("warpcheck", whole(command(argc, argv)), EXIT_ENVIRONMENT);
}
