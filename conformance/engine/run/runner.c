/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/run/run_cause.h"
#include "conformance/engine/run/run_device.h"
#include "conformance/engine/run/run_journal.h"
#include "conformance/engine/run/run_rules.h"
#include "conformance/engine/run/run_outcome.h"
#include "reports/results/rule_pool.h"

enum { TEXT_OCTETS = 512 };

struct run {
    const struct runner_config *config;
    struct recorder *recorder;
    struct tally *tally;           /* what rules found in the traffic of the check that is being run */
    struct journal_rule *rules;    /* room for the same as a journal has it */
    struct rule_pool *pool;        /* what checks and rules found so far */
    struct flow_totals journaled;  /* traffic up to the last journal */
    const struct plan_item *item;  /* being run */
    struct run_services *services; /* config's, or own */
    struct run_services own;
    enum iwarp_sctp_profile sctp;  /* what the check that a rig is opened for drives */
    bool learning;                 /* what the device serves: rules do not judge that */
    struct iwarp_sentence dead;    /* the live rig has failed: why */
    struct iwarp_sentence lost;    /* another process found the device to be lost: why */
    bool left_out;                 /* a check was not run, because the device or its upper tester is lost */
    struct iwarp_sentence failure; /* what went wrong inside the run itself */
    uint64_t dropped;              /* frames, by the capture of the live link, up to the last journal */
};

static bool rule_selected(const char *id, void *user)
{
    const struct run *run = user;
    const struct requirement *requirement = catalogue_find(run->config->catalogue, id);

    return requirement != NULL && selection_matches(run->config->selection, requirement) &&
           (run->config->pics == NULL || !pics_denies(run->config->pics, requirement->capability));
}

/* The verdict of a result after known deviations. */
static enum verdict judged(const struct run *run, const struct result *result)
{
    const struct runner_report *report = &run->config->report;

    return report->judged != NULL ? report->judged(report->user, result) : result->verdict;
}

/* Do rules judge the traffic of the check that is being run? */
static bool rules_judge(const struct run *run)
{
    return !run->learning && (run->item == NULL || !run->item->check->unjudged);
}

static void on_rule_finding(void *user, const struct rule_finding *finding)
{
    struct run *run = user;
    struct result result = {
        .id = finding->rule->id,
        .verdict = VERDICT_FAIL,
        .by = "rule",
        .role = flow_role(finding->flow, finding->direction),
        .expected = finding->expected,
        .actual = finding->actual,
        .message = finding->message,
    };

    if (rules_judge(run))
        tally_finding(run->tally, finding, finding->verdict == RULE_FAIL && judged(run, &result) == VERDICT_KNOWN);
}

static void on_rule_result(void *user, const struct rule_result *result, const struct flow *flow)
{
    struct run *run = user;

    if (rules_judge(run))
        tally_passes(run->tally, result, flow);
}

/* A rig for this check in this role: the live one, made as new, or a world of its own. NULL with the reason. */
static struct rig *open_rig(void *user, const char *id, const char *role, struct iwarp_sentence *why)
{
    struct run *run = user;
    const struct runner_config *config = run->config;
    struct rig_sim_config sim = config->sim;
    struct rig *rig;

    if (config->rig != NULL) {
        if (run->dead.text[0] != '\0') {
            *why = run->dead;
            return NULL;
        }
        if (!config->rig->upper_tester || config->rig->ops->reset(config->rig, why) == 0)
            return config->rig;
        if (config->rig->gone.text[0] != '\0') {
            (void)iwarp_sentence_set(&run->dead, "the connection to the upper tester is lost: %.400s",
                                     config->rig->gone.text);
            *why = run->dead;
        }
        return NULL;
    }
    sim.seed = runner_seed(config->sim.seed, id, role);
    sim.sctp = run->sctp;
    rig = rig_sim_new(&sim, why);
    if (rig != NULL && rig_measure(rig, why) != 0) {
        rig_free(rig);
        rig = NULL;
    }
    return rig;
}

static void close_rig(void *user, struct rig *rig)
{
    const struct run *run = user;

    if (run->config->rig == NULL)
        rig_free(rig);
}

