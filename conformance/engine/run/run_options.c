/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_options.h"

#include <string.h>
#include <unistd.h>

#include "conformance/engine/profile/rig_llp.h"

/* The lower layer that the checks of this run drive: its checks are selected where nothing else is said of layers. */
static int parse_llp(void *user, const char *value, struct iwarp_sentence *error)
{
    struct run_options *options = user;
    options->cm = strcmp(value, "cm") == 0;
    options->llp = value;
    if (!options->cm && !rig_llp_parse(value, &options->sctp_profile))
        return iwarp_sentence_set(error, "--llp \"%.40s\": tcp, sctp, sctp-draft02 or cm was expected", value);
    options->sctp = !options->cm && options->sctp_profile != IWARP_SCTP_UNDECIDED;
    return 0;
}

static int parse_evidence(void *user, const char *value, struct iwarp_sentence *error)
{
    struct run_options *options = user;
    static const char *const names[] = {[EVIDENCE_FAIL] = "fail", [EVIDENCE_ALL] = "all", [EVIDENCE_NONE] = "none"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(value, names[i]) == 0) {
            options->evidence = (enum evidence_kept)i;
            return 0;
        }
    return iwarp_sentence_set(error, "--evidence \"%.40s\": fail, all or none was expected", value);
}

static int parse_exit_code(void *user, const char *value, struct iwarp_sentence *error)
{
    if (exit_code_find(value, &((struct run_options *)user)->exit_code))
        return 0;
    return iwarp_sentence_set(error, "--exit-code \"%.40s\": warpcheck or kselftest was expected", value);
}

static int parse_shard(void *user, const char *value, struct iwarp_sentence *error)
{
    return shard_parse(&((struct run_options *)user)->shard, value, error);
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return format_option_parse(&((struct run_options *)user)->format, value, error);
}

/* Conditions have the layer that was driven, also where a profile named it. */
static const char *llp_value(const void *user, enum option_use use)
{
    const struct run_options *options = user;

    if (use == OPTION_REPLAY || options->llp != NULL)
        return use == OPTION_REPLAY || options->sctp || options->cm ? options->llp : NULL;
    return options->sctp || options->cm ? "of the profile" : NULL;
}

