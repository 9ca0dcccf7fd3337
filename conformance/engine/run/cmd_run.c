/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck run: judges a live (or simulated) device. */
#include "conformance/engine/run/cmd_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/evidence/capture_file.h"
#include "conformance/engine/report/cmd_report.h"
#include "conformance/engine/script/coverage.h"
#include "conformance/engine/run/lab_launcher.h"
#include "conformance/engine/rig/profile.h"
#include "conformance/engine/run/run_conditions.h"
#include "conformance/engine/option/run_confine.h"
#include "conformance/engine/run/run_journal.h"
#include "conformance/engine/run/run_options.h"
#include "conformance/engine/run/run_output.h"
#include "conformance/engine/run/run_resume.h"
#include "conformance/engine/option/run_stop.h"
#include "conformance/engine/run/run_traffic.h"
#include "conformance/engine/run/runner.h"
#include "conformance/engine/option/shell_word.h"
#include "conformance/engine/option/utc_text.h"
#include "reference-stack/program/complaint.h"
#include "reference-stack/defects/defect.h"
#include "reports/terminal.h"
#include "wire/out_of_memory.h"

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
    struct run_output output;
    struct terminal terminal;
    struct runner_totals totals;
    struct run_summary traffic; /* of all checks, also those of the run that --resume goes on with */
    uint64_t failed;
    bool *exercised; /* by requirement index: it has a result */
    char plan_digest[SHARD_DIGEST_OCTETS];
    char today[16];
    struct sentence log_error;
};

static bool on_superseded(void *user, size_t i, struct journal *journal)
{
    const struct command *command = user;

    return run_resume_superseded(command->output.done, i, journal);
}

static unsigned on_repeated(void *user, const struct plan_item *item)
{
    const struct command *command = user;

    return run_resume_repeated(command->output.done, item);
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

    if (command->output.folder == NULL || result->evidence == NULL || result->frame == 0 ||
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

/* What the profile makes of a result. The texts are its, and live as long as it. */
struct judged_texts {
    char message[DEVIATION_TEXT_OCTETS], outcome[OUTCOME_OCTETS];
};

static bool judge(struct command *command, struct result *result, struct judged_texts *texts)
{
    bool rule = strcmp(result->by, "rule") == 0;

    if (command->options.profile == NULL)
        return false;
    if (result->verdict == VERDICT_FAIL)
        result->outcome = outcome_digest(result, texts->outcome);
    if (deferred(command, result, texts->message))
        return false;
    if (rule && result->verdict == VERDICT_PASS && command->totals.stopped)
        return false; /* the rest of the run may show the known deviation */
    return deviations_judge(&command->profile.deviations, result, command->today, texts->message);
}

static enum verdict on_judged(void *user, const struct result *found)
{
    struct result result = *found;
    struct judged_texts texts;

    (void)judge(user, &result, &texts);
    return result.verdict;
}

/* What an earlier run decided: nothing is written again, but it is known again. */
static bool on_earlier(void *user, const struct plan_item *item, struct journal *journal)
{
    struct command *command = user;
    struct result result;
    struct judged_texts texts;

    if (!run_resume_earlier(command->output.done, item, journal))
        return false;
    summary_add_traffic(&command->traffic, &journal->traffic);
    if (run_resume_result(command->output.done, item, &result)) {
        (void)judge(command, &result, &texts);
        journal->decided = result.verdict;
        command->failed += result.verdict == VERDICT_FAIL;
    }
    return true;
}

/* A rule's finding, as it would be reported if the run ended here. */
static void judge_rule(struct command *command, struct journal_rule *rule, struct judged_texts *texts)
{
    struct result judged;

    place_frame(command, &rule->result);
    judged = rule->result;
    rule->judged.known = judge(command, &judged, texts);
    rule->result.outcome = judged.outcome;
    rule->judged.verdict = judged.verdict;
    rule->judged.message = judged.message;
    rule->judged.finding = judged.finding;
    rule->judged.deviation = judged.deviation;
    rule->judged.review_by = judged.review_by;
}

static int on_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    struct command *command = user;
    struct judged_texts *texts = calloc(journal->rule_count + 1, sizeof(*texts));
    int status;

    if (texts == NULL)
        return sentence_set(&command->log_error, "out of memory for what the rules found");
    run_traffic_add(&journal->traffic, traffic);
    summary_add_traffic(&command->traffic, &journal->traffic);
    for (size_t i = 0; i < journal->rule_count; i++)
        if (journal->rules[i].result.verdict != VERDICT_PASS)
            judge_rule(command, &journal->rules[i], &texts[i]);
    run_stop_hold();
    status = results_log_journal(command->output.log, journal, &command->log_error);
    run_stop_release();
    free(texts);
    return status;
}

static int on_result(void *user, const struct result *decided)
{
    struct command *command = user;
    const struct requirement *requirement = catalogue_find(command->catalogue, decided->id);
    struct result result = *decided;
    struct judged_texts texts;
    int appended;

    if (requirement != NULL)
        command->exercised[requirement->index] = true;
    (void)judge(command, &result, &texts);
    command->failed += result.verdict == VERDICT_FAIL;
    place_frame(command, &result);
    run_stop_hold();
    appended = results_log_append(command->output.log, &result, &command->log_error);
    run_stop_release();
    if (appended != 0)
        return -1;
    if (!format_option_machine(&command->options.format)) {
        terminal_clear(&command->terminal);
        terminal_result(&command->terminal, &result, requirement != NULL ? requirement->text : NULL);
    }
    return run_stopped() ? 1 : 0; /* after the check that is running: what was decided is reported */
}

static int on_beside(void *user, const struct result *found)
{
    struct command *command = user;
    struct result result = *found;
    struct judged_texts texts;
    int appended;

    if (command->options.shard.of == 0)
        return 0;
    (void)judge(command, &result, &texts);
    place_frame(command, &result);
    run_stop_hold();
    appended = results_log_beside(command->output.log, &result, &command->log_error);
    run_stop_release();
    return appended;
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

/* 0, or the exit status with the sentence set. */
static int open_output(struct command *command, struct sentence *error)
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
        .conditions = run_conditions(options, command->host, error),
        .functions = run_journal_functions(),
    };
    int status = EXIT_ENVIRONMENT;

    describe_target(command, target, sizeof(target));
    if (options->shard.of != 0) {
        shard_label(&options->shard, shard, sizeof(shard));
        info.shard = shard;
        info.plan = command->plan_digest;
    }
    if (info.functions == NULL)
        (void)sentence_set(error, "out of memory");
    else if (info.conditions != NULL)
        status = run_output_open(&command->output, options, &info, error);
    json_decref(info.conditions);
    json_decref(info.functions);
    return status;
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

    return command->exercised[index] || results_done_has(command->output.done, id, NULL) ||
           results_done_has(command->output.done, id, "responder") ||
           results_done_has(command->output.done, id, "initiator");
}