/*
 * The evidence of what the device serves in a role: "served-responder.pcapng". Without it, it is learned all the same.
 */
static struct recorder *record_learning(void *user, struct rig *rig, const char *role, bool begins)
{
    struct run *run = user;
    char name[64], shown[TEXT_OCTETS];
    struct place place = {run->config->evidence.folder, name, shown};
    struct iwarp_sentence ignored;

    if (!begins) {
        (void)recorder_end(run->recorder, "what the device serves", &ignored);
        run->journaled = *recorder_totals(run->recorder); /* no check's traffic */
        rig->link->tap = NULL;
        run->learning = false;
        return NULL;
    }
    run->learning = true;
    (void)snprintf(name, sizeof(name), "served-%s%s%.0u.pcapng", role, run->services->relearned != 0 ? "." : "",
                   run->services->relearned);
    (void)snprintf(shown, sizeof(shown), "%s/%s", run->config->evidence.name != NULL ? run->config->evidence.name : "",
                   name);
    run_device_begin(rig, name);
    recorder_attach(run->recorder, rig);
    return recorder_begin(run->recorder, run->config->evidence.folder >= 0 && !run->config->is_worker ? &place : NULL,
                          "what the device serves", &ignored) == 0
               ? run->recorder
               : NULL;
}

static int report_learned(void *user, json_t *services)
{
    struct run *run = user;
    const struct runner_report *report = &run->config->report;

    if (report->learned == NULL || report->learned(report->user, services) == 0)
        return 0;
    return iwarp_sentence_set(&run->failure, "what the device serves cannot be kept");
}

/* Writes the journal of a check, before the check's own result: a run that is stopped continues from here. */
static int report_journal(struct run *run, const struct result *found, const char *evidence)
{
    const struct runner_report *report = &run->config->report;
    struct journal journal = {.id = found->id,
                              .role = found->role,
                              .found = found->verdict,
                              .decided = judged(run, found),
                              .evidence = evidence};
    struct flow_totals traffic = *recorder_totals(run->recorder), now = traffic;
    int status = 0;

    flow_totals_subtract(&traffic, &run->journaled);
    run->journaled = now;
    traffic.account.row[FLOW_ROW_DROPPED].items += run->dropped;
    run->dropped = 0;
    run_journal_fill(&journal, run->rules, run->tally);
    /* The callback adds texts of its own to the journal, which do not outlive it. */
    if (rule_pool_add(run->pool, &journal, false) != 0)
        status = iwarp_sentence_set(&run->failure, "out of memory for the rules' findings");
    else if (report->journal != NULL)
        status = report->journal(report->user, &journal, &traffic);
    tally_clear(run->tally);
    return status;
}

static int report_result(struct run *run, const struct plan_item *item, const struct outcome *outcome,
                         const char *evidence, uint64_t duration, bool has_steps)
{
    char script[TEXT_OCTETS];
    char replay[TEXT_OCTETS];
    struct result result = {
        .id = item->check->id,
        .verdict = outcome->verdict,
        .by = "check",
        .script = script,
        .role = item->role,
        .expected = outcome->expected,
        .actual = outcome->actual,
        .message = outcome->message,
        .reading = outcome->reading,
        .cause = outcome->cause,
        .hint = outcome->hint,
        .purpose = item->check->purpose,
        .duration_ns = duration,
        .count = 1,
    };

    run->left_out = run->left_out || run_device_left_out(outcome->cause);
    if (report_journal(run, &result, evidence) != 0)
        return -1;
    (void)snprintf(script, sizeof(script), "%s:%d", item->check->path, outcome->line);
    result.evidence = result.file = evidence;
    if (run->config->evidence.folder >= 0 && run->item != NULL)
        result.flow = recorder_flow(run->recorder);
    if (outcome->verdict == VERDICT_SKIP)
        result.pics = outcome->message;
    if (outcome->verdict != VERDICT_PASS && outcome->verdict != VERDICT_SKIP) {
        result.steps = has_steps ? recorder_steps(run->recorder) : NULL;
        result.frame = evidence != NULL || result.steps != NULL ? run_outcome_cite(outcome, run->recorder) : 0;
        (void)snprintf(replay, sizeof(replay), "warpcheck run '%s' --role %s%s --seed %" PRIu64, item->check->id,
                       item->role, run->config->replay != NULL ? run->config->replay : "", run->config->sim.seed);
        result.replay = replay;
    }
    return run->config->report.result(run->config->report.user, &result);
}