#define MEMBER(name) offsetof(struct run_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    /* The conditions have the digest of a profile, and a profile says how a replay names its device. */
    {"  --dut PROFILE    judges the device that this JSON file describes (docs/profiles.md), or\n"
     "                   linux-siw: the Linux kernel's software iWARP, in a virtual machine, or\n"
     "                   linux-rxe: its RDMA IP CM Service above software RoCE, the same way, or\n"
     "                   linux-sctp: the reference stack above its SCTP, the same way\n",
     OPTION_APART, OPTION_TEXT, .member = MEMBER(profile)},
    {"  --ipsec          with --dut linux-siw: its streams are inside ESP (docs/ipsec.md); a profile says so by itself\n",
     OPTION_APART, OPTION_FLAG, .member = MEMBER(lab.ipsec)},
    /* The command that repeats a check has them in the profile's "replay", which the lab's script makes. */
    {"  --siw-source DIR  with --dut linux-siw: judges the siw of this tree, a kernel's root or the folder of siw's source\n",
     OPTION_APART, OPTION_TEXT, .member = MEMBER(lab.siw_source)},
    {"  --kernel-tree DIR  with a --dut linux-...: boots the kernel of this tree (docs/lab-kernels.md)\n",
     OPTION_APART, OPTION_TEXT, .member = MEMBER(lab.kernel_tree)},
    {"  --kernel-config NAME  builds it from that tree first, small, as plain, kasan, kcsan, lockdep, ubsan or kmemleak, or\n"
     "                   with the options of a file; repeat it for several\n",
     OPTION_APART, OPTION_LIST, .member = MEMBER(lab.kernel_configs), .count = MEMBER(lab.kernel_config_count), .most = LAB_CONFIGS_MOST},
    {"  --panic-on-warn  with these: the first warning of the guest's kernel ends the guest\n",
     OPTION_APART, OPTION_FLAG, .member = MEMBER(lab.panic_on_warn)},
    {"  --guest ADDRESS  with --dut linux-siw: judges the siw of a guest that runs already, such as one of virtme-ng\n",
     OPTION_APART, OPTION_TEXT, .member = MEMBER(lab.guest)},
    {"  --guest-token FILE  with --guest: what the guest's agent has to be shown\n",
     OPTION_APART, OPTION_TEXT, .member = MEMBER(lab.guest_token)},
    {"  --simulate       runs the reference stack inside this process, on virtual time\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(simulate)},
    {"  --llp LLP        runs the checks that drive a device over tcp (the default), over sctp (RFC 5043; with --simulate\n"
     "                   also the draft's), over sctp-draft02 (draft-stewart-rddp-sctp-02), or cm: those of the RDMA IP\n"
     "                   CM Service over RoCEv2 (with --simulate or --dut); with --dut the profile names the first three\n",
     OPTION_JUDGES, OPTION_OWN, .parse = parse_llp, .value = llp_value},
    {"  --ipv6           uses IPv6 instead of IPv4 (reference stack only)\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(ipv6)},
    {"  --destructive    also runs checks that may crash a device\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(destructive)},
    {"  --defect DEFECT  gives the reference stack a defect; repeat it for several (names: warpcheck list --defects)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(defects), .count = MEMBER(defect_count), .most = RUN_OPTIONS_LIST_MAX},
    {"  --variant VARIANT  makes the reference stack behave in another legal way; repeat it for several (names:\n"
     "                   warpcheck peer --list-variants)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(variants), .count = MEMBER(variant_count), .most = RUN_OPTIONS_LIST_MAX},
    {"  --choices SEED|LIST  makes it the legal device that the seed draws from the choices that the texts leave, or the one\n"
     "                   of these choices, separated by commas (warpcheck prove --devices)\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(choices)},
    {"  --script FILE    runs the checks of this script or folder instead of the built-in ones; repeat it for several\n",
     OPTION_REPEATED, OPTION_LIST, .member = MEMBER(scripts), .count = MEMBER(script_count), .most = RUN_OPTIONS_LIST_MAX, .also = "--scripts"},
    /* The seed and the shard stand in the line of the run; each replay ends with its own seed. */
    {"  --seed N         chooses ports, sequence numbers and simulated worlds (1)\n",
     OPTION_APART, OPTION_NUMBER, .member = MEMBER(seed), .most = INT64_MAX},
    {"  --accept-known   exits with 0 if the device deviates only as its profile describes: for jobs that look for new\n"
     "                   failures\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(accept_known)},
    {"  --exit-code KIND  warpcheck, or kselftest: 0 pass, 1 fail, 2 nothing but known deviations, 4 not decided\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_exit_code},
    {"  --compare OLD    also prints what differs from the earlier run in OLD, such as that of the firmware before (needs -o);\n"
     "                   exits with 1 if a failure is new or a result has vanished, with 0 if neither is so\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(compare)},
    {"  --shard I/N      runs part I of N of the selection; every machine computes the same parts; report --merge joins\n"
     "                   the results\n",
     OPTION_APART, OPTION_OWN, .parse = parse_shard},
    {"  -j N             runs N checks side by side, each in a world of its own; the results are the same for each N\n"
     "                   (the embedded device: eight for each processor, at most 16; simulated: one for each;\n"
     "                   other devices: 1); with --dut at most as many as the profile has places for (beside)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(jobs), .least = 1, .most = RUN_JOBS_MOST},
    {"  -o DIR           writes results.jsonl, evidence/ and the reports there:\n"
     "                   %s;\n"
     "                   the folder must be empty, and no other command may write there at the same time\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output), .names = report_format_files},
    {"  --evidence KIND  keeps the captures of checks whose verdict is neither PASS nor SKIP, and of those in which a rule\n"
     "                   found something (fail, the default), of all checks (all), or of none (none)\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_evidence},
    {"  --evidence-limit N  cuts frames to their headers when a capture has N MiB, and leaves frames out beyond twice as\n"
     "                   much (16)\n",
     OPTION_SHOWS, OPTION_NUMBER, .member = MEMBER(evidence_limit), .least = 1, .most = EVIDENCE_LIMIT_MOST, .unit = "MiB"},
    {"  --force          removes the files that an earlier run wrote to -o DIR\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  --resume         continues the stopped run in -o DIR; all other arguments must be the same\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(resume)},
    {"  --dry-run        shows what would be run\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(dry_run)},
    {"  --all            also shows passes and skips\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(all)},
    {"  --ladders        draws the ladder diagram below each failure (of what a rule found with -o DIR alone)\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(ladders)},
    {"  --quiet          shows no results and no progress, only the closing lines\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},
    {"  --format F       %s: the format of the standard output\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format, .names = format_option_names},
    {"  --help           shows this text\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(help)},
};
/* clang-format on */

const struct option_table run_option_table = {
    .command = "run",
    .head = "usage: warpcheck run [OPTION...] [SELECT...]\n"
            "  Judges a device on the wire. Without --dut, the device is the reference stack itself. It runs as a "
            "process, on the\n"
            "  kernel's TCP, in a network namespace of its own; this needs no root.\n"
            "  Exit status: 0 conforms, 1 fails, 2 usage, 3 nothing was selected, 4 inconclusive or stopped, 5 "
            "deviates as known\n"
            "  (--accept-known: 0).\n",
    .more = selection_usage,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static int consistent(const struct run_options *options, struct iwarp_sentence *error)
{
    if (options->profile != NULL &&
        (options->simulate || options->defect_count != 0 || options->variant_count != 0 || options->choices != NULL))
        return iwarp_sentence_set(
            error, "--dut excludes --simulate, --defect, --variant and --choices: these are for the reference stack");
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
    options->evidence_limit = EVIDENCE_LIMIT;
    options->word_count = argc;
    options->words = argv;
    for (int i = 1; i < argc;) {
        int taken = selection_option(&options->selection, argc, argv, &i, error);

        if (taken == 0)
            taken = option_table_parse(&run_option_table, options, argc, argv, &i, error);
        if (taken == 0)
            taken = option_table_unknown(&run_option_table, argv[i], error);
        if (taken < 0)
            return -1;
    }
    options->evidence_limit <<= 20;
    if (options->simulate && options->sctp_profile == IWARP_SCTP_RFC5043) /* each in its turn */
        options->sctp_profile = IWARP_SCTP_UNDECIDED;
    if (options->cm && options->selection.layers == 0)
        options->selection.layers = 1U << REQUIREMENT_LAYER_CM;
    if (options->jobs == 0)
        options->jobs = jobs_by_itself(options);
    return consistent(options, error);
}