/* Requirements that were selected, have a check or a rule, and were decided by neither. */
static uint64_t count_not_exercised(const struct command *command)
{
    uint64_t decided = 0;

    for (size_t i = 0; i < catalogue_count(command->catalogue); i++)
        decided += is_exercised(command, i);
    return command->plan.decidable > decided ? command->plan.decidable - decided : 0;
}

/* Known deviations that nothing met: the profile says more than is true. */
static int report_unmet(struct command *command)
{
    const struct deviation_list *list = &command->profile.deviations;

    for (size_t i = 0; i < list->count; i++) {
        const struct known_deviation *entry = &list->entries[i];

        if (deviation_unmet(list, i) &&
            selection_matches(&command->options.selection, catalogue_find(command->catalogue, entry->requirement)))
            (void)complain(0, "known deviation %s%s%s was not met in this run", entry->requirement,
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
    (void)complain(0, "shard %u/%u: %s", command->options.shard.index, command->options.shard.of,
                   command->plan.count == 0 ? "none of the selected checks is its own"
                                            : "all of its checks are skipped");
    return EXIT_CONFORMS;
}

static int finish(struct command *command, int status, struct sentence *error)
{
    struct run_summary summary = *results_log_summary(command->output.log);
    struct sentence report_error;
    const char *output = command->options.output;
    char page[PATH_OCTETS + 16], ended[UTC_TEXT_OCTETS];

    summary.ended = utc_text(ended);
    if (status == 0 && out_of_memory_noted())
        status = sentence_set(error, "out of memory: not everything was judged");
    if (status != 0)
        summary.stopped = run_stopped() ? "interrupted" : error->text;
    run_traffic_add(&command->traffic, &command->totals.flow);
    run_traffic_finish(&summary, &command->traffic);
    summary.not_exercised = count_not_exercised(command);
    run_stop_hold();
    if (command->log_error.text[0] == '\0' &&
        results_log_finish(command->output.log, &summary, &command->log_error) != 0)
        status = -1;
    if (results_log_close(command->output.log, &command->log_error) != 0)
        status = -1;
    run_stop_release();
    command->output.log = NULL;
    if (command->log_error.text[0] != '\0')
        return complain(EXIT_ENVIRONMENT, "%s", command->log_error.text);
    if (command->options.shard.of == 0) /* another shard's traffic may have met it */
        (void)report_unmet(command);
    if (engine_write_reports(&command->output.results.place, command->output.folder, command->options.format.report,
                             command->catalogue, &report_error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", report_error.text);
    (void)snprintf(page, sizeof(page), "%s/index.html", output != NULL ? output : "");
    terminal_clear(&command->terminal);
    if (status == 0 && out_of_memory_noted())
        status = sentence_set(error, "out of memory: not everything was reported");
    command->terminal.unfinished = status != 0;
    if (!format_option_machine(&command->options.format))
        terminal_summary(&command->terminal, &summary, output != NULL ? page : NULL);
    if (status != 0)
        (void)complain(EXIT_ENVIRONMENT, "%s",
                       !run_stopped()   ? error->text
                       : output != NULL ? "interrupted; --resume goes on"
                                        : "interrupted");
    return exit_status(command, &summary);
}

static void describe_replay(const struct command *command, char *text, size_t room)
{
    const struct run_options *options = &command->options;
    size_t used =
        (size_t)snprintf(text, room, "%s%s", options->simulate ? " --simulate" : "", options->ipv6 ? " --ipv6" : "");

    if (command->profile.replay != NULL)
        used = shell_append_words(text, room, used, "--dut", command->profile.replay);
    else if (options->profile != NULL)
        used = shell_append(text, room, used, "--dut", options->profile);
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
        .evidence = command->output.evidence,
        .evidence_name = "evidence",
        .ladder = true,
        .replay = replay,
        .earlier = on_earlier,
        .superseded = on_superseded,
        .repeated = on_repeated,
        .judged = on_judged,
        .journal = on_journal,
        .progress = on_progress,
        .result = on_result,
        .beside = on_beside,
        .user = command,
    };
    int status;

    describe_replay(command, replay, sizeof(replay));
    status = runner_run(&config, &command->totals, error);
    return finish(command, status, error);
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
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    (void)snprintf(command->today, sizeof(command->today), "%.10s", utc_text(now));
    context = (struct profile_context){command->catalogue, command->pics, command->today};
    if (command->options.profile != NULL &&
        profile_load(&command->profile, command->options.profile, &context, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    if (load_scripts(command, error) != 0)
        return complain(script_short_of_memory(command->host) ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s", error->text);
    if (name_defects(command, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    plan.catalogue = command->catalogue;
    plan.pics = command->pics;
    if (plan_make(&command->plan, command->host, &plan, error) != 0)
        return complain(command->plan.short_of_memory ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s", error->text);
    skip_hazards(command);
    if (command->plan.count == 0)
        return complain(EXIT_NOTHING_SELECTED, "no check is selected (warpcheck list --checks shows what there is)");
    if (command->options.shard.of != 0 &&
        plan_shard(&command->plan, &command->options.shard, command->plan_digest, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    command->exercised = calloc(catalogue_count(command->catalogue) + 1, sizeof(*command->exercised));
    if (command->exercised == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    return 0;
}

static int run_prepared(struct command *command, struct sentence *error)
{
    int status;

    if (command->options.dry_run)
        return dry_run(command);
    /* The output folder is made before the namespace is entered: an ordinary user is root there, and only there. */
    command->identity = run_identity_of(command->options.output);
    if (run_identity_assume(&command->identity, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    status = open_output(command, error);
    run_identity_resume(&command->identity);
    if (status != 0)
        return complain(status, "%s", error->text);
    if (command->plan.count != 0 && open_rig(command, error) != 0) {
        run_output_undo(&command->output, &command->options);
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    }
    return run(command, error);
}

int cmd_run(int argc, char **argv)
{
    struct command command;
    struct sentence error = {{0}};
    int status;

    memset(&command, 0, sizeof(command));
    command.output.evidence = -1;
    if (run_options_parse(&command.options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (command.options.help)
        return run_options_usage(stdout) < 0 || fputs(selection_usage, stdout) < 0 ? EXIT_ENVIRONMENT : 0;
    if (command.options.profile != NULL && lab_launch(command.options.profile, argc, argv, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    run_stop_install("run");
    terminal_init(&command.terminal, format_option_machine(&command.options.format) ? stderr : stdout);
    command.terminal.all = command.options.all;
    command.terminal.ladders = command.options.ladders;
    status = prepare(&command, &error);
    if (status == 0)
        status = run_prepared(&command, &error);
    run_output_close(&command.output);
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