static int skip_item(struct run *run, const struct plan_item *item)
{
    struct outcome outcome = {.verdict = VERDICT_SKIP, .message = item->skip.text, .line = item->check->line};

    return report_result(run, item, &outcome, NULL, 0, false);
}

/* Is the capture of this check wanted? Otherwise it is removed. */
static bool keep_evidence(const struct run *run, const struct outcome *outcome, const char *name)
{
    bool kept = run->config->evidence.kept == EVIDENCE_ALL ||
                (outcome->verdict != VERDICT_PASS && outcome->verdict != VERDICT_SKIP) || tally_found(run->tally);

    if (run->config->evidence.folder < 0)
        return false;
    if (!kept)
        (void)unlinkat(run->config->evidence.folder, name, 0);
    return kept;
}

static void report_after(const struct run *run, bool ran, const struct outcome *outcome)
{
    const struct runner_report *report = &run->config->report;
    const struct runner_after after = {ran && outcome->unready, ran && outcome->verdict != VERDICT_SKIP,
                                       run->dead.text[0] != '\0' ? run->dead.text : NULL,
                                       !ran && run_device_is_absent(outcome) ? outcome->message : NULL};

    if (report->after != NULL)
        report->after(report->user, &after);
}

/* The check is not run: the device is lost. */
static int report_lost(struct run *run, const struct plan_item *item, const char *why)
{
    struct outcome outcome = {.verdict = VERDICT_INCONCLUSIVE, .line = item->check->line};

    if (run->dead.text[0] != '\0')
        run_device_say_over(why, &outcome);
    else
        run_device_say_absent(why, &outcome);
    return report_result(run, item, &outcome, NULL, 0, false);
}

/* What another process made of the check becomes known, as if it had been run here. */
static int report_remote(struct run *run, const struct plan_item *item, struct iwarp_sentence *error)
{
    static const struct flow_totals none; /* the journal has its traffic */
    const struct runner_items *items = &run->config->items;
    const struct runner_report *report = &run->config->report;
    struct runner_remote remote = {.lost = NULL};
    int status = items->remote(items->user, item, &remote, error);

    if (status != 0)
        return status;
    if (remote.lost != NULL)
        return report_lost(run, item, remote.lost);
    if (remote.after.lost != NULL)
        (void)iwarp_sentence_set(&run->lost, "%s", remote.after.lost);
    if (remote.after.unready || remote.after.ready)
        run_services_note(run->services, &(struct outcome){.unready = remote.after.unready});
    if (remote.after.dead != NULL)
        (void)iwarp_sentence_set(&run->dead, "%s", remote.after.dead);
    run->left_out = run->left_out || run_device_left_out(remote.result.cause);
    remote.journal.decided = judged(run, &remote.result);
    if (rule_pool_add(run->pool, &remote.journal, false) != 0)
        status = iwarp_sentence_set(&run->failure, "out of memory for the rules' findings");
    else if (report->journal != NULL)
        status = report->journal(report->user, &remote.journal, &none);
    journal_free(&remote.journal);
    return status == 0 ? report->result(report->user, &remote.result) : status;
}

static bool brings_exchange(const struct check *check)
{
    return check->sctp != IWARP_SCTP_UNDECIDED || check->cm;
}

/* The check's own life on an open rig. */
static int run_check(struct run *run, const struct plan_item *item, struct rig *rig, struct outcome *outcome,
                     struct iwarp_sentence *error)
{
    const struct runner_config *config = run->config;
    struct outcome noted;
    struct run_device_texts device_texts;
    struct iwarp_sentence why = {{0}};
    char name[TEXT_OCTETS], shown[2 * TEXT_OCTETS], title[2 * TEXT_OCTETS];
    struct place place = {config->evidence.folder, name, shown};
    uint64_t begun, dropped;
    int status, reported;
    bool impaired;

