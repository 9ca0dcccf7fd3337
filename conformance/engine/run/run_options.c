/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_options.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: warpcheck run [OPTION...] [SELECT...]\n"
    "  Judges a device on the wire. Without --dut the device is the reference stack itself, as a process on the "
    "kernel's\n"
    "  TCP in a network namespace of its own (no root needed).\n"
    "  Exit status: 0 conforms, 1 fails, 2 usage, 3 nothing was selected, 4 inconclusive or stopped, 5 deviates as "
    "known\n"
    "  (--accept-known: 0).\n"
    "  --dut PROFILE    the device that this file describes (JSON; docs/profiles.md), or\n"
    "                   linux-siw: the Linux kernel's software iWARP, in a virtual machine\n"
    "  --simulate       the reference stack in this process, on virtual time\n"
    "  --defect DEFECT  gives the reference stack a defect (several: repeat; warpcheck list --defects)\n"
    "  --ipv6           over IPv6 instead of IPv4 (reference stack)\n"
    "  --script FILE    checks of this script or folder instead of those built in (several: repeat)\n"
    "  --seed N         ports, sequence numbers and simulated worlds follow from it (1)\n"
    "  --destructive    also checks that may crash a device\n"
    "  --accept-known   exit status 0 where the device deviates as its profile knows and in nothing else: for jobs "
    "that\n"
    "                   look for what is new\n"
    "  --shard I/N      runs part I of N of what is selected, the same part everywhere; report --merge makes one of\n"
    "                   them\n"
    "  -o DIR           writes results.jsonl and evidence/ there, and the reports:\n"
    "                   %s;\n"
    "                   the folder has to be empty, and no other command may write there meanwhile\n"
    "  --force          removes what an earlier run left in -o DIR\n"
    "  --resume         goes on with the results in -o DIR, which the same command has to have made\n"
    "  --dry-run        shows what would be run\n"
    "  --all            shows passes and skips too\n"
    "  --ladders        draws the ladder below each failure\n"
    "  --format F       %s: what standard output gets\n"
    "  --help           this text\n";

int run_options_usage(FILE *out)
{
    char files[200], names[200];

    return fprintf(out, usage, report_format_files(files, sizeof(files)), format_option_names(names, sizeof(names)));
}

struct flag {
    const char *name;
    size_t offset;
};

static const struct flag flags[] = {
    {"--simulate", offsetof(struct run_options, simulate)},
    {"--ipv6", offsetof(struct run_options, ipv6)},
    {"--force", offsetof(struct run_options, force)},
    {"--resume", offsetof(struct run_options, resume)},
    {"--dry-run", offsetof(struct run_options, dry_run)},
    {"--all", offsetof(struct run_options, all)},
    {"--ladders", offsetof(struct run_options, ladders)},
    {"--help", offsetof(struct run_options, help)},
    {"--destructive", offsetof(struct run_options, destructive)},
    {"--accept-known", offsetof(struct run_options, accept_known)},
};

static bool take_flag(struct run_options *options, const char *argument)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(argument, flags[i].name) == 0) {
            *(bool *)((char *)options + flags[i].offset) = true;
            return true;
        }
    return false;
}

static int add(const char **list, size_t *count, const char *value, const char *option, struct sentence *error)
{
    if (*count == RUN_OPTIONS_LIST_MAX)
        return sentence_set(error, "%s was given more than %d times", option, RUN_OPTIONS_LIST_MAX);
    list[(*count)++] = value;
    return 0;
}

static int take_seed(struct run_options *options, const char *value, struct sentence *error)
{
    char *end;

    options->seed = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || options->seed > INT64_MAX)
        return sentence_set(error, "--seed \"%.40s\": a number from 0 to 2^63 - 1 was expected", value);
    return 0;
}

static int take_value(struct run_options *options, const char *option, const char *value, struct sentence *error)
{
    if (strcmp(option, "--dut") == 0)
        options->profile = value;
    else if (strcmp(option, "-o") == 0)
        options->output = value;
    else if (strcmp(option, "--defect") == 0)
        return add(options->defects, &options->defect_count, value, option, error);
    else if (strcmp(option, "--script") == 0 || strcmp(option, "--scripts") == 0)
        return add(options->scripts, &options->script_count, value, option, error);
    else if (strcmp(option, "--seed") == 0)
        return take_seed(options, value, error);
    else if (strcmp(option, "--shard") == 0)
        return shard_parse(&options->shard, value, error);
    else if (strcmp(option, "--format") == 0)
        return format_option_parse(&options->format, value, error);
    else
        return sentence_set(error, "unknown option %.60s (warpcheck run --help lists them)", option);
    return 0;
}

static int consistent(const struct run_options *options, struct sentence *error)
{
    if (options->profile != NULL && (options->simulate || options->defect_count != 0))
        return sentence_set(error,
                            "--dut names a device of its own: --simulate and --defect are for the reference stack");
    if (options->resume && options->output == NULL)
        return sentence_set(error, "--resume needs -o DIR with the results to go on with");
    if (options->force && (options->resume || options->output == NULL))
        return sentence_set(error, "--force removes what is in -o DIR: it needs one, and has no place beside --resume");
    return 0;
}

int run_options_parse(struct run_options *options, int argc, char **argv, struct sentence *error)
{
    memset(options, 0, sizeof(*options));
    options->seed = 1;
    for (int i = 1; i < argc;) {
        int taken = take_flag(options, argv[i]) ? 1 : 0;

        if (taken == 1)
            i++;
        else
            taken = selection_option(&options->selection, argc, argv, &i, error);
        if (taken < 0)
            return -1;
        if (taken == 1)
            continue;
        if (i + 1 >= argc)
            return sentence_set(error, "option %.60s is unknown or needs a value (warpcheck run --help lists them)",
                                argv[i]);
        if (take_value(options, argv[i], argv[i + 1], error) != 0)
            return -1;
        i += 2;
    }
    return consistent(options, error);
}
