/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck run: judges a live (or simulated) device. */
#include "conformance/engine/cmd_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture_file.h"
#include "conformance/engine/cmd_report.h"
#include "conformance/engine/output_folder.h"
#include "conformance/engine/coverage.h"
#include "conformance/engine/peer_launcher.h"
#include "conformance/engine/profile.h"
#include "conformance/engine/run_confine.h"
#include "conformance/engine/run_options.h"
#include "conformance/engine/run_stop.h"
#include "conformance/engine/runner.h"
#include "conformance/engine/shell_word.h"
#include "conformance/engine/utc_text.h"
#include "reference-stack/complaint.h"
#include "reference-stack/defect.h"
#include "reports/results_log.h"
#include "reports/terminal.h"
#include "wire/rdmap.h"

enum { PATH_OCTETS = 4096 };

struct command {
    struct run_options options;
    struct catalogue *catalogue;
    struct pics *pics;
    struct script_host *host;
    struct profile profile;
    struct plan plan;
    struct defect_set *defects;   /* of the reference stack, NULL: none */
    struct run_identity identity; /* who writes the output */
    struct rig *rig;
    struct results_log *log;
    struct results_done *done;
    struct terminal terminal;
    uint64_t failed;
    bool *exercised; /* by requirement index: it has a result */
    char plan_digest[SHARD_DIGEST_OCTETS];
    char today[16];
    char evidence[PATH_OCTETS];
    char results[PATH_OCTETS + 16]; /* "": not kept */
    struct sentence log_error;
};

static int complain(int status, const char *message)
{
    return complaint(status, "warpcheck run", "%s", message);
}

static bool on_done(void *user, const struct plan_item *item)
{
    const struct command *command = user;

    return command->done != NULL && results_done_has(command->done, item->check->id, item->role);
}

static void on_progress(void *user, size_t done, size_t total, const struct plan_item *item)
{
    struct command *command = user;

    terminal_progress(&command->terminal, done, total, item->check->id, command->failed);
}

/* Where the frame lies in the evidence, which is written by now. */
static void place_frame(const struct command *command, struct result *result)
{
    char path[2 * PATH_OCTETS];

    if (command->options.output == NULL || result->evidence == NULL || result->frame == 0 ||
        result->verdict == VERDICT_PASS)
        return;
    (void)snprintf(path, sizeof(path), "%s/%s", command->options.output, result->evidence);
    (void)capture_place_of(path, result->frame, &result->offset, &result->octets);
}

/* The rule may have met its known deviation in another shard's traffic: the merge tells. */
static bool deferred(struct command *command, struct result *result, char text[DEVIATION_TEXT_OCTETS])
{
    struct result judged = *result;

    if (command->options.shard.of == 0 || strcmp(result->by, "rule") != 0 || result->verdict != VERDICT_PASS)
        return false;
    if (deviations_judge(&command->profile.deviations, &judged, command->today, text))
        result->unexpected = text;
    return true;
}

static int on_result(void *user, const struct result *decided)
{
    struct command *command = user;
    const struct requirement *requirement = catalogue_find(command->catalogue, decided->id);
    struct result result = *decided;
    char text[DEVIATION_TEXT_OCTETS], outcome[OUTCOME_OCTETS];
    int appended;

    if (strcmp(result.by, "rule") == 0 && command->done != NULL &&
        results_done_has(command->done, result.id, result.role))
        return 0;
    if (requirement != NULL)
        command->exercised[requirement->index] = true;
    if (command->options.profile != NULL && result.verdict == VERDICT_FAIL)
        result.outcome = outcome_digest(&result, outcome);
    if (command->options.profile != NULL && !deferred(command, &result, text))
        (void)deviations_judge(&command->profile.deviations, &result, command->today, text);
    command->failed += result.verdict == VERDICT_FAIL;
    place_frame(command, &result);
    run_stop_hold();
    appended = results_log_append(command->log, &result, &command->log_error);
    run_stop_release();
    if (appended != 0)
        return -1;
    if (!format_option_machine(&command->options.format)) {
        terminal_clear(&command->terminal);
        terminal_result(&command->terminal, &result, requirement != NULL ? requirement->text : NULL);
    }
    return run_stopped() ? -1 : 0; /* after the check that is running: what was decided is reported */
}

static int dry_run(const struct command *command)
{
    for (size_t i = 0; i < command->plan.count; i++) {
        const struct plan_item *item = &command->plan.items[i];

        print_plain(stdout, "%-16s %-10s %s:%d  %s%s%s", item->check->id, item->role, item->check->path,
                    item->check->line, item->check->purpose, item->skip.text[0] != '\0' ? "  SKIP: " : "",
                    item->skip.text);
    }
    return 0;
}

