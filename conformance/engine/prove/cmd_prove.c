/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck prove: the kill matrix. */
#include "conformance/engine/prove/cmd_prove.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference-stack/program/option_table.h"
#include "conformance/engine/prove/cmd_prove_devices.h"
#include "conformance/engine/prove/cmd_prove_variants.h"
#include "conformance/engine/prove/prove.h"
#include "conformance/engine/plan/plan.h"
#include "conformance/engine/prove/prove_demands.h"
#include "conformance/engine/prove/prove_merge.h"
#include "conformance/engine/prove/prove_printer.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/profile/rig_llp.h"
#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"

enum { SEEDS = 8, SEEDS_MAX = 1000000, DEVICES_MAX = 1000000, JOBS_MAX = PROVE_JOBS_MAX };

struct command {
    struct prove_config prove;
    const char **only;
    const char *scripts;
    bool seeds_given;
    bool whole_table; /* --demands */
    bool variants;    /* `only` are such */
    uint64_t devices; /* to be drawn */
    const char *choices;
    bool cm;    /* the devices are CM agents */
    bool merge; /* `only` are files */
    struct prove_demands *demands;
    struct prove_printer printer;
};

/* `sctp` has the checks of both texts, as in a simulated run. */
static int parse_llp(void *user, const char *value, struct iwarp_sentence *error)
{
    struct command *command = user;
    struct prove_config *config = &command->prove;

    command->cm = strcmp(value, "cm") == 0;
    if (command->cm)
        return 0;
    if (!rig_llp_parse(value, &config->profile))
        return iwarp_sentence_set(error, "--llp \"%.40s\": tcp, sctp or sctp-draft02 was expected", value);
    config->sctp = config->profile != IWARP_SCTP_UNDECIDED;
    if (config->profile == IWARP_SCTP_RFC5043)
        config->profile = IWARP_SCTP_UNDECIDED;
    return 0;
}

static int parse_seeds(void *user, const char *value, struct iwarp_sentence *error)
{
    struct command *command = user;
    uint64_t number;

    if (option_number("--seeds", value, NULL, 0, SEEDS_MAX, &number, error) != 0)
        return -1;
    command->prove.seeds = (unsigned)number;
    command->seeds_given = true;
    return 0;
}

static int parse_shard(void *user, const char *value, struct iwarp_sentence *error)
{
    return shard_parse(&((struct command *)user)->prove.shard, value, error);
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return option_jsonl(value, &((struct command *)user)->printer.jsonl, error);
}

