/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck explore: sessions that nobody wrote. */
#include "conformance/engine/explore/cmd_explore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "conformance/engine/explore/session_deviation.h"
#include "conformance/engine/explore/explore.h"
#include "conformance/engine/explore/explore_reduce.h"
#include "conformance/engine/explore/session_generator.h"
#include "conformance/engine/explore/session_text.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/profile/rig_llp.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/prove/prove_workers.h"
#include "reference-stack/program/complaint.h"
#include "reference-stack/validation/validation.h"
#include "reports/writers/terminal.h"

enum {
    LIST_MAX = 16,
    SESSIONS = 1000,
    SESSIONS_MAX = 100000000,
    HUNDRED = 100,
    WRONG = 60,
    WRONG_UNSAID = HUNDRED + 1,       /* --wrong was not given */
    DEVICE_WORDS = 12 + 4 * LIST_MAX, /* of --defect and --variant, and each other option once */
};

struct command {
    bool simulate, destructive;
    const char *dut;
    const char *defects[LIST_MAX];
    size_t defect_count;
    const char *variants[LIST_MAX];
    size_t variant_count;
    const char *choices;
    uint64_t seed, sessions, first, show;
    unsigned jobs, wrong;
    const char *output;
    const char *llp;
    enum iwarp_sctp_profile sctp; /* what --llp says */
    struct session_live live;
    const char *device_words[DEVICE_WORDS]; /* of `warpcheck run`: live.arguments */
    bool first_only, warns, shows, whole, jsonl;
    struct terminal terminal;
};

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return option_jsonl(value, &((struct command *)user)->jsonl, error);
}

static int parse_show(void *user, const char *value, struct iwarp_sentence *error)
{
    struct command *command = user;

    command->shows = true;
    return option_number("--show", value, NULL, 0, INT64_MAX, &command->show, error);
}

static int parse_llp(void *user, const char *value, struct iwarp_sentence *error)
{
    struct command *command = user;

    command->llp = value;
    if (!rig_llp_parse(value, &command->sctp))
        return iwarp_sentence_set(error, "--llp \"%.40s\": tcp, sctp or sctp-draft02 was expected", value);
    return 0;
}