    runner_evidence_name(config, item, name, sizeof(name));
    (void)snprintf(shown, sizeof(shown), "%s/%s", config->evidence.name != NULL ? config->evidence.name : "", name);
    (void)snprintf(title, sizeof(title), "%s (%s): %s", item->check->id, item->role, item->check->purpose);
    run_device_begin(rig, name);
    recorder_attach(run->recorder, rig);
    if (recorder_begin(run->recorder, config->evidence.folder >= 0 ? &place : NULL, title, error) != 0)
        return -1;
    begun = rig_now(rig);
    dropped = rig_dropped(rig);
    script_run(config->host, item->check, item->role, rig, run->recorder, outcome);
    run_outcome_apply_level(outcome, item->requirement);
    if (outcome->link_failed && config->rig != NULL)
        (void)iwarp_sentence_set(&run->dead, "%s", outcome->message != NULL ? outcome->message : "the link failed");
    run_services_note(run->services, outcome);
    noted = *outcome;
    if (run_device_check_outcome(rig, outcome, &device_texts, &run->dead))
        run_services_doubt(run->services);
    run->dropped += run_outcome_check_drops(outcome, rig_dropped(rig) - dropped, &why);
    run_outcome_check_link(rig, outcome, &why);
    impaired = run_outcome_check_process(rig, outcome, &why);
    (void)snprintf(title, sizeof(title), "verdict: %s", verdict_name(outcome->verdict));
    status = recorder_end(run->recorder, title, error);
    if (impaired)
        tally_clear(run->tally);
    run_cause_adopt(outcome, run->tally, item->role, run->services);
    run_cause_share(run->tally, item->role, outcome, run->services);
    report_after(run, true, &noted);
    reported =
        report_result(run, item, outcome, keep_evidence(run, outcome, name) ? shown : NULL, rig_now(rig) - begun, true);
    return status != 0 ? status : reported;
}

static int run_item(struct run *run, const struct plan_item *item, struct iwarp_sentence *error)
{
    const struct runner_config *config = run->config;
    struct run_services_context learning = {config->host, open_rig, close_rig, record_learning, report_learned, run};
    struct outcome outcome = {.verdict = VERDICT_INCONCLUSIVE, .line = item->check->line};
    struct iwarp_sentence why = {{0}};
    struct rig *rig = NULL;
    int status;

    run->sctp = item->sctp;
    /* Of sessions over SCTP and of a CM nothing is learned: their checks bring their own good exchange. */
    if (brings_exchange(item->check))
        services_use(config->host, NULL);
    if (brings_exchange(item->check) || run->lost.text[0] != '\0' ||
        run_services_prepare(run->services, &learning, item->role, &why)) {
        if (config->items.remote != NULL && run->dead.text[0] == '\0')
            return report_remote(run, item, error);
        rig = open_rig(run, item->check->id, item->role, &why);
    }
    /* Checks after this one would be judged, and this one last when the run is resumed. */
    if (run->failure.text[0] != '\0')
        return -1;
    if (rig == NULL) {
        if (run_services_are_cause(why.text) && run_device_absent(config->rig, &why))
            run_device_say_absent(why.text, &outcome);
        else if (run->dead.text[0] != '\0')
            run_device_say_over(run->dead.text, &outcome);
        else
            run_services_say(run->services, item->role, why.text, &outcome);
        report_after(run, false, &outcome);
        return report_result(run, item, &outcome, NULL, 0, false);
    }
    run->item = item;
    status = run_check(run, item, rig, &outcome, error);
    run->item = NULL;
    close_rig(run, rig);
    return status;
}

