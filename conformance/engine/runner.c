/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"

enum { TEXT_OCTETS = 512, UNDECIDED = -1 };

struct run {
    const struct runner_config *config;
    struct recorder *recorder;
    struct tally *tally;
    const struct plan_item *item; /* being run */
    int *decided;                 /* by requirement index: worst verdict of its checks, or UNDECIDED */
    struct sentence dead;         /* the live rig has failed: why */
    uint64_t dropped;             /* frames, by the capture of the live link */
};

uint64_t runner_seed(uint64_t seed, const char *id, const char *role)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ seed * UINT64_C(0x9E3779B97F4A7C15); /* FNV-1a */

    for (; *id != '\0'; id++)
        hash = (hash ^ (uint8_t)*id) * UINT64_C(1099511628211);
    for (; *role != '\0'; role++)
        hash = (hash ^ (uint8_t)*role) * UINT64_C(1099511628211);
    return hash >> 1;
}

static bool rule_selected(const char *id, void *user)
{
    const struct run *run = user;
    const struct requirement *requirement = catalogue_find(run->config->catalogue, id);

    return requirement != NULL && selection_matches(run->config->selection, requirement);
}

/* "MPA-7.1.2-05.pcapng", or with the role in front of the suffix where the check runs in both. */
static void evidence_name(const struct plan_item *item, char *name, size_t room)
{
    bool both = item->check->responder && item->check->initiator;

    (void)snprintf(name, room, "%s%s%s.pcapng", item->check->id, both ? "-" : "", both ? item->role : "");
}

static void on_rule_result(void *user, const struct rule_result *result, const struct flow *flow)
{
    struct run *run = user;
    char name[TEXT_OCTETS] = "";

    if (run->item != NULL && run->item->check->unjudged)
        return;
    if (run->item != NULL)
        evidence_name(run->item, name, sizeof(name));
    (void)tally_add(run->tally, result, flow, name);
}

/* A rig for this item: the live one, made as new, or a world of its own. NULL with the reason. */
static struct rig *rig_for(struct run *run, const struct plan_item *item, struct sentence *why)
{
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
            (void)sentence_set(&run->dead, "the upper tester is gone: %.400s", config->rig->gone.text);
            *why = run->dead;
        }
        return NULL;
    }
    sim.seed = runner_seed(config->sim.seed, item->check->id, item->role);
    rig = rig_sim_new(&sim, why);
    if (rig != NULL && rig_measure(rig, why) != 0) {
        rig_free(rig);
        rig = NULL;
    }
    return rig;
}

/* The ladder's last frame before the decision is the one that failed, unless it failed by not coming. */
static void mark_decisive(json_t *steps, const struct outcome *outcome)
{
    if (outcome->verdict != VERDICT_FAIL && outcome->verdict != VERDICT_WARN)
        return;
    if (outcome->actual == NULL || strncmp(outcome->actual, "nothing", 7) == 0)
        return;
    for (size_t i = json_array_size(steps); i-- > 0;) {
        json_t *step = json_array_get(steps, i);
        json_int_t frame = json_integer_value(json_object_get(step, "frame"));

        if (frame > 0 && (uint64_t)frame <= outcome->frame) {
            (void)result_step_mark(step, 0, 0, outcome->actual);
            return;
        }
    }
}

