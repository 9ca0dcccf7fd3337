/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_series.h"
#include "conformance/engine/evidence/findings_ladder.h"
#include "conformance/rules/rule.h"

enum { PATH_OCTETS = 4096 };

/* A result that is about to be handed over. */
struct due {
    const struct rule *rule;
    int (*function)(void *user, const struct result *result);
    struct result result;
    bool tried; /* to draw its ladder, */
    bool held;  /* and it is among the findings */
};

struct reporting {
    const struct runner_config *config;
    struct due *due;
    size_t count;
    size_t ladders; /* drawn: at most FINDINGS_HELD, as in an audit's file */
    struct findings findings;
};

static bool rule_verdict_of(enum verdict verdict, enum rule_verdict *of_rule)
{
    switch (verdict) {
    case VERDICT_FAIL: *of_rule = RULE_FAIL; return true;
    case VERDICT_WARN: *of_rule = RULE_WARN; return true;
    case VERDICT_AMBIGUOUS: *of_rule = RULE_AMBIGUOUS; return true;
    default: return false;
    }
}

/* Holds what this result's evidence is to be searched for. False: it has no ladder. */
static bool hold(struct reporting *reporting, const struct due *due)
{
    struct rule_result found = {.rule = due->rule};

    return reporting->ladders + reporting->findings.count < FINDINGS_HELD && due->result.evidence != NULL &&
           due->result.frame != 0 && due->result.flow != NULL && rule_verdict_of(due->result.verdict, &found.verdict) &&
           findings_hold(&reporting->findings, &found, &due->result, 0);
}

/*
 * One step is marked, and it is the result's frame. Evidence that was cut, or that another run has written, may lack
 * it.
 */
static bool shows_frame(const json_t *steps, uint64_t frame)
{
    const json_t *step;
    size_t i, marks = 0;
    bool same = true;

    json_array_foreach(steps, i, step)
    {
        if (json_object_get(step, "mark") == NULL)
            continue;
        marks++;
        same = same && json_integer_value(json_object_get(step, "frame")) == (json_int_t)frame;
    }
    return marks == 1 && same;
}

static void add_ladder(struct reporting *reporting, struct result *result, const struct held_finding *finding)
{
    if (!shows_frame(finding->result.steps, result->frame))
        return;
    result->steps = json_incref(finding->result.steps);
    result->offset = finding->result.offset;
    result->octets = finding->result.octets;
    reporting->ladders++;
}

/* Draws the ladders of all findings held, which are of this capture. Without one a finding is one all the same. */
static void draw(struct reporting *reporting, const char *evidence)
{
    char path[2 * PATH_OCTETS];
    struct iwarp_sentence ignored;
    struct capture_series *series;

    (void)snprintf(path, sizeof(path), "%s/%s", reporting->config->evidence.output, evidence);
    series = capture_series_open(path, NULL, &ignored);
    if (series != NULL)
        (void)findings_draw(&reporting->findings, series, UINT64_MAX, &ignored);
    capture_series_close(series);
}

/* The results of one capture, from the i-th on: it is read once for all of them. */
static void draw_of(struct reporting *reporting, size_t first)
{
    const char *evidence = reporting->due[first].result.evidence;
    const struct held_finding *finding;

    for (size_t i = first; i < reporting->count; i++) {
        struct due *due = &reporting->due[i];

        if (due->result.evidence == NULL || strcmp(due->result.evidence, evidence) != 0)
            continue;
        due->tried = true;
        due->held = hold(reporting, due);
    }
    if (reporting->findings.count != 0)
        draw(reporting, evidence);
    finding = reporting->findings.first;
    for (size_t i = first; finding != NULL && i < reporting->count; i++)
        if (reporting->due[i].held) {
            reporting->due[i].held = false;
            add_ladder(reporting, &reporting->due[i].result, finding);
            finding = finding->next;
        }
    findings_clear(&reporting->findings);
}

static void gather(struct reporting *reporting, const struct rule_pool *pool, const struct rule *rule)
{
    const struct runner_report *report = &reporting->config->report;

    for (unsigned role = 0; role < ROLE_SLOTS; role++) {
        const struct rule_pool_entry *entry = rule_pool_find(pool, rule->id, role);
        struct due due = {.rule = rule};

        if (entry == NULL)
            continue;
        due.function = rule_pool_adds(entry) ? report->result : report->surplus;
        due.result = entry->result;
        due.result.script = rule->function;
        if (due.function != NULL)
            reporting->due[reporting->count++] = due;
    }
}

int run_rules_report(const struct runner_config *config, const struct rule_pool *pool)
{
    struct reporting reporting = {.config = config};
    int status = 0;

    reporting.due = calloc(rule_count() * ROLE_SLOTS + 1, sizeof(*reporting.due));
    if (reporting.due == NULL || findings_init(&reporting.findings) != 0) {
        free(reporting.due);
        return -1;
    }
    for (size_t i = 0; i < rule_count(); i++)
        gather(&reporting, pool, rule_at(i));
    for (size_t i = 0; config->evidence.output != NULL && i < reporting.count; i++)
        if (!reporting.due[i].tried && reporting.due[i].result.evidence != NULL)
            draw_of(&reporting, i);
    for (size_t i = 0; status == 0 && i < reporting.count; i++)
        status = reporting.due[i].function(config->report.user, &reporting.due[i].result) < 0 ? -1 : 0;
    for (size_t i = 0; i < reporting.count; i++)
        json_decref(reporting.due[i].result.steps);
    findings_free(&reporting.findings);
    free(reporting.due);
    return status;
}