#define MEMBER(name) offsetof(struct command, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --seed N       seed of the runs with defects, and first seed of the correct stack (1)\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(prove.seed), .most = INT64_MAX},
    {"  --seeds N      number of seeds of the correct stack (8; if defects are named: 0)\n",
     OPTION_JUDGES, OPTION_OWN, .parse = parse_seeds},
    {"  --scripts DIR  uses the checks of this folder instead of the built-in ones\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(scripts)},
    {"  --llp LLP      tcp (the default); sctp (RFC 5043) or sctp-draft02: defects of DDP, RDMAP and atomics meet their checks\n"
     "                 over SCTP. Those that have no meaning there are left out, each with its reason\n",
     OPTION_JUDGES, OPTION_OWN, .parse = parse_llp},
    {"  -j N           number of processes (default: the number of processors)\n",
     OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(prove.jobs), .least = 1, .most = JOBS_MAX},
    {"  --shard I/N    runs part I of N of the seeds and defects, or of the variants; every machine computes the same parts\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_shard},
    {"  --merge        joins the results of all shards, each written to a file with --format jsonl\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(merge)},
    {"  --variants     runs the reference stack with each legal variant (reference-stack/defects/variants.tsv) against every check and\n"
     "                 rule, and nothing else: no FAIL, and no WARN but those that the variant's row names; with --llp also\n"
     "                 over SCTP\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(variants)},
    {"  --devices N    draws N legal devices by seed, from --seed on: the reference stack with other choices where the texts\n"
     "                 leave one (reference-stack/defects/choices.tsv). The suite is run against each: no FAIL, and no WARN\n"
     "                 but those that the rows of its choices name. A device that draws one is reduced to the fewest choices\n"
     "                 that still do. --llp may be cm here, too\n",
     OPTION_JUDGES, OPTION_NUMBER, .member = MEMBER(devices), .least = 1, .most = DEVICES_MAX},
    {"  --choices LIST  the same for the device of these choices, separated by commas, as --devices prints them\n",
     OPTION_JUDGES, OPTION_TEXT, .member = MEMBER(choices)},
    {"  --matrix       runs every check against every defect (minutes) and reports which checks caught which defects; with\n"
     "                 --variants against every variant, also where the check cannot meet it: what it comes to is then compared\n"
     "                 with what it comes to without the variant\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(prove.whole)},
    {"  --demands      reports also each check that no defect naming it kills, role by role and with the verdict of its level,\n"
     "                 each defect that breaks a MUST and draws no more than WARN (defects-warn.tsv declares those that may),\n"
     "                 and each defect that repeats the operation of another; needs all defects\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(whole_table)},
    {"  --format F     text or jsonl\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --help         shows this text\n", OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

static const struct option_table table = {
    .command = "prove",
    .head =
        "usage: warpcheck prove [OPTION...] [DEFECT...]\n"
        "       warpcheck prove --variants [OPTION...] [VARIANT...]\n"
        "       warpcheck prove --devices N [OPTION...]\n"
        "       warpcheck prove --merge [--format F] FILE...\n"
        "  Runs the reference stack with each defect, in simulation, against every check and rule. It also runs "
        "the correct\n"
        "  stack over many seeds. Each requirement that a defect names must catch it, where a check or a rule judges "
        "that one\n"
        "  on the lower layer of the run (reference-stack/defects/defects-uncaught.tsv has the exceptions). No "
        "requirement may\n"
        "  fail on the correct stack. The checks that a defect names run first; others run while one has not caught "
        "it.\n"
        "  A check whose script fails is an alarm, whatever defect the stack has.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static bool proves_devices(const struct command *command)
{
    return command->devices != 0 || command->choices != NULL;
}

/* A run with devices takes no option of the runs with defects or variants. */
static int check_devices(const struct command *command, struct iwarp_sentence *error)
{
    if (command->cm && !proves_devices(command))
        return iwarp_sentence_set(
            error, "--llp \"cm\": tcp, sctp or sctp-draft02 was expected; cm goes with --devices or --choices alone");
    if (command->devices != 0 && command->choices != NULL)
        return iwarp_sentence_set(error, "--devices draws devices, and --choices names one: one of both was expected");
    if (proves_devices(command) && (command->variants || command->merge || command->seeds_given ||
                                    command->whole_table || command->prove.whole || command->prove.only_count != 0))
        return iwarp_sentence_set(
            error,
            "--devices and --choices exclude --variants, --merge, --seeds, --matrix, --demands and names of defects");
    return 0;
}

static int arguments_parse(struct command *command, int argc, char **argv, struct iwarp_sentence *error)
{
    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, command, argc, argv, &i, error);

        if (taken < 0)
            return -1;
        if (taken == 0)
            command->only[command->prove.only_count++] = argv[i++];
    }
    if (command->variants && (command->merge || command->seeds_given))
        return iwarp_sentence_set(error, "--variants excludes --merge and --seeds");
    if (command->merge && command->prove.only_count == 0)
        return iwarp_sentence_set(
            error, "--merge: no results are named: name files that contain the output of prove --format jsonl");
    if (command->prove.only_count != 0 && !command->seeds_given)
        command->prove.seeds = 0;
    return check_devices(command, error);
}

static void on_defect(void *user, const struct defect *defect, const json_t *row)
{
    struct command *command = user;
    json_t *line = json_pack("{s:s, s:s, s:s, s:O, s:O, s:O, s:O}", "type", "defect", "defect", defect->id,
                             "requirement", defect->requirement, "killed_by", json_object_get(row, "killed_by"),
                             "uncaught", json_object_get(row, "uncaught"), "killed", json_object_get(row, "killed"),
                             "kills", json_object_get(row, "kills"));
    const json_t *kill;
    size_t i;

    json_array_foreach(json_object_get(row, "kills"), i, kill)
    {
        (void)prove_demands_kill(command->demands, defect, json_string_value(kill));
    }
    if (command->printer.jsonl) {
        prove_printer_line(line);
        return;
    }
    terminal_clear(&command->printer.terminal);
    prove_printer_defect(line, command->prove.whole);
    json_decref(line);
}

static void on_left_out(void *user, const struct defect *defect, const char *reason)
{
    struct command *command = user;

    if (command->printer.jsonl)
        prove_printer_line(json_pack("{s:s, s:s, s:s, s:s}", "type", "left_out", "defect", defect->id, "requirement",
                                     defect->requirement, "reason", reason));
    else if (command->prove.whole)
        printf("left out %-40s %s\n", defect->id, reason);
}

static void on_alarm(void *user, const struct defect *defect, uint64_t seed, const char *text)
{
    struct command *command = user;
    const char *id = defect != NULL ? defect->id : NULL;

    terminal_clear(&command->printer.terminal);
    print_plain(command->printer.jsonl ? stderr : stdout, "ALARM    %s, seed %" PRIu64 ": %s",
                id != NULL ? id : "correct stack", seed, text);
    if (command->printer.jsonl)
        prove_printer_line(
            json_pack("{s:s, s:s*, s:I, s:s}", "type", "alarm", "defect", id, "seed", (json_int_t)seed, "text", text));
}

static void on_correct(void *user, uint64_t seed)
{
    struct command *command = user;

    if (command->printer.jsonl)
        prove_printer_line(json_pack("{s:s, s:I}", "type", "correct", "seed", (json_int_t)seed));
}

static void on_progress(void *user, size_t done, size_t total)
{
    prove_printer_progress(&((struct command *)user)->printer, done, total);
}

static void on_unmet(void *user, const char *text)
{
    struct command *command = user;

    if (command->printer.jsonl)
        prove_printer_line(json_pack("{s:s, s:s}", "type", "unmet", "text", text));
    else
        printf("UNMET    %s\n", text);
}

/* Only the whole table shows what no defect of it kills. */
static size_t tell_demands(struct command *command)
{
    const struct prove_config *config = &command->prove;

    if (!command->whole_table || config->only_count != 0 || config->shard.of != 0)
        return 0;
    return prove_demands_tell(command->demands, config->host, config->catalogue, config->defects, on_unmet, command);
}

static void print_summary(const struct command *command, const struct prove_summary *summary)
{
    if (command->printer.jsonl) {
        json_t *line = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "summary", "defects",
                                 (json_int_t)summary->defects, "killed", (json_int_t)summary->killed, "false_alarms",
                                 (json_int_t)summary->false_alarms, "inconclusive", (json_int_t)summary->undecided,
                                 "checks", (json_int_t)summary->checks, "rules", (json_int_t)summary->rules);

        if (summary->left_out != 0)
            (void)json_object_set_new(line, "left_out", json_integer((json_int_t)summary->left_out));
        if (command->prove.shard.of != 0) {
            char label[24];

            shard_label(&command->prove.shard, label, sizeof(label));
            (void)json_object_set_new(line, "shard", json_string(label));
            (void)json_object_set_new(line, "plan", json_string(summary->plan));
        }
        prove_printer_line(line);
        return;
    }
    printf(
        "\n%zu of %zu defects killed by %zu checks and %zu rules; the correct stack over %zu seeds: %zu false alarms",
        summary->killed, summary->defects, summary->checks, summary->rules, summary->units - summary->defects,
        summary->false_alarms);
    if (summary->undecided != 0)
        printf(", %zu inconclusive", summary->undecided);
    puts("");
    if (summary->left_out != 0)
        printf("%zu defects were left out, which have no meaning over SCTP (--matrix says why)\n", summary->left_out);
}

static int prove(struct command *command, struct iwarp_sentence *error)
{
    struct prove_summary summary;
    size_t unmet;

    if (defect_list_count(command->prove.defects) == 0 || script_check_count(command->prove.host) == 0)
        return complain(EXIT_NOTHING_SELECTED, "there are no defects or no checks to prove with");
    if (prove_run(&command->prove, &summary, error) != 0)
        return complain(strncmp(error->text, "no defect", 9) == 0 ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", error->text);
    terminal_clear(&command->printer.terminal);
    unmet = tell_demands(command);
    print_summary(command, &summary);
    if (summary.units == 0)
        (void)complain(0, "shard %u/%u: this shard has no seeds or defects; the other shards have them",
                       command->prove.shard.index, command->prove.shard.of);
    return summary.killed == summary.defects && summary.false_alarms == 0 && summary.undecided == 0 && unmet == 0
               ? EXIT_CONFORMS
               : EXIT_FAILS;
}

static int prove_variants(const struct command *command)
{
    struct prove_variants_config config = {
        .catalogue = command->prove.catalogue,
        .pics = command->prove.pics,
        .host = command->prove.host,
        .only = command->prove.only,
        .only_count = command->prove.only_count,
        .sctp = command->prove.sctp,
        .profile = command->prove.profile,
        .seed = command->prove.seed,
        .jobs = command->prove.jobs,
        .shard = command->prove.shard,
        .whole = command->prove.whole,
    };

    return cmd_prove_variants(&config, command->printer.jsonl);
}

static int prove_devices(const struct command *command)
{
    const struct prove_config *prove = &command->prove;
    struct prove_devices_config config = {
        .catalogue = prove->catalogue,
        .pics = prove->pics,
        .host = prove->host,
        .layer = command->cm ? CHOICE_CM : choice_layer_of(prove->sctp, prove->profile == IWARP_SCTP_DRAFT02),
        .choices = command->choices,
        .first = prove->seed,
        .count = command->choices != NULL ? 1 : command->devices,
        .seed = prove->seed,
        .jobs = prove->jobs,
        .shard = prove->shard,
    };

    return cmd_prove_devices(&config, command->printer.jsonl);
}

static int load_and_prove(struct command *command, struct iwarp_sentence *error)
{
    struct catalogue *catalogue = NULL;
    struct pics *pics = NULL;
    struct defect_list *defects = NULL;
    int status = EXIT_ENVIRONMENT;

    command->prove.host = script_host_new(error);
    if (command->prove.host == NULL || catalogue_load(&catalogue, error) != 0 || pics_load(&pics, error) != 0 ||
        pics_set_sctp(pics, command->prove.profile != IWARP_SCTP_DRAFT02, true, true, error) != 0 ||
        pics_set_cm(pics, true, error) != 0 || (defects = defect_list_embedded(error)) == NULL) {
        (void)complain(status, "%s", error->text);
    } else if ((command->scripts != NULL ? script_load_path(command->prove.host, command->scripts, error)
                                         : script_load_embedded(command->prove.host, error)) != 0) {
        status =
            complain(script_short_of_memory(command->prove.host) ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s", error->text);
    } else {
        command->prove.catalogue = catalogue;
        command->prove.pics = pics;
        command->prove.defects = defects;
        status = proves_devices(command) ? prove_devices(command)
                 : command->variants     ? prove_variants(command)
                                         : prove(command, error);
    }
    defect_list_free(defects);
    pics_free(pics);
    catalogue_free(catalogue);
    script_host_free(command->prove.host);
    return status;
}

int cmd_prove(int argc, char **argv)
{
    struct command command = {.prove = {.seed = 1, .seeds = SEEDS}};
    struct iwarp_sentence error = {{0}};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return option_table_print(&table, stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    run_stop_install("prove");
    if (run_confine(NULL, 0, 0, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    command.only = calloc((size_t)argc + 1, sizeof(*command.only));
    if (command.only == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    command.prove.only = command.only;
    command.prove.jobs = processors > 0 && processors <= JOBS_MAX ? (unsigned)processors : 1;
    command.prove.defect = on_defect;
    command.prove.correct = on_correct;
    command.prove.left_out = on_left_out;
    command.prove.alarm = on_alarm;
    command.prove.progress = on_progress;
    command.prove.user = &command;
    command.demands = prove_demands_new();
    if (command.demands == NULL) {
        free(command.only);
        return complain(EXIT_ENVIRONMENT, "out of memory");
    }
    terminal_init(&command.printer.terminal, stderr);
    if (arguments_parse(&command, argc, argv, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else if (command.merge)
        status = prove_merge(command.only, command.prove.only_count, command.printer.jsonl);
    else
        status = load_and_prove(&command, &error);
    prove_demands_free(command.demands);
    free(command.only);
    return status;
}