/* Takes over what an earlier run, which was stopped, left of this item. False: nothing, it is to be run. */
static bool resume_item(struct run *run, const struct plan_item *item, struct iwarp_sentence *error)
{
    const struct runner_history *history = &run->config->history;
    struct journal journal;

    if (history->decided == NULL || !history->decided(history->user, item, &journal))
        return false;
    if (rule_pool_add(run->pool, &journal, false) != 0)
        (void)iwarp_sentence_set(error, "out of memory for the rules' findings");
    journal_free(&journal);
    return true;
}

/* 0; 1: the run is to stop here; -1: it failed. */
static int run_next(struct run *run, const struct plan_item *item, struct runner_totals *totals,
                    struct iwarp_sentence *error)
{
    const struct runner_items *items = &run->config->items;

    if ((items->left_out != NULL && items->left_out(items->user, item)) || resume_item(run, item, error))
        return error->text[0] != '\0' ? -1 : 0;
    if (items->progress != NULL)
        items->progress(items->user, item);
    if (item->skip.text[0] != '\0')
        return skip_item(run, item);
    totals->run++;
    return run_item(run, item, error);
}

/* The item after `count` items; NULL: that was the last. */
static const struct plan_item *item_after(const struct runner_config *config, size_t count)
{
    if (config->items.next != NULL)
        return config->items.next(config->items.user);
    return count < config->plan->count ? &config->plan->items[count] : NULL;
}

static int run_all(struct run *run, struct runner_totals *totals, struct iwarp_sentence *error)
{
    const struct plan_item *item;
    int status = 0;

    for (size_t count = 0; status == 0 && (item = item_after(run->config, count)) != NULL; count++)
        status = run_next(run, item, totals, error);
    totals->stopped = status != 0 || run->left_out;
    if (status < 0 && error->text[0] == '\0')
        (void)iwarp_sentence_set(error, "%s", run->failure.text[0] != '\0' ? run->failure.text : "the run was stopped");
    if (status >= 0 && run_rules_report(run->config, run->pool) != 0)
        status = iwarp_sentence_set(error, "the run was stopped");
    return status > 0 ? iwarp_sentence_set(error, "the run was stopped") : status;
}

/* What rules found in checks of an earlier run that are to be repeated. */
static int resume_superseded(struct run *run, struct iwarp_sentence *error)
{
    const struct runner_history *history = &run->config->history;
    struct journal journal;
    int status = 0;

    for (size_t i = 0; history->superseded != NULL && status == 0 && history->superseded(history->user, i, &journal);
         i++) {
        status = rule_pool_add(run->pool, &journal, true);
        journal_free(&journal);
    }
    return status == 0 ? 0 : iwarp_sentence_set(error, "out of memory for the rules' findings");
}

int runner_run(const struct runner_config *config, struct runner_totals *totals, struct iwarp_sentence *error)
{
    struct run run = {.config = config};
    struct recorder_config recorder = {.ladder = config->evidence.ladder,
                                       .evidence_limit = config->evidence.limit,
                                       .selected = rule_selected,
                                       .finding = on_rule_finding,
                                       .rule_result = on_rule_result,
                                       .user = &run};
    int status = -1;

    memset(totals, 0, sizeof(*totals));
    error->text[0] = '\0';
    run.services = config->services != NULL ? config->services : &run.own;
    run.recorder = recorder_new(&recorder, error);
    run.tally = tally_new();
    run.pool = rule_pool_new();
    run.rules = calloc(tally_room() + 1, sizeof(*run.rules));
    if (run.tally == NULL || run.pool == NULL || run.rules == NULL)
        (void)iwarp_sentence_set(error, "out of memory for the rules' verdicts");
    else if (run.recorder != NULL && resume_superseded(&run, error) == 0)
        status = run_all(&run, totals, error);
    if (run.recorder != NULL) {
        totals->flow = *recorder_totals(run.recorder);
        flow_totals_subtract(&totals->flow, &run.journaled);
        totals->flow.account.row[FLOW_ROW_DROPPED].items += run.dropped;
    }
    if (config->rig != NULL)
        config->rig->link->tap = NULL;
    services_use(config->host, NULL);
    run_services_free(&run.own);
    free(run.rules);
    rule_pool_free(run.pool);
    tally_free(run.tally);
    recorder_free(run.recorder);
    return status;
}