static int report(struct run *run, const struct plan_item *item, const struct outcome *outcome, const char *evidence,
                  uint64_t duration, json_t *steps)
{
    char script[TEXT_OCTETS];
    char replay[TEXT_OCTETS];
    struct result result = {
        .id = item->check->id,
        .verdict = outcome->verdict,
        .by = "check",
        .script = script,
        .role = item->role,
        .frame = outcome->frame,
        .expected = outcome->expected,
        .actual = outcome->actual,
        .message = outcome->message,
        .reading = outcome->reading,
        .purpose = item->check->purpose,
        .duration_ns = duration,
        .count = 1,
    };

    if (item->requirement != NULL) {
        int *decided = &run->decided[item->requirement->index];

        *decided =
            (int)(*decided == UNDECIDED ? outcome->verdict : verdict_worse((enum verdict) * decided, outcome->verdict));
    }
    (void)snprintf(script, sizeof(script), "%s:%d", item->check->path, outcome->line);
    if (evidence != NULL) {
        result.evidence = evidence;
        result.file = evidence;
        result.flow = recorder_flow(run->recorder);
    }
    if (outcome->verdict == VERDICT_SKIP)
        result.pics = outcome->message;
    if (outcome->verdict != VERDICT_PASS && outcome->verdict != VERDICT_SKIP) {
        mark_decisive(steps, outcome);
        result.steps = steps;
        (void)snprintf(replay, sizeof(replay), "warpcheck run '%s' --role %s%s --seed %" PRIu64, item->check->id,
                       item->role, run->config->replay != NULL ? run->config->replay : "", run->config->sim.seed);
        result.replay = replay;
    }
    return run->config->result(run->config->user, &result);
}

static int skip_item(struct run *run, const struct plan_item *item)
{
    struct outcome outcome = {.verdict = VERDICT_SKIP, .message = item->skip.text, .line = item->check->line};

    return report(run, item, &outcome, NULL, 0, NULL);
}

/*
 * Frames that came in the course of a check and that nobody saw: what it decided may rest on them. The message is `why`
 * then.
 */
static void weigh_drops(struct run *run, struct outcome *outcome, uint64_t dropped, struct sentence *why)
{
    run->dropped += dropped;
    if (dropped == 0 || outcome->verdict == VERDICT_SKIP || outcome->verdict == VERDICT_INCONCLUSIVE)
        return;
    (void)sentence_set(why, "the capture of the link has dropped %" PRIu64 " frames in the course of this check (%s)",
                       dropped, verdict_name(outcome->verdict));
    outcome->verdict = VERDICT_INCONCLUSIVE;
    outcome->message = why->text;
}

static int run_item(struct run *run, const struct plan_item *item, struct sentence *error)
{
    const struct runner_config *config = run->config;
    struct outcome outcome = {.verdict = VERDICT_INCONCLUSIVE, .line = item->check->line};
    struct sentence why = {{0}};
    char name[TEXT_OCTETS], path[2 * TEXT_OCTETS], shown[2 * TEXT_OCTETS], title[2 * TEXT_OCTETS];
    struct rig *rig = rig_for(run, item, &why);
    uint64_t begun, dropped;
    int status;

    if (rig == NULL) {
        outcome.message = why.text;
        return report(run, item, &outcome, NULL, 0, NULL);
    }
    evidence_name(item, name, sizeof(name));
    (void)snprintf(path, sizeof(path), "%s/%s", config->evidence != NULL ? config->evidence : "", name);
    (void)snprintf(shown, sizeof(shown), "%s/%s", config->evidence_name != NULL ? config->evidence_name : "", name);
    (void)snprintf(title, sizeof(title), "%s (%s): %s", item->check->id, item->role, item->check->purpose);
    run->item = item;
    recorder_attach(run->recorder, rig);
    status = recorder_begin(run->recorder, config->evidence != NULL ? path : NULL, title, error);
    if (status == 0) {
        begun = rig_now(rig);
        dropped = rig_dropped(rig);
        script_run(config->host, item->check, item->role, rig, run->recorder, &outcome);
        if (outcome.link_failed && config->rig != NULL)
            (void)sentence_set(&run->dead, "%s", outcome.message != NULL ? outcome.message : "the link failed");
        weigh_drops(run, &outcome, rig_dropped(rig) - dropped, &why);
        (void)snprintf(title, sizeof(title), "verdict: %s", verdict_name(outcome.verdict));
        status = recorder_end(run->recorder, title, error);
        if (report(run, item, &outcome, config->evidence != NULL ? shown : NULL, rig_now(rig) - begun,
                   recorder_steps(run->recorder)) != 0)
            status = sentence_set(error, "the run was stopped");
    }
    run->item = NULL;
    if (config->rig == NULL)
        rig_free(rig);
    return status;
}