static void describe_target(const struct command *command, char *text, size_t room)
{
    const struct run_options *options = &command->options;
    size_t used;

    if (options->profile != NULL) {
        (void)snprintf(text, room, "%s", command->profile.name);
        return;
    }
    used = (size_t)snprintf(text, room, "reference stack, %s%s", options->simulate ? "simulated" : "embedded",
                            options->ipv6 ? ", IPv6" : "");
    for (size_t i = 0; i < options->defect_count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s %s", i == 0 ? ", defect" : ",", options->defects[i]);
}

static int open_log(struct command *command, struct sentence *error)
{
    const struct run_options *options = &command->options;
    char target[512], started[UTC_TEXT_OCTETS], shard[24];
    struct run_info info = {
        .tool = "warpcheck " WARPCHECK_VERSION,
        .catalogue = catalogue_digest(command->catalogue),
        .target = target,
        .seed = options->seed,
        .command = "run",
        .started = utc_text(started),
        .selected = command->plan.decidable,
    };
    FILE *echo = options->format.jsonl ? stdout : NULL;

    describe_target(command, target, sizeof(target));
    if (options->output != NULL) {
        (void)snprintf(command->evidence, sizeof(command->evidence), "%.4000s/evidence", options->output);
        if (output_folder_make(command->evidence, error) != 0)
            return -1;
    }
    if (format_option_results(&options->format, options->output, command->results, sizeof(command->results), error) !=
        0)
        return -1;
    if (options->shard.of != 0) {
        shard_label(&options->shard, shard, sizeof(shard));
        info.shard = shard;
        info.plan = command->plan_digest;
    }
    if (options->resume)
        command->log = results_log_resume(command->results, &info, echo, &command->done, error);
    else
        command->log = results_log_create(command->results[0] != '\0' ? command->results : NULL, &info, echo, error);
    return command->log != NULL ? 0 : -1;
}

/* What comes from now on comes from a device, or from a script. */
static int give_up_rest(void *user, struct sentence *error)
{
    const struct command *command = user;
    unsigned needs = command->options.simulate ? 0 : CONFINE_CONNECTIONS | CONFINE_SIGNALS;

    if (run_identity_become(&command->identity, error) != 0)
        return -1;
    return run_confine(command->options.output, false, needs, 0, error);
}

/* The rig of a live run; simulation makes its own, check by check. */
static int open_rig(struct command *command, struct sentence *error)
{
    const struct run_options *options = &command->options;
    struct rig_lock lock = {give_up_rest, command};
    struct rig_embedded_config embedded = {.seed = options->seed,
                                           .defects = options->defects,
                                           .defect_count = options->defect_count,
                                           .ipv6 = options->ipv6,
                                           .program = "/proc/self/exe",
                                           .lock = lock,
                                           .identity = command->identity};

    if (options->simulate)
        return give_up_rest(command, error);
    if (options->profile != NULL)
        command->rig = rig_profile_new(&command->profile, options->seed, &lock, error);
    else
        command->rig = rig_embedded_new(&embedded, error);
    return command->rig == NULL ? -1 : rig_measure(command->rig, error);
}

/* A result, also one that --resume found. */
static bool is_exercised(const struct command *command, size_t index)
{
    const char *id = catalogue_at(command->catalogue, index)->id;

    return command->exercised[index] || results_done_has(command->done, id, NULL) ||
           results_done_has(command->done, id, "responder") || results_done_has(command->done, id, "initiator");
}

/* Requirements that were selected, have a check or a rule, and were decided by neither. */
static uint64_t count_not_exercised(const struct command *command)
{
    uint64_t decided = 0;

    for (size_t i = 0; i < catalogue_count(command->catalogue); i++)
        decided += is_exercised(command, i);
    return command->plan.decidable > decided ? command->plan.decidable - decided : 0;
}

static void add_traffic(struct run_summary *summary, const struct flow_totals *flow)
{
    summary->frames = flow->frames;
    summary->fpdus = flow->fpdus;
    summary->ddp_segments = flow->ddp_segments;
    summary->crc_errors = flow->crc_errors;
    for (unsigned opcode = 0; opcode < 16; opcode++)
        if (flow->messages[opcode] != 0 && rdmap_opcode_rows[opcode].name != NULL)
            summary_add_messages(summary, rdmap_opcode_rows[opcode].name, flow->messages[opcode]);
}

/* Known deviations that nothing met: the profile says more than is true. */
static int report_unmet(struct command *command)
{
    const struct deviation_list *list = &command->profile.deviations;

    for (size_t i = 0; i < list->count; i++) {
        const struct known_deviation *entry = &list->entries[i];

        if (deviation_unmet(list, i) &&
            selection_matches(&command->options.selection, catalogue_find(command->catalogue, entry->requirement)))
            (void)complaint(0, "warpcheck run", "known deviation %s%s%s was not met in this run", entry->requirement,
                            entry->role != NULL ? " as " : "", entry->role != NULL ? entry->role : "");
    }
    return 0;
}

/*
 * A run that was stopped is inconclusive at best; what failed before has failed. A shard in which nothing was decided says nothing
 * about the whole: the merged report does.
 */
static int exit_status(const struct command *command, const struct run_summary *summary)
{
    enum exit_status status = summary_exit_status(summary);

    if (summary->stopped != NULL)
        return summary->fail != 0 ? EXIT_FAILS : EXIT_ENVIRONMENT;
    if (command->options.shard.of == 0 || status != EXIT_NOTHING_SELECTED)
        return (int)exit_status_accepting(status, command->options.accept_known);
    (void)complaint(0, "warpcheck run", "shard %u/%u: %s", command->options.shard.index, command->options.shard.of,
                    command->plan.count == 0 ? "none of the selected checks is its own"
                                             : "all of its checks are skipped");
    return EXIT_CONFORMS;
}

static int finish(struct command *command, const struct runner_totals *totals, int status, struct sentence *error)
{
    struct run_summary summary = *results_log_summary(command->log);
    struct sentence report_error;
    const char *output = command->options.output;
    char page[PATH_OCTETS + 16], ended[UTC_TEXT_OCTETS];

    summary.ended = utc_text(ended);
    if (status != 0)
        summary.stopped = run_stopped() ? "interrupted" : error->text;
    add_traffic(&summary, &totals->flow);
    summary.not_exercised = count_not_exercised(command);
    run_stop_hold();
    if (command->log_error.text[0] == '\0' && results_log_finish(command->log, &summary, &command->log_error) != 0)
        status = -1;
    if (results_log_close(command->log, &command->log_error) != 0)
        status = -1;
    run_stop_release();
    command->log = NULL;
    if (command->log_error.text[0] != '\0')
        return complain(EXIT_ENVIRONMENT, command->log_error.text);
    if (command->options.shard.of == 0) /* another shard's traffic may have met it */
        (void)report_unmet(command);
    if (engine_write_reports(command->results, output, command->options.format.report, command->catalogue,
                             &report_error) != 0)
        return complain(EXIT_ENVIRONMENT, report_error.text);
    (void)snprintf(page, sizeof(page), "%s/index.html", output != NULL ? output : "");
    terminal_clear(&command->terminal);
    command->terminal.unfinished = status != 0;
    if (!format_option_machine(&command->options.format))
        terminal_summary(&command->terminal, &summary, output != NULL ? page : NULL);
    if (status != 0)
        (void)complain(EXIT_ENVIRONMENT, run_stopped() ? "interrupted; --resume goes on" : error->text);
    return exit_status(command, &summary);
}

static void describe_replay(const struct command *command, char *text, size_t room)
{
    const struct run_options *options = &command->options;
    const char *profile = command->profile.replay != NULL ? command->profile.replay : options->profile;
    size_t used =
        (size_t)snprintf(text, room, "%s%s", options->simulate ? " --simulate" : "", options->ipv6 ? " --ipv6" : "");

    if (profile != NULL)
        used = shell_append(text, room, used, "--dut", profile);
    for (size_t i = 0; i < options->defect_count; i++)
        used = shell_append(text, room, used, "--defect", options->defects[i]);
    for (size_t i = 0; i < options->script_count; i++)
        used = shell_append(text, room, used, "--script", options->scripts[i]);
}

static int run(struct command *command, struct sentence *error)
{
    char replay[512];
    struct runner_config config = {
        .host = command->host,
        .plan = &command->plan,
        .selection = &command->options.selection,
        .catalogue = command->catalogue,
        .rig = command->rig,
        .sim = {.seed = command->options.seed, .defects = command->defects, .ipv6 = command->options.ipv6},
        .evidence = command->options.output != NULL ? command->evidence : NULL,
        .evidence_name = "evidence",
        .ladder = true,
        .replay = replay,
        .done = on_done,
        .progress = on_progress,
        .result = on_result,
        .user = command,
    };
    struct runner_totals totals;
    int status;

    describe_replay(command, replay, sizeof(replay));
    status = runner_run(&config, &totals, error);
    return finish(command, &totals, status, error);
}

static int load_scripts(struct command *command, struct sentence *error)
{
    if (command->options.script_count == 0)
        return script_load_embedded(command->host, error);
    for (size_t i = 0; i < command->options.script_count; i++)
        if (script_load_path(command->host, command->options.scripts[i], error) != 0)
            return -1;
    return 0;
}

/* Also for a live run, where the names alone are handed on: an unknown one is told before anything is judged. */
static int name_defects(struct command *command, struct sentence *error)
{
    struct defect_list *list;

    if (command->options.defect_count == 0)
        return 0;
    list = defect_list_embedded(error);
    if (list != NULL)
        command->defects = defect_set_new(list, command->options.defects, command->options.defect_count, error);
    defect_list_free(list);
    return command->defects != NULL ? 0 : -1;
}

/* What this one device may not survive. */
static void skip_hazards(struct command *command)
{
    for (size_t i = 0; i < command->plan.count && !command->options.destructive; i++) {
        struct plan_item *item = &command->plan.items[i];
        const char *note = profile_hazard(&command->profile, item->check->id, item->role);

        if (note != NULL && item->skip.text[0] == '\0')
            (void)sentence_set(&item->skip, "runs only with --destructive on this device: %s", note);
    }
}

static int prepare(struct command *command, struct sentence *error)
{
    struct plan_config plan = {.selection = &command->options.selection, .destructive = command->options.destructive};
    struct profile_context context;
    char now[UTC_TEXT_OCTETS];

    if (catalogue_load(&command->catalogue, error) != 0 || pics_load(&command->pics, error) != 0 ||
        (command->host = script_host_new(error)) == NULL)
        return complain(EXIT_ENVIRONMENT, error->text);
    (void)snprintf(command->today, sizeof(command->today), "%.10s", utc_text(now));
    context = (struct profile_context){command->catalogue, command->pics, command->today};
    if (command->options.profile != NULL &&
        profile_load(&command->profile, command->options.profile, &context, error) != 0)
        return complain(EXIT_USAGE, error->text);
    if (load_scripts(command, error) != 0)
        return complain(script_short_of_memory(command->host) ? EXIT_ENVIRONMENT : EXIT_USAGE, error->text);
    if (name_defects(command, error) != 0)
        return complain(EXIT_USAGE, error->text);
    plan.catalogue = command->catalogue;
    plan.pics = command->pics;
    if (plan_make(&command->plan, command->host, &plan, error) != 0)
        return complain(command->plan.short_of_memory ? EXIT_ENVIRONMENT : EXIT_USAGE, error->text);
    skip_hazards(command);
    if (command->plan.count == 0)
        return complain(EXIT_NOTHING_SELECTED, "no check is selected (warpcheck list --checks shows what there is)");
    if (command->options.shard.of != 0 &&
        plan_shard(&command->plan, &command->options.shard, command->plan_digest, error) != 0)
        return complain(EXIT_ENVIRONMENT, error->text);
    command->exercised = calloc(catalogue_count(command->catalogue) + 1, sizeof(*command->exercised));
    if (command->exercised == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    return 0;
}

static int run_prepared(struct command *command, struct sentence *error)
{
    int opened;

    if (command->options.dry_run)
        return dry_run(command);
    /* The output folder is made before the namespace is entered: an ordinary user is root there, and only there. */
    command->identity = run_identity_of(command->options.output);
    if (run_identity_assume(&command->identity, error) != 0)
        return complain(EXIT_ENVIRONMENT, error->text);
    opened = open_log(command, error);
    run_identity_resume(&command->identity);
    if (opened != 0)
        return complain(EXIT_ENVIRONMENT, error->text);
    if (command->plan.count != 0 && open_rig(command, error) != 0)
        return complain(EXIT_ENVIRONMENT, error->text);
    return run(command, error);
}

int cmd_run(int argc, char **argv)
{
    struct command command;
    struct sentence error = {{0}};
    int status;

    memset(&command, 0, sizeof(command));
    if (run_options_parse(&command.options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, error.text);
    if (command.options.help)
        return run_options_usage(stdout) < 0 || fputs(selection_usage, stdout) < 0 ? EXIT_ENVIRONMENT : 0;
    if (command.options.profile != NULL && peer_launch(command.options.profile, argc, argv, &error) != 0)
        return complain(EXIT_ENVIRONMENT, error.text);
    run_stop_install("run");
    terminal_init(&command.terminal, format_option_machine(&command.options.format) ? stderr : stdout);
    command.terminal.all = command.options.all;
    command.terminal.ladders = command.options.ladders;
    status = prepare(&command, &error);
    if (status == 0)
        status = run_prepared(&command, &error);
    (void)results_log_close(command.log, NULL);
    results_done_free(command.done);
    free(command.exercised);
    rig_free(command.rig);
    defect_set_free(command.defects);
    plan_free(&command.plan);
    profile_free(&command.profile);
    script_host_free(command.host);
    pics_free(command.pics);
    catalogue_free(command.catalogue);
    return status;
}
