/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/option/option_unknown.h"
#include "conformance/engine/profile/rig_llp.h"

static const char usage[] =
    "usage: warpcheck run [OPTION...] [SELECT...]\n"
    "  Judges a device on the wire. Without --dut, the device is the reference stack itself. It runs as a process, on "
    "the\n"
    "  kernel's TCP, in a network namespace of its own; this needs no root.\n"
    "  Exit status: 0 conforms, 1 fails, 2 usage, 3 nothing was selected, 4 inconclusive or stopped, 5 deviates as "
    "known\n"
    "  (--accept-known: 0).\n"
    "  --dut PROFILE    judges the device that this JSON file describes (docs/profiles.md), or\n"
    "                   linux-siw: the Linux kernel's software iWARP, in a virtual machine, or\n"
    "                   linux-rxe: its RDMA IP CM Service above software RoCE, the same way, or\n"
    "                   linux-sctp: the reference stack above its SCTP, the same way\n"
    "  --simulate       runs the reference stack inside this process, on virtual time\n"
    "  --defect DEFECT  gives the reference stack a defect; repeat it for several (names: warpcheck list --defects)\n"
    "  --variant VARIANT  makes the reference stack behave in another legal way; repeat it for several (names:\n"
    "                   warpcheck peer --list-variants)\n"
    "  --ipv6           uses IPv6 instead of IPv4 (reference stack only)\n"
    "  --llp LLP        runs the checks that drive a device over tcp (the default), over sctp (RFC 5043; with "
    "--simulate\n"
    "                   also the draft's), over sctp-draft02 (draft-stewart-rddp-sctp-02), or cm: those of the RDMA "
    "IP\n"
    "                   CM Service over RoCEv2 (with --simulate or --dut); with --dut the profile names the first "
    "three\n"
    "  --script FILE    runs the checks of this script or folder instead of the built-in ones; repeat it for several\n"
    "  --seed N         chooses ports, sequence numbers and simulated worlds (1)\n"
    "  --destructive    also runs checks that may crash a device\n"
    "  --accept-known   exits with 0 if the device deviates only as its profile describes: for jobs that look for new\n"
    "                   failures\n"
    "  --compare OLD    also prints what differs from the earlier run in OLD, such as that of the firmware before "
    "(needs -o);\n"
    "                   exits with 1 if a failure is new or a result has vanished, with 0 if neither is so\n"
    "  --shard I/N      runs part I of N of the selection; every machine computes the same parts; report --merge "
    "joins\n"
    "                   the results\n"
    "  -j N             runs N checks side by side, each in a world of its own; the results are the same for each N\n"
    "                   (the embedded device: eight for each processor, at most 16; simulated: one for each;\n"
    "                   other devices: 1); with --dut at most as many as the profile has places for (beside)\n"
    "  -o DIR           writes results.jsonl, evidence/ and the reports there:\n"
    "                   %s;\n"
    "                   the folder must be empty, and no other command may write there at the same time\n"
    "  --evidence KIND  keeps the captures of checks whose verdict is neither PASS nor SKIP, and of those in which a "
    "rule\n"
    "                   found something (fail, the default), of all checks (all), or of none (none)\n"
    "  --evidence-limit N  cuts frames to their headers when a capture has N MiB, and leaves frames out beyond twice "
    "as\n"
    "                   much (16)\n"
    "  --force          removes the files that an earlier run wrote to -o DIR\n"
    "  --resume         continues the stopped run in -o DIR; all other arguments must be the same\n"
    "  --dry-run        shows what would be run\n"
    "  --all            also shows passes and skips\n"
    "  --ladders        draws the ladder diagram below each failure (of what a rule found with -o DIR alone)\n"
    "  --quiet          shows no results and no progress, only the closing lines\n"
    "  --format F       %s: the format of the standard output\n"
    "  --help           shows this text\n";

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
    {"--quiet", offsetof(struct run_options, quiet)},
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

static int add(const char **list, size_t *count, const char *value, const char *option, struct iwarp_sentence *error)
{
    if (*count == RUN_OPTIONS_LIST_MAX)
        return iwarp_sentence_set(error, "%s was given more than %d times", option, RUN_OPTIONS_LIST_MAX);
    list[(*count)++] = value;
    return 0;
}

static int take_seed(struct run_options *options, const char *value, struct iwarp_sentence *error)
{
    char *end;

    options->seed = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || options->seed > INT64_MAX)
        return iwarp_sentence_set(error, "--seed \"%.40s\": a number from 0 to 2^63 - 1 was expected", value);
    return 0;
}

/* The lower layer that the checks of this run drive: its checks are selected where nothing else is said of layers. */
static int take_llp(struct run_options *options, const char *value, struct iwarp_sentence *error)
{
    options->cm = strcmp(value, "cm") == 0;
    options->llp = value;
    if (!options->cm && !rig_llp_parse(value, &options->sctp_profile))
        return iwarp_sentence_set(error, "--llp \"%.40s\": tcp, sctp, sctp-draft02 or cm was expected", value);
    options->sctp = !options->cm && options->sctp_profile != IWARP_SCTP_UNDECIDED;
    return 0;
}

static int take_evidence(struct run_options *options, const char *value, struct iwarp_sentence *error)
{
    static const char *const names[] = {[EVIDENCE_FAIL] = "fail", [EVIDENCE_ALL] = "all", [EVIDENCE_NONE] = "none"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(value, names[i]) == 0) {
            options->evidence = (enum evidence_kept)i;
            return 0;
        }
    return iwarp_sentence_set(error, "--evidence \"%.40s\": fail, all or none was expected", value);
}