static enum verdict verdict_of(enum rule_verdict verdict)
{
    switch (verdict) {
    case RULE_PASS: return VERDICT_PASS;
    case RULE_AMBIGUOUS: return VERDICT_AMBIGUOUS;
    case RULE_WARN: return VERDICT_WARN;
    default: return VERDICT_FAIL;
    }
}

static int report_rule(struct run *run, const struct tally_entry *entry)
{
    char file[2 * TEXT_OCTETS];
    struct result result = {
        .id = entry->rule->id,
        .verdict = verdict_of(entry->verdict),
        .by = "rule",
        .script = entry->rule->function,
        .role = entry->role,
        .frame = entry->frame,
        .flow = entry->flow,
        .expected = entry->expected,
        .actual = entry->actual,
        .message = entry->message,
        .count = entry->verdict == RULE_PASS ? entry->passes : entry->findings,
    };

    if (run->config->evidence != NULL && entry->check != NULL && entry->check[0] != '\0') {
        (void)snprintf(file, sizeof(file), "%s/%s", run->config->evidence_name, entry->check);
        result.evidence = file;
        result.file = file;
    }
    if (entry->verdict == RULE_AMBIGUOUS)
        result.reading = entry->actual;
    return run->config->result(run->config->user, &result);
}

/* A rule adds to what a check has decided about the same requirement only when it found worse. */
static bool adds_something(const struct run *run, const struct tally_entry *entry)
{
    const struct requirement *requirement = catalogue_find(run->config->catalogue, entry->rule->id);
    enum verdict verdict = verdict_of(entry->verdict);
    int decided;

    if (requirement == NULL)
        return true;
    decided = run->decided[requirement->index];
    if (decided == UNDECIDED || decided == VERDICT_SKIP || decided == VERDICT_INCONCLUSIVE)
        return true;
    return (enum verdict)decided != verdict && verdict_worse((enum verdict)decided, verdict) == verdict;
}

static int report_rules(struct run *run)
{
    const struct tally_entry *entry;

    for (size_t i = 0; (entry = tally_at(run->tally, i)) != NULL; i++)
        if (entry->exercised && adds_something(run, entry) && report_rule(run, entry) != 0)
            return -1;
    return 0;
}

static int run_all(struct run *run, struct runner_totals *totals, struct sentence *error)
{
    const struct runner_config *config = run->config;
    const struct plan *plan = config->plan;

    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_item *item = &plan->items[i];
        int status;

        if (config->done != NULL && config->done(config->user, item))
            continue;
        if (config->progress != NULL)
            config->progress(config->user, i, plan->count, item);
        if (item->skip.text[0] != '\0') {
            status = skip_item(run, item);
        } else {
            status = run_item(run, item, error);
            totals->run++;
        }
        if (status != 0)
            return error->text[0] != '\0' ? -1 : sentence_set(error, "the run was stopped");
    }
    return report_rules(run) != 0 ? sentence_set(error, "the run was stopped") : 0;
}

int runner_run(const struct runner_config *config, struct runner_totals *totals, struct sentence *error)
{
    struct run run = {.config = config};
    struct recorder_config recorder = {
        .ladder = config->ladder, .selected = rule_selected, .rule_result = on_rule_result, .user = &run};
    int status = -1;

    memset(totals, 0, sizeof(*totals));
    error->text[0] = '\0';
    run.recorder = recorder_new(&recorder, error);
    run.tally = tally_new();
    run.decided = malloc((catalogue_count(config->catalogue) + 1) * sizeof(*run.decided));
    for (size_t i = 0; run.decided != NULL && i < catalogue_count(config->catalogue); i++)
        run.decided[i] = UNDECIDED;
    if (run.tally == NULL || run.decided == NULL)
        (void)sentence_set(error, "out of memory for the rules' verdicts");
    else if (run.recorder != NULL)
        status = run_all(&run, totals, error);
    if (run.recorder != NULL)
        totals->flow = *recorder_totals(run.recorder);
    totals->flow.account.row[FLOW_ROW_DROPPED].items += run.dropped;
    if (config->rig != NULL)
        config->rig->link->tap = NULL;
    free(run.decided);
    tally_free(run.tally);
    recorder_free(run.recorder);
    return status;
}
