/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of each result of a run: known deviations are applied, it is written, counted and shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/run/run_device.h"
#include "conformance/engine/run/run_internal.h"
#include "conformance/engine/run/run_pool.h"
#include "conformance/engine/run/run_resume.h"
#include "conformance/engine/run/run_traffic.h"
#include "reference-stack/program/complaint.h"

enum { PATH_OCTETS = 4096, PROGRESS_NAME_OCTETS = 100 };

static bool on_superseded(void *user, size_t i, struct journal *journal)
{
    const struct run_command *command = user;

    return run_resume_superseded(command->output.done, i, journal);
}

static unsigned on_repeated(void *user, const struct plan_item *item)
{
    const struct run_command *command = user;

    return run_resume_repeated(command->output.done, item);
}

void run_show_progress(struct run_command *command, const struct plan_item *item)
{
    size_t ahead = 0, beside = 0;
    char name[PROGRESS_NAME_OCTETS];

    if (command->pool != NULL)
        run_pool_ahead(command->pool, item, &ahead, &beside);
    (void)snprintf(name, sizeof(name), "%.60s", item->check->id);
    if (beside != 0)
        (void)snprintf(name, sizeof(name), "%.60s and %zu other%s", item->check->id, beside, beside == 1 ? "" : "s");
    terminal_progress(&command->terminal, (size_t)(item - command->plan.items) + ahead, command->plan.count, name,
                      command->failed);
}

static void on_progress(void *user, const struct plan_item *item)
{
    run_show_progress(user, item);
}

/* Where the frame lies in the evidence, which is written by now. */
static void place_frame(const struct run_command *command, struct result *result)
{
    char path[2 * PATH_OCTETS];

    if (command->output.to.folder == NULL || result->evidence == NULL || result->frame == 0 ||
        result->verdict == VERDICT_PASS || result->octets != 0)
        return;
    (void)snprintf(path, sizeof(path), "%s/%s", command->options.output, result->evidence);
    (void)capture_place_of(path, result->frame, &result->offset, &result->octets);
}

/* The rule may have met its known deviation in another shard's traffic: the merge decides. */
static bool deferred(struct run_command *command, struct result *result, char text[DEVIATION_TEXT_OCTETS])
{
    struct result judged = *result;

    if (command->options.shard.of == 0 || !result_is_by_rule(result) || result->verdict != VERDICT_PASS)
        return false;
    if (deviations_judge(&command->profile.deviations, &judged, command->today, text))
        result->unexpected = text;
    return true;
}

/* What the profile makes of a result. The texts are its, and live as long as it. */
struct deviation_texts {
    char message[DEVIATION_TEXT_OCTETS], outcome[OUTCOME_OCTETS];
};

static bool judge(struct run_command *command, struct result *result, struct deviation_texts *texts)
{
    bool rule = result_is_by_rule(result);

    if (command->options.profile == NULL)
        return false;
    if (result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN)
        result->outcome = outcome_digest(result, texts->outcome);
    if (deferred(command, result, texts->message))
        return false;
    if (rule && result->verdict == VERDICT_PASS && command->totals.stopped)
        return false; /* the rest of the run may show the known deviation */
    return deviations_judge(&command->profile.deviations, result, command->today, texts->message);
}

enum verdict run_judge_verdict(struct run_command *command, const struct result *found)
{
    struct result result = *found;
    struct deviation_texts texts;

    (void)judge(command, &result, &texts);
    return result.verdict;
}

static enum verdict on_judged(void *user, const struct result *found)
{
    return run_judge_verdict(user, found);
}

/* What an earlier run decided: nothing is written again, but it is known again. */
static bool on_decided(void *user, const struct plan_item *item, struct journal *journal)
{
    struct run_command *command = user;
    struct result result;
    struct deviation_texts texts;

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
static void judge_rule(struct run_command *command, struct journal_rule *rule, struct deviation_texts *texts)
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
    struct run_command *command = user;
    struct deviation_texts *texts = calloc(journal->rule_count + 1, sizeof(*texts));
    int status;

    if (texts == NULL)
        return iwarp_sentence_set(&command->log_error, "out of memory for the rules' findings");
    run_traffic_add(&journal->traffic, traffic);
    summary_add_traffic(&command->traffic, &journal->traffic);
    for (size_t i = 0; i < journal->rule_count; i++)
        if (journal->rules[i].result.verdict != VERDICT_PASS)
            judge_rule(command, &journal->rules[i], &texts[i]);
    run_stop_hold();
    status = results_log_journal(command->output.to.log, journal, &command->log_error);
    run_stop_release();
    free(texts);
    return status;
}

static int on_learned(void *user, json_t *services)
{
    struct run_command *command = user;

    return results_log_services(command->output.to.log, services, &command->log_error);
}

/* Results that are left undecided as the device is lost, for the sentence at the end. */
static void count_unreached(struct run_command *command, const struct result *result)
{
    if (result->verdict != VERDICT_INCONCLUSIVE || !run_device_is_absent(&(struct outcome){.cause = result->cause}))
        return;
    if (command->unreached++ == 0)
        (void)iwarp_sentence_set(&command->lost, "%s", result->message);
}

static int on_result(void *user, const struct result *decided)
{
    struct run_command *command = user;
    const struct requirement *requirement = catalogue_find(command->catalogue, decided->id);
    struct result result = *decided;
    struct deviation_texts texts;

    if (requirement != NULL)
        command->exercised[requirement->index] = true;
    (void)judge(command, &result, &texts);
    command->failed += result.verdict == VERDICT_FAIL;
    command->script_errors += result.verdict == VERDICT_INCONCLUSIVE && script_error_matches(result.message);
    command->not_served += result.verdict == VERDICT_INCONCLUSIVE && run_services_are_cause(result.message);
    count_unreached(command, &result);
    place_frame(command, &result);
    if (judged_output_append(&command->output.to, &result, &command->log_error) != 0)
        return -1;
    if (!format_option_machine(&command->options.format)) {
        terminal_clear(&command->terminal);
        terminal_result(&command->terminal, &result, requirement != NULL ? requirement->text : NULL);
    }
    return run_stopped() ? 1 : 0; /* after the check that is running: what was decided is reported */
}

static int on_surplus(void *user, const struct result *found)
{
    struct run_command *command = user;
    struct result result = *found;
    struct deviation_texts texts;
    int appended;

    (void)judge(command, &result, &texts);
    place_frame(command, &result);
    run_stop_hold();
    appended = results_log_surplus(command->output.to.log, &result, &command->log_error);
    run_stop_release();
    return appended;
}

void run_judge_listen(struct run_command *command, struct runner_config *config)
{
    config->items = (struct runner_items){.progress = on_progress, .user = command};
    config->history = (struct runner_history){on_decided, on_superseded, on_repeated, command};
    config->report = (struct runner_report){.judged = on_judged,
                                            .journal = on_journal,
                                            .learned = on_learned,
                                            .result = on_result,
                                            .surplus = command->options.shard.of != 0 ? on_surplus : NULL,
                                            .user = command};
}