/* MiB of each file. */
static int take_limit(struct run_options *options, const char *value, struct iwarp_sentence *error)
{
    char *end;
    unsigned long long limit = strtoull(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || limit < 1 || limit > EVIDENCE_LIMIT_MOST)
        return iwarp_sentence_set(error, "--evidence-limit \"%.40s\": a number of MiB from 1 to %d was expected", value,
                                  EVIDENCE_LIMIT_MOST);
    options->evidence_limit = limit << 20;
    return 0;
}

static int take_jobs(struct run_options *options, const char *value, struct iwarp_sentence *error)
{
    char *end;
    unsigned long long jobs = strtoull(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || jobs < 1 || jobs > RUN_JOBS_MOST)
        return iwarp_sentence_set(error, "-j \"%.40s\": a number from 1 to %d was expected", value, RUN_JOBS_MOST);
    options->jobs = (unsigned)jobs;
    return 0;
}

static int take_value(struct run_options *options, const char *option, const char *value, struct iwarp_sentence *error)
{
    if (strcmp(option, "--dut") == 0)
        options->profile = value;
    else if (strcmp(option, "-o") == 0)
        options->output = value;
    else if (strcmp(option, "--compare") == 0)
        options->compare = value;
    else if (strcmp(option, "--defect") == 0)
        return add(options->defects, &options->defect_count, value, option, error);
    else if (strcmp(option, "--variant") == 0)
        return add(options->variants, &options->variant_count, value, option, error);
    else if (strcmp(option, "--script") == 0 || strcmp(option, "--scripts") == 0)
        return add(options->scripts, &options->script_count, value, option, error);
    else if (strcmp(option, "--llp") == 0)
        return take_llp(options, value, error);
    else if (strcmp(option, "--seed") == 0)
        return take_seed(options, value, error);
    else if (strcmp(option, "-j") == 0)
        return take_jobs(options, value, error);
    else if (strcmp(option, "--evidence") == 0)
        return take_evidence(options, value, error);
    else if (strcmp(option, "--evidence-limit") == 0)
        return take_limit(options, value, error);
    else if (strcmp(option, "--shard") == 0)
        return shard_parse(&options->shard, value, error);
    else if (strcmp(option, "--format") == 0)
        return format_option_parse(&options->format, value, error);
    else
        return option_unknown("run", option, usage, selection_usage, error);
    return 0;
}

static int consistent(const struct run_options *options, struct iwarp_sentence *error)
{
    if (options->profile != NULL && (options->simulate || options->defect_count != 0 || options->variant_count != 0))
        return iwarp_sentence_set(
            error, "--dut excludes --simulate, --defect and --variant: these are for the reference stack");
    if (options->quiet && (options->all || options->ladders))
        return iwarp_sentence_set(error, "--quiet excludes --all and --ladders");
    if (options->cm && options->profile == NULL && !options->simulate)
        return iwarp_sentence_set(error,
                                  "--llp cm needs --simulate or --dut: the embedded device speaks MPA over TCP alone");
    if (options->compare != NULL && (options->output == NULL || options->shard.of != 0 ||
                                     format_option_machine(&options->format) || options->quiet))
        return iwarp_sentence_set(error,
                                  "--compare needs -o DIR, and excludes --shard, --quiet and --format other than text "
                                  "(report --diff compares what is there)");
    if (options->dry_run && format_option_machine(&options->format))
        return iwarp_sentence_set(error, "--dry-run prints text: it excludes --format");
    if (options->resume && options->output == NULL)
        return iwarp_sentence_set(error, "--resume needs -o DIR, the folder with the results of the stopped run");
    if (options->force && (options->resume || options->output == NULL))
        return iwarp_sentence_set(error, "--force needs -o DIR, and excludes --resume");
    return 0;
}

/* A live check spends most of its time waiting, so a processor serves several; a simulated one computes. */
static unsigned jobs_by_itself(const struct run_options *options)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long checks = options->simulate ? processors : RUN_JOBS_LEAST * processors;
    long least = options->simulate ? 1 : RUN_JOBS_LEAST;

    if (options->profile != NULL)
        return 1;
    return (unsigned)(checks < least ? least : checks > RUN_JOBS_ITSELF ? RUN_JOBS_ITSELF : checks);
}

int run_options_parse(struct run_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    memset(options, 0, sizeof(*options));
    options->seed = 1;
    options->evidence_limit = (uint64_t)EVIDENCE_LIMIT << 20;
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
        if (strncmp(argv[i], "-j", 2) == 0 && argv[i][2] >= '0' && argv[i][2] <= '9') { /* -j2, as make has it */
            if (take_jobs(options, argv[i++] + 2, error) != 0)
                return -1;
            continue;
        }
        if (i + 1 >= argc)
            return option_unknown("run", argv[i], usage, selection_usage, error);
        if (take_value(options, argv[i], argv[i + 1], error) != 0)
            return -1;
        i += 2;
    }
    if (options->simulate && options->sctp_profile == IWARP_SCTP_RFC5043) /* each in its turn */
        options->sctp_profile = IWARP_SCTP_UNDECIDED;
    if (options->cm && options->selection.layers == 0)
        options->selection.layers = 1U << REQUIREMENT_LAYER_CM;
    if (options->jobs == 0)
        options->jobs = jobs_by_itself(options);
    return consistent(options, error);
}