#define MEMBER(name) offsetof(struct command, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --dut PROFILE    plays the sessions against the device that this JSON file describes (docs/profiles.md), or against\n"
     "                   linux-siw, as warpcheck run does (needs -o); without --dut and --simulate, against the reference\n"
     "                   stack as a process\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(dut)},
    {"  --simulate       plays the sessions against the reference stack inside this process, on virtual time\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(simulate)},
    {"  --llp LLP        what is below DDP: tcp (the default), sctp (RFC 5043) or sctp-draft02 (draft-stewart-rddp-sctp-02);\n"
     "                   with --dut as the profile has it\n",
     OPTION_JUDGES, OPTION_OWN, .parse = parse_llp},
    {"  --destructive    with --dut: also sessions with something wrong, which may crash a device\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(destructive)},
    {"  --defect DEFECT  gives that stack a defect; repeat it for several (names: warpcheck list --defects)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(defects), .count = MEMBER(defect_count), .most = LIST_MAX},
    {"  --variant VARIANT  makes it behave in another legal way; repeat it for several (names: warpcheck peer\n"
     "                   --list-variants)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(variants), .count = MEMBER(variant_count), .most = LIST_MAX},
    {"  --choices SEED|LIST  makes it the legal device that the seed draws from the choices that the texts leave, or the one\n"
     "                   of these choices, separated by commas (warpcheck prove --devices)\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(choices)},
    {"  --seed N         what the sessions are drawn by (1)\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(seed), .most = INT64_MAX},
    {"  --sessions N     how many are played (1000)\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(sessions), .least = 1, .most = SESSIONS_MAX},
    {"  --from N         number of the first of them (0): a session is the same whatever was played before it\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(first), .most = INT64_MAX / 2},
    {"  --wrong N        how many of a hundred have something wrong (60): a field, a length, a frame, the order; 0: all are\n"
     "                   legal (with --dut the default, but for --destructive)\n",
     OPTION_JUDGES, OPTION_COUNT, .member = MEMBER(wrong), .most = HUNDRED},
    {"  --first          ends at the first failure\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(first_only)},
    {"  --warn           a WARN is a failure, too\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(warns)},
    {"  --whole          reduces nothing: a session stays as it was drawn\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(whole)},
    {"  -o DIR           writes a check for each group to DIR/checks, the smallest session that fails in the same way, and runs\n"
     "                   them: results.jsonl, evidence/ and the report are in DIR/run; without --simulate also the runs in\n"
     "                   which sessions failed\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output)},
    {"  --show N         plays nothing: writes session N as a check, for warpcheck run --script\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_show},
    {"  -j N             number of processes (default: the number of processors); without --simulate that of warpcheck run\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(jobs), .least = 1, .most = PROVE_JOBS_MAX},
    {"  --format F       text or jsonl\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --help           shows this text\n", OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

static const struct option_table table = {
    .command = "explore",
    .head = "usage: warpcheck explore [OPTION...]\n"
            "  Draws sessions by seed: start-up, memory, operations of both sides, segmentation; some have something "
            "wrong. "
            "A legal\n"
            "  session has to be served in full. What is wrong has to be answered by a reaction that the texts allow, "
            "as the\n"
            "  validations of the correct stack predict it. All rules judge the traffic. Failures of one cause are one "
            "group.\n"
            "  Exit status: 0 nothing failed, 1 something did, 2 usage, 4 some sessions could not be decided.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static int arguments_check(struct command *command, struct iwarp_sentence *error)
{
    if (command->simulate && command->dut != NULL)
        return iwarp_sentence_set(error, "--simulate excludes --dut: the sessions are played against one of them");
    if (command->dut != NULL && command->defect_count + command->variant_count + (command->choices != NULL) != 0)
        return iwarp_sentence_set(error,
                                  "--dut excludes --defect, --variant and --choices, which are of the reference stack");
    if (command->output != NULL && (command->shows || (command->simulate && command->whole)))
        return iwarp_sentence_set(error, "-o writes reduced sessions: it excludes --whole and --show");
    if (!command->simulate && !command->shows && command->output == NULL)
        return iwarp_sentence_set(error, "-o DIR was expected: the runs on the wire go there; or --simulate");
    if (command->wrong == WRONG_UNSAID)
        command->wrong = command->dut != NULL && !command->destructive ? 0 : WRONG;
    if (command->dut != NULL && !command->destructive && command->wrong != 0)
        return iwarp_sentence_set(error, "--wrong %u needs --destructive: what is wrong may crash a device",
                                  command->wrong);
    return 0;
}

static int arguments_parse(struct command *command, int argc, char **argv, struct iwarp_sentence *error)
{
    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, command, argc, argv, &i, error);

        if (taken == 0)
            taken = option_table_unknown(&table, argv[i], error);
        if (taken < 0)
            return -1;
    }
    return arguments_check(command, error);
}

static void on_progress(void *user, size_t done, size_t total)
{
    struct command *command = user;

    terminal_progress(&command->terminal, done, total, "exploring", 0);
}

/* ---- what is printed --------------------------------------------------------------------------------------------- */

/* The smallest session of each group: how many steps are left, and which are wrong. */
static void print_reduced(const struct explore_group *group)
{
    const struct session *session = group->reduced;

    if (session == NULL)
        return;
    printf("      reduced to %zu step%s:", session->step_count, session->step_count == 1 ? "" : "s");
    for (size_t i = 0; i < session->step_count; i++)
        printf("%s %s%s", i == 0 ? "" : ",", session->steps[i].wrong.present ? "wrong " : "", session->steps[i].name);
    printf("%s\n", session->wrong_start.present ? " wrong start-up" : "");
}

static void print_group(const struct command *command, const struct explore_group *group)
{
    print_plain(stdout, "%s  %s%s%s", group->verdict, group->id != NULL ? group->id : "", group->id != NULL ? ": " : "",
                group->message != NULL ? group->message : "no message");
    if (group->expected != NULL)
        print_plain(stdout, "      expected  %s", group->expected);
    if (group->actual != NULL)
        print_plain(stdout, "      actual    %s", group->actual);
    printf("      %" PRIu64 " session%s; the first is number %" PRIu64 " of seed %" PRIu64 "\n", group->count,
           group->count == 1 ? "" : "s", group->number, command->seed);
    if (group->replayed && group->again != EXPLORE_REPLAYS)
        printf("      flaky: played again, it failed so %u times of %d\n", group->again, (int)EXPLORE_REPLAYS);
    if (group->run != 0)
        printf("      its run: %s/explored-%u\n", command->output, group->run);
    print_reduced(group);
}

static void write_line(json_t *line)
{
    if (line == NULL)
        return;
    (void)json_dumpf(line, stdout, JSON_COMPACT);
    (void)fputc('\n', stdout);
    json_decref(line);
}

static void write_group(const struct command *command, const struct explore_group *group)
{
    json_t *line = json_pack("{s:s, s:s, s:s?, s:s, s:s?, s:s?, s:s?, s:I, s:I, s:I}", "type", "group", "verdict",
                             group->verdict, "id", group->id, "cause", group->cause, "message", group->message,
                             "expected", group->expected, "actual", group->actual, "sessions", (json_int_t)group->count,
                             "seed", (json_int_t)command->seed, "number", (json_int_t)group->number);

    if (line != NULL && group->replayed)
        (void)json_object_set_new(line, "again", json_pack("[i, i]", (int)group->again, (int)EXPLORE_REPLAYS));
    if (line != NULL && group->run != 0)
        (void)json_object_set_new(line, "run", json_sprintf("explored-%u", group->run));
    write_line(line);
}

static size_t count_set(const bool *set)
{
    size_t count = 0;

    for (size_t i = 0; i < validation_count; i++)
        count += set[i];
    return count;
}

static void print_summary(const struct command *command, const struct explore_summary *summary)
{
    if (command->jsonl) {
        write_line(json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "summary", "seed",
                             (json_int_t)command->seed, "sessions", (json_int_t)summary->sessions, "wrong",
                             (json_int_t)summary->wrong, "skipped", (json_int_t)summary->skipped, "failed",
                             (json_int_t)summary->failed, "groups", (json_int_t)summary->group_count, "undecided",
                             (json_int_t)summary->undecided, "met", (json_int_t)count_set(summary->met), "refused",
                             (json_int_t)count_set(summary->refused)));
        return;
    }
    printf("%" PRIu64 " sessions, %" PRIu64 " with something wrong: %" PRIu64 " failed, in %zu group%s\n",
           summary->sessions, summary->wrong, summary->failed, summary->group_count,
           summary->group_count == 1 ? "" : "s");
    printf("validations that what was wrong came to: %zu, and broke: %zu\n", count_set(summary->met),
           count_set(summary->refused));
    if (summary->skipped != 0)
        print_plain(stdout, "%" PRIu64 " sessions are not for this device; the first: %s", summary->skipped,
                    summary->skipped_reason != NULL ? summary->skipped_reason : "");
    if (summary->undecided != 0)
        print_plain(stdout, "%" PRIu64 " sessions could not be decided; number %" PRIu64 ": %s", summary->undecided,
                    summary->undecided_number, summary->reason != NULL ? summary->reason : "");
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int show(const struct explore_config *config, uint64_t number, struct iwarp_sentence *error)
{
    struct session_device oracle = {.defects = defect_set_asking(error)};
    struct session *session = calloc(1, sizeof(*session));
    int status = EXIT_ENVIRONMENT;

    if (session == NULL || oracle.defects == NULL ||
        explore_make(config, &oracle, session, number, 1, NULL, error) != 0) {
        status = complain(EXIT_ENVIRONMENT, "%s", session == NULL ? "out of memory" : error->text);
    } else {
        session_print(session, NULL, "a session that was drawn", stdout);
        status = EXIT_DONE;
    }
    run_services_free(&oracle.services);
    defect_set_free(oracle.defects);
    free(session);
    return status;
}

/* What `warpcheck run` is given of the device, here and for each run on the wire. */
static void add_argument(struct command *command, const char *name, const char *value)
{
    command->device_words[command->live.argument_count++] = name;
    if (value != NULL)
        command->device_words[command->live.argument_count++] = value;
}

static void name_device_to_run(struct command *command, const char *jobs, const char *seed)
{
    command->live.arguments = command->device_words;
    add_argument(command, "--seed", seed);
    if (jobs != NULL)
        add_argument(command, "-j", jobs);
    if (command->simulate)
        add_argument(command, "--simulate", NULL);
    if (command->dut == NULL || command->destructive)
        add_argument(command, "--destructive", NULL);
    if (command->dut != NULL)
        add_argument(command, "--dut", command->dut);
    if (command->llp != NULL)
        add_argument(command, "--llp", command->llp);
    for (size_t i = 0; i < command->defect_count; i++)
        add_argument(command, "--defect", command->defects[i]);
    for (size_t i = 0; i < command->variant_count; i++)
        add_argument(command, "--variant", command->variants[i]);
    if (command->choices != NULL)
        add_argument(command, "--choices", command->choices);
}

/* The checks are run as anybody would run them, so that results, evidence and report are those of a run. */
static int run_checks(const struct command *command)
{
    char checks[512], out[512];
    const char *const own[] = {"run", "--quiet", "--script", checks, "-o", out};

    if (snprintf(checks, sizeof(checks), "%s/checks", command->output) >= (int)sizeof(checks) ||
        snprintf(out, sizeof(out), "%s/run", command->output) >= (int)sizeof(out))
        return complain(EXIT_USAGE, "%.100s...: the name is too long", command->output);
    return session_live_command(&command->live, own, sizeof(own) / sizeof(own[0]));
}

/* 0, or the exit status. */
static int write_output(const struct command *command, const struct explore_summary *summary,
                        struct iwarp_sentence *error)
{
    bool reduced = false;
    int status;

    if (command->output == NULL)
        return 0;
    if (explore_write_checks(summary, command->output, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    for (size_t i = 0; i < summary->group_count; i++)
        reduced = reduced || summary->groups[i].reduced != NULL;
    status = reduced ? run_checks(command) : EXIT_CONFORMS;
    return status == EXIT_ENVIRONMENT || status == EXIT_USAGE ? status : 0;
}

static int exit_status(const struct explore_summary *summary)
{
    if (summary->group_count != 0)
        return EXIT_FAILS;
    return summary->undecided != 0 || summary->sessions == summary->skipped || run_stopped() ? EXIT_INCONCLUSIVE
                                                                                             : EXIT_CONFORMS;
}

/* What was found is shown also where something has failed, or it was stopped. */
static int explore(struct command *command, const struct explore_config *config, struct iwarp_sentence *error)
{
    struct explore_summary summary;
    int status = explore_run(config, &summary, error);

    if (status == 0 && !command->whole && !run_stopped())
        status = explore_reduce(config, &summary, error);
    terminal_clear(&command->terminal);
    for (size_t i = 0; i < summary.group_count; i++)
        (command->jsonl ? write_group : print_group)(command, &summary.groups[i]);
    if (status == 0 || summary.sessions != 0)
        print_summary(command, &summary);
    (void)fflush(stdout);
    if (status != 0) {
        status = command->live.refused ? EXIT_USAGE : complain(EXIT_ENVIRONMENT, "%s", error->text);
    } else {
        status = command->whole ? 0 : write_output(command, &summary, error);
        if (status == 0)
            status = exit_status(&summary);
    }
    explore_summary_free(&summary);
    return status;
}

static int name_device(const struct command *command, struct session_device *device, struct iwarp_sentence *error)
{
    const struct defect_names names = {
        .defects = command->defects,
        .defect_count = command->defect_count,
        .variants = command->variants,
        .variant_count = command->variant_count,
        .choices = command->choices,
        .layer = choice_layer_of(command->sctp != IWARP_SCTP_UNDECIDED, command->sctp == IWARP_SCTP_DRAFT02)};

    return defect_set_named(&names, &device->defects, error);
}

/* What the stack has below DDP is what the rules and checks of that text ask for. */
static int agree_llp(const struct command *command, struct pics *pics, struct iwarp_sentence *error)
{
    return command->sctp == IWARP_SCTP_UNDECIDED ? 0
                                                 : pics_set_sctp(pics, command->sctp == IWARP_SCTP_RFC5043,
                                                                 command->sctp == IWARP_SCTP_DRAFT02, true, error);
}

static int load_and_explore(struct command *command, struct iwarp_sentence *error)
{
    struct session_device device = {.live = command->simulate || command->shows ? NULL : &command->live};
    struct catalogue *catalogue = NULL;
    struct pics *pics = NULL;
    struct defect_list *variants = NULL;
    int status;

    if (catalogue_load(&catalogue, error) != 0 || pics_load(&pics, error) != 0 ||
        agree_llp(command, pics, error) != 0 || (variants = variant_list_embedded(error)) == NULL) {
        status = complain(EXIT_ENVIRONMENT, "%s", error->text);
    } else if (name_device(command, &device, error) != 0) {
        status = complain(EXIT_USAGE, "%s", error->text);
    } else {
        struct explore_config config = {
            .world = {.catalogue = catalogue, .pics = pics, .seed = command->seed, .sctp = command->sctp},
            .variants = variants,
            .device = &device,
            .seed = command->seed,
            .first = command->first,
            .sessions = command->sessions,
            .wrong = command->wrong,
            .jobs = command->jobs,
            .first_only = command->first_only,
            .warns = command->warns,
            .progress = on_progress,
            .user = command};

        status = command->shows ? show(&config, command->show, error) : explore(command, &config, error);
    }
    run_services_free(&device.services);
    defect_set_free(device.defects);
    defect_list_free(variants);
    pics_free(pics);
    catalogue_free(catalogue);
    return status;
}

/* The folder of runs on the wire: a new one, or one without runs. */
static int prepare_folder(const char *path, struct iwarp_sentence *error)
{
    char inner[512];

    if (snprintf(inner, sizeof(inner), "%s/explored-1.lua", path) >= (int)sizeof(inner))
        return iwarp_sentence_set(error, "%.100s...: the name is too long", path);
    if ((mkdir(path, 0777) != 0 && errno != EEXIST) || access(inner, F_OK) == 0)
        return iwarp_sentence_set(error, "%s cannot be made: %s; a new folder was expected", path, strerror(errno));
    return 0;
}

int cmd_explore(int argc, char **argv)
{
    struct command command = {.seed = 1, .sessions = SESSIONS, .wrong = WRONG_UNSAID};
    char jobs[16] = "", seed[32];
    struct iwarp_sentence error = {{0}};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return option_table_print(&table, stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    run_stop_install("explore");
    terminal_init(&command.terminal, stderr);
    if (arguments_parse(&command, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (command.jobs != 0)
        (void)snprintf(jobs, sizeof(jobs), "%u", command.jobs);
    else
        command.jobs = processors > 0 && processors <= PROVE_JOBS_MAX ? (unsigned)processors : 1;
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, command.seed);
    name_device_to_run(&command, command.simulate || jobs[0] == '\0' ? NULL : jobs, seed);
    command.live.folder = command.output;
    if (!command.simulate && !command.shows && prepare_folder(command.output, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    /* With -o the checks are run afterwards, which confines the process by itself. */
    if (command.output == NULL && run_confine(NULL, 0, 0, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    return load_and_explore(&command, &error);
}
